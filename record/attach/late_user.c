/* late_user.c - become a program's user; make a directory for it; wait for who attaches.
 *
 * Laws of this file: what root makes, it makes below a directory that it holds, and gives away only what it has just made there.
 * Of the program root looks at its users and its name in /proc, at nothing else. */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/trusted.h"
#include "record/attach/late_process.h"
#include "record/attach/late_record.h"
#include "record/recorder.h"

#define PLACES_MOST   1000u
#define BEGIN_MOST_NS UINT64_C(60000000000) /* beyond the time in which a safe place is looked for */
#define LEAVE_MOST_NS                                                                                        \
    UINT64_C(240000000000) /* beyond the sum of what late_record.c allows itself at the end */

/* ---- who ------------------------------------------------------------------------------------------ */

bool late_user_find(pid_t pid, struct late_user *ret_user)
{
    unsigned user = 0, group = 0;
    const bool found = geteuid() == 0 && late_ids(pid, &user, &group) && user != 0;
    if (found)
        *ret_user = (struct late_user){pid, user, group};
    return found;
}

/* The right is used by ourselves only, so it is not ambient. Root may lack it, as in containers. */
static bool keep_tracing_alone(bool tracing)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct rights[2];
    if (syscall(SYS_capget, &head, rights) != 0)
        return false;
    const unsigned kept = tracing ? rights[0].permitted & 1u << CAP_SYS_PTRACE : 0;
    rights[0] = (struct __user_cap_data_struct){.permitted = kept, .effective = kept};
    rights[1] = (struct __user_cap_data_struct){0};
    return syscall(SYS_capset, &head, rights) == 0;
}

static bool has_become;

bool late_user_by_root(void)
{
    return has_become || geteuid() == 0;
}

/* Nobody else can trace us then, or read our memory. Returns 0 or an errno: then we may be half the user, and are to end. */
static int become(const struct late_user *user)
{
    has_become = true;
    errno = EPERM;
    if (user->user == 0 || prctl(PR_SET_KEEPCAPS, 1UL, 0, 0, 0) != 0 || setgroups(0, NULL) != 0 ||
        setresgid(user->group, user->group, user->group) != 0 ||
        setresuid(user->user, user->user, user->user) != 0 || !keep_tracing_alone(user->pid != 0) ||
        prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0UL, 0, 0, 0) != 0)
        return errno;
    return setuid(0) == 0 ? EPERM : 0;
}

const char *late_user_enter(const char *directory)
{
    struct stat facts;
    const int fd = geteuid() == 0 ? fp_trusted_open(AT_FDCWD, directory, S_IFDIR, FP_TRUSTED_READ, NULL) : -1;
    if (fd < 0)
        return directory; /* whoever opens it says why not */
    if (fstat(fd, &facts) == 0 && facts.st_uid != 0 && fp_trusted_is_marked(fd, facts.st_uid)) {
        if (fchdir(fd) == 0)
            directory = ".";
        if (become(&(struct late_user){0, facts.st_uid, facts.st_gid}) != 0)
            _exit(REC_FAILED); /* half another user */
    }
    close(fd);
    return directory;
}

/* ---- a place --------------------------------------------------------------------------------------- */

/* Opens by way of directories only: a link may be another user's, and would lead what is given away anywhere. Takes `path` to pieces. */
static int open_folder(char *path, char **ret_problem)
{
    int fd = open(path[0] == '/' ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *rest = NULL;
    if (fd < 0)
        *ret_problem = res_strdup(strerror(errno));
    for (char *part = strtok_r(path, "/", &rest); fd >= 0 && part != NULL;
         part = strtok_r(NULL, "/", &rest)) {
        const int next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0)
            *ret_problem = res_printf("'%s' on the way to the output directory: %s", part,
                                      errno == ENOTDIR || errno == ELOOP
                                          ? "is a link or no directory, and root follows none for another "
                                            "user's recording; name the directory itself"
                                          : strerror(errno));
        close(fd);
        fd = next;
    }
    return fd;
}

/* Tells whether the directory is the one that was made a moment ago, and nobody has put another in its place. */
static bool is_just_made(int fd)
{
    struct stat facts;
    return fd >= 0 && fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
           (facts.st_mode & 0777) == 0700 && fp_trusted_is_empty(fd);
}

/* A file that has the name already, whoever's, is left alone. */
static bool make_first_free(struct late_place *place, const char *directory)
{
    const char *slash = strrchr(directory, '/');
    for (unsigned number = 1; number <= PLACES_MOST; number++) {
        free(place->path);
        place->path = number == 1 ? res_strdup(directory) : res_printf("%s.%u", directory, number);
        place->name = slash != NULL ? place->path + (slash + 1 - directory) : place->path;
        if (mkdirat(place->folder_fd, place->name, 0700) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    return false;
}

static char *give_away(struct late_place *place, const struct late_user *user)
{
    place->fd = openat(place->folder_fd, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!is_just_made(place->fd))
        return res_printf("output directory '%s' was exchanged while it was made", place->path);
    if (fchown(place->fd, user->user, user->group) != 0)
        return res_printf("output directory '%s' cannot be given to its user: %s", place->path,
                          strerror(errno));
    place->marked = fp_trusted_mark(place->fd, user->user);
    return NULL;
}

bool late_place_make(const struct late_user *user, const char *directory, struct late_place *ret_place,
                     char **ret_problem)
{
    char *plain = res_strdup(directory);
    *ret_place = (struct late_place){.folder_fd = -1, .fd = -1};
    *ret_problem = NULL;
    for (size_t length = strlen(plain); length > 1 && plain[length - 1] == '/'; length--)
        plain[length - 1] = '\0';
    const char *slash = strrchr(plain, '/');
    char *folder = res_strndup(plain, slash != NULL ? (size_t)(slash - plain) + 1 : 0);
    ret_place->folder_fd = open_folder(folder, ret_problem);
    if (ret_place->folder_fd >= 0 && make_first_free(ret_place, plain))
        *ret_problem = give_away(ret_place, user);
    else if (ret_place->folder_fd >= 0)
        *ret_problem = res_printf("cannot make output directory '%s': %s", ret_place->path, strerror(errno));
    free(folder);
    free(plain);
    return *ret_problem == NULL;
}

void late_place_forget(const struct late_place *place)
{
    struct stat made, named;
    if (fstat(place->fd, &made) == 0 &&
        fstatat(place->folder_fd, place->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        made.st_dev == named.st_dev && made.st_ino == named.st_ino)
        (void)unlinkat(place->folder_fd, place->name, AT_REMOVEDIR); /* what is in it keeps it */
}

void late_place_release(struct late_place *place)
{
    fp_close(&place->fd);
    fp_close(&place->folder_fd);
    free(place->path);
    place->path = NULL;
}

/* ---- the process of the user's ------------------------------------------------------------------------ */

struct child {
    const struct late_run *run;
    pid_t parent;
};

/* Linux has close_range(2) since 5.9, and containers may forbid it. */
static bool close_others(void)
{
    struct rlimit limit;
    if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0) == 0)
        return true;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    for (rlim_t fd = STDERR_FILENO + 1; fd < limit.rlim_max && fd < INT_MAX; fd++)
        (void)close((int)fd); /* most are not open */
    return true;
}

static int run_body(void *data)
{
    const struct child *child = data;
    const struct late_run *run = child->run;
    errno = EIO;
    const bool left = setsid() >= 0 && fchdir(run->place->fd) == 0 && clearenv() == 0 && close_others();
    const int error = left ? become(run->user) : errno;
    (void)signal(SIGPIPE, SIG_IGN); /* what our parent is told when it is gone */
    if (error == 0 && prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM, 0, 0, 0) == 0 &&
        getppid() == child->parent)
        return run->body(run->data);
    char user[64];
    res_say("record", "cannot become user %s: %s", fp_trusted_user(run->user->user, user, sizeof user),
            strerror(error));
    return REC_FAILED;
}

/* ---- root's process -------------------------------------------------------------------------------------- */

static struct {
    struct fp_process process;
    struct fp_process_bounds bounds;
    volatile sig_atomic_t asked, asked_again;
} waits;

static void on_signal(int number)
{
    const int saved = errno;
    waits.asked_again = waits.asked != 0;
    waits.asked = number;
    if (!waits.asked_again)
        waits.bounds.deadline_ns = fp_now_ns() + LEAVE_MOST_NS;
    fp_process_kill(&waits.process, number);
    errno = saved;
}

/* One byte when the recording has begun, one when it is over. */
static bool on_phase(void *data, int stream, const char *bytes, size_t count)
{
    const struct late_run *run = data;
    (void)stream;
    if (bytes[count - 1] != REC_PHASE_BEGUN)
        waits.bounds.deadline_ns = fp_now_ns() + LEAVE_MOST_NS;
    else if (!waits.asked)
        waits.bounds.deadline_ns = run->duration_ns != 0 ? fp_now_ns() + run->duration_ns + LEAVE_MOST_NS : 0;
    return true;
}

int late_run_as_user(const struct late_run *run, int *ret_ended_by, char **ret_problem)
{
    static const int ENDING[FP_ENDING_COUNT] = {FP_ENDING_SIGNALS};
    const struct sigaction action = {.sa_handler = on_signal};
    const sigset_t signals = fp_signals_set(ENDING, FP_ENDING_COUNT);
    struct sigaction former[FP_ENDING_COUNT];
    struct child child = {run, getpid()};
    char how[FP_STATUS_WORDS];
    sigset_t before;
    const struct fp_process_plan plan = {
        .body = run_body,
        .data = &child,
        .streams = {FP_STREAM_NULL, FP_STREAM_PIPE, FP_STREAM_OURS},
        .mask = &before,
    };
    const uint64_t within_ns = run->within_ns != 0 ? run->within_ns : LATE_WITHIN_NS;
    waits.asked = waits.asked_again = 0;
    waits.bounds = (struct fp_process_bounds){.deadline_ns = fp_now_ns() + within_ns + BEGIN_MOST_NS,
                                              .stop = &waits.asked_again,
                                              .take = on_phase,
                                              .data = (void *)(uintptr_t)run};
    sigprocmask(SIG_BLOCK, &signals, &before);
    const int error = fp_process_start(&plan, &waits.process);
    if (error == 0)
        fp_signals_take(ENDING, FP_ENDING_COUNT, &action, former);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        *ret_problem = res_printf("no process for the recorder: %s", strerror(error));
        return -1;
    }
    const enum fp_process_end end = fp_process_wait(&waits.process, &waits.bounds);
    fp_signals_restore(ENDING, FP_ENDING_COUNT, former);
    fp_process_release(&waits.process);
    *ret_ended_by = (int)waits.asked;
    const int status = waits.process.status;
    waits.process = FP_PROCESS_NONE;
    if (end == FP_PROCESS_ENDED && WIFEXITED(status))
        return WEXITSTATUS(status);
    *ret_problem = res_printf(
        "the recorder was ended%s: %s; the program goes on, and 'mallab record --pid' tidies up",
        end == FP_PROCESS_LATE ? " at its deadline" : "", fp_status_words(status, how));
    return -1;
}

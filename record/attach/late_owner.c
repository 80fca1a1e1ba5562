/* late_owner.c - give up root's rights for a program's; make a directory and hand it over.
 *
 * Laws of this file: the order of giving up is groups, group, user, and each is looked at again. What root makes, it makes below a
 * directory that it holds, and gives away only what it has just made there. */
#include "record/attach/late_owner.h"

#include <dirent.h>
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
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/trusted.h"
#include "record/attach/late_process.h"
#include "record/attach/late_refuse.h"
#include "record/target.h"

#define PLACES_MOST 1000u

/* ---- who ------------------------------------------------------------------------------------------ */

static void take_groups(const char *status, struct rec_owner *owner)
{
    const char *at = strstr(status, "\nGroups:");
    size_t room = 0;
    char *end;
    for (at = at != NULL ? at + strlen("\nGroups:") : "\n"; *at != '\n'; at = end) {
        const unsigned long group = strtoul(at, &end, 10);
        if (end == at)
            break; /* blanks before the end of the line */
        if (owner->group_count == room)
            owner->groups = res_realloc(owner->groups, room = room * 2 + 16, sizeof *owner->groups);
        owner->groups[owner->group_count++] = (gid_t)group;
    }
}

bool rec_owner_find(pid_t pid, struct rec_owner *ret_owner)
{
    unsigned user = 0, group = 0;
    *ret_owner = (struct rec_owner){0};
    char *status = geteuid() == 0 ? late_proc_read(pid, "status", NULL) : NULL;
    const bool found = status != NULL && late_status_id(status, "\nUid:", &user) && user != 0 &&
                       late_status_id(status, "\nGid:", &group);
    if (found) {
        *ret_owner = (struct rec_owner){.user = user, .group = group};
        take_groups(status, ret_owner);
    }
    free(status);
    return found;
}

void rec_owner_release(struct rec_owner *owner)
{
    free(owner->groups);
    *owner = (struct rec_owner){0};
}

/* ---- to be another ---------------------------------------------------------------------------------- */

/* What root's right to trace a program consists of: where the user's own does not do, and where the program may not be looked into,
 * so that its files in /proc are root's. The first that suffices is kept. */
static const unsigned TRACING[] = {0, 1u << CAP_SYS_PTRACE, 1u << CAP_SYS_PTRACE | 1u << CAP_DAC_READ_SEARCH};

#define TRACING_COUNT (sizeof TRACING / sizeof TRACING[0])

/* Of all capabilities at most these. Returns 0 or an errno. */
static int keep_rights(unsigned permitted, unsigned effective)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct rights[2];
    if (syscall(SYS_capget, &head, rights) != 0)
        return errno;
    permitted &= rights[0].permitted;
    rights[0] = (struct __user_cap_data_struct){.permitted = permitted, .effective = permitted & effective};
    rights[1] = (struct __user_cap_data_struct){0};
    return syscall(SYS_capset, &head, rights) == 0 ? 0 : errno;
}

static int keep_tracing(pid_t pid)
{
    int error = 0;
    size_t last = pid != 0 ? 0 : TRACING_COUNT;
    for (; error == 0 && last < TRACING_COUNT; last++) {
        error = keep_rights(TRACING[TRACING_COUNT - 1], TRACING[last]);
        if (error == 0 && late_may_trace(pid))
            break;
    }
    const unsigned kept = last < TRACING_COUNT ? TRACING[last] : 0;
    return error != 0 ? error : keep_rights(kept, kept);
}

static bool is_owner(const struct rec_owner *owner)
{
    uid_t user[3];
    gid_t group[3];
    return getresuid(&user[0], &user[1], &user[2]) == 0 && getresgid(&group[0], &group[1], &group[2]) == 0 &&
           user[0] == owner->user && user[1] == owner->user && user[2] == owner->user &&
           group[0] == owner->group && group[1] == owner->group && group[2] == owner->group &&
           getgroups(0, NULL) == (int)owner->group_count;
}

static bool has_left_root;

bool rec_owner_by_root(void)
{
    return has_left_root || geteuid() == 0;
}

int rec_owner_become(const struct rec_owner *owner, pid_t pid)
{
    if (owner->user == 0 || prctl(PR_SET_KEEPCAPS, pid != 0 ? 1UL : 0UL, 0, 0, 0) != 0 ||
        setgroups(owner->group_count, owner->groups) != 0 ||
        setresgid(owner->group, owner->group, owner->group) != 0 ||
        setresuid(owner->user, owner->user, owner->user) != 0 || prctl(PR_SET_KEEPCAPS, 0UL, 0, 0, 0) != 0)
        return owner->user == 0 ? EINVAL : errno;
    has_left_root = true;
    int error = keep_tracing(pid);
    if (error == 0 &&
        (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0UL, 0, 0, 0) != 0))
        error = errno;
    return error != 0 ? error : is_owner(owner) && setuid(0) != 0 ? 0 : EPERM;
}

static bool close_others(void)
{
    struct rlimit limit;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0) == 0)
        return true;
#endif
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    for (rlim_t fd = STDERR_FILENO + 1; fd < limit.rlim_max && fd < INT_MAX; fd++)
        (void)close((int)fd); /* most are not open */
    return true;
}

int rec_owner_leave_root(const struct rec_owner *owner, pid_t pid, const struct rec_place *place,
                         pid_t parent)
{
    if (setsid() < 0 || fchdir(place->fd) != 0 || clearenv() != 0 || !close_others())
        return errno != 0 ? errno : EIO;
    const int error = rec_owner_become(owner, pid);
    if (error != 0)
        return error;
    if (prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM, 0, 0, 0) != 0)
        return errno;
    return getppid() == parent ? 0 : ESRCH;
}

const char *rec_owner_enter(const char *directory)
{
    struct stat facts;
    struct rec_owner owner = {0};
    const int fd = geteuid() == 0 ? fp_trusted_open(AT_FDCWD, directory, S_IFDIR, FP_TRUSTED_READ, NULL) : -1;
    if (fd < 0)
        return directory; /* whoever opens it says why not */
    if (fstat(fd, &facts) == 0 && facts.st_uid != 0 && fp_trusted_is_marked(fd, facts.st_uid)) {
        owner = (struct rec_owner){.user = facts.st_uid, .group = facts.st_gid};
        if (fchdir(fd) == 0)
            directory = ".";
        if (rec_owner_become(&owner, 0) != 0)
            _exit(REC_FAILED); /* half another user */
    }
    close(fd);
    return directory;
}

/* ---- a place --------------------------------------------------------------------------------------- */

/* The directory that `path` is to be made in, by way of directories only: a link may be another user's. */
static int open_parent(char *path, char **ret_problem)
{
    int fd = open(path[0] == '/' ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = errno;
    char *rest = NULL;
    for (char *part = strtok_r(path, "/", &rest); fd >= 0 && part != NULL;
         part = strtok_r(NULL, "/", &rest)) {
        const int next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        error = errno;
        close(fd);
        fd = next;
        if (fd < 0)
            *ret_problem = res_printf("'%s' on the way to the output directory: %s", part,
                                      error == ENOTDIR || error == ELOOP
                                          ? "is a link or no directory, and root follows none for another "
                                            "user's recording; name the directory itself"
                                          : strerror(error));
    }
    if (fd < 0 && *ret_problem == NULL)
        *ret_problem = res_strdup(strerror(error));
    return fd;
}

static bool is_empty(int directory_fd)
{
    const int copy = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    bool empty = directory != NULL;
    while (empty && (entry = readdir(directory)) != NULL)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (directory != NULL)
        closedir(directory);
    else if (copy >= 0)
        close(copy);
    return empty;
}

/* What was made a moment ago, and nobody has put another in its place. */
static bool is_just_made(int fd)
{
    struct stat facts;
    return fd >= 0 && fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
           (facts.st_mode & 0777) == 0700 && is_empty(fd);
}

/* What is there under the name already: NULL, where the next name will do. */
static char *refuse_present(const struct rec_owner *owner, const struct rec_place *place)
{
    struct stat facts;
    char user[64];
    if (fstatat(place->parent_fd, place->name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
        return NULL;
    if (S_ISLNK(facts.st_mode))
        return res_printf("output directory '%s' is a symbolic link; name another", place->path);
    if (facts.st_uid == 0 || facts.st_uid == owner->user)
        return NULL;
    return res_printf("output directory '%s' belongs to user %s; name another", place->path,
                      fp_trusted_user(facts.st_uid, user, sizeof user));
}

static void number_place(struct rec_place *place, const char *directory, unsigned number)
{
    const char *slash = strrchr(directory, '/');
    free(place->path);
    free(place->name);
    place->path = number == 1 ? res_strdup(directory) : res_printf("%s.%u", directory, number);
    place->name = res_strdup(slash != NULL ? place->path + (slash + 1 - directory) : place->path);
}

/* Returns false with ret_problem set. */
static bool make_first_free(const struct rec_owner *owner, const char *directory, struct rec_place *place,
                            char **ret_problem)
{
    for (unsigned number = 1; number <= PLACES_MOST && *ret_problem == NULL; number++) {
        number_place(place, directory, number);
        if (mkdirat(place->parent_fd, place->name, 0700) == 0)
            return true;
        if (errno != EEXIST)
            *ret_problem = res_printf("cannot make output directory '%s': %s", place->path, strerror(errno));
        else
            *ret_problem = refuse_present(owner, place);
    }
    if (*ret_problem == NULL)
        *ret_problem = res_printf("output directory '%s' holds something already; name another", directory);
    return false;
}

bool rec_place_make(const struct rec_owner *owner, const char *directory, struct rec_place *ret_place,
                    char **ret_problem)
{
    char *plain = res_strdup(directory), *parent;
    struct rec_place place = {.parent_fd = -1, .fd = -1};
    *ret_problem = NULL;
    for (size_t length = strlen(plain); length > 1 && plain[length - 1] == '/'; length--)
        plain[length - 1] = '\0';
    const char *slash = strrchr(plain, '/');
    parent = slash == NULL ? res_strdup("") : res_strndup(plain, (size_t)(slash - plain) + 1);
    place.parent_fd = open_parent(parent, ret_problem);
    if (place.parent_fd >= 0 && make_first_free(owner, plain, &place, ret_problem)) {
        place.fd = openat(place.parent_fd, place.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (!is_just_made(place.fd))
            *ret_problem = res_printf("output directory '%s' was exchanged while it was made", place.path);
        else if (fchown(place.fd, owner->user, owner->group) != 0)
            *ret_problem = res_printf("output directory '%s' cannot be given to its user: %s", place.path,
                                      strerror(errno));
        else
            place.marked = fp_trusted_mark(place.fd, owner->user);
    }
    free(parent);
    free(plain);
    if (*ret_problem != NULL)
        rec_place_release(&place);
    *ret_place = place;
    return *ret_problem == NULL;
}

void rec_place_forget(const struct rec_place *place)
{
    struct stat made, named;
    if (place->fd >= 0 && fstat(place->fd, &made) == 0 &&
        fstatat(place->parent_fd, place->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        made.st_dev == named.st_dev && made.st_ino == named.st_ino)
        (void)unlinkat(place->parent_fd, place->name, AT_REMOVEDIR); /* what is in it keeps it */
}

void rec_place_release(struct rec_place *place)
{
    fp_close(&place->fd);
    fp_close(&place->parent_fd);
    free(place->name);
    free(place->path);
    *place = (struct rec_place){.parent_fd = -1, .fd = -1};
}

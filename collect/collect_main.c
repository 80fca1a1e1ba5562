/* collect_main.c - mallab-collect: surroundings, output directory; its begin and its end.
 *
 * Started by `mallab record` or by the shim, never by a person. It says one line on the ready descriptor; a later
 * failure stands in recording.json and the footprints. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/steps.h"

#define LAST_PAUSE_NS     100000000
#define LAST_TRIES        50u
#define BUMP_NS           1000.0   /* docs/order.md */
#define SELDOM_NS         250000.0 /* 14 calls at 18 us each, 60 at 4: a read of the clock adds less than 1 % */
#define DIRECTORIES_TRIED 100u
#define PREPARED_PAUSE_NS 2000000
#define PREPARED_TRIES    2000u /* 4 s and more: the program waits for our answer (attach_segment.c) */

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_MISUSE = 2,
    EXIT_NOTHING = 3, /* --recover: there is nothing to recover */
};

/* ---- the output directory --------------------------------------------------------------------------
 *
 * The one named, one beside it, or that of a recording to join. Several collectors may look for one at the same moment, as when
 * LD_PRELOAD is set for programs that are started together. So a directory is locked (flock on its descriptor, kept until the
 * collector ends) before it is looked into: exclusively while a recording is prepared there, shared from when others can join
 * it. A file system without locks goes without. */

enum place {
    PLACE_OURS,
    PLACE_TAKEN,
    PLACE_JOINED,
    PLACE_FAILED,
    PLACE_UNTRUSTED, /* another user's, or others may write to it */
};

/* Locks the directory, or waits until the one who prepares a recording in it has done so.
 * Returns false when it is somebody's: whom we may wait for only if we want to join him. */
static bool lock_directory(int directory_fd, bool wait)
{
    const struct timespec pause = {0, PREPARED_PAUSE_NS};
    for (unsigned tries = 0; flock(directory_fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK)
            return true; /* no locks here */
        if (flock(directory_fd, LOCK_SH | LOCK_NB) == 0)
            return false; /* it is recorded into */
        if (!wait || tries == PREPARED_TRIES)
            return false;
        (void)nanosleep(&pause, NULL); /* a signal only shortens it */
    }
    return true;
}

static void resolve(struct collector *collector, const char *path)
{
    if (realpath(path, collector->place.path) == NULL)
        (void)snprintf(collector->place.path, sizeof collector->place.path, "%s", path);
}

static enum place try_directory(struct collector *collector, const char *path, struct fp_error *ret_error)
{
    collector->place.made = mkdir(path, 0700) == 0;
    if (!collector->place.made && errno != EEXIST)
        return PLACE_FAILED;
    collector->place.fd = fp_trusted_open(AT_FDCWD, path, S_IFDIR, FP_TRUSTED_OWN, ret_error);
    if (collector->place.fd < 0 && ret_error->status == FP_ERR_UNTRUSTED)
        return PLACE_UNTRUSTED;
    if (collector->place.fd < 0) {
        errno = ret_error->sys_errno;
        return PLACE_FAILED;
    }
    resolve(collector, path);
    if (lock_directory(collector->place.fd, collector->options.join) &&
        fp_trusted_is_empty(collector->place.fd))
        return PLACE_OURS;
    if (collector->options.join &&
        segment_of_live_collector(collector->place.fd, collector->place.path, collector->segments[0].path,
                                  sizeof collector->segments[0].path))
        return PLACE_JOINED;
    (void)close(collector->place.fd);
    collector->place.fd = -1;
    return PLACE_TAKEN;
}

/* The highest N of all OUT.N that there are, 0 without one. */
static uint32_t highest_number(const char *out)
{
    const char *slash = strrchr(out, '/');
    const char *name = slash != NULL ? slash + 1 : out;
    const size_t length = strlen(name);
    char folder[PATH_MAX];
    uint32_t highest = 0;
    const struct dirent *entry;
    (void)snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - out) + 1 : 1,
                   slash != NULL ? out : "."); /* as long as out */
    DIR *entries = opendir(folder);
    while (entries != NULL && length > 0 && (entry = readdir(entries)) != NULL) {
        uint64_t number;
        if (strncmp(entry->d_name, name, length) == 0 && entry->d_name[length] == '.' &&
            collect_parse_number(entry->d_name + length + 1, UINT32_MAX - DIRECTORIES_TRIED, &number) &&
            number > highest)
            highest = (uint32_t)number;
    }
    if (entries != NULL)
        (void)closedir(entries); /* only read */
    return highest;
}

/* Open options.out as directory_fd, new or empty; with options.unique or join, where that holds something, the first of OUT.2,
 * OUT.3 ... that is free; with join, the segment's path of a recording that goes on in one of them. Where another collector
 * prepares its recording just now, join waits for that. A service that is started anew every hour comes to more than are looked
 * at one by one: then what follows the highest.
 * ret_number   1 for OUT itself, N for OUT.N.
 * ret_error    why it is PLACE_UNTRUSTED.
 * Returns      PLACE_FAILED with errno set; PLACE_OURS with the directory locked against other collectors. */
static enum place place_find(struct collector *collector, uint32_t *ret_number, struct fp_error *ret_error)
{
    const char *out = collector->options.out;
    enum place place = try_directory(collector, out, ret_error);
    int reason = errno;
    uint32_t number = 1;
    for (uint32_t tries = 1; place == PLACE_TAKEN && tries < 2 * DIRECTORIES_TRIED &&
                             (collector->options.unique || collector->options.join);
         tries++) {
        char path[PATH_MAX];
        number = tries != DIRECTORIES_TRIED ? number + 1 : highest_number(out) + 1;
        (void)snprintf(path, sizeof path, "%s.%u", out, number); /* a path cut short fails below */
        place = try_directory(collector, path, ret_error);
        reason = errno;
        if (place == PLACE_UNTRUSTED) /* another user's OUT.N is passed over like one that holds something */
            place = PLACE_TAKEN;
    }
    *ret_number = number;
    errno = reason;
    return place;
}

/* Remove a directory that place_find made, where nothing came of the recording. */
static void place_forget(const struct collector *collector)
{
    if (collector->place.made)
        (void)rmdir(collector->place.path); /* what others have put there keeps it */
}

/* ---- the one answer ------------------------------------------------------------------------------- */

/* "ok SEGMENT", and on a second line the directory where another was taken than the one named; or "error MESSAGE". */

static void answer(struct collector *collector, const char *word, const char *text)
{
    char line[5000];
    const int length = snprintf(line, sizeof line, "%s %s\n", word, text);
    if (collector->options.ready_fd < 0) {
        if (strcmp(word, "error") == 0)
            (void)fprintf(stderr, "mallab-collect: %s\n", text); /* nobody else would tell */
        return;
    }
    if (length > 0 && (size_t)length < sizeof line)
        (void)fp_write_all(collector->options.ready_fd, line, (size_t)length); /* else our starter is gone */
    (void)close(collector->options.ready_fd); /* said what there was to say */
    collector->options.ready_fd = -1;
}

__attribute__((format(printf, 2, 3))) static int fail(struct collector *collector, const char *format, ...)
{
    char text[4600];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments); /* a long path is cut */
    va_end(arguments);
    answer(collector, "error", text);
    return EXIT_FAILED;
}

/* ---- surroundings --------------------------------------------------------------------------------------- */

/* Descriptors of whoever started us would keep its pipes open after its end. */
static void close_inherited(const struct collect_options *options)
{
    DIR *open_ones = opendir("/proc/self/fd");
    const struct dirent *entry;
    if (open_ones == NULL)
        return;
    while ((entry = readdir(open_ones)) != NULL) {
        const int fd = atoi(entry->d_name);
        if (fd > 2 && fd != dirfd(open_ones) && fd != options->ready_fd && fd != options->control_fd)
            (void)close(fd); /* not ours */
    }
    (void)closedir(open_ones); /* only read */
}

static void settle(struct collector *collector)
{
    static const int IGNORED[] = {SIGINT,  SIGTERM, SIGHUP,  SIGXFSZ, SIGPIPE,
                                  SIGQUIT, SIGTSTP, SIGTTOU, SIGTTIN, SIGIO};
    struct rlimit limit;
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL); /* cannot fail with these arguments */
    for (size_t i = 0; i < sizeof IGNORED / sizeof IGNORED[0]; i++)
        (void)signal(IGNORED[i], SIG_IGN); /* cannot fail for these signals */
    (void)signal(SIGCHLD, SIG_DFL);
    loop_take_signals();
    (void)setsid(); /* fails where we lead a session already, which is as good */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* two for each process; fewer is a limit, not an error */
    }
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        if (limit.rlim_max != RLIM_INFINITY)
            collector->place.file_limit_bytes = limit.rlim_max > 0 ? limit.rlim_max : 1;
    }
    (void)umask(077);
}

/* ---- seccomp filters ------------------------------------------------------------------------------------
 *
 * Programs may be behind the same filters as we are. So a child of ours tries what they are to do: mincore(2), and
 * process_vm_readv(2), which may be refused. */

/* A filter may refuse or kill. */
static bool child_survives(void)
{
    int ended = 1;
    const pid_t child = fork();
    if (child == 0) {
        unsigned char page;
        static _Alignas(4096) char here[4096];
        const struct iovec from = {here, 1}, to = {&here[1], 1};
        (void)process_vm_readv(getpid(), &to, 1, &from, 1, 0);
        _exit(mincore(here, 1, &page) == 0 ? 0 : 1);
    }
    return child > 0 && waitpid(child, &ended, 0) == child && ended == 0;
}

static uint32_t filters_passed(void)
{
    char text[4096];
    uint64_t filters;
    const bool told = fp_proc_read(getpid(), "status", text, sizeof text) &&
                      fp_proc_number(text, "\nSeccomp_filters:", 10, &filters);
    return told && filters > 0 && child_survives() ? (uint32_t)filters : 0;
}

/* ---- start and end ---------------------------------------------------------------------------------------------------- */

static void fill_header(struct collector *collector)
{
    struct seg_header *segment = collector->segments[0].view.header;
    struct seg_fixed *fixed = &collector->segments[0].view.fixed; /* published from there */
    const struct collect_options *options = &collector->options;
    struct stat status;
    fixed->version = SEG_VERSION;
    fixed->collector_pid = (uint32_t)getpid();
    fixed->clock = collector->clock.kind;
    fixed->clock_first_ticks = collector->clock.first_ticks;
    fixed->clock_first_ns = collector->clock.first_ns;
    fixed->clock_start_unix_ns = collector->clock.start_unix_ns;
    size_t directory_size = strlen(collector->place.path) + 1;
    if (directory_size <= sizeof segment->directory)
        memcpy(segment->directory, collector->place.path, directory_size);
    clock_share(&collector->clock, segment);
    fixed->flags = (options->drop ? SEG_FLAG_DROP : 0) | (options->no_follow ? SEG_FLAG_NO_FOLLOW : 0) |
                   (options->no_residency ? 0 : SEG_FLAG_RESIDENT) | (options->sites ? SEG_FLAG_SITES : 0);
    fixed->sites_bytes = options->sites_bytes;
    fixed->filters = filters_passed();
    fixed->bump_ticks = (uint64_t)(BUMP_NS / collector->clock.ns_per_tick);
    fixed->seldom_ticks = (uint64_t)(SELDOM_NS / collector->clock.ns_per_tick);
    fixed->pid_namespace = stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
    loop_begin(collector);
    put_relaxed(&collector->segments[0].view.shared->leader_pid, options->leader_pid);
    put_relaxed(&segment->heartbeat_ns, fp_now_ns());
}

/* Takes errno. */
static void tell_unwritable(struct collector *collector)
{
    const bool full = errno == ENOSPC || errno == EDQUOT;
    (void)fail(collector, "cannot write into '%s': %s%s", collector->place.path, strerror(errno),
               full ? "; make room there, or name a directory on another disk" : "");
}

/* No recording has begun: there is to be none to stumble over. */
static int give_up(struct collector *collector)
{
    segment_remove(&collector->segments[0]);
    (void)unlinkat(collector->place.fd, "recording.json", 0); /* it may not be there */
    place_forget(collector);
    return EXIT_FAILED;
}

/* Whoever can write into the directory could read what is recorded, or make it up. */
static int refuse_place(struct collector *collector, const struct fp_error *error)
{
    const char *out = collector->options.out;
    switch (error->distrust) {
    case FP_DISTRUST_OWNER:
        return fail(collector, "output directory '%s' belongs to user %s; name one of your own", out,
                    error->owner);
    case FP_DISTRUST_WRITABLE:
        return fail(collector,
                    "output directory '%s' can be written to by its group or by others; %sname another", out,
                    error->is_common ? "" : "'chmod go-w' it, or ");
    default:
        return fail(collector, "output directory '%s' %s; name another", out, error->what);
    }
}

/* Returns EXIT_DONE with the directory open, or what comes of another's, after answering. */
static int take_place(struct collector *collector, uint32_t *ret_number, bool *ret_joined)
{
    struct fp_error error;
    *ret_joined = false;
    switch (place_find(collector, ret_number, &error)) {
    case PLACE_UNTRUSTED:
        return refuse_place(collector, &error);
    case PLACE_FAILED:
        return fail(collector, "cannot use output directory '%s': %s%s", collector->options.out,
                    strerror(errno),
                    errno == ENOENT ? "; the directory that it is to be in has to be there"
                    : errno == EACCES || errno == EPERM || errno == EROFS ? "; name another"
                                                                          : "");
    case PLACE_TAKEN:
        return fail(collector, "output directory '%s' holds something already; name another",
                    collector->options.out);
    case PLACE_JOINED:
        answer(collector, "ok", collector->segments[0].path);
        *ret_joined = true;
        break;
    case PLACE_OURS:
        break;
    }
    return EXIT_DONE;
}

/* Returns EXIT_DONE with the segment published, or another's joined; or another code after answering. */
static int prepare(struct collector *collector, bool *ret_joined)
{
    struct collect_segment *segment = &collector->segments[0];
    const char *reason = NULL;
    char place[sizeof segment->path + sizeof collector->place.path];
    uint32_t number;
    const int code = take_place(collector, &number, ret_joined);
    if (code != EXIT_DONE || *ret_joined)
        return code;
    segment_remove_stale();
    clock_start(&collector->clock, collector->options.no_tsc);
    collector->options.out = collector->place.path;
    segment->user = (uint32_t)geteuid();
    if (!segment_create(segment, &collector->options, collector->place.fd, &reason)) {
        (void)fail(collector, "%s", reason);
        place_forget(collector);
        return EXIT_FAILED;
    }
    notes_open(collector);
    mapped_test(segment);
    fill_header(collector);
    segment->chunks = calloc(segment->view.fixed.chunk_count, sizeof *segment->chunks);
    if (segment->chunks == NULL) {
        (void)fail(collector, "no memory for the table of chunks");
        return give_up(collector);
    }
    if (!json_write(collector, false) || !reserve_hold(collector)) {
        tell_unwritable(collector);
        return give_up(collector);
    }
    (void)!chdir("/"); /* a recorded program's directory may be removed or unmounted under it */
    segment_publish(segment);
    (void)flock(collector->place.fd,
                LOCK_SH); /* others may join now; it fails only where there are no locks */
    (void)snprintf(place, sizeof place, "%s%s%s", segment->path, number > 1 ? "\n" : "",
                   number > 1 ? collector->place.path : ""); /* fits */
    answer(collector, "ok", place);
    return EXIT_DONE;
}

/* The reason goes to stderr: it was asked for by a person's command. */
static int recover(struct collector *collector)
{
    const char *reason = NULL;
    const enum recover_result result = recover_open(collector, &reason);
    if (result == RECOVER_NOTHING)
        return EXIT_NOTHING; /* as it should be */
    if (result == RECOVER_FAILED) {
        fprintf(stderr, "mallab-collect: %s: %s\n", collector->options.out, reason);
        return EXIT_FAILED;
    }
    notes_take_former(collector);
    recover_run(collector);
    if (!json_write(collector, true)) {
        fprintf(stderr, "mallab-collect: %s: cannot write recording.json: %s\n", collector->options.out,
                strerror(errno));
        return EXIT_FAILED;
    }
    segment_remove(&collector->segments[0]);
    return EXIT_DONE;
}

static void release(struct collector *collector)
{
    for (size_t i = 0; i < collector->image_count; i++) {
        usage_release(collector->images[i]);
        free(collector->images[i]->parts);
        free(collector->images[i]);
    }
    free(collector->images);
    free(collector->pauses.items);
    FOR_EACH_SEGMENT (segment, collector)
        free(segment->chunks);
}

/* Without blocks that are held (not every file system has files without names) a full disk may refuse even this: it is
 * given some time, because it would be the only word on what was lost. */
static bool write_last(struct collector *collector)
{
    const struct timespec pause = {0, LAST_PAUSE_NS};
    for (unsigned tries = 0; !json_write(collector, true); tries++) {
        if ((errno != ENOSPC && errno != EDQUOT) || tries == LAST_TRIES)
            return false;
        (void)nanosleep(&pause, NULL); /* a signal only shortens it */
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct collector collector = {.place = {.fd = -1},
                                         .reserve = {.fd = -1, .list_fd = -1},
                                         .segments = {{.file = {.folder_fd = -1, .fd = -1}, .told_fd = -1}},
                                         .segment_count = 1,
                                         .notes = {.fd = -1}};
    bool joined;
    int code = collect_parse_options(argc, argv, &collector.options);
    if (code == 1)
        return fputs(COLLECT_USAGE, stdout) >= 0 ? EXIT_DONE : EXIT_FAILED;
    if (code == 2) {
        (void)fputs("mallab-collect: bad options; see mallab-collect --help\n", stderr);
        return EXIT_MISUSE;
    }
    segment_guard(collector.segments, COLLECT_SEGMENTS_MOST);
    if (collector.options.recover) {
        (void)umask(077);
        code = recover(&collector);
        release(&collector);
        return code;
    }
    close_inherited(&collector.options);
    settle(&collector);
    collector.control.open = collector.options.control_fd >= 0;
    collector.started_ns = fp_now_ns();
    code = prepare(&collector, &joined);
    if (code != EXIT_DONE || joined)
        return code;
    loop_run(&collector);
    notes_take_last(&collector); /* the JSON is written next */
    FOR_EACH_SEGMENT (segment, &collector)
        segment_remove(segment);
    reserve_release(&collector);
    code = write_last(&collector) ? EXIT_DONE : EXIT_FAILED;
    release(&collector);
    return code;
}

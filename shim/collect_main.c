/* collect_main.c - mallab-collect: options, output directory, the loop.
 *
 * Started by `mallab record` or by the shim, never by a person. It says one line on the ready descriptor; a later
 * failure stands in recording.json and the footprints. */
#include "shim/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/raw.h"

#define MEMORY_DEFAULT (UINT64_C(128) << 20)
#define NAP_NS         4000000u  /* while there is work: a round takes some 25 us, whatever it finds */
#define STEP_NS        1000000u  /* between two steps of the epoch words, where somebody orders by them */
#define SLEEP_NS       5000000u  /* while there is none */
#define LONG_SLEEP_NS  20000000u /* and has not been for long */
#define IDLE_ROUNDS    5u        /* of napping before sleeping */
#define SLEEP_ROUNDS   400u      /* of sleeping before sleeping long: two seconds */
#define LOOK_NS        50000000u /* between looks for execs */
#define THREADS_NS     1000000000u /* and for dead threads, one system call a thread, and for chunks that wait */
#define NOBODY_CAME_NS UINT64_C(10000000000)
#define JOIN_NS        UINT64_C(3000000000)
#define LAST_CALLS_NS  20000000u /* for stores under way when --duration has passed */
#define LAST_PAUSE_NS  100000000
#define LAST_TRIES     50u

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_MISUSE = 2,
    EXIT_NOTHING = 3, /* --recover: there is nothing to recover */
};

/* ---- the one answer ------------------------------------------------------------------------------- */

/* "ok SEGMENT", and on a second line the directory where another was taken than the one named; or "error MESSAGE". */

static void answer(struct collector *collector, const char *word, const char *text)
{
    char line[5000];
    const int length = snprintf(line, sizeof line, "%s %s\n", word, text);
    const char *at = line;
    size_t rest = length > 0 && (size_t)length < sizeof line ? (size_t)length : 0;
    if (collector->options.ready_fd < 0) {
        if (strcmp(word, "error") == 0)
            (void)fprintf(stderr, "mallab-collect: %s\n", text); /* nobody else would tell */
        return;
    }
    while (rest > 0) {
        const ssize_t written = write(collector->options.ready_fd, at, rest);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break; /* whoever started us is gone; the loop will find nobody */
        at += written;
        rest -= (size_t)written;
    }
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

/* ---- options ----------------------------------------------------------------------------------------- */

static const char USAGE[] =
    "usage: mallab-collect --out DIR [--memory BYTES] [--max-size BYTES] [--duration NS] [--no-follow]\n"
    "                      [--on-full wait|drop] [--ready-fd N] [--leader PID] [--control-fd N]\n"
    "                      [--clock auto|monotonic] [--order epochs|stamps] [--unique | --join]\n"
    "                      [--paused] [--window NS [--keep N]] [--only NAMES] [--no-residency]\n"
    "       mallab-collect --recover --out DIR\n"
    "\n"
    "Drain the shared memory of recorded processes into footprints. Started by 'mallab record' and by\n"
    "libmallab.so; of no use by hand.\n";

bool collect_parse_number(const char *text, uint64_t most, uint64_t *ret_number)
{
    char *end;
    unsigned long long number;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || number > most)
        return false;
    *ret_number = number;
    return true;
}

/* At its end, so that a number may follow. In place, as the words of a command line may be. */
static char *without_slashes(char *path)
{
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    return path;
}

static bool parse_option(struct collect_options *options, int option, char *value)
{
    uint64_t number = 0;
    switch (option) {
    case 'o':
        options->out = without_slashes(value);
        return true;
    case 'm':
        return collect_parse_number(value, UINT64_MAX, &options->memory_bytes);
    case 's':
        return collect_parse_number(value, UINT64_MAX, &options->max_size_bytes);
    case 'd':
        return collect_parse_number(value, UINT64_MAX, &options->duration_ns);
    case 'n':
        options->no_follow = true;
        return true;
    case 'f':
        options->drop = strcmp(value, "drop") == 0;
        return options->drop || strcmp(value, "wait") == 0;
    case 'r':
        if (!collect_parse_number(value, INT_MAX, &number))
            return false;
        options->ready_fd = (int)number;
        return true;
    case 'c':
        if (!collect_parse_number(value, INT_MAX, &number))
            return false;
        options->control_fd = (int)number;
        return true;
    case 'l':
        if (!collect_parse_number(value, INT_MAX, &number))
            return false;
        options->leader_pid = (uint32_t)number;
        return true;
    case 't':
        options->no_tsc = strcmp(value, "monotonic") == 0;
        return options->no_tsc || strcmp(value, "auto") == 0;
    case 'e':
        options->stamps = strcmp(value, "stamps") == 0;
        return options->stamps || strcmp(value, "epochs") == 0;
    case 'x':
        options->no_residency = true;
        return true;
    case 'p':
        options->paused = true;
        return true;
    case 'w':
        return collect_parse_number(value, UINT64_MAX, &options->window_ns);
    case 'k':
        return collect_parse_number(value, UINT32_MAX, &options->keep);
    case 'y':
        options->only = value;
        return true;
    case 'R':
        options->recover = true;
        return true;
    case 'u':
        options->unique = true;
        return true;
    case 'j':
        options->join = true;
        return true;
    default:
        return false;
    }
}

/* Returns 0 to go on, 1 when help was asked for, 2 on misuse. */
static int parse_options(int argc, char **argv, struct collect_options *options)
{
    static const struct option LONG[] = {
        {"out", required_argument, NULL, 'o'},
        {"memory", required_argument, NULL, 'm'},
        {"max-size", required_argument, NULL, 's'},
        {"duration", required_argument, NULL, 'd'},
        {"no-follow", no_argument, NULL, 'n'},
        {"on-full", required_argument, NULL, 'f'},
        {"ready-fd", required_argument, NULL, 'r'},
        {"control-fd", required_argument, NULL, 'c'},
        {"leader", required_argument, NULL, 'l'},
        {"unique", no_argument, NULL, 'u'},
        {"join", no_argument, NULL, 'j'},
        {"clock", required_argument, NULL, 't'},
        {"recover", no_argument, NULL, 'R'},
        {"order", required_argument, NULL, 'e'},
        {"paused", no_argument, NULL, 'p'},
        {"window", required_argument, NULL, 'w'},
        {"keep", required_argument, NULL, 'k'},
        {"only", required_argument, NULL, 'y'},
        {"no-residency", no_argument, NULL, 'x'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    *options = (struct collect_options){.memory_bytes = MEMORY_DEFAULT, .ready_fd = -1, .control_fd = -1};
    while ((option = getopt_long(argc, argv, "h", LONG, NULL)) != -1) {
        if (option == 'h')
            return 1;
        if (!parse_option(options, option, optarg))
            return 2;
    }
    return options->out == NULL || options->out[0] == '\0' || optind != argc ? 2 : 0;
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
                                  SIGQUIT, SIGTSTP, SIGTTOU, SIGTTIN};
    struct rlimit limit;
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL); /* cannot fail with these arguments */
    for (size_t i = 0; i < sizeof IGNORED / sizeof IGNORED[0]; i++)
        (void)signal(IGNORED[i], SIG_IGN); /* cannot fail for these signals */
    (void)signal(SIGCHLD, SIG_DFL);
    control_init();
    (void)setsid(); /* fails where we lead a session already, which is as good */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE,
                        &limit); /* two descriptors a process; fewer is a limit, not an error */
    }
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        if (limit.rlim_max != RLIM_INFINITY)
            collector->file_limit_bytes = limit.rlim_max > 0 ? limit.rlim_max : 1;
    }
    (void)umask(077);
}

/* ---- the loop ----------------------------------------------------------------------------------------------------- */

/* CMD has ended, says `mallab record`: nobody new will come. Without a control descriptor that is always so. */
static void watch_control(struct collector *collector)
{
    struct pollfd control = {collector->options.control_fd, POLLIN, 0};
    char byte;
    ssize_t got;
    if (!collector->control_open || poll(&control, 1, 0) <= 0)
        return;
    got = read(collector->options.control_fd, &byte, 1);
    if (got == 0 || (got == 1 && byte == 'e') || (got < 0 && errno != EINTR && errno != EAGAIN))
        collector->control_open = false;
}

/* Between its exec and its first call, an image that will join us is nobody's. */
static bool somebody_may_join(const struct collector *collector)
{
    return collector->options.join && collector->execed_pid != 0 &&
           clock_monotonic_ns() - collector->execed_ns < JOIN_NS &&
           kill((pid_t)collector->execed_pid, 0) == 0;
}

static bool nobody_is_left(struct collector *collector)
{
    struct seg_header *segment = collector->segment.header;
    const uint64_t serials = atomic_load_explicit(&segment->serials, memory_order_acquire);
    if (collector->running > 0 || collector->control_open || somebody_may_join(collector))
        return false;
    if (serials == 0 && collector->options.control_fd < 0) {
        /* Under a plain preload our starter attaches at once, or never. */
        if (clock_monotonic_ns() - collector->started_ns > NOBODY_CAME_NS)
            return true;
        return collector->options.leader_pid != 0 && kill((pid_t)collector->options.leader_pid, 0) != 0 &&
               errno == ESRCH;
    }
    return true;
}

static void set_closing(struct seg_header *segment, enum seg_closing closing)
{
    atomic_store_explicit(&segment->closing, closing, memory_order_seq_cst);
    raw_futex_wake(&segment->closing, INT_MAX);
}

/* Whoever claims a slot from here on sees `closing` and waits what becomes of it; whoever claimed one before is
 * found by this last look. */
static bool may_close(struct collector *collector)
{
    struct seg_header *segment = collector->segment.header;
    image_discover(collector); /* whose children are looked for next */
    if (collector->running > 0 || image_unattached_remain(collector))
        return false;
    set_closing(segment, SEG_CLOSING);
    collector->attaching = true; /* look at every slot: a claim may stand there without a serial yet */
    image_discover(collector);
    if (collector->running > 0 || collector->attaching || image_unattached_remain(collector)) {
        set_closing(segment, SEG_OPEN);
        return false;
    }
    set_closing(segment, SEG_CLOSED);
    return true;
}

static void rest(struct collector *collector, uint32_t idle_rounds)
{
    struct seg_header *segment = collector->segment.header;
    const bool sleep = idle_rounds > IDLE_ROUNDS;
    uint64_t duration = !sleep ? NAP_NS : idle_rounds > SLEEP_ROUNDS ? LONG_SLEEP_NS : SLEEP_NS;
    const uint32_t doorbell = atomic_load_explicit(&segment->doorbell, memory_order_acquire);
    if (control_is_due())
        return; /* one that comes from here on is found after the time-out, unless it ends the sleep */
    atomic_store_explicit(&segment->asleep, sleep ? SEG_SLEEP : SEG_NAP, memory_order_seq_cst);
    for (; !sleep && duration > STEP_NS && image_bump_epochs(collector) &&
           atomic_load_explicit(&segment->doorbell, memory_order_acquire) == doorbell;
         duration -= STEP_NS)
        (void)raw_futex_wait(&segment->doorbell, doorbell, STEP_NS); /* as below */
    /* a ring that came before `asleep` was set has changed the doorbell, or is made up for by the time-out */
    (void)raw_futex_wait(&segment->doorbell, doorbell, duration);
    atomic_store_explicit(&segment->asleep, SEG_AWAKE, memory_order_relaxed);
}

static void stop_recording(struct collector *collector, enum collect_stop why)
{
    const struct timespec last_calls = {0, LAST_CALLS_NS};
    stop_note(collector, why);
    atomic_store_explicit(&collector->segment.header->stopped, 1, memory_order_seq_cst);
    set_closing(collector->segment.header, SEG_CLOSED);
    (void)nanosleep(&last_calls, NULL); /* cut short only costs stores of other threads under way */
    (void)drain_scan(collector);
    for (uint32_t slot = 0; slot < SEG_SLOT_COUNT; slot++) {
        struct collect_image *image = collect_image_in(collector, slot);
        if (image != NULL)
            image_finish(collector, image, IMAGE_RUNNING);
    }
}

/* For whoever recovers the segment when we are killed. */
static void share_clock(struct collector *collector)
{
    struct seg_header *segment = collector->segment.header;
    atomic_store_explicit(&segment->clock_last_ticks, collector->clock.last_ticks, memory_order_relaxed);
    atomic_store_explicit(&segment->clock_last_ns, collector->clock.last_ns, memory_order_relaxed);
}

static void run(struct collector *collector)
{
    struct seg_header *segment = collector->segment.header;
    uint64_t looked_ns = 0, threads_ns = 0, left_ns = 0, doorbell = 0;
    uint32_t idle_rounds = 0;
    for (;;) {
        const uint64_t now = clock_monotonic_ns();
        const uint64_t rung = atomic_load_explicit(&segment->doorbell, memory_order_acquire);
        const bool look = now - looked_ns >= LOOK_NS;
        uint32_t work;
        atomic_store_explicit(&segment->heartbeat_ns, now, memory_order_relaxed);
        clock_anchor(&collector->clock);
        share_clock(collector);
        image_discover(collector);
        (void)image_bump_epochs(collector);
        work = drain_scan(collector);
        work += drain_blocks(collector);
        segment_hold_more(&collector->segment);
        image_check_ends(collector, look);
        watch_control(collector);
        if (look)
            looked_ns = now;
        if (now - threads_ns >= THREADS_NS) {
            threads_ns = now;
            drain_dead_threads(collector);
            drain_waiting(collector);
            reserve_renew(collector);
        }
        if (control_heed(collector)) {
            stop_recording(collector, STOP_ASKED);
            return;
        }
        if (collector->options.duration_ns != 0 &&
            now - collector->started_ns >= collector->options.duration_ns) {
            stop_recording(collector, STOP_DURATION);
            return;
        }
        /* The walk over /proc is the dear part: not in every round while somebody unattached stays away. */
        if (nobody_is_left(collector) && (left_ns == 0 || now - left_ns >= LOOK_NS)) {
            left_ns = now;
            if (may_close(collector))
                return;
        }
        idle_rounds = work > 0 || rung != doorbell ? 0 : idle_rounds + 1;
        doorbell = rung;
        if (work < COLLECT_CHUNKS_PER_BLOCK)
            rest(collector, idle_rounds);
    }
}

/* ---- start and end ---------------------------------------------------------------------------------------------------- */

static void fill_header(struct collector *collector)
{
    struct seg_header *segment = collector->segment.header;
    const struct collect_options *options = &collector->options;
    struct stat status;
    segment->version = SEG_VERSION;
    segment->owner_uid = geteuid();
    segment->collector_pid = (uint32_t)getpid();
    segment->collector_start = process_start_ticks(segment->collector_pid);
    segment->clock = collector->clock.kind;
    segment->clock_first_ticks = collector->clock.first_ticks;
    segment->clock_first_ns = collector->clock.first_ns;
    segment->clock_start_unix_ns = collector->clock.start_unix_ns;
    size_t directory_size = strlen(collector->directory) + 1;
    if (directory_size <= sizeof segment->directory)
        memcpy(segment->directory, collector->directory, directory_size);
    share_clock(collector);
    segment->flags = (options->drop ? SEG_FLAG_DROP : 0) | (options->no_follow ? SEG_FLAG_NO_FOLLOW : 0) |
                     (options->stamps ? SEG_FLAG_STAMPS : 0) |
                     (options->no_residency ? 0 : SEG_FLAG_RESIDENT);
    segment->filters = collect_filters_passed();
    segment->bump_ticks = (uint64_t)(1000.0 / collector->clock.ns_per_tick);
    segment->pid_namespace = stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
    control_begin(collector);
    atomic_store_explicit(&segment->leader_pid, options->leader_pid, memory_order_relaxed);
    atomic_store_explicit(&segment->heartbeat_ns, clock_monotonic_ns(), memory_order_relaxed);
}

/* Returns EXIT_DONE with the segment published, or another code after answering. */
static int prepare(struct collector *collector, bool *ret_joined)
{
    const char *reason = NULL;
    char place[sizeof collector->segment.path + sizeof collector->directory];
    uint32_t number;
    *ret_joined = false;
    switch (place_find(collector, &number)) {
    case PLACE_FAILED:
        return fail(collector, "cannot use output directory '%s': %s", collector->options.out,
                    strerror(errno));
    case PLACE_TAKEN:
        return fail(collector, "output directory '%s' holds something already; name another",
                    collector->options.out);
    case PLACE_JOINED:
        answer(collector, "ok", collector->segment.path);
        *ret_joined = true;
        return EXIT_DONE;
    case PLACE_OURS:
        break;
    }
    segment_remove_stale();
    clock_start(&collector->clock, collector->options.no_tsc);
    collector->options.out = collector->directory;
    if (!segment_create(&collector->segment, &collector->options, &reason))
        return fail(collector, "%s", reason);
    image_test_looking(&collector->segment);
    fill_header(collector);
    collector->taken = calloc(collector->segment.header->chunk_count, 1);
    if (collector->taken == NULL) {
        segment_remove(&collector->segment);
        return fail(collector, "no memory for the table of chunks");
    }
    if (!json_write(collector, false)) {
        (void)fail(collector, "cannot write recording.json in '%s': %s", collector->directory,
                   strerror(errno));
        segment_remove(&collector->segment);
        return EXIT_FAILED;
    }
    if (!reserve_hold(collector)) {
        (void)fail(collector, "cannot write into '%s': %s", collector->directory, strerror(errno));
        segment_remove(&collector->segment);
        return EXIT_FAILED;
    }
    (void)!chdir("/"); /* a recorded program's directory may be removed or unmounted under it */
    segment_publish(&collector->segment);
    (void)snprintf(place, sizeof place, "%s%s%s", collector->segment.path, number > 1 ? "\n" : "",
                   number > 1 ? collector->directory : ""); /* fits */
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
    recover_run(collector);
    if (!json_write(collector, true)) {
        fprintf(stderr, "mallab-collect: %s: cannot write recording.json: %s\n", collector->options.out,
                strerror(errno));
        return EXIT_FAILED;
    }
    segment_remove(&collector->segment);
    return EXIT_DONE;
}

static void release(struct collector *collector)
{
    for (size_t i = 0; i < collector->image_count; i++) {
        free(collector->images[i]->parts);
        free(collector->images[i]);
    }
    free(collector->images);
    free(collector->pauses);
    free(collector->taken);
}

/* Without blocks that are held (not every file system has files without names) a full disk may refuse even this: it is
 * given some time, because it would be the only word on what was lost. */
static bool write_last(struct collector *collector)
{
    const struct timespec pause = {0, LAST_PAUSE_NS};
    for (unsigned tries = 0; !json_write(collector, true); tries++) {
        if (errno != ENOSPC && errno != EDQUOT)
            return false;
        if (tries == LAST_TRIES)
            return false;
        (void)nanosleep(&pause, NULL); /* a signal only shortens it */
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct collector collector = {
        .directory_fd = -1, .reserve_fd = -1, .list_fd = -1, .segment = {.fd = -1}};
    bool joined;
    int code = parse_options(argc, argv, &collector.options);
    if (code == 1)
        return fputs(USAGE, stdout) >= 0 ? EXIT_DONE : EXIT_FAILED;
    if (code == 2) {
        (void)fputs("mallab-collect: bad options; see mallab-collect --help\n", stderr);
        return EXIT_MISUSE;
    }
    if (collector.options.recover) {
        (void)umask(077);
        code = recover(&collector);
        release(&collector);
        return code;
    }
    close_inherited(&collector.options);
    settle(&collector);
    collector.control_open = collector.options.control_fd >= 0;
    collector.started_ns = clock_monotonic_ns();
    code = prepare(&collector, &joined);
    if (code != EXIT_DONE || joined)
        return code;
    run(&collector);
    segment_remove(&collector.segment);
    reserve_release(&collector);
    code = write_last(&collector) ? EXIT_DONE : EXIT_FAILED;
    release(&collector);
    return code;
}

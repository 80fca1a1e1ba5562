/* meters.c - /proc and getrusage. */
#include "replay/meters/meters.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "replay/base/own_process.h"
#include "replay/clock/real.h"

bool rep_meters_init(struct rep_meters *meters, size_t windows)
{
    *meters = (struct rep_meters){.window_max = windows};
    meters->ticks = rep_storage_map(windows, sizeof *meters->ticks);
    meters->preempted_ns = rep_storage_map(windows, sizeof *meters->preempted_ns);
    meters->resident_bytes = rep_storage_map(windows, sizeof *meters->resident_bytes);
    meters->live_bytes = rep_storage_map(windows, sizeof *meters->live_bytes);
    meters->time_ns = rep_storage_map(windows, sizeof *meters->time_ns);
    meters->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    meters->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    return meters->ticks != NULL && meters->preempted_ns != NULL && meters->resident_bytes != NULL &&
           meters->live_bytes != NULL && meters->time_ns != NULL && meters->statm_fd >= 0;
}

/* Read resident and shared memory; both 0 should the kernel refuse. */
static void read_statm(const struct rep_meters *meters, uint64_t *ret_resident, uint64_t *ret_shared)
{
    char text[128];
    char *at = text;
    const ssize_t length = pread(meters->statm_fd, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    (void)strtoull(at, &at, 10); /* the first number is the address space */
    *ret_resident = strtoull(at, &at, 10) * meters->page_bytes;
    *ret_shared = strtoull(at, &at, 10) * meters->page_bytes;
}

static uint64_t above(uint64_t value, uint64_t base)
{
    return value > base ? value - base : 0;
}

uint64_t rep_meters_resident(struct rep_meters *meters)
{
    uint64_t resident, shared;
    read_statm(meters, &resident, &shared);
    if (shared > meters->shared_bytes_max)
        meters->shared_bytes_max = shared;
    return above(above(resident, shared), meters->start_bytes);
}

unsigned rep_meters_threads(void)
{
    return (unsigned)rep_proc_number("/proc/self/status", "\nThreads:", 0);
}

/* Make VmHWM begin anew; false when the kernel refuses, and the peak is of the whole process's life. */
static bool reset_kernel_peak(void)
{
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool done = write(fd, "5", 1) == 1;
    (void)close(fd); /* nothing is buffered */
    return done;
}

void rep_meters_start(struct rep_meters *meters)
{
    uint64_t resident, shared;
    meters->kernel_peak_is_new = reset_kernel_peak();
    read_statm(meters, &resident, &shared);
    meters->start_bytes = above(resident, shared);
    meters->start_file_bytes = shared;
    meters->shared_bytes_max = shared;
    rep_meters_begin(meters);
}

void rep_meters_begin(struct rep_meters *meters)
{
    meters->last_bytes = rep_meters_resident(meters);
    (void)getrusage(RUSAGE_SELF, &meters->started); /* cannot fail */
    meters->started_ns = rep_monotonic_ns();
}

void rep_meters_window(struct rep_meters *meters, const struct wl_window *window, uint64_t ticks,
                       uint64_t preempted_ns, uint64_t blocked_ns)
{
    const uint64_t at = meters->window_count;
    if (at == meters->window_max)
        return;
    const uint64_t bytes = rep_meters_resident(meters);
    meters->ticks[at] = ticks;
    meters->preempted_ns[at] = preempted_ns;
    meters->blocked_ns += blocked_ns;
    meters->resident_bytes[at] = bytes;
    meters->live_bytes[at] = window->facts.live_bytes;
    meters->time_ns[at] = window->facts.end_ns;
    if (bytes > meters->peak_bytes)
        meters->peak_bytes = bytes;
    if (at == 0)
        meters->last_ns = window->facts.start_ns;
    /* Between two samples memory is taken to have changed evenly. */
    const uint64_t span_ns = above(window->facts.end_ns, meters->last_ns);
    const uint64_t window_ns = above(window->facts.end_ns, window->facts.start_ns);
    if (window_ns > meters->window_max_ns)
        meters->window_max_ns = window_ns;
    meters->last_ns += span_ns;
    meters->weighted_sum += ((double)meters->last_bytes + (double)bytes) / 2 * (double)span_ns;
    meters->last_bytes = bytes;
    meters->weight_ns += (double)span_ns;
    meters->op_sum += (double)bytes * window->op_count;
    meters->ops += window->op_count;
    meters->window_count++;
}

static uint64_t timeval_ns(const struct timeval *after, const struct timeval *before)
{
    return (uint64_t)(after->tv_sec - before->tv_sec) * 1000000000u +
           (uint64_t)(after->tv_usec - before->tv_usec) * 1000u;
}

void rep_meters_pause(struct rep_meters *meters)
{
    (void)getrusage(RUSAGE_SELF, &meters->paused); /* cannot fail */
    meters->paused_ns = rep_monotonic_ns();
}

/* Move a counter's start by what the pause added. */
static void skip_time(struct timeval *start, const struct timeval *now, const struct timeval *then)
{
    struct timeval passed;
    timersub(now, then, &passed);
    timeradd(start, &passed, start);
}

void rep_meters_resume(struct rep_meters *meters)
{
    struct rusage now, *start = &meters->started;
    const struct rusage *then = &meters->paused;
    (void)getrusage(RUSAGE_SELF, &now); /* cannot fail */
    meters->started_ns += rep_monotonic_ns() - meters->paused_ns;
    skip_time(&start->ru_utime, &now.ru_utime, &then->ru_utime);
    skip_time(&start->ru_stime, &now.ru_stime, &then->ru_stime);
    start->ru_minflt += now.ru_minflt - then->ru_minflt;
    start->ru_majflt += now.ru_majflt - then->ru_majflt;
    start->ru_nvcsw += now.ru_nvcsw - then->ru_nvcsw;
    start->ru_nivcsw += now.ru_nivcsw - then->ru_nivcsw;
}

void rep_meters_stop(struct rep_meters *meters)
{
    struct rusage now;
    const struct rusage *then = &meters->started;
    meters->wall_ns = rep_monotonic_ns() - meters->started_ns;
    (void)getrusage(RUSAGE_SELF, &now); /* cannot fail */
    meters->end_bytes = rep_meters_resident(meters);
    /* The kernel's peak is of all resident memory. Taking off the most that files ever held can only make
     * it too low, never too high. */
    const uint64_t told = rep_proc_number("/proc/self/status", "VmHWM:", 0) * 1024;
    const uint64_t peak = meters->kernel_peak_is_new ? told : 0;
    const uint64_t kernel = above(above(peak, meters->shared_bytes_max), meters->start_bytes);
    meters->peak_by_kernel = kernel > meters->peak_bytes;
    if (meters->peak_by_kernel)
        meters->peak_bytes = kernel;
    meters->mean_by_time = meters->weight_ns > 0;
    if (meters->mean_by_time)
        meters->mean_bytes = meters->weighted_sum / meters->weight_ns;
    else if (meters->ops > 0)
        meters->mean_bytes = meters->op_sum / meters->ops;
    meters->faults_minor = (uint64_t)(now.ru_minflt - then->ru_minflt);
    meters->faults_major = (uint64_t)(now.ru_majflt - then->ru_majflt);
    meters->switches_voluntary = (uint64_t)(now.ru_nvcsw - then->ru_nvcsw);
    meters->switches_involuntary = (uint64_t)(now.ru_nivcsw - then->ru_nivcsw);
    meters->user_ns = timeval_ns(&now.ru_utime, &then->ru_utime);
    meters->system_ns = timeval_ns(&now.ru_stime, &then->ru_stime);
}

void rep_meters_idle(struct rep_meters *meters, bool with_calls)
{
    const uint64_t bytes = rep_meters_resident(meters);
    meters->idle_own_bytes = with_calls ? above(bytes, meters->end_bytes) : 0;
    meters->idle_bytes = bytes - meters->idle_own_bytes;
}

/* ---- waste: what the allocator counts of it ------------------------------------------------------------------- */

/* Each allocator is asked what it counts of itself. Formulas, with usable the sum over the live objects:
 *   glibc     cached = fordblks + in-use chunks that are no live object's (thread caches count as in use) =
 *             fordblks + uordblks + hblkhd - usable - metadata; metadata = the 8 bytes before each object (16 before a
 *             mapped one: less than a page of difference). Source: malloc/malloc.c of 2.36, struct malloc_chunk
 *   jemalloc  cached = stats.resident - stats.metadata - usable; metadata = stats.metadata. Source: jemalloc(3)
 *   tcmalloc  cached = the free bytes of page heap, central, transfer and thread caches; metadata =
 *             generic.total_physical_bytes - (generic.heap_size - tcmalloc.pageheap_unmapped_bytes), as its
 *             total_physical_bytes is heap plus metadata less unmapped. Source: gperftools' malloc_extension.h, tcmalloc.cc
 *   mimalloc  tells what it committed, free memory and metadata in one: neither can be named */

static void add(struct rep_waste_sample *sample, const char *name, uint64_t bytes)
{
    if (sample->statistic_count == REP_WASTE_STATISTICS_MAX)
        return;
    sample->statistics[sample->statistic_count].name = name;
    sample->statistics[sample->statistic_count++].bytes = bytes;
}

/* 0 for one that was not told. */
static int64_t value_of(const struct rep_waste_sample *sample, const char *name)
{
    for (uint32_t i = 0; i < sample->statistic_count; i++) {
        if (strcmp(sample->statistics[i].name, name) == 0)
            return (int64_t)sample->statistics[i].bytes;
    }
    return 0;
}

static void ask_glibc(struct rep_waste_sample *sample)
{
    const struct mallinfo2 info = mallinfo2();
    add(sample, "arena", info.arena);
    add(sample, "hblkhd", info.hblkhd);
    add(sample, "uordblks", info.uordblks);
    add(sample, "fordblks", info.fordblks);
    add(sample, "fsmblks", info.fsmblks);
    add(sample, "keepcost", info.keepcost);
    sample->metadata_bytes = 8 * (int64_t)sample->live_objects;
    if (sample->usable_bytes != REP_WASTE_UNKNOWN)
        sample->cached_bytes = (int64_t)(info.fordblks + info.uordblks + info.hblkhd) - sample->usable_bytes -
                               sample->metadata_bytes;
}

static void ask_jemalloc(struct rep_waste_sample *sample)
{
    static const char *const NAMES[] = {"stats.allocated", "stats.active",   "stats.metadata",
                                        "stats.resident",  "stats.retained", "stats.mapped"};
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    uint64_t epoch = 1;
    if (!rep_symbol("mallctl", &mallctl) || mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) != 0)
        return;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        size_t value = 0, length = sizeof value;
        if (mallctl(NAMES[i], &value, &length, NULL, 0) != 0)
            return; /* built without statistics */
        add(sample, NAMES[i], value);
    }
    sample->metadata_bytes = value_of(sample, "stats.metadata");
    if (sample->usable_bytes != REP_WASTE_UNKNOWN)
        sample->cached_bytes = value_of(sample, "stats.resident") - sample->metadata_bytes -
                               sample->usable_bytes;
}

static void ask_tcmalloc(struct rep_waste_sample *sample)
{
    static const char *const NAMES[] = {
        "generic.current_allocated_bytes",    "generic.heap_size",
        "generic.total_physical_bytes",       "tcmalloc.pageheap_free_bytes",
        "tcmalloc.pageheap_unmapped_bytes",   "tcmalloc.central_cache_free_bytes",
        "tcmalloc.transfer_cache_free_bytes", "tcmalloc.current_total_thread_cache_bytes",
    };
    int (*numeric)(const char *, size_t *);
    if (!rep_symbol("MallocExtension_GetNumericProperty", &numeric))
        return;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        size_t value;
        if (!numeric(NAMES[i], &value))
            return;
        add(sample, NAMES[i], value);
    }
    sample->cached_bytes = value_of(sample, NAMES[3]) + value_of(sample, NAMES[5]) +
                           value_of(sample, NAMES[6]) + value_of(sample, NAMES[7]);
    sample->metadata_bytes = value_of(sample, NAMES[2]) -
                             (value_of(sample, NAMES[1]) - value_of(sample, NAMES[4]));
}

static void ask_mimalloc(struct rep_waste_sample *sample)
{
    void (*process_info)(size_t *, size_t *, size_t *, size_t *, size_t *, size_t *, size_t *, size_t *);
    size_t elapsed, user, system, rss, rss_peak, commit = 0, commit_peak, faults;
    if (!rep_symbol("mi_process_info", &process_info))
        return;
    process_info(&elapsed, &user, &system, &rss, &rss_peak, &commit, &commit_peak, &faults);
    add(sample, "current_commit", commit);
}

/* Fill statistics, cached_bytes and metadata_bytes of a sample that has all else, if the kind tells them. */
static void ask(const char *kind, struct rep_waste_sample *sample)
{
    static const struct {
        const char *kind;
        void (*of_kind)(struct rep_waste_sample *);
    } KINDS[] = {{"glibc", ask_glibc},
                 {"jemalloc", ask_jemalloc},
                 {"tcmalloc", ask_tcmalloc},
                 {"mimalloc", ask_mimalloc}};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strcmp(KINDS[i].kind, kind) == 0)
            KINDS[i].of_kind(sample);
    }
}

/* ---- samples -------------------------------------------------------------------------------------- */

bool rep_waste_init(struct rep_waste *waste, struct wl_reader *reader, const char *kind, void **slots)
{
    *waste = (struct rep_waste){
        .kind = kind, .slots = slots, .highest_live_bytes = wl_reader_highest_live(reader)};
    waste->before = (struct rep_waste_sample){
        .cached_bytes = REP_WASTE_UNKNOWN,
        .metadata_bytes = REP_WASTE_UNKNOWN,
    };
    ask(kind, &waste->before); /* of no live object: usable_bytes is 0 */
    return rep_live_init(&waste->live, wl_reader_summary(reader)->id_max);
}

bool rep_waste_follow(struct rep_waste *waste, const struct wl_window *window)
{
    /* A slice that ends within a window tells no peak. */
    const bool ends_window = window->facts.live_bytes_peak >= window->facts.live_bytes;
    rep_live_follow(&waste->live, window, window->op_count);
    return !waste->peak.taken && ends_window && window->facts.live_bytes >= waste->highest_live_bytes;
}

static int64_t usable_bytes(const struct rep_waste *waste)
{
    size_t (*const usable_size)(void *) = rep_usable_size();
    int64_t sum = 0;
    if (usable_size == NULL)
        return REP_WASTE_UNKNOWN;
    for (uint32_t id = 1; id <= waste->live.id_max && id != 0; id++) {
        if (waste->live.sizes[id] != 0 && waste->slots[id] != NULL)
            sum += (int64_t)usable_size(waste->slots[id]);
    }
    return sum;
}

static int64_t huge_page_bytes(void)
{
    const uint64_t kilobytes = rep_proc_number("/proc/self/smaps_rollup", "AnonHugePages:", UINT64_MAX);
    return kilobytes != UINT64_MAX ? (int64_t)kilobytes * 1024 : REP_WASTE_UNKNOWN;
}

static int64_t known_or_zero(int64_t bytes)
{
    return bytes != REP_WASTE_UNKNOWN ? bytes : 0;
}

static int64_t since(int64_t bytes, int64_t before)
{
    if (bytes == REP_WASTE_UNKNOWN || bytes < known_or_zero(before))
        return REP_WASTE_UNKNOWN;
    return bytes - known_or_zero(before);
}

void rep_waste_sample(struct rep_waste *waste, struct rep_waste_sample *ret_sample, uint64_t ops,
                      uint64_t time_ns, uint64_t resident_bytes)
{
    *ret_sample = (struct rep_waste_sample){
        .taken = true,
        .ops = ops,
        .time_ns = time_ns,
        .live_bytes = waste->live.bytes,
        .live_objects = waste->live.objects,
        .resident_bytes = resident_bytes,
        .usable_bytes = usable_bytes(waste),
        .rounding_bytes = REP_WASTE_UNKNOWN,
        .cached_bytes = REP_WASTE_UNKNOWN,
        .metadata_bytes = REP_WASTE_UNKNOWN,
        .huge_page_bytes = huge_page_bytes(),
    };
    if (ret_sample->usable_bytes != REP_WASTE_UNKNOWN)
        ret_sample->rounding_bytes = ret_sample->usable_bytes - (int64_t)ret_sample->live_bytes;
    ask(waste->kind, ret_sample);
    ret_sample->cached_bytes = since(ret_sample->cached_bytes, waste->before.cached_bytes);
    ret_sample->metadata_bytes = since(ret_sample->metadata_bytes, waste->before.metadata_bytes);
    ret_sample->rest_bytes = (int64_t)resident_bytes - (int64_t)ret_sample->live_bytes -
                             known_or_zero(ret_sample->rounding_bytes) -
                             known_or_zero(ret_sample->cached_bytes) -
                             known_or_zero(ret_sample->metadata_bytes);
}

/* looks.c - looks at processes gathered, and put together at their end. */
#include "collect/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FIRST_LOOK_NS 10000000u /* after a process was found, and twice as long each time */
#define LOOK_NS       50000000u /* until there are so many between two looks */
#define LOOKS_AT_ONCE 32u       /* of one round: each takes some 20 us */
#define BEFORE_US     100000u   /* more than the loader takes: then the process was something else before */
#define CPUS_MOST     8192u
#define TICK_NS       10000000u

/* The looks that are kept of an image while it runs. */
struct collect_looks {
    uint64_t start_ticks;
    uint64_t next_ns, step_ns; /* CLOCK_MONOTONIC of the next look */
    uint64_t file_most, shared_most;
    uint64_t cpu_looked_ns, memory_looked_ns; /* since recording began; 0: never */
    /* The process's usage when the image began. */
    uint64_t base_user_ns, base_system_ns, base_minor, base_major;
    bool has_base;
};

/* ---- figures ------------------------------------------------------------------------------------------- */

static uint64_t less(uint64_t value, uint64_t by)
{
    return value > by ? value - by : 0;
}

static uint64_t elapsed_at(const struct collector *collector, uint64_t monotonic_ns)
{
    return less(monotonic_ns, collector->clock.first_ns);
}

/* A figure that some process wrote: no more than can be. */
static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

static uint64_t cpu_most_us(const struct collector *collector)
{
    return collect_elapsed_ns(collector) / 1000 * CPUS_MOST;
}

/* The process's processor time, of which the image has what is above the base. Returns ns. */
static uint64_t told_ns(const struct collector *collector, uint64_t told_us, uint64_t base_ns)
{
    return base_ns +
           at_most(less(at_most(told_us, INT64_MAX / 2000) * 1000, base_ns), cpu_most_us(collector) * 1000);
}

static void raise_to(uint64_t *known, uint64_t value)
{
    if (*known == FP_USAGE_UNKNOWN || value > *known)
        *known = at_most(value, INT64_MAX);
}

/* The recorder's part of a process's shared memory: what it touched, and no more than is in use. */
static uint64_t recorder_part(const struct collect_segment *segment, uint64_t shared)
{
    return at_most(shared,
                   segment->view.chunks_offset + (uint64_t)seg_held(&segment->view) * SEG_CHUNK_BYTES);
}

static void take_times(struct fp_usage *usage, struct collect_looks *looks, const struct fp_proc_stat *times,
                       uint64_t elapsed_ns)
{
    raise_to(&usage->cpu_user_ns, less(times->user_ns, looks->base_user_ns));
    raise_to(&usage->cpu_system_ns, less(times->system_ns, looks->base_system_ns));
    raise_to(&usage->faults_minor, less(times->faults_minor, looks->base_minor));
    raise_to(&usage->faults_major, less(times->faults_major, looks->base_major));
    looks->cpu_looked_ns = elapsed_ns;
}

static void take_affinity(struct fp_machine *machine, const struct fp_proc_status *memory)
{
    if (memory->affinity == 0 || memory->affinity > FP_PROCESSORS_MAX)
        return;
    machine->affinity_end = memory->affinity;
    if (machine->affinity == FP_USAGE_UNKNOWN)
        machine->affinity = memory->affinity;
}

static void take_memory(const struct collect_segment *segment, struct fp_usage *usage,
                        struct collect_looks *looks, const struct fp_proc_status *memory, uint64_t elapsed_ns)
{
    const uint64_t ours = recorder_part(segment, memory->shared);
    looks->file_most = memory->file > looks->file_most ? memory->file : looks->file_most;
    looks->shared_most = memory->shared > looks->shared_most ? memory->shared : looks->shared_most;
    usage->recorder_bytes = ours;
    usage->rss_end_bytes = at_most(less(memory->rss, ours), INT64_MAX);
    usage->rss_anon_end_bytes = at_most(memory->anon, INT64_MAX);
    raise_to(&usage->rss_peak_bytes, less(memory->peak, ours));
    raise_to(&usage->rss_anon_peak_bytes, memory->anon);
    /* The rest at the peak was neither a file's nor shared; the kernel may not tell those two. */
    if (memory->anon + memory->file > 0)
        raise_to(&usage->rss_anon_peak_bytes, less(memory->peak, looks->file_most + looks->shared_most));
    take_affinity(&usage->machine, memory);
    looks->memory_looked_ns = elapsed_ns;
}

/* ---- the series ------------------------------------------------------------------------------------------ */

static void thin_out(struct fp_usage *usage, struct collect_looks *looks)
{
    uint32_t kept = 0;
    for (uint32_t i = 1; i < usage->point_count; i += 2)
        usage->points[kept++] = usage->points[i];
    usage->point_count = kept;
    looks->step_ns *= 2;
}

static void add_point(struct fp_usage *usage, struct collect_looks *looks, uint64_t elapsed_ns)
{
    const struct fp_usage_point *last = usage->point_count > 0 ? &usage->points[usage->point_count - 1]
                                                               : NULL;
    const uint64_t cpu_ns = fp_usage_cpu_ns(usage);
    if (usage->points == NULL)
        usage->points = calloc(FP_USAGE_POINTS_MAX, sizeof *usage->points);
    if (usage->points == NULL || (last != NULL && last->time_ns >= elapsed_ns))
        return; /* without memory there is no series */
    if (usage->point_count == FP_USAGE_POINTS_MAX)
        thin_out(usage, looks);
    usage->points[usage->point_count++] = (struct fp_usage_point){
        .time_ns = elapsed_ns,
        .rss_bytes = usage->rss_end_bytes,
        .rss_anon_bytes = usage->rss_anon_end_bytes,
        .cpu_ns = cpu_ns != FP_USAGE_UNKNOWN ? cpu_ns : 0,
    };
}

/* ---- begin -------------------------------------------------------------------------------------------------- */

/* The image whose place this one has taken, while it is in the table: it ends next. NULL: there is none. */
static const struct collect_image *former_of(const struct collector *collector,
                                             const struct collect_image *image)
{
    FOR_EACH_IMAGE (other, collector)
        if (other != image && other->pid == image->pid && other->serial < image->serial)
            return other;
    return NULL;
}

/* Finds the process's usage when the image began: an exec changes none of it. The former image has told it; else it is what
 * stood there at its own first call, which leaves out what the loader did. A fork's child has used nothing. */
static void find_base(struct collector *collector, struct collect_image *image, struct seg_usage *begin)
{
    struct collect_looks *looks = image->looks;
    const uint64_t most_us = INT64_MAX / 1000; /* any part of it may be from before recording began */
    const struct collect_image *former = former_of(collector, image);
    const struct seg_slot *slot = former != NULL ? collect_slot(former) : NULL;
    if (image->parent_serial != SEG_NOBODY)
        return;
    if (slot != NULL && get_acquire(&slot->usage_end) == SEG_USAGE_EXEC)
        *begin = slot->end;
    else if (former == NULL && collector->execed.pid != image->pid &&
             begin->user_us + begin->system_us < BEFORE_US)
        return;
    looks->base_user_ns = at_most(begin->user_us, most_us) * 1000;
    looks->base_system_ns = at_most(begin->system_us, most_us) * 1000;
    looks->base_minor = begin->faults_minor;
    looks->base_major = begin->faults_major;
    looks->has_base = true;
}

/* A process has run for its processor time at least before its first call. A fork's child may make that call long after it began:
 * there the kernel's tick tells more. */
static uint64_t begin_of(const struct collector *collector, const struct collect_image *image,
                         const struct seg_usage *begin)
{
    const uint64_t used_ns = at_most(begin->user_us + begin->system_us, cpu_most_us(collector)) * 1000;
    const uint64_t now_ns = collect_elapsed_ns(collector);
    const uint64_t told_ns = begin->at_ns != 0 ? elapsed_at(collector, begin->at_ns) : now_ns;
    const uint64_t called_ns = at_most(told_ns, now_ns);
    const struct collect_looks *looks = image->looks;
    if (looks->has_base)
        return called_ns;
    const uint64_t tick_ns = less(now_ns, look_age_ns(looks->start_ticks)) + TICK_NS;
    if (image->parent_serial != SEG_NOBODY && looks->start_ticks != 0 && tick_ns < called_ns)
        return tick_ns;
    return less(called_ns, used_ns);
}

void usage_adopt(struct collector *collector, struct collect_image *image, bool is_here)
{
    struct seg_usage begin = collect_slot(image)->begin;
    struct fp_proc_stat times;
    struct fp_proc_status memory;
    image->usage = calloc(1, sizeof *image->usage);
    image->looks = calloc(1, sizeof *image->looks);
    if (image->usage == NULL || image->looks == NULL) {
        usage_release(image);
        return;
    }
    fp_usage_init(image->usage);
    image->usage->ended = FP_ENDED_RUNNING;
    image->looks->step_ns = FIRST_LOOK_NS;
    image->looks->next_ns = fp_now_ns() + FIRST_LOOK_NS;
    find_base(collector, image, &begin);
    look_at_machine(image->pid, &image->usage->machine);
    image->usage->machine.affinity = image->usage->machine.affinity_end = FP_USAGE_UNKNOWN;
    if (is_here && fp_proc_status((pid_t)image->pid, &memory))
        take_affinity(&image->usage->machine, &memory);
    if (is_here && fp_proc_stat((pid_t)image->pid, &times)) {
        image->looks->start_ticks = times.start_ticks;
        take_times(image->usage, image->looks, &times, collect_elapsed_ns(collector));
    }
    image->usage->begin_ns = begin_of(collector, image, &begin);
}

/* ---- looks -------------------------------------------------------------------------------------------------- */

static enum seg_usage_end told_end(const struct collector *collector, const struct collect_image *image)
{
    return (enum seg_usage_end)get_acquire(&collect_slot(image)->usage_end);
}

/* Returns whether the process of that id is still the one that was adopted, and no other program by what is known. */
static bool look_at(struct collector *collector, struct collect_image *image, struct fp_proc_stat *ret_times)
{
    struct fp_proc_status memory;
    const uint64_t elapsed_ns = collect_elapsed_ns(collector);
    if (image->looks->start_ticks == 0 || !fp_proc_stat((pid_t)image->pid, ret_times) ||
        ret_times->start_ticks != image->looks->start_ticks)
        return false;
    const bool has_memory = !ret_times->ended && fp_proc_status((pid_t)image->pid, &memory);
    if (told_end(collector, image) == SEG_USAGE_EXEC) /* what was seen may be the next program's */
        return false;
    take_times(image->usage, image->looks, ret_times, elapsed_ns);
    if (has_memory) {
        take_memory(image->segment, image->usage, image->looks, &memory, elapsed_ns);
        add_point(image->usage, image->looks, elapsed_ns);
    }
    return true;
}

void usage_look(struct collector *collector, uint64_t now_ns)
{
    static uint32_t first; /* slot at which the next round goes on */
    const uint32_t slots = collector->segment_count * SEG_SLOT_COUNT;
    uint32_t looked = 0;
    for (uint32_t i = 0; i < slots && looked < LOOKS_AT_ONCE; i++) {
        const uint32_t slot = (first + i) % slots;
        struct collect_image *image = collect_image_in(collector, &collector->segments[slot / SEG_SLOT_COUNT],
                                                       slot % SEG_SLOT_COUNT);
        struct fp_proc_stat times;
        if (image == NULL || image->looks == NULL || image->looks->next_ns > now_ns)
            continue;
        (void)look_at(collector, image, &times); /* gone by now: its end is found by others */
        image->looks->next_ns = now_ns + image->looks->step_ns;
        if (image->looks->step_ns < LOOK_NS)
            image->looks->step_ns = at_most(image->looks->step_ns * 2, LOOK_NS);
        if (++looked == LOOKS_AT_ONCE)
            first = slot + 1;
    }
}

/* ---- end ---------------------------------------------------------------------------------------------------- */

/* Takes the usage that the process told before it ended. Torn, where two threads told it at once: figures all the same. */
static bool take_told(struct collector *collector, struct collect_image *image, enum seg_usage_end end)
{
    const struct seg_slot *slot = collect_slot(image);
    if (told_end(collector, image) != end)
        return false;
    const struct seg_usage told = slot->end;
    const uint64_t kib_most = INT64_MAX >> 12;
    const uint64_t elapsed_ns = at_most(elapsed_at(collector, told.at_ns), collect_elapsed_ns(collector));
    const struct fp_proc_stat times = {
        .user_ns = told_ns(collector, told.user_us, image->looks->base_user_ns),
        .system_ns = told_ns(collector, told.system_us, image->looks->base_system_ns),
        .faults_minor = at_most(told.faults_minor, INT64_MAX),
        .faults_major = at_most(told.faults_major, INT64_MAX)};
    const struct fp_proc_status memory = {.peak = at_most(told.peak_kib, kib_most) * 1024,
                                          .rss = at_most(told.rss_kib, kib_most) * 1024,
                                          .anon = at_most(told.anon_kib, kib_most) * 1024,
                                          .file = at_most(told.file_kib, kib_most) * 1024,
                                          .shared = at_most(told.shared_kib, kib_most) * 1024};
    if (elapsed_ns == 0)
        return false;
    take_times(image->usage, image->looks, &times, elapsed_ns);
    image->usage->end_ns = elapsed_ns;
    image->usage->cpu_age_ns = 0;
    if (memory.peak == 0)
        return true;
    take_memory(image->segment, image->usage, image->looks, &memory, elapsed_ns);
    add_point(image->usage, image->looks, elapsed_ns);
    image->usage->memory_age_ns = 0;
    return true;
}

static void take_wait_status(struct fp_usage *usage, int status)
{
    if (WIFEXITED(status)) {
        usage->ended = FP_ENDED_EXIT;
        usage->code = (uint64_t)WEXITSTATUS(status);
    } else if (WIFSIGNALED(status)) {
        usage->ended = FP_ENDED_SIGNAL;
        usage->code = (uint64_t)WTERMSIG(status);
    }
}

/* The kernel's last word: of a zombie, else of the pidfd. */
static void take_death(struct collector *collector, struct collect_image *image)
{
    struct fp_proc_stat times = {0};
    int status;
    if (look_at(collector, image, &times) && times.ended) {
        image->usage->cpu_age_ns = 0;
        if (times.wait_status != 0 || !look_at_end(image->pidfd, &status))
            status = times.wait_status;
        take_wait_status(image->usage, status);
    } else if (look_at_end(image->pidfd, &status)) {
        take_wait_status(image->usage, status);
    }
}

static uint64_t age(uint64_t end_ns, uint64_t looked_ns)
{
    return looked_ns == 0 ? FP_USAGE_UNKNOWN : less(end_ns, looked_ns);
}

static void tell_ages(const struct collect_image *image)
{
    struct fp_usage *usage = image->usage;
    if (usage->cpu_age_ns != 0)
        usage->cpu_age_ns = age(usage->end_ns, image->looks->cpu_looked_ns);
    if (usage->memory_age_ns != 0)
        usage->memory_age_ns = age(usage->end_ns, image->looks->memory_looked_ns);
}

void usage_end(struct collector *collector, struct collect_image *image)
{
    struct fp_usage *usage = image->usage;
    struct fp_proc_stat times;
    if (usage == NULL || image->looks == NULL)
        return;
    usage->end_ns = collect_elapsed_ns(collector);
    usage->cpu_age_ns = usage->memory_age_ns = FP_USAGE_UNKNOWN;
    switch (image->end) {
    case IMAGE_RUNNING:
        (void)look_at(collector, image, &times);
        break;
    case IMAGE_EXEC:
        usage->ended = FP_ENDED_EXEC;
        (void)take_told(collector, image, SEG_USAGE_EXEC);
        break;
    case IMAGE_EXIT:
        if (take_told(collector, image, SEG_USAGE_EXEC)) {
            usage->ended = FP_ENDED_EXEC; /* by a program that we do not know, and which has ended by now */
            break;
        }
        usage->ended = take_told(collector, image, SEG_USAGE_EXIT) ? FP_ENDED_EXIT : FP_ENDED_UNKNOWN;
        take_death(collector, image);
        break;
    }
    tell_ages(image);
}

/* ---- what is known -------------------------------------------------------------------------------------------- */

/* Text of another process: printable, and ended. */
static void copy_text(char *ret, size_t size, const char *text, size_t text_size)
{
    size_t i = 0;
    for (; i + 1 < size && i < text_size && text[i] != '\0'; i++)
        ret[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
    ret[i] = '\0';
}

static void take_allocator(const struct collector *collector, const struct collect_image *image)
{
    const struct seg_allocator *allocator = &collect_slot(image)->allocator;
    struct fp_usage *usage = image->usage;
    const uint32_t how = get_acquire(&allocator->how);
    if (how == FP_RUNS_ON_UNKNOWN || how >= FP_RUNS_ON_COUNT)
        return;
    usage->runs_on = (enum fp_runs_on)how;
    usage->cxx_library = allocator->cxx_library != 0 ? 1 : FP_USAGE_UNKNOWN;
    copy_text(usage->allocator, sizeof usage->allocator, allocator->name, sizeof allocator->name);
    copy_text(usage->version, sizeof usage->version, allocator->version, sizeof allocator->version);
    copy_text(usage->library, sizeof usage->library, allocator->library, sizeof allocator->library);
}

const struct fp_usage *usage_present(struct collector *collector, struct collect_image *image)
{
    if (image->usage == NULL)
        return NULL;
    if (image->looks != NULL) /* else its slot may be another's */
        take_allocator(collector, image);
    if (image->looks != NULL && !image->ended) {
        image->usage->end_ns = collect_elapsed_ns(collector);
        tell_ages(image);
    }
    return image->usage;
}

void usage_release_looks(struct collect_image *image)
{
    free(image->looks);
    image->looks = NULL;
    if (image->usage != NULL)
        fp_usage_release(image->usage);
}

void usage_release(struct collect_image *image)
{
    usage_release_looks(image);
    free(image->usage);
    image->usage = NULL;
}

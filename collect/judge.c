/* judge.c - losses counted, and the recording judged by them. */

#include <stdio.h>
#include <string.h>

#include "collect/steps.h"
#include "footprint/base/words.h"

#define CALLS_PER_NS 64u /* lost, of all threads together: more than any machine makes */

/* No count falls, and none grows faster than calls can be made. Returns whether it is one that can be. */
static bool take(uint64_t now, uint64_t most, uint64_t *counted)
{
    const bool can_be = now >= *counted && now <= most;
    if (can_be)
        *counted = now;
    return can_be;
}

void complete_take_counts(struct collector *collector, struct collect_image *image)
{
    const struct seg_slot *slot = collect_slot(image);
    const uint64_t elapsed_ns = collect_elapsed_ns(collector) / 1000 * 1000 + 1000000000;
    const uint64_t most = elapsed_ns < UINT64_MAX / CALLS_PER_NS ? elapsed_ns * CALLS_PER_NS : UINT64_MAX;
    bool can_be = true;
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        can_be = take(get_relaxed(&slot->lost[cause]), most, &image->own_lost[cause]) && can_be;
    can_be = take(get_relaxed(&slot->stalls), most, &image->stalls) && can_be;
    /* Many threads may wait at one time. */
    can_be = take(get_relaxed(&slot->stall_ns), UINT64_MAX >> 1, &image->stall_ns) && can_be;
    if (!can_be && !image->counts_spoiled) {
        image->counts_spoiled = true;
        image->lost[FP_LOSS_SPOILED]++;
    }
}

#define ADD(why, ...) fp_text_more(why, COLLECT_WHY_BYTES, "; ", __VA_ARGS__)

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

bool complete_image(const struct collect_image *image)
{
    if (!image->ended || image->end == IMAGE_RUNNING || fp_loss_sum(image->lost) != 0)
        return false;
    for (size_t i = 0; i < image->part_count; i++)
        if (!image->parts[i].has_trailer || image->parts[i].removed)
            return false;
    return image->part_count > 0;
}

uint64_t complete_lost(const struct collect_image *image, unsigned cause)
{
    return image->lost[cause] + (image->ended ? 0 : image->own_lost[cause]);
}

/* ---- the causes, those first by which most is missing ------------------------------------------------ */

static void judge_programs(const struct collector *collector, char *why)
{
    const struct collect_notes *notes = &collector->notes;
    const struct collect_unrecorded *first = &notes->named[0];
    const uint64_t others = notes->more + (notes->named_count > 0 ? notes->named_count - 1 : 0);
    const uint64_t unattached = collect_unattached(collector);
    char process[32] = "", more[64] = "";
    if (notes->named_count > 0 && first->pid != 0)
        (void)snprintf(process, sizeof process, " (process %u)", first->pid); /* fits */
    if (others > 0)
        (void)snprintf(more, sizeof more, "; and %llu more program%s", (unsigned long long)others,
                       plural(others)); /* fits */
    if (notes->named_count > 0)
        ADD(why, "not recorded: '%s'%s %s%s", first->name, process, first->why, more);
    if (unattached > 0)
        ADD(why, "%llu process%s %s", (unsigned long long)unattached, unattached == 1 ? " was" : "es were",
            collector->options.recover
                ? "not recorded after the collector was killed, or more than can be at one time"
                : "more than can be recorded at one time");
}

static void judge_losses(const uint64_t *lost, char *why)
{
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        if (lost[cause] != 0)
            ADD(why, "%llu call%s lost (%s)", (unsigned long long)lost[cause],
                lost[cause] == 1 ? " was" : "s were", fp_loss_name(cause));
}

static bool has_removed(const struct collect_image *image)
{
    for (size_t i = 0; i < image->part_count; i++)
        if (image->parts[i].removed)
            return true;
    return false;
}

/* Images that lost calls, or whose windows are removed, are not named here again. */
static void judge_images(const struct collector *collector, char *why)
{
    const struct collect_image *running = NULL, *unfinished = NULL;
    uint64_t ran_on = 0, without_end = 0;
    for (size_t i = 0; i < collector->image_count; i++) {
        const struct collect_image *image = collector->images[i];
        if (complete_image(image))
            continue;
        if (!image->ended || image->end == IMAGE_RUNNING) {
            running = ran_on++ == 0 ? image : running;
        } else if (fp_loss_sum(image->lost) == 0 && !has_removed(image)) {
            unfinished = without_end++ == 0 ? image : unfinished;
        }
    }
    if (running != NULL)
        ADD(why, "%llu process%s ran on when recording ended, process %u (%s) the first",
            (unsigned long long)ran_on, ran_on == 1 ? "" : "es", running->pid, running->program);
    if (unfinished != NULL)
        ADD(why, "%llu footprint%s not finished, that of process %u (%s) the first",
            (unsigned long long)without_end, without_end == 1 ? " is" : "s are", unfinished->pid,
            unfinished->program);
}

static void judge_choices(const struct collector *collector, char *why)
{
    if (collector->windows.removed > 0)
        ADD(why, "%llu window%s removed, as asked", (unsigned long long)collector->windows.removed,
            collector->windows.removed == 1 ? " is" : "s are");
    if (collector->options.attached)
        ADD(why, FP_BEGAN_LATE);
    if (collector->pauses.count > 0)
        ADD(why, "recording was paused meanwhile, as asked");
    if ((collector->stop.by == STOP_DURATION || collector->stop.by == STOP_ASKED) && collector->control.open)
        ADD(why, "recording ended before the command, as asked");
    if (collector->stop.by == STOP_ALONE)
        ADD(why, "'mallab record --pid' was killed");
}

bool complete_judge(const struct collector *collector, const uint64_t *lost, bool final,
                    char ret_why[COLLECT_WHY_BYTES])
{
    ret_why[0] = '\0';
    judge_programs(collector, ret_why);
    judge_losses(lost, ret_why);
    if (final)
        judge_images(collector, ret_why);
    judge_choices(collector, ret_why);
    if (!final)
        ADD(ret_why, "the recording goes on");
    return ret_why[0] == '\0';
}

/* ---- processes of which no call comes, and why -------------------------------------------------------- */

#define RUN_NS UINT64_C(2000000000) /* by then a program that calls malloc at all has called it */

static void explain(const struct seg_allocator *allocator, char *ret_why, size_t size)
{
    char library[sizeof allocator->library];
    memcpy(library, allocator->library, sizeof library);
    library[sizeof library - 1] = '\0';
    if (library[0] == '\0')
        (void)snprintf(ret_why, size,
                       "brings a malloc of its own, which is asked before any preloaded library: build it "
                       "without, or with its allocator as a shared library");
    else
        (void)snprintf(ret_why, size,
                       "calls the malloc of '%.60s', which is preloaded before the recorder: name "
                       "libmallab.so first in LD_PRELOAD",
                       basename(library));
}

void front_check(struct collector *collector, struct collect_image *image)
{
    const struct seg_allocator *allocator = &collect_slot(image)->allocator;
    char why[200];
    if (image->front_told || image->has_malloc || get_acquire(&allocator->how) == FP_RUNS_ON_UNKNOWN ||
        !allocator->in_front || (!image->ended && fp_now_ns() - image->found_ns < RUN_NS))
        return;
    image->front_told = true;
    explain(allocator, why, sizeof why);
    notes_add(collector, image->program, image->pid, why);
}

void front_look(struct collector *collector)
{
    FOR_EACH_IMAGE (image, collector)
        front_check(collector, image);
}

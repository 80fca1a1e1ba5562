/* collect_control.c - what was asked for, done. */
#include "shim/collect/collect_control.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "shim/collect/collect_cut.h"
#include "shim/collect/collect_drain.h"
#include "shim/collect/collect_footprint.h"
#include "shim/collect/collect_image.h"
#include "shim/collect/collect_json.h"
#include "shim/collect/collect_take.h"
#include "shim/collect/collect_tell.h"

#define CUT_PASSES 3u

static const int SIGNALS[COLLECT_REQUEST_COUNT] = {
    /* SIGRTMIN is no constant */
    [COLLECT_PAUSE] = SIGUSR1,
    [COLLECT_RESUME] = SIGUSR2,
};

/* How often each was asked for; what was answered is in the collector. Several signals of one kind may come as one. */
static volatile sig_atomic_t calls[COLLECT_REQUEST_COUNT];
static volatile sig_atomic_t wanted_paused;

static int signal_of(enum collect_request request)
{
    return SIGNALS[request] != 0 ? SIGNALS[request] : SIGRTMIN + (int)(request - COLLECT_WINDOW) + 1;
}

static void on_signal(int number)
{
    for (unsigned request = 0; request < COLLECT_REQUEST_COUNT; request++)
        if (signal_of(request) == number)
            calls[request] = (calls[request] + 1) & 0xffffff; /* compared for equality only */
    if (number == SIGUSR1 || number == SIGUSR2)
        wanted_paused = number == SIGUSR1;
}

void control_init(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: a sleep ends */
    (void)sigfillset(&action.sa_mask);                   /* cannot fail, and so for the next */
    for (unsigned request = 0; request < COLLECT_REQUEST_COUNT; request++)
        (void)sigaction(signal_of(request), &action, NULL);
}

static uint32_t heard[COLLECT_REQUEST_COUNT]; /* of calls */

bool control_is_due(void)
{
    for (unsigned request = 0; request < COLLECT_REQUEST_COUNT; request++)
        if (heard[request] != (uint32_t)calls[request])
            return true;
    return false;
}

/* One that comes after it is answered by itself. */
static bool take_request(struct collector *collector, enum collect_request request)
{
    const uint32_t now = (uint32_t)calls[request];
    if (heard[request] == now)
        return false;
    heard[request] = now;
    collector->answered[request]++;
    return true;
}

/* After it, what was recorded before it is written. */
static void cut_all(struct collector *collector)
{
    struct seg_header *segment = collector->segment.view.header;
    const struct timespec heeded = {0, CUT_HEED_NS};
    struct collect_image *image;
    put_relaxed(&segment->paused, collector->paused);
    clock_anchor(&collector->clock);
    image_discover_all(collector); /* one that has come since this round began is cut like the others */
    for (uint32_t slot = 0; (image = collect_next_image(collector, &slot)) != NULL;)
        cut_slot(collector, image->slot);
    (void)nanosleep(&heeded, NULL); /* shorter only leaves more chunks to be read while they are open */
    image_discover_all(collector);
    /* Several passes, because a lane may close the chunk that we are about to read, and come to the
     * cut, while we read another's. Then it has none before the cut any more: each pass leaves
     * fewer. */
    for (unsigned pass = 0; pass < CUT_PASSES; pass++) {
        (void)take_scan(collector);
        for (uint32_t slot = 0; (image = collect_next_image(collector, &slot)) != NULL;)
            drain_cut(collector, image);
    }
}
/* ---- pauses ---------------------------------------------------------------------------------------------- */

static void note_pause(struct collector *collector)
{
    if (!collector->paused) {
        if (collector->pause_count > 0)
            collector->pauses[collector->pause_count - 1].to_ns = collect_elapsed_ns(collector);
        return;
    }
    if (collector->pause_count == collector->pause_capacity) {
        const size_t capacity = collector->pause_capacity * 2 + 8;
        struct collect_pause *grown = realloc(collector->pauses, capacity * sizeof *grown);
        if (grown == NULL)
            return; /* the footprints have their marks */
        collector->pauses = grown;
        collector->pause_capacity = capacity;
    }
    collector->pauses[collector->pause_count++] = (struct collect_pause){collect_elapsed_ns(collector), 0};
}

static bool heed_pause(struct collector *collector)
{
    const bool pause = take_request(collector, COLLECT_PAUSE);
    if (!take_request(collector, COLLECT_RESUME) && !pause)
        return false;
    /* If a pause and its end were asked for since the last round, the last one's will is done, and
     * both are answered. */
    if ((wanted_paused != 0) == collector->paused)
        return true; /* as it is: answered all the same */
    collector->paused = wanted_paused != 0;
    note_pause(collector);
    cut_all(collector);
    return true;
}

/* ---- windows --------------------------------------------------------------------------------------------- */

static void remove_part(struct collector *collector, struct collect_image *image, struct collect_part *part)
{
    (void)unlinkat(collector->directory_fd, part->file, 0); /* gone already is as good */
    part->removed = true;
    image->bytes -= part->bytes;
    image->events -= part->events;
    if (image->ended)
        collector->bytes_finished -= part->bytes;
    collector->removed_events += part->events;
}

static bool is_gone(const struct collect_image *image)
{
    if (!image->ended || image->part_count == 0)
        return false;
    for (size_t i = 0; i < image->part_count; i++)
        if (!image->parts[i].removed)
            return false;
    return true;
}

/* Processes of which nothing is kept any more: in a recording that goes on for weeks they would grow without end. */
static void forget_gone(struct collector *collector)
{
    size_t kept = 0;
    for (size_t i = 0; i < collector->image_count; i++) {
        struct collect_image *image = collector->images[i];
        if (is_gone(image)) {
            collector->removed_processes++;
            free(image->parts);
            free(image);
            continue;
        }
        collector->images[kept++] = image;
        if (!image->ended)
            collector->image_of_slot[image->slot] = (uint32_t)kept;
    }
    collector->image_count = kept;
}

static void remove_old_windows(struct collector *collector)
{
    const uint64_t keep = collector->options.keep;
    if (keep == 0 || collector->window <= keep)
        return;
    collector->removed_windows = collector->window - keep;
    for (size_t i = 0; i < collector->image_count; i++) {
        struct collect_image *image = collector->images[i];
        for (size_t part = 0; part < image->part_count; part++)
            if (!image->parts[part].removed && image->parts[part].window <= collector->removed_windows)
                remove_part(collector, image, &image->parts[part]);
    }
    forget_gone(collector);
}

static void begin_window(struct collector *collector)
{
    struct collect_image *image;
    cut_all(collector);
    for (uint32_t slot = 0; (image = collect_next_image(collector, &slot)) != NULL;) {
        image_close_part(collector, image);
        image->between = true; /* also where a full disk or a limit stopped it: there may be room now */
    }
    collector->window++;
    collector->window_begin_ns = clock_monotonic_ns();
    collector->window_elapsed_ns = collect_elapsed_ns(collector);
    put_relaxed(&collector->segment.view.header->window, collector->window);
    remove_old_windows(collector);
}

static bool heed_window(struct collector *collector)
{
    const bool asked = take_request(collector, COLLECT_WINDOW);
    if (collector->window == 0)
        return asked; /* not cut into windows: whoever asks finds none */
    if (!asked && (collector->options.window_ns == 0 ||
                   clock_monotonic_ns() - collector->window_begin_ns < collector->options.window_ns))
        return false;
    begin_window(collector);
    return true;
}

/* ---- all -------------------------------------------------------------------------------------------------- */

void control_begin(struct collector *collector)
{
    struct seg_header *segment = collector->segment.view.header;
    collector->window = collector->options.window_ns != 0 ? 1 : 0;
    collector->window_begin_ns = clock_monotonic_ns();
    put_relaxed(&segment->window, collector->window);
    collector->paused = collector->options.paused;
    if (!collector->paused)
        return;
    wanted_paused = 1;
    put_relaxed(&segment->paused, 1);
    note_pause(collector);
}

static void write_present(struct collector *collector)
{
    struct collect_image *image;
    image_discover_all(collector); /* some may have come since this round began */
    /* Two scans: a lane may close one chunk behind our back, and fill the next in front of us. */
    (void)take_scan(collector);
    (void)take_scan(collector);
    for (uint32_t slot = 0; (image = collect_next_image(collector, &slot)) != NULL;)
        drain_present(collector, image);
}

bool control_heed(struct collector *collector)
{
    bool changed = heed_pause(collector);
    changed = heed_window(collector) || changed;
    if (take_request(collector, COLLECT_STATUS)) {
        write_present(collector);
        changed = true;
    }
    notes_take(collector);
    if (tell_changed(collector) || changed)
        (void)json_write(collector, false); /* whoever waits for an answer sees that there is none */
    return take_request(collector, COLLECT_END);
}

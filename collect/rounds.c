/* rounds.c - rounds, rests, ends; and what was asked for, done. */

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "collect/steps.h"
#include "shim/shared/raw.h"

#define NAP_NS         4000000u  /* while there is work: a round takes some 25 us, whatever it finds */
#define WANTED_NS      200000u   /* while threads wait for a chunk: others give theirs back without a ring */
#define STEP_NS        1000000u  /* between two steps of the epoch words, where somebody orders by them */
#define SLEEP_NS       5000000u  /* while there is none */
#define LONG_SLEEP_NS  20000000u /* and has not been for long */
#define IDLE_ROUNDS    5u        /* of napping before sleeping */
#define SLEEP_ROUNDS   400u      /* of sleeping before sleeping long: two seconds */
#define EMPTY_RINGS    16u       /* in a row: a process that attaches rings without work for us */
#define LOOK_NS        50000000u /* between looks for execs */
#define SELDOM_NS      1000000000u /* and for threads that ended without a word, and for chunks that wait */
#define NOBODY_CAME_NS UINT64_C(10000000000)
#define JOIN_NS        UINT64_C(3000000000)
#define LAST_CALLS_NS  20000000u /* for stores under way when --duration has passed */
#define CUT_PASSES     3u

/* ---- what was asked for ------------------------------------------------------------------------- */

static const int SIGNALS[COLLECT_REQUEST_COUNT] = {
    /* SIGRTMIN is no constant */
    [COLLECT_PAUSE] = SIGUSR1,
    [COLLECT_RESUME] = SIGUSR2,
};

/* The number of times that each was asked for; the collector has the number of answers. Several signals of one kind may come as one. */
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

void loop_take_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: a sleep ends */
    (void)sigfillset(&action.sa_mask);                   /* cannot fail, and so for the next */
    for (unsigned request = 0; request < COLLECT_REQUEST_COUNT; request++)
        (void)sigaction(signal_of(request), &action, NULL);
}

static uint32_t heard[COLLECT_REQUEST_COUNT]; /* of calls */

/* Tells whether something was asked for: a signal may come just before a sleep. */
static bool is_due(void)
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
    collector->control.answered[request]++;
    return true;
}

/* Cuts all streams: what was recorded before is written then. */
static void cut_all(struct collector *collector)
{
    const struct timespec heeded = {0, CUT_HEED_NS};
    FOR_EACH_SEGMENT (segment, collector)
        put_relaxed(&segment->view.header->paused, collector->pauses.now);
    clock_anchor(&collector->clock);
    image_discover_all(collector); /* one that has come since this round began is cut like the others */
    FOR_EACH_IMAGE (image, collector)
        image_cut(collector, image);
    (void)nanosleep(&heeded, NULL); /* shorter only leaves more chunks to be read while they are open */
    image_discover_all(collector);
    /* Several passes, because a lane may close the chunk that we are about to read, and come to the
     * cut, while we read another's. Then it has none before the cut any more: each pass leaves
     * fewer. */
    for (unsigned pass = 0; pass < CUT_PASSES; pass++) {
        (void)take_scan(collector);
        FOR_EACH_IMAGE (image, collector)
            drain_open(collector, image, false);
    }
}
/* ---- pauses ---------------------------------------------------------------------------------------------- */

static void note_pause(struct collector *collector)
{
    if (!collector->pauses.now) {
        if (collector->pauses.count > 0)
            collector->pauses.items[collector->pauses.count - 1].to_ns = collect_elapsed_ns(collector);
        return;
    }
    if (FP_GROW(collector->pauses.items, collector->pauses.capacity,
                collector->pauses.count + 1)) /* else the footprints have their marks */
        collector->pauses.items[collector->pauses.count++] = (struct collect_pause){
            collect_elapsed_ns(collector), 0};
}

static bool heed_pause(struct collector *collector)
{
    const bool pause = take_request(collector, COLLECT_PAUSE);
    if (!take_request(collector, COLLECT_RESUME) && !pause)
        return false;
    /* If a pause and its end were asked for since the last round, the last one's will is done, and
     * both are answered. */
    if ((wanted_paused != 0) == collector->pauses.now)
        return true; /* as it is: answered all the same */
    collector->pauses.now = wanted_paused != 0;
    note_pause(collector);
    cut_all(collector);
    return true;
}

/* ---- windows --------------------------------------------------------------------------------------------- */

static void remove_part(struct collector *collector, struct collect_image *image, struct collect_part *part)
{
    (void)unlinkat(collector->place.fd, part->file, 0); /* gone already is as good */
    part->removed = true;
    image->bytes -= part->bytes;
    image->events -= part->events;
    if (image->ended)
        collector->bytes_finished -= part->bytes;
    collector->windows.removed_events += part->events;
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
            collector->windows.removed_processes++;
            usage_release(image);
            free(image->parts);
            free(image);
            continue;
        }
        collector->images[kept++] = image;
        if (!image->ended)
            image->segment->image_of_slot[image->slot] = (uint32_t)kept;
    }
    collector->image_count = kept;
}

static void remove_old_windows(struct collector *collector)
{
    const uint64_t keep = collector->options.keep;
    if (keep == 0 || collector->windows.present <= keep)
        return;
    collector->windows.removed = collector->windows.present - keep;
    for (size_t i = 0; i < collector->image_count; i++) {
        struct collect_image *image = collector->images[i];
        for (size_t part = 0; part < image->part_count; part++)
            if (!image->parts[part].removed && image->parts[part].window <= collector->windows.removed)
                remove_part(collector, image, &image->parts[part]);
    }
    forget_gone(collector);
}

static void begin_window(struct collector *collector)
{
    cut_all(collector);
    FOR_EACH_IMAGE (image, collector) {
        image_close_part(collector, image);
        image->between = true; /* also where a full disk or a limit stopped it: there may be room now */
    }
    collector->windows.present++;
    collector->windows.begin_ns = fp_now_ns();
    collector->windows.elapsed_ns = collect_elapsed_ns(collector);
    FOR_EACH_SEGMENT (segment, collector)
        put_relaxed(&segment->view.header->window, collector->windows.present);
    remove_old_windows(collector);
}

static bool heed_window(struct collector *collector)
{
    const bool asked = take_request(collector, COLLECT_WINDOW);
    if (collector->windows.present == 0)
        return asked; /* not cut into windows: whoever asks finds none */
    if (!asked && (collector->options.window_ns == 0 ||
                   fp_now_ns() - collector->windows.begin_ns < collector->options.window_ns))
        return false;
    begin_window(collector);
    return true;
}

/* ---- all -------------------------------------------------------------------------------------------------- */

void loop_begin(struct collector *collector)
{
    struct seg_header *segment = collector->segments[0].view.header;
    collector->windows.present = collector->options.window_ns != 0 ? 1 : 0;
    collector->windows.begin_ns = fp_now_ns();
    put_relaxed(&segment->window, collector->windows.present);
    /* One that was attached to is recorded when its slots are turned: nobody asked for a pause until then. */
    collector->pauses.now = collector->options.paused || collector->options.attached;
    if (!collector->pauses.now)
        return;
    wanted_paused = 1;
    put_relaxed(&segment->paused, 1);
    if (collector->options.paused)
        note_pause(collector);
}

static void write_present(struct collector *collector)
{
    image_discover_all(collector); /* some may have come since this round began */
    /* Two scans: a lane may close one chunk behind our back, and fill the next in front of us. */
    (void)take_scan(collector);
    (void)take_scan(collector);
    FOR_EACH_IMAGE (image, collector)
        drain_open(collector, image, true);
}

/* Do what was asked for since the last round. Returns whether the recording is to end. */
static bool heed(struct collector *collector)
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

/* ---- rounds ------------------------------------------------------------------------------------------- */

/* CMD has ended, says `mallab record`: nobody new will come. Without a control descriptor that is always so. Whoever attaches to a
 * program says it by a byte, and waits for our end: nobody else could turn the program's slots back. */
static void watch_control(struct collector *collector)
{
    struct pollfd control = {collector->options.control_fd, POLLIN, 0};
    char byte;
    if ((!collector->control.open && !collector->options.attached) || poll(&control, 1, 0) <= 0)
        return;
    ssize_t got = read(collector->options.control_fd, &byte, 1);
    if (got == 1 ? byte != 'e' : got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    collector->control.open = false;
    collector->control.alone = collector->options.attached && got <= 0;
}

/* An image that will join us is nobody's between its exec and its first call. */
static bool somebody_may_join(const struct collector *collector)
{
    return collector->options.join && collector->execed.pid != 0 &&
           fp_now_ns() - collector->execed.ns < JOIN_NS && kill((pid_t)collector->execed.pid, 0) == 0;
}

static bool nobody_is_left(struct collector *collector)
{
    if (image_some_remain(collector) || collector->control.open || somebody_may_join(collector))
        return false;
    if (collector->image_count + collector->windows.removed_processes == 0 &&
        collector->options.control_fd < 0) {
        /* Under a plain preload our starter attaches at once, or never. */
        if (fp_now_ns() - collector->started_ns > NOBODY_CAME_NS)
            return true;
        return collector->options.leader_pid != 0 && kill((pid_t)collector->options.leader_pid, 0) != 0 &&
               errno == ESRCH;
    }
    return true;
}

static void set_closing(struct collector *collector, enum seg_closing closing)
{
    FOR_EACH_SEGMENT (segment, collector) {
        atomic_store_explicit(&segment->view.header->closing, closing, memory_order_seq_cst);
        raw_futex_wake(&segment->view.header->closing, INT_MAX);
    }
}

/* Look at every slot: a claim may stand there without a serial yet, or have been taken since the round began. */
static void look_at_all_slots(struct collector *collector)
{
    FOR_EACH_SEGMENT (segment, collector)
        segment->attaching = true;
}

static void finish_all(struct collector *collector)
{
    FOR_EACH_IMAGE (image, collector)
        image_finish(collector, image, IMAGE_RUNNING);
}

/* Whoever claims a slot from here on sees `closing` and waits what becomes of it; whoever claimed one before is
 * found by this last look. */
static bool may_close(struct collector *collector)
{
    image_discover_all(collector); /* whose children are looked for next */
    if (image_some_remain(collector) || mapped_unattached_remain(collector))
        return false;
    set_closing(collector, SEG_CLOSING);
    look_at_all_slots(collector);
    image_discover_all(collector);
    bool attaching = false;
    FOR_EACH_SEGMENT (segment, collector)
        attaching = attaching || segment->attaching;
    if (image_some_remain(collector) || attaching || mapped_unattached_remain(collector)) {
        set_closing(collector, SEG_OPEN);
        return false;
    }
    set_closing(collector, SEG_CLOSED);
    finish_all(collector);
    return true;
}

/* deaf: the bell was rung again and again for nothing, by somebody who writes where he should not. */
static void rest(struct collector *collector, uint32_t idle_rounds, bool deaf)
{
    const struct timespec step = {0, STEP_NS};
    struct seg_shared *shared = collector->segments[0].view.shared;
    bool wanted = false;
    FOR_EACH_SEGMENT (segment, collector)
        wanted = wanted ||
                 (segment->free_chunks == 0 && get_relaxed(&segment->view.shared->space_waiters) > 0);
    const bool sleep = idle_rounds > IDLE_ROUNDS && !wanted;
    uint64_t duration = wanted                       ? WANTED_NS
                        : !sleep                     ? NAP_NS
                        : idle_rounds > SLEEP_ROUNDS ? LONG_SLEEP_NS
                                                     : SLEEP_NS;
    const uint32_t doorbell = get_acquire(&shared->doorbell);
    if (is_due())
        return; /* one that comes from here on is found after the time-out, unless it ends the sleep */
    if (deaf) {
        (void)nanosleep(&step, NULL); /* a signal only shortens it */
        return;
    }
    atomic_store_explicit(&shared->asleep, sleep ? SEG_SLEEP : SEG_NAP, memory_order_seq_cst);
    for (; !sleep && duration > STEP_NS && image_bump_epochs(collector) &&
           get_acquire(&shared->doorbell) == doorbell;
         duration -= STEP_NS)
        (void)raw_futex_wait(&shared->doorbell, doorbell, STEP_NS); /* as below */
    /* a ring that came before `asleep` was set has changed the doorbell, or is made up for by the time-out */
    (void)raw_futex_wait(&shared->doorbell, doorbell, duration);
    put_relaxed(&shared->asleep, SEG_AWAKE);
}

static void stop_recording(struct collector *collector, enum collect_stop why)
{
    const struct timespec last_calls = {0, LAST_CALLS_NS};
    stop_note(collector, why);
    FOR_EACH_SEGMENT (segment, collector)
        atomic_store_explicit(&segment->view.header->stopped, 1, memory_order_seq_cst);
    set_closing(collector, SEG_CLOSED);
    (void)nanosleep(&last_calls, NULL); /* cut short only costs stores of other threads under way */
    look_at_all_slots(collector);
    image_discover(collector);
    (void)take_scan(collector);
    finish_all(collector);
}

/* Nobody knows what was in pages that vanished: it counts as one call, and the processes are recorded no further. */
static void give_up_spoiled(struct collector *collector)
{
    FOR_EACH_SEGMENT (segment, collector) {
        struct seg_header *header = segment->view.header;
        if (!segment->spoiled || get_relaxed(&header->stopped))
            continue;
        collector->spoiled++;
        atomic_store_explicit(&header->stopped, 1, memory_order_seq_cst);
        atomic_store_explicit(&header->closing, SEG_CLOSED, memory_order_seq_cst);
        raw_futex_wake(&header->closing, INT_MAX);
        FOR_EACH_IMAGE (image, collector)
            if (image->segment == segment) {
                image->lost[FP_LOSS_SPOILED]++;
                image_finish(collector, image, IMAGE_RUNNING);
            }
    }
}

/* The memory of the loop from round to round. */
struct pace {
    uint64_t looked_ns, seldom_ns,
        left_ns; /* CLOCK_MONOTONIC of the last look, rarer look, look for others */
    uint32_t doorbell, idle_rounds, empty_rings;
};

/* Returns how much work there was: chunks taken and freed. */
static uint32_t work(struct collector *collector, uint64_t now, struct pace *pace)
{
    const bool look = now - pace->looked_ns >= LOOK_NS, command_ended = !collector->control.open;
    clock_anchor(&collector->clock);
    FOR_EACH_SEGMENT (segment, collector) {
        put_relaxed(&segment->view.header->heartbeat_ns, now);
        clock_share(&collector->clock, segment->view.header);
        segment->attaching = segment->attaching || look; /* the count of serials may have been written over */
    }
    if (look)
        pace->looked_ns = now;
    (void)image_discover(collector); /* the others in the next round */
    (void)image_bump_epochs(collector);
    const uint32_t taken = take_scan(collector), freed = drain_blocks(collector);
    give_up_spoiled(collector);
    image_check_ends(collector, look);
    usage_look(collector, now);
    if (look)
        front_look(collector);
    if (command_ended && collector->options.command_pid != 0)
        tell_seen(collector); /* whoever came before it ended was found in this round */
    watch_control(collector);
    if (now - pace->seldom_ns >= SELDOM_NS) {
        pace->seldom_ns = now;
        FOR_EACH_SEGMENT (segment, collector)
            take_dead_threads(collector, segment);
        drain_waiting(collector);
        reserve_renew(collector);
    }
    return taken + freed;
}

static bool is_over(struct collector *collector, uint64_t now, struct pace *pace)
{
    const uint64_t duration_ns = collector->options.duration_ns;
    if (heed(collector)) {
        stop_recording(collector, STOP_ASKED);
        return true;
    }
    if (collector->control.alone) {
        stop_recording(collector, STOP_ALONE);
        return true;
    }
    if (duration_ns != 0 && now - collector->started_ns >= duration_ns) {
        stop_recording(collector, STOP_DURATION);
        return true;
    }
    /* The walk over /proc is the dear part: not in every round while somebody unattached stays away. */
    if (!nobody_is_left(collector) || (pace->left_ns != 0 && now - pace->left_ns < LOOK_NS))
        return false;
    pace->left_ns = now;
    return may_close(collector);
}

void loop_run(struct collector *collector)
{
    struct pace pace = {0};
    for (;;) {
        const uint64_t now = fp_now_ns();
        const uint32_t rung = get_acquire(&collector->segments[0].view.shared->doorbell);
        const bool rings = rung != pace.doorbell;
        const uint32_t done = work(collector, now, &pace);
        if (is_over(collector, now, &pace))
            return;
        pace.empty_rings = done == 0 && rings ? pace.empty_rings + 1 : 0;
        pace.idle_rounds = done > 0 || rings ? 0 : pace.idle_rounds + 1;
        pace.doorbell = rung;
        if (done < COLLECT_CHUNKS_PER_BLOCK)
            rest(collector, pace.idle_rounds, pace.empty_rings > EMPTY_RINGS);
    }
}

/* image.c - process images found, adopted, watched and finished. */
#include "collect/steps.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLAIM_LONGEST_NS UINT64_C(10000000000)
#define MADE_UP_NS       UINT64_C(2000000000) /* a process may seem to be none for so long */
#define ADOPT_AT_ONCE    64u /* then chunks are drained again: each takes a file and some system calls */
#define FOREIGN_WEIGHT   16u /* of one that all of /proc is looked through for */
#define IMAGES_MOST      (1u << 18) /* of one recording: two kilobytes each */
#define CUT_TRIES        100u

/* ---- cuts --------------------------------------------------------------------------------------- */

/* Announce a cut, then let the epoch word jump over it. Whoever reads the word from there on reads from our second
 * step or from one after it, all of which follow our first in the word's order: so it sees the announcement. */
static void cut_epochs(struct seg_slot *slot, struct seg_slot_note *note, bool paused)
{
    uint64_t epoch;
    unsigned tries = 0;
    do {
        epoch = get_relaxed(&slot->epoch) + SEG_CUT_DISTANCE;
        put_release(&note->cut, seg_cut(epoch, paused));
    } while (add_acq_rel(&slot->epoch, 1) >= epoch &&
             ++tries < CUT_TRIES); /* a second went by, or the process writes there what it should not */
    add_acq_rel(&slot->epoch, SEG_CUT_DISTANCE);
}

void image_cut(const struct collector *collector, const struct collect_image *image)
{
    struct seg_slot_note *note = collect_note(image);
    const uint64_t before = get_relaxed(&note->cut);
    put_relaxed(&note->cut_before, before);
    cut_epochs(collect_slot(image), note, collector->pauses.now);
}

/* Let a slot that was just found heed a pause or its end, if it missed that. */
static void cut_adopt(const struct collector *collector, const struct collect_image *image)
{
    const uint64_t cut = collect_slot(image)->first_cut;
    if (((cut & SEG_CUT_PAUSED) != 0) != collector->pauses.now)
        image_cut(collector, image);
}

/* ---- the lists that grow with a recording -------------------------------------------------------------- */

bool list_image(struct collector *collector, struct collect_image *image)
{
    if (!FP_GROW(collector->images, collector->image_capacity, collector->image_count + 1))
        return false;
    collector->images[collector->image_count++] = image;
    return true;
}

struct collect_part *list_part(struct collect_image *image)
{
    if (image->part_count == image->part_capacity) {
        const size_t capacity = image->part_capacity > 0 ? image->part_capacity * 2 : 1;
        struct collect_part *grown = realloc(image->parts, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        image->parts = grown;
        image->part_capacity = capacity;
    }
    image->parts[image->part_count] = (struct collect_part){0};
    return &image->parts[image->part_count]; /* counted when its file stands */
}

#define ITEMS_MOST (2 * FP_LANES_MAX)

static uint32_t items_of_all;

/* The one of a number, made with so many bytes where there is none. NULL: no memory, or no such number. */
static void *find_or_make(struct collect_numbered *table, uint32_t number, size_t bytes)
{
    const uint64_t hash = fp_index_hash(&number, sizeof number, 0);
    size_t step = 0;
    for (uint32_t i; (i = fp_index_next(&table->index, hash, &step)) != FP_INDEX_END;)
        if (*(const uint32_t *)table->items[i] == number)
            return table->items[i];
    uint32_t *item = number < FP_LANES_MAX && items_of_all < ITEMS_MOST &&
                             FP_GROW(table->items, table->capacity, (size_t)table->count + 1)
                         ? calloc(1, bytes)
                         : NULL;
    if (item == NULL || !fp_index_add(&table->index, hash, table->count)) {
        free(item);
        return NULL;
    }
    *item = number;
    table->items[table->count++] = item;
    items_of_all++;
    return item;
}

_Static_assert(offsetof(struct collect_lane, number) == 0 && offsetof(struct collect_stream, number) == 0,
               "items begin with their number");

struct collect_lane *image_lane(struct collect_image *image, uint32_t number)
{
    struct collect_lane *lane = find_or_make(&image->lanes, number, sizeof *lane);
    if (lane != NULL && number >= image->lane_end)
        image->lane_end = number + 1;
    return lane;
}

struct collect_stream *image_stream(struct collect_image *image, uint32_t number)
{
    struct collect_stream *stream = find_or_make(&image->streams, number, sizeof *stream);
    if (stream != NULL)
        stream->image = image;
    return stream;
}

static void release(struct collect_numbered *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        free(table->items[i]);
    items_of_all -= table->count;
    free(table->items);
    fp_index_release(&table->index);
    *table = (struct collect_numbered){0};
}

void image_release_lanes(struct collect_image *image)
{
    for (uint32_t i = 0; i < image->streams.count; i++)
        stacks_release_stream(image->streams.items[i]);
    release(&image->lanes);
    release(&image->streams); /* in no list: drain_image has emptied their queues */
}

/* ---- discovery -------------------------------------------------------------------------------------------- */

static bool has_ended(const struct collect_image *image)
{
    struct pollfd ended = {image->pidfd, POLLIN, 0};
    return image->pidfd >= 0 ? poll(&ended, 1, 0) > 0 : !process_exists(image->pid);
}

/* Returns which of two images of one pid the process is now. The kernel's view decides; only where
 * it shows nothing, the images' own words do: a process may claim to be another. NULL where it
 * cannot be told: both stay until the process ends. */
static struct collect_image *later_of(struct collect_image *image, struct collect_image *fresh)
{
    struct collect_image *later = image->serial < fresh->serial ? fresh : image;
    if (!image->segment->can_look || has_ended(image))
        return later;
    enum mapped has = mapped_look(image->segment, image->pid, image->map_address);
    enum mapped has_fresh = mapped_look(fresh->segment, fresh->pid, fresh->map_address);
    if (has == MAPPED_NO && has_fresh == MAPPED_NO)
        return later;
    if (has == MAPPED_UNKNOWN || has_fresh == MAPPED_UNKNOWN)
        return NULL;
    if (has != has_fresh)
        return has == MAPPED_YES ? image : fresh;
    /* An exec would have put it elsewhere, but for those. */
    return image->map_address != fresh->map_address || process_has_fixed_addresses(fresh->pid) ? later : NULL;
}

/* A second image of a pid in the table: the earlier has execed, or, where the later was forked, ended. The later may
 * be found first, when both came while we looked. */
static void end_former_image(struct collector *collector, struct collect_image *fresh)
{
    FOR_EACH_IMAGE (image, collector) {
        if (image == fresh || image->pid != fresh->pid)
            continue;
        const struct collect_image *later = later_of(image, fresh);
        if (later != NULL)
            image_finish(collector, later == fresh ? image : fresh,
                         later->parent_serial != SEG_NOBODY ? IMAGE_EXIT : IMAGE_EXEC);
    }
}

static void adopt(struct collector *collector, struct collect_segment *segment, uint32_t slot_index,
                  uint32_t pid)
{
    const struct seg_slot *slot = &segment->view.slots[slot_index];
    struct collect_image *image;
    const bool foreign = pid == 0;
    uint32_t parent_pid = slot->parent_pid;
    if (foreign)
        pid = process_find_foreign(segment, slot, &parent_pid);
    image = calloc(1, sizeof *image);
    if (image == NULL || !list_image(collector, image)) {
        free(image);
        segment->attaching = true; /* in the next round again; its chunks wait for it (drain.c) */
        return;
    }
    reserve_for_images(collector);
    image->segment = segment;
    image->slot = slot_index;
    image->found_ns = fp_now_ns();
    image->foreign = foreign;
    image->inner_pid = slot->inner_pid;
    image->pid = pid != 0 ? pid : slot->inner_pid; /* ended already: the only id that there is */
    image->serial = slot->serial;
    image->parent_serial = slot->parent_serial;
    image->map_address = slot->map_address;
    image->parent_pid = parent_pid;
    image->fork_number = slot->fork_number;
    memcpy(image->executable, slot->executable, sizeof image->executable);
    image->executable[sizeof image->executable - 1] = '\0';
    memcpy(image->program, slot->program, sizeof image->program);
    image->program[sizeof image->program - 1] = '\0';
    image->pidfd = pid != 0 ? fp_pidfd_open((pid_t)pid) : -1;
    image->confirmed = pid != 0 && mapped_look(segment, pid, image->map_address) == MAPPED_YES;
    collect_beat(collector);
    segment->image_of_slot[slot_index] = (uint32_t)collector->image_count;
    segment->running++;
    cut_adopt(collector, image);
    usage_adopt(collector, image, pid != 0);
    if (!collector->options.recover || !recover_footprint(collector, image))
        image_open_part(collector, image);
    if (pid == 0)
        image_finish(collector, image, IMAGE_EXIT);
    else
        end_former_image(collector, image);
}

/* A claim from another pid namespace does not say whose it is, and one that was forged says what it likes: one that stands for so
 * long is nobody's. */
static bool claimer_lives(struct collect_segment *segment, uint32_t slot, uint64_t word)
{
    const uint32_t pid = (uint32_t)(word >> 32);
    const uint64_t now = fp_now_ns();
    if (pid != 0 && !process_exists(pid))
        return false;
    if (segment->claimed_ns[slot] == 0 || segment->claims[slot] != word) {
        segment->claimed_ns[slot] = now;
        segment->claims[slot] = word;
    }
    return now - segment->claimed_ns[slot] < CLAIM_LONGEST_NS;
}

/* Returns how much of a round's work it took. */
static uint32_t adopt_or_refuse(struct collector *collector, struct collect_segment *segment, uint32_t index)
{
    struct seg_slot *slot = &segment->view.slots[index];
    uint64_t word = get_relaxed(&slot->state);
    if ((word & 0xffffffff) != SEG_SLOT_ATTACHED)
        return 0;
    if (collector->image_count >= IMAGES_MOST) {
        put_release(&slot->state, SEG_SLOT_FREE);
        collector->refused++;
        return 0;
    }
    adopt(collector, segment, index, (uint32_t)(word >> 32));
    return word >> 32 == 0 ? FOREIGN_WEIGHT : 1;
}

/* Images are listed, and files named, in the order in which the processes came. There are few at a
 * time. */
static void sort_by_serial(const struct seg_slot *slots, uint32_t *indexes, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t index = indexes[i];
        uint32_t at = i;
        for (; at > 0 && slots[indexes[at - 1]].serial > slots[index].serial; at--)
            indexes[at] = indexes[at - 1];
        indexes[at] = index;
    }
}

/* A serial is taken between the claim of a slot and its last store: so while the count stands still and no claim
 * was seen half done, there is nothing new. */
static bool discover(struct collector *collector, struct collect_segment *segment)
{
    struct seg_slot *slots = segment->view.slots;
    const uint64_t serials = atomic_load_explicit(&segment->view.shared->serials, memory_order_seq_cst);
    if (serials == segment->serials_seen && !segment->attaching)
        return true;
    uint32_t found[SEG_SLOT_COUNT], count = 0, weight = 0;
    segment->serials_seen = serials;
    segment->attaching = false;
    for (uint32_t index = 0; index < SEG_SLOT_COUNT; index++) {
        uint64_t word = atomic_load_explicit(&slots[index].state, memory_order_seq_cst);
        if ((word & 0xffffffff) != SEG_SLOT_ATTACHING)
            segment->claimed_ns[index] = 0; /* the next claim is another */
        if (segment->image_of_slot[index] != 0 || word == SEG_SLOT_FREE)
            continue;
        if ((word & 0xffffffff) == SEG_SLOT_ATTACHED) {
            found[count++] = index;
        } else if ((word & 0xffffffff) == SEG_SLOT_ATTACHING && claimer_lives(segment, index, word)) {
            segment->attaching = true;
        } else if (!atomic_compare_exchange_strong(&slots[index].state, &word, SEG_SLOT_FREE)) {
            segment->attaching = true; /* it got to the end of its claim before it died */
        } else {
            segment->claimed_ns[index] = 0; /* nobody's, or nothing that a process of ours writes */
        }
    }
    sort_by_serial(slots, found, count);
    for (uint32_t i = 0; i < count && weight < ADOPT_AT_ONCE; i++)
        weight += adopt_or_refuse(collector, segment, found[i]);
    if (weight >= ADOPT_AT_ONCE)
        segment->attaching = true; /* there may be more */
    return weight < ADOPT_AT_ONCE;
}

bool image_discover(struct collector *collector)
{
    bool all = true;
    FOR_EACH_SEGMENT (segment, collector)
        all = discover(collector, segment) && all;
    return all;
}

void image_discover_all(struct collector *collector)
{
    /* This is enough for all slots: one that is taken is not free again before its image is
     * written. */
    for (uint32_t taken = 0; taken < SEG_SLOT_COUNT && !image_discover(collector);
         taken += ADOPT_AT_ONCE / FOREIGN_WEIGHT)
        ;
}

/* One whose leading thread has ended shows no mappings any more. */
static bool is_made_up(const struct collect_image *image)
{
    return !image->confirmed && image->segment->can_look && fp_now_ns() - image->found_ns >= MADE_UP_NS &&
           !process_is_zombie(image->pid);
}

bool image_some_remain(const struct collector *collector)
{
    FOR_EACH_IMAGE (image, collector)
        if (!is_made_up(image))
            return true;
    return false;
}

/* ---- ends ----------------------------------------------------------------------------------------------------- */

void image_finish(struct collector *collector, struct collect_image *image, enum image_end end)
{
    struct seg_slot *slot = collect_slot(image);
    struct seg_slot_note *note = collect_note(image);
    if (image->ended)
        return;
    image->ended = true;
    image->end = end;
    put_release(&slot->state, seg_slot_word(SEG_SLOT_ENDED, image->pid));
    usage_end(collector, image); /* at once: nobody keeps a zombie for us */
    drain_image(collector, image);
    front_check(collector, image);
    if (image->moves && slot->map_address == 0)
        image->lost[FP_LOSS_COLLECTOR]++; /* it never had our answer: nobody knows how many */
    complete_take_counts(collector, image);
    fp_loss_add(image->lost, image->own_lost);
    image_close_part(collector, image);
    collect_beat(collector);
    collector->bytes_finished += image->bytes;
    if (image->pidfd >= 0)
        (void)close(image->pidfd);
    image->pidfd = -1;
    image_release_lanes(image);
    stacks_release(image);
    usage_release_looks(image);
    image->segment->image_of_slot[image->slot] = 0;
    image->segment->running--;
    if (end == IMAGE_EXEC) {
        collector->execed.pid = image->pid;
        collector->execed.ns = fp_now_ns();
    }
    note->file[0] = '\0'; /* the next one's in this slot is not known yet */
    put_relaxed(&note->events, 0);
    if (end != IMAGE_RUNNING) {
        put_relaxed(&note->cut, 0);
        put_relaxed(&note->cut_before, 0);
    }
    if (end != IMAGE_RUNNING) /* a process that goes on keeps its slot: it may still count in it */
        put_release(&slot->state, SEG_SLOT_FREE);
}

/* The kernel does not tell an exec that another recording follows, and old kernels have no pidfd:
 * then we look. */
static bool has_gone(struct collect_image *image, bool thorough, enum image_end *ret_end)
{
    *ret_end = IMAGE_EXIT;
    if (image->pidfd < 0 && !process_exists(image->pid))
        return true;
    if (!thorough && image->confirmed)
        return false;
    if (image->moves && collect_slot(image)->map_address == 0)
        return false; /* it has our answer, and maps it */
    switch (mapped_look(image->segment, image->pid, image->map_address)) {
    case MAPPED_YES:
        image->confirmed = true;
        image->looks_unmapped = 0;
        return false;
    case MAPPED_NO:
        /* Look twice: a leading thread on its way out has no memory before it is a zombie. */
        if (process_is_zombie(image->pid) || ++image->looks_unmapped < 2)
            return false;
        *ret_end = IMAGE_EXEC;
        return true;
    case MAPPED_UNKNOWN:
        break;
    }
    return false;
}

void image_check_ends(struct collector *collector, bool thorough)
{
    static struct pollfd watched[COLLECT_SEGMENTS_MOST * SEG_SLOT_COUNT];
    static struct collect_image *images[COLLECT_SEGMENTS_MOST * SEG_SLOT_COUNT + 1];
    static enum image_end ends[COLLECT_SEGMENTS_MOST * SEG_SLOT_COUNT];
    nfds_t count = 0, gone = 0;
    for (uint32_t slot = 0; (images[count] = collect_next_image(collector, &slot)) != NULL; count++)
        watched[count] = (struct pollfd){images[count]->pidfd, POLLIN, 0}; /* poll passes over -1 */
    if (count > 0 && poll(watched, count, 0) < 0)
        count = 0; /* no memory for it just now */
    for (nfds_t i = 0; i < count; i++) {
        enum image_end end = IMAGE_EXIT;
        if (watched[i].revents == 0 && !has_gone(images[i], thorough, &end))
            continue;
        images[gone] = images[i];
        ends[gone++] = end;
    }
    /* A last image of a dead process tells that those before it execed. */
    if (gone > 0 && !image_discover(collector))
        gone = 0; /* it may be among those that are found in the next round */
    for (nfds_t i = 0; i < gone; i++) {
        /* While a process dies the kernel shows none of its mappings: which of two images it was could not be told then. */
        if (!images[i]->ended && ends[i] == IMAGE_EXIT)
            end_former_image(collector, images[i]);
        image_finish(collector, images[i], ends[i]); /* nothing, where that was done already */
    }
    FOR_EACH_SEGMENT (segment, collector)
        put_relaxed(&segment->view.header->crowded, segment->running == SEG_SLOT_COUNT);
}

/* ---- users ---------------------------------------------------------------------------------------------------- */

struct collect_image *image_of_process(const struct collector *collector, uint32_t pid, uint64_t serial)
{
    FOR_EACH_IMAGE (image, collector)
        if (image->pid == pid && (serial == SEG_NOBODY || image->serial == serial))
            return image;
    return NULL;
}

/* The process's words in its slot go with it; its epochs go on. */
static void move_slot(struct seg_slot *to, const struct seg_slot *from)
{
    const size_t told = offsetof(struct seg_slot, serial);
    memcpy((char *)to + told, (const char *)from + told, sizeof *to - told);
    to->map_address = 0; /* until it has come */
    put_release(&to->epoch, get_relaxed(&from->epoch) + 2);
}

uint32_t image_move(struct collector *collector, struct collect_image *image, struct collect_segment *to)
{
    struct seg_slot *const slot = collect_slot(image);
    struct seg_slot_note *const note = collect_note(image);
    struct collect_segment *const from = image->segment;
    const uint64_t pid_word = seg_slot_word(SEG_SLOT_ATTACHED, image->foreign ? 0 : image->pid);
    uint32_t index = 0;
    for (uint64_t free = SEG_SLOT_FREE;
         index < SEG_SLOT_COUNT && !swap_acquire(&to->view.slots[index].state, &free, pid_word); index++)
        free = SEG_SLOT_FREE;
    if (index == SEG_SLOT_COUNT) {
        image_finish(collector, image, IMAGE_RUNNING);
        return index;
    }
    drain_image(collector, image);
    move_slot(&to->view.slots[index], slot);
    to->view.slot_notes[index] = *note;
    to->image_of_slot[index] = from->image_of_slot[image->slot];
    from->image_of_slot[image->slot] = 0;
    from->running--;
    to->running++;
    image->segment = to;
    image->slot = index;
    image->moves = true;
    *note = (struct seg_slot_note){0};
    put_release(&slot->state, SEG_SLOT_FREE);
    return index;
}

bool image_bump_epochs(struct collector *collector)
{
    bool any = false;
    FOR_EACH_IMAGE (image, collector) {
        add_acq_rel(&collect_slot(image)->epoch, 1);
        any = any || get_relaxed(&collect_slot(image)->lane_count) > 1;
    }
    return any;
}

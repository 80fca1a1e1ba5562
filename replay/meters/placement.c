/* placement.c - live objects by age, a TLB, a count of pages covered; moments, walks, sums. */
#include "replay/meters/placement.h"

#include <string.h>

#include "replay/base/op.h"

/* ---- ages: a ring of live objects for each thread ---------------------------------------------- */

static uint32_t end_of(const struct rep_ages *ages, uint32_t thread)
{
    return ages->id_max + 1 + thread;
}

bool rep_ages_init(struct rep_ages *ages, const struct wl_summary *summary)
{
    /* Both below 2^32 together: WL_IDS_MAX, WL_THREADS_MAX. */
    const size_t nodes = (size_t)summary->id_max + 1 + summary->thread_count;
    *ages = (struct rep_ages){.id_max = summary->id_max, .thread_count = summary->thread_count};
    ages->older = rep_storage_map(nodes, sizeof *ages->older);
    ages->younger = rep_storage_map(nodes, sizeof *ages->younger);
    ages->sizes = rep_storage_map((size_t)summary->id_max + 1, sizeof *ages->sizes);
    if (ages->older == NULL || ages->younger == NULL || ages->sizes == NULL)
        return false;
    for (uint32_t thread = 0; thread < summary->thread_count; thread++) {
        const uint32_t end = end_of(ages, thread);
        ages->older[end] = ages->younger[end] = end;
    }
    return true;
}

static void take_out(struct rep_ages *ages, uint32_t id)
{
    ages->younger[ages->older[id]] = ages->younger[id];
    ages->older[ages->younger[id]] = ages->older[id];
    ages->sizes[id] = 0;
    ages->objects--;
}

static void take_in(struct rep_ages *ages, uint32_t id, uint32_t thread)
{
    const uint32_t end = end_of(ages, thread), last = ages->older[end];
    ages->older[id] = last;
    ages->younger[id] = end;
    ages->younger[last] = ages->older[end] = id;
    ages->objects++;
}

static void follow_op(struct rep_ages *ages, const struct wl_op *op, uint32_t thread)
{
    const enum fp_call_kind kind = fp_call_kind_of(op->call);
    const bool keeps_age = kind == FP_KIND_RESIZE && (op->align_log2 & WL_OP_FRESH) == 0 &&
                           ages->sizes[op->id] != 0;
    if (op->id == 0)
        return;
    if (ages->sizes[op->id] != 0 && !keeps_age)
        take_out(ages, op->id);
    if (kind == FP_KIND_RELEASE)
        return;
    if (!keeps_age)
        take_in(ages, op->id, thread);
    const uint64_t bytes = rep_op_bytes(op);
    ages->sizes[op->id] = bytes < UINT32_MAX ? (uint32_t)bytes + 1 : UINT32_MAX;
}

void rep_ages_follow(struct rep_ages *ages, const struct wl_window *window)
{
    const struct wl_op *op = window->ops;
    for (uint32_t run = 0; run < window->run_count; run++)
        for (uint32_t i = 0; i < window->runs[run].op_count; i++)
            follow_op(ages, op++, window->runs[run].thread);
}

static uint32_t object_or_end(const struct rep_ages *ages, uint32_t node)
{
    return node <= ages->id_max ? node : 0;
}

uint32_t rep_ages_oldest(const struct rep_ages *ages, uint32_t thread)
{
    return object_or_end(ages, ages->younger[end_of(ages, thread)]);
}

uint32_t rep_ages_next(const struct rep_ages *ages, uint32_t id)
{
    return object_or_end(ages, ages->younger[id]);
}

/* ---- the TLB: pages in the order of their last use -------------------------------------------- */

/* The entry of a page; tlb->count when it is in none. */
static uint32_t entry_of(const struct rep_tlb *tlb, uint64_t page)
{
    uint32_t at = 0;
    while (at < tlb->count && tlb->pages[at] != page)
        at++;
    return at;
}

bool rep_tlb_earlier(struct rep_tlb *tlb, uint64_t page)
{
    if (tlb->count == REP_TLB_ENTRIES)
        return false;
    if (entry_of(tlb, page) == tlb->count)
        tlb->pages[tlb->count++] = page;
    return true;
}

bool rep_tlb_visit(struct rep_tlb *tlb, uint64_t page)
{
    uint32_t at = entry_of(tlb, page);
    const bool hit = at < tlb->count;
    if (!hit && tlb->count < REP_TLB_ENTRIES)
        tlb->count++;
    if (at == REP_TLB_ENTRIES)
        at--; /* the last one goes */
    memmove(&tlb->pages[1], &tlb->pages[0], at * sizeof tlb->pages[0]);
    tlb->pages[0] = page;
    return hit;
}

/* ---- cover: sort by address, then count where one object ends and the next begins -------------- */

#define DIGIT_BITS 11u
#define DIGITS     (1u << DIGIT_BITS)

/* One pass of a radix sort from the lowest digit up: stable, from keys into ret_keys. */
static void sort_by_digit(const uint64_t *keys, uint64_t *ret_keys, size_t count, unsigned shift)
{
    static size_t places[DIGITS]; /* one thread at a time sorts */
    size_t place = 0;
    memset(places, 0, sizeof places);
    for (size_t i = 0; i < count; i++)
        places[keys[i] >> shift & (DIGITS - 1)]++;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        const size_t here = places[digit];
        places[digit] = place;
        place += here;
    }
    for (size_t i = 0; i < count; i++)
        ret_keys[places[keys[i] >> shift & (DIGITS - 1)]++] = keys[i];
}

static void sort(uint64_t *keys, uint64_t *scratch, size_t count)
{
    uint64_t *from = keys, *to = scratch;
    uint64_t differing = 0; /* bits that are not the same in all keys: the other digits need no pass */
    for (size_t i = 0; i < count; i++)
        differing |= keys[i] ^ keys[0];
    for (unsigned shift = REP_COVER_SIZE_BITS; shift < 64; shift += DIGIT_BITS) {
        if ((differing >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_by_digit(from, to, count, shift);
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof *keys);
}

/* Units of unit_bytes each, by rising address. */
static uint64_t distinct(const uint64_t *keys, size_t count, uint64_t unit_bytes)
{
    uint64_t units = 0, last = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const uint64_t begin = rep_cover_address(keys[i]);
        const uint64_t size_less_one = keys[i] & ((1u << REP_COVER_SIZE_BITS) - 1);
        const uint64_t first_unit = begin / unit_bytes, last_unit = (begin + size_less_one) / unit_bytes;
        units += last_unit - first_unit + (first_unit != last);
        last = last_unit;
    }
    return units;
}

void rep_cover_count(uint64_t *keys, uint64_t *scratch, size_t count, uint64_t *ret_pages,
                     uint64_t *ret_lines)
{
    sort(keys, scratch, count);
    *ret_pages = distinct(keys, count, REP_PAGE_BYTES);
    *ret_lines = distinct(keys, count, REP_CACHE_LINE);
}

/* ---- the pass -------------------------------------------------------------------------------- */

bool rep_placement_init(struct rep_placement *placement, const struct wl_summary *summary, uint64_t untimed,
                        void *const *slots)
{
    const uint64_t measured = summary->ops > untimed ? summary->ops - untimed : 0;
    /* At a window's end the live ids are at most all ids. */
    *placement = (struct rep_placement){
        .slots = slots,
        .visited_max = summary->id_max,
        .first_op = untimed,
        .step_ops = measured / (REP_PLACEMENT_MOMENTS + 1) + 1,
        .peak_live_bytes = summary->live_bytes_peak,
    };
    placement->keys = rep_storage_map(placement->visited_max, sizeof *placement->keys);
    placement->scratch = rep_storage_map(placement->visited_max, sizeof *placement->scratch);
    return placement->keys != NULL && placement->scratch != NULL &&
           rep_ages_init(&placement->ages, summary) &&
           rep_alignment_init(&placement->alignment, summary->id_max);
}

static unsigned distance_class(uint64_t from, uint64_t to)
{
    const uint64_t bytes = from < to ? to - from : from - to;
    return bytes == 0 ? 0 : 64u - (unsigned)__builtin_clzll(bytes);
}

/* The visited objects in the order of the walk, as keys. */
static void collect(struct rep_placement *placement, struct rep_placement_sample *sample)
{
    const struct rep_ages *ages = &placement->ages;
    for (uint32_t thread = 0; thread < ages->thread_count; thread++) {
        for (uint32_t id = rep_ages_oldest(ages, thread); id != 0; id = rep_ages_next(ages, id)) {
            const uint32_t bytes = ages->sizes[id] - 1;
            if (bytes == 0 || bytes > REP_SMALL_BYTES || placement->slots[id] == NULL)
                continue;
            placement->keys[sample->objects++] = rep_cover_key(placement->slots[id], bytes);
            sample->bytes += bytes;
        }
    }
}

static void compare_neighbours(const uint64_t *keys, struct rep_placement_sample *sample)
{
    for (uint64_t i = 1; i < sample->objects; i++) {
        const uint64_t from = rep_cover_address(keys[i - 1]), to = rep_cover_address(keys[i]);
        sample->next++;
        sample->next_same_page += from / REP_PAGE_BYTES == to / REP_PAGE_BYTES;
        sample->next_distance[distance_class(from, to)]++;
    }
}

static uint64_t page_of(uint64_t key)
{
    return rep_cover_address(key) / REP_PAGE_BYTES;
}

static uint64_t misses_of_second_walk(const uint64_t *keys, uint64_t count)
{
    struct rep_tlb tlb = {0};
    uint64_t misses = 0;
    for (uint64_t i = count; i > 0 && rep_tlb_earlier(&tlb, page_of(keys[i - 1]));)
        i--; /* the first walk, as far as it is still seen at its end */
    for (uint64_t i = 0; i < count; i++)
        misses += !rep_tlb_visit(&tlb, page_of(keys[i]));
    return misses;
}

static void look(struct rep_placement *placement, const struct wl_window *window,
                 struct rep_placement_sample *ret_sample)
{
    struct rep_placement_sample sample = {
        .taken = true,
        .ops = window->facts.first_op + window->op_count,
        .time_ns = window->facts.end_ns,
        .live_objects = placement->ages.objects,
    };
    collect(placement, &sample);
    compare_neighbours(placement->keys, &sample);
    sample.tlb_misses = misses_of_second_walk(placement->keys, sample.objects);
    rep_cover_count(placement->keys, placement->scratch, sample.objects, &sample.pages, &sample.lines);
    *ret_sample = sample;
}

void rep_placement_window(struct rep_placement *placement, const struct wl_window *window)
{
    const uint64_t ops = window->facts.first_op + window->op_count;
    rep_ages_follow(&placement->ages, window);
    rep_alignment_window(&placement->alignment, window, placement->slots);
    if (ops <= placement->first_op)
        return;
    const uint64_t steps = (ops - placement->first_op) / placement->step_ops;
    /* A window longer than a step has one moment, and those that it skips are none. */
    if (steps > 0 && placement->moment_count < REP_PLACEMENT_MOMENTS &&
        (placement->moment_count == 0 ||
         steps > (placement->moments[placement->moment_count - 1].ops - placement->first_op) /
                     placement->step_ops))
        look(placement, window, &placement->moments[placement->moment_count++]);
    if (!placement->peak.taken && window->facts.live_bytes_peak >= placement->peak_live_bytes)
        look(placement, window, &placement->peak);
}

struct rep_placement_sample rep_placement_total(const struct rep_placement *placement)
{
    struct rep_placement_sample total = {0};
    for (uint32_t i = 0; i < placement->moment_count; i++) {
        const struct rep_placement_sample *moment = &placement->moments[i];
        total.live_objects += moment->live_objects;
        total.objects += moment->objects;
        total.bytes += moment->bytes;
        total.tlb_misses += moment->tlb_misses;
        total.next += moment->next;
        total.next_same_page += moment->next_same_page;
        total.pages += moment->pages;
        total.lines += moment->lines;
        for (unsigned k = 0; k < REP_DISTANCES; k++)
            total.next_distance[k] += moment->next_distance[k];
    }
    total.taken = total.objects > 0;
    return total;
}

uint64_t rep_placement_distance(const struct rep_placement_sample *sample)
{
    uint64_t below = 0;
    for (unsigned k = 0; k < 64; k++) {
        below += sample->next_distance[k];
        if (below > 0 && 2 * below >= sample->next)
            return (uint64_t)1 << k;
    }
    return 0;
}

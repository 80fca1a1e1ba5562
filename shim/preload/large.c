/* large.c - the table of large and middling objects, and what is known of their use.
 *
 * Laws of this file: those of shim.h. It runs in hooks, before the release, and where the process ends. */
#include "shim/preload/large.h"

#include "shim/preload/boot.h"
#include "shim/preload/confine.h"
#include "shim/preload/lane_chunk.h"

#define WAYS           16u
#define BUCKETS        1024u /* 16,384 objects */
#define RESTS          48u /* as long as the last look took: looks at large objects take up to 2 % of the time */
#define MIDDLING_RESTS 96u /* and those at middling ones 1 % */
#define SAVED                                                                                                \
    512u /* seldom_ticks: 128 ms of rest may be had beforehand, which is 1 to 3 ms of looks at once */
#define SEEN_BITS      8u
#define THOROUGH_LOOKS 256u  /* at the end: some 20 ms at the most */
#define MIDDLING_MOST  1024u /* live ones in the table */
#define SUMMED_MOST    2048u /* live objects of which is kept what stood there */
#define MIDDLING_FEW   32u   /* where each may make others suspect */
#define LOOKED         (UINT64_C(1) << 63)
#define ZEROED         (UINT64_C(1) << 62)

struct shim_large shim_large;

struct entry {
    _Atomic uintptr_t address; /* 0: free */
    _Atomic uint64_t bytes;    /* LOOKED and ZEROED: joined with it */
    _Atomic uint64_t before;
    _Atomic uint32_t sums;
};

/* An entry, read. */
struct object {
    uint64_t bytes;
    uint64_t before; /* of its view: pages that were in memory when it was made; all: not known */
    uint32_t sums;   /* of what stood there then: number of their place, from 1; 0: not known */
    bool looked;     /* that was looked at, or it is the first of its size: so a look is due */
    bool zeroed;     /* it was made by calloc */
};

static struct entry table[BUCKETS][WAYS]; /* pages come into being where objects do */
static _Atomic uint16_t counts[LARGE_BITS];
static _Atomic uint32_t middling; /* in the table */

static _Atomic bool begun; /* children inherit what is found of the image */

void large_begin(bool wanted, uint32_t filters)
{
    if (atomic_exchange_explicit(&begun, true, memory_order_relaxed))
        return;
    if (!wanted || !filters_let_pass(filters) || !pages_allow())
        return;
#if defined(__GLIBC__) && UINTPTR_MAX == UINT64_MAX
    put_relaxed(&shim_large.by_header, shim_next.is_libc);
#endif
}

void large_stop(void)
{
    put_relaxed(&shim_large.by_header, false);
    pages_forbid();
    for (unsigned i = 0; i < LARGE_BITS / 64; i++)
        put_relaxed(&shim_large.bits[i], 0);
}

/* ---- suspects where no header tells ------------------------------------------------------------------ */

static void mark_page(uintptr_t address, bool made)
{
    const uint64_t page = address >> 12;
    _Atomic uint64_t *const word = &shim_large.bits[page / 64 % (LARGE_BITS / 64)];
    const uint64_t bit = UINT64_C(1) << page % 64;
    _Atomic uint16_t *const count = &counts[page % LARGE_BITS];
    if (made && add_relaxed(count, 1) == 0)
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    /* Another may come to the same page just now, and go unseen: then nothing is noted of it. */
    if (!made && sub_relaxed(count, 1) == 1)
        atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed);
}

/* Tells by the counts, which miss none, whether the table is worth a look. */
static bool may_be_there(uintptr_t address)
{
    return get_relaxed(&counts[(address >> 12) % LARGE_BITS]) != 0;
}

/* ---- what stood where objects were made ------------------------------------------------------------------------- */

static uint32_t sums[SUMMED_MOST][PAGES_VIEW];
static _Atomic uint64_t sums_taken[SUMMED_MOST / 64];

/* Returns the number of a place, 0 when there is none. */
static uint32_t sums_take(void)
{
    for (uint32_t i = 0; i < SUMMED_MOST / 64; i++) {
        uint64_t taken = get_relaxed(&sums_taken[i]);
        while (taken != UINT64_MAX) {
            const uint64_t bit = ~taken & (taken + 1); /* the lowest that is free */
            if (swap_relaxed(&sums_taken[i], &taken, taken | bit))
                return i * 64 + (uint32_t)__builtin_ctzll(bit) + 1;
        }
    }
    return 0;
}

static void sums_give(uint32_t number)
{
    if (number > 0)
        atomic_fetch_and_explicit(&sums_taken[(number - 1) / 64], ~(UINT64_C(1) << (number - 1) % 64),
                                  memory_order_relaxed);
}

/* The pages of map, which were there when the object was made, in which something else stands now. */
static uint64_t changed_of(uintptr_t address, const struct object *object, uint64_t map)
{
    uint32_t now[PAGES_VIEW];
    uint64_t changed = 0;
    if (map == 0 || object->sums == 0 || !pages_sums(address, object->bytes, map, now))
        return 0;
    for (; map != 0; map &= map - 1) {
        const unsigned page = (unsigned)__builtin_ctzll(map);
        changed |= (uint64_t)(now[page] != sums[object->sums - 1][page]) << page;
    }
    return changed;
}

/* The pages of an object from calloc in which anything stands. The allocator may have written the zeros of the others. */
static bool written_of(uintptr_t address, const struct object *object, uint64_t now, uint64_t *ret_written)
{
    uint32_t sum[PAGES_VIEW];
    *ret_written = 0;
    if (!pages_sums(address, object->bytes, now, sum))
        return false;
    for (uint64_t map = now; map != 0; map &= map - 1) {
        const unsigned page = (unsigned)__builtin_ctzll(map);
        *ret_written |= (uint64_t)(sum[page] != 0) << page;
    }
    return true;
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static struct entry *bucket_of(uintptr_t address)
{
    return table[((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % BUCKETS];
}

static struct entry *find(uintptr_t address)
{
    struct entry *const bucket = bucket_of(address);
    for (unsigned way = 0; way < WAYS; way++)
        if (get_relaxed(&bucket[way].address) == address)
            return &bucket[way];
    return NULL;
}

static void keep(struct entry *entry, const struct object *object)
{
    put_relaxed(&entry->bytes, object->bytes | (object->looked ? LOOKED : 0) | (object->zeroed ? ZEROED : 0));
    put_relaxed(&entry->before, object->before);
    put_relaxed(&entry->sums, object->sums);
}

static struct object kept(const struct entry *entry)
{
    const uint64_t bytes = get_relaxed(&entry->bytes);
    return (struct object){.bytes = bytes & ~(LOOKED | ZEROED),
                           .before = get_relaxed(&entry->before),
                           .sums = get_relaxed(&entry->sums),
                           .looked = (bytes & LOOKED) != 0,
                           .zeroed = (bytes & ZEROED) != 0};
}

static bool is_middling(const struct object *object)
{
    return object->bytes < FP_LARGE_BYTES;
}

/* One of several threads that take an object out, or push it out, does so. */
static bool leaves(struct entry *entry, uintptr_t address)
{
    return swap_relaxed(&entry->address, &address, 0);
}

/* Objects come into the table and leave it. */
static void account(uintptr_t address, const struct object *object, bool comes)
{
    mark_page(address, comes);
    if (is_middling(object))
        add_relaxed(&middling, comes ? 1u : UINT32_MAX);
    if (!comes)
        sums_give(object->sums);
}

static void place(uintptr_t address, const struct object *object)
{
    static _Atomic uint32_t turn;
    struct entry *const bucket = bucket_of(address);
    for (unsigned way = 0; way < WAYS; way++) {
        uintptr_t vacant = 0;
        if (swap_relaxed(&bucket[way].address, &vacant, address)) {
            keep(&bucket[way], object);
            return;
        }
    }
    struct entry *victim = &bucket[add_relaxed(&turn, 1) % WAYS];
    const uintptr_t old = atomic_exchange_explicit(&victim->address, address, memory_order_relaxed);
    const struct object gone = kept(victim);
    keep(victim, object);
    if (old != 0)
        account(old, &gone, false);
}

void large_forget(void)
{
    if (!get_relaxed(&begun))
        return;
    large_stop();
    for (unsigned i = 0; i < BUCKETS * WAYS; i++)
        if (get_relaxed(&table[i / WAYS][i % WAYS].address) != 0)
            put_relaxed(&table[i / WAYS][i % WAYS].address, 0);
    for (unsigned i = 0; i < LARGE_BITS; i++)
        put_relaxed(&counts[i], 0);
    for (unsigned i = 0; i < SUMMED_MOST / 64; i++)
        put_relaxed(&sums_taken[i], 0);
    put_relaxed(&middling, 0);
    put_relaxed(&begun, false);
}

/* ---- shares ------------------------------------------------------------------------------------------------ */

/* A share above nothing is at least 1, and one below all is not FP_SHARE_WHOLE. */
static uint32_t to_share(uint64_t resident, uint64_t looked)
{
    const uint32_t share = (uint32_t)((resident * FP_SHARE_WHOLE + looked / 2) / looked);
    if (share == 0 && resident > 0)
        return 1;
    return share == FP_SHARE_WHOLE && resident < looked ? FP_SHARE_WHOLE - 1 : share;
}

/* The number of pages that the program used, from what is there now and what was there before. Programs write from the start: up to the
 * last page that is new. Returns false when nothing is new that would tell; then it is all that is there. */
static bool used_of(uint64_t before, uint64_t now, uint64_t edges, uint64_t *ret_used)
{
    const uint64_t fresh = now & ~before;
    *ret_used = (uint64_t)__builtin_popcountll(fresh == 0 ? now
                                                          : now & (UINT64_MAX >> __builtin_clzll(fresh)));
    if (fresh == 0 && (before & ~edges) == 0)
        *ret_used = now & edges & 1;
    return fresh != 0 || (before & ~edges) == 0;
}

/* ---- looks rest ----------------------------------------------------------------------------------------------- */

static _Atomic uint64_t rested, middling_rested; /* when */

static bool is_resting(const struct object *object, uint64_t now)
{
    return (int64_t)(now - get_relaxed(is_middling(object) ? &middling_rested : &rested)) < 0;
}

/* The rest under way grows with what a look took. Looks at large objects and at middling ones rest each for themselves. */
static void rest_after(const struct object *object, uint64_t begin)
{
    _Atomic uint64_t *const rest = is_middling(object) ? &middling_rested : &rested;
    const uint64_t end = lane_clock(), saved = SAVED * shim_segment.fixed.seldom_ticks;
    const uint64_t until = get_relaxed(rest), least = end > saved ? end - saved : 0;
    put_relaxed(rest, ((int64_t)(least - until) < 0 ? until : least) +
                          (is_middling(object) ? MIDDLING_RESTS : RESTS) * (end - begin));
}

/* The share known of a size: size << 13 | 16 x share. */
static _Atomic uint64_t *seen_of(uint64_t size)
{
    static _Atomic uint64_t all[1u << SEEN_BITS];
    return &all[size * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SEEN_BITS)];
}

static bool seen(uint64_t size, uint32_t *ret_share)
{
    const uint64_t word = get_relaxed(seen_of(size));
    if (word >> 13 == size)
        *ret_share = (uint32_t)((word & 8191) + 8) / 16;
    return word >> 13 == size;
}

/* Remember the share of one object; or, for a mean of the last ones, move the share by an eighth
 * towards it. */
static void see(uint64_t size, uint32_t share, bool mean)
{
    const uint64_t word = get_relaxed(seen_of(size));
    const int old = (int)(word & 8191), one = (int)share * 16;
    const int kept = mean && word >> 13 == size ? old + (one - old) / 8 : one;
    put_relaxed(seen_of(size), size << 13 | (unsigned)kept);
}

/* The number of pages of the view that were used, of those that are in memory now. False: it is not known. */
static bool pages_used(uintptr_t address, const struct object *object, uint64_t now, uint64_t *ret_used)
{
    const uint64_t changed = changed_of(address, object, now & object->before);
    return used_of(object->before & ~changed, now, pages_edges(address, object->bytes), ret_used);
}

/* All pages are asked for, and not those of the view alone. */
static bool share_in_memory(uintptr_t address, const struct object *object, uint32_t *ret_share)
{
    uint64_t resident, looked;
    const bool told = pages_count(address, object->bytes, &resident, &looked);
    if (told)
        *ret_share = to_share(resident, looked);
    return told;
}

/* Shares an object from calloc: of what is in memory as much as has anything in it, in the view. */
static bool share_written(uintptr_t address, const struct object *object, uint32_t *ret_share)
{
    uint64_t now, written;
    uint32_t share;
    if (!share_in_memory(address, object, &share) || !pages_map(address, object->bytes, &now))
        return false;
    if (now != 0 && written_of(address, object, now, &written)) {
        const unsigned all = (unsigned)__builtin_popcountll(now);
        share = (share * (unsigned)__builtin_popcountll(written) + all / 2) / all;
        share = share == 0 && written != 0 ? 1 : share;
    }
    *ret_share = share;
    return true;
}

/* Look at an object. What is told of one that nobody looked at when it was made is what is in memory, whoever used it.
 * ret_told  whether it is known; else it is a bound from above. */
static bool look_after(uintptr_t address, const struct object *object, uint32_t *ret_share, bool *ret_told)
{
    const uint64_t viewed = pages_viewed(address, object->bytes);
    uint64_t now, used;
    *ret_told = true;
    if (object->zeroed)
        return share_written(address, object, ret_share);
    *ret_told = object->looked || object->before == 0;
    if (object->before == 0 || (!object->looked && viewed < pages_of(address, object->bytes)))
        return share_in_memory(address, object, ret_share);
    if (!pages_map(address, object->bytes, &now))
        return false;
    *ret_told = pages_used(address, object, now, &used);
    *ret_share = to_share(used, viewed);
    return true;
}

/* The share of an object that goes. If nothing tells how much of it was used, take that of others of its size, and not more
 * than is there: the mean of those of as many pages that lay in fresh memory, where the view has all of them; else the last
 * one of its very size. The mean is not of all that were told: among those that lie where others lay, only the greatest are.
 * bounded: look only where a look is due, or where nothing is known of the size; of a middling object, and of one whose
 * pages are all in the view, nothing is told then. */
static bool share_of(uintptr_t address, const struct object *object, bool bounded, uint32_t *ret_share)
{
    const uint64_t count = pages_of(address, object->bytes), edges = pages_edges(address, object->bytes);
    const bool few = count <= PAGES_VIEW, brought = !object->looked && object->before == 0;
    const uint64_t size = few ? count << 3 | (uint64_t)is_middling(object) << 2 |
                                    (uint64_t)object->zeroed << 1 | brought
                              : object->bytes;
    const uint64_t begin = lane_clock();
    uint32_t usual = FP_SHARE_WHOLE;
    const bool has_usual = seen(size, &usual);
    bool told;
    if (bounded && !object->looked && is_resting(object, begin) && (few || has_usual)) {
        if (has_usual && !is_middling(object))
            *ret_share = usual;
        return has_usual && !is_middling(object);
    }
    if (!look_after(address, object, ret_share, &told))
        return false;
    rest_after(object, begin);
    if (few ? (object->before & ~edges) == 0 : told || !has_usual)
        see(size, *ret_share, few);
    else if (!told && has_usual && usual < *ret_share)
        *ret_share = usual;
    return true;
}

/* ---- objects come and go ---------------------------------------------------------------------------------- */

/* Looks at what is there, and its content, before the program writes. */
static void look_before(uintptr_t address, struct object *object)
{
    const uint64_t begin = lane_clock();
    uint64_t before;
    object->before = UINT64_MAX;
    if ((!is_middling(object) && is_resting(object, begin)) || !pages_map(address, object->bytes, &before))
        return;
    object->before = before;
    object->looked = true;
    if (object->before != 0)
        object->sums = sums_take();
    if (object->sums > 0 && !pages_sums(address, object->bytes, object->before, sums[object->sums - 1])) {
        sums_give(object->sums);
        object->sums = 0;
    }
    rest_after(object, begin);
}

/* Tells whether the object is the first one of its size, by pages, and from calloc or not. */
static bool is_first(const struct object *object)
{
    static _Atomic uint64_t known;
    const uint64_t bit = UINT64_C(1) << (object->bytes / 4096 + object->zeroed * 32);
    return (get_relaxed(&known) & bit) == 0 &&
           (atomic_fetch_or_explicit(&known, bit, memory_order_relaxed) & bit) == 0;
}

/* Middling objects are looked at by sample: the first of each size, then as often as looks may be, and as many at a time as
 * there is room for. */
static bool is_wanted(struct object *object)
{
    if (!is_middling(object))
        return true;
    if (get_relaxed(&middling) >= (get_relaxed(&shim_large.by_header) ? MIDDLING_MOST : MIDDLING_FEW))
        return false;
    object->looked = is_first(object);
    return object->looked || !is_resting(object, lane_clock());
}

/* One whose release went past us (a signal handler's, nested in a hook) leaves its entry to the next one there. */
static void forget(uintptr_t address)
{
    struct entry *const stale = may_be_there(address) ? find(address) : NULL;
    if (stale == NULL)
        return;
    const struct object gone = kept(stale);
    if (leaves(stale, address))
        account(address, &gone, false);
}

void large_made_slow(unsigned call, uintptr_t address, uint64_t bytes)
{
    struct object object = {.bytes = bytes, .zeroed = call == FP_CALL_CALLOC};
    if (address == 0 || bytes >= ZEROED || !pages_allowed())
        return;
    forget(address);
    if (!is_wanted(&object))
        return;
    /* Other calls bring pages of their own: zeros, and what was moved. */
    if (call != FP_CALL_CALLOC && call != FP_CALL_REALLOC && call != FP_CALL_REALLOCARRAY)
        look_before(address, &object);
    place(address, &object);
    account(address, &object, true);
}

bool large_take(const void *address, uint32_t *ret_share)
{
    struct entry *entry = may_be_there((uintptr_t)address) ? find((uintptr_t)address) : NULL;
    if (entry == NULL || address == NULL)
        return false;
    const struct object object = kept(entry);
    if (!leaves(entry, (uintptr_t)address))
        return false;
    const bool told = pages_allowed() && object.bytes > 0 &&
                      share_of((uintptr_t)address, &object, true, ret_share);
    account((uintptr_t)address, &object, false);
    return told;
}

/* Looks at the end cannot rest, so only some are thorough. */
static struct object as_told_at_the_end(uintptr_t address, struct object object)
{
    static _Atomic uint32_t told;
    if (add_relaxed(&told, 1) < THOROUGH_LOOKS)
        return object;
    object.sums = 0;
    object.zeroed = false;
    object.looked &= pages_of(address, object.bytes) <= PAGES_VIEW;
    return object;
}

bool large_left(uint32_t *at, uintptr_t *ret_address, uint32_t *ret_share)
{
    if (!pages_allowed())
        return false;
    while (*at < BUCKETS * WAYS) {
        const struct entry *entry = &table[*at / WAYS][*at % WAYS];
        *ret_address = get_relaxed(&entry->address);
        (*at)++;
        if (*ret_address == 0)
            continue;
        const struct object object = as_told_at_the_end(*ret_address, kept(entry));
        if (object.bytes > 0 && share_of(*ret_address, &object, false, ret_share))
            return true;
    }
    return false;
}

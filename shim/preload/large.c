/* large.c - the table of large objects, and looks at their pages.
 *
 * Laws of this file: those of shim.h. It runs in hooks, before the release, and where the process ends. */
#include "shim/preload/large.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#include "shim/preload/boot.h"
#include "shim/preload/confine.h"
#include "shim/preload/lane_record.h"
#include "shim/shared/raw.h"

#define WAYS         16u
#define BUCKETS      1024u /* 16,384 objects: 2 GiB at the least */
#define PAGES_A_CALL 256u
#define PAGES_EXACT  4096u /* 16 MiB of 4 KiB; of larger objects, so many are looked at */
#define SLICES       64u
#define STOP_SPINS   1000000u
#define RESTS        32u /* as long as the last look took: looks take up to 3 % of a process' time */
#define SEEN_BITS    6u
#define MAP_PAGES    64u /* of objects of so many pages it is seen what an earlier one left */
#define LOOKED       (UINT64_C(1) << 63)

struct shim_large shim_large;

struct entry {
    _Atomic uintptr_t address; /* 0: free */
    _Atomic uint64_t bytes;    /* LOOKED: joined with it */
    _Atomic uint64_t before;
};

/* An entry, read. */
struct object {
    uint64_t bytes;
    uint64_t before; /* pages that were in memory when it was made, of one of few pages; all: not known */
    bool looked;     /* that was looked at, and so one more look is due */
};

static struct entry table[BUCKETS][WAYS]; /* pages come into being where objects do */
static _Atomic uint16_t counts[LARGE_BITS];
static _Atomic uint32_t looking; /* threads that may be in mincore */
static uintptr_t page_bytes;

void large_begin(bool wanted, uint32_t filters)
{
    static _Atomic bool begun; /* children inherit what is found of the image */
    if (atomic_exchange_explicit(&begun, true, memory_order_relaxed))
        return;
    page_bytes = getauxval(AT_PAGESZ);
    if (!wanted || page_bytes == 0 || !filters_let_pass(filters))
        return;
    atomic_store_explicit(&shim_large.on, true, memory_order_seq_cst);
#if defined(__GLIBC__) && UINTPTR_MAX == UINT64_MAX
    put_relaxed(&shim_large.by_header, shim_next.is_libc);
#endif
}

void large_stop(void)
{
    put_relaxed(&shim_large.by_header, false);
    atomic_store_explicit(&shim_large.on, false, memory_order_seq_cst); /* pairs with ask's load */
    for (unsigned i = 0; i < LARGE_BITS / 64; i++)
        put_relaxed(&shim_large.bits[i], 0);
    /* The wait is bounded: a handler may have interrupted the one that looks. */
    for (uint32_t spins = 0; atomic_load(&looking) > 0 && spins < STOP_SPINS; spins++)
        ;
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
    put_relaxed(&entry->bytes, object->bytes | (object->looked ? LOOKED : 0));
    put_relaxed(&entry->before, object->before);
}

static struct object kept(const struct entry *entry)
{
    const uint64_t bytes = get_relaxed(&entry->bytes);
    return (struct object){
        .bytes = bytes & ~LOOKED, .before = get_relaxed(&entry->before), .looked = (bytes & LOOKED) != 0};
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
    uintptr_t old = atomic_exchange_explicit(&victim->address, address, memory_order_relaxed);
    keep(victim, object);
    if (old != 0)
        mark_page(old, false);
}

/* ---- pages --------------------------------------------------------------------------------------------------- */

/* Ask which pages are in memory, at most PAGES_A_CALL. False: they are not all mapped, or it cannot be asked. */
static bool ask(uintptr_t first, uint64_t count, unsigned char *ret_pages)
{
    atomic_fetch_add(&looking, 1);
    const bool told = atomic_load(&shim_large.on) && /* after the count: pairs with large_stop */
                      raw_call(SYS_mincore, (long)first, (long)(count * page_bytes), (long)ret_pages, 0, 0,
                               0) == 0;
    atomic_fetch_sub(&looking, 1);
    return told;
}

/* Count how many of `count` pages from `first` on are in memory. False: as in ask. */
static bool count_resident(uintptr_t first, uint64_t count, uint64_t *resident)
{
    unsigned char pages[PAGES_A_CALL];
    while (count > 0) {
        const uint64_t now = count < PAGES_A_CALL ? count : PAGES_A_CALL;
        if (!ask(first, now, pages))
            return false;
        for (uint64_t i = 0; i < now; i++)
            *resident += pages[i] & 1;
        first += now * page_bytes;
        count -= now;
    }
    return true;
}

static bool look(uintptr_t address, uint64_t bytes, uint64_t *ret_resident, uint64_t *ret_looked)
{
    const uintptr_t first = address & ~(page_bytes - 1);
    const uint64_t count = (address + bytes - first + page_bytes - 1) / page_bytes;
    const uint64_t slice = PAGES_EXACT / SLICES;
    *ret_resident = 0;
    *ret_looked = count;
    if (count <= PAGES_EXACT)
        return count_resident(first, count, ret_resident);
    *ret_looked = PAGES_EXACT;
    for (uint64_t i = 0; i < SLICES; i++)
        if (!count_resident(first + i * (count - slice) / (SLICES - 1) * page_bytes, slice, ret_resident))
            return false;
    return true;
}

/* A share above nothing is at least 1, and one below all is not FP_SHARE_WHOLE. */
static uint32_t to_share(uint64_t resident, uint64_t looked)
{
    const uint32_t share = (uint32_t)((resident * FP_SHARE_WHOLE + looked / 2) / looked);
    if (share == 0 && resident > 0)
        return 1;
    return share == FP_SHARE_WHOLE && resident < looked ? FP_SHARE_WHOLE - 1 : share;
}

static bool share_of(uintptr_t address, uint64_t bytes, uint32_t *ret_share)
{
    uint64_t resident, looked;
    const bool told = bytes > 0 && look(address, bytes, &resident, &looked);
    if (told)
        *ret_share = to_share(resident, looked);
    return told;
}

/* ---- smaller ones: what an earlier object left ---------------------------------------------------------------- */

static uint64_t pages_of(uintptr_t address, uint64_t bytes)
{
    return (address + bytes - (address & ~(page_bytes - 1)) + page_bytes - 1) / page_bytes;
}

static bool is_mapped_whole(uintptr_t address, uint64_t bytes)
{
    return pages_of(address, bytes) <= MAP_PAGES;
}

/* A bit for each page that is in memory. False: as in ask. */
static bool map_of(uintptr_t address, uint64_t bytes, uint64_t *ret_map)
{
    unsigned char pages[MAP_PAGES];
    const uint64_t count = pages_of(address, bytes);
    const bool told = ask(address & ~(page_bytes - 1), count, pages);
    *ret_map = 0;
    for (uint64_t i = 0; told && i < count; i++)
        *ret_map |= (uint64_t)(pages[i] & 1) << i;
    return told;
}

/* Pages that an object has in part, and others too. */
static uint64_t edges_of(uintptr_t address, uint64_t bytes)
{
    const uint64_t first = address % page_bytes != 0, last = (address + bytes) % page_bytes != 0;
    return first | last << (pages_of(address, bytes) - 1);
}

/* How many pages the program used, of what is there now and what was there before. Programs write from the start: up to the
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

static _Atomic uint64_t rested; /* when */

static bool is_resting(uint64_t now)
{
    return (int64_t)(now - get_relaxed(&rested)) < 0;
}

/* The rest under way grows with what a look took. */
static void rest_after(uint64_t begin)
{
    const uint64_t end = lane_clock(), until = get_relaxed(&rested);
    put_relaxed(&rested, ((int64_t)(end - until) < 0 ? until : end) + RESTS * (end - begin));
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

/* The share of an object of few pages. If nothing new tells how much of it was used, take the mean
 * of objects of so many pages that lay in fresh memory, and not more than is there. The mean is not
 * of all that were told: among those that lie where others lay, only the greatest are. bounded:
 * look only where a look is due. */
static bool share_of_few(uintptr_t address, const struct object *object, bool bounded, uint32_t *ret_share)
{
    const uint64_t count = pages_of(address, object->bytes), edges = edges_of(address, object->bytes);
    const bool brought = !object->looked && object->before == 0;
    const uint64_t size = count << 1 | brought;
    const uint64_t begin = lane_clock();
    uint64_t now, used;
    uint32_t usual = FP_SHARE_WHOLE;
    const bool has_usual = seen(size, &usual);
    if (bounded && !object->looked && is_resting(begin)) {
        if (has_usual)
            *ret_share = usual;
        return has_usual;
    }
    if (!map_of(address, object->bytes, &now))
        return false;
    rest_after(begin);
    const bool told = used_of(object->before, now, edges, &used);
    *ret_share = to_share(used, count);
    if ((object->before & ~edges) == 0)
        see(size, *ret_share, true);
    else if (!told && has_usual && usual < *ret_share)
        *ret_share = usual;
    return true;
}

/* A program may release large objects one after the other that it hardly touched, each in less time than a look takes. So
 * looks are followed by a rest; during that an object is told as the last one seen of its very size. */
static bool share_in_time(uintptr_t address, uint64_t bytes, uint32_t *ret_share)
{
    const uint64_t begin = lane_clock();
    if (is_resting(begin) && seen(bytes, ret_share))
        return true;
    if (!share_of(address, bytes, ret_share))
        return false;
    rest_after(begin);
    see(bytes, *ret_share, false);
    return true;
}

/* One whose release went past us (a signal handler's, nested in a hook) leaves its entry to the next one there. */
void large_made_slow(unsigned call, uintptr_t address, uint64_t bytes)
{
    struct object object = {.bytes = bytes};
    if (address == 0 || bytes >= LOOKED || !get_relaxed(&shim_large.on))
        return;
    /* Other calls bring pages of their own: zeros, and what was moved. */
    if (call != FP_CALL_CALLOC && call != FP_CALL_REALLOC && call != FP_CALL_REALLOCARRAY &&
        is_mapped_whole(address, bytes)) {
        const uint64_t begin = lane_clock();
        object.before = UINT64_MAX;
        if (!is_resting(begin) && map_of(address, bytes, &object.before)) {
            object.looked = true;
            rest_after(begin);
        }
    }
    struct entry *stale = find(address);
    if (stale != NULL) {
        keep(stale, &object);
        return;
    }
    place(address, &object);
    mark_page(address, true);
}

bool large_take(const void *address, uint32_t *ret_share)
{
    struct entry *entry = find((uintptr_t)address);
    if (entry == NULL || address == NULL)
        return false;
    struct object object = kept(entry);
    put_relaxed(&entry->address, 0);
    mark_page((uintptr_t)address, false);
    if (!get_relaxed(&shim_large.on))
        return false;
    return is_mapped_whole((uintptr_t)address, object.bytes)
               ? share_of_few((uintptr_t)address, &object, true, ret_share)
               : share_in_time((uintptr_t)address, object.bytes, ret_share);
}

bool large_left(uint32_t *at, uintptr_t *ret_address, uint32_t *ret_share)
{
    if (!get_relaxed(&shim_large.on))
        return false;
    while (*at < BUCKETS * WAYS) {
        const struct entry *entry = &table[*at / WAYS][*at % WAYS];
        const struct object object = kept(entry);
        *ret_address = get_relaxed(&entry->address);
        (*at)++;
        if (*ret_address != 0 && (is_mapped_whole(*ret_address, object.bytes)
                                      ? share_of_few(*ret_address, &object, false, ret_share)
                                      : share_of(*ret_address, object.bytes, ret_share)))
            return true;
    }
    return false;
}

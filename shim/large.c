/* large.c - the table of large objects, and looks at their pages.
 *
 * Laws of this file: those of shim.h. It runs in hooks, before the release, and where the process ends. */
#include "shim/large.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "shim/filters.h"
#include "shim/raw.h"
#include "shim/shim.h"

#define WAYS         16u
#define BUCKETS      1024u /* 16,384 objects: 2 GiB at the least */
#define PAGES_A_CALL 256u
#define PAGES_EXACT  4096u /* 16 MiB of 4 KiB; of larger objects, so many are looked at */
#define SLICES       64u
#define STOP_SPINS   1000000u
#define RESTS        32u /* as long as the last look took: looks take up to 3 % of a process' time */
#define SEEN_BITS    6u
#define WITHOUT_REST (128u * 1024) /* from here on glibc maps objects, and a release is a system call of its own */

struct shim_large shim_large;

struct entry {
    _Atomic uintptr_t address; /* 0: free */
    _Atomic uint64_t bytes;
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
    atomic_store_explicit(&shim_large.by_header, shim_next.is_libc, memory_order_relaxed);
#endif
}

void large_stop(void)
{
    atomic_store_explicit(&shim_large.by_header, false, memory_order_relaxed);
    atomic_store_explicit(&shim_large.on, false, memory_order_seq_cst); /* pairs with share_of's load */
    for (unsigned i = 0; i < LARGE_BITS / 64; i++)
        atomic_store_explicit(&shim_large.bits[i], 0, memory_order_relaxed);
    /* Bounded: a handler may have interrupted the one that looks. */
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
    if (made && atomic_fetch_add_explicit(count, 1, memory_order_relaxed) == 0)
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    /* Another may come to the same page just now, and go unseen: then nothing is noted of it. */
    if (!made && atomic_fetch_sub_explicit(count, 1, memory_order_relaxed) == 1)
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
        if (atomic_load_explicit(&bucket[way].address, memory_order_relaxed) == address)
            return &bucket[way];
    return NULL;
}

static void place(uintptr_t address, uint64_t bytes)
{
    static _Atomic uint32_t turn;
    struct entry *const bucket = bucket_of(address);
    struct entry *victim;
    uintptr_t old;
    for (unsigned way = 0; way < WAYS; way++) {
        uintptr_t vacant = 0;
        if (atomic_compare_exchange_strong_explicit(&bucket[way].address, &vacant, address,
                                                    memory_order_relaxed, memory_order_relaxed)) {
            atomic_store_explicit(&bucket[way].bytes, bytes, memory_order_relaxed);
            return;
        }
    }
    victim = &bucket[atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % WAYS];
    old = atomic_exchange_explicit(&victim->address, address, memory_order_relaxed);
    atomic_store_explicit(&victim->bytes, bytes, memory_order_relaxed);
    if (old != 0)
        mark_page(old, false);
}

/* One whose release went past us (a signal handler's, nested in a hook) leaves its entry to the next one there. */
void large_made_slow(uintptr_t address, uint64_t bytes)
{
    struct entry *stale;
    if (address == 0 || !atomic_load_explicit(&shim_large.on, memory_order_relaxed))
        return;
    stale = find(address);
    if (stale != NULL) {
        atomic_store_explicit(&stale->bytes, bytes, memory_order_relaxed);
        return;
    }
    place(address, bytes);
    mark_page(address, true);
}

/* ---- pages --------------------------------------------------------------------------------------------------- */

/* Of `count` pages from `first` on, how many are in memory; false: they are not all mapped, or it cannot be asked. */
static bool count_resident(uintptr_t first, uint64_t count, uint64_t *resident)
{
    unsigned char pages[PAGES_A_CALL];
    while (count > 0) {
        const uint64_t now = count < PAGES_A_CALL ? count : PAGES_A_CALL;
        if (raw_call(SYS_mincore, (long)first, (long)(now * page_bytes), (long)pages, 0, 0, 0) != 0)
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

/* Some is not told as none, nor less than all as all. */
static bool share_of(uintptr_t address, uint64_t bytes, uint32_t *ret_share)
{
    uint64_t resident, looked;
    bool told = false;
    atomic_fetch_add(&looking, 1);
    if (atomic_load(&shim_large.on)) /* after the count: pairs with large_stop */
        told = bytes > 0 && look(address, bytes, &resident, &looked);
    atomic_fetch_sub(&looking, 1);
    if (!told)
        return false;
    *ret_share = (uint32_t)((resident * FP_SHARE_WHOLE + looked / 2) / looked);
    if (*ret_share == 0 && resident > 0)
        *ret_share = 1;
    if (*ret_share == FP_SHARE_WHOLE && resident < looked)
        *ret_share = FP_SHARE_WHOLE - 1;
    return true;
}

/* What counts as the same size: of the smaller ones, whose releases are cheap, as many pages. */
static uint64_t size_of(uint64_t bytes)
{
    return bytes < WITHOUT_REST ? bytes / page_bytes : bytes;
}

/* A program may release large objects one after the other that it hardly touched, each in less time than a look takes. So
 * looks are followed by a rest; during that an object is told as the last one seen of its size. Of a size not seen before
 * a smaller one is not told, and a larger one is looked at all the same. */
static bool share_in_time(uintptr_t address, uint64_t bytes, uint32_t *ret_share)
{
    static _Atomic uint64_t seen[1u << SEEN_BITS]; /* size << 9 | share */
    static _Atomic uint64_t rested;                /* when */
    const uint64_t size = size_of(bytes);
    _Atomic uint64_t *const last = &seen[size * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SEEN_BITS)];
    const uint64_t word = atomic_load_explicit(last, memory_order_relaxed);
    const uint64_t begin = lane_clock();
    const bool resting = (int64_t)(begin - atomic_load_explicit(&rested, memory_order_relaxed)) < 0;
    uint64_t end;
    if (resting && word >> 9 == size) {
        *ret_share = (uint32_t)(word & 511);
        return true;
    }
    if (resting && bytes < WITHOUT_REST)
        return false;
    if (!share_of(address, bytes, ret_share))
        return false;
    end = lane_clock();
    atomic_store_explicit(&rested, end + RESTS * (end - begin), memory_order_relaxed);
    atomic_store_explicit(last, size << 9 | *ret_share, memory_order_relaxed);
    return true;
}

bool large_take(const void *address, uint32_t *ret_share)
{
    struct entry *entry = find((uintptr_t)address);
    uint64_t bytes;
    if (entry == NULL || address == NULL)
        return false;
    bytes = atomic_load_explicit(&entry->bytes, memory_order_relaxed);
    atomic_store_explicit(&entry->address, 0, memory_order_relaxed);
    mark_page((uintptr_t)address, false);
    return atomic_load_explicit(&shim_large.on, memory_order_relaxed) &&
           share_in_time((uintptr_t)address, bytes, ret_share);
}

/* Objects that are never released. After the program's own handlers of exit(3), so that what those release is told; not
 * after _exit(2) nor a signal, and not for a child that made no call. */
__attribute__((destructor)) static void note_the_rest(void)
{
    struct lane *lane = shim_lane;
    if (!atomic_load_explicit(&shim_large.on, memory_order_relaxed) || lane == NULL ||
        lane_gate(lane) != GATE_OPEN || atomic_load_explicit(&lane->state, memory_order_relaxed) != LANE_LIVE)
        return;
    for (unsigned i = 0; i < BUCKETS * WAYS; i++) {
        const struct entry *entry = &table[i / WAYS][i % WAYS];
        const uintptr_t address = atomic_load_explicit(&entry->address, memory_order_relaxed);
        uint32_t share;
        if (address == 0 ||
            !share_of(address, atomic_load_explicit(&entry->bytes, memory_order_relaxed), &share))
            continue;
        lane = lane_record(lane, FP_MARK_RESIDENT, address, 0, share);
        lane_set_gate(lane, GATE_OPEN);
    }
}

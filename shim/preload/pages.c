/* pages.c - looks at pages, by system calls that cannot fault.
 *
 * Laws of this file: those of shim.h. It runs in hooks, and where the process ends. */
#include "shim/preload/large.h"

#include <sys/auxv.h>
#include <sys/uio.h>

#define PAGES_A_CALL 256u
#define PAGES_EXACT  4096u /* 16 MiB of 4 KiB; of larger objects, so many are looked at */
#define SLICES       64u
#define STOP_SPINS   1000000u
#define READ_BYTES   4096u /* contents are read of pages of this size only */
#define READ_PAGES   16u   /* by one system call */
#define READ_WORDS   (READ_BYTES / sizeof(uint64_t))

static _Atomic bool allowed;
static _Atomic uint32_t looking; /* threads that may be in a system call of ours */
static uintptr_t page_bytes;

bool pages_allow(void)
{
    page_bytes = getauxval(AT_PAGESZ);
    if (page_bytes == 0)
        return false;
    atomic_store_explicit(&allowed, true, memory_order_seq_cst);
    return true;
}

bool pages_allowed(void)
{
    return get_relaxed(&allowed);
}

void pages_forbid(void)
{
    atomic_store_explicit(&allowed, false, memory_order_seq_cst); /* pairs with begin_look's load */
    /* The wait is bounded: a handler may have interrupted the one that looks. */
    for (uint32_t spins = 0; atomic_load(&looking) > 0 && spins < STOP_SPINS; spins++)
        ;
}

static bool begin_look(void)
{
    atomic_fetch_add(&looking, 1);
    return atomic_load(&allowed); /* after the count: pairs with pages_forbid */
}

static void end_look(void)
{
    atomic_fetch_sub(&looking, 1);
}

uint64_t pages_of(uintptr_t address, uint64_t bytes)
{
    return (address + bytes - (address & ~(page_bytes - 1)) + page_bytes - 1) / page_bytes;
}

uint64_t pages_viewed(uintptr_t address, uint64_t bytes)
{
    const uint64_t count = pages_of(address, bytes);
    return count < PAGES_VIEW ? count : PAGES_VIEW;
}

/* The begin of a page of the view; of the first one the object may have a part only. */
static uintptr_t page_at(uintptr_t address, uint64_t bytes, uint64_t number)
{
    const uint64_t count = pages_of(address, bytes);
    const uint64_t page = count <= PAGES_VIEW ? number : number * (count - 1) / (PAGES_VIEW - 1);
    return (address & ~(page_bytes - 1)) + page * page_bytes;
}

uint64_t pages_edges(uintptr_t address, uint64_t bytes)
{
    const uint64_t first = address % page_bytes != 0, last = (address + bytes) % page_bytes != 0;
    return first | last << (pages_viewed(address, bytes) - 1);
}

/* ---- in memory ------------------------------------------------------------------------------------------------- */

/* Asks for PAGES_A_CALL pages at most. */
static bool ask(uintptr_t first, uint64_t count, unsigned char *ret_pages)
{
    const bool told = begin_look() && raw_call(SYS_mincore, (long)first, (long)(count * page_bytes),
                                               (long)ret_pages, 0, 0, 0) == 0;
    end_look();
    return told;
}

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

bool pages_count(uintptr_t address, uint64_t bytes, uint64_t *ret_resident, uint64_t *ret_looked)
{
    const uintptr_t first = address & ~(page_bytes - 1);
    const uint64_t count = pages_of(address, bytes);
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

bool pages_map(uintptr_t address, uint64_t bytes, uint64_t *ret_map)
{
    unsigned char pages[PAGES_VIEW];
    const uint64_t count = pages_viewed(address, bytes);
    bool told = true;
    *ret_map = 0;
    if (count == pages_of(address, bytes))
        told = ask(page_at(address, bytes, 0), count, pages);
    else
        for (uint64_t i = 0; told && i < count; i++)
            told = ask(page_at(address, bytes, i), 1, &pages[i]);
    for (uint64_t i = 0; told && i < count; i++)
        *ret_map |= (uint64_t)(pages[i] & 1) << i;
    return told;
}

/* ---- contents ---------------------------------------------------------------------------------------------------- */

static _Alignas(READ_BYTES) uint64_t copies[READ_PAGES][READ_WORDS];

/* The process of which a thread has the copies: a child forked meanwhile has them to itself. */
static _Atomic int reader;

static bool take_copies(int process)
{
    int had = get_relaxed(&reader);
    return had != process && swap_acquire(&reader, &had, process);
}

/* A change of one word always changes the 64 bits that are folded. */
static uint32_t sum_of(const uint64_t *words, uint64_t count)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t sum = 0, any = 0, factor = odd;
    for (uint64_t i = 0; i < count; i++, factor += 2 * odd) {
        any |= words[i];
        sum += words[i] * factor;
    }
    return any == 0 ? 0 : (uint32_t)(sum >> 32 ^ sum) | 1;
}

/* The part of a page of its view that an object has. */
static struct iovec part_of(uintptr_t address, uint64_t bytes, uint64_t number)
{
    const uintptr_t begin = page_at(address, bytes, number);
    const uintptr_t from = begin > address ? begin : address;
    const uintptr_t end = begin + READ_BYTES < address + bytes ? begin + READ_BYTES : address + bytes;
    return (struct iovec){.iov_base = (void *)from, .iov_len = end - from};
}

/* Sums of the first READ_PAGES pages of map, which are taken out of it. */
static bool sum_some(int process, uintptr_t address, uint64_t bytes, uint64_t *map, uint32_t *ret_sums)
{
    struct iovec here[READ_PAGES], there[READ_PAGES];
    unsigned page[READ_PAGES], count = 0;
    size_t wanted = 0;
    for (; count < READ_PAGES && *map != 0; count++) {
        page[count] = (unsigned)__builtin_ctzll(*map);
        *map &= *map - 1;
        there[count] = part_of(address, bytes, page[count]);
        here[count] = (struct iovec){copies[count], there[count].iov_len};
        if (there[count].iov_len % sizeof(uint64_t) != 0)
            copies[count][there[count].iov_len / sizeof(uint64_t)] = 0;
        wanted += there[count].iov_len;
    }
    if (raw_call(SYS_process_vm_readv, process, (long)here, count, (long)there, count, 0) != (long)wanted)
        return false;
    for (unsigned i = 0; i < count; i++)
        ret_sums[page[i]] = sum_of(copies[i], (there[i].iov_len + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    return true;
}

static bool sum_all(uintptr_t address, uint64_t bytes, uint64_t map, uint32_t *ret_sums)
{
    const int process = (int)raw_getpid();
    bool told = true;
    if (!take_copies(process))
        return false;
    while (told && map != 0)
        told = sum_some(process, address, bytes, &map, ret_sums);
    put_release(&reader, 0); /* pairs with the next one's swap: what it reads comes after what we read */
    return told;
}

bool pages_sums(uintptr_t address, uint64_t bytes, uint64_t map, uint32_t *ret_sums)
{
    if (page_bytes != READ_BYTES)
        return false;
    const bool told = begin_look() && sum_all(address, bytes, map, ret_sums);
    end_look();
    return told;
}

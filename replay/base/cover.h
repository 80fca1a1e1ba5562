/* cover.h - how many pages and cache lines a set of objects lies on. */
#ifndef MALLAB_REPLAY_BASE_COVER_H
#define MALLAB_REPLAY_BASE_COVER_H

#include <stddef.h>
#include <stdint.h>

#include "replay/base/storage.h" /* REP_CACHE_LINE */
#include "replay/exec/loop.h"    /* REP_PAGE_BYTES */

/* The largest object that shares pages with others in every size-class scheme: half a page. */
#define REP_SMALL_BYTES 2048u

/* An object in one word, so that sorting by address moves words: address, then size less one. Addresses end below
 * 2^53: 47 bits on x86-64, at most 52 on aarch64. */
#define REP_COVER_SIZE_BITS 11

static inline uint64_t rep_cover_key(const void *object, uint32_t bytes)
{
    return (uint64_t)(uintptr_t)object << REP_COVER_SIZE_BITS | (bytes - 1);
}

static inline uint64_t rep_cover_address(uint64_t key)
{
    return key >> REP_COVER_SIZE_BITS;
}

/* rep_cover_count - distinct pages and lines that hold at least one byte of any of the objects.
 * keys      made by rep_cover_key, of 1 .. REP_SMALL_BYTES bytes, in any order; sorted by address afterwards. No two objects
 *           overlap.
 * scratch   room for as many.
 * Time      linear in count; calls no malloc. */
void rep_cover_count(uint64_t *keys, uint64_t *scratch, size_t count, uint64_t *ret_pages,
                     uint64_t *ret_lines);

#endif

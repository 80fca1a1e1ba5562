/* seen.h - stacks that a thread has had several times, each whole: the words of the stack by which it was found.
 *
 * A stack follows from where it is walked from and the words that its rules lead to (walk.h). Where sp, the way through the
 * recorder's own frames and all of those words are as they were, it is the same one: nothing is walked, and nothing stored. That
 * is the cheapest that a stack can be, a load and a compare a frame; what has no place here is walked along its nodes. */
#ifndef MALLAB_SHIM_SITES_SEEN_H
#define MALLAB_SHIM_SITES_SEEN_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#define SEEN_WORDS  32u
#define SEEN_GROUP  4u /* words that are compared at once: the last one is repeated to fill it */
#define SEEN_SPARED 4u

struct seen {
    alignas(64) uint64_t sp;
    uint64_t high; /* of the region, as of struct walk */
    uint64_t fp, fp_mask;
    uint32_t site, generation;
    uint32_t way;
    uint16_t count;              /* of words, in whole groups; 0: no stack */
    uint16_t spared;             /* so many others have to want this place before one gets it */
    uint16_t places[SEEN_WORDS]; /* in words from sp */
    uint64_t words[SEEN_WORDS];
};

/* seen_at - the one place of a stack, by its site and sp. */
static inline struct seen *seen_at(struct seen *table, uint32_t bits, uint32_t site, uint64_t sp)
{
    return &table[(((uint64_t)site << 40 ^ sp) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits)];
}

/* seen_is - whether the stack is this one. */
static inline bool seen_is(struct seen *seen, uint32_t site, uint64_t sp, uint64_t fp, uint64_t high,
                           uint32_t generation, uint32_t way)
{
    if (__builtin_expect((seen->sp ^ sp) | (seen->high ^ high) | (seen->site ^ site) |
                             (seen->generation ^ generation) | (seen->way ^ way) |
                             ((seen->fp ^ fp) & seen->fp_mask) | (seen->count == 0),
                         0))
        return false;
    const uint64_t *stack = (const uint64_t *)(uintptr_t)sp;
    uint64_t differ = 0;
    for (uint32_t i = 0; i < seen->count; i += SEEN_GROUP)
        differ |= (stack[seen->places[i]] ^ seen->words[i]) |
                  (stack[seen->places[i + 1]] ^ seen->words[i + 1]) |
                  (stack[seen->places[i + 2]] ^ seen->words[i + 2]) |
                  (stack[seen->places[i + 3]] ^ seen->words[i + 3]);
    if (differ == 0 && seen->spared != SEEN_SPARED)
        seen->spared = SEEN_SPARED;
    return differ == 0;
}

/* seen_begin - whether a stack is to take this place. It has no words yet. A compiler has more stacks than places, and those that
 * seldom come must not drive each other out. */
static inline bool seen_begin(struct seen *seen, uint64_t sp)
{
    if (seen->spared > 0) {
        seen->spared--;
        return false;
    }
    seen->spared = SEEN_SPARED;
    seen->count = 0; /* a jump out of here leaves none */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    seen->sp = sp;
    return true;
}

/* seen_add - one more word, of `count` so far. Returns how many there are; SEEN_WORDS + 1: it is none that can be kept. */
static inline uint32_t seen_add(struct seen *seen, uint32_t count, uint64_t place, uint64_t word)
{
    const uint64_t from_sp = place - seen->sp;
    if (count >= SEEN_WORDS || from_sp % sizeof word != 0 || from_sp / sizeof word > UINT16_MAX)
        return SEEN_WORDS + 1;
    seen->places[count] = (uint16_t)(from_sp / sizeof word);
    seen->words[count] = word;
    return count + 1;
}

/* seen_end - all of its words are there. */
static inline void seen_end(struct seen *seen, uint32_t count)
{
    if (count == 0 || count > SEEN_WORDS)
        return;
    for (; count % SEEN_GROUP != 0; count++) {
        seen->places[count] = seen->places[count - 1];
        seen->words[count] = seen->words[count - 1];
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    seen->count = (uint16_t)count;
}

#endif

/* turns.c - a ring of ready threads, and waiting ones found by what they wait for. */
#include "convert/import/import.h"

#include <stdlib.h>
#include <string.h>

#include "convert/ops/live_table.h"

#define NOBODY UINT32_MAX

bool conv_turns_init(struct conv_turns *turns, uint32_t thread_count, uint64_t sync_max)
{
    size_t buckets = 16;
    while (buckets < thread_count)
        buckets *= 2;
    *turns = (struct conv_turns){
        .thread_count = thread_count,
        .ready = malloc(thread_count * sizeof *turns->ready),
        .ready_count = thread_count,
        .waits = malloc(thread_count * sizeof *turns->waits),
        .buckets = malloc(buckets * sizeof *turns->buckets),
        .bucket_mask = buckets - 1,
        .seed = conv_seed(),
        .given = calloc((size_t)(sync_max / 8 + 1), 1),
    };
    if (turns->ready == NULL || turns->waits == NULL || turns->buckets == NULL || turns->given == NULL)
        return false;
    memset(turns->buckets, 0xff, buckets * sizeof *turns->buckets); /* NOBODY */
    for (uint32_t i = 0; i < thread_count; i++)
        turns->ready[i] = i;
    return true;
}

void conv_turns_release(struct conv_turns *turns)
{
    free(turns->ready);
    free(turns->waits);
    free(turns->buckets);
    free(turns->given);
    *turns = (struct conv_turns){0};
}

bool conv_turns_next(struct conv_turns *turns, uint32_t *ret_thread)
{
    if (turns->ready_count == 0)
        return false;
    *ret_thread = turns->ready[turns->ready_begin];
    turns->ready_begin = (turns->ready_begin + 1) % turns->thread_count;
    turns->ready_count--;
    return true;
}

void conv_turns_again(struct conv_turns *turns, uint32_t thread)
{
    turns->ready[((uint64_t)turns->ready_begin + turns->ready_count++) % turns->thread_count] = thread;
}

/* The seed keeps files from filling one bucket; the order within a sync does not depend on it. */
static uint32_t *bucket_of(struct conv_turns *turns, uint64_t sync)
{
    return &turns->buckets[conv_mix(sync, turns->seed) & turns->bucket_mask];
}

void conv_turns_give(struct conv_turns *turns, uint64_t sync)
{
    uint32_t *link = bucket_of(turns, sync);
    turns->given[sync / 8] |= (uint8_t)(1u << sync % 8);
    while (*link != NOBODY) {
        const uint32_t thread = *link;
        struct conv_turn_wait *wait = &turns->waits[thread];
        if (wait->sync == sync) {
            *link = wait->next;
            conv_turns_again(turns, thread);
        } else {
            link = &wait->next;
        }
    }
}

bool conv_turns_wait(struct conv_turns *turns, uint32_t thread, uint64_t sync)
{
    uint32_t *bucket;
    if ((turns->given[sync / 8] >> sync % 8 & 1) != 0)
        return true;
    bucket = bucket_of(turns, sync);
    turns->waits[thread] = (struct conv_turn_wait){.sync = sync, .next = *bucket};
    *bucket = thread;
    return false;
}

/* collect_queue.c - queues of chunks, and their ranks. */
#include "shim/collect/collect_queue.h"

static void leave_list(struct collector *collector, struct collect_stream *stream)
{
    struct stream_list *list = &collector->waiting[stream->rank - 1];
    if (stream->before != NULL)
        stream->before->behind = stream->behind;
    else
        list->first = stream->behind;
    if (stream->behind != NULL)
        stream->behind->before = stream->before;
    else
        list->last = stream->before;
    stream->before = stream->behind = NULL;
    stream->rank = 0;
}

static void join_list(struct collector *collector, struct collect_stream *stream, uint32_t rank)
{
    struct stream_list *list = &collector->waiting[rank - 1];
    stream->rank = rank;
    stream->before = list->last;
    if (list->last != NULL)
        list->last->behind = stream;
    else
        list->first = stream;
    list->last = stream;
}

/* A queue that begins with a later chunk waits for what is missing. */
static uint32_t rank_of(const struct collector *collector, const struct collect_stream *stream)
{
    if (stream->queue_length == 0 ||
        collector->chunks[stream->queue_first - 1].sequence != stream->next_chunk)
        return 0;
    return stream->is_left || stream->queue_length > COLLECT_CHUNKS_PER_BLOCK ? COLLECT_CHUNKS_PER_BLOCK
                                                                              : stream->queue_length;
}

static void rank_anew(struct collector *collector, struct collect_stream *stream)
{
    const uint32_t rank = rank_of(collector, stream);
    if (rank == stream->rank)
        return;
    if (stream->rank != 0)
        leave_list(collector, stream);
    if (rank != 0)
        join_list(collector, stream, rank);
}

void queue_insert(struct collector *collector, struct collect_stream *stream, uint32_t index,
                  uint64_t sequence, bool left)
{
    struct taken_chunk *chunks = collector->chunks;
    uint32_t before = stream->queue_last; /* nearly always: chunks come in their order */
    if (before != 0 && chunks[before - 1].sequence > sequence) {
        before = 0;
        for (uint32_t at = stream->queue_first; chunks[at - 1].sequence <= sequence; at = chunks[at - 1].next)
            before = at;
    }
    chunks[index] = (struct taken_chunk){.sequence = sequence,
                                         .next = before != 0 ? chunks[before - 1].next : stream->queue_first,
                                         .taken = true};
    if (before != 0)
        chunks[before - 1].next = index + 1;
    else
        stream->queue_first = index + 1;
    if (before == stream->queue_last) {
        stream->queue_last = index + 1;
        stream->is_left = left;
    }
    stream->queue_length++;
    collector->taken_chunks++;
    rank_anew(collector, stream);
}

void queue_drop(struct collector *collector, struct collect_stream *stream, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct taken_chunk *chunk = &collector->chunks[stream->queue_first - 1];
        stream->queue_first = chunk->next;
        *chunk = (struct taken_chunk){0};
    }
    if (stream->queue_first == 0)
        stream->queue_last = 0;
    stream->queue_length -= count;
    collector->taken_chunks -= count;
    rank_anew(collector, stream);
}

struct collect_stream *queue_longest(const struct collector *collector, uint32_t least)
{
    for (uint32_t rank = COLLECT_CHUNKS_PER_BLOCK; rank >= least; rank--)
        if (collector->waiting[rank - 1].first != NULL)
            return collector->waiting[rank - 1].first;
    return NULL;
}

void queue_skip(struct collector *collector, struct collect_stream *stream)
{
    stream->next_chunk = collector->chunks[stream->queue_first - 1].sequence;
    rank_anew(collector, stream);
}

/* ids.h - which object id an allocation gets: one rule, followed by the writer and found again by the reader.
 *
 * Private to footprint/. docs/format.md, "Object ids", states the rule:
 *   1. the id that this thread released last in this window and that is not yet taken again,
 *   2. else the top of the pool of ids released in earlier windows,
 *   3. else the next id never used.
 * At a window's end the lists of the threads that released in it, in the order of their first
 * release, go on top of the pool. So an id never changes threads within a window, and reuse needs no wait.
 *
 * Storage is the caller's, because the reader may not use malloc. */
#ifndef MALLAB_FOOTPRINT_WL_IDS_H
#define MALLAB_FOOTPRINT_WL_IDS_H

#include <stdbool.h>
#include <stdint.h>

#define IDS_LIVE UINT32_MAX

struct ids_thread {
    uint32_t head, tail; /* list of released ids, newest first; head 0: empty */
    uint32_t touched;    /* number of the window, plus 1, in which the thread is on the touched list */
};

struct ids {
    uint32_t *next;    /* by id: IDS_LIVE, or the next released id, 0 at a list's end */
    uint32_t capacity; /* highest id that next has room for */
    uint32_t used;     /* highest id given out so far */
    uint32_t pool;
    uint32_t window;
    struct ids_thread *threads;
    uint32_t *touched; /* room for as many as there are threads */
    uint32_t touched_count;
};

/* ids_take - an id for an allocation by thread; 0 when all are in use up to the capacity. */
static inline uint32_t ids_take(struct ids *ids, uint32_t thread)
{
    struct ids_thread *own = &ids->threads[thread];
    uint32_t id = own->head;
    if (id != 0) {
        own->head = ids->next[id];
    } else if (ids->pool != 0) {
        id = ids->pool;
        ids->pool = ids->next[id];
    } else {
        if (ids->used >= ids->capacity)
            return 0;
        id = ++ids->used;
    }
    ids->next[id] = IDS_LIVE;
    return id;
}

static inline bool ids_is_live(const struct ids *ids, uint32_t id)
{
    return id != 0 && id <= ids->used && ids->next[id] == IDS_LIVE;
}

/* ids_give - a release; the id must be live. */
static inline void ids_give(struct ids *ids, uint32_t thread, uint32_t id)
{
    struct ids_thread *own = &ids->threads[thread];
    if (own->touched != ids->window + 1) {
        own->touched = ids->window + 1;
        ids->touched[ids->touched_count++] = thread;
    }
    if (own->head == 0)
        own->tail = id;
    ids->next[id] = own->head;
    own->head = id;
}

/* ids_end_window - move what was released to the pool. */
static inline void ids_end_window(struct ids *ids)
{
    for (uint32_t i = 0; i < ids->touched_count; i++) {
        struct ids_thread *own = &ids->threads[ids->touched[i]];
        if (own->head == 0)
            continue;
        ids->next[own->tail] = ids->pool;
        ids->pool = own->head;
        own->head = 0;
    }
    ids->touched_count = 0;
    ids->window++;
}

#endif

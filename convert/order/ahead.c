/* ahead.c - the thread that decodes, and the places where it leaves what it decoded. */
#include "convert/order/ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "footprint/base/helper.h"

enum state {
    EMPTY = 0,
    WANTED,
    UNDER_WAY, /* the thread's */
    DECODED,
    FAILED,
};

struct place {
    enum state state;
    struct fp_reader *reader;
    size_t index;
    struct fp_block_buffer buffer;
    struct fp_block block;
};

struct conv_ahead {
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t change;
    struct place places[CONV_AHEAD_BLOCKS];
    bool working; /* the thread decodes: readers are its own */
    bool held;    /* readers are the caller's */
    bool stopping;
};

static struct place *next_wanted(struct conv_ahead *ahead)
{
    for (unsigned i = 0; i < CONV_AHEAD_BLOCKS && !ahead->held; i++)
        if (ahead->places[i].state == WANTED)
            return &ahead->places[i];
    return NULL;
}

static void *serve(void *data)
{
    struct conv_ahead *ahead = data;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->stopping) {
        struct place *place = next_wanted(ahead);
        enum fp_status status;
        if (place == NULL) {
            pthread_cond_wait(&ahead->change, &ahead->lock);
            continue;
        }
        place->state = UNDER_WAY;
        ahead->working = true;
        pthread_mutex_unlock(&ahead->lock);
        status = fp_reader_block(place->reader, place->index, &place->buffer, &place->block);
        pthread_mutex_lock(&ahead->lock);
        place->state = status == FP_OK ? DECODED : FAILED;
        ahead->working = false;
        pthread_cond_broadcast(&ahead->change);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

struct conv_ahead *conv_ahead_start(void)
{
    struct conv_ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL)
        return NULL;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->change, NULL);
    if (fp_helper_start(&ahead->thread, serve, ahead))
        return ahead;
    pthread_cond_destroy(&ahead->change);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
    return NULL;
}

/* To be called locked. */
static struct place *find(struct conv_ahead *ahead, const struct fp_reader *reader, size_t index)
{
    for (unsigned i = 0; i < CONV_AHEAD_BLOCKS; i++) {
        struct place *place = &ahead->places[i];
        if (place->state != EMPTY && place->reader == reader && place->index == index)
            return place;
    }
    return NULL;
}

static void let_go(struct conv_ahead *ahead)
{
    ahead->held = false;
    pthread_cond_broadcast(&ahead->change);
}

void conv_ahead_want(struct conv_ahead *ahead, struct fp_reader *reader, size_t index)
{
    if (ahead == NULL)
        return;
    pthread_mutex_lock(&ahead->lock);
    for (unsigned i = 0; i < CONV_AHEAD_BLOCKS; i++) {
        struct place *place = &ahead->places[i];
        if (place->state != EMPTY)
            continue;
        place->state = WANTED;
        place->reader = reader;
        place->index = index;
        break;
    }
    let_go(ahead);
    pthread_mutex_unlock(&ahead->lock);
}

/* To be called locked. Whether the block was decoded ahead; its place is empty afterwards in any case. */
static bool fetch(struct conv_ahead *ahead, const struct fp_reader *reader, size_t index,
                  struct fp_block_buffer *buffer, struct fp_block *ret_block)
{
    struct place *place = find(ahead, reader, index);
    bool decoded;
    if (place == NULL)
        return false;
    while (place->state == UNDER_WAY)
        pthread_cond_wait(&ahead->change, &ahead->lock);
    decoded = place->state == DECODED;
    if (decoded) {
        const struct fp_block_buffer given = *buffer;
        *buffer = place->buffer;
        place->buffer = given;
        *ret_block = place->block;
    }
    place->state = EMPTY;
    return decoded;
}

enum fp_status conv_ahead_block(struct conv_ahead *ahead, struct fp_reader *reader, size_t index,
                                struct fp_block_buffer *buffer, struct fp_block *ret_block)
{
    enum fp_status status;
    if (ahead == NULL)
        return fp_reader_block(reader, index, buffer, ret_block);
    pthread_mutex_lock(&ahead->lock);
    if (fetch(ahead, reader, index, buffer, ret_block)) {
        let_go(ahead);
        pthread_mutex_unlock(&ahead->lock);
        return FP_OK;
    }
    ahead->held = true;
    while (ahead->working)
        pthread_cond_wait(&ahead->change, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
    status = fp_reader_block(reader, index, buffer, ret_block);
    if (status != FP_OK)
        return status; /* the error is the caller's to read: still held */
    pthread_mutex_lock(&ahead->lock);
    let_go(ahead);
    pthread_mutex_unlock(&ahead->lock);
    return FP_OK;
}

void conv_ahead_stop(struct conv_ahead *ahead)
{
    if (ahead == NULL)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->stopping = true;
    pthread_cond_broadcast(&ahead->change);
    pthread_mutex_unlock(&ahead->lock);
    (void)pthread_join(ahead->thread, NULL); /* it is ours and joinable */
    for (unsigned i = 0; i < CONV_AHEAD_BLOCKS; i++)
        fp_block_buffer_release(&ahead->places[i].buffer);
    pthread_cond_destroy(&ahead->change);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}

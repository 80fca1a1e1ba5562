/* wl_pack.c - the thread that packs windows. */
#include "footprint/wl/wl_pack.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/helper.h"

struct wl_pack {
    pthread_t thread;
    pthread_mutex_t lock; /* of all below; file and job belong to the thread while `busy` */
    pthread_cond_t change;
    bool busy, stopping;
    enum fp_status status;
    struct wl_file *file;
    int level;
    struct block_header header;
    struct bytes columns[WINDOW_COLUMNS];
    ZSTD_CCtx *context;
    struct bytes packed;
};

enum fp_status wl_pack_window(struct wl_file *file, struct block_header *header,
                              const struct bytes columns[WINDOW_COLUMNS], ZSTD_CCtx *context, int level,
                              struct bytes *packed)
{
    struct column raw[WINDOW_COLUMNS];
    enum fp_status status;
    for (int i = 0; i < WINDOW_COLUMNS; i++)
        raw[i] = (struct column){columns[i].at, columns[i].size};
    status = block_pack(header, raw, WINDOW_COLUMNS, context, level, packed);
    if (status == FP_OK)
        return wl_file_append(file, packed->at, packed->size);
    file->error = fp_error_make(status, 0, file->bytes, "cannot pack a window");
    return status;
}

static void *serve(void *data)
{
    struct wl_pack *pack = data;
    pthread_mutex_lock(&pack->lock);
    for (;;) {
        enum fp_status status;
        while (!pack->busy && !pack->stopping)
            pthread_cond_wait(&pack->change, &pack->lock);
        if (!pack->busy)
            break;
        pthread_mutex_unlock(&pack->lock);
        status = wl_pack_window(pack->file, &pack->header, pack->columns, pack->context, pack->level,
                                &pack->packed);
        pthread_mutex_lock(&pack->lock);
        if (pack->status == FP_OK)
            pack->status = status;
        pack->busy = false;
        pthread_cond_signal(&pack->change);
    }
    pthread_mutex_unlock(&pack->lock);
    return NULL;
}

static void pack_free(struct wl_pack *pack)
{
    for (int i = 0; i < WINDOW_COLUMNS; i++)
        bytes_release(&pack->columns[i]);
    bytes_release(&pack->packed);
    ZSTD_freeCCtx(pack->context);
    free(pack);
}

struct wl_pack *wl_pack_start(struct wl_file *file, int level, const struct bytes columns[WINDOW_COLUMNS])
{
    struct wl_pack *pack = calloc(1, sizeof *pack);
    bool whole = true;
    if (pack == NULL)
        return NULL;
    pack->file = file;
    pack->level = level;
    for (int i = 0; i < WINDOW_COLUMNS && whole; i++)
        whole = bytes_reserve(&pack->columns[i], columns[i].capacity);
    pack->context = whole ? ZSTD_createCCtx() : NULL;
    if (pack->context != NULL) {
        pthread_mutex_init(&pack->lock, NULL);
        pthread_cond_init(&pack->change, NULL);
        if (fp_helper_start(&pack->thread, serve, pack))
            return pack;
        pthread_cond_destroy(&pack->change);
        pthread_mutex_destroy(&pack->lock);
    }
    pack_free(pack);
    return NULL;
}

static enum fp_status wait_locked(struct wl_pack *pack)
{
    while (pack->busy)
        pthread_cond_wait(&pack->change, &pack->lock);
    return pack->status;
}

enum fp_status wl_pack_take(struct wl_pack *pack, const struct block_header *header,
                            struct bytes columns[WINDOW_COLUMNS])
{
    enum fp_status status;
    pthread_mutex_lock(&pack->lock);
    status = wait_locked(pack);
    if (status == FP_OK) {
        for (int i = 0; i < WINDOW_COLUMNS; i++) {
            const struct bytes given = columns[i];
            columns[i] = pack->columns[i];
            pack->columns[i] = given;
        }
        pack->header = *header;
        pack->busy = true;
        pthread_cond_signal(&pack->change);
    }
    pthread_mutex_unlock(&pack->lock);
    return status;
}

enum fp_status wl_pack_wait(struct wl_pack *pack)
{
    enum fp_status status;
    if (pack == NULL)
        return FP_OK;
    pthread_mutex_lock(&pack->lock);
    status = wait_locked(pack);
    pthread_mutex_unlock(&pack->lock);
    return status;
}

void wl_pack_stop(struct wl_pack *pack)
{
    if (pack == NULL)
        return;
    pthread_mutex_lock(&pack->lock);
    (void)wait_locked(pack); /* whoever asks was told by wl_pack_wait */
    pack->stopping = true;
    pthread_cond_signal(&pack->change);
    pthread_mutex_unlock(&pack->lock);
    (void)pthread_join(pack->thread, NULL); /* it is ours and joinable */
    pthread_cond_destroy(&pack->change);
    pthread_mutex_destroy(&pack->lock);
    pack_free(pack);
}

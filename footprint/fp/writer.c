/* writer.c - append blocks to a footprint, so that what stands in the file is always whole blocks. */
#include "footprint/fp/footprint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "footprint/base/blockio.h"
#include "footprint/base/trusted.h"
#include "footprint/fp/columns.h"
#include "footprint/fp/site_model.h"
#include "footprint/fp/usage.h"

/* A size limit leaves this much for the usage, the trailer and its lane table. */
#define TRAILER_RESERVE    8192u
#define ZSTD_LEVEL_DEFAULT 1

struct fp_writer {
    int fd;
    int level;
    uint64_t bytes; /* whole blocks in the file */
    uint64_t size_limit;
    ZSTD_CCtx *context;
    struct bytes packed;
    /* The model of sites stands behind a block of this lane, `chain` of which went on from each other; false: behind none. */
    struct site_model *model;
    bool model_stands;
    uint32_t model_lane, chain;
    uint64_t model_next;
    struct node_model *nodes; /* behind the last block of nodes, where they `stand` */
    bool nodes_stand;
    struct fp_error error;
};

static enum fp_status fail(struct fp_writer *writer, enum fp_status status, int sys_errno, const char *what)
{
    writer->error = fp_error_make(status, sys_errno, writer->bytes, what);
    return status;
}

/* Append all bytes or none: a block cut by a full disk is taken back. */
static enum fp_status append(struct fp_writer *writer, const uint8_t *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t written = pwrite(writer->fd, bytes + done, size - done, (off_t)(writer->bytes + done));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            const int sys_errno = written < 0 ? errno : ENOSPC;
            (void)!ftruncate(writer->fd, (off_t)writer->bytes); /* a reader stops at the torn block anyway */
            return fail(writer, FP_ERR_WRITE, sys_errno, "cannot write");
        }
        done += (size_t)written;
    }
    writer->bytes += size;
    return FP_OK;
}

static enum fp_status pack_and_append(struct fp_writer *writer, struct block_header *header,
                                      const struct column *columns, unsigned column_count)
{
    enum fp_status status = block_pack(header, columns, column_count, writer->context, writer->level,
                                       &writer->packed);
    if (status != FP_OK)
        return fail(writer, status, 0, "cannot pack a block");
    if (writer->size_limit > 0 && header->type == BLOCK_MARKS &&
        writer->bytes + writer->packed.size + TRAILER_RESERVE > writer->size_limit)
        return fail(writer, FP_ERR_LIMIT, 0, "size limit reached");
    return append(writer, writer->packed.at, writer->packed.size);
}

static enum fp_status write_head(struct fp_writer *writer, const struct fp_writer_options *options,
                                 const struct fp_meta *meta, size_t meta_count)
{
    uint8_t header[FILE_HEADER_BYTES] = {0};
    struct block_header block = {.type = BLOCK_META};
    struct bytes text = {0};
    enum fp_status status = meta_encode(meta, meta_count, &text);
    if (status != FP_OK)
        fail(writer, status, 0, "meta data cannot be stored");
    put_u32(header + 16, options->process_id);
    put_u32(header + 20, FP_TIME_UNIT_NS);
    put_u64(header + 24, options->start_unix_ns);
    file_header_seal(header, "MALLABFP", FP_VERSION);
    if (status == FP_OK)
        status = append(writer, header, sizeof header);
    if (status == FP_OK)
        status = pack_and_append(writer, &block, &(struct column){text.at, text.size}, 1);
    bytes_release(&text);
    return status;
}

/* A writer without a file. NULL, with ret_error filled: no memory. */
static struct fp_writer *make_writer(const struct fp_writer_options *options, struct fp_error *ret_error)
{
    struct fp_writer *writer = calloc(1, sizeof *writer);
    ZSTD_CCtx *context = writer != NULL ? ZSTD_createCCtx() : NULL;
    if (context == NULL) {
        free(writer);
        (void)fp_error_tell(fp_error_make(FP_ERR_MEMORY, 0, 0, "no memory for a writer"), ret_error);
        return NULL;
    }
    writer->fd = -1;
    writer->level = options->zstd_level != 0 ? options->zstd_level : ZSTD_LEVEL_DEFAULT;
    writer->size_limit = options->size_limit_bytes;
    writer->context = context;
    return writer;
}

static enum fp_status hand_out(struct fp_writer *writer, enum fp_status status, struct fp_error *ret_error,
                               struct fp_writer **ret_writer)
{
    if (status == FP_OK) {
        *ret_writer = writer;
        return FP_OK;
    }
    (void)fp_error_tell(writer->error, ret_error);
    fp_writer_abandon(writer);
    return status;
}

enum fp_status fp_writer_create(int directory_fd, const char *path, const struct fp_writer_options *options,
                                const struct fp_meta *meta, size_t meta_count, struct fp_error *ret_error,
                                struct fp_writer **ret_writer)
{
    struct fp_writer *writer = make_writer(options, ret_error);
    enum fp_status status;
    if (writer == NULL)
        return FP_ERR_MEMORY;
    writer->fd = openat(directory_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (writer->fd < 0 && errno == EEXIST)
        status = fail(writer, FP_ERR_EXISTS, 0, "exists already");
    else if (writer->fd < 0)
        status = fail(writer, FP_ERR_OPEN, errno, "cannot create");
    else
        status = write_head(writer, options, meta, meta_count);
    if (status != FP_OK && writer->fd >= 0)
        (void)unlinkat(directory_fd, path, 0); /* ours, and without its head it is no footprint */
    return hand_out(writer, status, ret_error, ret_writer);
}

enum fp_status fp_writer_resume(int directory_fd, const char *path, const struct fp_writer_options *options,
                                uint64_t whole_bytes, struct fp_error *ret_error,
                                struct fp_writer **ret_writer)
{
    struct fp_writer *writer = make_writer(options, ret_error);
    enum fp_status status = FP_OK;
    if (writer == NULL)
        return FP_ERR_MEMORY;
    writer->bytes = whole_bytes;
    writer->fd = fp_trusted_open(directory_fd, path, S_IFREG, FP_TRUSTED_SHARE, &writer->error);
    if (writer->fd < 0)
        status = writer->error.status;
    else if (ftruncate(writer->fd, (off_t)whole_bytes) != 0)
        status = fail(writer, FP_ERR_WRITE, errno, "cannot cut off a half block");
    return hand_out(writer, status, ret_error, ret_writer);
}

/* Go on with the model, where the block before is the same lane's, or begin anew: chain is 0 then. */
static bool begin_sites(struct fp_writer *writer, uint32_t lane, uint64_t sequence)
{
    if (writer->model == NULL)
        writer->model = calloc(1, sizeof *writer->model);
    if (writer->model == NULL)
        return false;
    if (writer->model_stands && writer->model_lane == lane && writer->model_next == sequence &&
        writer->chain + 1 < MARKS_CHAIN_MOST) {
        writer->chain++;
    } else {
        site_model_begin(writer->model);
        writer->chain = 0;
    }
    writer->model_lane = lane;
    writer->model_next = sequence + 1;
    return true;
}

enum fp_status fp_writer_columns(struct fp_writer *writer, struct fp_columns *columns, uint32_t lane,
                                 uint64_t sequence)
{
    struct block_header header;
    struct column ready[MARKS_COLUMNS_MOST];
    if (columns->mark_count == 0 || lane >= FP_LANES_MAX)
        return fail(writer, FP_ERR_ARGUMENT, 0, "cannot encode a block");
    if (columns->sited && !begin_sites(writer, lane, sequence))
        return fail(writer, FP_ERR_MEMORY, 0, "no memory for the model of sites");
    columns_finish(columns, writer->model, lane, sequence, &header, ready);
    if (columns->sited && writer->chain > 0)
        header.flags |= MARKS_FLAG_CONTINUES;
    const enum fp_status status = pack_and_append(writer, &header, ready,
                                                  columns->sited ? MARKS_COLUMNS_MOST : MARKS_COLUMNS);
    writer->model_stands = columns->sited && status == FP_OK;
    return status;
}

uint64_t fp_writer_bytes(const struct fp_writer *writer)
{
    return writer->bytes;
}

const struct fp_error *fp_writer_error(const struct fp_writer *writer)
{
    return &writer->error;
}

/* A block that could be encoded is appended. what: it could not. */
static enum fp_status append_encoded(struct fp_writer *writer, enum fp_status encoded,
                                     struct block_header *header, const struct column *columns,
                                     unsigned column_count, const char *what)
{
    return encoded == FP_OK ? pack_and_append(writer, header, columns, column_count)
                            : fail(writer, encoded, 0, what);
}

enum fp_status fp_writer_usage(struct fp_writer *writer, const struct fp_usage *usage)
{
    struct block_header header;
    struct column columns[USAGE_COLUMNS];
    struct bytes text = {0}, series = {0};
    enum fp_status status = usage_encode(usage, &text, &series, &header, columns);
    status = append_encoded(writer, status, &header, columns, USAGE_COLUMNS, "a usage cannot be stored");
    bytes_release(&series);
    bytes_release(&text);
    return status;
}

enum fp_status fp_writer_sites(struct fp_writer *writer, const struct fp_site_entry *nodes, size_t count)
{
    struct block_header header;
    struct column column;
    struct bytes memory = {0};
    enum fp_status status = FP_ERR_MEMORY;
    if (writer->nodes == NULL)
        writer->nodes = node_model_make();
    if (writer->nodes != NULL)
        status = sites_encode(writer->nodes, !writer->nodes_stand, nodes, count, &memory, &header, &column);
    status = append_encoded(writer, status, &header, &column, 1, "stacks cannot be stored");
    writer->nodes_stand = status == FP_OK;
    bytes_release(&memory);
    return status;
}

enum fp_status fp_writer_modules(struct fp_writer *writer, const struct fp_module *modules, size_t count)
{
    struct block_header header;
    struct column column;
    struct bytes memory = {0};
    enum fp_status status = modules_encode(modules, count, &memory, &header, &column);
    status = append_encoded(writer, status, &header, &column, 1, "modules cannot be stored");
    bytes_release(&memory);
    return status;
}

static enum fp_status write_trailer(struct fp_writer *writer, const struct fp_trailer *trailer)
{
    struct block_header header = {.type = BLOCK_TRAILER,
                                  .flags = (trailer->ran_on ? TRAILER_FLAG_RAN_ON : 0) |
                                           (trailer->uncounted ? TRAILER_FLAG_UNCOUNTED : 0),
                                  .count = trailer->lane_count};
    const size_t room = ((size_t)trailer->lane_count * 3 + FP_LOSS_COUNT + 3) * VARINT_BYTES_MAX;
    uint8_t *column = malloc(room);
    uint8_t *at = column;
    enum fp_status status;
    if (column == NULL)
        return fail(writer, FP_ERR_MEMORY, 0, "no memory for the trailer");
    at = put_varint(at, trailer->end_time_ns);
    at = put_varint(at, FP_LOSS_COUNT);
    for (int i = 0; i < FP_LOSS_COUNT; i++)
        at = put_varint(at, trailer->lost[i]);
    at = put_varint(at, trailer->lane_count);
    for (uint32_t i = 0; i < trailer->lane_count; i++) {
        at = put_varint(at, trailer->lanes[i].thread_id);
        at = put_varint(at, trailer->lanes[i].is_main);
        at = put_varint(at, trailer->lanes[i].marks);
    }
    status = pack_and_append(writer, &header, &(struct column){column, (size_t)(at - column)}, 1);
    free(column);
    return status;
}

enum fp_status fp_writer_finish(struct fp_writer *writer, const struct fp_trailer *trailer,
                                struct fp_error *ret_error)
{
    enum fp_status status = write_trailer(writer, trailer);
    if (status == FP_OK && close(writer->fd) != 0)
        status = fail(writer, FP_ERR_WRITE, errno, "cannot close");
    else if (status != FP_OK)
        (void)close(writer->fd); /* the first error is the one to tell */
    writer->fd = -1;
    if (status != FP_OK && ret_error != NULL)
        *ret_error = writer->error;
    fp_writer_abandon(writer);
    return status;
}

void fp_writer_abandon(struct fp_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->fd >= 0)
        (void)close(writer->fd); /* whole blocks were written; nothing is buffered */
    ZSTD_freeCCtx(writer->context);
    bytes_release(&writer->packed);
    free(writer->model);
    node_model_free(writer->nodes);
    free(writer);
}

/* reader.c - open a footprint, index its blocks, decode them one at a time. */
#include "footprint/fp/footprint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "footprint/base/arrays.h"
#include "footprint/base/blockio.h"
#include "footprint/base/bytes.h"
#include "footprint/base/trusted.h"
#include "footprint/fp/columns.h"
#include "footprint/fp/site_model.h"
#include "footprint/fp/usage.h"

struct fp_reader {
    int fd;
    struct fp_reader_info info;
    struct fp_block_entry *blocks;
    size_t blocks_capacity;
    struct fp_lane *lanes;
    struct fp_usage usage;    /* once info.usage is set */
    struct sites_store sites; /* likewise info.sites */
    char *meta_text;
    struct fp_meta meta[META_COUNT_MAX];
    struct bytes payload, scratch;
    struct site_model *model; /* of sites, once a block has some; behind the block before `model_at` */
    size_t model_at;
    bool has_sites;               /* some block */
    struct fp_block_buffer chain; /* of blocks that were read for what the model learns of them */
    ZSTD_DCtx *context;
    struct fp_error error;
};

static enum fp_status fail(struct fp_reader *reader, enum fp_status status, int sys_errno, uint64_t offset,
                           const char *what)
{
    reader->error = fp_error_make(status, sys_errno, offset, what);
    return status;
}

/* Read exactly size bytes; an end of file inside them is FP_ERR_TRUNCATED. */
static enum fp_status read_at(struct fp_reader *reader, uint64_t offset, void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(reader->fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(reader, FP_ERR_READ, errno, offset + done, "cannot read");
        if (got == 0)
            return fail(reader, FP_ERR_TRUNCATED, 0, offset, "the file ends inside a block");
        done += (size_t)got;
    }
    return FP_OK;
}

/* Read and unpack the payload of a block whose columns may hold raw_max bytes. */
static enum fp_status unpack_at(struct fp_reader *reader, uint64_t offset, const struct block_header *header,
                                size_t raw_max, struct column *ret_columns, unsigned column_count)
{
    const char *what = NULL;
    size_t within = 0;
    enum fp_status status;
    if (!bytes_reserve(&reader->payload, header->payload_bytes) ||
        !bytes_reserve(&reader->scratch, raw_max + 1)) /* empty columns, too, stand somewhere */
        return fail(reader, FP_ERR_MEMORY, 0, offset, "no memory for a block");
    status = read_at(reader, offset + BLOCK_HEADER_BYTES, reader->payload.at, header->payload_bytes);
    if (status != FP_OK)
        return status;
    status = block_unpack(header, reader->payload.at, column_count, reader->context, reader->scratch.at,
                          raw_max, ret_columns, &within, &what);
    if (status != FP_OK)
        return fail(reader, status, 0, offset + BLOCK_HEADER_BYTES + within, what);
    return FP_OK;
}

static enum fp_status read_meta(struct fp_reader *reader, uint64_t offset, const struct block_header *header)
{
    struct column column;
    const enum fp_status status = unpack_at(reader, offset, header, META_BYTES_MAX, &column, 1);
    if (status != FP_OK)
        return status;
    if (reader->meta_text != NULL)
        return fail(reader, FP_ERR_CORRUPT, 0, offset, "a second meta block");
    reader->meta_text = malloc(column.size + 1);
    if (reader->meta_text == NULL)
        return fail(reader, FP_ERR_MEMORY, 0, offset, "no memory for meta data");
    memcpy(reader->meta_text, column.bytes, column.size);
    if (!meta_parse(reader->meta_text, column.size, reader->meta, &reader->info.meta_count))
        return fail(reader, FP_ERR_CORRUPT, 0, offset, "meta data is not of the form key=value");
    reader->info.meta = reader->meta;
    return FP_OK;
}

static enum fp_status read_trailer(struct fp_reader *reader, uint64_t offset,
                                   const struct block_header *header)
{
    struct fp_trailer trailer = {0};
    struct cursor cursor;
    struct column column;
    uint64_t loss_count;
    enum fp_status status;
    if (header->count > FP_LANES_MAX)
        return fail(reader, FP_ERR_CORRUPT, 0, offset, "more lanes than the format allows");
    status = unpack_at(reader, offset, header, ((size_t)header->count * 3 + 67) * VARINT_BYTES_MAX, &column,
                       1);
    if (status != FP_OK)
        return status;
    cursor = column_cursor(&column);
    trailer.end_time_ns = get_varint(&cursor);
    loss_count = get_varint(&cursor);
    for (uint64_t i = 0; i < loss_count && !cursor.bad; i++) {
        const uint64_t lost = get_varint(&cursor);
        /* Causes of a later minor revision are not lost, they are added to the first. */
        trailer.lost[i < FP_LOSS_COUNT ? i : 0] += lost;
    }
    if (cursor.bad || get_varint(&cursor) != header->count)
        return fail(reader, FP_ERR_CORRUPT, 0, offset, "the trailer is damaged");
    free(reader->lanes); /* of a trailer that a scan before refused */
    reader->lanes = calloc((size_t)header->count + 1, sizeof *reader->lanes);
    if (reader->lanes == NULL)
        return fail(reader, FP_ERR_MEMORY, 0, offset, "no memory for the trailer");
    for (uint32_t i = 0; i < header->count; i++) {
        reader->lanes[i].thread_id = (uint32_t)get_varint(&cursor);
        reader->lanes[i].is_main = get_varint(&cursor) != 0;
        reader->lanes[i].marks = get_varint(&cursor);
    }
    if (!cursor_done(&cursor) || header->count < reader->info.lane_count)
        return fail(reader, FP_ERR_CORRUPT, 0, offset, "the trailer is damaged");
    trailer.lane_count = header->count;
    trailer.lanes = reader->lanes;
    trailer.ran_on = (header->flags & TRAILER_FLAG_RAN_ON) != 0;
    trailer.uncounted = (header->flags & TRAILER_FLAG_UNCOUNTED) != 0;
    reader->info.trailer = trailer;
    reader->info.has_trailer = true;
    reader->info.lane_count = header->count;
    return FP_OK;
}

/* A collector that was killed behind one leaves it to the next one to write another. */
static enum fp_status read_usage(struct fp_reader *reader, uint64_t offset, const struct block_header *header)
{
    struct column columns[USAGE_COLUMNS];
    struct fp_usage usage;
    const char *what = NULL;
    enum fp_status status = unpack_at(reader, offset, header, USAGE_SCRATCH_BYTES_MAX, columns,
                                      USAGE_COLUMNS);
    if (status != FP_OK)
        return status;
    status = usage_decode(header, (char *)reader->scratch.at, columns[USAGE_TEXT].size,
                          &columns[USAGE_SERIES], &usage, &what); /* the text is first in there */
    if (status != FP_OK)
        return fail(reader, status, 0, offset, what);
    if (reader->info.usage != NULL)
        fp_usage_release(&reader->usage);
    reader->usage = usage;
    reader->info.usage = &reader->usage;
    return FP_OK;
}

static enum fp_status read_sites(struct fp_reader *reader, uint64_t offset, const struct block_header *header)
{
    const size_t most = stacks_scratch_bytes(header);
    struct column column;
    const char *what = NULL;
    enum fp_status status;
    if (most == 0)
        return fail(reader, FP_ERR_CORRUPT, 0, offset, "block header is beyond the format's limits");
    status = unpack_at(reader, offset, header, most, &column, 1);
    if (status != FP_OK)
        return status;
    status = stacks_decode(header, &column, &reader->sites, &what);
    reader->info.sites = &reader->sites.stacks.sites;
    return status != FP_OK ? fail(reader, status, 0, offset, what) : FP_OK;
}

static enum fp_status add_block(struct fp_reader *reader, uint64_t offset, const struct block_header *header)
{
    struct fp_reader_info *info = &reader->info;
    if (header->count == 0 || header->count > FP_BLOCK_MARKS_MAX || header->lane >= FP_LANES_MAX)
        return fail(reader, FP_ERR_CORRUPT, 0, offset, "block header is beyond the format's limits");
    if (!FP_GROW(reader->blocks, reader->blocks_capacity, info->block_count + 1))
        return fail(reader, FP_ERR_MEMORY, 0, offset, "no memory for the index of blocks");
    const bool has_sites = marks_column_count(header) == MARKS_COLUMNS_MOST;
    reader->has_sites |= has_sites;
    reader->blocks[info->block_count++] = (struct fp_block_entry){
        .offset = offset,
        .lane = header->lane,
        .mark_count = header->count,
        .sequence = header->sequence,
        .base_epoch = header->base,
        .continues = has_sites && (header->flags & MARKS_FLAG_CONTINUES) != 0,
    };
    info->blocks = reader->blocks;
    info->mark_count += header->count;
    if (header->lane >= info->lane_count)
        info->lane_count = header->lane + 1;
    return FP_OK;
}

/* Tells whether only zeroes are left: after a machine stopped, a file may have its length and not its last data. */
static bool zeroes_to_the_end(struct fp_reader *reader, uint64_t offset)
{
    uint8_t bytes[4096];
    while (offset < reader->info.file_bytes) {
        const uint64_t rest = reader->info.file_bytes - offset;
        const size_t size = rest < sizeof bytes ? (size_t)rest : sizeof bytes;
        if (read_at(reader, offset, bytes, size) != FP_OK)
            return false;
        for (size_t i = 0; i < size; i++)
            if (bytes[i] != 0)
                return false;
        offset += size;
    }
    return true;
}

static enum fp_status scan_block(struct fp_reader *reader, uint64_t offset, uint64_t *ret_next)
{
    uint8_t bytes[BLOCK_HEADER_BYTES];
    struct block_header header;
    const char *what = NULL;
    enum fp_status status = read_at(reader, offset, bytes, sizeof bytes);
    if (status != FP_OK)
        return status;
    status = block_header_parse(bytes, &header, &what);
    if (status != FP_OK && zeroes_to_the_end(reader, offset))
        return fail(reader, FP_ERR_TRUNCATED, 0, offset, "nothing but zeroes follows");
    if (status != FP_OK)
        return fail(reader, status, 0, offset, what);
    *ret_next = offset + BLOCK_HEADER_BYTES + header.payload_bytes;
    if (*ret_next > reader->info.file_bytes)
        return fail(reader, FP_ERR_TRUNCATED, 0, offset, "the file ends inside a block");
    switch (header.type) {
    case BLOCK_META:
        return read_meta(reader, offset, &header);
    case BLOCK_MARKS:
        return add_block(reader, offset, &header);
    case BLOCK_USAGE:
        return read_usage(reader, offset, &header);
    case BLOCK_SITES:
    case BLOCK_MODULES:
        return read_sites(reader, offset, &header);
    case BLOCK_TRAILER:
        return read_trailer(reader, offset, &header);
    default:
        return FP_OK; /* an unknown type of the same version carries nothing that order needs */
    }
}

static void scan_blocks(struct fp_reader *reader)
{
    uint64_t offset = FILE_HEADER_BYTES;
    while (!reader->info.has_trailer) {
        if (offset == reader->info.file_bytes) {
            fail(reader, FP_ERR_TRUNCATED, 0, offset, "the file ends before its trailer");
            break;
        }
        if (scan_block(reader, offset, &offset) != FP_OK)
            break;
    }
    if (!reader->info.has_trailer)
        reader->info.tail_error = reader->error;
    else if (offset != reader->info.file_bytes)
        reader->info.tail_error = fp_error_make(FP_ERR_CORRUPT, 0, offset, "bytes follow the trailer");
}

static enum fp_status read_head(struct fp_reader *reader)
{
    uint8_t header[FILE_HEADER_BYTES];
    struct stat stat;
    enum fp_status status;
    if (fstat(reader->fd, &stat) != 0)
        return fail(reader, FP_ERR_READ, errno, 0, "cannot read");
    reader->info.file_bytes = (uint64_t)stat.st_size;
    if (stat.st_size < (off_t)sizeof header) {
        uint8_t magic[8];
        if (stat.st_size >= 8 && read_at(reader, 0, magic, sizeof magic) == FP_OK &&
            memcmp(magic, "MALLABFP", 8) == 0)
            status = fail(reader, FP_ERR_TRUNCATED, 0, 0, "the file ends inside its header");
        else
            status = fail(reader, FP_ERR_FOREIGN, 0, 0, "not a mallab footprint");
        reader->error.no_header = true;
        return status;
    }
    status = read_at(reader, 0, header, sizeof header);
    if (status != FP_OK)
        return status;
    status = file_header_check(header, "MALLABFP", FP_VERSION, &reader->error);
    if (status != FP_OK)
        return status;
    reader->info.version = get_u16(header + 8);
    reader->info.process_id = get_u32(header + 16);
    reader->info.start_unix_ns = get_u64(header + 24);
    if (get_u32(header + 20) != FP_TIME_UNIT_NS)
        return fail(reader, FP_ERR_CORRUPT, 0, 20, "the unit of time is not one of this version");
    return FP_OK;
}

/* A file that is cut short or damaged is no failure of the scan. */
static enum fp_status scan(struct fp_reader *reader)
{
    scan_blocks(reader);
    if (!reader->info.has_trailer &&
        (reader->error.status == FP_ERR_MEMORY || reader->error.status == FP_ERR_READ))
        return reader->error.status;
    return FP_OK;
}

enum fp_status fp_reader_open(const char *path, struct fp_error *ret_error, struct fp_reader **ret_reader)
{
    return fp_reader_open_at(AT_FDCWD, path, ret_error, ret_reader);
}

enum fp_status fp_reader_open_at(int directory_fd, const char *path, struct fp_error *ret_error,
                                 struct fp_reader **ret_reader)
{
    struct fp_reader *reader = calloc(1, sizeof *reader);
    enum fp_status status;
    if (reader == NULL)
        return fp_error_tell(fp_error_make(FP_ERR_MEMORY, 0, 0, "no memory for a reader"), ret_error);
    reader->model_at = SIZE_MAX;
    reader->context = ZSTD_createDCtx();
    reader->fd = fp_trusted_open(directory_fd, path, S_IFREG, FP_TRUSTED_READ, &reader->error);
    if (reader->fd < 0)
        status = reader->error.status;
    else if (reader->context == NULL)
        status = fail(reader, FP_ERR_MEMORY, 0, 0, "no memory for a decompressor");
    else
        status = read_head(reader);
    if (status == FP_OK)
        status = scan(reader);
    if (status != FP_OK) {
        (void)fp_error_tell(reader->error, ret_error);
        fp_reader_close(reader);
        return status;
    }
    *ret_reader = reader;
    return FP_OK;
}

const struct fp_reader_info *fp_reader_info(const struct fp_reader *reader)
{
    return &reader->info;
}

const char *fp_reader_meta(const struct fp_reader *reader, const char *key)
{
    return meta_find(reader->meta, reader->info.meta_count, key);
}

uint64_t fp_reader_meta_number(const struct fp_reader *reader, const char *key)
{
    const char *value = fp_reader_meta(reader, key);
    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

/* Decode a block with the model as it stands; NULL: its sites are lost. */
static enum fp_status decode_block(struct fp_reader *reader, size_t index, struct site_model *model,
                                   struct fp_block_buffer *buffer, struct fp_block *ret_block)
{
    const uint64_t offset = reader->blocks[index].offset;
    uint8_t bytes[BLOCK_HEADER_BYTES];
    struct column columns[MARKS_COLUMNS_MOST];
    struct block_header header;
    const char *what = NULL;
    enum fp_status status;
    status = read_at(reader, offset, bytes, sizeof bytes);
    if (status != FP_OK)
        return status;
    status = block_header_parse(bytes, &header, &what);
    /* The file may have changed since the scan: what was checked then is checked again. */
    if (status == FP_OK && (header.type != BLOCK_MARKS || header.count != reader->blocks[index].mark_count)) {
        status = FP_ERR_CORRUPT;
        what = "the file changed while it was read";
    }
    if (status != FP_OK)
        return fail(reader, status, 0, offset, what);
    status = unpack_at(reader, offset, &header, marks_scratch_bytes(header.count), columns,
                       marks_column_count(&header));
    if (status != FP_OK)
        return status;
    status = marks_decode(&header, columns, model, buffer, ret_block, &what);
    if (status != FP_OK)
        return fail(reader, status, 0, offset + BLOCK_HEADER_BYTES, what);
    return FP_OK;
}

/* The first of the blocks that a block's model goes on from; `index` itself where it is begun anew, index + 1 where one is missing. */
static size_t chain_begin(const struct fp_reader *reader, size_t index)
{
    const struct fp_block_entry *blocks = reader->blocks;
    size_t first = index;
    while (blocks[first].continues) {
        if (first == 0 || index - first + 1 >= MARKS_CHAIN_MOST ||
            blocks[first - 1].lane != blocks[first].lane ||
            blocks[first - 1].sequence + 1 != blocks[first].sequence)
            return index + 1;
        first--;
    }
    return first;
}

/* Bring the model to where a block needs it. Blocks of a lane are read in their order, mostly: then it is there. Returns false where
 * a block is damaged that it needs. */
static bool prepare_model(struct fp_reader *reader, size_t index)
{
    if (!reader->blocks[index].continues) {
        site_model_begin(reader->model);
        return true;
    }
    const size_t first = chain_begin(reader, index);
    struct fp_block block;
    if (first > index)
        return false;
    if (reader->model_at == index)
        return true;
    site_model_begin(reader->model);
    for (size_t at = first; at < index; at++)
        if (decode_block(reader, at, reader->model, &reader->chain, &block) != FP_OK)
            return false;
    return true;
}

enum fp_status fp_reader_block(struct fp_reader *reader, size_t index, struct fp_block_buffer *buffer,
                               struct fp_block *ret_block)
{
    if (index >= reader->info.block_count)
        return fail(reader, FP_ERR_ARGUMENT, 0, 0, "no such block");
    if (!reader->has_sites)
        return decode_block(reader, index, NULL, buffer, ret_block);
    if (reader->model == NULL)
        reader->model = calloc(1, sizeof *reader->model);
    if (reader->model == NULL)
        return fail(reader, FP_ERR_MEMORY, 0, 0, "no memory for sites");
    const bool stands = prepare_model(reader, index);
    const enum fp_status status = decode_block(reader, index, stands ? reader->model : NULL, buffer,
                                               ret_block);
    reader->model_at = stands && status == FP_OK ? index + 1 : SIZE_MAX;
    return status;
}

const struct fp_error *fp_reader_error(const struct fp_reader *reader)
{
    return &reader->error;
}

void fp_block_buffer_release(struct fp_block_buffer *buffer)
{
    free(buffer->marks);
    free(buffer->shapes);
    free(buffer->stamps);
    free(buffer->sites);
    *buffer = (struct fp_block_buffer){0};
}

void fp_reader_close(struct fp_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->fd >= 0)
        (void)close(reader->fd); /* only read from */
    ZSTD_freeDCtx(reader->context);
    bytes_release(&reader->payload);
    bytes_release(&reader->scratch);
    fp_block_buffer_release(&reader->chain);
    free(reader->model);
    free(reader->blocks);
    free(reader->lanes);
    free(reader->meta_text);
    fp_usage_release(&reader->usage);
    sites_release(&reader->sites);
    free(reader);
}

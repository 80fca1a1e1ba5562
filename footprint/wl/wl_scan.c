/* wl_scan.c - the frame of a workload: its header and footer, and the header of every block between them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "footprint/base/bytes.h"
#include "footprint/base/memory_bound.h"
#include "footprint/wl/wl_reader.h"
#include "footprint/wl/wl_touched.h"

static enum fp_status map_file(struct wl_opening *opening, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat = {0};
    void *file = NULL;
    enum fp_status status = FP_OK;
    if (fd < 0) {
        opening->error = fp_error_make(FP_ERR_OPEN, errno, 0, "cannot open");
        return FP_ERR_OPEN;
    }
    if (fstat(fd, &stat) != 0 || S_ISDIR(stat.st_mode)) {
        opening->error = fp_error_make(FP_ERR_READ, S_ISDIR(stat.st_mode) ? EISDIR : errno, 0, "cannot read");
        status = FP_ERR_READ;
    } else if (!S_ISREG(stat.st_mode)) {
        status = wl_fail(&opening->error, FP_ERR_READ, 0,
                         "not a regular file: save the pipe to a file first");
    } else if (stat.st_size < 8) {
        status = wl_fail(&opening->error, FP_ERR_FOREIGN, 0, "not a mallab workload");
    } else {
        file = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file == MAP_FAILED) {
            opening->error = fp_error_make(FP_ERR_READ, errno, 0, "cannot map");
            status = FP_ERR_READ;
        }
    }
    (void)close(fd); /* only read from; the mapping stays */
    if (status == FP_OK) {
        opening->file = file;
        opening->file_bytes = (size_t)stat.st_size;
        fp_memory_input(opening->file_bytes);
    }
    return status;
}

static enum fp_status check_header(struct wl_opening *opening)
{
    if (opening->file_bytes < FILE_HEADER_BYTES + WORKLOAD_FOOTER_BYTES) {
        if (memcmp(opening->file, "MALLABWL", 8) == 0)
            return wl_fail(&opening->error, FP_ERR_TRUNCATED, opening->file_bytes,
                           "the file ends before its summary");
        return wl_fail(&opening->error, FP_ERR_FOREIGN, 0, "not a mallab workload");
    }
    if (file_header_check(opening->file, "MALLABWL", WL_VERSION, &opening->error) != FP_OK)
        return opening->error.status;
    opening->version = get_u16(opening->file + 8);
    if (get_u32(opening->file + 16) != FP_TIME_UNIT_NS || get_u32(opening->file + 20) != WL_TIME_STRIDE)
        return wl_fail(&opening->error, FP_ERR_CORRUPT, 16, "units are not those of this version");
    return FP_OK;
}

static enum fp_status find_summary(struct wl_opening *opening)
{
    const size_t at = opening->file_bytes - WORKLOAD_FOOTER_BYTES;
    const uint8_t *footer = opening->file + at;
    const uint64_t offset = get_u64(footer + 8);
    if (memcmp(footer, WORKLOAD_FOOTER_MAGIC, 8) != 0 || get_u64(footer + 16) != XXH64(footer, 16, 0))
        return wl_fail(&opening->error, FP_ERR_TRUNCATED, at, "the file ends before its summary");
    if (offset < FILE_HEADER_BYTES || offset > at)
        return wl_fail(&opening->error, FP_ERR_CORRUPT, at + 8, "the footer points outside the file");
    opening->summary_at = (size_t)offset;
    return FP_OK;
}

enum fp_status wl_scan_block(const uint8_t *file, size_t offset, size_t end, struct block_header *ret_header,
                             struct fp_error *error)
{
    const char *what = NULL;
    enum fp_status status;
    if (end - offset < BLOCK_HEADER_BYTES)
        return wl_fail(error, FP_ERR_CORRUPT, offset, "no block begins here");
    status = block_header_parse(file + offset, ret_header, &what);
    if (status != FP_OK)
        return wl_fail(error, status, offset, what);
    if (ret_header->payload_bytes > end - offset - BLOCK_HEADER_BYTES)
        return wl_fail(error, FP_ERR_CORRUPT, offset, "a block reaches into the next part");
    return FP_OK;
}

static void chain_digest(struct wl_opening *opening, const struct block_header *header)
{
    const uint64_t chain[2] = {htole64(opening->digest), htole64(header->payload_hash)};
    opening->digest = XXH64(chain, sizeof chain, 0);
}

/* Blocks of shares follow the windows, and each is full but the last: so their number is bounded as their shares are. */
static bool scan_touched(struct wl_opening *opening, const struct block_header *header)
{
    if (opening->version < 2 || header->count == 0 || header->count > TOUCHED_BLOCK_MAX ||
        opening->touched_count % TOUCHED_BLOCK_MAX != 0 ||
        header->sequence != opening->touched_count / TOUCHED_BLOCK_MAX ||
        header->count > WL_TOUCHED_MAX - opening->touched_count ||
        header->count > opening->ops - opening->touched_count)
        return false;
    opening->touched_count += header->count;
    if (header->count > opening->touched_block_max)
        opening->touched_block_max = header->count;
    return true;
}

/* Walk all block headers: the windows follow each other without gaps, and their sizes and checksums are known
 * before anything is decoded. */
static enum fp_status scan_blocks(struct wl_opening *opening)
{
    const size_t end = opening->file_bytes - WORKLOAD_FOOTER_BYTES;
    size_t at = FILE_HEADER_BYTES;
    struct block_header header;
    enum fp_status status = wl_scan_block(opening->file, at, opening->summary_at, &header, &opening->error);
    if (status != FP_OK)
        return status;
    if (header.type != BLOCK_META)
        return wl_fail(&opening->error, FP_ERR_CORRUPT, at, "the first block does not hold meta data");
    opening->meta_header = header;
    opening->meta_at = at;
    at += BLOCK_HEADER_BYTES + header.payload_bytes;
    opening->first_window = at;
    opening->windows_end = at;
    while (at < opening->summary_at) {
        status = wl_scan_block(opening->file, at, opening->summary_at, &header, &opening->error);
        if (status != FP_OK)
            return status;
        if (header.type == BLOCK_TOUCHED) {
            if (!scan_touched(opening, &header))
                return wl_fail(&opening->error, FP_ERR_CORRUPT, at, "shares of objects are out of order");
            chain_digest(opening, &header);
            at += BLOCK_HEADER_BYTES + header.payload_bytes;
            continue;
        }
        if (opening->touched_count > 0 || header.type != BLOCK_WINDOW || header.count == 0 ||
            header.count > WL_WINDOW_OPS_MAX || header.sequence != opening->windows ||
            header.base != opening->ops)
            return wl_fail(&opening->error, FP_ERR_CORRUPT, at, "a window is out of order");
        opening->windows++;
        opening->ops += header.count;
        if (header.count > opening->window_ops_max)
            opening->window_ops_max = header.count;
        chain_digest(opening, &header);
        at += BLOCK_HEADER_BYTES + header.payload_bytes;
        opening->windows_end = at;
    }
    status = wl_scan_block(opening->file, at, end, &opening->summary_header, &opening->error);
    if (status != FP_OK)
        return status;
    if (opening->summary_header.type != BLOCK_SUMMARY || opening->summary_header.count > WL_THREADS_MAX ||
        at + BLOCK_HEADER_BYTES + opening->summary_header.payload_bytes != end)
        return wl_fail(&opening->error, FP_ERR_CORRUPT, at, "the summary is damaged");
    /* Few made no call that is an op; a small file must not claim memory for a million. */
    if (opening->summary_header.count > opening->ops + WL_THREADS_IDLE)
        return wl_fail(&opening->error, FP_ERR_CORRUPT, at,
                       "it names more threads than it has ops, and 65,536 besides");
    return FP_OK;
}

enum fp_status wl_scan(struct wl_opening *opening, const char *path)
{
    enum fp_status status = map_file(opening, path);
    if (status == FP_OK)
        status = check_header(opening);
    if (status == FP_OK)
        status = find_summary(opening);
    return status == FP_OK ? scan_blocks(opening) : status;
}

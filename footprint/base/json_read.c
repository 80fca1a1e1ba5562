/* json_read.c - see json_read.h. */
#include "footprint/base/json_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define FIRST_BYTES 65536u

/* zstd's frames, RFC 8878. A window is allocated as the frame says: what `zstd -19` makes has no larger one. */
static const unsigned char ZSTD_MAGIC[] = {0x28, 0xb5, 0x2f, 0xfd};
#define WINDOW_LOG_MAX 23

/* Bytes that jansson 2.14 and glibc's malloc take for each, rounded up: an object with its first table, an array with its
 * first slots, a pair of an object besides its key. */
#define OBJECT_BYTES 256u
#define ARRAY_BYTES  128u
#define PAIR_BYTES   96u

/* The text's last byte is jansson's. */
__attribute__((format(printf, 3, 4))) static enum fp_status refuse(json_error_t *error, enum fp_status status,
                                                                   const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error->text, sizeof error->text - 1, format, list);
    va_end(list);
    return status;
}

/* Estimate the memory that parsing will take, before it begins. The text need not be balanced: the parser finds damage. */
static enum fp_status weigh(const char *text, size_t size, uint64_t memory_max, json_error_t *error)
{
    uint64_t memory = size + FP_JSON_ELEMENT_BYTES;
    unsigned depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        switch (text[i]) {
        case '"':
            quoted = !quoted;
            continue;
        case '\\':
            i += quoted;
            continue;
        case '{':
        case '[':
            memory += quoted ? 0 : text[i] == '{' ? OBJECT_BYTES : ARRAY_BYTES;
            depth += !quoted;
            break;
        case '}':
        case ']':
            depth -= !quoted && depth > 0;
            continue;
        case ':':
        case ',':
            memory += quoted ? 0 : text[i] == ':' ? PAIR_BYTES : FP_JSON_ELEMENT_BYTES;
            break;
        default:
            continue;
        }
        if (depth > FP_JSON_DEPTH_MAX)
            return refuse(error, FP_ERR_LIMIT, "its values are nested more than %u deep", FP_JSON_DEPTH_MAX);
        if (memory > memory_max)
            return refuse(error, FP_ERR_LIMIT, "its values take more than %llu MiB of memory",
                          (unsigned long long)(memory_max >> 20));
    }
    return FP_OK;
}

/* Twice the room, up to one byte more than is allowed. */
static bool grow(char **text, size_t *room, uint64_t text_max)
{
    const uint64_t most = text_max + 1, wanted = *room == 0 ? FIRST_BYTES : (uint64_t)*room * 2;
    const size_t more = (size_t)(wanted < most ? wanted : most);
    char *grown = realloc(*text, more);
    if (grown == NULL)
        return false;
    *text = grown;
    *room = more;
    return true;
}

/* text_max + 1 bytes at most: one more than allowed tells that there are too many. */
static enum fp_status read_all(int fd, uint64_t text_max, char **text, size_t *ret_size, json_error_t *error)
{
    size_t size = 0, room = 0;
    for (;;) {
        ssize_t got;
        if (size == room && !grow(text, &room, text_max))
            return refuse(error, FP_ERR_MEMORY, "no memory for its text");
        got = read(fd, *text + size, room - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse(error, FP_ERR_READ, "cannot be read behind byte %zu", size);
        if (got == 0)
            break;
        size += (size_t)got;
        if (size > text_max)
            return refuse(error, FP_ERR_LIMIT, "it is larger than %llu KiB",
                          (unsigned long long)(text_max >> 10));
    }
    *ret_size = size;
    return FP_OK;
}

/* Decompress until there is no more, or more than is allowed. The frames before the last are whole. */
static enum fp_status inflate(ZSTD_DCtx *context, ZSTD_inBuffer *in, uint64_t text_max, char **text,
                              size_t *ret_size, json_error_t *error)
{
    size_t room = 0, size = 0, left = 1;
    for (bool more = true; more;) {
        if (size == room && !grow(text, &room, text_max))
            return refuse(error, FP_ERR_MEMORY, "no memory for its text");
        ZSTD_outBuffer out = {*text, room, size};
        left = ZSTD_decompressStream(context, &out, in);
        if (ZSTD_isError(left))
            return refuse(error, FP_ERR_CORRUPT, "damaged: zstd says %s", ZSTD_getErrorName(left));
        more = in->pos < in->size || (left != 0 && out.pos == room);
        size = out.pos;
        if (size > text_max)
            return refuse(error, FP_ERR_LIMIT, "it is larger than %llu KiB",
                          (unsigned long long)(text_max >> 10));
    }
    *ret_size = size;
    return left == 0 ? FP_OK : refuse(error, FP_ERR_CORRUPT, "its compressed text is cut off");
}

/* A compressed text becomes what it holds. */
static enum fp_status unpack(uint64_t text_max, char **text, size_t *size, json_error_t *error)
{
    if (*size < sizeof ZSTD_MAGIC || memcmp(*text, ZSTD_MAGIC, sizeof ZSTD_MAGIC) != 0)
        return FP_OK;
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {*text, *size, 0};
    char *packed = *text;
    *text = NULL;
    enum fp_status status = context == NULL ? refuse(error, FP_ERR_MEMORY, "no memory to decompress it")
                                            : FP_OK;
    if (status == FP_OK && ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
        status = refuse(error, FP_ERR_MEMORY, "zstd takes no bound of its memory");
    if (status == FP_OK)
        status = inflate(context, &in, text_max, text, size, error);
    (void)ZSTD_freeDCtx(context); /* it returns no error */
    free(packed);
    return status;
}

enum fp_status fp_json_text(int fd, uint64_t text_max, char **ret_text, size_t *ret_size,
                            json_error_t *ret_error)
{
    memset(ret_error, 0, sizeof *ret_error);
    *ret_text = NULL;
    enum fp_status status = read_all(fd, text_max, ret_text, ret_size, ret_error);
    if (status == FP_OK)
        status = unpack(text_max, ret_text, ret_size, ret_error);
    return status;
}

enum fp_status fp_json_parse(const char *text, size_t size, const struct fp_json_bound *bound,
                             json_t **ret_root, json_error_t *ret_error)
{
    const enum fp_status status = weigh(text, size, bound->memory_bytes, ret_error);
    json_t *root = status == FP_OK ? json_loadb(text, size, JSON_REJECT_DUPLICATES, ret_error) : NULL;
    if (root != NULL)
        *ret_root = root;
    return status == FP_OK && root == NULL ? FP_ERR_CORRUPT : status;
}

enum fp_status fp_json_read(int fd, json_t **ret_root, json_error_t *ret_error)
{
    static const struct fp_json_bound bound = FP_JSON_BOUND;
    json_error_t own = {0}, *error = ret_error != NULL ? ret_error : &own;
    char *text;
    size_t size = 0;
    enum fp_status status = fp_json_text(fd, bound.text_bytes, &text, &size, error);
    const int saved = errno;
    if (status == FP_OK)
        status = fp_json_parse(text, size, &bound, ret_root, error);
    free(text);
    errno = saved;
    return status;
}

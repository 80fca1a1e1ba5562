/* text.h - lines of a text input, plain or compressed, from a file or standard input (libarchive).
 *
 * gzip, bzip2, xz, zstd, and zip with one member are unpacked on the way. Memory is one buffer: a line
 * longer than CONV_LINE_BYTES_MAX is an error. Offsets count bytes of the unpacked text. */
#ifndef MALLAB_CONVERT_TEXT_H
#define MALLAB_CONVERT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/convert.h"

#define CONV_LINE_BYTES_MAX 1024u

struct conv_text;

struct conv_line {
    const char *at; /* without line end and carriage return; not terminated */
    size_t length;
    uint64_t number; /* from 1 */
    uint64_t offset;
    bool has_end; /* false: the text ends without a newline here */
};

/* conv_text_open - open path, "-" for standard input. ret_text is the caller's: conv_text_close.
 * Returns FP_OK; FP_ERR_OPEN, FP_ERR_READ, FP_ERR_CORRUPT (of a compressed form), FP_ERR_FOREIGN (empty, a
 * zip without a file), FP_ERR_MEMORY, with ret_error filled. */
enum fp_status conv_text_open(const char *path, struct conv_error *ret_error, struct conv_text **ret_text);

/* conv_text_peek - the text's first bytes, up to 4 KiB, before any line was taken. Valid until the next call. */
enum fp_status conv_text_peek(struct conv_text *text, struct conv_error *ret_error, const char **ret_bytes,
                              size_t *ret_size);

/* conv_text_line - the next line. ret_line is valid until the next call.
 * Returns FP_OK; FP_END; FP_ERR_READ, FP_ERR_CORRUPT (damaged archive, line too long), FP_ERR_FOREIGN (a
 * second file in the archive), with ret_error filled. */
enum fp_status conv_text_line(struct conv_text *text, struct conv_error *ret_error,
                              struct conv_line *ret_line);

/* conv_text_position - bytes read of the file as it stands on disk, for progress. */
uint64_t conv_text_position(const struct conv_text *text);

void conv_text_close(struct conv_text *text);

#endif

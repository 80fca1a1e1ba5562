/* text_input.h - lines or bytes of an input, plain or compressed, from a file or standard input (libarchive, zlib).
 *
 * gzip, bzip2, xz, zstd, and zip with one member are unpacked on the way. Memory is one buffer: a line
 * longer than CONV_LINE_BYTES_MAX is an error. Offsets count bytes of the unpacked text. Lines, bytes or
 * a spool: an input is read in one of these ways. */
#ifndef MALLAB_CONVERT_TEXT_TEXT_INPUT_H
#define MALLAB_CONVERT_TEXT_TEXT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "convert/base/error.h"
#include "convert/base/request.h"
#include "convert/base/unnamed_file.h"
#include "footprint/wl/workload.h"

/* ---- the bytes of a file or pipe, with gzip's packing taken off and its checksums heeded ------------
 *
 * libarchive unpacks gzip too, but looks neither at a member's checksum and length nor at what follows the last member;
 * zlib's own gzread takes what follows it for no part of the file, so a damaged second member would be lost in silence.
 * Several members make one text, as for gzip; zeroes behind them are padding. Private to convert/. */

struct conv_gunzip;

/* conv_gunzip_new - a reader of fd, which stays the caller's; what is not packed it hands on as it is. NULL: no memory. conv_gunzip_free
 * accepts NULL. */
struct conv_gunzip *conv_gunzip_new(int fd);
void conv_gunzip_free(struct conv_gunzip *gunzip);

/* conv_gunzip_read - the next bytes, valid until the next call.
 * Returns  their count; 0: there are no more, and conv_gunzip_damage tells whether that is the file's end; -1: reading
 *          failed, errno says why. */
ssize_t conv_gunzip_read(struct conv_gunzip *gunzip, const void **ret_bytes);

/* conv_gunzip_damage - what ended the bytes before their end, in a few words; NULL: nothing did. Static, or valid until
 * conv_gunzip_free. */
const char *conv_gunzip_damage(const struct conv_gunzip *gunzip);

/* conv_gunzip_is_packed - whether what was read is gzip; known from the first conv_gunzip_read on. */
bool conv_gunzip_is_packed(const struct conv_gunzip *gunzip);

/* conv_gunzip_position - bytes taken from fd. */
uint64_t conv_gunzip_position(const struct conv_gunzip *gunzip);

#define CONV_LINE_BYTES_MAX 32768u /* names of C++ functions, command lines */

struct conv_text;

struct conv_line {
    const char *at; /* without line end and carriage return; not terminated */
    size_t length;
    uint64_t number; /* from 1 */
    uint64_t offset;
    bool has_end; /* false: the text ends without a newline here */
    bool is_long; /* with conv_text_salvage: it is longer than CONV_LINE_BYTES_MAX, and length is 0 */
    bool goes_on; /* and this is not its first piece */
};

/* conv_text_open - open path, "-" for standard input. ret_text is the caller's: conv_text_close. Standard input of
 * which nothing was taken before it was closed is there again, from its beginning.
 * Returns FP_OK; FP_ERR_OPEN, FP_ERR_READ, FP_ERR_CORRUPT (of a compressed form), FP_ERR_FOREIGN (empty, a
 * zip without a file), FP_ERR_MEMORY, with ret_error filled. */
enum fp_status conv_text_open(const char *path, struct conv_error *ret_error, struct conv_text **ret_text);

/* conv_text_peek - the text's first bytes, up to 64 KiB, before any line was taken. Valid until the next call.
 * ret_whole   nothing follows them. */
enum fp_status conv_text_peek(struct conv_text *text, struct conv_error *ret_error, const char **ret_bytes,
                              size_t *ret_size, bool *ret_whole);

/* conv_text_line - the next line. ret_line is valid until the next call.
 * Returns FP_OK; FP_END; FP_ERR_READ, FP_ERR_CORRUPT (damaged archive, line too long), FP_ERR_READ too for a second
 * file in the archive, with ret_error filled. */
enum fp_status conv_text_line(struct conv_text *text, struct conv_error *ret_error,
                              struct conv_line *ret_line);

/* conv_text_salvage - from now on a line that is too long is skipped and told as such, and what cannot be unpacked is
 * the text's end: conv_text_damage then says why, in words of its own until close, and sets the offset; else it returns NULL. */
void conv_text_salvage(struct conv_text *text, bool salvage);
const char *conv_text_damage(const struct conv_text *text, uint64_t *ret_offset);

/* conv_text_offset - the offset of the next line in the unpacked bytes. */
uint64_t conv_text_offset(const struct conv_text *text);

/* conv_text_spool - all of it, before any was taken, in a file that can be read at any place (pread): the input's own
 * where it is a plain file, else one without a name in $TMPDIR, /var/tmp or /tmp, which goes with its descriptor.
 * ret_fd    the caller's to close.
 * Returns   FP_OK; as conv_text_line; FP_ERR_WRITE when the disk is full. */
enum fp_status conv_text_spool(struct conv_text *text, struct conv_error *ret_error, int *ret_fd,
                               uint64_t *ret_size);

/* conv_text_position - bytes read of the file as it stands on disk, for progress. */
uint64_t conv_text_position(const struct conv_text *text);

/* conv_text_size - bytes of that file; 0: unknown, as of a pipe. */
uint64_t conv_text_size(const struct conv_text *text);

void conv_text_close(struct conv_text *text);

/* ---- workloads as text (docs/importing.md), read back (workload_text.c). Private to convert/ ------------ */

#define CONV_TEXT_MAGIC "mallab-workload-text 1" /* the first line; the number changes with the grammar */
#define CONV_TEXT_NAME  "mallab-workload-text "

/* conv_temporary_text - make one of the workload text at in_path ("-": standard input; it may be compressed).
 * beside   in its directory, see conv_temporary_open.
 * options  window_ops and zstd_level go before those of the text; progress counts bytes.
 * Returns  FP_OK: close the descriptor after use; else FP_ERR_VERSION (of the text), FP_ERR_TRUNCATED (no line `end`),
 *          FP_ERR_CORRUPT with the line, those of conv_text_line and the writer, with error filled. Memory: 16 bytes for the
 *          highest object. */
enum fp_status conv_temporary_text(const char *in_path, const char *beside,
                                   const struct conv_options *options, struct conv_temporary *ret_temporary,
                                   struct conv_error *error);

#endif

/* gunzip.h - the bytes of a file or pipe, with gzip's packing taken off and its checksums heeded.
 *
 * libarchive unpacks gzip too, but looks neither at a member's checksum and length nor at what follows the last member;
 * zlib's own gzread takes what follows it for no part of the file, so a damaged second member would be lost in silence.
 * Several members make one text, as for gzip; zeroes behind them are padding. Private to convert/. */
#ifndef MALLAB_CONVERT_TEXT_GUNZIP_H
#define MALLAB_CONVERT_TEXT_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct conv_gunzip;

/* conv_gunzip_is_wanted - whether fd, where it can be read at any place, is packed by gzip; true also where it can be read
 * once only, as a pipe: conv_gunzip_read hands on as it is what is not packed. Takes nothing from fd. */
bool conv_gunzip_is_wanted(int fd);

/* conv_gunzip_new - a reader of fd, which stays the caller's. NULL: no memory. conv_gunzip_free accepts NULL. */
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

#endif

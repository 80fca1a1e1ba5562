/* words.h - numbers as people read them: the same in every table and message of mallab. No malloc.
 *
 * What was measured or counted is in decimal units: a kB is 1,000 bytes. KiB and the like are for what is a power of two by its nature:
 * classes of sizes, bounds, pages. */
#ifndef MALLAB_FOOTPRINT_BASE_WORDS_H
#define MALLAB_FOOTPRINT_BASE_WORDS_H

#include <stdint.h>

#define FP_TEXT_BYTES 32u /* room that ret_text needs */

/* fp_text_grouped - digits in groups of three: 1012345 becomes "1,012,345". Returns ret_text. */
char *fp_text_grouped(uint64_t number, char *ret_text);

/* FP_GROUPED - the same in room of its own, which lasts as long as the block that it stands in. */
#define FP_GROUPED(number) fp_text_grouped((number), (char[FP_TEXT_BYTES]){0})

/* fp_text_bytes - bytes in decimal units: "512 B", "61.2 MB", "612 MB". Returns ret_text. */
char *fp_text_bytes(double bytes, char *ret_text);

/* FP_BYTES - the same in room of its own, as FP_GROUPED. */
#define FP_BYTES(bytes) fp_text_bytes((bytes), (char[FP_TEXT_BYTES]){0})

#endif

/* words.h - numbers as people read them, the same in every table and message of mallab; text from files made fit for
 * a terminal, a table, a page. No malloc.
 *
 * What was measured or counted is in decimal units: a kB is 1,000 bytes. KiB and the like are for what is a power of
 * two by its nature: classes of sizes, bounds, pages.
 *
 * A name found in a file may hold what drives a terminal (escape sequences), what turns the rest of a line around
 * (bidirectional controls) or what nobody sees (zero widths, tags). All such becomes visible: \x1b for a byte that is a
 * control or no UTF-8, \u202e for a character. */
#ifndef MALLAB_FOOTPRINT_BASE_WORDS_H
#define MALLAB_FOOTPRINT_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FP_TEXT_BYTES 32u /* room that ret_text needs */

/* fp_has_ending - whether a text ends so, with something before it. */
bool fp_has_ending(const char *text, const char *ending);

/* fp_text_grouped - digits in groups of three: 1012345 becomes "1,012,345". Returns ret_text. */
char *fp_text_grouped(uint64_t number, char *ret_text);

/* FP_GROUPED - the same in room of its own, which lasts as long as the block that it stands in. */
#define FP_GROUPED(number) fp_text_grouped((number), (char[FP_TEXT_BYTES]){0})

/* fp_text_bytes - bytes in decimal units: "512 B", "61.2 MB", "612 MB". Returns ret_text. */
char *fp_text_bytes(double bytes, char *ret_text);

/* FP_BYTES - the same in room of its own, as FP_GROUPED. */
#define FP_BYTES(bytes) fp_text_bytes((bytes), (char[FP_TEXT_BYTES]){0})

/* Bytes that one byte of text becomes at most. */
#define FP_PLAIN_GROWTH 4u

/* fp_character_is_hidden - whether a character is one of them. */
bool fp_character_is_hidden(uint32_t character);

/* fp_text_character - bytes of the well-formed UTF-8 character that a terminated text begins with; 0: it begins with none. */
size_t fp_text_character(const char *text);

/* fp_text_plain - copy text with all such made visible.
 * ret_text  at most size bytes, terminated when size > 0; nothing is cut in its middle. FP_PLAIN_GROWTH for each byte of text
 *           and one more always suffice. It must not overlap text.
 * Returns   the copy's length. */
size_t fp_text_plain(const char *text, char *ret_text, size_t size);

#endif

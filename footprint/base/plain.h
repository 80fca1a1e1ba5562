/* plain.h - text from files made fit for people: a terminal, a table, a page. No malloc.
 *
 * A name found in a file may hold what drives a terminal (escape sequences), what turns the rest of a line around
 * (bidirectional controls) or what nobody sees (zero widths, tags). All such becomes visible: \x1b for a byte that is a
 * control or no UTF-8, \u202e for a character. */
#ifndef MALLAB_FOOTPRINT_BASE_PLAIN_H
#define MALLAB_FOOTPRINT_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that one byte of text becomes at most. */
#define FP_PLAIN_GROWTH 4u

/* fp_character_is_hidden - whether a character is one of them. */
bool fp_character_is_hidden(uint32_t character);

/* fp_text_plain - copy text with all such made visible.
 * ret_text  at most size bytes, terminated when size > 0; nothing is cut in its middle. FP_PLAIN_GROWTH for each byte of text
 *           and one more always suffice. It must not overlap text.
 * Returns   the copy's length. */
size_t fp_text_plain(const char *text, char *ret_text, size_t size);

#endif

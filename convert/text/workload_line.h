/* workload_line.h - a line of a workload text (docs/text.md), taken apart. Private to convert/. */
#ifndef MALLAB_CONVERT_TEXT_WORKLOAD_LINE_H
#define MALLAB_CONVERT_TEXT_WORKLOAD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/wl/workload.h"

/* The rest of a line; borrowed, not terminated. */
struct conv_words {
    const char *at, *end;
};

struct conv_word {
    const char *at;
    size_t length;
};

/* conv_next_word - the next word, parted by blanks; false at the line's end, and where a comment begins. */
bool conv_next_word(struct conv_words *words, struct conv_word *ret);
bool conv_word_is(const struct conv_word *word, const char *text);

/* conv_number_of - a decimal number up to most. conv_next_number - the next word as one. */
bool conv_number_of(const struct conv_word *word, uint64_t most, uint64_t *ret);
bool conv_next_number(struct conv_words *words, uint64_t most, uint64_t *ret);

/* conv_at_end - whether no word is left. Takes one where there is. */
bool conv_at_end(struct conv_words *words);

/* conv_parse_op - an op from its call on, to the line's end: every number is within the format's limits, the call takes
 * what is given. Returns NULL, or what is wrong (static). */
const char *conv_parse_op(struct conv_words *words, struct wl_op *ret);

#endif

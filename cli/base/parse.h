/* parse.h - reading a word of the command line: numbers, and the word that was probably meant. */
#ifndef MALLAB_CLI_BASE_PARSE_H
#define MALLAB_CLI_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* cli_parse_size - "4096", "64K", "1.5G" (times 1024) to bytes. Returns false for anything else, 0 and overflow.
 * cli_parse_duration - "90", "90s", "250ms", "5m", "8h", "2d" to nanoseconds; likewise.
 * cli_parse_percent - "12.5%" to a share, 0 .. 1.
 * cli_parse_count - a decimal number in least .. most. */
bool cli_parse_size(const char *text, uint64_t *ret_bytes);
bool cli_parse_duration(const char *text, uint64_t *ret_ns);
bool cli_parse_percent(const char *text, double *ret_share);
bool cli_parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *ret_count);

/* cli_draw_seed - a random one for who names none. */
#define CLI_SEED_BITS 53 /* of seeds that are named: a whole number in every JSON reader */
uint64_t cli_draw_seed(void);

/* ---- the nearest of the words that there are ---- */

#define CLI_SIMILAR_MAX 64u /* bytes of words that are compared; longer ones resemble nothing */

/* cli_similarity - how many letters must be put in, left out, replaced or swapped with the next to make one word of the other.
 * Returns SIZE_MAX when one is longer than CLI_SIMILAR_MAX.
 * Source  F. J. Damerau, "A technique for computer detection and correction of spelling errors", CACM 7 (1964); restricted:
 *         no letter is touched twice. */
size_t cli_similarity(const char *word, const char *other);

/* The nearest word so far. Zero-initialise. */
struct cli_similar {
    const char *word; /* NULL: none is near: a third of the letters may differ, one at least */
    size_t distance;
};

/* cli_similar_offer - a word that was meant, perhaps. Of equally near ones the first stays. offered is borrowed. */
void cli_similar_offer(struct cli_similar *similar, const char *typed, const char *offered);

#endif

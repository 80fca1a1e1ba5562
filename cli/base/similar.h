/* similar.h - what was meant by a word that is nothing: the nearest of those that there are. */
#ifndef MALLAB_CLI_BASE_SIMILAR_H
#define MALLAB_CLI_BASE_SIMILAR_H

#include <stdbool.h>
#include <stddef.h>

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

/* similar.c - distances between words. */
#include "cli/base/similar.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

size_t cli_similarity(const char *word, const char *other)
{
    /* Three rows of the matrix: that of this letter, of the one before, and of the one before that. */
    size_t rows[3][CLI_SIMILAR_MAX + 1];
    const size_t length = strlen(word), width = strlen(other);
    if (length > CLI_SIMILAR_MAX || width > CLI_SIMILAR_MAX)
        return SIZE_MAX;
    for (size_t column = 0; column <= width; column++)
        rows[0][column] = column;
    for (size_t row = 1; row <= length; row++) {
        size_t *now = rows[row % 3];
        const size_t *before = rows[(row + 2) % 3], *twice = rows[(row + 1) % 3];
        now[0] = row;
        for (size_t column = 1; column <= width; column++) {
            const bool equal = word[row - 1] == other[column - 1];
            now[column] = least(least(before[column], now[column - 1]) + 1, before[column - 1] + !equal);
            if (row > 1 && column > 1 && word[row - 1] == other[column - 2] &&
                word[row - 2] == other[column - 1])
                now[column] = least(now[column], twice[column - 2] + 1);
        }
    }
    return rows[length % 3][width];
}

void cli_similar_offer(struct cli_similar *similar, const char *typed, const char *offered)
{
    const size_t distance = cli_similarity(typed, offered);
    const size_t allowed = strlen(typed) / 3 > 1 ? strlen(typed) / 3 : 1;
    if (distance > allowed || (similar->word != NULL && distance >= similar->distance))
        return;
    similar->word = offered;
    similar->distance = distance;
}

/* lines.h - how wide a text is. */
#ifndef MALLAB_TESTS_LINES_H
#define MALLAB_TESTS_LINES_H

#include <string.h>

/* Bytes of the longest line. */
static inline size_t widest(const char *text)
{
    size_t most = 0;
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        most = length > most ? length : most;
        line += length + (line[length] != '\0');
    }
    return most;
}

#endif

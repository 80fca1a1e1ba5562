/* part_name.c - a footprint's name taken apart. */
#include "footprint/base/part_name.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"

#define WINDOW_DIGITS_MIN 4u
#define WINDOW_DIGITS_MAX 9u

bool fp_part_name(const char *name, size_t size, char *ret_stem, uint32_t *ret_window)
{
    const size_t length = strnlen(name, size);
    size_t stem, digits = 0;
    *ret_window = 0;
    if (length <= 3 || length >= size || name[0] == '.' || memchr(name, '/', length) != NULL ||
        memcmp(name + length - 3, ".fp", 3) != 0)
        return false;
    stem = length - 3;
    while (digits < stem && name[stem - 1 - digits] >= '0' && name[stem - 1 - digits] <= '9')
        digits++;
    if (digits >= WINDOW_DIGITS_MIN && digits <= WINDOW_DIGITS_MAX && digits + 2 < stem &&
        name[stem - digits - 1] == 'w' && name[stem - digits - 2] == '.') {
        *ret_window = (uint32_t)strtoul(name + stem - digits, NULL, 10);
        stem -= digits + 2;
    }
    memcpy(ret_stem, name, stem);
    ret_stem[stem] = '\0';
    return true;
}

void fp_part_stem(const char *name, size_t name_size, char *ret_stem, size_t size)
{
    const size_t whole = strnlen(name, name_size), length = whole < size ? whole : size - 1;
    memcpy(ret_stem, name, length);
    ret_stem[length] = '\0';
    for (size_t at = 0, bytes; at<length; at += bytes> 0 ? bytes : 1) {
        const unsigned char byte = (unsigned char)ret_stem[at];
        bytes = fp_text_character(ret_stem + at);
        if (bytes == 0 || byte < ' ' || byte == 127 || byte == '/' ||
            (at == 0 && (byte == '.' || byte == '-')))
            ret_stem[at] = '_';
    }
    if (length == 0)
        memcpy(ret_stem, "process", sizeof "process");
}

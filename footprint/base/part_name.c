/* part_name.c - a footprint's name taken apart. */
#include "footprint/base/part_name.h"

#include <stdlib.h>
#include <string.h>

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
    size_t length = 0;
    for (; length < name_size && name[length] != '\0' && length + 1 < size; length++) {
        const unsigned char byte = (unsigned char)name[length];
        const bool leads = length == 0 && (byte == '.' || byte == '-');
        ret_stem[length] = byte < ' ' || byte == 127 || byte == '/' || leads ? '_' : (char)byte;
    }
    ret_stem[length] = '\0';
    if (length == 0)
        memcpy(ret_stem, "process", sizeof "process");
}

/* words.c - numbers and names in words. */
#include "footprint/base/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *fp_text_grouped(uint64_t number, char *ret_text)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *out = ret_text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return ret_text;
}

char *fp_text_bytes(double bytes, char *ret_text)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;
    while ((bytes >= 999.5 || bytes <= -999.5) && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1000;
        unit++;
    }
    (void)snprintf(ret_text, FP_TEXT_BYTES,
                   unit == 0 || bytes >= 99.95 || bytes <= -99.95 ? "%.0f %s" : "%.1f %s", bytes,
                   units[unit]);
    return ret_text;
}

/* ---- text from files -------------------------------------------------------------------------- */

/* Unicode 15: controls, format characters that direct or hide (Bidi_Control, Default_Ignorable_Code_Point), line and
 * paragraph separators, noncharacters that XML refuses. Variation selectors belong to emoji and stay. */
static const struct {
    uint32_t first, last;
} HIDDEN[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},     {0x34f, 0x34f},   {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
    {0xfffe, 0xffff}, {0xe0000, 0xe0fff},
};

static bool is_hidden(uint32_t character)
{
    for (size_t i = 0; i < sizeof HIDDEN / sizeof HIDDEN[0] && HIDDEN[i].first <= character; i++)
        if (character <= HIDDEN[i].last)
            return true;
    return (character & 0xfffe) == 0xfffe;
}

/* Bytes of the well-formed UTF-8 sequence that begins here, 0 when malformed (RFC 3629, section 4). */
static size_t decode(const unsigned char *bytes, uint32_t *ret_character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char lead = bytes[0];
    const size_t length = lead < 0x80                   ? 1
                          : lead >= 0xc0 && lead < 0xe0 ? 2
                          : lead >= 0xe0 && lead < 0xf0 ? 3
                          : lead >= 0xf0 && lead < 0xf8 ? 4
                                                        : 0;
    uint32_t character = length < 2 ? lead : lead & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) /* the end of the text as well */
            return 0;
        character = character << 6 | (bytes[i] & 0x3fu);
    }
    if (length == 0 || character < least[length] || character > 0x10ffff ||
        (character >= 0xd800 && character < 0xe000))
        return 0;
    *ret_character = character;
    return length;
}

size_t fp_text_plain(const char *text, char *ret_text, size_t size)
{
    size_t at = 0;
    if (size == 0)
        return 0;
    while (*text != '\0') {
        char shown[16];
        uint32_t character = 0;
        size_t length = decode((const unsigned char *)text, &character), shown_length;
        if (length == 0)
            shown_length = (size_t)snprintf(shown, sizeof shown, "\\x%02x", (unsigned char)*text);
        else if (!is_hidden(character))
            memcpy(shown, text, shown_length = length);
        else if (length == 1)
            shown_length = (size_t)snprintf(shown, sizeof shown, "\\x%02x", character);
        else
            shown_length = (size_t)snprintf(shown, sizeof shown, "\\u%04x", character);
        if (at + shown_length >= size)
            break;
        memcpy(ret_text + at, shown, shown_length);
        at += shown_length;
        text += length > 0 ? length : 1;
    }
    ret_text[at] = '\0';
    return at;
}

void fp_text_more(char *text, size_t size, const char *between, const char *format, ...)
{
    const size_t used = strlen(text), at = used + (used > 0 ? strlen(between) : 0);
    va_list list;
    if (at >= size)
        return;
    memcpy(text + used, between, at - used);
    va_start(list, format);
    (void)vsnprintf(text + at, size - at, format, list); /* cut where it is longer */
    va_end(list);
}

bool fp_has_ending(const char *text, const char *ending)
{
    const size_t length = strlen(text), of_ending = strlen(ending);
    return length > of_ending && strcmp(text + length - of_ending, ending) == 0;
}

/* ---- names of footprints ------------------------------------------------------------------------ */

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
        uint32_t character;
        bytes = decode((const unsigned char *)ret_stem + at, &character);
        if (bytes == 0 || byte < ' ' || byte == 127 || byte == '/' ||
            (at == 0 && (byte == '.' || byte == '-')))
            ret_stem[at] = '_';
    }
    if (length == 0)
        memcpy(ret_stem, "process", sizeof "process");
}

/* scan.h - take a line apart: words and numbers, each checked before it is used.
 *
 * A scanner stands before the next character of a line, which need not be terminated. What a function takes
 * it stands behind afterwards; where a function returns false, it stands anywhere and the line is wrong. */
#ifndef MALLAB_CONVERT_TEXT_SCAN_H
#define MALLAB_CONVERT_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct conv_scan {
    const char *at, *end;
};

static inline struct conv_scan conv_scan_of(const char *line, size_t length)
{
    return (struct conv_scan){line, line + length};
}

static inline bool conv_scan_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline void conv_scan_blanks(struct conv_scan *scan)
{
    while (scan->at < scan->end && conv_scan_is_blank(*scan->at))
        scan->at++;
}

/* conv_scan_ended - nothing but blanks is left. */
static inline bool conv_scan_ended(struct conv_scan *scan)
{
    conv_scan_blanks(scan);
    return scan->at == scan->end;
}

/* conv_scan_char, conv_scan_text - take exactly this, without blanks before it. */
static inline bool conv_scan_char(struct conv_scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

static inline bool conv_scan_text(struct conv_scan *scan, const char *text)
{
    const size_t length = strlen(text);
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, text, length) != 0)
        return false;
    scan->at += length;
    return true;
}

/* conv_scan_decimal - digits; false: none, or more than 64 bits. */
static inline bool conv_scan_decimal(struct conv_scan *scan, uint64_t *ret_value)
{
    const char *at = scan->at;
    uint64_t value = 0;
    unsigned digit;
    for (; at < scan->end && (digit = (unsigned char)(*at - '0')) <= 9; at++) {
        if (value > UINT64_MAX / 10 - 1 && (value > UINT64_MAX / 10 || value * 10 > UINT64_MAX - digit))
            return false;
        value = value * 10 + digit;
    }
    *ret_value = value;
    if (at == scan->at)
        return false;
    scan->at = at;
    return true;
}

/* Values of hexadecimal digits + 1; 0: no digit. A table, because which of their three ranges comes next cannot be
 * predicted. */
static const uint8_t CONV_SCAN_DIGITS[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* conv_scan_hex - 1 to 16 hexadecimal digits without 0x. */
static inline bool conv_scan_hex(struct conv_scan *scan, uint64_t *ret_value)
{
    const char *at = scan->at;
    uint64_t value = 0;
    size_t length;
    unsigned digit;
    for (; at < scan->end && (digit = CONV_SCAN_DIGITS[(unsigned char)*at]) != 0; at++)
        value = value << 4 | (digit - 1);
    length = (size_t)(at - scan->at);
    scan->at = at;
    *ret_value = value;
    return length > 0 && length <= 16;
}

/* conv_scan_0x - the same behind 0x or 0X. */
static inline bool conv_scan_0x(struct conv_scan *scan, uint64_t *ret_value)
{
    if (scan->end - scan->at < 3 || scan->at[0] != '0' || (scan->at[1] | 0x20) != 'x')
        return false;
    scan->at += 2;
    return conv_scan_hex(scan, ret_value);
}

/* conv_scan_at_gap - a blank or the end comes next: what was taken is a word of its own. */
static inline bool conv_scan_at_gap(const struct conv_scan *scan)
{
    return scan->at == scan->end || conv_scan_is_blank(*scan->at);
}

/* conv_scan_next_word - whatever is up to the next gap, blanks before it skipped; NULL at the end. Not terminated. */
static inline const char *conv_scan_next_word(struct conv_scan *scan, size_t *ret_length)
{
    const char *word;
    conv_scan_blanks(scan);
    word = scan->at;
    while (!conv_scan_at_gap(scan))
        scan->at++;
    *ret_length = (size_t)(scan->at - word);
    return *ret_length > 0 ? word : NULL;
}

/* conv_scan_is_next - take this word, blanks before it skipped. */
static inline bool conv_scan_is_next(struct conv_scan *scan, const char *text)
{
    conv_scan_blanks(scan);
    return conv_scan_text(scan, text) && conv_scan_at_gap(scan);
}

/* conv_scan_next_decimal, _hex - a number of its own, blanks before it skipped. */
static inline bool conv_scan_next_decimal(struct conv_scan *scan, uint64_t *ret_value)
{
    conv_scan_blanks(scan);
    return conv_scan_decimal(scan, ret_value) && conv_scan_at_gap(scan);
}

static inline bool conv_scan_next_hex(struct conv_scan *scan, uint64_t *ret_value)
{
    conv_scan_blanks(scan);
    return conv_scan_hex(scan, ret_value) && conv_scan_at_gap(scan);
}

#endif

/* words.h - numbers as people read them, the same in every table and message of mallab; text from files made fit for
 * a terminal, a table, a page; names of footprints and of hosts. No malloc.
 *
 * What was measured or counted is in decimal units: a kB is 1,000 bytes. KiB and the like are for what is a power of
 * two by its nature: classes of sizes, bounds, pages.
 *
 * A name found in a file may hold what drives a terminal (escape sequences), what turns the rest of a line around
 * (bidirectional controls) or what nobody sees (zero widths, tags). All such becomes visible: \x1b for a byte that is a
 * control or no UTF-8, \u202e for a character. */
#ifndef MALLAB_FOOTPRINT_BASE_WORDS_H
#define MALLAB_FOOTPRINT_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FP_TEXT_BYTES 32u /* room that ret_text needs */

/* fp_has_ending - whether a text ends so, with something before it. */
bool fp_has_ending(const char *text, const char *ending);

/* fp_text_more - append to a terminated text in `size` bytes, which is cut where it is full; behind `between` where something stands
 * there already. */
void fp_text_more(char *text, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* fp_text_grouped - digits in groups of three: 1012345 becomes "1,012,345". Returns ret_text. */
char *fp_text_grouped(uint64_t number, char *ret_text);

/* FP_GROUPED - the same in room of its own, which lasts as long as the block that it stands in. */
#define FP_GROUPED(number) fp_text_grouped((number), (char[FP_TEXT_BYTES]){0})

/* fp_text_bytes - bytes in decimal units: "512 B", "61.2 MB", "612 MB". Returns ret_text. */
char *fp_text_bytes(double bytes, char *ret_text);

/* FP_BYTES - the same in room of its own, as FP_GROUPED. */
#define FP_BYTES(bytes) fp_text_bytes((bytes), (char[FP_TEXT_BYTES]){0})

/* Bytes that one byte of text becomes at most. */
#define FP_PLAIN_GROWTH 4u

/* fp_text_plain - copy text with all such made visible.
 * ret_text  at most size bytes, terminated when size > 0; nothing is cut in its middle. FP_PLAIN_GROWTH for each byte of text
 *           and one more always suffice. It must not overlap text.
 * Returns   the copy's length. */
size_t fp_text_plain(const char *text, char *ret_text, size_t size);

/* ---- names of footprints within a recording: STEM.fp, or STEM.wNNNN.fp for a window (docs/format.md) ---- */

/* fp_part_name - split a footprint's name into its stem and its window, 0 for none.
 * name      without a folder; need not be terminated within size.
 * ret_stem  of size bytes, terminated; untouched unless it is a footprint's name.
 * Returns   false: no footprint's name, a hidden file's, or not shorter than size. */
bool fp_part_name(const char *name, size_t size, char *ret_stem, uint32_t *ret_window);

/* fp_part_stem - a program's name as the beginning of a file's in one directory, whatever somebody called it: UTF-8, as JSON has
 * the file's name, no slash, no control character, no leading dot or dash, never empty.
 * name      need not be terminated within name_size.
 * ret_stem  of size bytes, 8 at least; cut where it does not fit. */
void fp_part_stem(const char *name, size_t name_size, char *ret_stem, size_t size);

/* ---- the label of a host: a word that a user gives what was recorded there (`mallab record --label`) ----
 *
 * It becomes a part of file names, of tables and of commands to paste, so it is 1 to FP_LABEL_BYTES - 1 letters, digits,
 * '.', '_' and '-' of ASCII, and begins with a letter or a digit: a host's name as it stands, never "..", never an option.
 * No libc: the recorder asks it too. */

#define FP_LABEL_BYTES 128u
#define FP_LABEL_TAKES "1 to 127 letters, digits, '.', '_' and '-', a letter or digit first"
#define FP_LABEL_META  "label" /* of footprints and workloads */

#define FP_ATTACHED_META "attached" /* of footprints: to a program that ran already */
#define FP_BEGAN_LATE    "recording began in the middle of the program's life"

/* fp_label_is_valid - whether text is one. NULL is none. */
static inline bool fp_label_is_valid(const char *text)
{
    size_t length = 0;
    if (text == NULL)
        return false;
    for (; text[length] != '\0' && length < FP_LABEL_BYTES; length++) {
        const char c = text[length];
        const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!is_plain && (length == 0 || (c != '.' && c != '_' && c != '-')))
            return false;
    }
    return length > 0 && length < FP_LABEL_BYTES;
}

#endif

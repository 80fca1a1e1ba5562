/* label.h - the label of a host: a word that a user gives what was recorded there (`mallab record --label`).
 *
 * It becomes a part of file names, of tables and of commands to paste, so it is 1 to FP_LABEL_BYTES - 1 letters, digits,
 * '.', '_' and '-' of ASCII, and begins with a letter or a digit: a host's name as it stands, never "..", never an option.
 * No libc: the recorder asks it too. */
#ifndef MALLAB_FOOTPRINT_BASE_LABEL_H
#define MALLAB_FOOTPRINT_BASE_LABEL_H

#include <stdbool.h>
#include <stddef.h>

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

/* defects.h - the invalid golden files: each is a valid one with a change; checksums are made right again wherever they are not the defect.
 *
 * What a reader has to say of each (where it stops, status, place, words) stands in invalid/expected.txt. */
#ifndef MALLAB_TESTS_DEFECTS_H
#define MALLAB_TESTS_DEFECTS_H

#include "golden/patch.h"

/* A change at a block, number `nth` of its type, or at the file's begin or end. What the other members mean stands beside each kind below. */
struct edit {
    void (*apply)(struct image *image, size_t at, const struct edit *edit); /* at: of the block */
    unsigned block, nth, column;
    int64_t number;
    uint64_t value;
    const char *bytes;
    size_t size;
};

enum { FILE_BEGIN = 0, FILE_END = 255 };

struct defect {
    const char *name;     /* file in invalid/ */
    const char *base;     /* file in valid/ */
    struct edit edits[4]; /* one after the other, each of a macro below */
};

/* Each ended by an entry without a name. */
extern const struct defect FP_DEFECTS[];
extern const struct defect WL_DEFECTS[];

/* defect_apply - make the base into the defect. */
void defect_apply(struct image *image, const struct defect *defect);

/* Places of edits: a block, a column of it, the whole file. */
#define AT(block, nth)         block, nth, 0
#define IN(block, nth, column) block, nth, column
#define BEGIN                  FILE_BEGIN, 0, 0
#define END                    FILE_END, 0, 0
#define TEXT(text)             (text), sizeof(text) - 1

/* The file ends so many bytes behind that place. */
void edit_cut(struct image *image, size_t at, const struct edit *edit);
#define CUT(place, bytes) edit_cut, place, bytes, 0, NULL, 0

/* Bytes are put in before that place; a block is gone; a block stands again before the first one of a type. */
void edit_insert(struct image *image, size_t at, const struct edit *edit);
#define INSERT(place, text) edit_insert, place, 0, 0, TEXT(text)
void edit_remove(struct image *image, size_t at, const struct edit *edit);
#define REMOVE(place) edit_remove, place, 0, 0, NULL, 0
void edit_repeat(struct image *image, size_t at, const struct edit *edit);
#define REPEAT(place, before) edit_repeat, place, 0, before, NULL, 0

/* A field of `width` bytes, with its checksum made right; bytes, and the bits of one byte, without. */
void edit_set(struct image *image, size_t at, const struct edit *edit);
#define SET(place, field, width, value) edit_set, place, field, value, NULL, width
void edit_write(struct image *image, size_t at, const struct edit *edit);
#define WRITE(place, at, text) edit_write, place, at, 0, TEXT(text)
void edit_flip(struct image *image, size_t at, const struct edit *edit);
#define FLIP(place, at, bits) edit_flip, place, at, bits, NULL, 0

/* The footer names that place, so many bytes behind. */
void edit_footer(struct image *image, size_t at, const struct edit *edit);
#define FOOTER(place, bytes) edit_footer, place, bytes, 0, NULL, 0

/* A column becomes these bytes; behind so many zeroes; before as many as give it a size. */
void edit_column(struct image *image, size_t at, const struct edit *edit);
#define COLUMN(place, text)        edit_column, place, 0, 0, TEXT(text)
#define BEHIND(place, zeros, text) edit_column, place, zeros, 0, TEXT(text)
#define PADDED(place, all, text)   edit_column, place, 0, all, TEXT(text)

/* Bytes within a column; a varint of it grows; it misses its last byte (-1), or has one left over behind it (1). */
void edit_within(struct image *image, size_t at, const struct edit *edit);
#define WITHIN(place, at, text) edit_within, place, at, 0, TEXT(text)
void edit_number(struct image *image, size_t at, const struct edit *edit);
#define NUMBER(place, index, add) edit_number, place, index, add, NULL, 0
void edit_resize(struct image *image, size_t at, const struct edit *edit);
#define RESIZE(place, more) edit_resize, place, more, 0, NULL, 0

/* The column's entry in the table: raw and stored size, over the same payload. */
void edit_table(struct image *image, size_t at, const struct edit *edit);
#define TABLE(place, raw, stored) edit_table, place, raw, stored, NULL, 0

/* A zstd frame that states and yields `frame` zeroes in a few bytes, where the table says `told`. */
void edit_bomb(struct image *image, size_t at, const struct edit *edit);
#define BOMB(place, frame, told) edit_bomb, place, frame, told, NULL, 0

#endif

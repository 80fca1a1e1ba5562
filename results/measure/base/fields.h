/* fields.h - structs described by tables of their fields: JSON is read and written by the table.
 *
 *   field      one member of a struct and one key of a JSON object. A dot in the key enters an object: "time.ratio" is
 *              the member `ratio` of the object `time`
 *   described  a struct with the table of its fields
 *   rest       members of a JSON object that no field names; kept as they are and written again, so that a file
 *              that another version wrote loses nothing
 *
 * A new figure is a member, its row in the table, and the place where it is measured: reader, writer, CSV, columns, schema
 * and the tables of the docs follow from the row.
 *
 * Files may come from anywhere: every value is checked for its kind before it is taken. What is of
 * another kind cannot be had, and a file that lacks what it must have is not read. Texts are made plain
 * (res_text_plain) when they are read. Strings, lists and JSON of a struct are its own. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_FIELDS_H
#define MALLAB_RESULTS_MEASURE_BASE_FIELDS_H

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* RES_FREED - before a pointer that is declared with a value: at the end of its block free() gets what it points at then, on every way
 * out, in place of a call there. */
#define RES_FREED __attribute__((cleanup(res_free_pointer)))
static inline void res_free_pointer(const void *place)
{
    void *own;
    memcpy(&own, place, sizeof own);
    free(own);
}

enum res_field_kind {
    RES_FIELD_TEXT,    /* char *: a string; NULL is null */
    RES_FIELD_LENT,    /* const char *: a string that outlives the struct; NULL is null. Written only */
    RES_FIELD_COUNT,   /* uint64_t: an integer, not below 0; RES_COUNT_ABSENT is null */
    RES_FIELD_NUMBER,  /* double: a number; NAN is null */
    RES_FIELD_WHOLE,   /* double: likewise, written as the nearest integer */
    RES_FIELD_TRUTH,   /* bool */
    RES_FIELD_MAYBE,   /* int: 0, 1; -1 is null */
    RES_FIELD_WORD,    /* int: the index of a word in `words`; -1, of an omitted one: there is none */
    RES_FIELD_STRUCT,  /* pointer to a struct described by `of`; NULL is null */
    RES_FIELD_INSIDE,  /* such a struct as a member; always an object */
    RES_FIELD_LIST,    /* pointer to the first of `count` structs described by `of` */
    RES_FIELD_TEXTS,   /* struct res_texts */
    RES_FIELD_PAIRS,   /* struct res_pairs: an object of strings */
    RES_FIELD_COUNTS,  /* uint64_t *, the first of `count`: an array of integers, not below 0 */
    RES_FIELD_NUMBERS, /* double *, likewise: an array of numbers */
    RES_FIELD_JSON,    /* json_t *: anything; NULL is null */
};

enum res_field_flag {
    RES_FIELD_PLAIN = 0,
    RES_FIELD_REQUIRED = 1u << 0,     /* a file without it is not read */
    RES_FIELD_ZERO_IS_NULL = 1u << 1, /* 0, or an empty text, is written as null: there is none */
    RES_FIELD_TRUE = 1u << 2,         /* true where a file does not say */
    RES_FIELD_OMITTED = 1u << 3,      /* the key is left out where it would be null, false or empty */
    RES_FIELD_READ_ONLY = 1u << 4,    /* read from what `rest` keeps and writes */
    RES_FIELD_SOUND = 1u << 5,        /* a file where it is there, and of another kind, is not read */
};

/* A count that is not told, where 0 would say something else: of an omitted field that a file lacks. */
#define RES_COUNT_ABSENT UINT64_MAX

/* res_count_told - the same, 0 where it is absent. */
static inline uint64_t res_count_told(uint64_t count)
{
    return count != RES_COUNT_ABSENT ? count : 0;
}

/* Lists; count items, the owner's. `known` tells an empty list from null. */
struct res_texts {
    char **items;
    size_t count;
    bool known;
};

struct res_pair {
    char *name, *value;
};

struct res_pairs {
    struct res_pair *items;
    size_t count;
};

struct res_described;

/* The role of a figure in the table of a result. */
enum res_shown_as {
    RES_AS_TEXT,
    RES_AS_NAME,  /* of the candidate, marked where nothing beats it */
    RES_AS_NS,    /* nanoseconds */
    RES_AS_BYTES, /* in the unit of the table */
    RES_AS_FACTOR,
    RES_AS_NUMBER,
    RES_AS_CHANGE, /* of time, or in the block of memory of the peak, against the baseline */
    RES_AS_RANGE,  /* its interval */
    RES_AS_VERDICT /* its verdict, or how the candidate failed */
};

/* The places where a figure is shown beside the JSON. Words of the table: {baseline}, {unit}. */
struct res_shown {
    const char *csv;     /* its name in CSV; NULL: it is not there */
    const char *heading; /* of its column in the table; NULL: it has none */
    const char *group;   /* of columns; NULL: none */
    const char *alone;   /* the heading where no group stands above; NULL: the same */
    enum res_shown_as as;
    bool in_memory;      /* in the second block */
    bool late;           /* behind the columns of the rows that are not */
    unsigned expendable; /* as in struct res_column (grid.h) */
    size_t judged;       /* offset in OWNER of the enum res_verdict that colours it; 0: none */
};

/* One row. */
struct res_field {
    const char *key;
    enum res_field_kind kind;
    unsigned flags;
    size_t offset, count_offset;    /* the latter of lists: where the size_t is that counts them */
    const struct res_described *of; /* of structs and lists */
    const char *const *words;       /* of words; NULL at the end. The first one stands for what is missing */
    const char *doc;                /* one line for docs/results.md; NULL: none */
    struct res_shown shown;
};

/* Rows of the struct that OWNER stands for: RES_ROW(NUMBER, "time.ratio", time.ratio, "..."), and behind the
 * line of documentation where it is shown: .csv = "ratio". As: with a flag; part: of another described struct; list: with the
 * member that counts it. */
#define RES_SHOWN_ROW(kind, flag, key, member, words, doc, ...)                                              \
    {                                                                                                        \
        key, RES_FIELD_##kind, RES_FIELD_##flag, offsetof(OWNER, member), 0, NULL, words, doc,               \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define RES_ROW_AS(kind, flag, key, member, ...)   RES_SHOWN_ROW(kind, flag, key, member, NULL, __VA_ARGS__)
#define RES_ROW(kind, key, member, ...)            RES_ROW_AS(kind, PLAIN, key, member, __VA_ARGS__)
#define RES_WORD_AS(flag, key, member, words, ...) RES_SHOWN_ROW(WORD, flag, key, member, words, __VA_ARGS__)
#define RES_WORD(key, member, words, ...)          RES_WORD_AS(PLAIN, key, member, words, __VA_ARGS__)
#define RES_PART(its_kind, flag, its_key, member, its_of, its_doc)                                           \
    {                                                                                                        \
        .key = its_key, .kind = RES_FIELD_##its_kind, .flags = RES_FIELD_##flag,                             \
        .offset = offsetof(OWNER, member), .of = its_of, .doc = its_doc                                      \
    }
/* Rows that many have: a ratio with the ends of its interval, and what every document of ours begins with. */
#define RES_RATIO_ROWS(prefix, ratio, low, high, doc, low_doc)                                               \
    RES_ROW(NUMBER, prefix "ratio", ratio, doc), RES_ROW(NUMBER, prefix "ratio_low", low, low_doc),          \
        RES_ROW(NUMBER, prefix "ratio_high", high, "likewise")
#define RES_HEAD_ROWS                                                                                        \
    RES_ROW(LENT, "schema", schema, NULL), RES_ROW(LENT, "mallab_version", mallab_version, NULL)
#define RES_LIST(its_kind, flag, its_key, member, size, its_of, its_doc)                                     \
    {                                                                                                        \
        .key = its_key, .kind = RES_FIELD_##its_kind, .flags = RES_FIELD_##flag, .of = its_of,               \
        .doc = its_doc, .offset = offsetof(OWNER, member), .count_offset = offsetof(OWNER, size)             \
    }

struct res_described {
    const char *name; /* in messages: "a workload" */
    const struct res_field *fields;
    size_t field_count;
    size_t size;
    size_t rest_offset;              /* of a json_t *; RES_NO_REST: keys without a row are dropped */
    const struct res_described *all; /* where these are only some rows of the struct; NULL: these are all */
};

#define RES_NO_REST SIZE_MAX

/* The rows of OWNER: with a member for the rest, which is called `rest`, or wholly described by them. */
#define RES_DESCRIBE_AT(name, rows, rest_offset)                                                             \
    {                                                                                                        \
        name, rows, sizeof(rows) / sizeof(rows)[0], sizeof(OWNER), rest_offset, NULL                         \
    }
#define RES_DESCRIBE(name, rows)        RES_DESCRIBE_AT(name, rows, offsetof(OWNER, rest))
#define RES_DESCRIBE_WHOLLY(name, rows) RES_DESCRIBE_AT(name, rows, RES_NO_REST)

/* res_described_init - all figures NAN, all else 0, as in an object without keys. */
void res_described_init(const struct res_described *described, void *ret_struct);

/* res_described_read - fill a struct from a JSON object, which stays as it is.
 * ret_problem  set to one line, the caller's to free, where false is returned; the struct is then empty. */
bool res_described_read(const struct res_described *described, const json_t *object, void *ret_struct,
                        char **ret_problem);

/* Lists of counts that a JSON object has the numbers of, instead of them (res_described_text). */
struct res_counts {
    uint64_t *items;
    size_t count;
};

struct res_lists {
    struct res_counts *items;
    size_t count, left; /* how many counts may be taken yet */
};

/* res_described_read_lists - the same of an object that has lists, which are taken from there, and without `rest`. lists: NULL is
 * res_described_read. */
bool res_described_read_lists(const struct res_described *described, const json_t *object,
                              struct res_lists *lists, void *ret_struct, char **ret_problem);
void res_lists_release(struct res_lists *lists);

/* res_described_write - the JSON object of a struct. A new reference. */
json_t *res_described_write(const struct res_described *described, const void *from);

/* res_described_value - the field with this key, as it is written. A new reference; NULL: there is no such field.
 * res_described_same - whether it is written alike in both structs. */
json_t *res_described_value(const struct res_described *described, const void *from, const char *key);
bool res_described_same(const struct res_described *described, const void *one, const void *other,
                        const char *key);

/* res_json_at - what stands at a dotted key, borrowed; NULL: nothing. res_json_put - put a new reference there. */
json_t *res_json_at(const json_t *object, const char *key);
void res_json_put(json_t *object, const char *key, json_t *value);

/* res_texts_add - add a copy of a text to a list, which is known then. Behind its last item stands NULL, as behind argv.
 * res_texts_take - likewise the text itself, which is the list's then.
 * res_texts_take_once - the same, unless it is NULL or there already. */
void res_texts_add(struct res_texts *texts, const char *words);
void res_texts_take(struct res_texts *texts, char *words);
void res_texts_take_once(struct res_texts *texts, char *words);

/* res_texts_release - drop all of a list. */
void res_texts_release(struct res_texts *texts);

/* res_pairs_release / res_pairs_copy - likewise; a copy is the caller's. */
void res_pairs_release(struct res_pairs *pairs);
struct res_pairs res_pairs_copy(const struct res_pairs *pairs);

/* res_described_release - free what a struct owns, and empty it. */
void res_described_release(const struct res_described *described, void *owner);

/* ---- rest.c: what no row names.
 * res_described_rest - the members of an object that no row names. A new reference.
 * res_described_text - the text of a JSON object without them, for what is read and not written again: they are most of a result.
 * Of them only the end is looked for. Instead of a long list of counts that a row names it has the number of that list.
 * ret_text  room for `size` bytes.
 * lists     to which those are added, `left` of counts at most; released by res_lists_release, in any case.
 * Returns false where the text is not what our writers write, perhaps damaged: parsing it whole tells. */
json_t *res_described_rest(const struct res_described *described, const json_t *object);
bool res_described_text(const struct res_described *described, const char *text, size_t size, char *ret_text,
                        size_t *ret_size, struct res_lists *lists);

/* ---- lives.c: values of ours as JSON has them: what is not known is null. Each returns a new reference. */

/* res_json_number / res_json_whole - a figure, as it is or rounded to a whole number, which must be within int64's range; null
 * where it is not finite. */
json_t *res_json_number(double value);
json_t *res_json_whole(double value);

/* res_json_text - words, made plain (res_text_plain); null for NULL. */
json_t *res_json_text(const char *words);

/* res_json_numbers - the first `count` numbers of an array; NAN where there is none. The caller's to free. */
double *res_json_numbers(const json_t *array, size_t count);

#endif

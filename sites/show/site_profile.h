/* site_profile.h - call sites as a tree of calls with values: the form of all that is shown, wherever the figures came from.
 *
 * Frame   a function as people read it: name, module, file, line.
 * Node    a frame called by its parent's. A path from a top node to a node is a stack; a parent comes before its children.
 * Metric  what is counted: one value for each node, its own only (what was allocated with this very stack).
 *
 * What a producer has to fill, in this order, and nothing else:
 *
 *     struct site_profile profile = {0};
 *     site_profile_title(&profile, "sqlite3");                   what was recorded
 *     live = site_profile_metric(&profile, SITE_LIVE);
 *     for each stack, from main to the allocation:
 *         node = SITE_TOP
 *         for each frame, the physical function before those inlined into it:
 *             node = site_profile_node(&profile, node, site_profile_frame(&profile, &words))
 *         site_profile_add(&profile, node, live, bytes), and so for the other metrics
 *     site_profile_note(&profile, "12 stacks were cut: no unwind table");   what a reader must know
 *
 * Frames and stacks may come twice and in any order: equal ones get one number, and values are added up. The allocator's own
 * functions (malloc, the recorder) are no frames. A function without a name is MODULE+0xOFFSET of its beginning; mallab's own
 * words stand in brackets: "[cut]" on top of a stack whose callers are not known, as nodes that hold what belongs to no function.
 * A profile is of one process, its values are sums over all threads.
 *
 * Names are untrusted. They are kept as fp_text_plain makes them (footprint/base/words.h), so that every string of a profile is
 * UTF-8 without controls; longer ones than SITE_NAME_MAX are cut. Programs' rooms only: want of memory ends the program. */
#ifndef MALLAB_SITES_SHOW_SITE_PROFILE_H
#define MALLAB_SITES_SHOW_SITE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/arrays.h"

#define SITE_TOP      UINT32_MAX /* parent of nodes that nothing known calls */
#define SITE_NONE     UINT32_MAX /* a string, a metric or a node that is not there */
#define SITE_NAME_MAX 2048u      /* bytes of a name */

enum site_value {
    SITE_LIVE,  /* bytes asked for and not freed when the most was live */
    SITE_BYTES, /* bytes asked for, in all */
    SITE_COUNT, /* calls that allocated */
    SITE_VALUES
};

/* The words of each: `--value KEY`, the unit of pprof, what the page says. */
struct site_value_words {
    const char *key, *unit, *words;
};
extern const struct site_value_words site_value_words[SITE_VALUES];

/* NULL: not known. All borrowed for the call. */
struct site_frame_words {
    const char *function, *module, *file;
    uint32_t line; /* 0: not known */
};

/* Strings are numbers in `strings`; SITE_NONE: not known. */
struct site_frame {
    uint32_t function, module, file, line;
};

struct site_node {
    uint32_t parent, frame;
};

/* The basis of an estimate (convert/sites/sites.h); sums as values do. */
struct site_basis {
    double samples, variance;
};

struct site_metric {
    enum site_value value;
    bool is_before;           /* of what the profile is compared with (site_profile_merge) */
    double *values;           /* of each node */
    struct site_basis *bases; /* likewise; NULL: values are exact */
    size_t value_room, basis_room;
};

/* The kinds of things that are numbered. */
enum site_kind { SITE_STRING, SITE_FRAME, SITE_NODE, SITE_KINDS };

/* Zero-initialise. Read the arrays, change them by the functions only. */
struct site_profile {
    char **strings;
    struct site_frame *frames;
    struct site_node *nodes;
    struct site_metric *metrics;
    uint32_t *notes; /* strings */
    size_t string_count, frame_count, node_count, metric_count, note_count;
    size_t string_room, frame_room, node_room;
    char *title; /* NULL: not told */
    struct fp_index indexes[SITE_KINDS];
};

void site_profile_release(struct site_profile *profile);

void site_profile_title(struct site_profile *profile, const char *title);
void site_profile_note(struct site_profile *profile, const char *words);

/* site_profile_frame, _node, _metric - the number of the equal one, which is made where there is none.
 * parent  SITE_TOP, or a node. */
uint32_t site_profile_frame(struct site_profile *profile, const struct site_frame_words *words);
uint32_t site_profile_node(struct site_profile *profile, uint32_t parent, uint32_t frame);
uint32_t site_profile_metric(struct site_profile *profile, enum site_value value);

/* site_profile_add - to a node's own value; what is no number is left out.
 * site_profile_rest - what the amount rests on, where it is an estimate.
 * site_profile_own - a node's own value as the nearest whole number, which is what is written. metric: SITE_NONE has none. */
void site_profile_add(struct site_profile *profile, uint32_t node, uint32_t metric, double amount);
void site_profile_rest(struct site_profile *profile, uint32_t node, uint32_t metric, struct site_basis basis);
int64_t site_profile_own(const struct site_profile *profile, size_t node, uint32_t metric);

/* site_profile_find - a metric's number, or SITE_NONE. */
uint32_t site_profile_find(const struct site_profile *profile, enum site_value value, bool is_before);

/* site_profile_merge - add another profile to this one, as what this one's metrics are compared with. */
void site_profile_merge(struct site_profile *profile, const struct site_profile *other);

/* site_profile_fold - a copy in which frames that repeat the ones before them are left out, up to SITE_PERIOD_MAX at once:
 * f f f becomes f, f g f g becomes f g. Frames of one function are equal; with is_by_function they also lose their lines, so
 * that calls from several lines of one function add up. Metrics keep their numbers. */
#define SITE_PERIOD_MAX 8u
struct site_profile site_profile_fold(const struct site_profile *profile, bool is_by_function);

struct site_stacks;

/* site_profile_take - add a process' sites: live at its peak, bytes and calls. A stack that was cut begins with
 * why, in brackets.
 * with_lines  also files, lines and inlined functions, which take long to look up. */
void site_profile_take(struct site_profile *profile, struct site_stacks *stacks, bool with_lines);

/* site_folded - one metric as folded stacks, which flamegraph.pl, inferno, speedscope and others read: a line for each stack that
 * has a value, "main;parse;alloc 4096", from its top to its end. Where it is compared with another (site_profile_merge) two
 * values stand there, before and after, as difffolded.pl writes them. Equal lines are one.
 * site_pprof - gzip of the protocol buffer that github.com/google/pprof/blob/main/proto/profile.proto describes. All metrics are
 * in it, as sample types; where one is compared with another, the difference stands in its place. shown: the one that viewers begin
 * with. NULL where it would be more than 2 GiB unpacked, or zlib has no memory.
 * site_flame_page - one HTML page that needs nothing else (flame_page.c).
 * Recursion is left out of all. Returns text or bytes, the caller's to free; the same profile gives the same. */
char *site_folded(const struct site_profile *profile, uint32_t metric);
char *site_pprof(const struct site_profile *profile, uint32_t shown, size_t *ret_length);
char *site_flame_page(const struct site_profile *profile, uint32_t shown);

#endif

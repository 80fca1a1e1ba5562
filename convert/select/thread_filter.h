/* thread_filter.h - the filter that lets the calls of some threads pass. Private to convert/.
 *
 *   owner    the thread that allocated an object, or resized it last
 *   foreign  an object of an unselected owner: for what passes it does not exist
 *
 * A selected thread's release of a foreign object is left out (CONV_FOREIGN_CALLS), its resize of one makes an object of its
 * own (CONV_FOREIGN_RESIZES). What an unselected thread releases or resizes of a selected owner's goes there and then, by
 * the owner, or where that has ended by the selected thread that called last (CONV_RELEASED_BY_OTHERS); so live bytes are
 * those of the selected threads' objects at every moment. docs/notes/selections.md. */
#ifndef MALLAB_CONVERT_SELECT_THREAD_FILTER_H
#define MALLAB_CONVERT_SELECT_THREAD_FILTER_H

#include "convert/ops/track.h"
#include "convert/select/batch.h"
#include "convert/select/list.h"

#define CONV_THREADS_NAMED 8u /* in the message that a thread is not there */

struct conv_threads_lane {
    enum { CONV_LANE_UNKNOWN = 0, CONV_LANE_SELECTED, CONV_LANE_LEFT_OUT } state;
    bool ended;
};

struct conv_threads {
    struct conv_list list;
    struct conv_namer namer;
    struct conv_track track; /* the tag: the owner's lane plus 1; 0: foreign */
    struct conv_threads_lane *lanes;
    size_t lane_capacity;
    uint64_t now_ns;    /* of all threads: selected or not, they share one clock */
    uint32_t last_lane; /* selected, of the last call that passed */
    struct conv_batch out;
    uint32_t named[CONV_THREADS_NAMED]; /* ids of the first threads seen */
    size_t named_count;
    uint64_t seen; /* threads in all */
    bool main_seen;
    uint32_t main_id;
};

/* conv_threads_init - next: where the calls go. list: as users write it, checked. namer: borrowed.
 * lane_count: of the input, 0 where that is known at its end only.
 * Returns false: no memory; conv_threads_release accepts it in either case. */
bool conv_threads_init(struct conv_threads *threads, const char *list, struct conv_namer namer,
                       uint32_t lane_count, struct conv_sink next);
void conv_threads_release(struct conv_threads *threads);

/* conv_threads_sink - the filter; its data is threads. */
struct conv_sink conv_threads_sink(struct conv_threads *threads);

/* conv_threads_has - whether a lane's calls pass. The lane must exist. */
bool conv_threads_has(struct conv_threads *threads, uint32_t lane, bool *ret_selected);

/* conv_threads_missing - at the end: whether some item of the list met no thread; words it, with the threads there are. */
bool conv_threads_missing(const struct conv_threads *threads, char *ret_text, size_t size);

#endif

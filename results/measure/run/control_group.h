/* control_group.h - a control group for one run: made, watched, removed.
 *
 *   place  where it is made (control_group_place.h)
 *   lock   on its directory, for as long as whoever made it lives: what nobody locks is left over from a mallab that was
 *          killed, and the next one removes it
 *   notes  a page in which the run tells how far it came (replay/system/run_limit_notes.h)
 *
 * The run joins by itself, and sets the limit when it has mapped what the harness needs (replay/system/run_limit.h). */
#ifndef MALLAB_RESULTS_MEASURE_RUN_CONTROL_GROUP_H
#define MALLAB_RESULTS_MEASURE_RUN_CONTROL_GROUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "results/measure/run/control_group_place.h"

struct rep_limit_notes;

struct res_group {
    char *directory; /* NULL: none */
    int version;
    int lock_fd;
    int notes_fd; /* not closed on exec: the run is to have it */
    struct rep_limit_notes *notes;
};

/* res_group_make - a new group without members, without swap, that dies as a whole.
 * ret_group  ended with res_group_remove.
 * ret_why    set to one line, the caller's, when it cannot be made.
 * Start nothing but the run before it is removed: what else is started would have the notes too. */
bool res_group_make(const struct res_group_place *place, struct res_group *ret_group, char **ret_why);

/* res_group_remove - when its members have ended. Where one lives on it stays, for the next mallab to remove. */
void res_group_remove(struct res_group *group);

/* res_group_killed - what is told of a run whose member was killed for want of memory, as `failure` (docs/notes/results.md).
 * limit_bytes  as asked for.
 * Returns      a new reference; NULL when none was killed. */
json_t *res_group_killed(const struct res_group *group, uint64_t limit_bytes);

/* res_group_try - whether it works here: remove what is left of mallabs that were killed, make a group, let a process join
 * it and end, remove it.
 * Returns NULL, or why it does not, with a remedy; the caller's. */
char *res_group_try(const struct res_group_place *place);

#endif

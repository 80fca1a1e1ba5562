/* control_group.h - a control group for one run (cgroups(7)): where it can be made, and how it is made, watched, removed.
 *
 *   own group  that this process is in, as /proc/self/cgroup and /proc/self/mountinfo tell
 *   place      a directory below which groups that limit memory can be made
 *   lock       on a group's directory, for as long as whoever made it lives: what nobody locks is left over from a mallab that was
 *              killed, and the next one removes it
 *   notes      a page in which the run tells how far it came (replay/system/run_limit.h)
 *
 * Looked at in this order: what the user named; the own group; of version 2 also the group above it, because there a group that
 * switches a controller on for those below may hold no processes itself (the "no internal processes" rule). A group below the
 * own one can never have more than it may; one beside it can, up to what the one above may have. Nothing
 * that exists is changed: where the controller would have to be switched on, the reason says how.
 * Version 1 is looked for first: where both are mounted, the memory controller is with one of them only.
 *
 * The run joins by itself, and sets the limit when it has mapped what the harness needs (replay/system/run_limit.h). */
#ifndef MALLAB_RESULTS_MEASURE_RUN_CONTROL_GROUP_H
#define MALLAB_RESULTS_MEASURE_RUN_CONTROL_GROUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RES_GROUP_PATH_MAX 4096u

struct res_group_place {
    char *directory; /* owned; NULL: there is none */
    int version;     /* of the cgroup file system: 1 or 2 */
    char *why;       /* owned: why there is none, and the remedy; NULL where there is one */
};

/* res_group_place_find - look, and change nothing.
 * root   before /proc and all that is found in it: "" is this machine; borrowed
 * asked  the only directory to be considered; NULL: the order above
 * Returns whether there is a place. Either way the caller ends it with res_group_place_release. */
bool res_group_place_find(const char *root, const char *asked, struct res_group_place *ret_place);
void res_group_place_release(struct res_group_place *place);

/* res_group_own - the directory of the own group in the hierarchy that has the memory controller in version 1, or in
 * that of version 2. Texts of the kernel, in which anything may stand; lines that are no such lines are passed over.
 * cgroup, mounts  as /proc/self/cgroup and /proc/self/mountinfo
 * ret_directory   RES_GROUP_PATH_MAX bytes: absolute, below ret_mount, without ".."
 * ret_mount       likewise: where that file system is mounted
 * Returns  false when it is not mounted, or the own group is not below what is mounted (as seen from some containers). */
bool res_group_own(const char *cgroup, const char *mounts, int version, char *ret_directory, char *ret_mount);

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

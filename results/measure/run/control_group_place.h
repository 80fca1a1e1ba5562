/* control_group_place.h - where a control group for a run can be made (cgroups(7)).
 *
 *   own group  that this process is in, as /proc/self/cgroup and /proc/self/mountinfo tell
 *   place      a directory below which groups that limit memory can be made
 *
 * In this order: what the user named; the own group; of version 2 also the group above it, because there a group that
 * switches a controller on for those below may hold no processes itself (the "no internal processes" rule). A group below the
 * own one can never have more than it may; one beside it can, up to what the one above may have. Nothing
 * that exists is changed: where the controller would have to be switched on, the reason says how.
 *
 * Version 1 is looked for first: where both are mounted, the memory controller is with one of them only. */
#ifndef MALLAB_RESULTS_MEASURE_RUN_CONTROL_GROUP_PLACE_H
#define MALLAB_RESULTS_MEASURE_RUN_CONTROL_GROUP_PLACE_H

#include <stdbool.h>
#include <stddef.h>

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

#endif

/* group_workload.h - a group of processes as workloads: a directory of files NAME.wl, one of each. */
#ifndef MALLAB_CLI_VERBS_GROUP_WORKLOAD_H
#define MALLAB_CLI_VERBS_GROUP_WORKLOAD_H

#include "cli/verbs/workloads.h"

/* cli_group_read - the members in a directory, by name; a single file is no group, but a workload.
 * Returns  false, with nothing to release, when there is none or there are more than a group has. */
bool cli_group_read(const char *directory, struct cli_prepared *ret_prepared);

/* cli_group_make_room - before members are written: a group that is there already is removed, where `force` allows it, as
 * none of its members may stay. Returns CLI_DONE, or CLI_FAILED, told. */
int cli_group_make_room(const struct cli_verb *verb, const char *directory, bool force);

#endif

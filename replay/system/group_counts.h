/* group_counts.h - the kernel's counts of a control group's memory (cgroups(7)).
 *
 *   group     a directory of a cgroup file system whose memory controller is on
 *   version   of that file system: in 1 and 2 the same counts have other names
 *   cache     pages of files, which the kernel takes back before it kills for want of memory. Shared
 *             memory, which it cannot take back without swap, is not among them
 *   batch     what a processor charges ahead (MEMCG_CHARGE_BATCH of mm/memcontrol.c): the usage has up to
 *             so many pages for each processor before they are used
 *
 * No malloc, so that a replay may ask between its ops. Sources: Documentation/admin-guide/cgroup-v2.rst,
 * "Memory Interface Files", and .../cgroup-v1/memory.rst of the kernel. */
#ifndef MALLAB_REPLAY_SYSTEM_GROUP_COUNTS_H
#define MALLAB_REPLAY_SYSTEM_GROUP_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#define REP_GROUP_BATCH_PAGES 64u

struct rep_group_counts {
    uint64_t usage_bytes, cache_bytes; /* the latter no more than the former */
    uint64_t peak_bytes;               /* of the usage; 0: this kernel does not tell */
    uint64_t at_limit;                 /* how often the usage was about to pass the limit */
    uint64_t oom_kills;                /* processes of the group killed for want of memory */
};

/* rep_group_version - 1 or 2, by the name of the file that holds the limit; 0: this is no such group.
 * group  path of its directory. */
int rep_group_version(const char *group);

/* rep_group_limit_name - the name of the file that holds the limit. version: 1 or 2. */
const char *rep_group_limit_name(int version);

/* rep_group_read - all counts. What a kernel does not tell is 0. Returns false when the usage cannot be read. */
bool rep_group_read(const char *group, int version, struct rep_group_counts *ret_counts);

/* rep_group_put - write text into one of the group's files. Returns 0 or an errno. */
int rep_group_put(const char *group, const char *name, const char *text);

/* rep_group_number - the number behind a word that begins a line, as in "oom_kill 3"; word NULL: the first
 * number of all. text: any string. False when there is none, or 64 bits do not hold it. */
bool rep_group_number(const char *text, const char *word, uint64_t *ret_number);

#endif

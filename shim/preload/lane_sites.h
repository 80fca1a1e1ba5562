/* lane_sites.h - the call stack of an allocation, as a number that its record has (fp_sites.h). Only where SEG_FLAG_SITES is set:
 * then each lane has a struct lane_sites, and takes the slow way with every allocation, or where the next one of a sample may be
 * (lane.h, lane_set_limit).
 *
 * Laws: those of shim/sites/walk.h while a stack is walked. Memory comes from the kernel when a process or thread attaches; where
 * it cannot (a confined one), allocations have no site. */
#ifndef MALLAB_SHIM_PRELOAD_LANE_SITES_H
#define MALLAB_SHIM_PRELOAD_LANE_SITES_H

#include "footprint/fp/record.h"
#include "shim/preload/lane.h"
#include "shim/sites/walk.h"

#include "shim/sites/nodes.h"

#define LANE_SEEN_MOST  208u
#define LANE_INDEX_BITS 10u

/* Stacks in memory that a fork wipes, as the lane itself: 63 KiB, of which comes into use what the thread's stacks need. */
struct lane_sites {
    struct sites_process *process;
    struct fp_site_predictor predictor;
    struct walk walk;
    uint16_t own_index[1u << LANE_INDEX_BITS];
    struct seen own_seen[LANE_SEEN_MOST];
};

#pragma GCC visibility push(hidden)

/* sites_begin - a process has attached: its tables, where the recording wants stacks and this machine can have them. */
void sites_begin(void);

/* sites_forget - they are given back, behind those of all lanes (lane_wipe_all): no thread is in a hook. */
void sites_forget(void);

/* lane_sites_begin - a thread begins with this lane. */
void lane_sites_begin(struct lane *lane);

/* lane_sites_put - lane_put, of a lane that has sites or a sample: the site of an allocation, if it is in the sample, is found and told. */
void lane_sites_put(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra);

/* sites_check - modules may have gone. */
void sites_check(bool thorough);

#pragma GCC visibility pop

#endif

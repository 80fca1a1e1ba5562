/* lane_sites.h - the call stack of an allocation, as a number that its record has (fp_sites.h). Only where SEG_FLAG_SITES is set:
 * then each lane has a struct lane_sites, and takes the slow way with every allocation, or where the next one of a sample may be
 * (lane.h, lane_set_limit).
 *
 * Laws: those of shim/sites/walk.h while a stack is walked. Memory comes from the kernel when a process or thread attaches; where
 * it cannot (a confined one), allocations have no site. */
#ifndef MALLAB_SHIM_PRELOAD_LANE_SITES_H
#define MALLAB_SHIM_PRELOAD_LANE_SITES_H

#include "footprint/fp/site_predictor.h"
#include "shim/preload/lane.h"
#include "shim/sites/walk.h"

#define LANE_NODES_BITS   9u
#define LANE_GUESSES_BITS 11u
#define LANE_SEEN_BITS    5u

/* A node that a lane has asked for: of the process' table each would be two lines in pages of their own. They never change.
 * key 0: none. */
struct lane_node {
    uint64_t key;
    uint32_t parent, node;
};

/* In memory that a fork wipes, as the lane itself: 62 KiB, of which comes into use what the thread's stacks need. */
struct lane_sites {
    struct sites_process *process;
    struct lane_node *nodes; /* by hash: own_nodes, or the process' */
    uint32_t *guesses;       /* likewise: sites that are probable, by the allocation before, sp and size */
    uint32_t node_bits, guess_bits;
    struct fp_site_predictor predictor;
    struct walk walk;
    struct lane_node own_nodes[1u << LANE_NODES_BITS];
    uint32_t own_guesses[1u << LANE_GUESSES_BITS];
    struct seen own_seen[1u << LANE_SEEN_BITS];
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

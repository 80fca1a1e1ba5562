/* irregularity.h - what does not fit a program that uses the heap correctly and was recorded whole: repaired by the rule
 * in docs/irregularities.md, and counted by name. */
#ifndef MALLAB_CONVERT_BASE_IRREGULARITY_H
#define MALLAB_CONVERT_BASE_IRREGULARITY_H

#include <stdbool.h>

/* Rules: docs/irregularities.md, by these names. The order is that of output. */
enum conv_irregularity {
    CONV_FREE_OF_UNKNOWN = 0, /* a release of an address that holds no object, double frees among them */
    CONV_RESIZE_OF_UNKNOWN,   /* a realloc of such an address */
    CONV_LOST_FREE,           /* an allocation over a live object: its release was lost */
    CONV_FAILED_CALLS,        /* the allocator returned NULL */
    CONV_REALLOC_TO_ZERO,     /* realloc(p, 0) that returned NULL: a free */
    CONV_UNFINISHED_CALLS,    /* a realloc that did not return before the lane's end or a gap */
    CONV_IMPOSSIBLE_CALLS,    /* an address or size of 2^48 and more */
    CONV_ORDER_REPAIRED,      /* an event moved before others of its own thread, within one epoch */
    CONV_OVERSIZED_GROUPS,    /* epochs with too many events to search at once, cut by time */
    CONV_GAPS,                /* places where a lane says that calls were lost */
    CONV_MISSING_BLOCKS,      /* blocks of a lane that are not in the file */
    CONV_SALVAGED_BLOCKS,     /* damaged blocks left out (options.salvage) */
    CONV_CUT_LINES,           /* a trace's last line, or record, that has no end and no meaning */
    CONV_INHERITED_FREES,     /* in a forked process, releases and reallocs of its parent's objects */
    CONV_PAUSES,              /* places where a lane says that recording was paused */
    CONV_UNRECORDED_OBJECTS, /* releases and reallocs of objects made before the first window there is, or in a pause */
    CONV_UNRECORDED_FREES,   /* allocations over a live object, after a pause */
    CONV_SIZE_DIFFERS,       /* a release that states another size than its object was given */
    CONV_FOREIGN_CALLS,      /* by selected threads, of objects of unselected ones: left out */
    CONV_FOREIGN_RESIZES,    /* likewise, resizes: what they made is the selected thread's */
    CONV_RELEASED_BY_OTHERS, /* objects of selected threads that unselected ones released or resized */
    /* left out, or mended (options.salvage): of a footprint, of a trace */
    CONV_DAMAGED_BLOCKS, /* calls at most in a footprint's damaged blocks: their marks */
    CONV_BAD_LINES,      /* lines without a meaning */
    CONV_LONG_LINES,     /* lines of more than 32 KiB */
    CONV_BAD_RECORDS,    /* records of a binary trace without a meaning */
    CONV_LOST_TAILS,     /* rests that cannot be read: of a footprint, of packed bytes, of a thread's calls */
    CONV_TORN_REALLOCS,  /* halves of reallocs without the other one */
    CONV_UNMET_WAITS,    /* waits for signals that never come */
    CONV_IRREGULARITY_COUNT,
};

/* conv_irregularity_name - "free_of_unknown", ...; NULL outside the enum. Static. */
const char *conv_irregularity_name(unsigned irregularity);

/* conv_irregularity_is_defect - whether it casts doubt on the recording. False for what correct
 * programs do on correct recordings: failed_calls, realloc_to_zero, unfinished_calls, inherited_frees, pauses,
 * unrecorded_objects, unrecorded_frees, foreign_calls, foreign_resizes, released_by_others. */
bool conv_irregularity_is_defect(unsigned irregularity);

/* conv_irregularity_is_loss - whether what it counts is missing in the workload, for a cause that is the file's:
 * damaged_blocks, bad_lines, long_lines, bad_records, lost_tails. They stand beside the causes of fp_loss_name;
 * damaged_blocks counts marks, of which some are no calls; lost_tails counts places, how many calls stood there is not
 * known. */
bool conv_irregularity_is_loss(unsigned irregularity);

#endif

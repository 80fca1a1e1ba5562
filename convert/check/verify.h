/* verify.h - is this file what it says, and may it be executed? `mallab info --verify`.
 *
 *   violation  the first thing found that docs/format.md forbids, with its place
 *   verdict    legal, or a violation; and how much was looked at
 *
 * Nothing here prints. One thread at a time. */
#ifndef MALLAB_CONVERT_CHECK_VERIFY_H
#define MALLAB_CONVERT_CHECK_VERIFY_H

#include "convert/base/error.h"
#include "convert/base/request.h"
#include "convert/base/survey_counts.h"

/* The kinds of faults; they are named in JSON. */
enum conv_fault {
    CONV_FAULT_NONE = 0,
    CONV_FAULT_REFUSED, /* what the file's own reader does not accept: frame, columns, checksums, limits, ops that cannot be */
    CONV_FAULT_FACTS,   /* figures of a window are not those of its ops */
    CONV_FAULT_THREAD,  /* figures of a thread are not its ops' */
    CONV_FAULT_SUMMARY, /* figures of the whole are not those of the ops */
    CONV_FAULT_ORDER,   /* of a recording: no order of its events is legal, one had to be repaired */
    CONV_FAULT_COUNT,
};

/* conv_fault_name - "refused", "facts", ...; "none" for CONV_FAULT_NONE and outside the enum. Static. */
const char *conv_fault_name(enum conv_fault fault);

struct conv_violation {
    enum conv_fault fault; /* CONV_FAULT_NONE: the file is legal */
    bool has_window, has_op;
    uint64_t window;       /* number, from 0 */
    uint64_t op;           /* number in the workload, from 0 */
    uint64_t op_in_window; /* index within the window */
    uint64_t offset;       /* of the window's block, or of what cannot be read, in the file */
    uint64_t line;         /* of a text, from 1; 0: not about a line */
    char what[256];
};

struct conv_verdict {
    enum conv_kind kind;
    struct conv_violation violation;
    char incomplete_why[256];   /* it is legal, and this is missing; "": nothing */
    char file[CONV_PATH_BYTES]; /* the one at fault: of a recording, one of its footprints */
    /* Looked at, and good, up to the violation. */
    uint64_t windows, ops, threads, allocations, waits; /* of a workload */
    uint64_t events, processes, groups; /* of what was recorded; groups: epochs put in order */
};

/* conv_verify_file - look at all of a file.
 *   workload               every window is read: the reader refuses what no run may execute; then all figures are counted anew
 *   footprint, recording   every block's checksum and columns, and the order of events: none may have been repaired
 *   text                   the workload that it converts to
 *   trace                  as a conversion would
 * options      borrowed; NULL: the defaults. salvage is ignored: what is damaged is a violation.
 * ret_verdict  filled on FP_OK, which a violation is, too.
 * Returns      FP_OK; else what kept the file from being looked at: FP_ERR_OPEN, FP_ERR_READ, FP_ERR_FOREIGN,
 *              FP_ERR_VERSION, FP_ERR_MEMORY, FP_ERR_ARGUMENT, with ret_error filled. */
enum fp_status conv_verify_file(const char *path, const struct conv_options *options,
                                struct conv_verdict *ret_verdict, struct conv_error *ret_error);

#endif

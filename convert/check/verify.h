/* verify.h - is this file what it says, and may it be executed? `mallab info --verify`.
 *
 *   violation  the first thing found that docs/format.md forbids, with its place
 *   verdict    legal, or a violation; and how much was looked at
 *
 * Nothing here prints. One thread at a time. */
#ifndef MALLAB_CONVERT_CHECK_VERIFY_H
#define MALLAB_CONVERT_CHECK_VERIFY_H

#include "convert/base/error.h"
#include "convert/base/kind.h"
#include "convert/base/request.h"
#include "convert/check/ops_check.h"

struct conv_verdict {
    enum conv_kind kind;
    struct conv_violation violation;
    char file[CONV_PATH_BYTES]; /* the one at fault: of a recording, one of its footprints */
    /* Looked at, and good, up to the violation. */
    uint64_t windows, ops, threads, allocations, waits; /* of a workload */
    uint64_t events, processes, groups; /* of what was recorded; groups: epochs put in order */
};

/* conv_verify_file - look at all of a file.
 *   workload               every op is executed against an own account of objects, threads, waits and time, which shares
 *                          nothing with the writer and with the reader only the columns; then all figures are compared
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

/* convert.h - turn footprints and other tools' traces into workloads, or say what they hold.
 *
 *   input     a footprint (.fp), a recording directory (recording.json and footprints) or its
 *             recording.json, another tool's trace (plain, or gzip, xz, bzip2, zstd, zip with one member)
 *   pass      one reading of an input: its events in one legal order, each address paired with its
 *             object. Memory grows with live objects, lanes and blocks of the index, not with events
 *   irregularity  what does not fit a program that uses the heap correctly and was recorded whole;
 *             repaired by the rule in docs/order.md and counted by name
 *
 * Nothing here prints. One thread at a time. The same input gives the same workload, byte for byte. */
#ifndef MALLAB_CONVERT_CONVERT_H
#define MALLAB_CONVERT_CONVERT_H

#include "convert/base/error.h"
#include "convert/base/request.h"
#include "convert/base/survey_counts.h"

/* conv_file - convert in_path to a workload, or what options.to names, at out_path ("-": standard output). What is no
 * workload becomes one first, in a file without a name; a workload stays the same, byte for byte.
 * in_path      see "input" above, or a workload; "-" is standard input, for texts and other tools' traces only.
 * options      borrowed; NULL: the defaults.
 * ret_report   filled on FP_OK; end it with conv_report_release.
 * ret_error    filled unless FP_OK. Nothing stands at out_path then.
 * Returns      FP_OK; FP_ERR_OPEN, FP_ERR_READ, FP_ERR_FOREIGN, FP_ERR_VERSION, FP_ERR_TRUNCATED (not
 *              even a header: a file cut later converts, incomplete), FP_ERR_CORRUPT, FP_ERR_CHECKSUM,
 *              FP_ERR_EXISTS, FP_ERR_WRITE, FP_ERR_MEMORY, FP_ERR_LIMIT, FP_ERR_ARGUMENT. */
enum fp_status conv_file(const char *in_path, const char *out_path, const struct conv_options *options,
                         struct conv_report *ret_report, struct conv_error *ret_error);

/* conv_survey_file - the same pass without writing; reads workloads too.
 * ret_survey   filled on FP_OK; end it with conv_survey_release.
 * Returns      as conv_file. */
enum fp_status conv_survey_file(const char *in_path, const struct conv_options *options,
                                struct conv_survey *ret_survey, struct conv_error *ret_error);

#endif

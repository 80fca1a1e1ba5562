/* import_open.h - another tool's trace as an input. */
#ifndef MALLAB_CONVERT_IMPORT_IMPORT_OPEN_H
#define MALLAB_CONVERT_IMPORT_IMPORT_OPEN_H

#include "convert/base/request.h"
#include "convert/base/source.h"

/* conv_import_open - open another tool's trace; close() it after use.
 * path      "-" is standard input. Kept by reference until close.
 * kind      its format; CONV_KIND_UNKNOWN: found out, from its first bytes.
 * survey    kind and what the head tells are filled in. It must stay where it is until close.
 * Returns   FP_OK, or the status in ret_error: FP_ERR_FOREIGN for a trace of no known format, FP_ERR_READ when it may be
 *           of several. */
enum fp_status conv_import_open(const char *path, enum conv_kind kind, const struct conv_options *options,
                                struct conv_survey *survey, struct conv_error *ret_error,
                                struct conv_input *ret_input);

#endif

/* workload_text.h - workloads as text (docs/importing.md), read back. Private to convert/. */
#ifndef MALLAB_CONVERT_TEXT_WORKLOAD_TEXT_H
#define MALLAB_CONVERT_TEXT_WORKLOAD_TEXT_H

#include "convert/base/request.h"
#include "convert/base/unnamed_file.h"
#include "footprint/wl/workload.h"

#define CONV_TEXT_MAGIC "mallab-workload-text 1" /* the first line; the number changes with the grammar */
#define CONV_TEXT_NAME  "mallab-workload-text "

/* conv_temporary_text - make one of the workload text at in_path ("-": standard input; it may be compressed).
 * beside   in its directory, see conv_temporary_open.
 * options  window_ops and zstd_level go before those of the text; progress counts bytes.
 * Returns  FP_OK: close the descriptor after use; else FP_ERR_VERSION (of the text), FP_ERR_TRUNCATED (no line `end`),
 *          FP_ERR_CORRUPT with the line, those of conv_text_line and the writer, with error filled. Memory: 16 bytes for the
 *          highest object. */
enum fp_status conv_temporary_text(const char *in_path, const char *beside,
                                   const struct conv_options *options, struct conv_temporary *ret_temporary,
                                   struct conv_error *error);

#endif

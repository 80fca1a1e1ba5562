/* output_place.h - the place of an output: the regular file of its name, through symbolic links, and nothing else.
 *
 * Outputs are written beside their place and renamed into it, which would put a file where a device or a pipe was, and in
 * place of a link instead of its target. */
#ifndef MALLAB_FOOTPRINT_BASE_OUTPUT_PLACE_H
#define MALLAB_FOOTPRINT_BASE_OUTPUT_PLACE_H

#include <stdbool.h>

#include "footprint/base/status.h"

/* fp_place - find the file that a path means for writing; it may not exist.
 * ret_path   with FP_OK: to be renamed to, the caller's to free.
 * Returns    FP_OK; FP_ERR_FOREIGN: something stands there that is no regular file; FP_ERR_OPEN, with errno: a symbolic
 *            link leads nowhere, or cannot be followed; FP_ERR_MEMORY. */
enum fp_status fp_place(const char *path, char **ret_path);

/* fp_place_take - give a finished file its name. Without overwrite the rename must not replace what came to stand there meanwhile;
 * old kernels and some file systems know no RENAME_NOREPLACE, link does the same in two steps.
 * Returns  false with errno: EEXIST where the name is taken. */
bool fp_place_take(const char *temporary, const char *path, bool overwrite);

#endif

/* detect.h - what kind of file stands at a path, by what it begins with. */
#ifndef MALLAB_CONVERT_OPEN_DETECT_H
#define MALLAB_CONVERT_OPEN_DETECT_H

#include "convert/base/error.h"
#include "convert/base/kind.h"
#include "convert/base/request.h"

/* conv_detect - what kind of file stands at path, by its first bytes, never by its name.
 * path   "-" is CONV_KIND_UNKNOWN: a pipe is read once (conv_file detects while it reads).
 * Returns CONV_KIND_UNKNOWN also when it cannot be opened; the caller's next step says why. */
enum conv_kind conv_detect(const char *path);

/* conv_resolve - the kind that options.from names, or that is detected; unknown stays unknown. */
enum fp_status conv_resolve(const char *path, const struct conv_options *options, enum conv_kind *ret_kind,
                            struct conv_error *error);

#endif

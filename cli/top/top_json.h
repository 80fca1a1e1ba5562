/* top_json.h - a frame as JSON. */
#ifndef MALLAB_CLI_TOP_TOP_JSON_H
#define MALLAB_CLI_TOP_TOP_JSON_H

#include <jansson.h>

#include "cli/top/top_frame.h"

/* cli_top_json - the same as an object, docs/man/mallab-top.1. A new reference. */
json_t *cli_top_json(const struct conv_view *view, const struct cli_top_moment *moment);

#endif

/* top_text.h - a frame as text. */
#ifndef MALLAB_CLI_TOP_TOP_TEXT_H
#define MALLAB_CLI_TOP_TOP_TEXT_H

#include "cli/top/top_frame.h"

/* cli_top_text - a frame as lines of at most `columns` characters, each ending in a newline.
 * lines   as many at most; 24 show everything that matters. */
void cli_top_text(const struct conv_view *view, const struct cli_top_moment *moment, unsigned lines,
                  unsigned columns, struct res_text *out);

#endif

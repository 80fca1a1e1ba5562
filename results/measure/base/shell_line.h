/* shell_line.h - environment variables as a line that a shell takes, pasted before a command. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_SHELL_LINE_H
#define MALLAB_RESULTS_MEASURE_BASE_SHELL_LINE_H

#include "footprint/base/support.h"

/* res_shell_variable - add one variable: "MALLOC_CONF=narenas:1", quoted where a shell needs it. */
void res_shell_variable(struct res_text *text, const char *name, const char *value);

/* res_shell_is_name - whether a variable can have this name. A result is a file from anywhere: a name that is none would
 * be a command when the line is pasted. */
bool res_shell_is_name(const char *name);

/* res_shell_is_line - whether a line is such variables between blanks, as res_shell_variable words them, and nothing that
 * a shell would do besides. An empty one is. */
bool res_shell_is_line(const char *line);

#endif

/* shell_line.h - environment variables and commands as a line that a shell takes. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_SHELL_LINE_H
#define MALLAB_RESULTS_MEASURE_BASE_SHELL_LINE_H

#include "footprint/base/support.h"

/* res_shell_variable - add one variable: "MALLOC_CONF=narenas:1", quoted where a shell needs it. */
void res_shell_variable(struct res_text *text, const char *name, const char *value);

/* res_shell_word - add a word, quoted where a shell needs it. */
void res_shell_word(struct res_text *text, const char *word);

/* res_shell_command - a command as it was typed: what of argv, which ends in NULL, fits into RES_COMMAND_BYTES, then "...". So it is
 * with a word of several lines. The caller's to free. */
#define RES_COMMAND_BYTES 240u
char *res_shell_command(char *const *words);

/* res_shell_is_name - whether a variable can have this name. A result is a file from anywhere: a name that is none would
 * be a command when the line is pasted. */
bool res_shell_is_name(const char *name);

/* res_shell_is_line - whether a line is such variables between blanks, as res_shell_variable words them, and nothing that
 * a shell would do besides. An empty one is. */
bool res_shell_is_line(const char *line);

#endif

/* output.h - the answer: whole files or none, text and JSON on stdout, and how stdout is to be written to. */
#ifndef MALLAB_CLI_BASE_OUTPUT_H
#define MALLAB_CLI_BASE_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* cli_output_check - before long work: can `path` be written? "-" always can.
 * ret_problem  set to one line when not; the caller's to free. */
bool cli_output_check(const char *path, bool force, char **ret_problem);

/* cli_output_write - write a file whole or not at all (beside it, then renamed), mode 0666 less umask.
 * path   "-" is stdout. force: an existing file may be replaced. */
bool cli_output_write(const char *path, bool force, const char *text, size_t length, char **ret_problem);

/* cli_put - to stdout, for what may be longer than its buffer: why it cannot be written is kept for cli_stdout_end.
 * cli_put_own - likewise a string, which is freed.
 * cli_put_through - what was put so far leaves our buffer. Returns false where it cannot.
 * cli_stdout_end - at the end of the program: see that everything has arrived, or say on stderr why not.
 * Returns  code; CLI_FAILED instead of CLI_DONE when something is missing. A reader that has gone is no failure. */
void cli_put(const char *text, size_t length);
void cli_put_own(char *text);
bool cli_put_through(void);
int cli_stdout_end(int code);

/* cli_json_pretty - a value as a text, ending in a newline; NULL: no memory for it. The caller's to free.
 * cli_json_document - the same, an empty object for want of memory; takes over the reference. */
char *cli_json_pretty(const json_t *value);
char *cli_json_document(json_t *value);

/* cli_print_json - to stdout, indented, ending in a newline; takes over the reference. Returns an exit code. */
int cli_print_json(json_t *value);

/* cli_parse_color - "auto", "always", "never" to whether stdout is to be coloured. */
bool cli_parse_color(const char *text, bool *ret_colour);
bool cli_colour_by_default(void);

/* cli_locale_is_utf8 - whether the terminal's character set is UTF-8. main has called setlocale. */
bool cli_locale_is_utf8(void);

#endif

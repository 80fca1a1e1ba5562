/* figure_words.h - single figures as text, as tables, notes and messages print them. No malloc.
 *
 * A figure that is not there is NAN as a number and "-" as text. The names in capitals use room of their own, which lasts as long
 * as the block that they stand in; the functions behind them return `room`. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_FIGURE_WORDS_H
#define MALLAB_RESULTS_MEASURE_BASE_FIGURE_WORDS_H

#include <stdbool.h>

#include "footprint/base/support.h"

#define RES_WORDS 64u /* room for any of them */

#define RES_WORDS_ROOM ((char[RES_WORDS]){0})

/* RES_NS - nanoseconds with three digits: "9.24", "12.5", "1204". */
#define RES_NS(ns) res_ns_words((ns), RES_WORDS_ROOM)
const char *res_ns_words(double ns, char *room);

/* RES_PERCENT, RES_INTERVAL - ratios as percent of difference: "-35.0%", "[-36.3 -33.0]"; an interval that is not there is "". */
#define RES_PERCENT(ratio)      res_percent_words((ratio), RES_WORDS_ROOM)
#define RES_INTERVAL(low, high) res_interval_words((low), (high), RES_WORDS_ROOM)
const char *res_percent_words(double ratio, char *room);
const char *res_interval_words(double low, double high, char *room);

/* RES_ABOUT, RES_SHARE - shares as percent: "7 %", "0.7 %", "36 %", "less than 0.1 %", what one reading bears; with a digit more below
 * 10 %. */
#define RES_ABOUT(share) res_share_words((share), true, RES_WORDS_ROOM)
#define RES_SHARE(share) res_share_words((share), false, RES_WORDS_ROOM)
const char *res_share_words(double share, bool about, char *room);

/* RES_FACTOR, RES_NUMBER, RES_DURATION - "1.49x"; "2,301"; "1.24 s" (res_text_duration). */
#define RES_FACTOR(factor) res_factor_words((factor), RES_WORDS_ROOM)
#define RES_NUMBER(number) res_number_words((number), RES_WORDS_ROOM)
#define RES_DURATION(ns)   res_text_duration((ns), RES_WORDS_ROOM)
const char *res_factor_words(double factor, char *room);
const char *res_number_words(double number, char *room);

/* The unit of memory for all of a table. */
struct res_bytes_unit {
    const char *name;
    double bytes;
};

/* res_bytes_unit_of - the unit of a table whose largest figure is this one. RES_IN_UNIT - with three digits: "9.24", "12.5", "1204". */
#define RES_IN_UNIT(bytes, unit) res_bytes_words((bytes), (unit), RES_WORDS_ROOM)
struct res_bytes_unit res_bytes_unit_of(double largest_bytes);
const char *res_bytes_words(double bytes, struct res_bytes_unit unit, char *room);

/* ---- figure_words.c: environment variables and commands as a line that a shell takes. */

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

#endif

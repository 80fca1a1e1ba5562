/* select_options.h - the options that choose what of an input is converted: shared by convert, ab and info. */
#ifndef MALLAB_CLI_OPTIONS_SELECT_OPTIONS_H
#define MALLAB_CLI_OPTIONS_SELECT_OPTIONS_H

#include "cli/base/cli.h"
#include "cli/options/option_table.h"
#include "convert/convert.h"

/* Groups of a struct conv_options. */
extern const struct cli_option cli_select_trust_owner[];
extern const struct cli_option cli_select_process[], cli_select_part[];
extern const struct cli_option cli_select[]; /* all of them; --trust-owner among them */

/* cli_select_format - the values of --from, which convert and info have, with what they mean, by number from 0. */
bool cli_select_format(size_t number, const char **ret_word, const char **ret_meaning);

/* cli_select_check - when all are taken: which exclude each other. Returns -1, or CLI_MISUSE, told. */
int cli_select_check(const struct cli_verb *verb, const struct conv_options *options);

/* cli_select_any - whether something was selected, processes among it. */
bool cli_select_any(const struct conv_options *options);

/* cli_select_parse_when - "0", "90s", "250ms", "12.5%", "end" to a moment. False: none of these. */
bool cli_select_parse_when(const char *text, struct conv_when *ret_when);

#endif

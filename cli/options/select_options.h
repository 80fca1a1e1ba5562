/* select_options.h - the options that choose what of an input is converted: shared by convert, ab and info. */
#ifndef MALLAB_CLI_OPTIONS_SELECT_OPTIONS_H
#define MALLAB_CLI_OPTIONS_SELECT_OPTIONS_H

#include <getopt.h>

#include "cli/base/cli.h"
#include "convert/convert.h"

enum {
    CLI_SELECT_PROCESS = 512, /* above the verbs' own */
    CLI_SELECT_MERGE,
    CLI_SELECT_THREADS,
    CLI_SELECT_FROM_TIME,
    CLI_SELECT_TO_TIME,
    CLI_SELECT_SAMPLE,
    CLI_SELECT_HEAD,
    CLI_SELECT_TRUST_OWNER, /* top has it too, and none of the others */
    CLI_SELECT_END,
};

/* Rows for a verb's table of options. */
/* clang-format off */
#define CLI_SELECT_TRUST_OWNER_ROW {"trust-owner", required_argument, NULL, CLI_SELECT_TRUST_OWNER}
#define CLI_SELECT_OPTIONS                                        \
    {"process", required_argument, NULL, CLI_SELECT_PROCESS},     \
    {"merge", optional_argument, NULL, CLI_SELECT_MERGE},         \
    {"threads", required_argument, NULL, CLI_SELECT_THREADS},     \
    {"from-time", required_argument, NULL, CLI_SELECT_FROM_TIME}, \
    {"to-time", required_argument, NULL, CLI_SELECT_TO_TIME},     \
    {"sample", required_argument, NULL, CLI_SELECT_SAMPLE},       \
    {"head", required_argument, NULL, CLI_SELECT_HEAD},           \
    CLI_SELECT_TRUST_OWNER_ROW

/* Lines for a verb's help. */
#define CLI_SELECT_TRUST_OWNER_HELP                                                    \
    "      --trust-owner USER\n"                                                        \
    "                       read this user's recordings too, by name or number: their\n" \
    "                       footprints and recording.json, and nothing else\n"
#define CLI_SELECT_HELP                                                               \
    "      --process PID    which process of a recording [the one with most calls],\n" \
    "                       or of a trace that holds several [the first]; of a\n"       \
    "                       recording also by a program's name that one process has\n"  \
    "                       (awk), or a footprint's (awk.4711)\n"                       \
    "      --merge[=LIST]   several as one workload: process ids and names, patterns\n" \
    "                       too, between commas [all]\n"                             \
    "      --threads LIST   only these threads' calls: ids as 'mallab info' lists\n"  \
    "                       them, ranges A-B, main; not how many replay\n"                                 \
    "      --from-time T    from that time of the recording on: 90s, 5m, 25%; what is\n" \
    "                       alive then is created first\n"                            \
    "      --to-time T      up to that time\n"                                        \
    "      --sample SHARE   all calls on a share of the objects: 1/8, 10%\n"          \
    "      --head N         only the first N calls of what is left by the others\n"      \
    CLI_SELECT_TRUST_OWNER_HELP
/* clang-format on */

/* cli_select_take - one of these options, with its value.
 * Returns -1 when it was taken; CLI_MISUSE, told on stderr. */
int cli_select_take(const struct cli_verb *verb, int option, const char *value, struct conv_options *options);

/* cli_select_check - when all are taken: which exclude each other. As cli_select_take. */
int cli_select_check(const struct cli_verb *verb, const struct conv_options *options);

/* cli_select_any - whether something was selected, processes among it. */
bool cli_select_any(const struct conv_options *options);

/* cli_select_parse_when - "0", "90s", "250ms", "12.5%", "end" to a moment. False: none of these. */
bool cli_select_parse_when(const char *text, struct conv_when *ret_when);

/* cli_select_parse_share - "1/8", "10%" to part and of, in lowest terms; the whole is 0 of 0. False: no share. */
bool cli_select_parse_share(const char *text, uint32_t *ret_part, uint32_t *ret_of);

#endif

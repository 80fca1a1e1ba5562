/* site_reading.h - what `sites`, `leaks` and `flame` have in common: a recording read for its call stacks, and their names. */
#ifndef MALLAB_CLI_VERBS_SITE_READING_H
#define MALLAB_CLI_VERBS_SITE_READING_H

#include "cli/base/cli.h"
#include "cli/options/answer_options.h"
#include "cli/options/option_table.h"
#include "results/report/grid/lines.h"
#include "sites/stacks/stacks.h"

#define CLI_SYMBOL_DIRECTORIES 16u

/* Begin with cli_site_defaults. Strings are argv's. */
struct cli_sites {
    struct cli_answer answer;
    struct conv_options convert;
    struct conv_sites_ages ages; /* of leaks */
    const char *symbols[CLI_SYMBOL_DIRECTORIES];
    size_t symbol_count;
    bool may_fetch;
    const char *path;
};

/* The rows of how a recording is read and how its addresses are named; of a struct cli_sites. */
extern const struct cli_option cli_site_names[], cli_site_reading[];

struct cli_sites cli_site_defaults(void);

/* cli_sites_read - settings.path, with progress. Both are ended by cli_sites_end.
 * Returns   CLI_DONE; else the exit code, told on stderr: then nothing is to be ended. */
int cli_sites_read(const struct cli_verb *verb, const struct cli_sites *settings,
                   struct conv_sites *ret_sites, struct site_stacks *ret_stacks);
/* Sites that are to be left out: --without-site. */
#define CLI_WITHOUT_WORDS 16u
struct cli_without {
    const char *words[CLI_WITHOUT_WORDS]; /* of argv */
    size_t count;
    char *all; /* of messages */
    bool *sites;
    uint64_t allocations;
    struct conv_without without;
};

/* cli_without_row - takes the option's value into a struct cli_without. */
int cli_without_row(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at);

/* cli_without_find - which sites of a recording or workload, of the process that convert names, are meant; told on stderr unless
 * quiet. names: how addresses are named. Release it in any case.
 * Returns CLI_DONE; else an exit code, told: CLI_MISUSE where no site is meant, or only a sample of objects has one.
 * cli_without_among - the same of stacks that are read. */
int cli_without_find(const struct cli_verb *verb, const struct cli_sites *names, bool quiet,
                     struct cli_without *without);
int cli_without_among(const struct cli_verb *verb, const struct cli_sites *names,
                      const struct site_stacks *stacks, struct cli_without *without);
void cli_without_release(struct cli_without *without);

/* cli_sites_check_all - that each object has its stack. Returns CLI_DONE; CLI_MISUSE of a sample, told. */
int cli_sites_check_all(const struct cli_verb *verb, const char *path, const struct conv_sites *sites);

/* cli_sites_notes - add to text, as labelled lines, what a reader of sites must know: site_table_notes, whether all that was
 * live is known, what was left out as damaged, and why the recording is not whole. */
void cli_sites_notes(struct site_stacks *stacks, struct res_text *text);
void cli_sites_end(struct conv_sites *sites, struct site_stacks *stacks);

#endif

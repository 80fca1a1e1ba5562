/* site_reading.h - a recording read for its call stacks, and their names: common to `sites`, `leaks` and `flame`. */
#ifndef MALLAB_CLI_VERBS_SITE_READING_H
#define MALLAB_CLI_VERBS_SITE_READING_H

#include "cli/options/shared_options.h"
#include "results/report/grid/grid.h"
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

/* cli_sites_notes - add to text, as labelled lines, what a reader of sites must know: site_table_notes, whether all that was
 * live is known, what was left out as damaged, and why the recording is not whole. */
void cli_sites_notes(struct site_stacks *stacks, struct res_text *text);
void cli_sites_end(struct conv_sites *sites, struct site_stacks *stacks);

/* cli_leaks_ask - have the collector of a recording that goes on write every call made so far.
 * path      a recording's directory, or its recording.json.
 * Returns   nanoseconds since the recording began; 0: it has ended, cannot be asked, or does not answer. */
uint64_t cli_leaks_ask(const char *path);

#endif

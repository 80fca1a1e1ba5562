/* site_table.h - call sites as tables for people and JSON for programs. Both come from the rows of SITE_FIGURES. */
#ifndef MALLAB_SITES_TABLE_SITE_TABLE_H
#define MALLAB_SITES_TABLE_SITE_TABLE_H

#include <jansson.h>

#include "results/report/grid/grid.h"
#include "sites/stacks/stacks.h"

/* The kinds of tables: their columns, and the order of their rows. */
enum site_table { SITE_TABLE_SITES, SITE_TABLE_LEAKS };

/* site_figure_keys - the figures that rows can be in the order of, with what they are, by number from 0; false: there are
 * fewer. */
bool site_figure_keys(size_t number, const char **ret_key, const char **ret_meaning);

/* site_groups_sort - most first. key: of a figure; NULL: the table's own. Of leaks: what grows and is never freed first, what was
 * all made at the start last. */
void site_groups_sort(struct site_group *groups, size_t count, enum site_table table, const char *key);

struct site_table_request {
    enum site_table table;
    enum site_by by;
    size_t most;   /* rows; 0: all */
    size_t frames; /* of each row's largest stack, below it; 0: none */
    bool
        is_by_rank; /* in the table's own order: of leaks what was all made at the start stands apart, last */
};

/* site_table_text - the groups in their order. Lines are asked for of those shown. The caller's to free. */
char *site_table_text(struct site_stacks *stacks, const struct site_group *groups, size_t count,
                      const struct site_table_request *request, const struct res_style *style);

/* site_table_json - all figures of the groups shown, with their stacks frame by frame. A new reference. */
json_t *site_table_json(struct site_stacks *stacks, const struct site_group *groups, size_t count,
                        const struct site_table_request *request);

/* site_totals_json - set the figures of all sites together, of a sample with their ranges, and `all_live_bytes`.
 * site_total_words - a figure of all sites by its key: "1.2 MB", "about 1.2 MB (1.1 to 1.4 MB)", "less than 1.4 MB". The caller's to free. */
void site_totals_json(json_t *object, const struct conv_sites *sites);
char *site_total_words(const struct conv_sites *sites, const char *key);

/* site_table_notes - add what stands below a table, each "LABEL: WORDS": stacks that were cut and why, modules without symbols and the packages that have
 * them. */
void site_table_notes(struct site_stacks *stacks, struct res_texts *notes);

#endif

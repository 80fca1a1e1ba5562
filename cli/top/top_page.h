/* top_page.h - what the parts of a frame are written with: lines of a bounded page, short numbers; and its head. */
#ifndef MALLAB_CLI_TOP_TOP_PAGE_H
#define MALLAB_CLI_TOP_TOP_PAGE_H

#include "cli/top/top_frame.h"

#define TOP_NUMBER_BYTES 32u

struct top_page {
    struct res_text *out;
    unsigned columns, lines_left;
};

/* top_page_put - add a line, cut to the page's width: names of programs may be long, and may hold anything. */
void top_page_put(struct top_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* top_page_facts - two facts in a line; on a narrow page, each in its own. */
void top_page_facts(struct top_page *page, const char *left_name, const char *left, const char *right_name,
                    const char *right);

/* top_page_is_narrow - whether two columns would not stand side by side. */
bool top_page_is_narrow(const struct top_page *page);

/* top_number - in at most 8 characters: "999,999", "12.3 M". Returns ret_text. */
const char *top_number(double value, char ret_text[TOP_NUMBER_BYTES]);

/* top_rate - what a figure grew by in a second of the interval; "-" while catching up. Returns ret_text. */
const char *top_rate(const struct cli_top_moment *moment, uint64_t now, uint64_t before,
                     char ret_text[TOP_NUMBER_BYTES]);

/* top_head_put - the facts above the tables. */
void top_head_put(struct top_page *page, const struct conv_view *view, const struct cli_top_moment *moment,
                  const struct cli_top_numbers *sums);

#endif

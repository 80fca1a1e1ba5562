/* report_html.c - results to one HTML page. */
#include "cli/verbs/report_html.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/say.h"
#include "results/measure/figures/entry_figures.h"
#include "results/measure/result/result_json.h"
#include "results/report/html/html.h"
#include "results/report/notes/notes.h"

static int load_all(const struct cli_verb *verb, char **paths, int count, struct res_html_source *sources,
                    struct res_result *results)
{
    for (int i = 0; i < count; i++) {
        char *problem = NULL;
        if (!res_result_load(paths[i], &results[i], &problem)) {
            results[i] = (struct res_result){0};
            cli_say(verb, "cannot read '%s': %s", paths[i], problem);
            free(problem);
            return CLI_UNREADABLE;
        }
        const char *slash = strrchr(paths[i], '/');
        res_entry_figures_complete(&results[i]);
        res_notes_fill(&results[i]);
        sources[i] = (struct res_html_source){.name = slash != NULL ? slash + 1 : paths[i],
                                              .result = &results[i]};
    }
    return CLI_DONE;
}

int cli_report_html(const struct cli_verb *verb, char **paths, int count, struct res_text *ret_text)
{
    const char *missing = res_html_missing();
    if (missing != NULL) {
        cli_say(verb, "no HTML: %s", missing);
        return CLI_FAILED;
    }
    struct res_html_source *sources = res_calloc((size_t)count, sizeof *sources);
    struct res_result *results = res_calloc((size_t)count, sizeof *results);
    const int code = load_all(verb, paths, count, sources, results);
    if (code == CLI_DONE) {
        char *page = res_html(sources, (size_t)count);
        res_text_add(ret_text, page, strlen(page));
        free(page);
    }
    for (int i = 0; i < count; i++)
        res_result_release(&results[i]);
    free(results);
    free(sources);
    return code;
}

/* fuzz_result.c - any bytes as a result's JSON, as `report`, `compare`, `check` and histories take it from whoever sends it: refused
 * in one line, or shown in every form, without a byte that drives a terminal. Held against itself it is comparable. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "fuzz/target.h"
#include "results/measure/figures/figures.h"
#include "results/measure/result/result.h"
#include "results/report/gate/ci.h"
#include "results/report/gate/compare_results.h"
#include "results/report/gate/fleet_compare.h"
#include "results/report/history/result_history.h"
#include "results/report/html/html.h"
#include "results/report/notes/notes.h"
#include "results/report/table/fleet_table.h"
#include "results/report/table/table.h"

static const char BUDGET[] = "time<=+3%,rss-peak<=+5%,rss-mean<=64MiB,p99<=+10%,faults<=+5%";
static const char FLEET_BUDGET[] = "fleet:time<=-2%,fleet:peak<=+3%,fleet:losers<=0,fleet:losers<=2%";

/* NULL: there is nothing to show, which only some may say. */
static void check_shown(char *text, bool may_be_none)
{
    FUZZ_CHECK(text != NULL || may_be_none);
    for (const char *byte = text; byte != NULL && *byte != '\0'; byte++)
        FUZZ_CHECK(((unsigned char)*byte >= ' ' && *byte != 0x7f) || *byte == '\n');
    free(text);
}

static void check_dumped(json_t *value)
{
    FUZZ_CHECK(value != NULL);
    char *text = json_dumps(value, JSON_INDENT(1));
    FUZZ_CHECK(text != NULL);
    free(text);
    json_decref(value);
}

/* Of a page: its body shows nothing that drives anything, and what charts need ends no element. */
static void check_page(char *page)
{
    const char *body = strstr(page, "<main"), *data = strstr(page, "id=\"data\">");
    FUZZ_CHECK(body != NULL && data > body);
    for (const char *byte = body; byte < data; byte++)
        FUZZ_CHECK(((unsigned char)*byte >= ' ' && *byte != 0x7f) || *byte == '\n');
    data += strlen("id=\"data\">");
    const size_t length = strcspn(data, "<");
    for (size_t i = 0; i < length; i++)
        FUZZ_CHECK((unsigned char)data[i] < 0x80 && data[i] != '>' && data[i] != '&');
    FUZZ_CHECK(strncmp(data + length, "</script>", 9) == 0);
    free(page);
}

static void check_reports(const struct res_result *result)
{
    const struct res_style plain = {0}, full = {.utf8 = true, .details = true};
    const struct res_html_source source = {"fuzz.json", result};
    check_shown(res_table_text(result, &plain), false);
    check_shown(res_table_text(result, &full), false);
    check_shown(res_table_markdown(result), false);
    check_shown(res_table_csv(result), false);
    check_page(res_html(&source, 1));
}

/* What many workloads say together, and against itself. */
static void check_fleet(const struct res_fleet *fleet)
{
    const struct res_style plain = {0}, full = {.utf8 = true, .details = true};
    struct res_fleet_compare comparison;
    char *problem = NULL;
    check_shown(res_fleet_text(fleet, &plain), false);
    check_shown(res_fleet_text(fleet, &full), false);
    check_shown(res_fleet_markdown(fleet, true), false);
    if (res_fleet_compare(fleet, fleet, &comparison, &problem)) {
        check_shown(res_fleet_compare_document(&comparison, &plain), false);
        check_dumped(res_described_write(&RES_FLEET_COMPARE, &comparison));
        res_described_release(&RES_FLEET_COMPARE, &comparison);
    }
    check_shown(problem, true);
}

static void check_gate(const struct res_result *result, const struct res_result *earlier)
{
    struct res_budget budget = {0};
    struct res_check check = {0};
    char *problem = NULL;
    FUZZ_CHECK(res_budget_add_text(&budget, res_result_is_fleet(result) ? FLEET_BUDGET : BUDGET, &problem));
    if (res_check_run(result, earlier, &budget, &check, &problem)) {
        const struct res_style plain = {0};
        check_shown(res_check_document(&check, &plain), false);
        check_shown(res_check_document(&check, NULL), false);
        check_shown(res_check_junit(&check, RES_DOUBT_TOLD), false);
        check_shown(res_check_github(&check, RES_DOUBT_TOLD), false);
        check_dumped(res_described_write(&RES_CHECK, &check));
        res_described_release(&RES_CHECK, &check);
    } else {
        FUZZ_CHECK(problem != NULL && strchr(problem, '\n') == NULL);
        check_shown(problem, false);
    }
    res_budget_release(&budget);
}

static void check_comparison(const struct res_result *result)
{
    struct res_compare comparison;
    res_compare_results(result, result, &comparison);
    check_shown(res_compare_workloads_problem(result, result), true);
    check_shown(res_compare_machine_problem(result, result), true);
    check_shown(res_compare_document(&comparison, NULL), false);
    check_dumped(res_described_write(&RES_COMPARE, &comparison));
    res_described_release(&RES_COMPARE, &comparison);
}

static void check_history(const struct res_result *result)
{
    const struct res_style plain = {0};
    struct res_history history = {0};
    res_history_add(&history, "one.json", result);
    res_history_add(&history, "two.json", result);
    check_shown(res_history_name(result, 2), false);
    res_history_finish(&history);
    check_shown(res_history_document(&history, &plain), false);
    check_dumped(res_described_write(&RES_HISTORY, &history));
    res_described_release(&RES_HISTORY, &history);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const int fd = open(fuzz_input(bytes, size), O_RDONLY | O_CLOEXEC);
    char *problem = NULL;
    bool is_other;
    struct res_result typed;
    FUZZ_CHECK(fd >= 0);
    if (res_result_load_fd(fd, "-", &typed, &is_other, &problem)) {
        res_result_judge(&typed);
        res_notes_fill(&typed);
        check_reports(&typed);
        if (typed.fleet != NULL)
            check_fleet(typed.fleet);
        check_gate(&typed, NULL);
        check_gate(&typed, &typed);
        check_comparison(&typed);
        check_history(&typed);
        check_dumped(res_check_benchmark(&typed));
        check_dumped(res_result_write(&typed));
        res_result_release(&typed);
    }
    (void)close(fd); /* only read from */
    free(problem);
    return 0;
}

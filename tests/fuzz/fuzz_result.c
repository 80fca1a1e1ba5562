/* fuzz_result.c - any bytes as a result's JSON, as `report`, `compare`, `check` and histories take it from whoever sends it: refused
 * in one line, or shown, without a byte that drives a terminal. Held against itself it is comparable. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "fuzz/target.h"
#include "results/measure/figures/figures.h"
#include "results/measure/result/result.h"
#include "results/report/beside/beside.h"
#include "results/report/html/html.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"

static const char BUDGET[] = "time<=+3%,rss-peak<=+5%,rss-mean<=64MiB,p99<=+10%,faults<=+5%";

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

/* A page's body shows nothing that drives anything, and what charts need ends no element. */
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

static void check_table(const struct res_result *result, int fd)
{
    const struct res_style plain = {0}, full = {.utf8 = true, .details = true};
    check_shown(res_table_text(result, &plain), false);
    check_shown(res_table_text(result, &full), false);
}

static void check_data(const struct res_result *result, int fd)
{
    const struct res_style markdown = {.form = RES_FORM_MARKDOWN};
    check_shown(res_table_text(result, &markdown), false);
    check_shown(res_table_csv(result), false);
    check_dumped(res_result_write(result));
}

static void check_html(const struct res_result *result, int fd)
{
    const struct res_html_source source = {"fuzz.json", result};
    check_page(res_html(&source, 1));
}

static void check_fleet(const struct res_result *result, int fd)
{
    const struct res_style plain = {0}, full = {.utf8 = true, .details = true},
                           markdown = {.form = RES_FORM_MARKDOWN, .details = true};
    if (result->fleet == NULL)
        return;
    const struct res_style *const styles[] = {&plain, &full, &markdown};
    for (size_t i = 0; i < 3; i++) {
        struct res_document document = {.style = styles[i]};
        res_fleet_show(&document, result->fleet);
        check_shown(res_document_end(&document), false);
    }
}

static void check_beside(struct res_beside *beside)
{
    for (int form = RES_FORM_TEXT; form <= RES_FORM_HTML; form++) {
        const struct res_style style = {.form = (enum res_form)form};
        check_shown(res_beside_document(beside, &style), false);
    }
    check_dumped(res_described_write(&RES_BESIDE, beside));
    res_described_release(&RES_BESIDE, beside);
}

static void check_budget(const struct res_result *result, const struct res_result *earlier)
{
    struct res_budget budget = {0};
    struct res_beside check;
    char *problem = NULL;
    FUZZ_CHECK(res_budget_add_text(&budget, BUDGET, &problem));
    if (res_check_run(result, earlier, &budget, &check, &problem)) {
        check_shown(res_check_junit(&check, RES_DOUBT_TOLD), false);
        check_beside(&check);
    } else {
        FUZZ_CHECK(problem != NULL && strchr(problem, '\n') == NULL);
        check_shown(problem, false);
    }
    res_budget_release(&budget);
}

static void check_gate(const struct res_result *result, int fd)
{
    check_budget(result, NULL);
    check_budget(result, result);
}

/* The result is compared with itself. */
static void check_comparison(const struct res_result *result, int fd)
{
    struct res_beside comparison;
    check_shown(res_workloads_problem(result, result), true);
    check_shown(res_machine_problem(result, result), true);
    res_compare_run(result, result, &comparison);
    check_beside(&comparison);
}

static void check_history(const struct res_result *result, int fd)
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

/* A result that is read whole is read by its rows alone, too, with the same figures. */
static void check_rows(const struct res_result *whole, int fd)
{
    char *problem = NULL;
    bool is_other;
    struct res_result rows;
    FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0);
    FUZZ_CHECK(res_result_load_fd(fd, "-", true, &rows, &is_other, &problem));
    res_result_judge(&rows);
    FUZZ_CHECK(rows.workload_count == whole->workload_count);
    for (size_t i = 0; i < rows.workload_count; i++)
        for (size_t k = 0; k < rows.workloads[i].candidate_count; k++) {
            const double one = rows.workloads[i].candidates[k].figures.steady_ns_per_op,
                         other = whole->workloads[i].candidates[k].figures.steady_ns_per_op;
            FUZZ_CHECK(one == other || (one != one && other != other));
        }
    res_result_release(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const forms[])(const struct res_result *,
                                 int fd) = {check_rows,  check_table, check_data,       check_html,
                                            check_fleet, check_gate,  check_comparison, check_history};
    const size_t form_count = sizeof forms / sizeof forms[0];
    const unsigned turn = fuzz_turn(bytes, size);
    const int fd = open(fuzz_input(bytes, size), O_RDONLY | O_CLOEXEC);
    char *problem = NULL;
    bool is_other;
    struct res_result typed;
    FUZZ_CHECK(fd >= 0);
    if (res_result_load_fd(fd, "-", false, &typed, &is_other, &problem)) {
        res_result_judge(&typed);
        res_notes_fill(&typed);
        for (size_t i = 0; i < form_count; i++)
            if (turn == 0 || turn % form_count == i)
                forms[i](&typed, fd);
        res_result_release(&typed);
    }
    (void)close(fd); /* only read from */
    free(problem);
    return 0;
}

/* test_results_budget.c - budgets: what is read, which rule counts, and every way of writing one wrong with its place. */
#include <math.h>

#include "results/measure/candidate/candidates.h"
#include "results/report/beside/beside.h"
#include "unit/harness.h"

static void check_limit(const char *text, bool relative, double limit)
{
    OWNED(res_budget) budget = {0};
    char *problem = NULL;
    if (!res_budget_add_text(&budget, text, &problem)) {
        HARNESS_FAIL("'%s' is refused: %s", text, problem);
        free(problem);
    } else if (budget.rule_count != 1 || budget.rules[0].relative != relative ||
               !(fabs(budget.rules[0].limit - limit) <= fabs(limit) * 1e-12)) {
        HARNESS_FAIL("'%s': limit %.9g, expected %.9g", text, budget.rules[0].limit, limit);
    }
}

TEST(limits_are_read_in_their_units)
{
    check_limit("time<=+3%", true, 1.03);
    check_limit("time<=-10%", true, 0.9);
    check_limit("time<=0%", true, 1);
    check_limit(" jemalloc : time <= +3.5 % ", true, 1.035);
    check_limit("time<=25ns", false, 25);
    check_limit("p99<=1.5us", false, 1500);
    check_limit("p99.9<=20us", false, 20000);
    check_limit("rss-peak<=512MiB", false, 512.0 * 1048576);
    check_limit("rss-mean<=512M", false, 512.0 * 1048576);
    check_limit("rss-end<=512MB", false, 512e6);
    check_limit("rss-idle<=0B", false, 0);
    check_limit("faults<=10000", false, 10000);
}

/* length: of a file; 0: a command line, which ends where the text does. */
static void check_refused(const char *text, size_t length, const char *expected)
{
    OWNED(res_budget) budget = {0};
    char *problem = NULL;
    if (length > 0 ? res_budget_add_file(&budget, text, length, &problem)
                   : res_budget_add_text(&budget, text, &problem))
        HARNESS_FAIL("'%s' is taken", text);
    else if (strstr(problem, expected) == NULL)
        HARNESS_FAIL("'%s': '%s' does not hold '%s'", text, problem, expected);
    free(problem);
}

TEST(wrong_budgets_are_refused_with_their_column)
{
    check_refused("", 0, "column 1: '' is no budget");
    check_refused("time", 0, "column 1: 'time' is no budget");
    check_refused("time<+3%", 0, "column 1");
    check_refused("time<=", 0, "column 1: '' is no limit of 'time'");
    check_refused("time<=+3%,", 0, "column 11: '' is no budget");
    check_refused("time<=+3%,tine<=+3%", 0, "column 11: unknown metric 'tine'; there are time, p99");
    check_refused("time<=3%", 0, "'3%' is no limit"); /* more or less? */
    check_refused("time<=+3", 0, "'+3' is no limit");
    check_refused("time<=3", 0, "'3' is no limit of 'time': write +3%, -10% or 25ns");
    check_refused("time<=3MB", 0, "no limit");
    check_refused("rss-peak<=3ns", 0, "no limit");
    check_refused("rss-peak<=-3MB", 0, "no limit");
    check_refused("faults<=3B", 0, "no limit");
    check_refused("time<=-100%", 0, "no limit");
    check_refused("time<=+inf%", 0, "no limit");
    check_refused("time<=+0x3%", 0, "no limit");
    check_refused("time<=+1.2.3%", 0, "no limit");
    check_refused("time<=+.%", 0, "no limit");
    check_refused("time<=+9999999%", 0, "no limit");
    check_refused("rss-peak<=9999999999999999999B", 0, "no limit");
    check_refused("rss-peak<=999999999999999GB", 0, "no limit");
    check_refused(":time<=+3%", 0, "stands no name");
    check_refused("time<=+3%,time<=+4%", 0,
                  "column 11: 'time' is limited twice for the same: 'time<=+3%' stands at column 1");
    check_refused("t\033[31m<=+3%", 0, "unknown metric 't\\x1b[31m'");
}

static const char *text_of(const struct res_budget *budget, enum res_metric metric, bool relative,
                           const char *candidate)
{
    const struct res_rule *rule = res_budget_find(budget, metric, relative, candidate);
    return rule != NULL ? rule->text : "none";
}

static bool add_file(struct res_budget *budget, const char *text, char **ret_problem)
{
    return res_budget_add_file(budget, text, strlen(text), ret_problem);
}

TEST(the_nearest_rule_counts)
{
    OWNED(res_budget) budget = {0};
    char *problem = NULL;
    CHECK(add_file(&budget,
                   "# a budget\nslow:time<=+50%  # known\ntime<=+3%\r\n\nrss-peak<=+5%, rss-peak<=512MiB\n"
                   " a:faults<=1\nfaults<=2\n",
                   &problem));
    CHECK_STR(problem == NULL ? "" : problem, "");
    CHECK_U64(budget.rule_count, 6);
    CHECK_STR(text_of(&budget, RES_METRIC_TIME, true, "jemalloc"), "time<=+3%");
    CHECK_STR(text_of(&budget, RES_METRIC_TIME, true, "slow"), "time<=+50%");
    CHECK_STR(text_of(&budget, RES_METRIC_FAULTS, false, "a"), "faults<=1");
    CHECK_STR(text_of(&budget, RES_METRIC_FAULTS, false, "b"), "faults<=2");
    CHECK_STR(text_of(&budget, RES_METRIC_RSS_PEAK, false, "slow"), "rss-peak<=512MiB");
    CHECK_STR(text_of(&budget, RES_METRIC_P99, true, "slow"), "none");
    free(problem);
}

TEST(wrong_files_are_refused_with_their_line)
{
#define REFUSED(text, expected) check_refused(text, sizeof(text) - 1, expected)
    REFUSED("# nothing\n\n", "holds no budget");
    REFUSED("[all]\ntime = +3%\n", "line 1: '[all]' is no budget");
    REFUSED("time<=+3%\n\ntune<=+3%\n", "line 3: unknown metric 'tune'");
    REFUSED("\ntime<=fast\n", "line 2: 'fast' is no limit");
    REFUSED("time<=+3%,\n", "line 1: '' is no budget");
    REFUSED("time<=+3%\ntime<=+4%\n", "line 2: 'time' is limited twice");
    REFUSED("time<=+3%\ntime<=+\0003%\n", "line 2: '+' is no limit");
    REFUSED("a\000b:time<=+3%\n", "line 1: before ':' stands no name");
    static char huge[RES_BUDGET_BYTES_MAX + 2];
    memset(huge, '\n', sizeof huge - 1);
    check_refused(huge, sizeof huge - 1, "larger than");
}

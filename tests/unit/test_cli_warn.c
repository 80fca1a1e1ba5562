/* test_cli_warn - what disturbs is told once for each cause, and behind the rounds what of it went on. */
#include <stdarg.h>

#include "cli/base/cli.h"
#include "cli/base/say.h"
#include "cli/verbs/disturbance_warnings.h"
#include "footprint/base/support.h"
#include "harness.h"

static char said[1024];

/* In place of cli/base/say.c: what would go to stderr. */
void cli_say(const struct cli_verb *verb, const char *format, ...)
{
    const size_t length = strlen(said);
    va_list list;
    (void)verb;
    va_start(list, format);
    vsnprintf(said + length, sizeof said - length, format, list);
    va_end(list);
    snprintf(said + strlen(said), sizeof said - strlen(said), "|");
}

static void add(struct res_disturbances *disturbances, const char *kind, const char *text, const char *remedy)
{
    disturbances->list = res_realloc(disturbances->list, disturbances->count + 1, sizeof *disturbances->list);
    disturbances->list[disturbances->count++] = (struct res_disturbance){
        .kind = res_strdup(kind), .text = res_strdup(text), .remedy = res_strdup(remedy)};
}

TEST(each_cause_once)
{
    const struct cli_answer answer = {0};
    struct res_disturbances disturbances = {0};
    add(&disturbances, "load", "load 9", "wait");
    add(&disturbances, "turbo", "turbo is on", "turn it off");
    add(&disturbances, "pressure", "threads waited", "wait");
    said[0] = '\0';
    const size_t told = cli_warn_of(NULL, &answer, &disturbances, 0);
    CHECK_U64(told, 3);
    CHECK_STR(said, "warning: load 9; threads waited: wait|warning: turbo is on: turn it off|");
    add(&disturbances, "others", "others used 80 %", "end them");
    add(&disturbances, "steal", "stolen", "move");
    add(&disturbances, "pressure", "threads waited", "pin");
    said[0] = '\0';
    CHECK_U64(cli_warn_of(NULL, &answer, &disturbances, told), 6);
    CHECK_STR(said,
              "warning: stolen: move|warning: likewise during the rounds: others used 80 %; threads waited|");
    res_disturbances_release(&disturbances);
}

TEST(quiet_says_nothing)
{
    const struct cli_answer answer = {.quiet = true};
    struct res_disturbances disturbances = {0};
    add(&disturbances, "load", "load 9", "wait");
    said[0] = '\0';
    CHECK_U64(cli_warn_of(NULL, &answer, &disturbances, 0), 1);
    CHECK_STR(said, "");
    res_disturbances_release(&disturbances);
}

RUN_TESTS(T(each_cause_once), T(quiet_says_nothing))

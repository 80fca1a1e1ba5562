/* verb_collect.c - `mallab collect`: what came back of a plan, as one answer; which cells are missing, and why. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/output.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/option_table.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/verbs.h"
#include "footprint/base/support.h"
#include "results/report/table/fleet_table.h"

struct settings {
    struct cli_answer answer;
    bool missing;
};

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.name = "missing", .how = CLI_FLAG, .at = AT(missing),
     .help = "print only the numbers of the missing cells, as '3,17-20': what 'sbatch --array=' takes"},
    {.group = cli_answer_output, .at = AT(answer), .argument = "FILE",
     .help = "keep what the cells say together, as JSON, for 'mallab report', 'check' and 'compare'"},
    {.group = cli_answer_force, .at = AT(answer)},
    {.group = cli_answer_json, .at = AT(answer), .help = "print that JSON instead of the screen"},
    {.name = "details", .how = CLI_FLAG, .at = AT(answer.details),
     .help = "all hosts and all missing cells, not only the worst and the best"},
    {.group = cli_answer_color, .at = AT(answer)},
    {0},
};
/* clang-format on */

/* Kept first: whoever reads our stdout may have gone. */
static int give(const struct settings *settings, const struct res_fleet *fleet)
{
    const struct cli_answer *answer = &settings->answer;
    const struct res_style style = {
        .utf8 = cli_locale_is_utf8(), .colour = answer->colour, .details = answer->details};
    int code = CLI_DONE;
    char *document = cli_json_document(res_fleet_write(fleet));
    if (answer->output != NULL)
        code = cli_answer_write(&CLI_COLLECT, answer, document);
    const bool is_given = answer->output != NULL && strcmp(answer->output, "-") == 0;
    if (settings->missing)
        cli_put_own(res_fleet_missing_numbers(fleet));
    else if (answer->json && !is_given)
        cli_put(document, strlen(document));
    else if (!is_given)
        cli_put_own(res_fleet_text(fleet, &style));
    free(document);
    return code != CLI_DONE ? code : fleet->missing_count > 0 ? CLI_FAILED : CLI_DONE;
}

static int run_collect(int argc, char **argv)
{
    struct settings settings = {.answer = cli_answer_defaults()};
    struct cli_operands operands;
    struct res_result result;
    int code = cli_options_take(&CLI_COLLECT, argc, argv, &settings, &operands);
    if (code < 0)
        code = cli_operands_one(&CLI_COLLECT, &operands, "no plan: name its directory", "one plan at a time");
    if (code >= 0)
        return code;
    code = cli_answer_check(&CLI_COLLECT, &settings.answer);
    if (code == CLI_DONE)
        code = cli_fleet_collect(&CLI_COLLECT, operands.words[0], &result);
    if (code != CLI_DONE)
        return code;
    code = give(&settings, result.fleet);
    res_result_release(&result);
    return code;
}

const struct cli_verb CLI_COLLECT = {
    .name = "collect",
    .summary = "what the cells of a plan say together",
    .usage = "[OPTION...] DIR",
    .purpose =
        "Read what came back of a plan ('mallab plan -o DIR') and say what it means for all workloads "
        "together: the change of each candidate with its spread, who loses, sums of memory and CPU time; and "
        "which cells are missing, and why. At any time, in any order, as often as you like: nothing is "
        "written, and the same cells give the same answer.",
    .options = OPTIONS,
    .completes = ":directories",
    .examples = "mallab collect -o fleet.json plan/\n"
                "sbatch --array=$(mallab collect --missing plan/) slurm.sh plan/",
    .exit_codes =
        "0 every cell is there, 1 cells are missing or it failed, 2 misuse, 3 the plan is unreadable",
    .run = run_collect,
};

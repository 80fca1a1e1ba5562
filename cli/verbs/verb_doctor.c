/* verb_doctor.c - `mallab doctor`: what on this machine spoils measurements or recordings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/output.h"
#include "cli/doctor/doctor_noise.h"
#include "cli/doctor/doctor_programs.h"
#include "cli/options/answer_options.h"
#include "cli/options/option_table.h"
#include "cli/verbs/verbs.h"
#include "results/measure/machine/machine.h"
#include "results/report/table/doctor_text.h"

/* `steal`, `others` and the like show only over time. */
#define WINDOW_NS UINT64_C(1000000000)

struct settings {
    struct cli_answer answer;
    bool noise;
};

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.name = "noise", .how = CLI_FLAG, .at = AT(noise),
     .help = "also replay a workload made for it on glibc against itself, ten rounds, some seconds: the "
             "difference below which nothing can be told apart here"},
    {.group = cli_answer_json, .at = AT(answer)},
    {.group = cli_answer_color, .at = AT(answer)},
    {.group = cli_answer_quiet, .at = AT(answer), .help = "leave out what is ok"},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){.answer = cli_answer_defaults()};
    const int code = cli_options_take(&CLI_DOCTOR, argc, argv, ret_settings, &operands);
    return code >= 0 ? code : cli_operands_none(&CLI_DOCTOR, &operands);
}

static int give_out(const struct res_doctor *doctor, json_t *noise, const struct settings *settings)
{
    if (settings->answer.json) {
        struct res_machine machine;
        json_t *object = json_object();
        res_machine_describe(&machine);
        json_object_set_new(object, "schema", json_string("mallab-doctor/1"));
        json_object_set_new(object, "mallab_version", json_string(MALLAB_VERSION));
        json_object_set_new(object, "machine", res_described_write(&RES_MACHINE, &machine));
        res_described_release(&RES_MACHINE, &machine);
        json_object_set_new(object, "bad", json_integer((json_int_t)doctor->count[RES_DOCTOR_BAD]));
        json_object_set_new(object, "notes", json_integer((json_int_t)doctor->count[RES_DOCTOR_NOTE]));
        json_object_set(object, "checks", doctor->checks);
        json_object_set(object, "noise", noise);
        return cli_print_json(object);
    }
    const struct res_style style = {.utf8 = cli_locale_is_utf8(), .colour = settings->answer.colour};
    char *text = res_doctor_text(doctor, &style, !settings->answer.quiet);
    cli_put(text, strlen(text));
    free(text);
    return CLI_DONE;
}

static int run_doctor(int argc, char **argv)
{
    struct settings settings;
    struct res_doctor doctor;
    json_t *noise = json_null();
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    cli_stops_take();
    res_doctor_begin(&doctor, "");
    res_doctor_measuring(&doctor, WINDOW_NS);
    cli_doctor_replay(&doctor);
    if (settings.noise && cli_stopped_by == 0)
        code = cli_doctor_noise(&CLI_DOCTOR, &doctor, &noise);
    else
        code = CLI_DONE;
    res_doctor_recording(&doctor);
    res_doctor_validating(&doctor);
    if (code == CLI_DONE)
        code = cli_doctor_installed(&CLI_DOCTOR, &doctor);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = give_out(&doctor, noise, &settings);
    else if (code == CLI_DONE)
        code = CLI_FAILED;
    if (code == CLI_DONE && doctor.count[RES_DOCTOR_BAD] > 0)
        code = CLI_FAILED;
    json_decref(noise);
    res_doctor_release(&doctor);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_DOCTOR = {
    .name = "doctor",
    .summary = "say what on this machine spoils measurements",
    .usage = "[OPTION...]",
    .purpose =
        "Look at this machine for what spoils measurements, recordings and validations: each check is ok, "
        "note (it limits what can be had) or bad (it spoils figures or recordings), with what was seen, "
        "why it matters and what to do about it. It looks for about a second.",
    .options = OPTIONS,
    .examples = "mallab doctor --noise",
    .exit_codes = "0 nothing is bad, 1 something is bad, or failed, 2 misuse",
    .run = run_doctor,
};

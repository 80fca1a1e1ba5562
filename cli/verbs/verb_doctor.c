/* verb_doctor.c - `mallab doctor`: what on this machine spoils measurements or recordings. */
#include <stdio.h>
#include <string.h>

#include "cli/verbs/verbs.h"
#include "replay/clock/real.h"
#include "results/measure/experiment/timed.h"
#include "results/measure/machine/disturbances.h"
#include "results/report/html/html.h"

/* ---- the clock, found out by the replay's own code --------------------------------- */

/* A read costs 10-30 ns, from the kernel's page 20-60; a system call each time is hundreds. It is read twice
 * a batch of thousands of ops: above this the ends of a batch blur. */
#define COST_BAD_NS 1000.0

static void add_clock(struct res_doctor *doctor)
{
    struct rep_clock clock;
    char source[64];
    rep_clock_init(&clock);
    rep_clock_rate(&clock);
    const double cost_ns = rep_clock_ns(&clock, clock.cost_ticks);
    const bool told = res_doctor_read(
        doctor, "/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source);
    const bool dear = cost_ns > COST_BAD_NS;
    char *kernels = told ? res_printf("; the kernel's is %s", source) : res_strdup("");
    res_doctor_add(
        doctor, "measuring", "clock",
        dear            ? RES_DOCTOR_BAD
        : clock.counter ? RES_DOCTOR_OK
                        : RES_DOCTOR_NOTE,
        res_printf("%s, %.0f ns a read%s",
                   clock.counter ? "the processor's counter, steady"
                                 : "CLOCK_MONOTONIC, for want of a steady counter",
                   cost_ns, kernels),
        "it times batches of calls and, with --latency, each call",
        dear ? "the kernel found no usable counter: see dmesg for 'clocksource', boot with tsc=reliable"
        : clock.counter ? NULL
                        : "single calls are timed less finely; batches lose nothing");
    free(kernels);
}

/* ---- what there is to record, replay and compare with ---------------------------------------- */

static void add_own(struct res_doctor *doctor)
{
    char *library = res_own_library("libmallab.so");
    char *collector = res_own_program("mallab-collect");
    char *none = res_own_program("mallab-replay-none");
    const bool records = library != NULL && collector != NULL;
    res_doctor_add(doctor, "installed", "recorder", records ? RES_DOCTOR_OK : RES_DOCTOR_BAD,
                   records ? res_strdup(library)
                           : res_printf("%s is missing", library == NULL ? "libmallab.so" : "mallab-collect"),
                   "mallab record preloads the library, and the collector writes what it says",
                   records ? NULL : "build and install again: ninja -C build, meson install -C build");
    res_doctor_add(doctor, "installed", "floor", none != NULL ? RES_DOCTOR_OK : RES_DOCTOR_BAD,
                   none != NULL ? res_strdup(none) : res_strdup("mallab-replay-none is missing"),
                   "the harness's own time is measured with it and subtracted",
                   none != NULL ? NULL : "build and install again");
    free(library);
    free(collector);
    free(none);
}

/* Variants share the library of the candidate that they are named after. */
static bool is_variant(const struct res_candidate *candidate)
{
    return strchr(candidate->name, '+') != NULL;
}

static bool is_default(const char *name)
{
    return strstr(CLI_DEFAULT_LIST, name) != NULL; /* none is a part of another's name */
}

static int add_allocators(struct res_doctor *doctor)
{
    struct res_registry registry = {0};
    struct res_text found = {0};
    const int code = cli_registry_load(&CLI_DOCTOR, &registry);
    for (size_t i = 0; i < registry.candidate_count; i++) {
        struct res_candidate *candidate = registry.candidates[i];
        if (is_variant(candidate) || strcmp(candidate->name, "none") == 0)
            continue;
        if (res_candidate_resolve(candidate, res_program_directories())) {
            const bool versioned = candidate->version != NULL && candidate->version[0] != '\0';
            res_text_printf(&found, "%s%s%s%s", found.length > 0 ? ", " : "", candidate->name,
                            versioned ? " " : "", versioned ? candidate->version : "");
            continue;
        }
        char *remedy = candidate->package != NULL ? res_printf("apt-get install %s", candidate->package)
                                                  : res_strdup("see 'mallab allocators'");
        char *name = res_printf("%.20s", candidate->name);
        res_doctor_add(
            doctor, "installed", name, is_default(candidate->name) ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
            res_printf("not here: %s", candidate->missing), "one candidate less to compare", remedy);
        free(name);
        free(remedy);
    }
    if (code == CLI_DONE)
        res_doctor_add(doctor, "installed", "allocators", found.length > 0 ? RES_DOCTOR_OK : RES_DOCTOR_BAD,
                       res_strdup(found.length > 0 ? found.text : "none"), "they are what is compared",
                       found.length > 0 ? NULL : "scripts/setup");
    free(found.text);
    res_registry_release(&registry);
    return code;
}

static void add_tools(struct res_doctor *doctor)
{
    char *hyperfine = res_find_in_path("hyperfine", NULL);
    res_doctor_add(doctor, "installed", "hyperfine", hyperfine != NULL ? RES_DOCTOR_OK : RES_DOCTOR_NOTE,
                   res_strdup(hyperfine != NULL ? hyperfine : "not here"),
                   "confirm times whole programs with it, else with wait4(2)",
                   hyperfine != NULL ? NULL : "apt-get install hyperfine");
    free(hyperfine);
}

/* ---- command line ---------------------------------------------------------------------------- */

/* `steal`, `others` and the like show only over time. */
#define WINDOW_NS UINT64_C(1000000000)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.row = &cli_answer_json},
    {.row = &cli_answer_color},
    {.row = &cli_answer_quiet, .help = "leave out what is ok"},
    {0},
};
/* clang-format on */

static int give_out(const struct res_doctor *doctor, const struct cli_answer *answer)
{
    if (cli_is_json(answer)) {
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
        return cli_print_json(object);
    }
    const struct res_style style = cli_answer_style(answer);
    cli_put_own(res_doctor_text(doctor, &style, !answer->quiet));
    return CLI_DONE;
}

static int run_doctor(int argc, char **argv)
{
    struct cli_answer answer = {0};
    struct cli_operands operands;
    struct res_doctor doctor;
    int code = cli_options_take(&CLI_DOCTOR, argc, argv, &answer, &operands);
    if (code >= 0)
        return code;
    cli_stops_take();
    res_doctor_begin(&doctor, "");
    res_doctor_measuring(&doctor, WINDOW_NS);
    add_clock(&doctor); /* chosen as the replay will */
    res_doctor_recording(&doctor);
    res_doctor_confirming(&doctor);
    add_own(&doctor);
    code = add_allocators(&doctor);
    add_tools(&doctor);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = give_out(&doctor, &answer);
    else if (code == CLI_DONE)
        code = CLI_FAILED;
    if (code == CLI_DONE && doctor.count[RES_DOCTOR_BAD] > 0)
        code = CLI_FAILED;
    res_doctor_release(&doctor);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_DOCTOR = {
    .name = "doctor",
    .summary = "say what on this machine spoils measurements",
    .usage = "[OPTION...]",
    .purpose =
        "Look at this machine for what spoils measurements, recordings and confirmations: each check is ok, "
        "note (it limits what can be had) or bad (it spoils figures or recordings), with what was seen, "
        "why it matters and what to do about it. It looks for about a second.",
    .options = OPTIONS,
    .examples = "mallab doctor",
    .exit_codes = "0 nothing is bad, 1 something is bad, or failed, 2 misuse",
    .run = run_doctor,
};

/* doctor_noise.c - a workload out of nothing, replayed by the baseline against itself. */
#include "cli/doctor/doctor_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/base/workload_facts.h"
#include "cli/options/choice.h"
#include "footprint/base/support.h"
#include "footprint/wl/workload.h"
#include "results/measure/figures/figures.h"

#define AREA   "measuring"
#define ROUNDS 10
#define OPS    400000 /* some 10 ms a run: short enough for some seconds in all, long against the clock */
#define LIVE   5000   /* objects; they outgrow a thread's cache of free ones, as those of programs do */
#define SEED   1      /* the same work each time, so that two days compare */

/* Differences of 1-3 % are what is looked for; beyond 5 % `ab` gives no advice on time (results/report/notes/advice.c). */
#define FLOOR_OK_PERCENT  2.0
#define FLOOR_BAD_PERCENT 5.0

struct object {
    uint32_t id;
    uint64_t bytes;
};

static uint32_t pick(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) +
             UINT64_C(1442695040888963407); /* Knuth's MMIX generator */
    return (uint32_t)((*state >> 33) % below);
}

/* Most requests are small, few are large. */
static uint64_t pick_size(uint64_t *state)
{
    const uint32_t kind = pick(state, 1000);
    return 1 + (kind < 900 ? pick(state, 256) : kind < 999 ? pick(state, 8192) : pick(state, 262144));
}

/* Objects are replaced at random. */
static enum fp_status write_ops(struct wl_writer *writer)
{
    static struct object objects[LIVE];
    uint64_t state = SEED;
    uint32_t thread;
    enum fp_status status = wl_writer_thread(writer, 1, true, &thread);
    memset(objects, 0, sizeof objects);
    for (unsigned op = 0; op < OPS && status == FP_OK; op++) {
        struct object *object = &objects[pick(&state, LIVE)];
        if (object->id != 0) {
            const struct fp_shape free_shape = {.call = FP_CALL_FREE};
            status = wl_writer_release(writer, thread, &free_shape, 0, object->id, object->bytes);
            object->id = 0;
            continue;
        }
        object->bytes = pick_size(&state);
        const struct fp_shape shape = {.call = FP_CALL_MALLOC, .size = object->bytes};
        status = wl_writer_allocate(writer, thread, &shape, 0, &object->id);
    }
    return status;
}

static int make_workload(const struct cli_verb *verb, const char *path)
{
    const struct wl_writer_options options = {0};
    struct wl_writer *writer = NULL;
    struct fp_error error;
    char text[4096 + 512];
    enum fp_status status = wl_writer_create(path, true, &options, NULL, 0, &error, &writer);
    if (status == FP_OK) {
        status = write_ops(writer);
        if (status == FP_OK)
            status = wl_writer_finish(writer, 0, NULL, NULL, &error);
        else {
            error = *wl_writer_error(writer);
            wl_writer_abandon(writer);
        }
    }
    if (status == FP_OK)
        return CLI_DONE;
    cli_say(verb, "%s", fp_error_text(&error, path, text, sizeof text));
    return CLI_FAILED;
}

static void on_progress(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                        size_t runs_done, size_t runs_all)
{
    (void)workload;
    (void)entry;
    (void)round;
    cli_progress_show(context, "noise", NULL, 0, runs_done, runs_all);
}

/* Percent by which glibc may seem to differ from itself, either way. */
static double floor_percent(const struct res_difference *difference)
{
    return 100 * fmax(1 - difference->interval.low, difference->interval.high - 1);
}

static json_t *noise_object(const struct res_figures *figures, double percent)
{
    return json_pack("{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "candidate", "glibc", "rounds", ROUNDS,
                     "ops", OPS, "quiet_ns_per_op", figures->quiet_ns_per_op, "typical_ns_per_op",
                     figures->typical_ns_per_op, "ratio", figures->time.ratio, "ratio_low",
                     figures->time.interval.low, "ratio_high", figures->time.interval.high, "floor_percent",
                     percent);
}

static int judge(const struct cli_verb *verb, struct res_doctor *doctor,
                 const struct res_experiment *experiment, json_t **ret_noise)
{
    const struct res_trial *trial = &experiment->trials[0];
    const struct res_entry *control = res_trial_control(trial);
    for (size_t i = 0; i < trial->entry_count; i++) {
        if (trial->entries[i].failed != NULL) {
            cli_say(verb, "the replay for --noise failed: %s", trial->entries[i].failed);
            return CLI_FAILED;
        }
    }
    if (experiment->stopped)
        return CLI_FAILED;
    const struct res_figures figures = res_figures_of(trial, control, SEED);
    const double percent = floor_percent(&figures.time);
    if (!isfinite(percent)) {
        cli_say(verb, "the replay for --noise gave no time");
        return CLI_FAILED;
    }
    const enum res_doctor_state state = percent > FLOOR_BAD_PERCENT  ? RES_DOCTOR_BAD
                                        : percent > FLOOR_OK_PERCENT ? RES_DOCTOR_NOTE
                                                                     : RES_DOCTOR_OK;
    res_doctor_add(doctor, AREA, "noise floor", state,
                   res_printf("glibc against itself, %d rounds of %d calls: time %+.1f %% [%+.1f %+.1f]",
                              ROUNDS, OPS, 100 * (figures.time.ratio - 1),
                              100 * (figures.time.interval.low - 1), 100 * (figures.time.interval.high - 1)),
                   "differences within it are called the same",
                   state == RES_DOCTOR_OK
                       ? NULL
                       : "mend what is bad here, and take as many rounds as that needs: ab --until 2%");
    *ret_noise = noise_object(&figures, percent);
    return CLI_DONE;
}

static int measure(const struct cli_verb *verb, struct res_doctor *doctor, const struct cli_choice *choice,
                   const char *path, json_t **ret_noise)
{
    struct cli_progress progress;
    struct res_workload workload;
    struct res_experiment experiment;
    int code = cli_workload_facts(verb, path, path, &workload);
    if (code != CLI_DONE)
        return code;
    const struct res_options options = {
        .workloads = &workload,
        .workload_count = 1,
        .candidates = choice->candidates,
        .candidate_count = 1,
        .floor = choice->floor,
        .rounds = ROUNDS,
        .seed = SEED,
        .stop = &cli_stopped_by,
        .progress = on_progress,
        .context = &progress,
    };
    cli_progress_begin(&progress, CLI_PROGRESS_AUTO);
    res_experiment_run(&options, &experiment);
    cli_progress_end(&progress);
    code = judge(verb, doctor, &experiment, ret_noise);
    res_experiment_release(&experiment);
    return code;
}

int cli_doctor_noise(const struct cli_verb *verb, struct res_doctor *doctor, json_t **ret_noise)
{
    struct cli_choice choice = {0};
    const char *directory = cli_temporary_directory(verb);
    if (directory == NULL)
        return CLI_FAILED;
    char *path = res_path_join(directory, "noise.wl");
    int code = make_workload(verb, path);
    if (code == CLI_DONE)
        code = cli_choose(verb, "glibc", NULL, &choice);
    if (code == CLI_DONE)
        code = measure(verb, doctor, &choice, path, ret_noise);
    cli_choice_release(&choice);
    free(path);
    return code;
}

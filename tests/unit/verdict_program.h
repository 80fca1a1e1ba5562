/* verdict_program.h - results of one workload whose figures a test chooses, for the tests of what the verdict says. */
#ifndef MALLAB_TESTS_UNIT_VERDICT_PROGRAM_H
#define MALLAB_TESTS_UNIT_VERDICT_PROGRAM_H

#include <math.h>

#include "results/measure/figures/figures.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"
#include "unit/harness.h"
#include "unit/typed.h"

/* ---- a program ------------------------------------------------------------------------------- */

#define ROUNDS 8

struct figures {
    const char *name;
    double time, time_spread; /* ratio to the baseline, and half its interval's width as a share of it */
    double peak, peak_spread; /* likewise */
    double start_bytes;       /* before the first call; the baseline's are 10 MB, of 100 MB at the peak */
    double swing;             /* of single runs: by this share up and down, by turns */
    double phase;             /* 1 or -1: which way first */
    double idle;              /* at rest, to the peak of the baseline */
};

static inline const char *verdict_of(double ratio, double spread, const char *better, const char *worse)
{
    return ratio * (1 + spread) < 1 ? better : ratio * (1 - spread) > 1 ? worse : "same";
}

__attribute__((unused)) static double file_bytes; /* before the first call, of all but the baseline */

static inline json_t *entry_of(const struct figures *figures)
{
    json_t *runs = json_array(), *memory_runs = json_array();
    for (int i = 0; i < ROUNDS; i++) {
        const double factor = 1 + (i % 2 == 0 ? 1 : -1) * figures->phase * figures->swing;
        json_array_append_new(runs, json_pack("{s:f}", "ns_per_op", 100 * figures->time * factor));
        json_array_append_new(
            memory_runs, json_pack("{s:{s:f, s:f}}", "resident", "peak_bytes",
                                   1e8 * figures->peak * (1 + (i % 2 == 0 ? 1 : -1) * figures->peak_spread),
                                   "idle_bytes", 1e8 * figures->idle));
    }
    return json_pack(
        "{s:s, s:s, s:{s:f, s:f, s:f, s:s, s:f}, s:{s:f, s:f, s:f, s:s, s:f, s:f, s:f, s:f, s:i}, s:o, s:o}",
        "name", figures->name, "library", "/l/lib.so", "time", "ratio", figures->time, "ratio_low",
        figures->time * (1 - figures->time_spread), "ratio_high", figures->time * (1 + figures->time_spread),
        "verdict", verdict_of(figures->time, figures->time_spread, "faster", "slower"), "steady_ns_per_op",
        100 * figures->time, "resident", "peak_ratio", figures->peak, "peak_ratio_low",
        figures->peak * (1 - figures->peak_spread), "peak_ratio_high",
        figures->peak * (1 + figures->peak_spread), "peak_verdict",
        verdict_of(figures->peak, figures->peak_spread, "less", "more"), "peak_bytes", 1e8 * figures->peak,
        "start_bytes", figures->start_bytes, "start_file_bytes",
        strcmp(figures->name, "glibc") != 0 ? file_bytes : 0, "idle_bytes", 1e8 * figures->idle, "rounds",
        ROUNDS, "runs", runs, "memory_runs", memory_runs);
}

__attribute__((unused)) static const struct figures BASE = {"glibc", 1, 0.02, 1, 0, 1e7, 0.05, 1, 1};

/* A million calls of 100 ns on the baseline: 100 ms, and 100 MB at the peak. process: JSON; NULL: not recorded. */
static inline const struct res_result_workload *program_with(const struct figures *figures, size_t count,
                                                             const char *live, const char *process)
{
    json_t *candidates = json_array();
    json_array_append_new(candidates, entry_of(&BASE));
    for (size_t i = 0; i < count; i++)
        json_array_append_new(candidates, entry_of(&figures[i]));
    json_t *workload = json_pack("{s:i, s:i, s:i, s:s, s:o, s:o, s:n}", "ops", 1000000, "rounds", ROUNDS,
                                 "memory_rounds", ROUNDS, "live", live, "candidates", candidates, "control",
                                 entry_of(&BASE), "floor");
    if (process != NULL)
        json_object_set_new(workload, "process", json_loads(process, 0, NULL));
    const struct res_result_workload *known = typed_workload(workload, "glibc");
    json_decref(workload);
    return known;
}

/* All lines of the verdict, each with a newline; static. */
static inline const char *verdict_words(const struct res_result_workload *workload)
{
    static char words[4096];
    words[0] = '\0';
    for (size_t i = 0; i < workload->note_count; i++)
        if (strcmp(workload->notes[i].label, RES_VERDICT_LABEL) == 0)
            snprintf(words + strlen(words), sizeof words - strlen(words), "%s\n", workload->notes[i].text);
    return words;
}

__attribute__((unused)) static const char *const PROCESS =
    "{\"cpu_user_ns\": 900000000, \"cpu_system_ns\": 100000000, "
    "\"rss_peak_bytes\": 200000000, \"rss_anon_peak_bytes\": 150000000, "
    "\"ended\": \"running\"}";

__attribute__((unused)) static const struct figures FAST = {"fast", 0.6, 0.02, 1.2, 0.002, 1e7, 0.05, 1, 1.2},
                                                    SMALL = {"small", 1.5,  0.02, 0.7, 0.002,
                                                             1e7,     0.05, 1,    0.2};

#endif

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
    const double time = figures->time, peak = figures->peak;
    json_t *entry = json_of(
        "{'name': '%s', 'library': '/l/lib.so', 'time': {'ratio': %.17g, 'ratio_low': %.17g, 'ratio_high': "
        "%.17g, 'verdict': '%s', 'steady_ns_per_op': %.17g}, 'resident': {'peak_ratio': %.17g, "
        "'peak_ratio_low': %.17g, 'peak_ratio_high': %.17g, 'peak_verdict': '%s', 'peak_bytes': %.17g, "
        "'start_bytes': %.17g, 'start_file_bytes': %.17g, 'idle_bytes': %.17g, 'rounds': %d}, 'runs': [], "
        "'memory_runs': []}",
        figures->name, time, time * (1 - figures->time_spread), time * (1 + figures->time_spread),
        verdict_of(time, figures->time_spread, "faster", "slower"), 100 * time, peak,
        peak * (1 - figures->peak_spread), peak * (1 + figures->peak_spread),
        verdict_of(peak, figures->peak_spread, "less", "more"), 1e8 * peak, figures->start_bytes,
        strcmp(figures->name, "glibc") != 0 ? file_bytes : 0, 1e8 * figures->idle, ROUNDS);
    for (int i = 0; i < ROUNDS; i++) {
        const int sign = i % 2 == 0 ? 1 : -1;
        json_array_append_new(
            json_at(entry, "runs"),
            json_pack("{s:f}", "ns_per_op", 100 * time * (1 + sign * figures->phase * figures->swing)));
        json_array_append_new(json_at(entry, "memory_runs"),
                              json_pack("{s:{s:f, s:f}}", "resident", "peak_bytes",
                                        1e8 * peak * (1 + sign * figures->peak_spread), "idle_bytes",
                                        1e8 * figures->idle));
    }
    return entry;
}

__attribute__((unused)) static const struct figures BASE = {"glibc", 1, 0.02, 1, 0, 1e7, 0.05, 1, 1};

/* A million calls of 100 ns on the baseline: 100 ms, and 100 MB at the peak; more: further members, or others in place of these. */
static inline json_t *program_of(const struct figures *figures, size_t count, json_t *more)
{
    json_t *workload = json_of("{'ops': 1000000, 'rounds': %d, 'memory_rounds': %d, 'candidates': [], "
                               "'floor': null}",
                               ROUNDS, ROUNDS);
    json_array_append_new(json_at(workload, "candidates"), entry_of(&BASE));
    for (size_t i = 0; i < count; i++)
        json_array_append_new(json_at(workload, "candidates"), entry_of(&figures[i]));
    json_object_set_new(workload, "control", entry_of(&BASE));
    return json_more(workload, more);
}

/* Of one other candidate. */
static inline const struct res_result_workload *known_of(const struct figures *figures, json_t *more)
{
    return typed_workload(program_of(figures, 1, more), "glibc");
}

/* process: JSON; NULL: not recorded. */
static inline const struct res_result_workload *program_with(const struct figures *figures, size_t count,
                                                             const char *live, const char *process)
{
    json_t *more = process != NULL ? json_of("{'live': '%s', 'process': %s}", live, process)
                                   : json_of("{'live': '%s'}", live);
    return typed_workload(program_of(figures, count, more), "glibc");
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

/* confirmed.c - the rows of a confirmation. */
#include "results/measure/result/confirmed.h"

#include <math.h>
#include <string.h>

static const char *const TIMED_BY[] = {"hyperfine", "wait4", "service", NULL};

#define RATIOS(name)                                                                                         \
    RES_RATIO_ROWS(                                                                                          \
        #name ".", name.ratio, name.interval.low, name.interval.high,                                        \
        "over the baseline's run beside it: mean of the logarithms, a fifth of them left out at each "       \
        "end",                                                                                               \
        "its 95 % interval")
#define SAMPLES(name, unit)                                                                                  \
    RES_LIST(NUMBERS, PLAIN, #name ".baseline_samples_" unit, name.baseline, name.baseline_count, NULL,      \
             "of the baseline's runs"),                                                                      \
        RES_LIST(NUMBERS, PLAIN, #name ".samples_" unit, name.own, name.own_count, NULL,                     \
                 "of the candidate's runs beside them")

#define OWNER struct res_confirmed
static const struct res_field CONFIRMED_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "candidate", candidate, "its name"),
    RES_ROW(TRUTH, "control", is_control, "whether it is the baseline beside itself"),
    RES_ROW(TEXT, "failed", failed, "why the program failed under it, or `null`"),
    RES_ROW(COUNT, "runs", runs, "runs that were timed, each beside one of the baseline"),
    RES_ROW(WHOLE, "time.baseline_ns", time.baseline_median,
            "user and system time of the baseline's runs, of all their processes; median"),
    RES_ROW(WHOLE, "time.saved_ns", saved_ns, "what the candidate saves of it; below 0: it takes more"),
    RATIOS(time),
    SAMPLES(time, "ns"),
    RES_ROW(WHOLE, "wall.baseline_ns", wall.baseline_median, "time that passed; median"),
    RATIOS(wall),
    SAMPLES(wall, "ns"),
    RES_ROW(WHOLE, "peak.baseline_bytes", peak.baseline_median,
            "resident, of the process with most; of a service, or a group of `ab`, all together; median"),
    RES_ROW(WHOLE, "peak.bytes", peak_bytes, "likewise under the candidate"),
    RATIOS(peak),
    SAMPLES(peak, "bytes"),
    RES_WORD("verdict.time", time_verdict, RES_TIME_VERDICTS,
             "as of the replays; the noise is what the baseline differs by from itself"),
    RES_WORD("verdict.peak", peak_verdict, RES_MEMORY_VERDICTS, "likewise"),
};
const struct res_described RES_CONFIRMED = RES_DESCRIBE("what was confirmed of a candidate",
                                                        CONFIRMED_FIELDS);
#undef OWNER

#define OWNER struct res_confirmation
static const struct res_field CONFIRMATION_FIELDS[] = {
    RES_ROW(TEXTS, "command", command, "what ran; `null` of a service"),
    RES_ROW(TEXT, "start", start, "of a service: `--start`, else `null`"),
    RES_ROW(TEXT, "ready", ready, "`--ready`"),
    RES_ROW(TEXT, "load", load, "`--load`"),
    RES_ROW(TEXT, "stop", stop, "`--stop`"),
    RES_WORD("timed_by", timed_by, TIMED_BY,
             "`hyperfine` or `wait4`; `service`: /proc and wait4 of all its processes"),
    RES_ROW(COUNT, "runs", runs, "how often the program ran, first looks and runs for memory among them"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "pairs_asked", pairs_asked, "`-n`"),
    RES_ROW(WHOLE, "budget_ns", budget_ns, "time that the runs could take; `null`: any"),
    RES_ROW(WHOLE, "elapsed_ns", elapsed_ns, "time that they took"),
    RES_ROW(WHOLE, "run_ns", run_ns, "what one run took; mean"),
    RES_ROW(TRUTH, "stopped", stopped, "whether Ctrl-C ended it"),
};
const struct res_described RES_CONFIRMATION = RES_DESCRIBE("a confirmation", CONFIRMATION_FIELDS);
#undef OWNER

const struct res_confirmed *res_confirmed_named(const struct res_confirmed *all, size_t count,
                                                const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!all[i].is_control && strcmp(all[i].candidate, name) == 0)
            return &all[i];
    return NULL;
}

double res_confirmed_baseline_bytes(const struct res_confirmed *all, size_t count)
{
    double bytes = NAN;
    for (size_t i = 0; i < count; i++)
        bytes = isfinite(all[i].peak.baseline_median) ? all[i].peak.baseline_median : bytes;
    return bytes;
}

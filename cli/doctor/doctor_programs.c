/* doctor_programs.c - see doctor_programs.h. */
#include "cli/doctor/doctor_programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/options/choice.h"
#include "footprint/base/places.h"
#include "footprint/base/support.h"
#include "replay/clock/ticks.h"
#include "replay/meters/counters.h"
#include "results/measure/experiment/timed.h"
#include "results/report/html/html.h"

/* ---- clock and counters, found out by the replay's own code --------------------------------- */

/* With the counter a read is 10-30 ns, from the kernel's page 20-60; a system call each time is hundreds. It is read twice
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

static void add_counters(struct res_doctor *doctor)
{
    static const char WHY[] =
        "cycles, instructions and misses explain a difference in time; no verdict needs them";
    struct rep_counters counters;
    struct res_text missing = {0};
    char paranoid[32] = "";
    int error = 0;
    bool user_only = false;
    rep_counters_init(&counters);
    for (unsigned i = 0; i < REP_COUNTERS; i++) {
        const struct rep_counter *counter = &counters.counters[i];
        if (counter->descriptor >= 0) {
            user_only |= counter->user_only;
            continue;
        }
        res_text_printf(&missing, "%s%s", missing.length > 0 ? ", " : "", counter->name);
        error = counter->sys_errno;
    }
    rep_counters_stop(&counters);
    (void)res_doctor_read(doctor, "/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid);
    if (missing.length > 0)
        res_doctor_add(doctor, "measuring", "hardware counters", RES_DOCTOR_NOTE,
                       res_printf("not here: %s: %s; kernel.perf_event_paranoid is %s", missing.text,
                                  rep_counter_why(error), paranoid[0] != '\0' ? paranoid : "not told"),
                       WHY,
                       error == EACCES || error == EPERM
                           ? "sysctl kernel.perf_event_paranoid=1; docker run --cap-add PERFMON"
                           : "virtual machines rarely have them: use real hardware, or do without");
    else
        res_doctor_add(doctor, "measuring", "hardware counters", user_only ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_strdup(user_only ? "all, without what the kernel does" : "all"), WHY,
                       user_only ? "sysctl kernel.perf_event_paranoid=1" : NULL);
    free(missing.text);
}

void cli_doctor_replay(struct res_doctor *doctor)
{
    add_clock(doctor);
    add_counters(doctor);
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
    static const char *const names[] = {"glibc", "jemalloc", "tcmalloc", "mimalloc"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static int add_allocators(const struct cli_verb *verb, struct res_doctor *doctor)
{
    struct res_registry registry = {0};
    struct res_text found = {0};
    const int code = cli_registry_load(verb, &registry);
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
                   "ab --hyperfine needs it; validate times whole programs with it, else with wait4(2)",
                   hyperfine != NULL ? NULL : "apt-get install hyperfine");
    free(hyperfine);
    const char *missing = res_html_missing();
    res_doctor_add(doctor, "installed", "HTML report", missing == NULL ? RES_DOCTOR_OK : RES_DOCTOR_NOTE,
                   res_strdup(missing == NULL ? "built with uPlot" : missing),
                   "report --format html draws its charts with uPlot, which is taken in when mallab is built",
                   missing == NULL ? NULL : "scripts/setup, then build again");
}

int cli_doctor_installed(const struct cli_verb *verb, struct res_doctor *doctor)
{
    add_own(doctor);
    const int code = add_allocators(verb, doctor);
    add_tools(doctor);
    return code;
}

/* doctor_replay.c - clock and counters, found out by the replay's own code. */
#include <errno.h>
#include <stdlib.h>

#include "cli/doctor/doctor_programs.h"
#include "replay/clock/ticks.h"
#include "replay/meters/counters.h"
#include "results/measure/base/support.h"

#define AREA "measuring"

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
        doctor, AREA, "clock",
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
        res_doctor_add(doctor, AREA, "hardware counters", RES_DOCTOR_NOTE,
                       res_printf("not here: %s: %s; kernel.perf_event_paranoid is %s", missing.text,
                                  rep_counter_why(error), paranoid[0] != '\0' ? paranoid : "not told"),
                       WHY,
                       error == EACCES || error == EPERM
                           ? "sysctl kernel.perf_event_paranoid=1; docker run --cap-add PERFMON"
                           : "virtual machines rarely have them: use real hardware, or do without");
    else
        res_doctor_add(doctor, AREA, "hardware counters", user_only ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_strdup(user_only ? "all, without what the kernel does" : "all"), WHY,
                       user_only ? "sysctl kernel.perf_event_paranoid=1" : NULL);
    free(missing.text);
}

void cli_doctor_replay(struct res_doctor *doctor)
{
    add_clock(doctor);
    add_counters(doctor);
}

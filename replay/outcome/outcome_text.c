/* outcome_text.c - a run as lines for people. */
#include <inttypes.h>
#include <stdio.h>

#include "footprint/base/words.h"
#include "replay/outcome/outcome.h"
#include "replay/outcome/outcome_latency.h"

#define BEHIND_TOLD_NS 10000000u            /* less may be a single turn of another program */
#define BELOW          "                  " /* a line that goes on stands below its values */

static void say(const char *key, const char *value)
{
    printf("%-18s%s\n", key, value);
}

static void say_bytes(const char *key, double bytes)
{
    say(key, FP_BYTES(bytes));
}

static void say_waste(const char *key, const struct rep_waste_sample *sample)
{
    /* Where the parts add up to more than is resident, some are not in memory, and there is no
     * rest. */
    const int64_t rest = sample->rest_bytes < 0 ? REP_WASTE_UNKNOWN : sample->rest_bytes;
    const struct {
        const char *word;
        int64_t bytes;
    } parts[] = {
        {"live", (int64_t)sample->live_bytes},
        {"rounding", sample->rounding_bytes},
        {"cached", sample->cached_bytes},
        {"metadata", sample->metadata_bytes},
        {"rest", rest},
        {"in huge pages", sample->huge_page_bytes},
    };
    printf("%-18s%s resident\n", key, FP_BYTES((double)sample->resident_bytes));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        printf("%s%s %s", i % 4 == 0 ? i == 0 ? BELOW : ",\n" BELOW : ", ", parts[i].word,
               parts[i].bytes == REP_WASTE_UNKNOWN ? "unavailable" : FP_BYTES((double)parts[i].bytes));
    if (sample->rest_bytes < 0)
        printf(";\n" BELOW "%s of these parts are not resident", FP_BYTES(-(double)sample->rest_bytes));
    printf("\n");
}

static void say_count(const char *key, uint64_t value)
{
    say(key, FP_GROUPED(value));
}

/* Functions that the workload calls and the allocator does not have. */
static void say_stand_ins(const struct rep_outcome *outcome)
{
    const char *before = "stand-ins for     ";
    for (unsigned call = 1; call < FP_CALL_COUNT; call++) {
        if ((outcome->substituted >> call & 1) == 0 || outcome->exec->summary->ops_by_call[call] == 0)
            continue;
        printf("%s%s", before, fp_call_name(call));
        before = ", ";
    }
    if (before[0] == ',')
        printf("\n");
}

static void say_limit(const struct rep_limit *limit)
{
    if (limit->bytes == 0)
        return;
    printf("%-18s%s, kept to, by %s", "limit", FP_BYTES((double)limit->bytes), limit->by);
    if (limit->has_peak)
        printf("; the kernel counted %s at the peak", FP_BYTES((double)limit->peak_bytes));
    if (limit->at_limit > 0)
        printf("; it ran into it %s time%s, and the kernel took pages back", FP_GROUPED(limit->at_limit),
               limit->at_limit == 1 ? "" : "s");
    printf("\n");
}

static void say_syscalls(const struct rep_syscalls *syscalls)
{
    const char *comma = "";
    printf("%-18s", "system calls");
    if (!syscalls->active) {
        printf("unavailable: %s\n", syscalls->why);
        return;
    }
    for (unsigned kind = 0; kind < REP_SYSCALL_KINDS; kind++, comma = ", ")
        printf("%s%s %s", comma, rep_syscall_names[kind], FP_GROUPED(rep_syscalls_of(syscalls, kind)));
    printf("\n");
}

static void say_counters(const struct rep_counters *counters)
{
    for (unsigned i = 0; i < REP_COUNTERS; i++) {
        const struct rep_counter *counter = &counters->counters[i];
        if (counter->sys_errno != 0)
            printf("%-18sunavailable: %s\n", counter->name, rep_counter_why(counter->sys_errno));
        else
            printf("%-18s%s%s%s\n", counter->name, FP_GROUPED(counter->count),
                   counter->user_only ? ", user code only" : "", counter->share < 1 ? ", estimated" : "");
    }
}

static void say_incomplete(const char *why)
{
    char plain[512];
    (void)fp_text_plain(why, plain, sizeof plain); /* the words come from a file; the first of them will do */
    printf("%-18sthe recording is not whole: %s\n", "recorded", plain);
}

static void say_allocator(const struct rep_outcome *outcome)
{
    say("candidate", outcome->candidate);
    say("malloc from", outcome->proof->malloc_library);
    if (outcome->proof->version[0] != '\0')
        say("version", outcome->proof->version);
    for (uint32_t i = 0; i < outcome->settings->count; i++) {
        const struct rep_setting *setting = &outcome->settings->list[i];
        printf("%-18s%s=%s, says %s\n", i == 0 ? "settings" : "", setting->name, setting->asked,
               setting->from);
    }
    say_stand_ins(outcome);
}

static void say_workload(const struct rep_outcome *outcome)
{
    const struct rep_exec_totals *totals = outcome->totals;
    const uint32_t threads = outcome->exec->summary->thread_count;
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, totals->digest);
    say("workload", outcome->workload);
    if (outcome->incomplete_why != NULL)
        say_incomplete(outcome->incomplete_why);
    say_count("ops", totals->ops);
    if (totals->untimed_ops > 0)
        printf("%-18s%s of them, untimed: they create what was there before\n", "inherited",
               FP_GROUPED(totals->untimed_ops));
    printf("%-18s%" PRIu32 "%s\n", "threads", threads,
           outcome->exec->serial && threads > 1 ? ", replayed on one" : "");
    say("digest", digest);
    if (outcome->exec->check != NULL)
        printf("%-18s%s objects verified, no promise broken; not timed\n", "checked",
               FP_GROUPED((uint64_t)atomic_load(&outcome->exec->check->verified)));
}

static void say_time(const struct rep_outcome *outcome)
{
    const struct rep_exec_options *exec = outcome->exec;
    const struct rep_account *account = outcome->account;
    if (rep_outcome_is_time_pass(outcome))
        printf("%-18s%.1f\n", "ns/op", rep_outcome_ns_per_op(outcome));
    else if (exec->check == NULL)
        say("ns/op", exec->latency != NULL || exec->syscalls != NULL
                         ? "not measured: in this pass calls are watched one by one, which takes time"
                         : "not measured: the recorded clock moves between the calls, which takes time");
    /* With several threads it goes on beside the calls, where a processor is free. */
    printf("%-18s%.1f ms, %s %.1f preparing\n", "wall", (double)outcome->meters->wall_ns / 1e6,
           exec->serial ? "of it" : "and of some processor", (double)outcome->totals->prepare_ns / 1e6);
    if (account->behind_most_ns > BEHIND_TOLD_NS)
        printf("%-18sbehind its pace by up to %.0f ms, by %.0f ms at the end:\n"
               "%-18sthe calls, and preparing them, take longer than %gx leaves\n",
               "pace", (double)account->behind_most_ns / 1e6, (double)account->behind_end_ns / 1e6, "",
               account->speed);
    printf("%-18s%s, asked %s times\n", "clock", account->recorded ? "recorded" : "real",
           FP_GROUPED(account->asks.asked));
}

static void say_memory(const struct rep_outcome *outcome)
{
    const struct rep_meters *meters = outcome->meters;
    say_bytes("live peak", (double)outcome->exec->summary->live_bytes_peak);
    say_bytes("resident peak", (double)meters->peak_bytes);
    say_bytes("resident mean", meters->mean_bytes);
    say_bytes("resident end", (double)meters->end_bytes);
    if (outcome->idle_ms > 0)
        say_bytes("resident idle", (double)meters->idle_bytes);
    if (outcome->waste != NULL && outcome->waste->peak.taken)
        say_waste("near live peak", &outcome->waste->peak);
    if (outcome->waste != NULL)
        say_waste("at end", &outcome->waste->end);
    if (rep_account_doubt(outcome->account) != NULL)
        say("note", rep_account_doubt(outcome->account));
}

bool rep_outcome_text(const struct rep_outcome *outcome)
{
    say_allocator(outcome);
    say_workload(outcome);
    say_limit(outcome->limit);
    say_time(outcome);
    say_memory(outcome);
    say_count("page faults", outcome->meters->faults_minor - outcome->totals->prepare_faults_minor);
    say_counters(outcome->counters);
    if (outcome->exec->syscalls != NULL)
        say_syscalls(outcome->exec->syscalls);
    if (outcome->exec->latency != NULL)
        rep_latency_text(outcome->exec->latency, outcome->exec->clock);
    return fflush(stdout) == 0 && !ferror(stdout);
}

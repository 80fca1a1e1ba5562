/* workload_facts.c - see workload_facts.h. */
#include "cli/base/workload_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/say.h"
#include "convert/convert.h"
#include "convert/open/usage_notes.h"
#include "footprint/wl/workload.h"

static void copy_meta(const struct wl_reader *reader, const char *key, const char *otherwise, char *ret_text,
                      size_t size)
{
    const char *value = wl_reader_meta(reader, key);
    snprintf(ret_text, size, "%s", value != NULL ? value : otherwise);
}

static uint64_t known(uint64_t number)
{
    return number != FP_USAGE_UNKNOWN ? number : 0;
}

/* Workloads of imported traces have none of these. */
static void take_process(const struct wl_reader *reader, struct res_workload *ret_workload)
{
    struct fp_usage usage;
    (void)conv_usage_read(reader, &usage); /* where there is nothing, nothing is known */
    ret_workload->process = (struct res_process_facts){
        .cpu_user_ns = known(usage.cpu_user_ns),
        .cpu_system_ns = known(usage.cpu_system_ns),
        .faults_minor = known(usage.faults_minor),
        .faults_major = known(usage.faults_major),
        .rss_peak_bytes = known(usage.rss_peak_bytes),
        .rss_anon_peak_bytes = known(usage.rss_anon_peak_bytes),
        .ran_ns = known(fp_usage_ran_ns(&usage)),
    };
    if (usage.ended != FP_ENDED_UNKNOWN && usage.code != FP_USAGE_UNKNOWN)
        snprintf(ret_workload->process.ended, sizeof ret_workload->process.ended, "%s %llu",
                 fp_ended_name(usage.ended), (unsigned long long)usage.code);
    else if (usage.ended != FP_ENDED_UNKNOWN)
        snprintf(ret_workload->process.ended, sizeof ret_workload->process.ended, "%s",
                 fp_ended_name(usage.ended));
    ret_workload->unseen_frees = wl_reader_meta_number(reader, "irregular_lost_free");
    if (usage.runs_on == FP_RUNS_ON_UNKNOWN)
        return;
    snprintf(ret_workload->runs_on.name, sizeof ret_workload->runs_on.name, "%s", usage.allocator);
    snprintf(ret_workload->runs_on.version, sizeof ret_workload->runs_on.version, "%s", usage.version);
    snprintf(ret_workload->runs_on.how, sizeof ret_workload->runs_on.how, "%s",
             fp_runs_on_name(usage.runs_on));
}

/* A thread that is over sooner than others get their turn, and lives no longer than this. */
#define BRIEF_CPU_NS  10e6
#define BRIEF_LIFE_NS 1e9

/* Calls of brief threads, where more than two live at once. A thread's processor time is not recorded: it has the share of the
 * process' that it has of its calls. Likewise its life has the share of the recording that it has of the windows. */
static uint64_t brief_calls_of(const struct wl_summary *summary, const struct res_process_facts *process)
{
    const double cpu_ns = (double)process->cpu_user_ns + (double)process->cpu_system_ns;
    uint64_t calls = 0;
    if (cpu_ns < 1 || summary->threads_at_once_max < 3)
        return 0;
    for (uint32_t i = 0; i < summary->thread_count; i++) {
        const struct wl_thread *thread = &summary->threads[i];
        const double windows = (double)(thread->last_window - thread->first_window) + 1;
        if (!thread->is_main && (double)thread->ops * cpu_ns < BRIEF_CPU_NS * (double)summary->ops &&
            windows * (double)summary->duration_ns < BRIEF_LIFE_NS * (double)summary->windows)
            calls += thread->ops;
    }
    return calls;
}

int cli_workload_facts(const struct cli_verb *verb, const char *path, const char *input,
                       struct res_workload *ret_workload)
{
    struct fp_error error;
    struct wl_reader *reader;
    char text[4096 + 512];
    if (wl_reader_open(path, &error, &reader) != FP_OK) {
        cli_say(verb, "cannot read %s", fp_error_text(&error, path, text, sizeof text));
        return CLI_UNREADABLE;
    }
    if (wl_reader_check(reader) != FP_OK) { /* told once, not by each run */
        cli_say(verb, "cannot read %s", fp_error_text(wl_reader_error(reader), path, text, sizeof text));
        wl_reader_close(reader);
        return CLI_UNREADABLE;
    }
    const struct wl_summary *summary = wl_reader_summary(reader);
    const char *slash = strrchr(path, '/');
    *ret_workload = (struct res_workload){
        .name = slash != NULL ? slash + 1 : path,
        .path = path,
        .file_digest = wl_reader_digest(reader),
        .ops = summary->ops,
        .duration_ns = summary->duration_ns,
        .live_peak_bytes = summary->live_bytes_peak,
        .threads = summary->thread_count,
        .processes = wl_reader_meta_number(reader, "recording_processes"),
    };
    copy_meta(reader, "program", "", ret_workload->program, sizeof ret_workload->program);
    const char *label = wl_reader_meta(reader, FP_LABEL_META);
    if (fp_label_is_valid(label))
        snprintf(ret_workload->label, sizeof ret_workload->label, "%s", label);
    copy_meta(reader, "selection", "", ret_workload->selection, sizeof ret_workload->selection);
    copy_meta(reader, "live", conv_liveness_name(CONV_LIVE_KNOWN), ret_workload->live,
              sizeof ret_workload->live);
    copy_meta(reader, "incomplete_why", "it was converted from an incomplete recording",
              ret_workload->incomplete_why, sizeof ret_workload->incomplete_why);
    const char *complete = wl_reader_meta(reader, "complete");
    ret_workload->complete = complete == NULL || strcmp(complete, "yes") == 0;
    ret_workload->lost_known = wl_reader_meta(reader, "lost_known") == NULL;
    ret_workload->lost_calls = wl_reader_meta_number(reader, "lost_calls");
    ret_workload->left_out_calls = wl_reader_meta_number(reader, "irregular_unrecorded_objects");
    ret_workload->removed_calls = wl_reader_meta_number(reader, "events_removed");
    take_process(reader, ret_workload);
    ret_workload->process.brief_calls = brief_calls_of(summary, &ret_workload->process);
    const uint64_t all_events = wl_reader_meta_number(reader, "recording_events");
    if (all_events == 0)
        ret_workload->processes = 0;
    else
        ret_workload->events_share = (double)wl_reader_meta_number(reader, "process_events") /
                                     (double)all_events;
    wl_reader_close(reader);
    if (ret_workload->ops == 0) {
        cli_say(verb, "'%s' holds no calls: there is nothing to replay", input);
        return CLI_FAILED;
    }
    return CLI_DONE;
}

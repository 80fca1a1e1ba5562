/* workload_facts.c - the facts of a workload, and of a group of them: a directory of files NAME.wl, one of each process. */
#include "cli/verbs/verbs.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/open/input.h"
#include "convert/recording/recording.h"
#include "footprint/base/words.h"
#include "footprint/wl/workload.h"
#include "results/measure/base/lives.h"
#include "results/measure/figures/figures.h"

#define ENDING ".wl"

static int is_workload_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && fp_has_ending(entry->d_name, ENDING);
}

bool cli_group_read(const char *directory, struct cli_prepared *ret_prepared)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, is_workload_name, alphasort);
    const bool fits = count > 0 && (unsigned)count <= CONV_MEMBERS_MAX;
    struct cli_prepared prepared = {0};
    if (fits) {
        prepared.path = count > 1 ? res_strdup(directory) : res_path_join(directory, entries[0]->d_name);
        while (strlen(prepared.path) > 1 && prepared.path[strlen(prepared.path) - 1] == '/')
            prepared.path[strlen(prepared.path) - 1] = '\0';
        prepared.member_count = count > 1 ? (size_t)count : 0;
        prepared.members = res_calloc((size_t)count, sizeof *prepared.members);
    }
    for (int i = 0; i < count; i++) {
        if ((size_t)i < prepared.member_count)
            prepared.members[i] = (struct res_member){.path = res_path_join(directory, entries[i]->d_name),
                                                      .name = res_strdup(entries[i]->d_name)};
        free(entries[i]);
    }
    free(entries);
    if (fits)
        *ret_prepared = prepared;
    return fits;
}

void cli_prepared_release(struct cli_prepared *prepared)
{
    for (size_t i = 0; i < prepared->member_count; i++) {
        free((void *)(uintptr_t)prepared->members[i].path); /* ours; const for those who borrow it */
        free((void *)(uintptr_t)prepared->members[i].name);
    }
    free(prepared->members);
    free(prepared->path);
    *prepared = (struct cli_prepared){0};
}

int cli_group_make_room(const struct cli_verb *verb, const char *directory, bool force)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, is_workload_name, alphasort);
    int code = CLI_DONE;
    if (count > 0 && !force) {
        cli_say(verb, "'%s' holds workloads already: name another directory, or replace them with --force",
                directory);
        code = CLI_FAILED;
    }
    for (int i = 0; i < count; i++) {
        char *path = res_path_join(directory, entries[i]->d_name);
        if (code == CLI_DONE)
            (void)unlink(path); /* what stays is met again when it is written */
        free(path);
        free(entries[i]);
    }
    free(entries);
    return code;
}

/* ---- one workload ---------------------------------------------------------------------------- */

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
    char code[24] = "";
    (void)conv_usage_read(reader, &usage); /* where there is nothing, nothing is known */
    ret_workload->process = (struct res_process_facts){
        .cpu_user_ns = known(usage.cpu_user_ns),
        .cpu_system_ns = known(usage.cpu_system_ns),
        .faults_minor = known(usage.faults_minor),
        .faults_major = known(usage.faults_major),
        .rss_peak_bytes = known(usage.rss_peak_bytes),
        .rss_anon_peak_bytes = known(usage.rss_anon_peak_bytes),
        .ran_ns = known(fp_usage_ran_ns(&usage)),
        .cxx_library = known(usage.cxx_library) > 0,
        .machine = usage.machine,
    };
    if (usage.code != FP_USAGE_UNKNOWN)
        snprintf(code, sizeof code, " %llu", (unsigned long long)usage.code);
    if (usage.ended != FP_ENDED_UNKNOWN)
        snprintf(ret_workload->process.ended, sizeof ret_workload->process.ended, "%s%s",
                 fp_ended_name(usage.ended), code);
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
    struct wl_reader *reader = NULL;
    char text[4096 + 512];
    const bool is_open = wl_reader_open(path, &error, &reader) == FP_OK;
    if (!is_open || wl_reader_check(reader) != FP_OK) { /* told once, not by each run */
        const struct fp_error *cause = is_open ? wl_reader_error(reader) : &error;
        cli_say(verb, "cannot read %s", fp_error_text(cause, path, text, sizeof text));
        wl_reader_close(reader);
        return CLI_UNREADABLE;
    }
    const struct wl_summary *summary = wl_reader_summary(reader);
    *ret_workload = (struct res_workload){
        .name = conv_path_name(path),
        .path = path,
        .file_digest = wl_reader_info(reader)->digest,
        .ops = summary->ops,
        .duration_ns = summary->duration_ns,
        .live_peak_bytes = summary->live_bytes_peak,
        .threads = summary->thread_count,
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
    const double all_events = (double)wl_reader_meta_number(reader, "recording_events"),
                 events = (double)wl_reader_meta_number(reader, "process_events");
    ret_workload->processes = all_events > 0 ? wl_reader_meta_number(reader, "recording_processes") : 0;
    ret_workload->events_share = all_events > 0 ? events / all_events : 0;
    wl_reader_close(reader);
    if (ret_workload->ops == 0) {
        cli_say(verb, "'%s' holds no calls: there is nothing to replay", input);
        return CLI_FAILED;
    }
    return CLI_DONE;
}

/* ---- a group ----------------------------------------------------------------------------------- */

/* The facts of one member. */
struct part {
    struct res_workload facts;
    uint64_t begin_unix_ns;      /* at its time 0; 0: not known, and all are taken to have begun at once */
    uint64_t begin_ns;           /* of its first own call */
    uint64_t events, all_events; /* its calls while recorded, and those of all processes of the recording */
    struct res_life live;
};

static void add_moment(struct res_life *life, uint64_t time_ns, uint64_t bytes)
{
    const size_t last = life->count > 0 ? life->count - 1 : 0;
    if ((life->count & (life->count - 1)) == 0) { /* there was room up to a power of 2 */
        life->time_ns = res_realloc(life->time_ns, 2 * life->count + 1, sizeof *life->time_ns);
        life->value = res_realloc(life->value, 2 * life->count + 1, sizeof *life->value);
    }
    life->time_ns[life->count] = life->count > 0 ? fmax(life->time_ns[last], (double)time_ns)
                                                 : (double)time_ns;
    life->value[life->count++] = (double)bytes;
}

/* Live bytes over time, by its windows: each one's peak in the middle. What a process inherits stands before its first own call,
 * and is no moment of it. Returns false where the file is damaged, which its replay tells. */
static bool read_windows(struct wl_reader *reader, struct part *part)
{
    const uint64_t inherited = wl_reader_meta_number(reader, "inherited_objects");
    struct wl_window window;
    uint64_t live_bytes = wl_reader_meta_number(reader, "inherited_bytes");
    enum fp_status status;
    while ((status = wl_reader_next(reader, &window)) == FP_OK) {
        const struct wl_facts *facts = &window.facts;
        const uint64_t before = inherited > facts->first_op ? inherited - facts->first_op : 0;
        if (before >= window.op_count)
            continue;
        if (part->live.count == 0) {
            part->begin_ns = wl_window_time(&window, (uint32_t)before);
            add_moment(&part->live, part->begin_ns, live_bytes);
        }
        add_moment(&part->live, facts->start_ns / 2 + facts->end_ns / 2, facts->live_bytes_peak);
        add_moment(&part->live, facts->end_ns, facts->live_bytes);
        live_bytes = facts->live_bytes;
    }
    if (part->live.count > 0)
        add_moment(&part->live, wl_reader_summary(reader)->duration_ns, live_bytes);
    return status == FP_END;
}

static bool read_live(const char *path, struct part *part)
{
    struct fp_error error;
    struct wl_reader *reader;
    if (wl_reader_open(path, &error, &reader) != FP_OK)
        return false;
    part->begin_unix_ns = wl_reader_meta_number(reader, "recorded_unix_ns");
    part->events = wl_reader_meta_number(reader, "process_events");
    part->all_events = wl_reader_meta_number(reader, "recording_events");
    const bool read = read_windows(reader, part);
    wl_reader_close(reader);
    return read;
}

/* Growth of the program's own memory beyond what was live; 0: it is not known. */
static struct res_growth growth_of(const char *path)
{
    double times_ns[FP_USAGE_POINTS_MAX], bytes[FP_USAGE_POINTS_MAX], live[FP_USAGE_POINTS_MAX];
    struct res_growth growth = {0}, of_live;
    struct part part = {0};
    struct fp_error error;
    struct wl_reader *reader;
    if (wl_reader_open(path, &error, &reader) != FP_OK)
        return growth;
    const size_t count = conv_looks_read(reader, times_ns, bytes);
    if (count > 0 && read_windows(reader, &part)) {
        for (size_t i = 0; i < count; i++)
            live[i] = res_lives_at(&part.live, 1, times_ns[i]);
        growth = res_growth_beyond(times_ns, bytes, live, count, &of_live);
    }
    wl_reader_close(reader);
    free(part.live.time_ns);
    free(part.live.value);
    return growth;
}

static void add_facts(struct res_workload *sum, const struct res_workload *one, uint64_t offset_ns)
{
    sum->file_digest = (sum->file_digest ^ one->file_digest) * UINT64_C(1099511628211);
    sum->ops += one->ops;
    sum->threads += one->threads;
    sum->lost_calls += one->lost_calls;
    sum->left_out_calls += one->left_out_calls;
    sum->removed_calls += one->removed_calls;
    sum->unseen_frees += one->unseen_frees;
    if (one->duration_ns + offset_ns > sum->duration_ns)
        sum->duration_ns = one->duration_ns + offset_ns;
    if (sum->complete && !one->complete)
        memcpy(sum->incomplete_why, one->incomplete_why, sizeof sum->incomplete_why);
    sum->complete = sum->complete && one->complete;
    sum->lost_known = sum->lost_known && one->lost_known;
    if (strcmp(sum->label, one->label) != 0)
        sum->label[0] = '\0'; /* likewise */
    if (strcmp(sum->runs_on.name, one->runs_on.name) != 0)
        memset(&sum->runs_on, 0, sizeof sum->runs_on); /* not one and the same */
    if (strcmp(sum->live, conv_liveness_name(CONV_LIVE_KNOWN)) == 0)
        memcpy(sum->live, one->live, sizeof sum->live);
}

/* Sums the processes' usage: it is unknown of all where it is of one. Their peaks are summed as those of processes
 * that hold them all their time, which is the most that it can have been; files and shared memory, which a group of one name has in
 * common, count once. */
static void sum_processes(const struct part *parts, const struct res_life *lives, size_t count,
                          struct res_process_facts *ret_sum)
{
    struct res_process_facts sum = {0};
    struct res_life *peaks = res_calloc(2 * count, sizeof *peaks), *anon = peaks + count;
    double *values = res_calloc(6 * count, sizeof *values);
    bool cpu_known = true, peaks_known = true, anon_known = true;
    uint64_t shared_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct res_process_facts *one = &parts[i].facts.process;
        double *own = values + 6 * i;
        cpu_known = cpu_known && one->cpu_user_ns + one->cpu_system_ns > 0;
        peaks_known = peaks_known && one->rss_peak_bytes > 0;
        anon_known = anon_known && one->rss_anon_peak_bytes > 0;
        if (one->rss_peak_bytes > one->rss_anon_peak_bytes + shared_bytes)
            shared_bytes = one->rss_peak_bytes - one->rss_anon_peak_bytes;
        sum.cpu_user_ns += one->cpu_user_ns;
        sum.cpu_system_ns += one->cpu_system_ns;
        sum.faults_minor += one->faults_minor;
        sum.faults_major += one->faults_major;
        sum.brief_calls += one->brief_calls;
        own[0] = res_lives_begin(&lives[i], 1);
        own[1] = res_lives_end(&lives[i], 1);
        own[2] = own[3] = (double)one->rss_peak_bytes;
        own[4] = own[5] = (double)one->rss_anon_peak_bytes;
        peaks[i] = (struct res_life){own, own + 2, 2};
        anon[i] = (struct res_life){own, own + 4, 2};
    }
    if (!cpu_known)
        sum = (struct res_process_facts){0};
    sum.rss_anon_peak_bytes = anon_known ? (uint64_t)res_lives_peak(anon, count, NULL) : 0;
    sum.rss_peak_bytes = !peaks_known ? 0
                         : anon_known ? sum.rss_anon_peak_bytes + shared_bytes
                                      : (uint64_t)res_lives_peak(peaks, count, NULL);
    sum.cxx_library = parts[0].facts.process.cxx_library; /* they are of one name */
    memcpy(sum.ended, parts[0].facts.process.ended, sizeof sum.ended);
    sum.machine = parts[0].facts.process.machine; /* one recording is of one machine */
    sum.ran_ns = (uint64_t)(res_lives_end(lives, count) - res_lives_begin(lives, count));
    free(values);
    free(peaks);
    *ret_sum = sum;
}

static void sum_parts(struct cli_prepared *prepared, struct part *parts, struct res_workload *ret_workload)
{
    const size_t count = prepared->member_count;
    struct res_life *lives = res_calloc(count, sizeof *lives);
    struct res_workload sum = parts[0].facts;
    uint64_t begin_unix_ns = UINT64_MAX, events = 0;
    for (size_t i = 0; i < count; i++)
        if (parts[i].begin_unix_ns < begin_unix_ns)
            begin_unix_ns = parts[i].begin_unix_ns;
    sum.unseen_frees = 0;
    sum.ops = sum.lost_calls = sum.left_out_calls = sum.removed_calls = sum.duration_ns = 0;
    sum.threads = 0;
    sum.file_digest = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < count; i++) {
        prepared->members[i].offset_ns = begin_unix_ns > 0 ? parts[i].begin_unix_ns - begin_unix_ns : 0;
        prepared->members[i].begin_ns = parts[i].begin_ns;
        add_facts(&sum, &parts[i].facts, prepared->members[i].offset_ns);
        for (size_t k = 0; k < parts[i].live.count; k++)
            parts[i].live.time_ns[k] += (double)prepared->members[i].offset_ns;
        lives[i] = parts[i].live;
        events += parts[i].events;
    }
    if (parts[0].all_events > 0)
        sum.events_share = (double)events / (double)parts[0].all_events;
    sum.live_peak_bytes = (uint64_t)res_lives_peak(lives, count, NULL);
    sum_processes(parts, lives, count, &sum.process);
    sum.name = conv_path_name(prepared->path);
    sum.path = prepared->path;
    sum.members = prepared->members;
    sum.member_count = count;
    free(lives);
    *ret_workload = sum;
}

int cli_prepared_facts(const struct cli_verb *verb, struct cli_prepared *prepared, const char *input,
                       struct res_workload *ret_workload)
{
    const size_t count = prepared->member_count;
    int code = CLI_DONE;
    if (count == 0) {
        code = cli_workload_facts(verb, prepared->path, input, ret_workload);
        if (code == CLI_DONE)
            ret_workload->process.growth = growth_of(prepared->path);
        return code;
    }
    struct part *parts = res_calloc(count, sizeof *parts);
    for (size_t i = 0; i < count && code == CLI_DONE; i++) {
        const char *path = prepared->members[i].path;
        code = cli_workload_facts(verb, path, path, &parts[i].facts);
        if (code == CLI_DONE && !read_live(path, &parts[i])) {
            cli_say(verb, "'%s' is damaged", path);
            code = CLI_UNREADABLE;
        }
    }
    if (code == CLI_DONE)
        sum_parts(prepared, parts, ret_workload);
    for (size_t i = 0; i < count; i++) {
        free(parts[i].live.time_ns);
        free(parts[i].live.value);
    }
    free(parts);
    return code;
}

/* group_workload.c - see group_workload.h. */
#include "cli/verbs/group_workload.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/base/workload_facts.h"
#include "convert/convert.h"
#include "convert/recording/group.h"
#include "footprint/base/support.h"
#include "footprint/wl/workload.h"
#include "results/measure/base/lives.h"

#define ENDING       ".wl"
#define COURSE_STEPS 512u /* of the live bytes of a member over its time */

static int is_workload_name(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name), ending = strlen(ENDING);
    return entry->d_name[0] != '.' && length > ending && strcmp(entry->d_name + length - ending, ENDING) == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* the same in every locale */
}

bool cli_group_read(const char *directory, struct cli_prepared *ret_prepared)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, is_workload_name, by_bytes);
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
    const int count = scandir(directory, &entries, is_workload_name, by_bytes);
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

/* ---- facts ------------------------------------------------------------------------------------ */

/* Of one member. */
struct part {
    struct res_workload facts;
    uint64_t begin_unix_ns;      /* at its time 0; 0: not known, and all are taken to have begun at once */
    uint64_t begin_ns;           /* of its first own call */
    uint64_t events, all_events; /* its calls while recorded, and those of all processes of the recording */
    struct res_life live;
};

static uint64_t meta_number(const struct wl_reader *reader, const char *key)
{
    const char *value = wl_reader_meta(reader, key);
    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

/* Live bytes while a workload is read. */
struct course {
    struct res_life *life; /* a moment for each step; each has the most of its step */
    uint64_t *sizes;       /* of the objects, by their ids */
    uint64_t live_bytes, begin_ns, span_ns;
};

static uint64_t bytes_of(const struct wl_op *op)
{
    const bool counted = op->call == FP_CALL_CALLOC || op->call == FP_CALL_REALLOCARRAY;
    uint64_t bytes;
    return __builtin_mul_overflow(op->size, counted ? (uint64_t)op->count : 1, &bytes) ? 0 : bytes;
}

static void take_live(struct course *course, const struct wl_op *op)
{
    const enum fp_call_kind kind = fp_call_kind_of(op->call);
    const uint64_t bytes = kind == FP_KIND_RELEASE ? 0 : bytes_of(op);
    if (kind == FP_KIND_NONE || op->id == 0)
        return;
    course->live_bytes += bytes - course->sizes[op->id];
    course->sizes[op->id] = bytes;
}

static void take_step(struct course *course, uint64_t time_ns)
{
    struct res_life *life = course->life;
    const uint64_t after_ns = time_ns > course->begin_ns ? time_ns - course->begin_ns : 0;
    const uint64_t step = after_ns < course->span_ns
                              ? (uint64_t)((__uint128_t)after_ns * COURSE_STEPS / course->span_ns)
                              : COURSE_STEPS - 1;
    while (life->count <= step) {
        life->time_ns[life->count] = (double)course->begin_ns +
                                     (double)course->span_ns * (double)life->count / (COURSE_STEPS - 1);
        life->value[life->count++] = (double)course->live_bytes;
    }
    if (life->value[step] < (double)course->live_bytes)
        life->value[step] = (double)course->live_bytes;
}

/* What a process inherits stands before it begins, at time 0. Returns false where the file is damaged, which its replay
 * tells. */
static bool read_windows(struct wl_reader *reader, uint64_t inherited, struct course *course)
{
    const struct wl_summary *summary = wl_reader_summary(reader);
    struct wl_window window;
    uint64_t number = 0;
    enum fp_status status;
    while ((status = wl_reader_next(reader, &window)) == FP_OK)
        for (uint32_t i = 0; i < window.op_count; i++, number++) {
            const uint64_t time_ns = number >= inherited ? wl_window_time(&window, i) : 0;
            if (number == inherited) {
                course->begin_ns = time_ns;
                course->span_ns = summary->duration_ns > time_ns ? summary->duration_ns - time_ns : 0;
            }
            if (number >= inherited)
                take_step(course, time_ns); /* up to it nothing changed */
            take_live(course, &window.ops[i]);
            if (number >= inherited)
                take_step(course, time_ns);
        }
    if (course->span_ns > 0)
        take_step(course, course->begin_ns + course->span_ns);
    return status == FP_END;
}

static bool read_live(const char *path, struct part *part)
{
    struct fp_error error;
    struct wl_reader *reader;
    struct course course = {.life = &part->live};
    if (wl_reader_open(path, &error, &reader) != FP_OK)
        return false;
    part->begin_unix_ns = meta_number(reader, "recorded_unix_ns");
    part->events = meta_number(reader, "process_events");
    part->all_events = meta_number(reader, "recording_events");
    part->live.time_ns = res_calloc(COURSE_STEPS, sizeof *part->live.time_ns);
    part->live.value = res_calloc(COURSE_STEPS, sizeof *part->live.value);
    course.sizes = calloc((size_t)wl_reader_summary(reader)->id_max + 1, sizeof *course.sizes);
    const bool read = course.sizes != NULL &&
                      read_windows(reader, meta_number(reader, "inherited_objects"), &course);
    part->begin_ns = course.begin_ns;
    free(course.sizes);
    wl_reader_close(reader);
    return read;
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
    if (strcmp(sum->live, conv_liveness_name(CONV_LIVE_KNOWN)) == 0)
        memcpy(sum->live, one->live, sizeof sum->live);
}

/* What the processes took: nothing is known of all where it is not of one. Their peaks are summed as those of processes
 * that hold them all their time, which is the most that it can have been. */
static void sum_processes(const struct part *parts, const struct res_life *lives, size_t count,
                          struct res_process_facts *ret_sum)
{
    struct res_process_facts sum = {0};
    struct res_life *peaks = res_calloc(2 * count, sizeof *peaks), *anon = peaks + count;
    double *values = res_calloc(6 * count, sizeof *values);
    bool cpu_known = true, peaks_known = true, anon_known = true;
    for (size_t i = 0; i < count; i++) {
        const struct res_process_facts *one = &parts[i].facts.process;
        double *own = values + 6 * i;
        cpu_known = cpu_known && one->cpu_user_ns + one->cpu_system_ns > 0;
        peaks_known = peaks_known && one->rss_peak_bytes > 0;
        anon_known = anon_known && one->rss_anon_peak_bytes > 0;
        sum.cpu_user_ns += one->cpu_user_ns;
        sum.cpu_system_ns += one->cpu_system_ns;
        sum.faults_minor += one->faults_minor;
        sum.faults_major += one->faults_major;
        own[0] = res_lives_begin(&lives[i], 1);
        own[1] = res_lives_end(&lives[i], 1);
        own[2] = own[3] = (double)one->rss_peak_bytes;
        own[4] = own[5] = (double)one->rss_anon_peak_bytes;
        peaks[i] = (struct res_life){own, own + 2, 2};
        anon[i] = (struct res_life){own, own + 4, 2};
    }
    if (!cpu_known)
        sum = (struct res_process_facts){0};
    sum.rss_peak_bytes = peaks_known ? (uint64_t)res_lives_peak(peaks, count, NULL) : 0;
    sum.rss_anon_peak_bytes = anon_known ? (uint64_t)res_lives_peak(anon, count, NULL) : 0;
    memcpy(sum.ended, parts[0].facts.process.ended, sizeof sum.ended);
    sum.ran_ns = (uint64_t)(res_lives_end(lives, count) - res_lives_begin(lives, count));
    free(values);
    free(peaks);
    *ret_sum = sum;
}

static void sum_parts(struct cli_prepared *prepared, struct part *parts, struct res_workload *ret_workload)
{
    const size_t count = prepared->member_count;
    const char *slash = strrchr(prepared->path, '/');
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
    sum.name = slash != NULL ? slash + 1 : prepared->path;
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
    if (count == 0)
        return cli_workload_facts(verb, prepared->path, input, ret_workload);
    struct part *parts = res_calloc(count, sizeof *parts);
    int code = CLI_DONE;
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

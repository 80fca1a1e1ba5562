/* collector.c - start mallab-collect and hear that it is ready; or let it recover what a killed
 * one left. */
#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/recording/recording.h"
#include "footprint/base/support.h"

#define READY_BYTES_MAX 8192
#define WORDS_MAX       40 /* of its command line, the NULL behind them among them */

/* Exit code of mallab-collect: the collector of the recording lives, or another process recovers it. */
#define NOTHING_TO_RECOVER 3

/* Descriptors that the collector is to have. */
struct handed {
    int ready, control;
};

struct command_line {
    char *words[WORDS_MAX];
    size_t count;
};

static void add_switch(struct command_line *line, const char *option, bool given)
{
    if (given)
        line->words[line->count++] = res_strdup(option);
}

static void add_text(struct command_line *line, const char *option, const char *value)
{
    add_switch(line, option, value != NULL);
    add_switch(line, value, value != NULL);
}

static void add_number(struct command_line *line, const char *option, uint64_t value, bool given)
{
    add_switch(line, option, given);
    if (given)
        line->words[line->count++] = res_printf("%llu", (unsigned long long)value);
}

static void fill_command_line(struct command_line *line, const struct rec_settings *settings,
                              const char *program, const char *directory, pid_t command,
                              const struct handed *handed)
{
    add_switch(line, program, true);
    add_number(line, "--ready-fd", (uint64_t)handed->ready, true);
    add_number(line, "--control-fd", (uint64_t)handed->control, true);
    add_number(line, "--command-pid", (uint64_t)command, true);
    add_number(line, "--memory", settings->memory_bytes, settings->memory_bytes != 0);
    add_number(line, "--max-size", settings->size_limit_bytes, settings->size_limit_bytes != 0);
    add_number(line, "--duration", settings->duration_ns, settings->duration_ns != 0);
    add_number(line, "--window", settings->window_ns, settings->window_ns != 0);
    add_number(line, "--keep", settings->keep, settings->keep != 0);
    add_switch(line, "--unique", settings->numbered);
    add_switch(line, "--no-follow", settings->no_follow);
    add_switch(line, "--no-residency", settings->no_residency);
    add_number(line, "--sites", settings->sites_bytes != 0 ? settings->sites_bytes : 1, settings->sites);
    add_switch(line, "--paused", settings->paused);
    add_switch(line, "--attached", settings->attached);
    add_text(line, "--out", directory);
    add_text(line, "--only", settings->only);
    add_text(line, "--label", settings->label);
    add_text(line, "--on-full", settings->on_full);
}

/* Runs in the child: the collector is not to be recorded, nor to run on an allocator under test. */
static int unset_ours(void *data)
{
    (void)data;
    return unsetenv("LD_PRELOAD") == 0 && unsetenv("MALLAB_SEGMENT") == 0 ? 0 : REC_FAILED;
}

/* Runs in the child. */
static int hand_over(void *data)
{
    const struct handed *handed = data;
    const int fds[] = {handed->ready, handed->control};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fcntl(fds[i], F_SETFD, 0) != 0)
            return REC_FAILED;
    return unset_ours(data);
}

/* "ok SEGMENT", and on a second line the directory where that is another one; or "error MESSAGE". */
static void hear(struct rec_collector *collector, int ready)
{
    char line[READY_BYTES_MAX];
    size_t length = 0;
    ssize_t count;
    while (length < sizeof line - 1 && (count = read(ready, line + length, sizeof line - 1 - length)) != 0) {
        if (count < 0 && errno != EINTR)
            break;
        length += count > 0 ? (size_t)count : 0;
    }
    if (length > 0 && line[length - 1] == '\n')
        length--;
    line[length] = '\0';
    char *second = strchr(line, '\n');
    if (second != NULL)
        *second++ = '\0';
    if (strncmp(line, "ok ", 3) == 0) {
        collector->segment = res_strdup(line + 3);
        collector->directory = second != NULL ? res_strdup(second) : NULL;
    } else if (strncmp(line, "error ", 6) == 0) {
        collector->problem = res_text_plain(line + 6);
    } else {
        collector->problem = res_strdup("the collector ended before it was ready");
    }
}

bool rec_collector_start(const struct rec_settings *settings, const char *program, const char *directory,
                         pid_t command, struct rec_collector *ret_collector)
{
    int ready[2] = {-1, -1}, control[2] = {-1, -1};
    *ret_collector = (struct rec_collector){.process = FP_PROCESS_NONE, .control = -1};
    int error = fp_make_pipe(ready);
    if (error == 0)
        error = fp_make_pair(control);
    if (error != 0) {
        ret_collector->problem = res_printf("no pipe to the collector: %s", strerror(error));
        goto out;
    }
    struct handed handed = {.ready = ready[1], .control = control[0]};
    struct command_line line = {0};
    fill_command_line(&line, settings, program, directory, command, &handed);
    /* It may outlive us, and must not keep whoever reads our output waiting. It answers by
     * `ready`. */
    const struct fp_process_plan plan = {
        .program = program,
        .arguments = line.words,
        .body = hand_over,
        .data = &handed,
        .streams = {FP_STREAM_NULL, FP_STREAM_NULL, FP_STREAM_NULL},
    };
    error = fp_process_start(&plan, &ret_collector->process);
    fp_close(&ready[1]);
    ret_collector->control = control[1];
    control[1] = -1;
    if (error != 0)
        ret_collector->problem = res_printf("cannot start '%s': %s", program, strerror(error));
    else
        hear(ret_collector, ready[0]);
    for (size_t i = 0; i < line.count; i++)
        free(line.words[i]);
out:
    fp_close(&ready[0]);
    fp_close(&ready[1]);
    fp_close(&control[0]);
    fp_close(&control[1]);
    return ret_collector->segment != NULL;
}

void rec_collector_release(struct rec_collector *collector)
{
    fp_process_release(&collector->process);
    fp_close(&collector->control);
    free(collector->segment);
}

/* ---- recovery ------------------------------------------------------------------------------- */

/* An unfinished recording names its shared memory, which its collector removes unless it is
 * killed. Of another user's nothing is recovered. */
static bool left_something(const char *directory)
{
    struct conv_recording recording;
    const bool left = rec_recording_read(directory, &recording) &&
                      conv_unfinished_is_left(&recording, directory);
    conv_recording_release(&recording);
    return left;
}

/* Returns its exit code, or what no exit code is. */
static int run_recovery(char *program, const char *directory)
{
    char *copy = res_strdup(directory);
    char *const words[] = {program, (char[]){"--recover"}, (char[]){"--out"}, copy, NULL};
    const struct fp_process_plan plan = {.program = program, .arguments = words, .body = unset_ours};
    int status;
    const int error = fp_process_run(&plan, &status);
    free(copy);
    return error == 0 ? fp_status_code(status) : -1;
}

/* The recorder walks stacks of x86-64 and aarch64, and asks glibc for the modules: _dl_find_object came with 2.35. */
bool rec_sites_are_possible(void)
{
    unsigned major = 0, minor = 0;
    const bool known = sscanf(gnu_get_libc_version(), "%u.%u", &major, &minor) == 2;
#if !defined(__x86_64__) && !defined(__aarch64__)
    return false;
#endif
    return known && (major > 2 || (major == 2 && minor >= 35));
}

bool rec_recover(const char *verb, const char *path)
{
    char *program = left_something(path) ? res_own_program("mallab-collect") : NULL;
    if (program == NULL)
        return false;
    const int code = run_recovery(program, path);
    if (code == 0)
        res_say(verb,
                "'%s': its collector was killed; what that had left in shared memory is now in the recording",
                path);
    else if (code != NOTHING_TO_RECOVER)
        res_say(verb, "'%s': what its killed collector left in shared memory could not be written here",
                path);
    free(program);
    return code == 0;
}

/* control.c - find a recording's collector, signal it, wait for its answer in recording.json. */
#include "cli/control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "convert/recording.h"
#include "results/support.h"

#define LOOK_NS 5000000

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static json_t *load(const char *directory)
{
    char *path = res_path_join(directory, "recording.json");
    json_t *recording = json_load_file(path, 0, NULL);
    free(path);
    return recording;
}

static uint64_t number_of(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static bool goes_on(const json_t *recording)
{
    return json_object_get(recording, "collector") != NULL;
}

bool cli_control_is_paused(const struct cli_control *control)
{
    const char *state = json_string_value(json_object_get(control->recording, "state"));
    return state != NULL && strcmp(state, "paused") == 0;
}

uint64_t cli_control_windows(const struct cli_control *control)
{
    return number_of(control->recording, "windows");
}

/* The collector's process id is judged after it is held, so that it is not another's by then. */
static bool hold(struct cli_control *control, char *ret_why, size_t size)
{
    struct conv_survey *survey = res_calloc(1, sizeof *survey);
    const uint64_t pid = number_of(json_object_get(control->recording, "collector"), "pid");
    bool held;
    control->collector = pid <= INT32_MAX ? (pid_t)pid : 0;
#ifdef SYS_pidfd_open
    control->pidfd = control->collector > 0 ? (int)syscall(SYS_pidfd_open, control->collector, 0) : -1;
#endif
    conv_unfinished_judge(control->recording, control->directory, survey);
    held = survey->recording_state == CONV_RECORDING_GOING_ON && control->collector > 0;
    snprintf(ret_why, size, "%s", survey->unfinished_why);
    free(survey);
    return held;
}

enum cli_control_state cli_control_open(const char *directory, struct cli_control *ret_control,
                                        char **ret_problem)
{
    char why[256];
    *ret_problem = NULL;
    *ret_control = (struct cli_control){.directory = res_strdup(directory), .pidfd = -1};
    ret_control->recording = load(directory);
    if (ret_control->recording == NULL) {
        *ret_problem = res_printf("'%s' is no recording: it has no recording.json that can be read",
                                  directory);
        return CLI_CONTROL_FAILED;
    }
    if (!goes_on(ret_control->recording)) {
        *ret_problem = res_printf("the recording in '%s' has ended", directory);
        return CLI_CONTROL_ENDED;
    }
    if (!hold(ret_control, why, sizeof why)) {
        *ret_problem = res_printf("the recording in '%s' does not go on: %s", directory, why);
        return CLI_CONTROL_ENDED;
    }
    return CLI_CONTROL_OPEN;
}

void cli_control_release(struct cli_control *control)
{
    free(control->directory);
    json_decref(control->recording);
    if (control->pidfd >= 0)
        close(control->pidfd);
    *control = (struct cli_control){.pidfd = -1};
}

/* ---- asking ----------------------------------------------------------------------------------- */

static int signal_of(enum cli_request request)
{
    switch (request) {
    case CLI_REQUEST_PAUSE:
        return SIGUSR1;
    case CLI_REQUEST_RESUME:
        return SIGUSR2;
    case CLI_REQUEST_WINDOW:
        return SIGRTMIN + 1;
    case CLI_REQUEST_END:
        return SIGRTMIN + 2;
    case CLI_REQUEST_STATUS:
        break;
    }
    return SIGRTMIN + 3;
}

static bool send_signal(const struct cli_control *control, int number)
{
#ifdef SYS_pidfd_send_signal
    if (control->pidfd >= 0)
        return syscall(SYS_pidfd_send_signal, control->pidfd, number, NULL, 0) == 0;
#endif
    return kill(control->collector, number) == 0;
}

static bool is_answer(const struct cli_control *control, const json_t *before, enum cli_request request)
{
    const json_t *now = control->recording;
    if (!goes_on(now)) /* it ended on the way, which answers everything */
        return true;
    switch (request) {
    case CLI_REQUEST_PAUSE:
        return cli_control_is_paused(control);
    case CLI_REQUEST_RESUME:
        return !cli_control_is_paused(control);
    case CLI_REQUEST_WINDOW:
        return number_of(now, "windows") > number_of(before, "windows");
    case CLI_REQUEST_STATUS:
        return number_of(now, "status_number") > number_of(before, "status_number");
    case CLI_REQUEST_END:
        break;
    }
    return false;
}

static bool wait_for_answer(struct cli_control *control, const json_t *before, enum cli_request request,
                            uint64_t within_ns)
{
    const uint64_t begin = now_ns();
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    for (;;) {
        json_t *recording = load(control->directory);
        if (recording != NULL) {
            json_decref(control->recording);
            control->recording = recording;
            if (is_answer(control, before, request))
                return true;
        }
        if (now_ns() - begin >= within_ns)
            return false;
        nanosleep(&pause, NULL); /* a signal only shortens it */
    }
}

bool cli_control_ask(struct cli_control *control, enum cli_request request, uint64_t within_ns,
                     char **ret_problem)
{
    json_t *before;
    bool answered;
    *ret_problem = NULL;
    if (!send_signal(control, signal_of(request))) {
        *ret_problem = res_printf("the collector (process %d) cannot be told: %s", (int)control->collector,
                                  strerror(errno));
        return false;
    }
    before = json_incref(control->recording);
    answered = wait_for_answer(control, before, request, within_ns);
    json_decref(before);
    if (!answered)
        *ret_problem = res_printf("the collector (process %d) has not answered in %.0f s; its recording.json "
                                  "in '%s' tells when it has",
                                  (int)control->collector, (double)within_ns / 1e9, control->directory);
    return answered;
}

/* control.c - find a recording's collector, signal it, wait for its answer in recording.json. */
#include "record/control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/clock.h"
#include "cli/base/json_bounds.h"
#include "convert/recording/recording.h"
#include "footprint/base/trusted.h"
#include "results/measure/base/support.h"

#define LOOK_NS    5000000
#define FULL_BELOW 65536 /* bytes free */

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
    return cli_json_count(control->recording, "windows");
}

const char *cli_control_stop(const json_t *recording, uint64_t *ret_after_ns)
{
    const json_t *stop = json_object_get(recording, "stopped");
    const char *by = json_string_value(json_object_get(stop, "by"));
    if (by != NULL)
        *ret_after_ns = cli_json_count(stop, "after_ns");
    return by;
}

const char *cli_control_stop_words(const char *stop)
{
    static const struct {
        const char *stop, *words;
    } WORDS[] = {
        {"disk_full", "as its files cannot be written any more (is the disk full, or at a quota?)"},
        {"size_limit", "as it has the size that --max-size allows"},
        {"duration", "as --duration asked"},
        {"end", "as --end asked"},
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (strcmp(WORDS[i].stop, stop) == 0)
            return WORDS[i].words;
    return "why is not known to this version";
}

/* Why a directory is none whose collector we may tell something. */
static char *no_directory(const char *directory, const struct fp_error *error)
{
    char text[CONV_PATH_BYTES + 512];
    if (error->distrust == FP_DISTRUST_OWNER)
        return res_printf("'%s' belongs to user %s, and only that user can ask its collector", directory,
                          error->owner);
    if (error->status == FP_ERR_OPEN && error->sys_errno == ENOENT)
        return res_printf("'%s' does not exist", directory);
    if (error->status == FP_ERR_OPEN && error->sys_errno == ENOTDIR)
        return res_printf("'%s' is a file: name the recording's directory", directory);
    return res_strdup(fp_error_text(error, directory, text, sizeof text));
}

/* The directory must be ours alone, and what stands in it can be read then. */
static json_t *open_recording(const char *directory, char **ret_problem)
{
    struct conv_error *error = res_calloc(1, sizeof *error);
    char text[CONV_PATH_BYTES + 512];
    json_t *recording = NULL;
    const int fd = fp_trusted_open(AT_FDCWD, directory, S_IFDIR, FP_TRUSTED_OWN, &error->cause);
    if (fd < 0) {
        *ret_problem = no_directory(directory, &error->cause);
    } else {
        close(fd);
        const enum fp_status status = conv_recording_load(directory, &recording, error);
        if (status != FP_OK && status != FP_ERR_CORRUPT)
            *ret_problem = res_strdup(conv_error_text(error, text, sizeof text));
        else if (recording == NULL)
            *ret_problem = res_printf("'%s' is no recording: it has no recording.json that can be read",
                                      directory);
    }
    free(error);
    return recording;
}

enum cli_control_state cli_control_open(const char *directory, struct cli_control *ret_control,
                                        char **ret_problem)
{
    *ret_problem = NULL;
    *ret_control = (struct cli_control){.directory = res_strdup(directory), .proof = {.pidfd = -1}};
    ret_control->recording = open_recording(directory, ret_problem);
    if (ret_control->recording == NULL)
        return CLI_CONTROL_FAILED;
    if (!goes_on(ret_control->recording)) {
        *ret_problem = res_printf("the recording in '%s' has ended", directory);
        return CLI_CONTROL_ENDED;
    }
    if (!cli_proof_make(directory, ret_control->recording, &ret_control->proof, ret_problem))
        return CLI_CONTROL_KILLED;
    return CLI_CONTROL_OPEN;
}

void cli_control_release(struct cli_control *control)
{
    free(control->directory);
    json_decref(control->recording);
    cli_proof_release(&control->proof);
    *control = (struct cli_control){.proof = {.pidfd = -1}};
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

static bool is_heeded(const json_t *now, const json_t *before, const char *kind)
{
    return cli_json_count(json_object_get(now, "answered"), kind) >
           cli_json_count(json_object_get(before, "answered"), kind);
}

static bool is_answer(const struct cli_control *control, const json_t *before, enum cli_request request)
{
    const json_t *now = control->recording;
    if (!goes_on(now)) /* it ended on the way, which answers everything */
        return true;
    switch (request) {
    case CLI_REQUEST_PAUSE:
        return is_heeded(now, before, "pause");
    case CLI_REQUEST_RESUME:
        return is_heeded(now, before, "resume");
    case CLI_REQUEST_WINDOW:
        return is_heeded(now, before, "window");
    case CLI_REQUEST_STATUS:
        return is_heeded(now, before, "status");
    case CLI_REQUEST_END:
        break;
    }
    return false;
}

enum waited {
    WAITED_ANSWERED,
    WAITED_IN_VAIN,
    WAITED_FOR_THE_DEAD,
};

static enum waited wait_for_answer(struct cli_control *control, const json_t *before,
                                   enum cli_request request, uint64_t within_ns)
{
    const uint64_t begin = cli_now_ns();
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    for (;;) {
        const bool gone = cli_proof_has_gone(&control->proof); /* asked first: its last word is there then */
        json_t *recording = cli_json_recording(control->directory);
        if (recording != NULL) {
            json_decref(control->recording);
            control->recording = recording;
            if (is_answer(control, before, request))
                return WAITED_ANSWERED;
        }
        if (gone)
            return WAITED_FOR_THE_DEAD;
        if (cli_now_ns() - begin >= within_ns)
            return WAITED_IN_VAIN;
        nanosleep(&pause, NULL); /* a signal only shortens it */
    }
}

static bool disk_is_full(const char *directory)
{
    struct statvfs space;
    return statvfs(directory, &space) == 0 && ((uint64_t)space.f_bavail * space.f_frsize < FULL_BELOW ||
                                               (space.f_files > 0 && space.f_ffree == 0));
}

static char *no_answer(const struct cli_control *control, enum waited waited, uint64_t within_ns)
{
    const bool full = disk_is_full(control->directory);
    if (waited == WAITED_FOR_THE_DEAD)
        return res_printf("the collector (process %d) ended without an answer%s; 'mallab info %s' tells what "
                          "there is",
                          (int)control->proof.collector,
                          full ? ", as there is no room for one: the disk is full" : "", control->directory);
    if (full)
        return res_printf("the collector (process %d) cannot answer: the disk of '%s' is full; make room "
                          "there, and ask again",
                          (int)control->proof.collector, control->directory);
    return res_printf(
        "the collector (process %d) has not answered in %.0f s; its recording.json in '%s' tells "
        "when it has",
        (int)control->proof.collector, (double)within_ns / 1e9, control->directory);
}

bool cli_control_ask(struct cli_control *control, enum cli_request request, uint64_t within_ns,
                     char **ret_problem)
{
    json_t *before;
    enum waited waited;
    *ret_problem = NULL;
    /* Read again: what was answered since we opened it was not our question. */
    before = cli_json_recording(control->directory);
    if (before == NULL)
        before = json_incref(control->recording);
    if (!cli_proof_signal(&control->proof, control->directory, before, signal_of(request)) &&
        errno != ESRCH) {
        *ret_problem = res_printf("the collector (process %d) cannot be told: %s",
                                  (int)control->proof.collector, strerror(errno));
        json_decref(before);
        return false;
    }
    waited = wait_for_answer(control, before, request, within_ns);
    json_decref(before);
    if (waited != WAITED_ANSWERED)
        *ret_problem = no_answer(control, waited, within_ns);
    return waited == WAITED_ANSWERED;
}

/* control.c - find a recording's collector, signal it, wait for its answer in recording.json. */
#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "convert/recording/recording.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/trusted.h"
#include "footprint/base/words.h"

#define LOOK_NS   5000000
#define ANSWER_NS UINT64_C(10000000000)
#define END_NS    UINT64_C(120000000000) /* a full ring to a slow disk */
#define PROGRAM   "mallab-collect"

/* ---- the proof -------------------------------------------------------------------------------- */

/* The file that a process executes is the collector beside us; or is called so, and we or root
 * made it. One that was built anew meanwhile has " (deleted)" behind its name. */
static bool runs_collector(pid_t pid)
{
    char link[64], path[4096];
    struct stat executed, own;
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    if (stat(link, &executed) != 0)
        return false;
    char *program = res_own_program(PROGRAM);
    const bool same = program != NULL && stat(program, &own) == 0 && own.st_dev == executed.st_dev &&
                      own.st_ino == executed.st_ino;
    free(program);
    if (same)
        return true;
    const ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *name = basename(path);
    return (strcmp(name, PROGRAM) == 0 || strcmp(name, PROGRAM " (deleted)") == 0) &&
           (executed.st_uid == 0 || executed.st_uid == geteuid());
}

static bool is_ours(pid_t pid)
{
    char path[64];
    struct stat facts;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &facts) == 0 && facts.st_uid == geteuid();
}

/* Tells why the process is not the recording's collector: by recording.json (boot, namespace, start
 * time, copy), by the lock, by the process itself. NULL: it is. */
static char *find_objection(pid_t pid, const char *directory, const struct conv_recording *recording)
{
    struct conv_survey *survey = res_calloc(1, sizeof *survey);
    char *objection = NULL;
    bool held = false;
    conv_unfinished_judge(recording, directory, survey);
    if (survey->recording_state != CONV_RECORDING_GOING_ON)
        objection = res_printf("the recording in '%s' does not go on: %s", directory, survey->unfinished_why);
    else if (!conv_unfinished_ask_lock(recording, directory, &held) || !held)
        objection = res_printf(
            "the recording in '%s' does not go on: nobody holds the lock of its shared memory", directory);
    else if (!is_ours(pid) || !runs_collector(pid))
        objection = res_printf(
            "the collector of the recording in '%s' is not seen from here: process %d is another", directory,
            (int)pid);
    free(survey);
    return objection;
}

/* Tells whether the proven collector has ended, waited for or not. */
static bool has_gone(const struct rec_proof *proof)
{
    struct pollfd ended = {proof->pidfd, POLLIN, 0};
    if (proof->pidfd >= 0)
        return poll(&ended, 1, 0) > 0;
    return kill(proof->collector, 0) != 0 && errno == ESRCH;
}

/* Hold the process, then look at it. Returns whether it is proven; else one line says why not. */
static bool prove(const char *directory, const struct conv_recording *recording, struct rec_proof *proof,
                  char **ret_problem)
{
    const uint64_t number = recording->collector.process_id;
    const pid_t pid = number <= INT32_MAX ? (pid_t)number : 0;
    *proof = (struct rec_proof){.collector = pid, .pidfd = pid > 0 ? fp_pidfd_open(pid) : -1};
    *ret_problem = find_objection(pid, directory, recording);
    if (*ret_problem == NULL && (pid == 0 || has_gone(proof)))
        *ret_problem = res_printf("the recording in '%s' does not go on: its collector has just ended",
                                  directory);
    if (*ret_problem != NULL)
        proof->collector = 0;
    return *ret_problem == NULL;
}

/* Returns false with errno set; ESRCH: it has gone. */
static bool send_signal(const struct rec_control *control, int number)
{
    const struct rec_proof *proof = &control->proof;
    char *objection = NULL;
    if (proof->pidfd >= 0 && proof->collector > 0)
        return fp_pidfd_signal(proof->pidfd, number);
    if (proof->collector > 0)
        objection = find_objection(proof->collector, control->directory, &control->recording);
    free(objection);
    errno = ESRCH;
    return proof->collector > 0 && objection == NULL && kill(proof->collector, number) == 0;
}

/* ---- the recording as it stands ---------------------------------------------------------------- */

static bool is_paused(const struct conv_recording *recording)
{
    const char *state = json_string_value(json_object_get(recording->json, "state"));
    return state != NULL && strcmp(state, "paused") == 0;
}

/* The message that we may not ask the collector of this directory. */
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
static void open_recording(const char *directory, struct conv_recording *ret_recording, char **ret_problem)
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
        else if (!conv_recording_take(recording, ret_recording))
            res_no_memory();
    }
    free(error);
}

enum rec_control_state rec_control_open(const char *directory, struct rec_control *ret_control,
                                        char **ret_problem)
{
    *ret_problem = NULL;
    *ret_control = (struct rec_control){.directory = res_strdup(directory), .proof = {.pidfd = -1}};
    open_recording(directory, &ret_control->recording, ret_problem);
    if (ret_control->recording.json == NULL)
        return REC_CONTROL_FAILED;
    if (!ret_control->recording.collector.told) {
        *ret_problem = res_printf("the recording in '%s' has ended", directory);
        return REC_CONTROL_ENDED;
    }
    if (!prove(directory, &ret_control->recording, &ret_control->proof, ret_problem))
        return REC_CONTROL_KILLED;
    return REC_CONTROL_OPEN;
}

void rec_control_release(struct rec_control *control)
{
    free(control->directory);
    conv_recording_release(&control->recording);
    fp_close(&control->proof.pidfd);
    *control = (struct rec_control){.proof = {.pidfd = -1}};
}

/* ---- asking ----------------------------------------------------------------------------------- */

static const struct {
    const char *answered; /* where recording.json counts what was heeded; NULL: the collector is gone */
    int signal, queued;   /* SIGRTMIN + queued, unless that is 0 */
} REQUESTS[] = {
    [REC_REQUEST_STATUS] = {"status", 0, 3},
    [REC_REQUEST_PAUSE] = {"pause", SIGUSR1, 0},
    [REC_REQUEST_RESUME] = {"resume", SIGUSR2, 0},
    [REC_REQUEST_WINDOW] = {"window", 0, 1},
    [REC_REQUEST_END] = {NULL, 0, 2},
};

static int signal_of(enum rec_request request)
{
    return REQUESTS[request].queued > 0 ? SIGRTMIN + REQUESTS[request].queued : REQUESTS[request].signal;
}

/* So often it was heeded. */
static uint64_t answers(const struct conv_recording *recording, enum rec_request request)
{
    return conv_json_count(json_object_get(recording->json, "answered"), REQUESTS[request].answered);
}

enum waited {
    WAITED_ANSWERED,
    WAITED_IN_VAIN,
    WAITED_FOR_THE_DEAD,
};

/* before: so often it was heeded then. A recording that ended on the way has answered everything. */
static enum waited wait_for_answer(struct rec_control *control, uint64_t before, enum rec_request request,
                                   uint64_t within_ns)
{
    const uint64_t begin = fp_now_ns();
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    struct conv_recording now;
    for (;;) {
        const bool gone = has_gone(&control->proof); /* asked first: its last word is there then */
        if (rec_recording_read(control->directory, &now)) {
            conv_recording_release(&control->recording);
            control->recording = now;
            if (!now.collector.told || (request != REC_REQUEST_END && answers(&now, request) > before))
                return WAITED_ANSWERED;
        }
        if (gone)
            return WAITED_FOR_THE_DEAD;
        if (fp_now_ns() - begin >= within_ns)
            return WAITED_IN_VAIN;
        nanosleep(&pause, NULL); /* a signal only shortens it */
    }
}

/* On a full disk the collector answers, too (collect/json.c). */
static char *no_answer(const struct rec_control *control, enum waited waited, uint64_t within_ns)
{
    const int pid = (int)control->proof.collector;
    if (waited == WAITED_FOR_THE_DEAD)
        return res_printf(
            "the collector (process %d) ended without an answer; 'mallab info %s' tells what there is", pid,
            control->directory);
    return res_printf("the collector (process %d) has not answered in %.0f s; its recording.json in '%s' "
                      "tells when it has",
                      pid, (double)within_ns / 1e9, control->directory);
}

bool rec_control_ask(struct rec_control *control, enum rec_request request, uint64_t within_ns,
                     char **ret_problem)
{
    struct conv_recording now;
    *ret_problem = NULL;
    /* Read again: what was answered since we opened it was not our question. */
    if (rec_recording_read(control->directory, &now)) {
        conv_recording_release(&control->recording);
        control->recording = now;
    }
    const uint64_t before = request != REC_REQUEST_END ? answers(&control->recording, request) : 0;
    if (!send_signal(control, signal_of(request)) && errno != ESRCH) {
        *ret_problem = res_printf("the collector (process %d) cannot be told: %s",
                                  (int)control->proof.collector, strerror(errno));
        return false;
    }
    const enum waited waited = wait_for_answer(control, before, request, within_ns);
    if (waited != WAITED_ANSWERED)
        *ret_problem = no_answer(control, waited, within_ns);
    return waited == WAITED_ANSWERED;
}

bool rec_control_do(struct rec_control *control, enum rec_request request, char **ret_problem)
{
    if (request == REC_REQUEST_WINDOW && control->recording.windows == 0) {
        *ret_problem = res_printf(
            "the recording in '%s' is not cut into windows: that is chosen at its begin, with --window",
            control->directory);
        return false;
    }
    if (!rec_control_ask(control, request, request == REC_REQUEST_END ? END_NS : ANSWER_NS, ret_problem))
        return false;
    /* The figures of the answer to a pause are those of its moment; the others' may be old. */
    if (request != REC_REQUEST_END && request != REC_REQUEST_STATUS) {
        (void)rec_control_ask(control, REC_REQUEST_STATUS, ANSWER_NS, ret_problem);
        free(*ret_problem); /* then they are old */
        *ret_problem = NULL;
    }
    return true;
}

/* ---- how it stands ---------------------------------------------------------------------------- */

/* These processes ran on when the recording ended; whether they still do, nobody looks. */
static size_t count_running(const struct conv_recording *recording)
{
    size_t running = 0;
    for (size_t i = 0; i < recording->process_count; i++)
        running += recording->processes[i].ended != NULL && recording->processes[i].ended[0] == 'r';
    return running;
}

/* Nobody counts losses from the death of the collector on; the shared memory tells of processes that ended before. */
static bool knows_losses(const struct conv_recording *recording, bool alive)
{
    return alive || (!recording->collector.told && !(recording->recovered && count_running(recording) > 0));
}

/* One word for how it stands. */
static const char *state_of(const struct conv_recording *recording, bool alive)
{
    if (!alive)
        return "ended";
    if (recording->stopped_by != NULL)
        return "stopped";
    return is_paused(recording) ? "paused" : "recording";
}

json_t *rec_status_json(const struct conv_recording *recording, bool alive)
{
    static const char *const NUMBERS[] = {"started_unix_ns", "duration_ns", "events", "bytes",
                                          "stalls",          "stall_ns",    "windows"};
    static const char *const OTHERS[] = {"complete", "incomplete_why", "lost", "stopped", "recovered"};
    const json_int_t running = (json_int_t)count_running(recording);
    json_t *object = json_object();
    json_object_set_new(object, "schema", json_string("mallab-status/1"));
    json_object_set_new(object, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(object, "state", json_string(state_of(recording, alive)));
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++)
        json_object_set_new(object, NUMBERS[i],
                            json_integer((json_int_t)conv_json_count(recording->json, NUMBERS[i])));
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        json_t *value = json_object_get(recording->json, OTHERS[i]);
        json_object_set(object, OTHERS[i], value != NULL ? value : json_null());
    }
    if (recording->sample_bytes != 0)
        json_object_set_new(object, "sample_bytes", json_integer((json_int_t)recording->sample_bytes));
    json_object_set_new(object, "not_recorded", rec_unrecorded_of(recording));
    json_object_set_new(object, "lost_calls", json_integer((json_int_t)fp_loss_sum(recording->lost)));
    json_object_set_new(object, "lost_known", json_boolean(knows_losses(recording, alive)));
    json_object_set_new(object, "processes_running", json_integer(alive ? running : 0));
    json_object_set_new(object, "processes_ran_on", json_integer(alive ? 0 : running));
    json_object_set_new(
        object, "pauses",
        json_integer((json_int_t)json_array_size(json_object_get(recording->json, "pauses"))));
    return object;
}

/* "recording stopped after 3 s, as --duration asked". */
static void add_head(struct res_text *text, const struct conv_recording *recording, bool alive)
{
    char since[32];
    const char *stop = recording->stopped_by;
    const uint64_t after_ns = stop != NULL ? recording->stopped_ns : recording->duration_ns;
    const char *state = !alive                 ? "the recording has ended"
                        : stop != NULL         ? "recording stopped"
                        : is_paused(recording) ? "paused"
                                               : "recording";
    res_text_printf(text, "%s after %s", state, res_text_duration((double)after_ns, since));
    if (stop != NULL)
        res_text_printf(text, ", %s", conv_stop_behind(stop));
    if (recording->windows > 0)
        res_text_printf(text, ", window %llu", (unsigned long long)recording->windows);
}

/* "lost 12 (ring_full 12)". */
static void add_lost(struct res_text *text, const struct conv_recording *recording, bool alive)
{
    const uint64_t lost = fp_loss_sum(recording->lost);
    char causes[REC_NAMES_BYTES];
    if (lost > 0 || knows_losses(recording, alive))
        res_text_printf(text, ", lost %s", FP_GROUPED(lost));
    if (lost > 0)
        res_text_printf(text, " (%s)", rec_losses(recording->lost, causes));
    res_text_printf(text, "%s\n", knows_losses(recording, alive) ? "" : ", what was lost is not known");
}

char *rec_status_text(const struct conv_recording *recording, bool alive)
{
    const json_t *object;
    const size_t running = count_running(recording);
    json_t *unrecorded = rec_unrecorded_of(recording);
    struct res_text text = {0};
    size_t i;
    add_head(&text, recording, alive);
    res_text_printf(&text, ": %s events, %s; %zu process%s %s", FP_GROUPED(recording->events),
                    FP_BYTES((double)recording->bytes), running, running == 1 ? "" : "es",
                    alive ? "running" : "ran on when it ended");
    add_lost(&text, recording, alive);
    if (recording->sample_bytes != 0)
        res_text_printf(&text, "of a sample of objects, one in %s: other calls are not counted\n",
                        FP_BYTES((double)recording->sample_bytes));
    json_array_foreach(unrecorded, i, object)
    {
        char *words = rec_unrecorded_words(object);
        res_text_printf(&text, "not recorded: %s\n", words);
        free(words);
    }
    if (!recording->collector.told && recording->incomplete_why != NULL && i == 0) {
        char *why = res_text_plain(recording->incomplete_why);
        res_text_printf(&text, "the recording is not whole: %s\n", why);
        free(why);
    }
    json_decref(unrecorded);
    return text.text;
}

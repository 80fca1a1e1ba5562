/* recorder.c - command and collector: start, wait, leave no trace in the command.
 *
 * What must hold in the command (DESIGN: laws, Recorder 1): signal mask and dispositions as we found them, our
 * process group and session, no descriptor more, environment the same but for MALLAB_* and LD_PRELOAD. */
#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/proc.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"

#define COLLECTOR_WAITS_NS   UINT64_C(2000000000)  /* for the last blocks, before we look who still runs */
#define COLLECTOR_LONGEST_NS UINT64_C(60000000000) /* to drain a full segment to a slow disk */
#define MESSAGE_BYTES_MAX    16384

/* ---- the command ---------------------------------------------------------------------------- */

struct command {
    const struct rec_settings *settings;
    const char *shim; /* NULL: the command runs without it */
    int gate[2];      /* "DIRECTORY\0SEGMENT\0" lets it go, end of file ends it */
    struct fp_process process;
};

/* LD_PRELOAD with the shim in front. That of another recording is left out: each would record
 * the other. */
static char *preload_with(const char *shim)
{
    const char *before = getenv("LD_PRELOAD");
    char *preload = res_strdup(shim);
    for (const char *at = before != NULL ? before : ""; *at != '\0';) {
        const size_t length = strcspn(at, ": ");
        char *entry = res_printf("%.*s", (int)length, at);
        if (length > 0 && strcmp(basename(entry), "libmallab.so") != 0) {
            char *longer = res_printf("%s:%s", preload, entry);
            free(preload);
            preload = longer;
        }
        free(entry);
        at += length;
        at += strspn(at, ": ");
    }
    return preload;
}

static bool set_environment(const struct command *command, const char *directory, const char *segment)
{
    const char *only = command->settings->only;
    char *preload = command->shim != NULL ? preload_with(command->shim) : NULL;
    const bool set = setenv("MALLAB_OUT", directory, 1) == 0 && setenv("MALLAB_SEGMENT", segment, 1) == 0 &&
                     (preload == NULL || setenv("LD_PRELOAD", preload, 1) == 0) &&
                     (!command->settings->follow_cleared || setenv("MALLAB_FOLLOW_CLEARED", "1", 1) == 0) &&
                     (only == NULL || setenv("MALLAB_ONLY", only, 1) == 0);
    free(preload);
    return set;
}

/* Runs in the child: wait until it may become the command. */
static int wait_at_gate(void *data)
{
    const struct command *command = data;
    char message[MESSAGE_BYTES_MAX];
    size_t length = 0;
    ssize_t count;
    (void)close(command->gate[1]); /* its end is to be seen */
    while ((count = read(command->gate[0], message + length, sizeof message - length)) != 0) {
        if (count < 0 && errno != EINTR)
            return REC_FAILED;
        length += count > 0 ? (size_t)count : 0;
    }
    if (length == 0 || message[length - 1] != '\0')
        return REC_FAILED; /* our parent gave up, and says why */
    return set_environment(command, message, message + strlen(message) + 1) ? 0 : REC_FAILED;
}

/* Returns 0 or an errno. */
static int start_command(struct command *command, const char *path, char *const *arguments)
{
    const struct fp_process_plan plan = {
        .program = path,
        .arguments = arguments,
        .body = wait_at_gate,
        .data = command,
        .streams = {FP_STREAM_OURS, command->settings->stdout_to, FP_STREAM_OURS},
        .as_shell = true,
        .gated = true,
    };
    int error = fp_make_pipe(command->gate);
    if (error == 0)
        error = fp_process_start(&plan, &command->process);
    fp_close(&command->gate[0]);
    return error;
}

static void let_go(struct command *command, const char *directory, const char *segment)
{
    char *message = res_printf("%s%c%s%c", directory, '\0', segment, '\0');
    const size_t length = strlen(directory) + strlen(segment) + 2;
    /* A pipe takes it in one piece. Where it cannot be written, the command ends without having run. */
    (void)!write(command->gate[1], message, length);
    free(message);
    fp_close(&command->gate[1]);
}

/* ---- both ------------------------------------------------------------------------------- */

void rec_recorded_place(const struct rec_settings *settings, const char *name, struct rec_recorded *recorded)
{
    char here[PATH_MAX];
    const char *path = settings->directory != NULL ? settings->directory : name;
    if (getcwd(here, sizeof here) == NULL)
        snprintf(here, sizeof here, ".");
    recorded->shown = res_strdup(settings->shown != NULL ? settings->shown : path);
    for (size_t length = strlen(recorded->shown); length > 1 && recorded->shown[length - 1] == '/'; length--)
        recorded->shown[length - 1] = '\0';
    /* The program may change its directory. */
    recorded->directory = settings->shown != NULL || path[0] == '/' ? res_strdup(path)
                                                                    : res_path_join(here, path);
}

/* A process that has the segment mapped, 0: none. A list of process ids would not be exact: ids
 * are used again, and a process that ended but was not waited for maps nothing. */
static pid_t recorded_process(const struct rec_collector *collector)
{
    pid_t found = 0;
    DIR *entries = opendir("/proc");
    for (pid_t pid; found == 0 && (pid = fp_proc_next(entries)) != 0;)
        if (pid != collector->process.pid && rec_watch_maps_file(pid, collector->segment))
            found = pid;
    if (entries != NULL)
        closedir(entries);
    return found;
}

static void finish_collector(struct rec_collector *collector, struct rec_recorded *recorded)
{
    const uint64_t begin = fp_now_ns();
    while (!fp_process_ends_within(&collector->process, COLLECTOR_WAITS_NS)) {
        recorded->still_running = recorded_process(collector);
        /* When the first process of a pid namespace ends, all others are killed, a working
         * collector too. */
        if (recorded->still_running != 0 && getpid() == 1 && kill(recorded->still_running, SIGKILL) == 0) {
            recorded->still_running = 0;
            continue;
        }
        /* If nobody runs, the collector is writing what is left, and may need its time. */
        if (recorded->still_running != 0 || fp_now_ns() - begin > COLLECTOR_LONGEST_NS)
            return;
    }
    recorded->collector_status = collector->process.status;
}

static void run_both(const struct rec_settings *settings, struct command *command,
                     struct rec_collector *collector, struct rec_recorded *recorded)
{
    recorded->watch.messages = (struct rec_messages){
        .verb = settings->verb, .quiet = settings->quiet, .fd = collector->control};
    recorded->watch.alone = settings->no_follow;
    recorded->watch.printed_to = settings->stdout_to;
    rec_relay_begin(command->process.pid);
    let_go(command, recorded->directory, collector->segment);
    const int error = fp_process_exec_error(&command->process);
    if (error != 0) {
        recorded->code = error == ENOENT ? REC_NOT_FOUND : REC_NOT_EXECUTABLE;
        recorded->problem = res_printf("cannot run the command: %s", strerror(error));
    }
    rec_watch_until_end(&recorded->watch, command->process.pid, collector->segment, &collector->process);
    /* It has ended; until it is waited for, the collector can read from it what it used, and how it ended. */
    (void)shutdown(collector->control, SHUT_WR);
    rec_messages_wait_seen(&recorded->watch.messages);
    (void)fp_process_wait(&command->process, NULL);
    rec_relay_pause();
    recorded->status = command->process.status;
    finish_collector(collector, recorded);
    rec_messages_take(&recorded->watch.messages); /* its last words */
    recorded->watch.messages.fd = -1;
}

/* A limit of file sizes holds for shared memory too; errno does not tell. Takes over problem. */
static char *with_limit(char *problem)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return problem;
    char *longer = res_printf("%s; files and shared memory are limited to %llu bytes here: raise 'ulimit -f'",
                              problem, (unsigned long long)limit.rlim_cur);
    free(problem);
    return longer;
}

void rec_recorded_take_place(const struct rec_settings *settings, const struct rec_collector *collector,
                             struct rec_recorded *recorded)
{
    const char *number = collector->directory != NULL ? strrchr(collector->directory, '.') : NULL;
    if (number == NULL)
        return;
    char *asked = recorded->shown;
    recorded->shown = res_printf("%s%s", asked, number);
    free(recorded->directory);
    recorded->directory = collector->directory;
    res_say(settings->verb, "'%s' holds something already: recording into '%s'", asked, recorded->shown);
    free(asked);
}

/* Tells why nothing can be recorded at all; NULL: it can. The caller's. */
static char *check_programs(const char *shim, const char *program)
{
    if (shim == NULL)
        return res_strdup("libmallab.so is not there: it belongs beside mallab or into " MALLAB_LIBDIR);
    if (strpbrk(shim, " :") != NULL)
        return res_printf(
            "'%s' cannot be preloaded: LD_PRELOAD takes no path with a blank or a colon; move mallab", shim);
    if (program == NULL)
        return res_strdup("mallab-collect is not there: it belongs beside mallab or into " MALLAB_LIBEXECDIR);
    return NULL;
}

/* The collector did not become ready: say why, and let the command end without having run. */
static void give_up(struct command *command, struct rec_collector *collector, struct rec_recorded *recorded)
{
    recorded->problem = with_limit(collector->problem);
    fp_close(&command->gate[1]); /* the command has done nothing yet, and ends */
    (void)fp_process_wait(&command->process, NULL);
    recorded->status = command->process.status;
    fp_close(&collector->control);
    if (fp_process_ends_within(&collector->process, COLLECTOR_WAITS_NS))
        recorded->collector_status = collector->process.status;
}

void rec_run(const struct rec_settings *settings, const char *path, char *const *arguments,
             struct rec_recorded *ret)
{
    struct rec_recorded recorded = {.code = REC_FAILED};
    struct rec_collector collector = {.process = FP_PROCESS_NONE, .control = -1};
    char *shim = res_own_library("libmallab.so"), *program = res_own_program("mallab-collect");
    char *without_us = NULL, name[128];
    struct command command = {.settings = settings, .gate = {-1, -1}, .process = FP_PROCESS_NONE};
    recorded.problem = check_programs(shim, program);
    if (recorded.problem != NULL)
        goto out;
    rec_relay_prepare(arguments);
    without_us = rec_target_sanitizer(path);
    command.shim = without_us == NULL ? shim : NULL;
    const int error = start_command(&command, path, arguments);
    if (error != 0) {
        recorded.problem = res_printf("no process for the command: %s", strerror(error));
        goto out;
    }
    snprintf(name, sizeof name, "mallab-%.100s.%d", basename(path), (int)command.process.pid);
    rec_recorded_place(settings, name, &recorded);
    if (rec_collector_start(settings, program, recorded.directory, command.process.pid, &collector)) {
        recorded.code = 0;
        recorded.collector = collector.process.pid;
        rec_recorded_take_place(settings, &collector, &recorded);
        if (without_us != NULL)
            rec_watch_tell(command.process.pid, path, without_us, collector.segment);
        if (getenv("MALLAB_SEGMENT") != NULL)
            rec_watch_tell(command.process.pid, path, "belongs to a 'mallab record' within this one",
                           getenv("MALLAB_SEGMENT"));
        run_both(settings, &command, &collector, &recorded);
    } else {
        give_up(&command, &collector, &recorded);
    }
out:
    rec_relay_end();
    fp_close(&command.gate[1]);
    fp_process_release(&command.process);
    rec_collector_release(&collector);
    free(without_us);
    free(shim);
    free(program);
    *ret = recorded;
}

void rec_recorded_release(struct rec_recorded *recorded)
{
    free(recorded->problem);
    free(recorded->directory);
    free(recorded->shown);
    *recorded = (struct rec_recorded){0};
}

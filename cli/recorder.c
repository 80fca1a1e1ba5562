/* recorder.c - command and collector: start, wait, leave no trace in the command.
 *
 * What must hold in the command (DESIGN: laws, Recorder 1): signal mask and dispositions as we found them, our
 * process group and session, no descriptor more, environment the same but for MALLAB_* and LD_PRELOAD. */
#include "cli/recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/relay.h"
#include "results/support.h"

extern char **environ;

#define COLLECTOR_WAITS_NS   UINT64_C(2000000000)  /* for the last blocks, before we look who still runs */
#define COLLECTOR_LONGEST_NS UINT64_C(60000000000) /* to drain a full segment to a slow disk */
#define READY_BYTES_MAX      8192

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Another number, from 3 up, for a descriptor that took one of the standard ones: the user may have started us with
 * those closed, and CMD is to find them so. */
static int above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return moved;
}

static bool make_pipe(int *ret_ends)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    /* The second first: closing the first would free a low number for it. */
    ends[1] = above_standard(ends[1]);
    ends[0] = above_standard(ends[0]);
    ret_ends[0] = ends[0];
    ret_ends[1] = ends[1];
    if (ends[0] < 0 || ends[1] < 0) {
        close_end(&ret_ends[0]);
        close_end(&ret_ends[1]);
        return false;
    }
    return true;
}

static pid_t wait_for(pid_t pid, int *ret_status)
{
    pid_t ended;
    do {
        ended = waitpid(pid, ret_status, 0);
    } while (ended < 0 && errno == EINTR);
    return ended;
}

/* ---- the command ---------------------------------------------------------------------------- */

struct command {
    pid_t pid;
    int go;     /* write end: the segment's path lets it go, end of file ends it */
    int failed; /* read end: errno of an exec that failed */
};

static void set_environment(const char *directory, const char *shim, const char *segment, const char *only,
                            const char *notes)
{
    const char *before = getenv("LD_PRELOAD");
    char *preload = before != NULL && *before != '\0' ? res_printf("%s:%s", shim, before) : res_strdup(shim);
    if (*notes != '\0' ? setenv("MALLAB_NOTES", notes, 1) != 0 : unsetenv("MALLAB_NOTES") != 0)
        _exit(CLI_RECORD_FAILED);
    if (setenv("MALLAB_OUT", directory, 1) != 0 || setenv("MALLAB_SEGMENT", segment, 1) != 0 ||
        setenv("LD_PRELOAD", preload, 1) != 0)
        _exit(CLI_RECORD_FAILED);
    if (only != NULL && setenv("MALLAB_ONLY", only, 1) != 0)
        _exit(CLI_RECORD_FAILED);
    free(preload);
}

/* In the child: wait, then become the command. message is "DIRECTORY\0SEGMENT\0". */
static void become_command(int go, int failed, const char *path, char *const *arguments, const char *shim,
                           const char *notes, const struct cli_record *record)
{
    char message[2 * READY_BYTES_MAX];
    size_t length = 0;
    ssize_t count;
    while ((count = read(go, message + length, sizeof message - length)) != 0) {
        if (count < 0 && errno != EINTR)
            _exit(CLI_RECORD_FAILED);
        length += count > 0 ? (size_t)count : 0;
    }
    if (length == 0 || message[length - 1] != '\0')
        _exit(CLI_RECORD_FAILED); /* our parent gave up, and says why */
    set_environment(message, shim, message + strlen(message) + 1, record->only, notes);
    if (record->stdout_to_stderr)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(path, arguments);
    if (errno == ENOEXEC) {
        /* A script without '#!': what execvp and every shell do. */
        size_t words = 0;
        while (arguments[words] != NULL)
            words++;
        char **script = res_calloc(words + 2, sizeof *script);
        script[0] = res_strdup("/bin/sh");
        script[1] = res_strdup(path);
        for (size_t i = 1; i < words; i++)
            script[i + 1] = arguments[i];
        execv("/bin/sh", script);
    }
    const int error = errno;
    count = write(failed, &error, sizeof error);
    _exit(error == ENOENT ? CLI_RECORD_NOT_FOUND : CLI_RECORD_NOT_EXECUTABLE);
}

static bool fork_command(const char *path, char *const *arguments, const char *shim, const char *notes,
                         const struct cli_record *record, struct command *ret_command)
{
    int go[2] = {-1, -1};
    int failed[2] = {-1, -1};
    if (!make_pipe(go) || !make_pipe(failed)) {
        const int error = errno;
        close_end(&go[0]);
        close_end(&go[1]);
        errno = error;
        return false;
    }
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        close(failed[0]);
        become_command(go[0], failed[1], path, arguments, shim, notes, record);
    }
    const int error = errno;
    close(go[0]);
    close(failed[1]);
    *ret_command = (struct command){.pid = pid, .go = go[1], .failed = failed[0]};
    if (pid < 0) {
        close_end(&ret_command->go);
        close_end(&ret_command->failed);
    }
    errno = error;
    return pid > 0;
}

static bool let_go(struct command *command, const char *directory, const char *segment)
{
    char *message = res_printf("%s%c%s%c", directory, '\0', segment, '\0');
    const size_t length = strlen(directory) + strlen(segment) + 2;
    const bool written = write(command->go, message, length) ==
                         (ssize_t)length; /* fits a pipe: never in parts */
    free(message);
    close_end(&command->go);
    return written;
}

/* ---- the collector -------------------------------------------------------------------------- */

struct collector {
    pid_t pid;
    int control; /* write end: closed when the command has ended */
    char *segment;
    char *problem;
};

static char **collector_arguments(const struct cli_record *record, const char *program, const char *directory,
                                  int ready, int control)
{
    char **words = res_calloc(32, sizeof *words);
    size_t count = 0;
    words[count++] = res_strdup(program);
    words[count++] = res_strdup("--out");
    words[count++] = res_strdup(directory);
    words[count++] = res_strdup("--ready-fd");
    words[count++] = res_printf("%d", ready);
    words[count++] = res_strdup("--control-fd");
    words[count++] = res_printf("%d", control);
    const struct {
        const char *option;
        uint64_t value;
    } numbers[] = {
        {"--memory", record->memory_bytes},
        {"--max-size", record->size_limit_bytes},
        {"--duration", record->duration_ns},
        {"--window", record->window_ns},
        {"--keep", record->keep},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].value != 0) {
            words[count++] = res_strdup(numbers[i].option);
            words[count++] = res_printf("%llu", (unsigned long long)numbers[i].value);
        }
    }
    if (record->no_follow)
        words[count++] = res_strdup("--no-follow");
    if (record->paused)
        words[count++] = res_strdup("--paused");
    if (record->only != NULL) {
        words[count++] = res_strdup("--only");
        words[count++] = res_strdup(record->only);
    }
    if (record->order != NULL) {
        words[count++] = res_strdup("--order");
        words[count++] = res_strdup(record->order);
    }
    if (record->on_full != NULL) {
        words[count++] = res_strdup("--on-full");
        words[count++] = res_strdup(record->on_full);
    }
    return words;
}

static void become_collector(const struct cli_record *record, const char *program, const char *directory,
                             int ready, int control)
{
    char **words = collector_arguments(record, program, directory, ready, control);
    const int null = above_standard(open("/dev/null", O_RDWR | O_CLOEXEC));
    unsetenv("LD_PRELOAD"); /* it is not to be recorded, nor to run on an allocator under test */
    unsetenv("MALLAB_SEGMENT");
    if (null < 0 || fcntl(ready, F_SETFD, 0) != 0 || fcntl(control, F_SETFD, 0) != 0)
        _exit(CLI_RECORD_FAILED);
    /* It may outlive us: it must not keep the reader of our output waiting. It answers through `ready`. */
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execv(program, words);
    char message[512];
    const int length = snprintf(message, sizeof message, "error cannot start '%s': %s\n", program,
                                strerror(errno));
    ssize_t written = write(ready, message,
                            (size_t)length < sizeof message ? (size_t)length : sizeof message - 1);
    _exit(written > 0 ? CLI_RECORD_FAILED : CLI_RECORD_NOT_FOUND);
}

/* Its one line: "ok SEGMENT" or "error MESSAGE". */
static void hear(struct collector *collector, int ready)
{
    char line[READY_BYTES_MAX];
    size_t length = 0;
    ssize_t count;
    while (length < sizeof line - 1 && (count = read(ready, line + length, sizeof line - 1 - length)) != 0) {
        if (count < 0 && errno != EINTR)
            break;
        length += count > 0 ? (size_t)count : 0;
    }
    line[length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "ok ", 3) == 0)
        collector->segment = res_strdup(line + 3);
    else if (strncmp(line, "error ", 6) == 0)
        collector->problem = res_text_plain(line + 6);
    else
        collector->problem = res_strdup("the collector ended before it was ready");
}

static bool start_collector(const struct cli_record *record, const char *program, const char *directory,
                            const struct command *command, struct collector *ret_collector)
{
    int ready[2] = {-1, -1};
    int control[2] = {-1, -1};
    *ret_collector = (struct collector){.pid = -1, .control = -1};
    if (!make_pipe(ready) || !make_pipe(control)) {
        ret_collector->problem = res_printf("no pipe to the collector: %s", strerror(errno));
        close_end(&ready[0]);
        close_end(&ready[1]);
        return false;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        close(ready[0]);
        close(control[1]);
        close(command->go); /* else the command would never see its end */
        close(command->failed);
        become_collector(record, program, directory, ready[1], control[0]);
    }
    const int error = errno;
    close(ready[1]);
    close(control[0]);
    ret_collector->pid = pid;
    ret_collector->control = control[1];
    if (pid < 0)
        ret_collector->problem = res_printf("no process for the collector: %s", strerror(error));
    else
        hear(ret_collector, ready[0]);
    close(ready[0]);
    return ret_collector->segment != NULL;
}

/* Returns whether it ended within that time; ret_status is set then, as from waitpid. */
static bool collector_ends(const struct collector *collector, uint64_t within_ns, int *ret_status)
{
    const uint64_t begin = now_ns();
    struct timespec pause = {.tv_nsec = 1000000};
    while (waitpid(collector->pid, ret_status, WNOHANG) == 0) {
        if (now_ns() - begin >= within_ns)
            return false;
        nanosleep(&pause, NULL); /* a signal only shortens it */
        if (pause.tv_nsec < 20000000)
            pause.tv_nsec *= 2;
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static char *directory_for(const struct cli_record *record, const char *path, pid_t pid)
{
    char here[PATH_MAX];
    if (record->directory != NULL && record->directory[0] == '/')
        return res_strdup(record->directory);
    if (getcwd(here, sizeof here) == NULL)
        snprintf(here, sizeof here, ".");
    if (record->directory != NULL)
        return res_path_join(here, record->directory); /* the program may change its directory */
    const char *slash = strrchr(path, '/');
    return res_printf("%s/mallab-%.100s.%d", here, slash != NULL ? slash + 1 : path, (int)pid);
}

/* A process that has the segment mapped, 0 when none has. Exact where a list of process ids would not be: ids are
 * used again, and a process that ended but was not waited for maps nothing. */
static pid_t recorded_process(const struct collector *collector)
{
    pid_t found = 0;
    DIR *entries = opendir("/proc");
    const struct dirent *entry;
    while (entries != NULL && found == 0 && (entry = readdir(entries)) != NULL) {
        const pid_t pid = (pid_t)atoi(entry->d_name); /* 0 for what is no process */
        if (pid > 0 && pid != collector->pid && cli_watch_maps_file(pid, collector->segment))
            found = pid;
    }
    if (entries != NULL)
        closedir(entries);
    return found;
}

static void finish_collector(struct collector *collector, struct cli_recorded *recorded)
{
    const uint64_t begin = now_ns();
    close_end(&collector->control);
    if (collector->pid < 0)
        return;
    while (!collector_ends(collector, COLLECTOR_WAITS_NS, &recorded->collector_status)) {
        recorded->still_running = recorded_process(collector);
        /* As the first process of a pid namespace we take everybody with us, and the collector before it is done. */
        if (recorded->still_running != 0 && getpid() == 1 && kill(recorded->still_running, SIGKILL) == 0) {
            recorded->still_running = 0;
            continue;
        }
        /* Where nobody runs, it is writing what is left, for which it may need its time. */
        if (recorded->still_running != 0 || now_ns() - begin > COLLECTOR_LONGEST_NS)
            return;
    }
}

static void run_both(const struct cli_record *record, struct command *command, struct collector *collector,
                     int notes, struct cli_recorded *recorded)
{
    int error = 0;
    recorded->watch.only = record->only;
    cli_relay_begin(command->pid);
    if (!let_go(command, recorded->directory, collector->segment))
        error = errno;
    if (read(command->failed, &error, sizeof error) > 0) {
        recorded->code = error == ENOENT ? CLI_RECORD_NOT_FOUND : CLI_RECORD_NOT_EXECUTABLE;
        recorded->problem = res_printf("cannot run the command: %s", strerror(error));
    }
    cli_watch_until_end(&recorded->watch, command->pid, collector->segment, notes, &collector->pid,
                        &recorded->collector_status);
    wait_for(command->pid, &recorded->status);
    cli_relay_pause();
    finish_collector(collector, recorded);
    cli_watch_take_notes(&recorded->watch, notes);
    cli_relay_end();
}

/* A limit of file sizes holds for shared memory too, which the collector's errno does not tell. Takes over problem. */
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

static char *check_shim(const char *shim)
{
    if (shim == NULL)
        return res_strdup("libmallab.so is not there: it belongs beside mallab or into " MALLAB_LIBDIR);
    if (strpbrk(shim, " :") != NULL)
        return res_printf(
            "'%s' cannot be preloaded: LD_PRELOAD takes no path with a blank or a colon; move mallab", shim);
    return NULL;
}

void cli_record_run(const struct cli_record *record, const char *path, char *const *arguments,
                    struct cli_recorded *ret)
{
    struct cli_recorded recorded = {.code = CLI_RECORD_FAILED, .collector = -1};
    struct command command = {.pid = -1, .go = -1, .failed = -1};
    struct collector collector = {.pid = -1, .control = -1};
    char *shim = cli_find_library("libmallab.so");
    char *program = cli_find_program("mallab-collect");
    char notes_name[CLI_NOTES_NAME] = "";
    int notes = -1;
    recorded.problem = check_shim(shim);
    if (recorded.problem == NULL && program == NULL)
        recorded.problem = res_strdup(
            "mallab-collect is not there: it belongs beside mallab or into " MALLAB_LIBEXECDIR);
    if (recorded.problem != NULL)
        goto out;
    notes = above_standard(cli_notes_open(notes_name));
    if (!fork_command(path, arguments, shim, notes_name, record, &command)) {
        recorded.problem = res_printf("no process for the command: %s", strerror(errno));
        goto out;
    }
    recorded.directory = directory_for(record, path, command.pid);
    if (start_collector(record, program, recorded.directory, &command, &collector)) {
        recorded.code = 0;
        recorded.collector = collector.pid;
        run_both(record, &command, &collector, notes, &recorded);
    } else {
        recorded.problem = with_limit(collector.problem);
        close_end(&command.go); /* the command has done nothing yet, and ends */
        wait_for(command.pid, &recorded.status);
        close_end(&collector.control);
        if (collector.pid > 0)
            (void)collector_ends(&collector, COLLECTOR_WAITS_NS,
                                 &recorded.collector_status); /* it failed: nothing more to hear of it */
    }
out:
    close_end(&command.failed);
    close_end(&notes);
    free(collector.segment);
    free(shim);
    free(program);
    *ret = recorded;
}

void cli_recorded_release(struct cli_recorded *recorded)
{
    free(recorded->problem);
    free(recorded->directory);
    *recorded = (struct cli_recorded){0};
}

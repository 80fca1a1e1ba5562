/* recorder.c - command and collector: start, wait, leave no trace in the command.
 *
 * What must hold in the command (DESIGN: laws, Recorder 1): signal mask and dispositions as we found them, our
 * process group and session, no descriptor more, environment the same but for MALLAB_* and LD_PRELOAD. */
#include "record/recorder.h"

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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/clock.h"
#include "footprint/base/library_copy.h"
#include "footprint/base/places.h"
#include "record/collector.h"
#include "record/relay.h"
#include "record/target.h"
#include "results/measure/base/support.h"

extern char **environ;

#define COLLECTOR_WAITS_NS   UINT64_C(2000000000)  /* for the last blocks, before we look who still runs */
#define COLLECTOR_LONGEST_NS UINT64_C(60000000000) /* to drain a full segment to a slow disk */
#define READY_BYTES_MAX      8192

void cli_close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int cli_above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return moved;
}

bool cli_make_pipe(int *ret_ends)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    /* The second first: closing the first would free a low number for it. */
    ends[1] = cli_above_standard(ends[1]);
    ends[0] = cli_above_standard(ends[0]);
    ret_ends[0] = ends[0];
    ret_ends[1] = ends[1];
    if (ends[0] < 0 || ends[1] < 0) {
        cli_close_end(&ret_ends[0]);
        cli_close_end(&ret_ends[1]);
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

/* The shim in front of what is preloaded already, but for another recording's shim, which lies elsewhere: two of them would
 * record each other. */
static char *preload_with(const char *shim)
{
    const char *before = getenv("LD_PRELOAD");
    char *preload = res_strdup(shim);
    for (const char *at = before != NULL ? before : ""; *at != '\0';) {
        const size_t length = strcspn(at, ": ");
        char *entry = res_printf("%.*s", (int)length, at);
        const char *slash = strrchr(entry, '/');
        if (length > 0 && strcmp(slash != NULL ? slash + 1 : entry, "libmallab.so") != 0) {
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

/* shim: NULL where the command is to run without it. */
static void set_environment(const char *directory, const char *shim, const char *segment, const char *only)
{
    char *preload = shim != NULL ? preload_with(shim) : NULL;
    if (setenv("MALLAB_OUT", directory, 1) != 0 || setenv("MALLAB_SEGMENT", segment, 1) != 0 ||
        (preload != NULL && setenv("LD_PRELOAD", preload, 1) != 0))
        _exit(CLI_RECORD_FAILED);
    if (only != NULL && setenv("MALLAB_ONLY", only, 1) != 0)
        _exit(CLI_RECORD_FAILED);
    free(preload);
}

/* In the child: wait, then become the command. message is "DIRECTORY\0SEGMENT\0". */
static void drop_stdout(void)
{
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) /* else it is seen, which harms nobody */
        (void)dup2(null, STDOUT_FILENO);
}

static void become_command(int go, int failed, const char *path, char *const *arguments, const char *shim,
                           const struct cli_record *record)
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
    set_environment(message, shim, message + strlen(message) + 1, record->only);
    if (record->stdout_to_stderr)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (record->stdout_dropped)
        drop_stdout();
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

static bool fork_command(const char *path, char *const *arguments, const char *shim,
                         const struct cli_record *record, struct command *ret_command)
{
    int go[2] = {-1, -1};
    int failed[2] = {-1, -1};
    if (!cli_make_pipe(go) || !cli_make_pipe(failed)) {
        const int error = errno;
        cli_close_end(&go[0]);
        cli_close_end(&go[1]);
        errno = error;
        return false;
    }
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        close(failed[0]);
        become_command(go[0], failed[1], path, arguments, shim, record);
    }
    const int error = errno;
    close(go[0]);
    close(failed[1]);
    *ret_command = (struct command){.pid = pid, .go = go[1], .failed = failed[0]};
    if (pid < 0) {
        cli_close_end(&ret_command->go);
        cli_close_end(&ret_command->failed);
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
    cli_close_end(&command->go);
    return written;
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
static pid_t recorded_process(const struct cli_collector *collector)
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

static void finish_collector(struct cli_collector *collector, struct cli_recorded *recorded)
{
    const uint64_t begin = cli_now_ns();
    (void)shutdown(collector->control, SHUT_WR); /* the command has ended */
    if (collector->pid < 0)
        return;
    while (!cli_collector_ends(collector, COLLECTOR_WAITS_NS, &recorded->collector_status)) {
        recorded->still_running = recorded_process(collector);
        /* As the first process of a pid namespace we take everybody with us, and the collector before it is done. */
        if (recorded->still_running != 0 && getpid() == 1 && kill(recorded->still_running, SIGKILL) == 0) {
            recorded->still_running = 0;
            continue;
        }
        /* Where nobody runs, it is writing what is left, for which it may need its time. */
        if (recorded->still_running != 0 || cli_now_ns() - begin > COLLECTOR_LONGEST_NS)
            return;
    }
}

static void run_both(const struct cli_record *record, struct command *command,
                     struct cli_collector *collector, struct cli_recorded *recorded)
{
    int error = 0;
    recorded->watch.news = (struct cli_news){
        .verb = record->verb, .quiet = record->quiet, .fd = collector->control};
    recorded->watch.alone = record->no_follow;
    cli_relay_begin(command->pid);
    if (!let_go(command, recorded->directory, collector->segment))
        error = errno;
    if (read(command->failed, &error, sizeof error) > 0) {
        recorded->code = error == ENOENT ? CLI_RECORD_NOT_FOUND : CLI_RECORD_NOT_EXECUTABLE;
        recorded->problem = res_printf("cannot run the command: %s", strerror(error));
    }
    cli_watch_until_end(&recorded->watch, command->pid, collector->segment, &collector->pid,
                        &recorded->collector_status);
    wait_for(command->pid, &recorded->status);
    cli_relay_pause();
    finish_collector(collector, recorded);
    cli_news_take(&recorded->watch.news); /* its last words */
    recorded->watch.news.fd = -1;
    cli_close_end(&collector->control);
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

/* The library itself, or a copy where not every process of the tree may be able to read it: after a change of its user, say.
 * Takes over shim, and returns what is to be preloaded. */
static char *place_library(const struct cli_record *record, char *shim, int *ret_copy)
{
    char why[PATH_MAX + 64], path[PATH_MAX];
    if (fp_library_is_for_all(shim, why, sizeof why))
        return shim;
    *ret_copy = cli_above_standard(fp_library_copy_make(shim, path, sizeof path));
    if (*ret_copy < 0) {
        cli_say(
            record->verb,
            "not every user can read libmallab.so (%s), and no place was found for a copy: a process of the "
            "command that changes its user says so on stderr, and goes unrecorded; install mallab where all "
            "can read it",
            why);
        return shim;
    }
    free(shim);
    return res_strdup(path);
}

/* Another directory than was named is told at once, and even if we are to be quiet: the one that was named is there too,
 * and holds something else. */
static void take_place(const struct cli_record *record, struct cli_collector *collector,
                       struct cli_recorded *recorded)
{
    const char *number = collector->directory != NULL ? strrchr(collector->directory, '.') : NULL;
    if (number != NULL) {
        char *asked = recorded->shown;
        recorded->shown = res_printf("%s%s", asked, number);
        free(recorded->directory);
        recorded->directory = collector->directory;
        cli_say(record->verb, "'%s' holds something already: recording into '%s'", asked, recorded->shown);
        free(asked);
    }
}

/* As the user would write it: what was given, or the default's name in this directory. */
static char *shown_directory(const struct cli_record *record, const char *directory)
{
    const char *slash = strrchr(directory, '/');
    char *shown = res_strdup(record->directory != NULL ? record->directory
                             : slash != NULL           ? slash + 1
                                                       : directory);
    for (size_t length = strlen(shown); length > 1 && shown[length - 1] == '/'; length--)
        shown[length - 1] = '\0';
    return shown;
}

void cli_record_run(const struct cli_record *record, const char *path, char *const *arguments,
                    struct cli_recorded *ret)
{
    struct cli_recorded recorded = {.code = CLI_RECORD_FAILED, .collector = -1};
    struct command command = {.pid = -1, .go = -1, .failed = -1};
    struct cli_collector collector = {.pid = -1, .control = -1};
    char *shim = res_own_library("libmallab.so");
    char *program = res_own_program("mallab-collect"), *without_us = NULL;
    int copy = -1; /* of the library: its directory */
    recorded.problem = check_shim(shim);
    if (recorded.problem == NULL && program == NULL)
        recorded.problem = res_strdup(
            "mallab-collect is not there: it belongs beside mallab or into " MALLAB_LIBEXECDIR);
    if (recorded.problem != NULL)
        goto out;
    shim = place_library(record, shim, &copy);
    cli_relay_prepare(arguments);
    without_us = cli_target_sanitizer(path);
    if (!fork_command(path, arguments, without_us == NULL ? shim : NULL, record, &command)) {
        recorded.problem = res_printf("no process for the command: %s", strerror(errno));
        goto out;
    }
    recorded.directory = directory_for(record, path, command.pid);
    recorded.shown = shown_directory(record, recorded.directory);
    /* Else the command would never see the end of its pipe. */
    const int not_its_own[2] = {command.go, command.failed};
    if (cli_collector_start(record, program, recorded.directory, not_its_own, copy, &collector)) {
        recorded.code = 0;
        recorded.collector = collector.pid;
        take_place(record, &collector, &recorded);
        if (without_us != NULL)
            cli_watch_tell(command.pid, path, without_us, collector.segment);
        run_both(record, &command, &collector, &recorded);
    } else {
        recorded.problem = with_limit(collector.problem);
        cli_close_end(&command.go); /* the command has done nothing yet, and ends */
        wait_for(command.pid, &recorded.status);
        cli_close_end(&collector.control);
        if (collector.pid > 0)
            (void)cli_collector_ends(&collector, COLLECTOR_WAITS_NS,
                                     &recorded.collector_status); /* it failed: nothing more to hear of it */
    }
out:
    cli_relay_end();
    cli_close_end(&command.failed);
    fp_library_copy_end(copy);
    free(collector.segment);
    free(without_us);
    free(shim);
    free(program);
    *ret = recorded;
}

void cli_recorded_release(struct cli_recorded *recorded)
{
    free(recorded->problem);
    free(recorded->directory);
    free(recorded->shown);
    *recorded = (struct cli_recorded){0};
}

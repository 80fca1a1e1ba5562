/* sampled.c - trace a command's processes, sample them, look at each at its end. */
#include "results/measure/validate/sampled.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/measure/base/support.h"
#include "results/measure/validate/program_image.h"

#define CANNOT_EXECUTE 127
#define SAMPLER_RESTS  4u /* times as long as a sample took */

/* A traced task: a thread, or a process by its first one. */
struct task {
    pid_t tid;
    size_t image; /* index; NO_IMAGE: unwatched */
};

#define NO_IMAGE SIZE_MAX

struct tracer {
    const struct res_sampled_request *request;
    struct res_sampled *sampled;
    struct task *tasks;
    size_t task_count, task_room;
    pid_t command;
    uint64_t next_ns; /* of the samples */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- the command ---------------------------------------------------------------------------- */

void res_command_become(const struct res_command *command, const sigset_t *mask)
{
    const int null = open("/dev/null", O_RDWR);
    const int errors = open(command->errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    setpgid(0, 0);
    if (null < 0 || errors < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        dup2(errors, STDERR_FILENO) < 0)
        _exit(CANNOT_EXECUTE);
    if (null > STDERR_FILENO)
        close(null);
    if (errors > STDERR_FILENO)
        close(errors);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execve(command->path, command->arguments, command->environment);
    if (errno == ENOEXEC) {
        /* A script without '#!': what execvp and every shell do. */
        size_t words = 0;
        while (command->arguments[words] != NULL)
            words++;
        char **script = res_calloc(words + 2, sizeof *script);
        script[0] = res_strdup("/bin/sh");
        script[1] = res_strdup(command->path);
        for (size_t i = 1; i < words; i++)
            script[i + 1] = command->arguments[i];
        execve("/bin/sh", script, command->environment);
    }
    dprintf(STDERR_FILENO, "cannot execute '%s': %s\n", command->path, strerror(errno));
    _exit(CANNOT_EXECUTE);
}

char *res_command_end_words(int code)
{
    if (code == RES_SOME_SIGNAL)
        return res_strdup("by a signal");
    return code > 128 && code < 128 + NSIG
               ? res_printf("by signal %d (%s)", code - 128, strsignal(code - 128))
               : res_printf("with exit code %d", code);
}

char *res_command_last_words(const struct res_command *command)
{
    char text[4096];
    FILE *file = fopen(command->errors, "re");
    size_t length = 0;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        if (fseek(file, size > (long)sizeof text - 1 ? size - (long)sizeof text + 1 : 0, SEEK_SET) == 0)
            length = fread(text, 1, sizeof text - 1, file);
    }
    if (file != NULL)
        fclose(file);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    text[length] = '\0';
    const char *newline = strrchr(text, '\n');
    return length > 0 ? res_text_plain(newline != NULL ? newline + 1 : text) : res_strdup("it said nothing");
}

/* ---- tasks and images ----------------------------------------------------------------------- */

static struct task *find_task(struct tracer *tracer, pid_t tid)
{
    for (size_t i = tracer->task_count; i-- > 0;) /* the youngest are asked for most */
        if (tracer->tasks[i].tid == tid)
            return &tracer->tasks[i];
    return NULL;
}

static pid_t process_of(pid_t tid)
{
    char path[64], text[1024];
    int process = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(text, sizeof text, file) != NULL && sscanf(text, "Tgid: %d", &process) != 1)
        continue;
    if (file != NULL)
        fclose(file);
    return process > 0 ? (pid_t)process : tid;
}

static size_t begin_image(struct tracer *tracer, pid_t pid)
{
    struct res_sampled *sampled = tracer->sampled;
    if (sampled->image_count == RES_IMAGES_MAX) {
        sampled->images_more++;
        return NO_IMAGE;
    }
    sampled->images = res_realloc(sampled->images, sampled->image_count + 1, sizeof *sampled->images);
    res_image_begin(&sampled->images[sampled->image_count], pid, now_ns());
    return sampled->image_count++;
}

static struct task *note_task(struct tracer *tracer, pid_t tid, size_t image)
{
    if (tracer->task_count == tracer->task_room) {
        tracer->task_room = tracer->task_room * 2 + 16;
        tracer->tasks = res_realloc(tracer->tasks, tracer->task_room, sizeof *tracer->tasks);
    }
    tracer->tasks[tracer->task_count] = (struct task){.tid = tid, .image = image};
    return &tracer->tasks[tracer->task_count++];
}

static struct task *add_task(struct tracer *tracer, pid_t tid)
{
    const pid_t process = process_of(tid);
    const struct task *first = process != tid ? find_task(tracer, process) : NULL;
    return note_task(tracer, tid, first != NULL ? first->image : begin_image(tracer, process));
}

static struct res_image *image_of(const struct tracer *tracer, const struct task *task)
{
    return task != NULL && task->image != NO_IMAGE ? &tracer->sampled->images[task->image] : NULL;
}

static bool wants_maps(const struct tracer *tracer, const struct res_image *image)
{
    return tracer->request->maps_of != NULL && res_image_is(image, tracer->request->maps_of);
}

static void end_task(struct tracer *tracer, pid_t tid, const struct rusage *usage)
{
    struct task *task = find_task(tracer, tid);
    struct res_image *image = image_of(tracer, task);
    if (image != NULL && image->pid == tid) {
        image->cpu_ns = ((double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec) * 1e9 +
                        ((double)usage->ru_utime.tv_usec + (double)usage->ru_stime.tv_usec) * 1e3;
        res_image_end(image, now_ns());
    }
    if (task != NULL)
        *task = tracer->tasks[--tracer->task_count];
}

/* ---- stops ---------------------------------------------------------------------------------- */

static bool is_stopping(int signal_number)
{
    return signal_number == SIGSTOP || signal_number == SIGTSTP || signal_number == SIGTTIN ||
           signal_number == SIGTTOU;
}

/* The thread that executes becomes its process' first; the others are gone, and their ends are not told. */
static void executed(struct tracer *tracer, struct task *task)
{
    struct res_image *image = image_of(tracer, task);
    const pid_t pid = task->tid;
    if (image != NULL)
        res_image_end(image, now_ns());
    for (size_t i = tracer->task_count; i-- > 0;)
        if (image != NULL && tracer->tasks[i].tid != pid && image_of(tracer, &tracer->tasks[i]) == image)
            tracer->tasks[i] = tracer->tasks[--tracer->task_count];
    task = find_task(tracer, pid);
    task->image = begin_image(tracer, pid);
}

static void stopped(struct tracer *tracer, pid_t tid, int status)
{
    const int number = WSTOPSIG(status);
    const int event = status >> 16;
    struct task *task = find_task(tracer, tid);
    long hand_on = 0;
    if (task == NULL)
        task = add_task(tracer, tid);
    if (event == PTRACE_EVENT_STOP && is_stopping(number)) {
        (void)ptrace(PTRACE_LISTEN, tid, NULL,
                     NULL); /* fails only when it was killed meanwhile; as those below */
        return;
    }
    if (event == PTRACE_EVENT_EXEC) {
        executed(tracer, task);
    } else if (event == PTRACE_EVENT_EXIT) {
        struct res_image *image = image_of(tracer, task);
        if (image != NULL)
            res_image_last(image, now_ns(), wants_maps(tracer, image), tracer->request->library);
    } else if (event == 0) {
        hand_on = number;
    }
    (void)ptrace(PTRACE_CONT, tid, NULL, hand_on);
}

/* ---- the run -------------------------------------------------------------------------------- */

static void sample_all(struct tracer *tracer)
{
    const uint64_t begin_ns = now_ns();
    if (begin_ns < tracer->next_ns)
        return;
    for (size_t i = 0; i < tracer->task_count; i++) {
        struct res_image *image = image_of(tracer, &tracer->tasks[i]);
        if (image != NULL && image->pid == tracer->tasks[i].tid)
            res_image_sample(image, now_ns(), wants_maps(tracer, image), tracer->request->library);
    }
    /* Reading the mappings keeps the program from changing them: not more than a fifth of its time. */
    const uint64_t end_ns = now_ns(), rest_ns = SAMPLER_RESTS * (end_ns - begin_ns);
    tracer->next_ns = end_ns + (rest_ns > tracer->request->step_ns ? rest_ns : tracer->request->step_ns);
}

/* Why it has to be ended; NULL: it has not. */
static const char *reason_to_end(const struct res_command *command, uint64_t begin_ns)
{
    if (command->stop != NULL && *command->stop)
        return "stopped";
    return command->timeout_ns != 0 && now_ns() - begin_ns > command->timeout_ns ? "timeout" : NULL;
}

/* Returns why it was ended by us, NULL when it ended by itself. */
static const char *follow(struct tracer *tracer)
{
    const uint64_t begin_ns = now_ns();
    const char *ended = NULL;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        struct rusage usage;
        int status;
        const pid_t tid = wait4(-1, &status, __WALL | WNOHANG, &usage);
        if (tid < 0 && errno != EINTR)
            return ended; /* nobody is left */
        if (tid > 0 && WIFSTOPPED(status)) {
            stopped(tracer, tid, status);
        } else if (tid > 0) {
            if (tid == tracer->command)
                tracer->sampled->status = status;
            end_task(tracer, tid, &usage);
        } else {
            const uint64_t now = now_ns(), left_ns = tracer->next_ns > now ? tracer->next_ns - now : 0;
            const struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000),
                                          .tv_nsec = (long)(left_ns % 1000000000)};
            (void)sigtimedwait(&child, NULL,
                               &left); /* a child's news, the time, or a signal to us: all wake us */
        }
        sample_all(tracer);
        if (ended == NULL && (ended = reason_to_end(&tracer->request->command, begin_ns)) != NULL) {
            kill(-tracer->command, SIGKILL);
            for (size_t i = 0; i < tracer->task_count; i++)
                kill(tracer->tasks[i].tid, SIGKILL); /* those that left the group */
        }
    }
}

/* The child waits at `go` until it is traced. Returns 0 or an errno. */
static int start(struct tracer *tracer, const sigset_t *mask)
{
    const long wanted = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                        PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    int go[2];
    int error = 0;
    if (pipe2(go, O_CLOEXEC) != 0)
        return errno;
    fflush(NULL);
    tracer->command = fork();
    if (tracer->command == 0) {
        char byte;
        close(go[1]);
        if (read(go[0], &byte, 1) != 1)
            _exit(CANNOT_EXECUTE);
        res_command_become(&tracer->request->command, mask);
    }
    if (tracer->command < 0 || ptrace(PTRACE_SEIZE, tracer->command, NULL, wanted) != 0)
        error = errno;
    else
        (void)note_task(tracer, tracer->command,
                        NO_IMAGE); /* it is still ours: its first image begins with its exec */
    if (error == 0 && write(go[1], "", 1) != 1)
        error = errno;
    close(go[0]);
    close(go[1]);
    if (error != 0 && tracer->command > 0)
        while (waitpid(tracer->command, NULL, 0) < 0 && errno == EINTR)
            continue;
    return error;
}

enum res_real_state res_sampled_run(const struct res_sampled_request *request, struct res_sampled *ret,
                                    char **ret_reason)
{
    struct res_sampled sampled = {0};
    struct tracer tracer = {.request = request, .sampled = &sampled};
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    const int error = start(&tracer, &before);
    const char *ended = error == 0 ? follow(&tracer) : NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(tracer.tasks);
    if (error == 0 && ended == NULL) {
        for (size_t i = 0; i < sampled.image_count; i++)
            if (!sampled.images[i].ended)
                res_image_end(&sampled.images[i], now_ns());
        *ret = sampled;
        return RES_REAL_OK;
    }
    res_sampled_release(&sampled);
    if (ended != NULL && strcmp(ended, "stopped") == 0)
        return RES_REAL_STOPPED;
    if (ended != NULL)
        *ret_reason = res_strdup("it did not end within --timeout");
    else
        *ret_reason = res_printf("cannot watch it: %s%s", strerror(error),
                                 error == EPERM
                                     ? " (ptrace is forbidden here: a container's seccomp profile, or "
                                       "kernel.yama.ptrace_scope)"
                                     : "");
    return RES_REAL_FAILED;
}

void res_sampled_release(struct res_sampled *sampled)
{
    free(sampled->images);
    *sampled = (struct res_sampled){0};
}

const struct res_image *res_sampled_find(const struct res_sampled *sampled, const char *name,
                                         size_t *ret_alike)
{
    const struct res_image *found = NULL;
    size_t alike = 0;
    for (size_t i = 0; i < sampled->image_count; i++) {
        const struct res_image *image = &sampled->images[i];
        if (!res_image_is(image, name))
            continue;
        alike = found != NULL && found->exact == image->exact ? alike + 1
                : found == NULL || image->exact               ? 1
                                                              : alike;
        const bool better = found == NULL || (image->exact && !found->exact) ||
                            (image->exact == found->exact &&
                             image->anonymous_peak_bytes > found->anonymous_peak_bytes);
        found = better ? image : found;
    }
    if (ret_alike != NULL)
        *ret_alike = alike;
    return found;
}

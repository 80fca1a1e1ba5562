/* sampled.c - trace a command's processes, sample them, look at each at its end. */
#include "results/measure/watch/sampled.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "footprint/base/proc.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"

/* ---- /proc/PID: names, statm, status, maps ---- */

/* ---- names ---------------------------------------------------------------------------------- */

static void base_name(const char *path, char *ret_name)
{
    const char *slash = strrchr(path, '/');
    snprintf(ret_name, RES_IMAGE_NAMES, "%.*s", (int)RES_IMAGE_NAMES - 1, slash != NULL ? slash + 1 : path);
}

/* Named; at its exec, or when it was forked. */
static void begin_now(struct res_image *image, pid_t pid)
{
    char text[PATH_MAX + 32];
    *image = (struct res_image){.pid = pid};
    if (fp_proc_read(pid, "cmdline", text, sizeof text))
        base_name(text, image->called); /* the first word ends in a zero byte */
    snprintf(text, sizeof text, "/proc/%d/exe", (int)pid);
    char target[PATH_MAX];
    const ssize_t length = readlink(text, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    base_name(target, image->executable);
}

static bool is_called(const struct res_image *image, const char *name)
{
    return strncmp(image->called, name, RES_IMAGE_NAMES - 1) == 0 ||
           strncmp(image->executable, name, RES_IMAGE_NAMES - 1) == 0;
}

/* ---- figures -------------------------------------------------------------------------------- */

static uint64_t above(uint64_t value, uint64_t base)
{
    return value > base ? value - base : 0;
}

static bool read_statm(pid_t pid, uint64_t *ret_anonymous, uint64_t *ret_others)
{
    char text[128];
    unsigned long long resident, shared;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (!fp_proc_read(pid, "statm", text, sizeof text) ||
        sscanf(text, "%*u %llu %llu", &resident, &shared) != 2 || resident == 0)
        return false; /* it ends: its memory is gone already */
    *ret_anonymous = above(resident, shared) * page;
    *ret_others = shared * page;
    return true;
}

static void take_sample(struct res_image *image, uint64_t anonymous, uint64_t others)
{
    image->anonymous_bytes = (double)anonymous;
    image->sample_peak_bytes = fmax(image->sample_peak_bytes, (double)anonymous);
    image->file_peak_bytes = fmax(image->file_peak_bytes, (double)others);
}

static void sample_image(struct res_image *image)
{
    uint64_t anonymous, others;
    if (read_statm(image->pid, &anonymous, &others))
        take_sample(image, anonymous, others);
}

/* The exact figures, while it is stopped at its end. */
static void look_last(struct res_image *image, const char *const *libraries)
{
    struct fp_proc_status status;
    if (!fp_proc_status(image->pid, &status))
        return; /* another thread's end, when all is over */
    image->exact = true;
    take_sample(image, status.anon, status.file + status.shared);
    image->peak_bytes = fmax(image->peak_bytes, (double)status.peak);
    for (; libraries != NULL && *libraries != NULL && image->library == NULL; libraries++)
        image->library = fp_proc_maps(image->pid, *libraries, NULL) > 0 ? *libraries : NULL;
}

static void end_image(struct res_image *image)
{
    image->ended = true;
    if (!image->exact)
        image->peak_bytes = image->sample_peak_bytes + image->file_peak_bytes;
}

#define SAMPLER_RESTS 4u /* times as long as a sample took */

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
    char text[1024];
    uint64_t process = 0;
    if (fp_proc_read(tid, "status", text, sizeof text))
        (void)fp_proc_number(text, "\nTgid:", 10, &process); /* 0 where it is not told */
    return process > 0 ? (pid_t)process : tid;
}

static size_t begin_image(struct tracer *tracer, pid_t pid)
{
    struct res_sampled *sampled = tracer->sampled;
    if (sampled->image_count == RES_IMAGES_MAX)
        return NO_IMAGE;
    sampled->images = res_realloc(sampled->images, sampled->image_count + 1, sizeof *sampled->images);
    begin_now(&sampled->images[sampled->image_count], pid);
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

static void end_task(struct tracer *tracer, pid_t tid)
{
    struct task *task = find_task(tracer, tid);
    struct res_image *image = image_of(tracer, task);
    if (image != NULL && image->pid == tid)
        end_image(image);
    if (task != NULL)
        *task = tracer->tasks[--tracer->task_count];
}

/* Adds up what the group's images hold, which were looked at just now. */
static void see_together(struct tracer *tracer)
{
    const char *group = tracer->request->group;
    struct res_sampled *sampled = tracer->sampled;
    double anonymous = 0, shared = 0;
    size_t count = 0;
    for (size_t i = 0; group != NULL && i < sampled->image_count; i++) {
        const struct res_image *image = &sampled->images[i];
        if (image->ended || !is_called(image, group))
            continue;
        anonymous += image->anonymous_bytes;
        shared = fmax(shared, image->file_peak_bytes);
        count++;
    }
    if (count > 1)
        sampled->together_bytes = fmax(sampled->together_bytes, anonymous + shared);
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
        end_image(image);
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
            look_last(image, tracer->request->libraries);
        see_together(tracer);
    } else if (event == 0) {
        hand_on = number;
    }
    (void)ptrace(PTRACE_CONT, tid, NULL, hand_on);
}

/* ---- the run -------------------------------------------------------------------------------- */

static void sample_all(struct tracer *tracer)
{
    const uint64_t begin_ns = fp_now_ns();
    if (begin_ns < tracer->next_ns)
        return;
    for (size_t i = 0; i < tracer->task_count; i++) {
        struct res_image *image = image_of(tracer, &tracer->tasks[i]);
        if (image != NULL && image->pid == tracer->tasks[i].tid)
            sample_image(image);
    }
    see_together(tracer);
    const uint64_t end_ns = fp_now_ns(), rest_ns = SAMPLER_RESTS * (end_ns - begin_ns);
    tracer->next_ns = end_ns + (rest_ns > tracer->request->step_ns ? rest_ns : tracer->request->step_ns);
}

/* Tells whether it has to be ended, and why. since_ns: its command has ended; 0: it runs. */
static enum fp_process_end reason_to_end(const struct tracer *tracer, uint64_t begin_ns, uint64_t since_ns,
                                         char **ret_reason)
{
    const struct res_command *command = &tracer->request->command;
    const uint64_t now_ns = fp_now_ns();
    if (command->stop != NULL && *command->stop)
        return FP_PROCESS_STOPPED;
    if (command->timeout_ns != 0)
        return now_ns - begin_ns > command->timeout_ns ? FP_PROCESS_LATE : FP_PROCESS_ENDED;
    if (since_ns == 0 || now_ns - since_ns <= RES_LEFT_NS || tracer->task_count == 0)
        return FP_PROCESS_ENDED;
    *ret_reason = res_command_left(tracer->tasks[0].tid);
    return FP_PROCESS_LATE;
}

static enum fp_process_end follow(struct tracer *tracer, char **ret_reason)
{
    const uint64_t begin_ns = fp_now_ns();
    uint64_t since_ns = 0;
    enum fp_process_end ended = FP_PROCESS_ENDED;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        int status;
        const pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
        if (tid < 0 && errno != EINTR)
            return ended; /* nobody is left */
        if (tid > 0 && WIFSTOPPED(status)) {
            stopped(tracer, tid, status);
        } else if (tid > 0) {
            if (tid == tracer->command) {
                tracer->sampled->status = status;
                since_ns = fp_now_ns();
            }
            end_task(tracer, tid);
        } else {
            const uint64_t now = fp_now_ns(), left_ns = tracer->next_ns > now ? tracer->next_ns - now : 0;
            const struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000),
                                          .tv_nsec = (long)(left_ns % 1000000000)};
            (void)sigtimedwait(&child, NULL,
                               &left); /* a child's news, the time, or a signal to us: all wake us */
        }
        sample_all(tracer);
        if (ended == FP_PROCESS_ENDED &&
            (ended = reason_to_end(tracer, begin_ns, since_ns, ret_reason)) != FP_PROCESS_ENDED) {
            kill(-tracer->command, SIGKILL);
            for (size_t i = 0; i < tracer->task_count; i++)
                kill(tracer->tasks[i].tid, SIGKILL); /* those that left the group */
        }
    }
}

/* Runs in the child: wait until it is traced. */
static int wait_at_gate(void *data)
{
    const int *gate = data;
    char byte;
    (void)close(gate[1]); /* so that its end is seen where nobody opens it */
    return read(gate[0], &byte, 1) == 1 ? 0 : FP_PROCESS_NOT_FOUND;
}

/* Returns NULL, or why it cannot be watched; the caller's. mask: the command's. */
static char *start(struct tracer *tracer, const sigset_t *mask, struct fp_process *process)
{
    const long wanted = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                        PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    int gate[2];
    const struct fp_process_plan plan = {.body = wait_at_gate, .data = gate, .mask = mask, .gated = true};
    char *reason = NULL;
    int error = fp_make_pipe(gate);
    if (error == 0)
        (void)res_command_start(&tracer->request->command, plan, process, &reason); /* sets reason */
    if (process->pid > 0 &&
        (ptrace(PTRACE_SEIZE, process->pid, NULL, wanted) != 0 || write(gate[1], "", 1) != 1))
        error = errno;
    fp_close(&gate[0]);
    fp_close(&gate[1]);
    if (error != 0) {
        (void)fp_process_wait(process, NULL); /* it sees the gate's end */
        return res_printf("cannot watch it: %s%s", strerror(error),
                          error == EPERM ? " (ptrace is forbidden here: a container's seccomp profile, or "
                                           "kernel.yama.ptrace_scope)"
                                         : "");
    }
    tracer->command = process->pid;
    if (reason == NULL)
        (void)note_task(tracer, process->pid,
                        NO_IMAGE); /* still ours: its first image begins with its exec */
    return reason;
}

enum res_real_state res_sampled_run(const struct res_sampled_request *request, struct res_sampled *ret,
                                    char **ret_reason)
{
    struct res_sampled sampled = {0};
    struct tracer tracer = {.request = request, .sampled = &sampled};
    struct fp_process process = FP_PROCESS_NONE;
    enum fp_process_end ended = FP_PROCESS_ENDED;
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    char *reason = start(&tracer, &before, &process);
    if (reason == NULL) {
        ended = follow(&tracer, &reason);
        const int error = fp_process_exec_error(&process);
        if (error != 0)
            reason = res_printf("cannot execute '%s': %s", request->command.path, strerror(error));
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    fp_process_release(&process);
    free(tracer.tasks);
    if (reason == NULL && ended == FP_PROCESS_ENDED) {
        for (size_t i = 0; i < sampled.image_count; i++)
            if (!sampled.images[i].ended)
                end_image(&sampled.images[i]);
        *ret = sampled;
        return RES_REAL_OK;
    }
    res_sampled_release(&sampled);
    if (ended == FP_PROCESS_STOPPED) {
        free(reason);
        return RES_REAL_STOPPED;
    }
    *ret_reason = reason != NULL ? reason : res_strdup(RES_TOO_LATE);
    return RES_REAL_FAILED;
}

void res_sampled_release(struct res_sampled *sampled)
{
    free(sampled->images);
    *sampled = (struct res_sampled){0};
}

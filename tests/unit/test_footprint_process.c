/* test_footprint_process.c - children: what they get, how they are bounded, how their ends are told. */
#include "footprint/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/harness.h"

struct said {
    char text[3][256];
    size_t length[3], most;
};

static bool take(void *data, int stream, const char *bytes, size_t count)
{
    struct said *said = data;
    for (size_t i = 0; i < count && said->length[stream] + 1 < sizeof said->text[stream]; i++)
        said->text[stream][said->length[stream]++] = bytes[i];
    said->most += count;
    return said->most < 1000000;
}

/* Runs a line of sh(1) under these bounds; ret_said is filled. */
static enum fp_process_end run_shell(const char *line, struct fp_process_plan plan,
                                     struct fp_process_bounds bounds, struct said *ret_said,
                                     struct fp_process *ret_process)
{
    char *arguments[] = {(char[]){"sh"}, (char[]){"-c"}, strdup(line), NULL};
    plan.program = "/bin/sh";
    plan.arguments = arguments;
    bounds.take = take;
    bounds.data = ret_said;
    *ret_said = (struct said){.most = 0};
    CHECK_U64(fp_process_start(&plan, ret_process), 0);
    const enum fp_process_end end = fp_process_wait(ret_process, &bounds);
    fp_process_release(ret_process);
    free(arguments[2]);
    return end;
}

static const struct fp_process_plan PIPES = {.streams = {FP_STREAM_NULL, FP_STREAM_PIPE, FP_STREAM_PIPE}};

TEST(what_it_prints_and_how_it_ends_is_told)
{
    struct said said;
    struct fp_process process;
    char words[FP_STATUS_WORDS];
    CHECK_U64(run_shell("cat; echo out; echo err >&2; exit 3", PIPES, (struct fp_process_bounds){0}, &said,
                        &process),
              FP_PROCESS_ENDED);
    CHECK_STR(said.text[1], "out\n");
    CHECK_STR(said.text[2], "err\n");
    CHECK_U64(fp_status_code(process.status), 3);
    CHECK_STR(fp_status_words(process.status, words), "exit code 3");
    CHECK_U64(run_shell("kill -TERM $$", PIPES, (struct fp_process_bounds){0}, &said, &process),
              FP_PROCESS_ENDED);
    CHECK_U64(fp_status_code(process.status), 128 + SIGTERM);
    CHECK_STR(fp_status_words(process.status, words), "signal 15");
}

TEST(bounds_end_it)
{
    struct said said;
    struct fp_process process;
    volatile sig_atomic_t stop = SIGINT;
    const struct fp_process_bounds late = {.deadline_ns = fp_now_ns() + 20000000};
    CHECK_U64(run_shell("exec sleep 1000", PIPES, late, &said, &process), FP_PROCESS_LATE);
    CHECK_U64(fp_status_code(process.status), 128 + SIGKILL);
    CHECK_U64(run_shell("exec sleep 1000", PIPES, (struct fp_process_bounds){.stop = &stop}, &said, &process),
              FP_PROCESS_STOPPED);
    CHECK_U64(run_shell("exec yes", PIPES, (struct fp_process_bounds){0}, &said, &process), FP_PROCESS_FULL);
    CHECK_U64(fp_status_code(process.status), 128 + SIGKILL);
}

/* The group's other member holds the pipe, whose end is waited for: it has to go too. */
TEST(a_group_is_killed_as_a_whole)
{
    struct said said;
    struct fp_process process;
    struct fp_process_plan plan = PIPES;
    char byte;
    int held[2];
    plan.own_group = true;
    CHECK_U64(fp_make_pipe(held), 0);
    plan.streams[2] = held[1];
    const struct fp_process_bounds late = {.deadline_ns = fp_now_ns() + 200000000};
    CHECK_U64(run_shell("sleep 1000 & wait", plan, late, &said, &process), FP_PROCESS_LATE);
    fp_close(&held[1]);
    CHECK_U64(read(held[0], &byte, 1), 0); /* nobody has it open */
    fp_close(&held[0]);
}

TEST(a_program_that_cannot_be_executed_is_no_child)
{
    char *arguments[] = {(char[]){"none"}, NULL};
    struct fp_process process;
    struct fp_process_plan plan = {.program = "/none", .arguments = arguments};
    CHECK_U64(fp_process_start(&plan, &process), ENOENT);
    CHECK_U64(process.pid, 0);
    plan.program = "/tmp";
    CHECK_U64(fp_process_start(&plan, &process), EACCES);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0);
    CHECK_U64(errno, ECHILD);
}

TEST(a_file_without_first_line_is_the_shells)
{
    char path[] = "/tmp/mallab-process-XXXXXX";
    const int fd = mkstemp(path);
    char *arguments[] = {path, (char[]){"7"}, NULL};
    struct fp_process_plan plan = {.program = path, .arguments = arguments};
    int status = 0;
    CHECK(fd >= 0 && write(fd, "exit $1\n", 8) == 8 && fchmod(fd, 0700) == 0);
    (void)close(fd);
    CHECK_U64(fp_process_run(&plan, &status), ENOEXEC);
    plan.as_shell = true;
    CHECK_U64(fp_process_run(&plan, &status), 0);
    CHECK_U64(fp_status_code(status), 7);
    (void)unlink(path);
}

static int count_descriptors(void *data)
{
    int open_ones = 0;
    for (int fd = 0; fd < 256; fd++)
        open_ones += fcntl(fd, F_GETFD) >= 0;
    return open_ones - *(const int *)data;
}

/* It has our standard streams, and the one by which a failed exec is told. */
TEST(a_body_runs_in_place_of_a_program)
{
    int before = 0, status = 0;
    const int now = count_descriptors(&before);
    const struct fp_process_plan plan = {.body = count_descriptors,
                                         .data = &before,
                                         .streams = {FP_STREAM_NULL, FP_STREAM_PIPE, FP_STREAM_OURS}};
    struct fp_process process;
    CHECK_U64(fp_process_start(&plan, &process), 0);
    CHECK(!fp_process_ends_within(&process, 0) || process.ended);
    CHECK(fp_process_ends_within(&process, UINT64_C(60000000000)));
    CHECK_U64(fp_status_code(process.status), now + 1);
    fp_process_release(&process);
    CHECK_U64(count_descriptors(&before), now);
    CHECK_U64(fp_process_run(&plan, &status), 0);
    CHECK_U64(fp_status_code(status), now + 1);
}

static int read_gate(void *data)
{
    const int *gate = data;
    char byte;
    (void)close(gate[1]);
    return read(gate[0], &byte, 1) == 1 ? 0 : 99;
}

TEST(a_gate_holds_the_program_back)
{
    char *arguments[] = {(char[]){"none"}, NULL};
    int gate[2];
    struct fp_process process;
    const struct fp_process_plan plan = {
        .program = "/none", .arguments = arguments, .body = read_gate, .data = gate, .gated = true};
    CHECK_U64(fp_make_pipe(gate), 0);
    CHECK_U64(fp_process_start(&plan, &process), 0);
    CHECK(!fp_process_ends_within(&process, 1000000));
    CHECK_U64(write(gate[1], "", 1), 1);
    CHECK_U64(fp_process_exec_error(&process), ENOENT);
    CHECK_U64(fp_process_wait(&process, NULL), FP_PROCESS_ENDED);
    CHECK_U64(fp_status_code(process.status), FP_PROCESS_NOT_FOUND);
    fp_process_release(&process);
    CHECK_U64(fp_process_start(&plan, &process), 0);
    fp_close(&gate[0]);
    fp_close(&gate[1]);
    CHECK_U64(fp_process_exec_error(&process), 0);
    (void)fp_process_wait(&process, NULL); /* it ends by itself */
    CHECK_U64(fp_status_code(process.status), 99);
    fp_process_release(&process);
}

/* As on kernels before 5.3: it is looked at again and again, with and without pipes. */
TEST(without_a_pidfd_it_is_waited_for_too)
{
    for (int piped = 0; piped < 2; piped++) {
        char *arguments[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"echo out; exit 4"}, NULL};
        struct said said = {.most = 0};
        const struct fp_process_bounds bounds = {
            .deadline_ns = fp_now_ns() + UINT64_C(60000000000), .take = take, .data = &said};
        const struct fp_process_plan plan = {
            .program = "/bin/sh",
            .arguments = arguments,
            .streams = {FP_STREAM_NULL, piped ? FP_STREAM_PIPE : FP_STREAM_NULL, FP_STREAM_OURS}};
        OWNED(fp_process) process;
        CHECK_U64(fp_process_start(&plan, &process), 0);
        fp_close(&process.pidfd);
        if (piped)
            CHECK_U64(fp_process_wait(&process, &bounds), FP_PROCESS_ENDED);
        else
            CHECK(fp_process_ends_within(&process, UINT64_C(60000000000)));
        CHECK_U64(fp_status_code(process.status), 4);
        CHECK_STR(said.text[1], piped ? "out\n" : "");
    }
}

/* SIGHUP is ignored, as under nohup; SIGTERM is taken. */
TEST(ignored_signals_stay_ignored)
{
    static const int NUMBERS[] = {FP_ENDING_SIGNALS};
    const struct sigaction action = {.sa_handler = SIG_DFL};
    struct sigaction former[FP_ENDING_COUNT], now;
    struct fp_process process;
    struct fp_process_plan plan = PIPES;
    struct said said;
    (void)signal(SIGHUP, SIG_IGN);
    fp_signals_take(NUMBERS, FP_ENDING_COUNT, &action, former);
    CHECK(sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler == SIG_IGN);
    (void)run_shell("kill -HUP $$; exit 5", plan, (struct fp_process_bounds){0}, &said, &process);
    CHECK_U64(fp_status_code(process.status), 5);
    plan.default_signals = true;
    (void)run_shell("kill -HUP $$; exit 5", plan, (struct fp_process_bounds){0}, &said, &process);
    CHECK_U64(fp_status_code(process.status), 128 + SIGHUP);
    fp_signals_restore(NUMBERS, FP_ENDING_COUNT, former);
    (void)signal(SIGHUP, SIG_DFL);
    CHECK(fp_signal_is_ending(SIGINT) && !fp_signal_is_ending(SIGQUIT));
}

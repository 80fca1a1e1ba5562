/* collector.c - start mallab-collect beside the command, hear that it is ready, wait for its end. */
#include "record/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/clock.h"
#include "record/recorder.h"
#include "results/measure/base/support.h"

#define READY_BYTES_MAX 8192

static bool make_socket(int *ret_ends)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    ret_ends[1] = cli_above_standard(ends[1]);
    ret_ends[0] = cli_above_standard(ends[0]);
    if (ret_ends[0] >= 0 && ret_ends[1] >= 0)
        return true;
    cli_close_end(&ret_ends[0]);
    cli_close_end(&ret_ends[1]);
    return false;
}

static char **collector_arguments(const struct cli_record *record, const char *program, const char *directory,
                                  int ready, int control, int library)
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
    if (library >= 0) {
        words[count++] = res_strdup("--library-fd");
        words[count++] = res_printf("%d", library);
    }
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
    if (record->numbered)
        words[count++] = res_strdup("--unique");
    if (record->no_follow)
        words[count++] = res_strdup("--no-follow");
    if (record->no_residency)
        words[count++] = res_strdup("--no-residency");
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
                             int ready, int control, int library)
{
    char **words = collector_arguments(record, program, directory, ready, control, library);
    const int null = cli_above_standard(open("/dev/null", O_RDWR | O_CLOEXEC));
    unsetenv("LD_PRELOAD"); /* it is not to be recorded, nor to run on an allocator under test */
    unsetenv("MALLAB_SEGMENT");
    if (null < 0 || fcntl(ready, F_SETFD, 0) != 0 || fcntl(control, F_SETFD, 0) != 0 ||
        (library >= 0 && fcntl(library, F_SETFD, 0) != 0))
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

/* "ok SEGMENT", and on a second line the directory where that is another one; or "error MESSAGE". */
static void hear(struct cli_collector *collector, int ready)
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
    if (strncmp(line, "ok ", 3) == 0)
        collector->segment = res_strdup(line + 3);
    if (collector->segment != NULL && second != NULL)
        collector->directory = res_strdup(second);
    if (collector->segment != NULL)
        return;
    if (strncmp(line, "error ", 6) == 0)
        collector->problem = res_text_plain(line + 6);
    else
        collector->problem = res_strdup("the collector ended before it was ready");
}

bool cli_collector_start(const struct cli_record *record, const char *program, const char *directory,
                         const int *not_its_own, int library, struct cli_collector *ret_collector)
{
    int ready[2] = {-1, -1};
    int control[2] = {-1, -1};
    *ret_collector = (struct cli_collector){.pid = -1, .control = -1};
    if (!cli_make_pipe(ready) || !make_socket(control)) {
        ret_collector->problem = res_printf("no pipe to the collector: %s", strerror(errno));
        cli_close_end(&ready[0]);
        cli_close_end(&ready[1]);
        return false;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        close(ready[0]);
        close(control[1]);
        close(not_its_own[0]);
        close(not_its_own[1]);
        become_collector(record, program, directory, ready[1], control[0], library);
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

bool cli_collector_ends(const struct cli_collector *collector, uint64_t within_ns, int *ret_status)
{
    const uint64_t begin = cli_now_ns();
    struct timespec pause = {.tv_nsec = 1000000};
    while (waitpid(collector->pid, ret_status, WNOHANG) == 0) {
        if (cli_now_ns() - begin >= within_ns)
            return false;
        nanosleep(&pause, NULL); /* a signal only shortens it */
        if (pause.tv_nsec < 20000000)
            pause.tv_nsec *= 2;
    }
    return true;
}

/* collector_messages.c - take the collector's lines, and put them in words. */
#include "record/collector_messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cli/base/cli.h"
#include "cli/base/clock.h"
#include "record/control.h"
#include "results/measure/base/support.h"

#define TELL_NS UINT64_C(2000000000) /* after which a command is one that goes on */

static void copy_plain(char *ret, size_t size, const char *bytes)
{
    char *plain = res_text_plain(bytes);
    snprintf(ret, size, "%s", plain);
    free(plain);
}

/* The same index a second time is the same program, better known. */
static void heed_unrecorded(struct cli_news *news, const char *line)
{
    unsigned index, pid;
    int at = 0;
    char *tab = strchr(line, '\t');
    if (tab == NULL || sscanf(line, "unrecorded %u %u %n", &index, &pid, &at) != 2 || at == 0 ||
        line + at > tab || index >= CLI_NEWS_UNRECORDED || index > news->unrecorded_count)
        return;
    struct cli_unrecorded *program = &news->unrecorded[index];
    *program = (struct cli_unrecorded){.pid = (pid_t)pid, .heard_ns = cli_now_ns()};
    *tab = '\0';
    copy_plain(program->name, sizeof program->name, line + at);
    copy_plain(program->why, sizeof program->why, tab + 1);
    if (index == news->unrecorded_count)
        news->unrecorded_count++;
}

static void heed_line(struct cli_news *news, char *line)
{
    char cause[32], since[32];
    unsigned long long after_ns;
    if (strncmp(line, "unrecorded ", 11) == 0)
        heed_unrecorded(news, line);
    const bool stopped = sscanf(line, "stopped %31s %llu", cause, &after_ns) == 2;
    if (stopped && (strcmp(cause, "duration") == 0 || strcmp(cause, "end") == 0))
        news->over = true;
    if (news->quiet)
        return;
    if (stopped)
        cli_say(news->verb, "recording stopped after %s, %s; the command runs on unrecorded",
                res_text_duration((double)after_ns, since), cli_control_stop_words(cause));
    else if (sscanf(line, "resumed %llu", &after_ns) == 1)
        cli_say(news->verb, "recording goes on after %s; what was called meanwhile is lost and counted",
                res_text_duration((double)after_ns, since));
}

static void tell_unrecorded(struct cli_news *news, uint64_t now_ns)
{
    for (size_t i = 0; i < news->unrecorded_count; i++) {
        struct cli_unrecorded *program = &news->unrecorded[i];
        if (program->told || now_ns - program->heard_ns < TELL_NS)
            continue;
        program->told = true;
        if (program->pid != 0)
            cli_say(news->verb, "not recorded: '%s' (process %d) %s", program->name, (int)program->pid,
                    program->why);
        else
            cli_say(news->verb, "not recorded: '%s' %s", program->name, program->why);
    }
}

void cli_news_take(struct cli_news *news)
{
    char bytes[256];
    ssize_t got;
    while (news->fd >= 0 &&
           ((got = recv(news->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0 || (got < 0 && errno == EINTR))) {
        for (ssize_t i = 0; i < got; i++) {
            const bool end = bytes[i] == '\n';
            if (!end && news->length + 1 < sizeof news->line)
                news->line[news->length++] = bytes[i];
            if (!end)
                continue;
            news->line[news->length] = '\0';
            news->length = 0;
            heed_line(news, news->line);
        }
    }
    tell_unrecorded(news, cli_now_ns());
}

void cli_news_report(struct cli_news *news)
{
    tell_unrecorded(news, UINT64_MAX);
}

void cli_news_of_death(struct cli_news *news, int status)
{
    char *how;
    cli_news_take(news); /* its last words */
    news->over = true;
    if (news->quiet || status == 0)
        return; /* it has finished in good order, and said why */
    how = WIFSIGNALED(status) ? res_printf("signal %d", WTERMSIG(status))
                              : res_printf("exit code %d", WEXITSTATUS(status));
    cli_say(news->verb,
            "the collector ended early (%s): recording has stopped; the command runs on unrecorded", how);
    free(how);
}

/* news.c - take the collector's lines, and put them in words. */
#include "cli/news.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cli/cli.h"
#include "cli/control.h"
#include "results/support.h"

static void heed_line(struct cli_news *news, const char *line)
{
    char cause[32], since[32];
    unsigned long long after_ns;
    const bool stopped = sscanf(line, "stopped %31s %llu", cause, &after_ns) == 2;
    if (stopped && (strcmp(cause, "duration") == 0 || strcmp(cause, "end") == 0))
        news->over = true;
    if (news->verb == NULL)
        return;
    if (stopped)
        cli_say(news->verb, "recording stopped after %s, %s; the command runs on unrecorded",
                res_text_duration((double)after_ns, since), cli_control_stop_words(cause));
    else if (sscanf(line, "resumed %llu", &after_ns) == 1)
        cli_say(news->verb, "recording goes on after %s; what was called meanwhile is lost and counted",
                res_text_duration((double)after_ns, since));
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
}

void cli_news_of_death(struct cli_news *news, int status)
{
    char *how;
    cli_news_take(news); /* its last words */
    news->over = true;
    if (news->verb == NULL || status == 0)
        return; /* it has finished in good order, and said why */
    how = WIFSIGNALED(status) ? res_printf("signal %d", WTERMSIG(status))
                              : res_printf("exit code %d", WEXITSTATUS(status));
    cli_say(news->verb,
            "the collector ended early (%s): recording has stopped; the command runs on unrecorded", how);
    free(how);
}

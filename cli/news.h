/* news.h - what becomes of a recording while its command runs, said when it happens: recording has stopped, goes on, or
 * its collector has died. Later nobody would know why a night is missing.
 *
 *   line   of the collector's, on the socket that it also watches for our end: "stopped CAUSE NS", "resumed NS" */
#ifndef MALLAB_CLI_NEWS_H
#define MALLAB_CLI_NEWS_H

#include <stdbool.h>
#include <stddef.h>

struct cli_verb;

struct cli_news {
    const struct cli_verb *verb; /* in whose name it is said on stderr; NULL: not at all */
    int fd;                      /* of the collector's; -1: none */
    char line[128];              /* what has come of the next one */
    size_t length;
    bool over; /* recording has ended for good: what is not recorded from here on is no surprise */
};

/* cli_news_take - say what has come; without waiting. */
void cli_news_take(struct cli_news *news);

/* cli_news_of_death - the collector has ended, and the command has not. status: as from waitpid. */
void cli_news_of_death(struct cli_news *news, int status);

#endif

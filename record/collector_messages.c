/* collector_messages.c - take the collector's lines, and put them in words. */
#include "record/collector_messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "footprint/base/clock.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "record/recording_words.h"

#define TELL_NS UINT64_C(2000000000) /* after which a command is one that goes on */

static void copy_plain(char *ret, size_t size, const char *bytes)
{
    char *plain = res_text_plain(bytes);
    snprintf(ret, size, "%s", plain);
    free(plain);
}

/* The same index a second time is the same program, better known. */
static void heed_unrecorded(struct rec_messages *messages, const char *line)
{
    unsigned index, pid;
    int at = 0;
    char *tab = strchr(line, '\t');
    if (tab == NULL || sscanf(line, "unrecorded %u %u %n", &index, &pid, &at) != 2 || at == 0 ||
        line + at > tab || index >= REC_UNRECORDED_MAX || index > messages->unrecorded_count)
        return;
    struct rec_unrecorded *program = &messages->unrecorded[index];
    *program = (struct rec_unrecorded){.pid = (pid_t)pid, .heard_ns = fp_now_ns()};
    *tab = '\0';
    copy_plain(program->name, sizeof program->name, line + at);
    copy_plain(program->why, sizeof program->why, tab + 1);
    if (index == messages->unrecorded_count)
        messages->unrecorded_count++;
}

static void heed_line(struct rec_messages *messages, char *line)
{
    char cause[32], since[32];
    unsigned long long after_ns;
    if (strncmp(line, "unrecorded ", 11) == 0)
        heed_unrecorded(messages, line);
    const bool stopped = sscanf(line, "stopped %31s %llu", cause, &after_ns) == 2;
    if (stopped && (strcmp(cause, "duration") == 0 || strcmp(cause, "end") == 0))
        messages->over = true;
    if (messages->quiet)
        return;
    if (stopped)
        res_say(messages->verb, "recording stopped after %s, %s; the command runs on unrecorded",
                res_text_duration((double)after_ns, since), rec_stop_words(cause));
    else if (sscanf(line, "resumed %llu", &after_ns) == 1)
        res_say(messages->verb, "recording goes on after %s; what was called meanwhile is lost and counted",
                res_text_duration((double)after_ns, since));
}

static void tell_unrecorded(struct rec_messages *messages, uint64_t now_ns)
{
    for (size_t i = 0; i < messages->unrecorded_count; i++) {
        struct rec_unrecorded *program = &messages->unrecorded[i];
        if (program->told || now_ns - program->heard_ns < TELL_NS)
            continue;
        program->told = true;
        if (program->pid != 0)
            res_say(messages->verb, "not recorded: '%s' (process %d) %s", program->name, (int)program->pid,
                    program->why);
        else
            res_say(messages->verb, "not recorded: '%s' %s", program->name, program->why);
    }
}

void rec_messages_take(struct rec_messages *messages)
{
    char bytes[256];
    ssize_t got;
    while (messages->fd >= 0 && ((got = recv(messages->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0 ||
                                 (got < 0 && errno == EINTR))) {
        for (ssize_t i = 0; i < got; i++) {
            const bool end = bytes[i] == '\n';
            if (!end && messages->length + 1 < sizeof messages->line)
                messages->line[messages->length++] = bytes[i];
            if (!end)
                continue;
            messages->line[messages->length] = '\0';
            messages->length = 0;
            heed_line(messages, messages->line);
        }
    }
    tell_unrecorded(messages, fp_now_ns());
}

void rec_messages_report(struct rec_messages *messages)
{
    tell_unrecorded(messages, UINT64_MAX);
}

void rec_messages_of_death(struct rec_messages *messages, int status)
{
    char how[FP_STATUS_WORDS];
    rec_messages_take(messages); /* its last words */
    messages->over = true;
    if (messages->quiet || status == 0)
        return; /* it has finished in good order, and said why */
    res_say(messages->verb,
            "the collector ended early (%s): recording has stopped; the command runs on unrecorded",
            fp_status_words(status, how));
}

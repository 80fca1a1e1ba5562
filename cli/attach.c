/* attach.c - control a recording that goes on, and tell how it stands. */
#include "cli/attach.h"

#include <stdio.h>
#include <stdlib.h>

#include "results/support.h"

#define ANSWER_NS UINT64_C(10000000000)
#define END_NS    UINT64_C(120000000000) /* a full ring to a slow disk */

static uint64_t number_of(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static uint64_t count_lost(const json_t *recording)
{
    const char *cause;
    json_t *value;
    uint64_t lost = 0;
    json_object_foreach(json_object_get(recording, "lost"), cause, value)
        lost += json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
    return lost;
}

static size_t count_running(const json_t *recording)
{
    size_t index, running = 0;
    const json_t *process;
    json_array_foreach(json_object_get(recording, "processes"), index, process)
    {
        const char *ended = json_string_value(json_object_get(process, "ended"));
        running += ended != NULL && ended[0] == 'r';
    }
    return running;
}

static void tell(const struct cli_verb *verb, const struct cli_control *control)
{
    const json_t *recording = control->recording;
    char events[32], bytes[32], lost[32], since[32], window[48] = "";
    const bool ended = json_object_get(recording, "collector") == NULL;
    if (cli_control_windows(control) > 0)
        snprintf(window, sizeof window, ", window %llu", (unsigned long long)cli_control_windows(control));
    cli_say(verb, "%s after %s%s: %s events, %s; %zu process%s running, lost %s",
            ended                            ? "the recording has ended"
            : cli_control_is_paused(control) ? "paused"
                                             : "recording",
            res_text_duration((double)number_of(recording, "duration_ns"), since), window,
            res_text_grouped(number_of(recording, "events"), events),
            res_text_bytes((double)number_of(recording, "bytes"), bytes), count_running(recording),
            count_running(recording) == 1 ? "" : "es", res_text_grouped(count_lost(recording), lost));
}

int cli_attach(const struct cli_verb *verb, const char *directory, enum cli_request request)
{
    struct cli_control control;
    char *problem;
    const enum cli_control_state state = cli_control_open(directory, &control, &problem);
    int code = CLI_DONE;
    if (state == CLI_CONTROL_ENDED && request == CLI_REQUEST_END && control.recording != NULL &&
        json_object_get(control.recording, "collector") == NULL) {
        tell(verb, &control); /* as was asked for */
    } else if (state != CLI_CONTROL_OPEN) {
        cli_say(verb, "%s", problem);
        code = state == CLI_CONTROL_ENDED ? CLI_FAILED : CLI_UNREADABLE;
    } else if (request == CLI_REQUEST_WINDOW && cli_control_windows(&control) == 0) {
        cli_say(verb,
                "the recording in '%s' is not cut into windows: that is chosen at its begin, with --window",
                directory);
        code = CLI_FAILED;
    } else if (cli_control_ask(&control, request, request == CLI_REQUEST_END ? END_NS : ANSWER_NS,
                               &problem)) {
        /* The figures of the answer to a pause are those of its moment; the others' may be old. */
        if (request != CLI_REQUEST_END && request != CLI_REQUEST_STATUS) {
            free(problem);
            (void)cli_control_ask(&control, CLI_REQUEST_STATUS, ANSWER_NS, &problem);
        }
        tell(verb, &control);
    } else {
        cli_say(verb, "%s", problem);
        code = CLI_FAILED;
    }
    free(problem);
    cli_control_release(&control);
    return code;
}

/* attach_to.c - control a recording that goes on, and tell how it stands. */
#include "record/attach_to.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "record/unrecorded.h"
#include "results/measure/base/support.h"

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

/* Of one that has ended these are the processes that ran on; whether they still do, nobody looks. */
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

static bool has_ended(const struct cli_control *control)
{
    return json_object_get(control->recording, "collector") == NULL;
}

/* One word for how it stands. */
static const char *state_of(const struct cli_control *control)
{
    uint64_t after_ns;
    if (has_ended(control))
        return "ended";
    if (cli_control_stop(control->recording, &after_ns) != NULL)
        return "stopped";
    return cli_control_is_paused(control) ? "paused" : "recording";
}

static int print_json(const struct cli_control *control)
{
    static const char *const NUMBERS[] = {"started_unix_ns", "duration_ns", "events", "bytes",
                                          "stalls",          "stall_ns",    "windows"};
    static const char *const OTHERS[] = {"complete", "incomplete_why", "lost", "stopped", "recovered"};
    json_t *object = json_object();
    json_object_set_new(object, "schema", json_string("mallab-status/1"));
    json_object_set_new(object, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(object, "state", json_string(state_of(control)));
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++)
        json_object_set_new(object, NUMBERS[i],
                            json_integer((json_int_t)number_of(control->recording, NUMBERS[i])));
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        json_t *value = json_object_get(control->recording, OTHERS[i]);
        json_object_set(object, OTHERS[i], value != NULL ? value : json_null());
    }
    json_object_set_new(object, "not_recorded", cli_unrecorded_of(control->recording));
    json_object_set_new(object, "lost_calls", json_integer((json_int_t)count_lost(control->recording)));
    json_object_set_new(object, "processes_running",
                        json_integer(has_ended(control) ? 0 : (json_int_t)count_running(control->recording)));
    json_object_set_new(object, "processes_ran_on",
                        json_integer(has_ended(control) ? (json_int_t)count_running(control->recording) : 0));
    json_object_set_new(
        object, "pauses",
        json_integer((json_int_t)json_array_size(json_object_get(control->recording, "pauses"))));
    return cli_print_json(object);
}

static void print_head(const struct cli_control *control)
{
    char since[32];
    uint64_t after_ns = 0;
    const char *stop = cli_control_stop(control->recording, &after_ns);
    const bool ended = has_ended(control);
    if (stop != NULL)
        printf("%s after %s, %s", ended ? "the recording has ended" : "recording stopped",
               res_text_duration((double)after_ns, since), cli_control_stop_words(stop));
    else
        printf("%s after %s",
               ended                            ? "the recording has ended"
               : cli_control_is_paused(control) ? "paused"
                                                : "recording",
               res_text_duration((double)number_of(control->recording, "duration_ns"), since));
}

static int print_text(const struct cli_control *control)
{
    char number[32];
    const size_t running = count_running(control->recording);
    print_head(control);
    if (cli_control_windows(control) > 0)
        printf(", window %llu", (unsigned long long)cli_control_windows(control));
    printf(": %s events", fp_text_grouped(number_of(control->recording, "events"), number));
    printf(", %s", fp_text_bytes((double)number_of(control->recording, "bytes"), number));
    printf("; %zu process%s %s", running, running == 1 ? "" : "es",
           has_ended(control) ? "ran on when it ended" : "running");
    printf(", lost %s\n", fp_text_grouped(count_lost(control->recording), number));
    json_t *unrecorded = cli_unrecorded_of(control->recording);
    const json_t *object;
    size_t i;
    json_array_foreach(unrecorded, i, object)
    {
        char *words = cli_unrecorded_words(object);
        printf("not recorded: %s\n", words);
        free(words);
    }
    const char *incomplete = json_string_value(json_object_get(control->recording, "incomplete_why"));
    if (has_ended(control) && incomplete != NULL && json_array_size(unrecorded) == 0) {
        char *why = res_text_plain(incomplete);
        printf("the recording is not whole: %s\n", why);
        free(why);
    }
    json_decref(unrecorded);
    return fflush(stdout) == 0 ? CLI_DONE : CLI_FAILED;
}

static int tell(const struct cli_control *control, bool json)
{
    return json ? print_json(control) : print_text(control);
}

static int ask(const struct cli_verb *verb, struct cli_control *control, enum cli_request request, bool json)
{
    char *problem = NULL;
    int code = CLI_FAILED;
    if (request == CLI_REQUEST_WINDOW && cli_control_windows(control) == 0) {
        cli_say(verb,
                "the recording in '%s' is not cut into windows: that is chosen at its begin, with --window",
                control->directory);
    } else if (cli_control_ask(control, request, request == CLI_REQUEST_END ? END_NS : ANSWER_NS, &problem)) {
        /* The figures of the answer to a pause are those of its moment; the others' may be old. */
        if (request != CLI_REQUEST_END && request != CLI_REQUEST_STATUS) {
            free(problem);
            (void)cli_control_ask(control, CLI_REQUEST_STATUS, ANSWER_NS, &problem);
        }
        code = tell(control, json);
    } else {
        cli_say(verb, "%s", problem);
    }
    free(problem);
    return code;
}

int cli_attach(const struct cli_verb *verb, const char *directory, enum cli_request request, bool json)
{
    struct cli_control control;
    char *problem;
    int code = CLI_FAILED;
    switch (cli_control_open(directory, &control, &problem)) {
    case CLI_CONTROL_OPEN:
        code = ask(verb, &control, request, json);
        break;
    case CLI_CONTROL_ENDED:
        /* Its figures are an answer; to end it was done before; to pause it or go on is too late. */
        if (request == CLI_REQUEST_STATUS || request == CLI_REQUEST_END)
            code = tell(&control, json);
        else
            cli_say(verb, "%s", problem);
        break;
    case CLI_CONTROL_KILLED:
        cli_say(verb, "%s", problem);
        break;
    case CLI_CONTROL_FAILED:
        cli_say(verb, "%s", problem);
        code = CLI_UNREADABLE;
        break;
    }
    free(problem);
    cli_control_release(&control);
    return code;
}

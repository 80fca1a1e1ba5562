/* record_step.c - record a command for `ab`, a program that runs for `record` and `ab`. */
#include "cli/verbs/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "convert/base/error.h"
#include "footprint/base/process.h"
#include "footprint/base/trusted.h"
#include "footprint/base/words.h"
#include "record/attach/late_process.h"
#include "record/attach/late_record.h"

/* ---- what it prints ---------------------------------------------------------------------------- */

#define SHOWN_LINES 10u
#define SHOWN_BYTES 2000u

void cli_printed_begin(const struct cli_verb *verb, const char *command, struct cli_printed *ret)
{
    char *name = res_text_plain(conv_path_name(command));
    ret->path = res_printf("%s/%s-output-XXXXXX", cli_temporary_parent(), name);
    ret->to = fp_above_standard(mkostemp(ret->path, O_APPEND | O_CLOEXEC));
    if (ret->to < 0)
        cli_say(verb, "'%s' cannot be made: %s; what '%s' prints is dropped", ret->path, strerror(errno),
                name);
    free(name);
}

void cli_printed_end(const struct cli_verb *verb, struct cli_printed *printed, bool quiet)
{
    char first[SHOWN_BYTES] = "";
    FILE *file = printed->to >= 0 ? fopen(printed->path, "re") : NULL;
    size_t lines = 0, size = 0;
    for (int byte; file != NULL && size < REC_PRINTED_MOST && (byte = getc(file)) != EOF; size++) {
        lines += byte == '\n';
        first[size < sizeof first ? size : 0] = (char)byte;
    }
    const bool is_short = lines <= SHOWN_LINES && size < sizeof first, is_cut = size >= REC_PRINTED_MOST;
    if (is_cut)
        (void)!ftruncate(printed->to, REC_PRINTED_MOST); /* it is as long as it is */
    if (is_short)
        (void)fwrite(first, 1, size, stderr);
    else if (!quiet)
        cli_say(verb, "%s lines of its output are in '%s'%s", FP_GROUPED(lines), printed->path,
                is_cut ? ", what came after 64 MiB is dropped" : "");
    if (file != NULL && (is_short || quiet))
        (void)unlink(printed->path);
    if (file != NULL)
        fclose(file);
    fp_close(&printed->to);
    free(printed->path);
}

/* ---- a command ------------------------------------------------------------------------------- */

/* Tells how the command ended, where the user has to know it. */
static void tell_end(const struct cli_verb *verb, const struct rec_recorded *recorded, const char *name)
{
    if (recorded->code != 0)
        cli_say(verb, "%s", recorded->problem);
    else if (recorded->still_running != 0)
        cli_say(verb,
                "process %d that '%s' started still runs: 'mallab record' it apart, and compare when it has "
                "ended",
                (int)recorded->still_running, name);
    else if (rec_relay_asked_to_end() != 0) /* whoever asked knows */
        return;
    else if (WIFSIGNALED(recorded->status))
        cli_say(verb, "'%s' was ended by signal %d; its recording is used", name, WTERMSIG(recorded->status));
    else if (WEXITSTATUS(recorded->status) != 0)
        cli_say(verb, "'%s' ended with exit code %d; its recording is used", name,
                WEXITSTATUS(recorded->status));
}

/* Tells whether there is something to replay; tells what is wrong with the recording. */
static bool is_usable(const struct cli_verb *verb, const char *directory, const char *name)
{
    struct rec_totals totals = rec_totals_read(directory);
    const bool usable = totals.recording.events > 0;
    if (!usable) {
        rec_say_why_nothing(verb->name, directory, &totals, false);
        cli_say(verb, "'%s' was run once, and there is nothing to replay: name a command that calls malloc",
                name);
    }
    if (totals.lost > 0)
        cli_say(verb, "the recording is not whole, calls were lost: %s", totals.lost_by_cause);
    rec_totals_release(&totals);
    return usable;
}

int cli_record_step(const struct cli_verb *verb, char **command, const struct cli_record_step *step,
                    int *ret_status, char **ret_recording)
{
    const char *name = conv_path_name(command[0]);
    char *recording = res_path_join(step->directory, name);
    struct rec_settings record = {.directory = recording, .verb = verb->name, .quiet = step->quiet};
    struct rec_target target;
    struct rec_recorded recorded = {0};
    bool usable = false;
    rec_target_find(command[0], &target);
    if (target.code != 0) {
        cli_say(verb, "%s", target.problem);
    } else {
        struct cli_printed printed;
        cli_printed_begin(verb, command[0], &printed);
        record.stdout_to = printed.to;
        rec_run(&record, target.path, command, &recorded);
        cli_printed_end(verb, &printed, step->quiet);
        tell_end(verb, &recorded, name);
        rec_messages_report(&recorded.watch.messages);
        usable = recorded.code == 0 && recorded.still_running == 0 && is_usable(verb, recording, name);
    }
    if (ret_status != NULL)
        *ret_status = recorded.status;
    rec_target_release(&target);
    rec_recorded_release(&recorded);
    if (!usable) {
        free(recording);
        return CLI_FAILED;
    }
    *ret_recording = recording;
    return CLI_DONE;
}

/* Attaches in this process, with the rights that we have. */
static int attach(const struct cli_verb *verb, const struct rec_settings *record, pid_t pid,
                  uint64_t within_ns, int *ret_ended_by)
{
    struct rec_recorded recorded;
    struct late_told told;
    char stop[32];
    late_record(record, pid, within_ns, &recorded, &told);
    if (recorded.code != 0) {
        cli_say(verb, "%s", recorded.problem);
    } else {
        rec_report(verb->name, &recorded, record->quiet);
        if (!told.idle)
            cli_say(verb,
                    "%s; the recorder stays in it and passes all calls on; 'mallab record --pid' tidies up",
                    told.problem != NULL ? told.problem : "the program could not be left");
        else if (!record->quiet && !told.ended)
            cli_say(verb, "the program is as it was; the longest that a thread of it stood still was %s",
                    res_text_duration((double)told.longest_stop_ns, stop));
        else if (!record->quiet)
            cli_say(verb, "process %d %s while it was recorded", (int)pid,
                    told.executed ? "executed another program" : "ended");
    }
    rec_messages_report(&recorded.watch.messages);
    const bool is_whole = told.idle && recorded.collector_status == 0;
    const int code = recorded.code != 0 ? recorded.code : is_whole ? CLI_DONE : CLI_FAILED;
    *ret_ended_by = told.asked_to_end;
    free(told.problem);
    free(told.left_in);
    rec_recorded_release(&recorded);
    return code;
}

/* ---- another user's program, recorded by root -------------------------------------------------- */

struct as_user {
    const struct cli_verb *verb;
    struct rec_settings record;
    pid_t pid;
    uint64_t within_ns;
};

static int attach_as_user(void *data)
{
    const struct as_user *as = data;
    int ended_by;
    return attach(as->verb, &as->record, as->pid, as->within_ns, &ended_by);
}

static void tell_place(const struct as_user *as, const struct late_place *place, const char *asked,
                       const struct late_user *user)
{
    char name[64];
    if (strcmp(place->path, asked) != 0)
        cli_say(as->verb, "'%s' was there already: the recording is '%s'", asked, place->path);
    if (as->record.numbered && !as->record.quiet)
        cli_say(as->verb, "'%s' belongs to user %s%s", place->path,
                fp_trusted_user(user->user, name, sizeof name),
                place->marked ? "; root reads it as its own" : "; root reads it with --trust-owner USER");
}

static int attach_for(const struct late_user *user, const struct as_user *asked_for, int *ret_ended_by)
{
    struct as_user as = *asked_for;
    struct late_place place;
    char *problem = NULL, *asked = as.record.directory != NULL ? res_strdup(as.record.directory)
                                                               : late_default_directory(as.pid);
    const struct late_run run = {.user = user,
                                 .place = &place,
                                 .within_ns = as.within_ns,
                                 .duration_ns = as.record.duration_ns,
                                 .body = attach_as_user,
                                 .data = &as};
    int code = REC_FAILED;
    if (late_place_make(user, asked, &place, &problem)) {
        as.record.directory = ".";
        as.record.shown = place.path;
        as.record.phases_fd = LATE_PHASES_FD;
        code = late_run_as_user(&run, ret_ended_by, &problem);
        if (code == REC_FAILED)
            late_place_forget(&place);
        else
            tell_place(&as, &place, asked, user);
        fp_trusted_also_read(user->user);
    }
    if (problem != NULL)
        cli_say(as.verb, "%s", problem);
    late_place_release(&place);
    free(problem);
    free(asked);
    return code < 0 ? CLI_FAILED : code;
}

int cli_record_attached(const struct cli_verb *verb, const struct rec_settings *record, pid_t pid,
                        uint64_t within_ns, int *ret_ended_by)
{
    struct late_user user;
    const struct as_user as = {.verb = verb, .record = *record, .pid = pid, .within_ns = within_ns};
    *ret_ended_by = 0;
    return late_user_find(pid, &user) ? attach_for(&user, &as, ret_ended_by)
                                      : attach(verb, record, pid, within_ns, ret_ended_by);
}

int cli_attach_step(const struct cli_verb *verb, pid_t pid, uint64_t duration_ns,
                    const struct cli_record_step *step, int *ret_ended_by, char **ret_recording)
{
    char program[LATE_NAME_BYTES];
    late_process_name(pid, program);
    char *name = res_printf("%s-%d", program, (int)pid), *recording = res_path_join(step->directory, name);
    const struct rec_settings record = {
        .directory = recording, .verb = verb->name, .quiet = step->quiet, .duration_ns = duration_ns};
    const int code = cli_record_attached(verb, &record, pid, 0, ret_ended_by);
    struct rec_totals totals = rec_totals_read(recording);
    const bool usable = code != REC_FAILED && totals.recording.events > 0;
    if (code != REC_FAILED && !usable)
        cli_say(verb, "process %d called no malloc meanwhile: there is nothing to replay", (int)pid);
    rec_totals_release(&totals);
    free(name);
    if (usable) {
        *ret_recording = recording;
        return CLI_DONE;
    }
    free(recording);
    return CLI_FAILED;
}

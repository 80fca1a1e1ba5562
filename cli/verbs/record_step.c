/* record_step.c - record a command for `ab` and `validate`, a program that runs for `record` and `ab`. */
#include "cli/verbs/record_step.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/say.h"
#include "convert/base/error.h"
#include "footprint/base/library_copy.h"
#include "footprint/base/process.h"
#include "footprint/base/signals.h"
#include "footprint/base/support.h"
#include "footprint/base/trusted.h"
#include "record/attach/late_owner.h"
#include "record/attach/late_process.h"
#include "record/attach/late_record.h"
#include "record/record_report.h"
#include "record/relay.h"
#include "record/target.h"

/* How the command ended, where the user has to know it. */
static void tell_end(const struct cli_verb *verb, const struct rec_recorded *recorded, const char *name)
{
    if (recorded->code != 0)
        cli_say(verb, "%s", recorded->problem);
    else if (recorded->still_running != 0)
        cli_say(verb,
                "process %d that '%s' started still runs: record it apart with 'mallab record', and compare "
                "when it "
                "has ended",
                (int)recorded->still_running, name);
    else if (rec_relay_asked_to_end() != 0) /* whoever asked knows */
        return;
    else if (WIFSIGNALED(recorded->status))
        cli_say(verb, "'%s' was ended by signal %d; its recording is used", name, WTERMSIG(recorded->status));
    else if (WEXITSTATUS(recorded->status) != 0)
        cli_say(verb, "'%s' ended with exit code %d; its recording is used", name,
                WEXITSTATUS(recorded->status));
}

/* Whether there is something to replay; tells what is wrong with the recording. */
static bool is_usable(const struct cli_verb *verb, const char *directory, const char *name)
{
    const struct rec_totals totals = rec_totals_read(directory);
    if (totals.events == 0) {
        rec_say_why_nothing(verb->name, directory, &totals, false);
        cli_say(verb, "'%s' was run once, and there is nothing to replay: name a command that calls malloc",
                name);
    }
    if (totals.lost > 0)
        cli_say(verb, "the recording is not whole, calls were lost: %s", totals.lost_by_cause);
    return totals.events > 0;
}

int cli_record_step(const struct cli_verb *verb, char **command, const struct cli_record_step *step,
                    int *ret_status, char **ret_recording)
{
    const char *name = conv_path_name(command[0]);
    char *recording = res_path_join(step->directory, name);
    const struct rec_settings record = {.directory = recording,
                                        .stdout_to_stderr = step->shows_stdout,
                                        .stdout_dropped = !step->shows_stdout,
                                        .verb = verb->name,
                                        .quiet = step->quiet};
    struct rec_target target;
    struct rec_recorded recorded = {0};
    bool usable = false;
    rec_target_find(command[0], &target);
    if (target.code != 0) {
        cli_say(verb, "%s", target.problem);
    } else {
        rec_run(&record, target.path, command, &recorded);
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

/* By us, with the rights that we have. */
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
    const int code = recorded.code != 0 ? recorded.code : told.idle ? CLI_DONE : CLI_FAILED;
    *ret_ended_by = told.asked_to_end;
    free(told.problem);
    rec_recorded_release(&recorded);
    return code;
}

/* ---- another user's program, recorded by root -------------------------------------------------- */

struct as_owner {
    const struct cli_verb *verb;
    struct rec_settings record;
    const struct rec_owner *owner;
    const struct rec_place *place;
    pid_t pid, parent;
    uint64_t within_ns;
};

/* The body of a process of its own. */
static int attach_as_owner(void *data)
{
    const struct as_owner *as = data;
    int ended_by;
    const int error = rec_owner_leave_root(as->owner, as->pid, as->place, as->parent);
    if (error == 0)
        return attach(as->verb, &as->record, as->pid, as->within_ns, &ended_by);
    cli_say(as->verb, "cannot become the user of process %d: %s", (int)as->pid, strerror(error));
    return REC_FAILED;
}

static volatile sig_atomic_t handed_on;
static const struct fp_process *hand_on_to;

static void hand_on(int number)
{
    const int saved = errno;
    handed_on = number;
    if (hand_on_to->pidfd >= 0)
        (void)fp_pidfd_signal(hand_on_to->pidfd, number); /* it may have ended */
    else
        fp_process_kill(hand_on_to, number);
    errno = saved;
}

/* Returns its exit code. What asks us to end is for it: it is in no terminal. */
static int run_as_owner(struct as_owner *as, int *ret_ended_by)
{
    static const int ENDING[FP_ENDING_COUNT] = {FP_ENDING_SIGNALS};
    const struct sigaction action = {.sa_handler = hand_on};
    sigset_t before;
    const struct fp_process_plan plan = {
        .body = attach_as_owner,
        .data = as,
        .streams = {FP_STREAM_NULL, FP_STREAM_NULL, FP_STREAM_OURS},
        .mask = &before,
    };
    const sigset_t signals = fp_signals_set(ENDING, FP_ENDING_COUNT);
    struct sigaction former[FP_ENDING_COUNT];
    struct fp_process process;
    char how[FP_STATUS_WORDS];
    handed_on = 0;
    sigprocmask(SIG_BLOCK, &signals, &before);
    const int error = fp_process_start(&plan, &process);
    hand_on_to = &process;
    if (error == 0)
        fp_signals_take(ENDING, FP_ENDING_COUNT, &action, former);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        cli_say(as->verb, "no process for the recorder: %s", strerror(error));
        return REC_FAILED;
    }
    (void)fp_process_wait(&process, NULL);
    fp_signals_restore(ENDING, FP_ENDING_COUNT, former);
    fp_process_release(&process);
    *ret_ended_by = (int)handed_on;
    if (WIFEXITED(process.status))
        return WEXITSTATUS(process.status);
    cli_say(as->verb, "the recorder was ended: %s; the program goes on, and 'mallab record --pid' tidies up",
            fp_status_words(process.status, how));
    return CLI_FAILED;
}

/* Why the user cannot load or run what is ours; NULL: nothing is in the way. The caller's. */
static char *refuse_files(const struct rec_owner *owner)
{
    char user[64], why[PATH_MAX + 64];
    char *const files[] = {res_own_library("libmallab-late.so"), res_own_program("mallab-collect")};
    char *problem = NULL;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i] != NULL && problem == NULL && !fp_library_is_for_all(files[i], why, sizeof why))
            problem = res_printf("user %s cannot use '%s' (%s): install mallab where all can read it",
                                 fp_trusted_user(owner->user, user, sizeof user), files[i], why);
        free(files[i]);
    }
    return problem;
}

static int attach_for(const struct rec_owner *owner, const struct as_owner *asked_for, int *ret_ended_by)
{
    struct as_owner as = *asked_for;
    struct rec_place place = {.parent_fd = -1, .fd = -1};
    char user[64], *asked = as.record.directory != NULL ? res_strdup(as.record.directory)
                                                        : late_default_directory(as.pid);
    char *problem = refuse_files(owner);
    int code = REC_FAILED;
    if (problem == NULL && rec_place_make(owner, asked, &place, &problem)) {
        as.owner = owner;
        as.place = &place;
        as.record.directory = ".";
        as.record.shown = place.path;
        code = run_as_owner(&as, ret_ended_by);
        if (code == REC_FAILED)
            rec_place_forget(&place);
        else if (strcmp(place.path, asked) != 0)
            cli_say(as.verb, "'%s' was there already: the recording is '%s'", asked, place.path);
        if (code != REC_FAILED && as.record.numbered && !as.record.quiet)
            cli_say(as.verb, "'%s' belongs to user %s%s", place.path,
                    fp_trusted_user(owner->user, user, sizeof user),
                    place.marked ? "; root reads it as its own" : "; root reads it with --trust-owner USER");
        fp_trusted_also_read(owner->user);
    }
    if (problem != NULL)
        cli_say(as.verb, "%s", problem);
    rec_place_release(&place);
    free(problem);
    free(asked);
    return code;
}

int cli_record_attached(const struct cli_verb *verb, const struct rec_settings *record, pid_t pid,
                        uint64_t within_ns, int *ret_ended_by)
{
    struct rec_owner owner;
    const struct as_owner as = {
        .verb = verb, .record = *record, .pid = pid, .parent = getpid(), .within_ns = within_ns};
    *ret_ended_by = 0;
    const int code = rec_owner_find(pid, &owner) ? attach_for(&owner, &as, ret_ended_by)
                                                 : attach(verb, record, pid, within_ns, ret_ended_by);
    rec_owner_release(&owner);
    return code;
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
    const struct rec_totals totals = rec_totals_read(recording);
    if (code != REC_FAILED && totals.events == 0)
        cli_say(verb, "process %d called no malloc meanwhile: there is nothing to replay", (int)pid);
    free(name);
    if (code != REC_FAILED && totals.events > 0) {
        *ret_recording = recording;
        return CLI_DONE;
    }
    free(recording);
    return CLI_FAILED;
}

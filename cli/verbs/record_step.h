/* record_step.h - a command, or a program that runs, recorded as a step on the way to something else. */
#ifndef MALLAB_CLI_VERBS_RECORD_STEP_H
#define MALLAB_CLI_VERBS_RECORD_STEP_H

#include <stdbool.h>

#include "cli/base/cli.h"
#include "record/recorder.h"

/* The settings of a recording. */
struct cli_record_step {
    const char *directory; /* the recording is DIRECTORY/NAME */
    bool quiet;
};

/* The output of a command, kept so that it does not stand between the user and the answer: a few lines are shown on stderr when it
 * has ended, more stay in a file below $TMPDIR, which is named, at most REC_PRINTED_MOST bytes. */
struct cli_printed {
    int to; /* what the command gets as its stdout: a descriptor; -1: no file can be made, which is told, and it is dropped */
    char *path;
};

/* cli_printed_begin - before the command starts; its argv[0]. The end names the file, where it is kept.
 * cli_printed_end - when it has ended: show or name what it printed, release it. quiet: nothing is named, and no file left. */
void cli_printed_begin(const struct cli_verb *verb, const char *command, struct cli_printed *ret);
void cli_printed_end(const struct cli_verb *verb, struct cli_printed *printed, bool quiet);

/* cli_record_step - record a command; told in the name of `verb`: how it ended where that was not well, what of its tree was not
 * recorded, what was lost.
 * command        argv, ending in NULL.
 * ret_status     how it ended, as from waitpid; may be NULL.
 * ret_recording  path of the recording, the caller's to free; set on CLI_DONE.
 * Returns        CLI_DONE when there is something to replay; else CLI_FAILED, told on stderr. */
int cli_record_step(const struct cli_verb *verb, char **command, const struct cli_record_step *step,
                    int *ret_status, char **ret_recording);

/* cli_record_attached - record a process that runs already (record/attach/late_record.h), and tell of it in the name of `verb`.
 * ret_ended_by  the signal that ended the recording; 0: none.
 * Returns       CLI_DONE; CLI_FAILED where the process could not be left, its recording is whole all the same; REC_FAILED
 *               where nothing was recorded. */
int cli_record_attached(const struct cli_verb *verb, const struct rec_settings *record, pid_t pid,
                        uint64_t within_ns, int *ret_ended_by);

/* cli_attach_step - the same as a step: the recording is `step`'s DIRECTORY/PROGRAM-PID. Otherwise as cli_record_step. */
int cli_attach_step(const struct cli_verb *verb, pid_t pid, uint64_t duration_ns,
                    const struct cli_record_step *step, int *ret_ended_by, char **ret_recording);

#endif

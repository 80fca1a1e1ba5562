/* validate_record.h - recording the command of `mallab validate`: the first time, and again. Private to cli/. */
#ifndef MALLAB_CLI_VERBS_VALIDATE_RECORD_H
#define MALLAB_CLI_VERBS_VALIDATE_RECORD_H

#include "cli/base/progress.h"
#include "cli/options/answer_options.h"
#include "cli/options/choice.h"
#include "cli/options/measure_options.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/validate/recordings.h"

/* The command line. */
struct cli_validate_settings {
    struct cli_answer answer;
    struct cli_measure measure;
    const char *process;
    uint64_t step_ns, recordings;
    char **command;
};

/* A recording, converted. */
struct cli_validate_recorded {
    int status;                   /* of the command, as from waitpid */
    char *path;                   /* of the workload; NULL: it did not come so far */
    struct res_workload workload; /* its name and path point into path */
};

struct cli_validate {
    struct cli_validate_settings settings;
    struct cli_choice choice;
    const char *directory;
    unsigned
        phases; /* recording, replays, real runs; further recordings, so that whoever stops them has a result */
    char *program;                         /* what is executed */
    struct cli_validate_recorded recorded; /* the first time */
    struct cli_progress progress;
    void (*on_pipe)(int signal_number); /* SIGPIPE, as we found it */
};

/* cli_validate_record - record the command on the baseline, choose its process, convert it.
 * directory  for recording and workload.
 * again      it is a further recording.
 * ret        path is the caller's to free in every case.
 * Returns    CLI_DONE, also where it was stopped (interrupt.h), and path may be NULL then; else an exit code, told on stderr. */
int cli_validate_record(const struct cli_validate *validate, const char *directory, bool again,
                        struct cli_validate_recorded *ret);

/* cli_validate_again - record, convert and replay the further recordings, one after the other; each is removed before the next is
 * made, unless --keep keeps them. One that fails or is not of the same run as the first is left out, told on stderr.
 * trial       of the first recording.
 * recordings  of the validation, of which none was made yet. */
void cli_validate_again(struct cli_validate *validate, const struct res_trial *trial,
                        struct res_recordings *recordings);

#endif

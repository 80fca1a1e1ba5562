/* ab_run.h - the way from inputs to a result and its screen, common to `ab` and `tune`. */
#ifndef MALLAB_CLI_VERBS_AB_RUN_H
#define MALLAB_CLI_VERBS_AB_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/cli.h"
#include "cli/options/choice.h"
#include "cli/options/shared_options.h"
#include "cli/verbs/workloads.h"
#include "convert/convert.h"
#include "results/measure/experiment/experiment.h"
#include "results/report/beside/beside.h"

struct cli_ab_confirm {
    bool wanted;
    uint64_t budget_ns; /* 0: not said */
};

/* The settings of the command line. */
struct cli_ab_settings {
    struct cli_answer answer;
    struct cli_measure measure;
    struct conv_options convert;
    struct cli_ab_confirm confirm;
    struct res_budget decide; /* without rules: nothing is to be decided. Released by the verb */
    const char *earlier;      /* a result that it is decided against; NULL: none */
    uint64_t time_budget_ns;
    double until;  /* as of struct res_options */
    bool is_bound; /* the time budget was asked for, and holds whatever it costs */
    bool check, latency;
    char **inputs;
    size_t input_count;
    char **command;            /* NULL: none */
    uint64_t pid, duration_ns; /* 0: none */
};

struct cli_ab {
    const struct cli_verb *verb; /* in whose name things are told */
    struct cli_ab_settings settings;
    /* Between the workloads and the rounds: may take candidates away but the first, and time. Returns an exit code, told. NULL: none. */
    int (*narrow)(struct cli_ab *ab);
    struct cli_choice choice;
    struct cli_limit limit;
    const char *directory;         /* of recording and workloads */
    struct cli_prepared *prepared; /* of the workloads, in the same order */
    struct res_workload *workloads;
    size_t workload_count;
    int status;          /* of the command, as from waitpid */
    uint64_t command_ns; /* what it took, recorded */
    char *command, *cut; /* as of struct res_asked */
    struct cli_progress progress;
    struct {
        struct res_result earlier;
        const struct res_trial *trial; /* that was looked at last */
        uint64_t outcomes;             /* of its findings then */
        char *problem;                 /* why nothing can be decided; NULL: it can */
    } deciding;
    struct {
        const struct res_workload *workload; /* that is being warmed up or measured */
        uint64_t begin_ns;
        size_t runs; /* before its own */
        bool told;
    } warm_up;
};

/* cli_ab_settings_default - what holds where nothing is said. */
struct cli_ab_settings cli_ab_settings_default(void);

/* cli_ab_run - record, convert, replay, print: with settings, verb and narrow set and the rest zero. Ends `ab`, and takes Ctrl-C meanwhile.
 * Returns an exit code, told. */
int cli_ab_run(struct cli_ab *ab);

/* cli_budget_take - take the value of a row of BUDGET (verb_check.c): rules, or the name of a file with rules; `at` is a struct res_budget. */
int cli_budget_take(const struct cli_verb *verb, const struct cli_option *row, const char *argument,
                    void *at);

/* cli_ab_finest - the least difference of time that a rule asks for, as a share; RES_RESOLVE where none does. */
double cli_ab_finest(const struct res_budget *budget);

/* cli_ab_options - the experiment's options; they borrow from `ab`. */
struct res_options cli_ab_options(struct cli_ab *ab);

#endif

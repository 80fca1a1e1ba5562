/* verbs.h - the verbs of `mallab`, and their common steps. */
#ifndef MALLAB_CLI_VERBS_VERBS_H
#define MALLAB_CLI_VERBS_VERBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options/options.h"
#include "record/recorder.h"
#include "results/measure/confirm/confirming.h"
#include "results/measure/fleet/fleet.h"
#include "results/report/beside/beside.h"
#include "results/report/grid/grid.h"
#include "results/report/table/table.h"
#include "sites/stacks/stacks.h"

/* ---- the verbs of `mallab`. */

extern const struct cli_verb CLI_AB, CLI_RECORD, CLI_CONVERT, CLI_INFO, CLI_REPLAY, CLI_REPORT,
    CLI_ALLOCATORS, CLI_DOCTOR, CLI_HELP, CLI_TOP, CLI_CONFIRM, CLI_COMPARE, CLI_CHECK, CLI_SITES, CLI_LEAKS,
    CLI_FLAME, CLI_TUNE;

/* ---- a conversion, of one file or of a group (workloads.c), and its report. Private to cli/. */

struct cli_conversion {
    const struct cli_verb *verb; /* in whose name things are told */
    const char *input;
    const char *
        output; /* of a group a directory, made when it is not there; on the way to a workload the one that it goes into */
    const char *ending; /* of the names of a group's workloads */
    const struct conv_options *options;
    bool is_group; /* of input, a recording: each process that `convert` chooses into a workload of its own */
    bool quiet, no_progress;
};

/* cli_is_group - whether several processes of a recording are meant. False where that cannot be told, too: converting it
 * tells why.
 * ret_bytes  of the footprints that are meant, by their share of the calls; 0: not known. May be NULL. */
bool cli_is_group(const char *input, const struct conv_options *options, uint64_t *ret_bytes);

/* cli_convert - convert it; a group is converted one process after the other, and what goes wrong with one leaves the others alone.
 * ret_report  what was made, as JSON, a new reference; left alone where nothing was. May be NULL.
 * Returns     the worst exit code. */
int cli_convert(const struct cli_conversion *conversion, json_t **ret_report);

/* cli_convert_file - convert one file, telling what happened on stderr in the name of `verb`; a signal that ends the
 * process leaves no half file.
 * ret_report  the report as JSON, a new reference, left alone where it failed; may be NULL.
 * Returns     an exit code. */
int cli_convert_file(const struct cli_conversion *conversion, json_t **ret_report);

/* ---- inputs on the way to a workload, for the verbs. */

/* cli_say_result - tell that a file is a result, or other JSON, and what reads it. */
void cli_say_result(const struct cli_verb *verb, const char *path);

/* A workload that can be replayed. */
struct cli_prepared {
    char *path;                 /* the file; of a group the directory that its members' files lie in */
    struct res_member *members; /* of a group, by name; paths and names are the struct's own */
    size_t member_count;        /* 0: it is one process */
};

/* cli_workload_prepare - a workload as it is, also a directory of several that are a group; anything else converted first.
 * way           without its is_group: options->overwrite says whether workloads that are there already may be replaced.
 * number        of the input on this command line, from 0: keeps names apart.
 * ret_prepared  filled on CLI_DONE; end it with cli_prepared_release, which accepts a zeroed one.
 * Returns       CLI_DONE; else an exit code, the cause being told on stderr. */
int cli_workload_prepare(const struct cli_conversion *way, size_t number, struct cli_prepared *ret_prepared);
void cli_prepared_release(struct cli_prepared *prepared);

/* cli_group_read - the members in a directory, by name; a single file is no group, but a workload.
 * Returns  false, with nothing to release, when there is none or there are more than a group has. */
bool cli_group_read(const char *directory, struct cli_prepared *ret_prepared);

/* cli_group_make_room - before members are written: a group that is there already is removed, where `force` allows it, as
 * none of its members may stay. Returns CLI_DONE, or CLI_FAILED, told. */
int cli_group_make_room(const struct cli_verb *verb, const char *directory, bool force);

/* cli_workload_facts - open a workload and read its summary. One without a call is refused.
 * input         what it was made of, for messages: `path` where it was given as it is.
 * ret_workload  name and path point into `path`.
 * Returns       CLI_DONE; else an exit code, the cause being told on stderr in the name of `verb`. */
int cli_workload_facts(const struct cli_verb *verb, const char *path, const char *input,
                       struct res_workload *ret_workload);

/* cli_prepared_facts - cli_workload_facts, of a group as of one. Its calls are added up; live bytes at the peak are those of
 * the members alive together.
 * prepared      its offset_ns are filled in; ret_workload borrows from it. */
int cli_prepared_facts(const struct cli_verb *verb, struct cli_prepared *prepared, const char *input,
                       struct res_workload *ret_workload);

/* cli_conv_failed - tell why something could not be read or converted. Returns the exit code for it. */
int cli_conv_failed(const struct cli_verb *verb, struct conv_error *error);

/* cli_choice_tell - tell on stderr which processes of a recording are chosen, with their share of all
 * calls, and the programs that could be instead. left_out: of the same name, because they are too many. */
void cli_choice_tell(const struct cli_verb *verb, const struct conv_survey *survey, size_t left_out);

/* cli_output_name - the default output for an input: its name with another ending. The caller's to free. */
char *cli_output_name(const char *input, const char *new_ending);

/* cli_meant - what to say behind the message that a path is not there: a recording or workload of another ending that is. The
 * caller's to free; "": there is none. */
char *cli_meant(const char *path);

/* ---- a command, or a program that runs, recorded as a step on the way to something else. */

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

/* ---- results as files: read, kept and shown; and what `ab`, `tune` and `confirm` have in common around them. */

/* cli_result_check - before long work: can the result be kept where -o says? A directory will do. With "-" the
 * JSON is the answer, as with --json. Returns CLI_DONE, or CLI_FAILED, told. */
int cli_result_check(const struct cli_verb *verb, struct cli_answer *answer);

/* cli_result_load - read one. Returns CLI_DONE, or CLI_UNREADABLE, told; ret_result is empty then. */
int cli_result_load(const struct cli_verb *verb, const char *path, struct res_result *ret_result);

/* cli_answer_style - how an answer is to look. */
struct res_style cli_answer_style(const struct cli_answer *answer);

/* cli_result_give - keep it, with its notes, where -o says; on stdout its JSON, or what show makes of it.
 * Returns CLI_DONE, or CLI_FAILED, told, when it could not be kept: it is kept elsewhere then ($TMPDIR, /tmp, /var/tmp, /dev/shm), or, where no place takes it and
 * stdout is no terminal, its JSON is the answer. Shown it is in any case. */
int cli_result_give(const struct cli_verb *verb, const struct cli_answer *answer, struct res_result *result,
                    char *(*show)(const struct res_result *result, const struct res_style *style));

/* cli_is_directory - whether a path is one, or leads to one. */
bool cli_is_directory(const char *path);

/* cli_work_directory - the directory of --keep, made where it is not there; else a temporary one.
 * ret_directory  borrowed, valid to the end. Returns CLI_DONE, or CLI_FAILED, told. */
int cli_work_directory(const struct cli_verb *verb, const char *keep, const char **ret_directory);

/* ---- the way from inputs to a result and its screen, common to `ab` and `tune`. */

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
        const struct res_result_workload *workload; /* that was looked at last */
        uint64_t outcomes;                          /* of its findings then */
        char *problem;                              /* why nothing can be decided; NULL: it can */
    } deciding;
    struct {
        const struct res_workload *workload; /* that is being warmed up or measured */
        uint64_t begin_ns;
        size_t runs; /* before its own */
        bool told;
    } warm_up;
};

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

/* ---- a program itself, run in pairs, as a step of `ab` and as all of `confirm`: runs, progress, what is told. */

struct cli_confirm_step {
    struct res_confirm_options runs; /* without runner, stop and progress */
    struct res_confirm_command
        command; /* arguments, group, exit_code and timeout_ns; arguments NULL: a service */
    struct res_confirm_service service; /* its lines and timeout_ns */
    bool quiet;
    bool shown; /* the answer is no JSON: who failed is told there */
};

/* cli_confirm_run - run it in pairs.
 * result     gets `confirmation` and `confirmed`.
 * Returns    CLI_DONE; CLI_FAILED where a candidate failed or nothing could be run, told. A stop by Ctrl-C is no failure. */
int cli_confirm_run(const struct cli_verb *verb, const struct cli_confirm_step *step,
                    struct res_result *result);

/* ---- what `ab --confirm` runs, and for how long ---- */

#define CLI_CONFIRM_PAIRS 30u /* where nobody said for how long: more take longer than replays did */

/* cli_confirm_most_ns - the longest time of a confirmation: as said (0: not said), else at most as long as the replays took, and were to take (budget_ns; 0:
 * any time), or RES_CONFIRM_BUDGET_NS. */
uint64_t cli_confirm_most_ns(uint64_t said_ns, uint64_t budget_ns, uint64_t replays_ns);

/* cli_confirm_advised - the baseline, and each candidate that is advised.
 * ret_candidates  room for RES_TRIED_MAX + 1. Returns how many. */
size_t cli_confirm_advised(const struct cli_choice *choice, const struct res_result *result,
                           const struct res_candidate **ret_candidates);

/* ---- a recording read for its call stacks, and their names: common to `sites`, `leaks` and `flame`. */

#define CLI_SYMBOL_DIRECTORIES 16u

/* Strings are argv's. */
struct cli_sites {
    struct cli_answer answer;
    struct conv_options convert;
    struct conv_sites_ages ages; /* of leaks */
    const char *symbols[CLI_SYMBOL_DIRECTORIES];
    size_t symbol_count;
    bool may_fetch;
    const char *path;
};

/* The rows of how a recording is read and how its addresses are named; of a struct cli_sites. */
extern const struct cli_option cli_site_names[], cli_site_reading[];

/* cli_sites_read - settings.path, with progress. Both are ended by cli_sites_end.
 * Returns   CLI_DONE; else the exit code, told on stderr: then nothing is to be ended. */
int cli_sites_read(const struct cli_verb *verb, const struct cli_sites *settings,
                   struct conv_sites *ret_sites, struct site_stacks *ret_stacks);

/* cli_sites_notes - add what a reader of sites must know, each "LABEL: WORDS": site_table_notes, whether all that was
 * live is known, what was left out as damaged, and why the recording is not whole. */
void cli_sites_notes(struct site_stacks *stacks, struct res_texts *notes);
void cli_sites_end(struct conv_sites *sites, struct site_stacks *stacks);

#endif

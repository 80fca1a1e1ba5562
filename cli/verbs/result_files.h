/* result_files.h - results as files: read, kept and shown; and what `ab`, `tune` and `confirm` have in common around them. */
#ifndef MALLAB_CLI_VERBS_RESULT_FILES_H
#define MALLAB_CLI_VERBS_RESULT_FILES_H

#include <jansson.h>

#include "cli/options/shared_options.h"
#include "results/measure/fleet/fleet.h"
#include "results/report/table/table.h"

/* cli_result_check - before long work: can the result be kept where -o says? A directory will do. With "-" the
 * JSON is the answer, as with --json. Returns CLI_DONE, or CLI_FAILED, told. */
int cli_result_check(const struct cli_verb *verb, struct cli_answer *answer);

/* cli_result_load - read one: a result, or of a directory of results what they say together (a result without workloads:
 * res_result_is_fleet). What is left out of that is told. Returns CLI_DONE, or CLI_UNREADABLE, told; ret_result is empty then.
 * cli_fleet_collect - only the last of these, of several files and directories.
 * request  NULL: nobody is expected. cli_fleet_options are its rows. */
int cli_fleet_collect(const struct cli_verb *verb, char *const *paths, size_t count,
                      const struct res_fleet_request *request, struct res_result *ret_result);
int cli_result_load(const struct cli_verb *verb, const char *path, const struct res_fleet_request *request,
                    struct res_result *ret_result);
extern const struct cli_option cli_fleet_options[];

/* cli_answer_style - how an answer is to look. */
struct res_style cli_answer_style(const struct cli_answer *answer);

/* cli_fleet_code - the exit code of an answer about a fleet: CLI_UNREADABLE where something was left out, CLI_FAILED where somebody is missing, else
 * CLI_DONE. */
int cli_fleet_code(const struct res_fleet *fleet);

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

#endif

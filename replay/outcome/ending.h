/* ending.h - runs that end before their end: what the user is told, and programs.
 *
 * One line on standard error; with --report-failure also a JSON object on standard output whose `failed`
 * says the same in numbers. Called from signal handlers and in the midst of other threads' calls: no malloc,
 * no stdio. The first thread that fails tells and ends the process; the others stay where they are. */
#ifndef MALLAB_REPLAY_OUTCOME_ENDING_H
#define MALLAB_REPLAY_OUTCOME_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/exec/exec.h"

/* rep_complain - one line on standard error by one write, with the program's name before it. */
__attribute__((format(printf, 1, 2))) void rep_complain(const char *format, ...);

/* rep_ending_init - from now on crashes, failing operators new and SIGALRM are told.
 * program   for messages; workload: its path; json: --report-failure. Borrowed. */
void rep_ending_init(const char *program, const char *workload, bool json);

/* rep_ending_limit - what is told with a failure: the memory limit in force, and whether mappings beyond it
 * are refused, instead of the process being killed. rep_ending_progress - likewise: ops executed so far. */
void rep_ending_limit(uint64_t bytes, bool refuses);
void rep_ending_progress(uint64_t ops);

/* rep_ending_failed - end a run that failed, as rep_exec_options.fail. context is not used. */
__attribute__((noreturn)) void rep_ending_failed(void *context, const struct rep_failure *failure);

/* rep_ending_over_limit - the allocator had more than the limit before the first op: "mapped", "in memory". */
__attribute__((noreturn)) void rep_ending_over_limit(uint64_t early_bytes, const char *what);

/* rep_ending_check - a promise was found broken after the last op, or in the rest; "": it was a NULL. */
__attribute__((noreturn)) void rep_ending_check(const char *problem);

#endif

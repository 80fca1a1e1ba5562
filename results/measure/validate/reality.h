/* reality.h - the program itself as confirming.h runs it, watched so closely that a prediction can be held beside it.
 *
 *   timed run     whole-process time, as `confirm` takes it; where what was recorded is only a part of the command, a watched
 *                 run, of which the recorded processes' own time counts
 *   sampled run   memory (sampled.h), one at each look
 *   mapped run    a sampled run that tells the heap from the program's own mappings (smaps.h), which costs it time; behind each
 *                 of the former
 *   startup run   a sampled run of a program that never calls malloc, true(1): what the allocator takes by itself. Of a group
 *                 also one of a shell that forks: of a fork only pages of files that were written are its own
 *
 * A run fails that ends otherwise than the recorded one, in which what was recorded does not run, or runs without the
 * candidate's library. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_REALITY_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_REALITY_H

#include "results/measure/confirm/confirm_command.h"
#include "results/measure/statistics/statistics.h"
#include "results/measure/watch/sampled.h"

#define RES_LOOKS_MAX RES_ROUNDS_FOR_MEMORY /* at memory, of each candidate */

struct res_reality_options {
    struct res_confirm_command *command; /* borrowed, like all */
    const char *process;                 /* name of what was recorded */
    bool is_group;                       /* all processes of that name; else one of them */
    bool is_part;                        /* the command has other processes: their time is not its time */
    const char *apart; /* path of libmallab-apart.so; NULL: not there, and all without a name is heap */
    uint64_t step_ns;  /* between samples */
    const struct res_candidate *const *candidates; /* the first is the baseline */
    size_t candidate_count;
};

/* What was seen of one candidate. */
struct res_real {
    struct res_image *sampled, *mapped; /* RES_LOOKS_MAX at most */
    size_t sampled_count, mapped_count;
    bool has_startup;
    double startup_heap_bytes;      /* NAN: unknown, and the files too */
    struct res_files startup_files; /* what the startup run held besides */
    struct res_files forked_files;  /* of a group: what one held for itself that had just been forked */
};

struct res_reality {
    struct res_reality_options options;
    struct res_real *all; /* of each candidate, in their order */
    size_t alike;         /* processes by the recorded one's name, in the last sampled run */
};

/* res_reality_begin - nothing seen yet; ends with res_reality_release.
 * res_reality_runner - runs that fill it; reality is borrowed as long as the runner is used. */
void res_reality_begin(const struct res_reality_options *options, struct res_reality *ret);
struct res_confirm_runner res_reality_runner(struct res_reality *reality);
void res_reality_release(struct res_reality *reality);

#endif

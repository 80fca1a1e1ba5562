/* judge.h - what the fresh rounds say of the finalists: verdicts against the default, and the front.
 *
 *   confirmation  the samples of the default, the finalists and the control, paired by rounds; none is of the search
 *   verdict       that of the product (res_judge: at least 8 rounds, interval and control agree), and stricter: a
 *                 difference must also be significant among all that were tested, two figures a finalist (significance.h),
 *                 else it is `undecided`; and one below RES_TUNE_WORTH or RES_TUNE_BYTES is `same`
 *   front         what nothing beats on both figures. A finalist has to be better than the default in one of them, by
 *                 verdict; the default is on it unless a finalist is better in one and in the other better too, or by its interval at most
 *                 RES_PARETO_MARGIN (pareto.h) worse.
 *                 Likewise among finalists, whose times are compared as with the default: steady times and their permutation test; of two that are not told apart the one with fewer settings is on it */
#ifndef MALLAB_RESULTS_MEASURE_TUNE_JUDGE_H
#define MALLAB_RESULTS_MEASURE_TUNE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/figures/figures.h"

/* Samples of one entry, in the order of the rounds. Owned by the confirmation. */
struct res_tune_entry {
    double *times, *memories; /* net ns per op; bytes */
    size_t time_count, memory_count;
    struct res_difference time; /* to the default, judged as in every result (figures.h); where has_time */
    struct res_difference
        *time_to;  /* to each entry but the control, likewise without verdicts; where has_time. NULL: none */
    bool has_time; /* else time is judged by the samples here */
    size_t settings; /* how many it has */
    bool doubtful;   /* its memory does not predict the program's */
    bool failed;     /* then it has no verdicts */
};

struct res_tune_confirmation {
    struct res_tune_entry *entries; /* the default, the finalists, the control */
    size_t entry_count;             /* finalists + 2 */
    bool memory_apart;              /* memory has passes of its own: few, their intervals Student's */
    uint64_t seed;
};

/* Of an entry. */
struct res_tune_judgement {
    struct res_difference time, memory;
    double time_value, memory_value; /* medians: ns per op, bytes; NAN without */
    double time_p, memory_p;         /* of significance.h; 1 without */
    bool on_front;
};

/* res_tune_confirmation_init - room for so many rounds of each entry. */
void res_tune_confirmation_init(struct res_tune_confirmation *confirmation, size_t finalists, size_t rounds);
void res_tune_confirmation_release(struct res_tune_confirmation *confirmation);

/* res_tune_judge - of each entry but the control; the default's differences are none (NAN).
 * ret_judgements  finalists + 1 of them. */
void res_tune_judge(const struct res_tune_confirmation *confirmation,
                    struct res_tune_judgement *ret_judgements);

/* res_tune_level - the p-value that a difference must stay below, with so many finalists. */
double res_tune_level(size_t finalists);

#endif

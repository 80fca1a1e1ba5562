/* family.c - how often one of several candidates is called different by chance, by the product's verdicts, and how often
 * one that is slower is found among them; as JSON on stdout, for scripts/bench verdict.
 *
 *   family EXPERIMENTS   each model of noise (samples.h), seven candidates, 10 and 20 rounds: all equal to the baseline, and the last one 3 % slower */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "statistics/samples.h"
#include "statistics/trial_series.h"

#define CANDIDATES 7u
#define EFFECT     1.03

struct tally {
    size_t wrong, found; /* experiments with a false verdict on an equal one; with the slower one found */
};

/* candidates: the equals, the last one slower or equal too. */
static void count(const struct res_result_entry *candidates, bool all_equal, struct tally *tally)
{
    const size_t equals = all_equal ? CANDIDATES : CANDIDATES - 1;
    bool wrong = false;
    for (size_t i = 0; i < equals; i++)
        wrong = wrong || candidates[i].figures.time.verdict == RES_LESS ||
                candidates[i].figures.time.verdict == RES_MORE;
    tally->wrong += wrong;
    tally->found += !all_equal && candidates[CANDIDATES - 1].figures.time.verdict == RES_MORE;
}

static json_t *simulate(enum model model, size_t rounds, bool all_equal, size_t experiments,
                        struct res_random *random)
{
    struct tally told = {0};
    for (size_t i = 0; i < experiments; i++) {
        double effects[CANDIDATES];
        struct res_result_workload workload;
        struct trial trial;
        for (size_t k = 0; k < CANDIDATES; k++)
            effects[k] = all_equal || k + 1 < CANDIDATES ? 1 : EFFECT;
        model_draw_many(model, effects, CANDIDATES, rounds, random, &trial);
        trial_workload(&trial, 0, &workload);
        count(workload.candidates + 1, all_equal, &told);
        trial_workload_drop(&workload);
        model_release(&trial);
    }
    return json_pack("{s:s, s:I, s:b, s:I, s:I, s:I}", "model", model_name(model), "rounds",
                     (json_int_t)rounds, "all_equal", all_equal, "experiments", (json_int_t)experiments,
                     "wrong", (json_int_t)told.wrong, "found", (json_int_t)told.found);
}

int main(int argc, char **argv)
{
    static const size_t rounds[] = {10, 20};
    struct res_random random = res_random_from(6);
    if (argc != 2 || atoi(argv[1]) <= 0) {
        fputs("usage: family EXPERIMENTS\n", stderr);
        return 2;
    }
    json_t *list = json_array();
    for (int model = 0; model < MODEL_COUNT; model++)
        for (size_t plan = 0; plan < sizeof rounds / sizeof rounds[0]; plan++)
            for (int all_equal = 1; all_equal >= 0; all_equal--)
                json_array_append_new(list, simulate((enum model)model, rounds[plan], all_equal != 0,
                                                     (size_t)atoi(argv[1]), &random));
    json_dumpf(list, stdout, JSON_INDENT(1));
    puts("");
    json_decref(list);
    return 0;
}

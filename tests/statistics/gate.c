/* gate.c - how often the gate (results/report/beside/beside.h) is right, as JSON on stdout: for scripts/bench verdict, and a small dose of it as a test.
 *
 *   gate simulate EXPERIMENTS   each model of noise (samples.h): a true change at the limit, a change of 3 % against a limit of 1 %, none against
 *                               3 %; 10, 20 and 40 rounds
 *   gate test                   in little: exit 1 when an outcome is wrong more often than it may be */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/figures.h"
#include "results/report/beside/beside.h"
#include "statistics/samples.h"
#include "statistics/trial_series.h"

struct outcomes {
    size_t by_gate[RES_OUTCOME_COUNT];
    size_t above, below; /* that the test at the limit alone says */
};

static void judge(const struct trial *trial, size_t candidate, double limit, struct outcomes *outcomes)
{
    struct res_tails tails;
    outcomes->by_gate[trial_outcome(trial, candidate, limit, &tails)]++;
    outcomes->above += tails.above <= RES_P_VALUE_MOST;
    outcomes->below += tails.below <= RES_P_VALUE_MOST;
}

struct cases {
    const char *name;
    double effect, limit;
};

static const struct cases CASES[] = {
    {"at the limit", 1.03, 1.03}, {"3 % against 1 %", 1.03, 1.01}, {"none against 3 %", 1, 1.03}};
enum { AT_LIMIT, OVER, WITHIN, CASE_COUNT };

static struct outcomes simulate_one(enum model model, size_t rounds, const struct cases *one,
                                    size_t experiments, struct res_random *random)
{
    struct outcomes outcomes = {0};
    for (size_t i = 0; i < experiments; i++) {
        struct trial trial;
        model_draw(model, one->effect, rounds, random, &trial);
        (void)res_random_next(random); /* each experiment draws its seed, as `mallab ab` does */
        judge(&trial, 1, one->limit, &outcomes);
        model_release(&trial);
    }
    return outcomes;
}

static json_t *outcomes_json(const struct outcomes *outcomes)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "within", (json_int_t)outcomes->by_gate[RES_WITHIN], "over",
                     (json_int_t)outcomes->by_gate[RES_OVER], "inconclusive",
                     (json_int_t)outcomes->by_gate[RES_INCONCLUSIVE], "above_by_test",
                     (json_int_t)outcomes->above, "below_by_test", (json_int_t)outcomes->below);
}

static json_t *simulate(size_t experiments)
{
    static const size_t rounds[] = {10, 20, 40};
    struct res_random random = res_random_from(4);
    json_t *list = json_array();
    for (int model = 0; model < MODEL_COUNT; model++)
        for (size_t plan = 0; plan < sizeof rounds / sizeof rounds[0]; plan++)
            for (size_t i = 0; i < CASE_COUNT; i++) {
                const struct outcomes outcomes = simulate_one((enum model)model, rounds[plan], &CASES[i],
                                                              experiments, &random);
                json_t *json = outcomes_json(&outcomes);
                json_object_set_new(json, "model", json_string(model_name((enum model)model)));
                json_object_set_new(json, "rounds", json_integer((json_int_t)rounds[plan]));
                json_object_set_new(json, "case", json_string(CASES[i].name));
                json_object_set_new(json, "experiments", json_integer((json_int_t)experiments));
                json_array_append_new(list, json);
            }
    return list;
}

/* 24 experiments of each case. At the limit each side of the test comes in 5 % at most: more than 5 of 24 in less than 1 of 500 such tests, and the
 * seed is fixed. */
#define TEST_EXPERIMENTS 24
#define TEST_ROUNDS      20
#define WRONG_MOST       5

static bool test_one(enum model model, struct res_random *random)
{
    struct outcomes outcomes[CASE_COUNT];
    for (size_t i = 0; i < CASE_COUNT; i++) {
        outcomes[i] = simulate_one(model, TEST_ROUNDS, &CASES[i], TEST_EXPERIMENTS, random);
        json_t *json = outcomes_json(&outcomes[i]);
        char *words = json_dumps(json, JSON_COMPACT);
        json_decref(json);
        fprintf(stderr, "%s, %d rounds, %s: %s\n", model_name(model), TEST_ROUNDS, CASES[i].name, words);
        free(words);
    }
    /* How much is found is the machine's matter: one that becomes slower throughout leaves little (docs/notes/statistics.md). */
    const size_t found_least = model == MODEL_DRIFT ? 1 : TEST_EXPERIMENTS / 2;
    return outcomes[AT_LIMIT].above <= WRONG_MOST && outcomes[AT_LIMIT].below <= WRONG_MOST &&
           outcomes[AT_LIMIT].by_gate[RES_WITHIN] + outcomes[AT_LIMIT].by_gate[RES_OVER] <= WRONG_MOST &&
           outcomes[OVER].by_gate[RES_WITHIN] == 0 && outcomes[OVER].by_gate[RES_OVER] >= found_least &&
           outcomes[WITHIN].by_gate[RES_OVER] == 0 && outcomes[WITHIN].by_gate[RES_WITHIN] >= found_least;
}

static int test(void)
{
    struct res_random random = res_random_from(5);
    bool good = true;
    for (int model = MODEL_SPIKES; model < MODEL_COUNT; model++) /* a quiet machine is none to fail on */
        good = test_one((enum model)model, &random) && good;
    if (!good)
        fputs("gate: FAILED\n", stderr);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "test") == 0)
        return test();
    json_t *answer = NULL;
    if (argc == 3 && strcmp(argv[1], "simulate") == 0 && atoi(argv[2]) > 0)
        answer = simulate((size_t)atoi(argv[2]));
    if (answer == NULL) {
        fputs("usage: gate simulate EXPERIMENTS | test\n", stderr);
        return 2;
    }
    json_dumpf(answer, stdout, JSON_INDENT(1));
    puts("");
    json_decref(answer);
    return 0;
}

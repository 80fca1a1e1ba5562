/* sessions.c - how often the gate against an earlier result (results/report/beside/partners.c, results/report/beside/beside.h) is right, as JSON on stdout: for scripts/bench
 * verdict, and a small dose of it as a test.
 *
 *   sessions simulate EXPERIMENTS   pairs of experiments by models of noise (samples.h), machines and true changes
 *   sessions test                   in little: exit 1 when an outcome is wrong more often than it may be
 *
 * A pair is two experiments of the same two candidates. In the later one the candidate takes `change` times its former time; the machine may be
 * slower by a tenth, the later experiment may be disturbed otherwise, and each entry may be off by some tenths of a per cent throughout a session, as
 * the place of a library in memory does it. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/report/beside/beside.h"
#include "statistics/samples.h"
#include "statistics/trial_series.h"

#define LIMIT 1.03

/* What is different between the experiments of a pair, beside the candidate. */
struct circumstances {
    const char *name;
    enum model then, now;
    double slower;       /* the machine, in the later one */
    double harness_part; /* of that, that the harness feels, too */
    double bias;         /* standard deviation of an entry's session, of its time */
};

static const struct circumstances CIRCUMSTANCES[] = {
    {"quiet", MODEL_QUIET, MODEL_QUIET, 1, 1, 0},
    {"quiet, 10 % slower", MODEL_QUIET, MODEL_QUIET, 1.1, 1, 0},
    {"quiet, 10 % slower, biased", MODEL_QUIET, MODEL_QUIET, 1.1, 1, 0.003},
    {"spikes, 10 % slower", MODEL_SPIKES, MODEL_SPIKES, 1.1, 1, 0},
    {"drift, 10 % slower", MODEL_DRIFT, MODEL_DRIFT, 1.1, 1, 0},
    {"bimodal", MODEL_BIMODAL, MODEL_BIMODAL, 1, 1, 0},
    {"bimodal, 10 % slower", MODEL_BIMODAL, MODEL_BIMODAL, 1.1, 1, 0},
    {"quiet then, bimodal now, 10 % slower", MODEL_QUIET, MODEL_BIMODAL, 1.1, 1, 0.001},
    {"10 % slower, the harness is not", MODEL_QUIET, MODEL_QUIET, 1.1, 0, 0},
};
#define CIRCUMSTANCE_COUNT (sizeof CIRCUMSTANCES / sizeof CIRCUMSTANCES[0])

/* ---- pairs ---------------------------------------------------------------------------------- */

static double normal(struct res_random *random)
{
    const double one = ((double)(res_random_next(random) >> 11) + 1) * 0x1p-53;
    const double two = (double)(res_random_next(random) >> 11) * 0x1p-53;
    return sqrt(-2 * log(one)) * cos(2 * M_PI * two);
}

static void scale(struct trial_entry *entry, double factor)
{
    for (size_t i = 0; i < entry->run_count; i++) {
        entry->runs[i].ns_per_op *= factor;
        for (size_t batch = 0; batch < entry->runs[i].batch_count; batch++)
            entry->runs[i].batch_ns[batch] = (uint64_t)((double)entry->runs[i].batch_ns[batch] * factor);
    }
}

static void draw(const struct circumstances *around, bool now, double change, size_t rounds,
                 struct res_random *random, struct trial *ret_trial)
{
    const double slower = now ? around->slower : 1;
    model_draw(now ? around->now : around->then, 0.95 * (now ? change : 1), rounds, random, ret_trial);
    for (size_t i = 0; i < ret_trial->entry_count; i++) {
        struct trial_entry *entry = &ret_trial->entries[i];
        const double felt = entry->is_floor ? 1 + (slower - 1) * around->harness_part : slower;
        scale(entry, felt * exp(around->bias * normal(random)));
    }
}

static struct res_session session_of(const struct trial *trial)
{
    enum { BASELINE, CANDIDATE, CONTROL };
    struct res_session session = {.own = trial_series(trial, CANDIDATE),
                                  .control = trial_series(trial, CONTROL),
                                  .controlled = trial_series(trial, BASELINE),
                                  .harness = trial_floor_series(trial),
                                  .baseline = trial_series(trial, BASELINE)};
    return session;
}

static void session_drop(struct res_session *session)
{
    res_series_release(&session->own);
    res_series_release(&session->baseline);
    res_series_release(&session->control);
    res_series_release(&session->controlled);
    res_series_release(&session->harness);
}

struct outcomes {
    size_t by_gate[RES_OUTCOME_COUNT];
    size_t above, below; /* that the test at the limit alone says */
    size_t missed;       /* intervals without the truth */
};

static void judge(const struct circumstances *around, double change, size_t rounds, struct res_random *random,
                  struct outcomes *outcomes)
{
    struct trial trials[2];
    draw(around, false, change, rounds, random, &trials[0]);
    draw(around, true, change, rounds, random, &trials[1]);
    (void)res_random_next(random); /* each pair draws its seed, as `mallab ab` does */
    struct res_session then = session_of(&trials[0]), now = session_of(&trials[1]);
    struct res_finding across = {.rule = {.metric = RES_METRIC_TIME, .limit = LIMIT}, .bridge_ratio = NAN};
    res_across_sessions(&now, &then, &across);
    const char *why;
    outcomes->by_gate[res_judge_limit(&across.estimate, LIMIT, across.noise, across.tails, &why)]++;
    outcomes->above += across.tails.above <= RES_P_VALUE_MOST;
    outcomes->below += across.tails.below <= RES_P_VALUE_MOST;
    outcomes->missed += across.estimate.interval.low > change || across.estimate.interval.high < change;
    session_drop(&then);
    session_drop(&now);
    model_release(&trials[0]);
    model_release(&trials[1]);
}

static struct outcomes judge_many(const struct circumstances *around, double change, size_t rounds,
                                  size_t experiments, struct res_random *random)
{
    struct outcomes outcomes = {0};
    for (size_t i = 0; i < experiments; i++)
        judge(around, change, rounds, random, &outcomes);
    return outcomes;
}

/* ---- answers -------------------------------------------------------------------------------- */

static json_t *outcomes_json(const struct circumstances *around, double change, size_t rounds,
                             size_t experiments, const struct outcomes *outcomes)
{
    return json_pack("{s:s, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "circumstances", around->name,
                     "change", change, "rounds", (json_int_t)rounds, "experiments", (json_int_t)experiments,
                     "within", (json_int_t)outcomes->by_gate[RES_WITHIN], "over",
                     (json_int_t)outcomes->by_gate[RES_OVER], "inconclusive",
                     (json_int_t)outcomes->by_gate[RES_INCONCLUSIVE], "above_by_test",
                     (json_int_t)outcomes->above, "below_by_test", (json_int_t)outcomes->below,
                     "missed_by_interval", (json_int_t)outcomes->missed);
}

static json_t *simulate(size_t experiments)
{
    static const size_t rounds[] = {10, 20};
    static const double changes[] = {1, 1.03, 1.05, 1.10};
    json_t *list = json_array();
    for (size_t i = 0; i < CIRCUMSTANCE_COUNT; i++)
        for (size_t plan = 0; plan < sizeof rounds / sizeof rounds[0]; plan++)
            for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
                struct res_random random = res_random_from(100 * i + 10 * plan + k);
                const struct outcomes outcomes = judge_many(&CIRCUMSTANCES[i], changes[k], rounds[plan],
                                                            experiments, &random);
                json_array_append_new(
                    list, outcomes_json(&CIRCUMSTANCES[i], changes[k], rounds[plan], experiments, &outcomes));
            }
    return list;
}

/* Of 24 experiments; what may be wrong is so in 5 % at most, and more than 5 of 24 in less than 1 of 500 such tests. The seed is fixed. */
#define TEST_EXPERIMENTS 24
#define TEST_ROUNDS      20
#define WRONG_MOST       5

static struct outcomes tested(const struct circumstances *around, double change, struct res_random *random)
{
    const struct outcomes outcomes = judge_many(around, change, TEST_ROUNDS, TEST_EXPERIMENTS, random);
    json_t *json = outcomes_json(around, change, TEST_ROUNDS, TEST_EXPERIMENTS, &outcomes);
    char *words = json_dumps(json, JSON_COMPACT);
    fprintf(stderr, "%s\n", words);
    free(words);
    json_decref(json);
    return outcomes;
}

/* found_least: how many of the greatest change and of none come out; what moves the machine so that nothing can be told leaves none. */
static bool test_one(const char *name, size_t found_least, struct res_random *random)
{
    const struct circumstances *around = CIRCUMSTANCES;
    while (strcmp(around->name, name) != 0)
        around++;
    const struct outcomes none = tested(around, 1, random), limit = tested(around, LIMIT, random);
    const struct outcomes large = tested(around, 1.10, random);
    return none.by_gate[RES_OVER] == 0 && none.by_gate[RES_WITHIN] >= found_least &&
           limit.by_gate[RES_OVER] <= WRONG_MOST && limit.by_gate[RES_WITHIN] <= WRONG_MOST &&
           large.by_gate[RES_WITHIN] == 0 && large.by_gate[RES_OVER] >= found_least;
}

static int test(void)
{
    struct res_random random = res_random_from(7);
    bool good = test_one("quiet, 10 % slower, biased", TEST_EXPERIMENTS / 2, &random);
    good = test_one("bimodal, 10 % slower", TEST_EXPERIMENTS / 4, &random) && good;
    good = test_one("quiet then, bimodal now, 10 % slower", TEST_EXPERIMENTS / 4, &random) && good;
    good = test_one("10 % slower, the harness is not", 0, &random) && good;
    if (!good)
        fputs("sessions: FAILED\n", stderr);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "test") == 0)
        return test();
    if (argc != 3 || strcmp(argv[1], "simulate") != 0 || atoi(argv[2]) <= 0) {
        fputs("usage: sessions simulate EXPERIMENTS | test\n", stderr);
        return 2;
    }
    json_t *answer = simulate((size_t)atoi(argv[2]));
    json_dumpf(answer, stdout, JSON_INDENT(1));
    puts("");
    json_decref(answer);
    return 0;
}

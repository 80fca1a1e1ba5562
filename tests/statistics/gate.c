/* gate.c - how often the gate (results/report/beside/beside.h) is right, and of several candidates the verdicts; as JSON on stdout: for scripts/bench
 * verdict, and small doses of it as tests.
 *
 *   gate simulate EXPERIMENTS   each model of noise (samples.h): a true change at the limit, a change of 3 % against a limit of 1 %, none against
 *                               3 %; 10, 20 and 40 rounds
 *   gate sessions EXPERIMENTS   against an earlier result (results/report/beside/partners.c): pairs of experiments by models of noise, machines and true
 *                               changes. A pair is two experiments of the same two candidates. In the later one the candidate takes `change` times its
 *                               former time; the machine may be slower by a tenth, the later experiment may be disturbed otherwise, and each entry may
 *                               be off by some tenths of a per cent throughout a session, as the place of a library in memory does it
 *   gate family EXPERIMENTS     each model, seven candidates, 10 and 20 rounds: all equal to the baseline, and the last one 3 % slower: how often one is
 *                               called different by chance, and the slower one found
 *   gate test, gate test-sessions   in little: exit 1 when an outcome is wrong more often than it may be */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/figures.h"
#include "results/report/beside/beside.h"
#include "statistics/samples.h"

/* Of 24 experiments; what may be wrong is so in 5 % at most, and more than 5 of 24 in less than 1 of 500 such tests. The seeds are fixed. */
#define TEST_EXPERIMENTS 24
#define TEST_ROUNDS      20
#define WRONG_MOST       5

struct outcomes {
    size_t by_gate[RES_OUTCOME_COUNT];
    size_t above, below; /* that the test at the limit alone says */
    /* Of pairs: intervals without the truth; that the machine moved unevenly; bridged by the baseline, by what the machine became slower. */
    size_t missed, moved, bridged;
};

static void count_tails(const struct res_tails *tails, struct outcomes *outcomes)
{
    outcomes->above += tails->above <= RES_P_VALUE_MOST;
    outcomes->below += tails->below <= RES_P_VALUE_MOST;
}

static json_t *outcomes_json(const struct outcomes *outcomes)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "within", (json_int_t)outcomes->by_gate[RES_WITHIN], "over",
                     (json_int_t)outcomes->by_gate[RES_OVER], "inconclusive",
                     (json_int_t)outcomes->by_gate[RES_INCONCLUSIVE], "above_by_test",
                     (json_int_t)outcomes->above, "below_by_test", (json_int_t)outcomes->below);
}

static void tell(const char *what, const struct outcomes *outcomes)
{
    json_t *json = outcomes_json(outcomes);
    char *words = json_dumps(json, JSON_COMPACT);
    fprintf(stderr, "%d rounds, %s: %s; missed %zu, moved %zu, bridged %zu\n", TEST_ROUNDS, what, words,
            outcomes->missed, outcomes->moved, outcomes->bridged);
    free(words);
    json_decref(json);
}

/* ---- one experiment against its own baseline ------------------------------------------------- */

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
        struct res_tails tails;
        outcomes.by_gate[trial_outcome(&trial, 1, one->limit, &tails)]++;
        count_tails(&tails, &outcomes);
        model_release(&trial);
    }
    return outcomes;
}

static json_t *simulate_gate(size_t experiments)
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

static bool gate_is_right(enum model model, struct res_random *random)
{
    struct outcomes outcomes[CASE_COUNT];
    fprintf(stderr, "%s\n", model_name(model));
    for (size_t i = 0; i < CASE_COUNT; i++) {
        outcomes[i] = simulate_one(model, TEST_ROUNDS, &CASES[i], TEST_EXPERIMENTS, random);
        tell(CASES[i].name, &outcomes[i]);
    }
    /* How much is found is the machine's matter: one that becomes slower throughout leaves little (docs/notes/statistics.md). */
    const size_t found_least = model == MODEL_DRIFT ? 1 : TEST_EXPERIMENTS / 2;
    return outcomes[AT_LIMIT].above <= WRONG_MOST && outcomes[AT_LIMIT].below <= WRONG_MOST &&
           outcomes[AT_LIMIT].by_gate[RES_WITHIN] + outcomes[AT_LIMIT].by_gate[RES_OVER] <= WRONG_MOST &&
           outcomes[OVER].by_gate[RES_WITHIN] == 0 && outcomes[OVER].by_gate[RES_OVER] >= found_least &&
           outcomes[WITHIN].by_gate[RES_OVER] == 0 && outcomes[WITHIN].by_gate[RES_WITHIN] >= found_least;
}

static int test_gate(void)
{
    struct res_random random = res_random_from(5);
    bool good = true;
    for (int model = MODEL_SPIKES; model < MODEL_COUNT; model++) /* a quiet machine is none to fail on */
        good = gate_is_right((enum model)model, &random) && good;
    if (!good)
        fputs("gate: FAILED\n", stderr);
    return good ? 0 : 1;
}

/* ---- pairs ------------------------------------------------------------------------------------ */

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
    enum { BASELINE, CANDIDATE, CONTROL, FLOOR };
    struct res_session session = {.own = trial_series(trial, CANDIDATE),
                                  .control = trial_series(trial, CONTROL),
                                  .controlled = trial_series(trial, BASELINE),
                                  .harness = trial_series(trial, FLOOR),
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

static void judge_pair(const struct circumstances *around, double change, size_t rounds, bool has_baseline,
                       struct res_random *random, struct outcomes *outcomes)
{
    struct trial trials[2];
    draw(around, false, change, rounds, random, &trials[0]);
    draw(around, true, change, rounds, random, &trials[1]);
    (void)res_random_next(random); /* each pair draws its seed, as `mallab ab` does */
    struct res_session then = session_of(&trials[0]), now = session_of(&trials[1]);
    struct res_finding across = {.rule = {.metric = RES_METRIC_TIME, .limit = LIMIT}, .bridge_ratio = NAN};
    if (!has_baseline)
        res_series_release(&now.baseline);
    res_across_sessions(&now, &then, &across);
    const char *why;
    outcomes->by_gate[res_judge_limit(&across.estimate, LIMIT, across.noise, across.tails, &why)]++;
    count_tails(&across.tails, outcomes);
    outcomes->missed += across.estimate.interval.low > change || across.estimate.interval.high < change;
    outcomes->moved += across.machine_moved;
    outcomes->bridged += across.bridge == RES_BRIDGE_BASELINE &&
                         fabs(across.bridge_ratio / around->slower - 1) < 0.02;
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
        judge_pair(around, change, rounds, true, random, &outcomes);
    return outcomes;
}

static json_t *simulate_sessions(size_t experiments)
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
                json_t *json = outcomes_json(&outcomes);
                json_object_update_new(json, json_pack("{s:s, s:f, s:I, s:I, s:I}", "circumstances",
                                                       CIRCUMSTANCES[i].name, "change", changes[k], "rounds",
                                                       (json_int_t)rounds[plan], "experiments",
                                                       (json_int_t)experiments, "missed_by_interval",
                                                       (json_int_t)outcomes.missed));
                json_array_append_new(list, json);
            }
    return list;
}

static struct outcomes tested(const struct circumstances *around, double change, struct res_random *random)
{
    const struct outcomes outcomes = judge_many(around, change, TEST_ROUNDS, TEST_EXPERIMENTS, random);
    tell(around->name, &outcomes);
    return outcomes;
}

static bool sessions_are_right(const char *name, size_t found_least, struct res_random *random)
{
    const struct circumstances *around = CIRCUMSTANCES;
    while (strcmp(around->name, name) != 0)
        around++;
    const struct outcomes none = tested(around, 1, random), limit = tested(around, LIMIT, random);
    const struct outcomes large = tested(around, 1.10, random);
    return none.by_gate[RES_OVER] == 0 && none.by_gate[RES_WITHIN] >= found_least &&
           limit.by_gate[RES_OVER] <= WRONG_MOST && limit.by_gate[RES_WITHIN] <= WRONG_MOST &&
           large.by_gate[RES_WITHIN] == 0 && large.by_gate[RES_OVER] >= found_least &&
           (around->harness_part > 0 || none.moved == TEST_EXPERIMENTS) &&
           (around->now != MODEL_QUIET ||
            (none.bridged == TEST_EXPERIMENTS && large.bridged == TEST_EXPERIMENTS));
}

/* A machine that is slower throughout is no change, and a change of its own is found there as large as it is. */
static bool a_quiet_pair_is_exact(struct res_random *random)
{
    const struct outcomes none = tested(&CIRCUMSTANCES[1], 1, random),
                          own = tested(&CIRCUMSTANCES[1], 1.05, random);
    struct outcomes alone = {0};
    judge_pair(&CIRCUMSTANCES[1], 1, TEST_ROUNDS, false, random, &alone);
    return none.by_gate[RES_WITHIN] == TEST_EXPERIMENTS && own.by_gate[RES_OVER] == TEST_EXPERIMENTS &&
           none.moved + own.moved <= WRONG_MOST && none.missed <= WRONG_MOST && own.missed <= WRONG_MOST &&
           alone.bridged == 0;
}

static int test_sessions(void)
{
    struct res_random random = res_random_from(7);
    bool good = sessions_are_right("quiet, 10 % slower, biased", TEST_EXPERIMENTS / 2, &random);
    good = a_quiet_pair_is_exact(&random) && good;
    good = sessions_are_right("bimodal, 10 % slower", TEST_EXPERIMENTS / 4, &random) && good;
    good = sessions_are_right("quiet then, bimodal now, 10 % slower", TEST_EXPERIMENTS / 4, &random) && good;
    good = sessions_are_right("10 % slower, the harness is not", 0, &random) && good;
    if (!good)
        fputs("sessions: FAILED\n", stderr);
    return good ? 0 : 1;
}

/* ---- several candidates ------------------------------------------------------------------------ */

#define CANDIDATES 7u
#define EFFECT     1.03

struct family {
    size_t wrong, found; /* experiments with a false verdict on an equal one; with the slower one found */
};

/* candidates: the equals, the last one slower or equal too. */
static void count_family(const struct res_result_entry *candidates, bool all_equal, struct family *tally)
{
    const size_t equals = all_equal ? CANDIDATES : CANDIDATES - 1;
    bool wrong = false;
    for (size_t i = 0; i < equals; i++)
        wrong = wrong || candidates[i].figures.time.verdict == RES_LESS ||
                candidates[i].figures.time.verdict == RES_MORE;
    tally->wrong += wrong;
    tally->found += !all_equal && candidates[CANDIDATES - 1].figures.time.verdict == RES_MORE;
}

static json_t *simulate_one_family(enum model model, size_t rounds, bool all_equal, size_t experiments,
                                   struct res_random *random)
{
    struct family told = {0};
    for (size_t i = 0; i < experiments; i++) {
        double effects[CANDIDATES];
        struct res_result_workload workload;
        struct trial trial;
        for (size_t k = 0; k < CANDIDATES; k++)
            effects[k] = all_equal || k + 1 < CANDIDATES ? 1 : EFFECT;
        model_draw_many(model, effects, CANDIDATES, rounds, random, &trial);
        trial_workload(&trial, 0, &workload);
        count_family(workload.candidates + 1, all_equal, &told);
        trial_workload_drop(&workload);
        model_release(&trial);
    }
    return json_pack("{s:s, s:I, s:b, s:I, s:I, s:I}", "model", model_name(model), "rounds",
                     (json_int_t)rounds, "all_equal", all_equal, "experiments", (json_int_t)experiments,
                     "wrong", (json_int_t)told.wrong, "found", (json_int_t)told.found);
}

static json_t *simulate_families(size_t experiments)
{
    static const size_t rounds[] = {10, 20};
    struct res_random random = res_random_from(6);
    json_t *list = json_array();
    for (int model = 0; model < MODEL_COUNT; model++)
        for (size_t plan = 0; plan < sizeof rounds / sizeof rounds[0]; plan++)
            for (int all_equal = 1; all_equal >= 0; all_equal--)
                json_array_append_new(list, simulate_one_family((enum model)model, rounds[plan],
                                                                all_equal != 0, experiments, &random));
    return list;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        json_t *(*simulate)(size_t experiments);
    } SIMULATIONS[] = {
        {"simulate", simulate_gate}, {"sessions", simulate_sessions}, {"family", simulate_families}};
    if (argc == 2 && strcmp(argv[1], "test") == 0)
        return test_gate();
    if (argc == 2 && strcmp(argv[1], "test-sessions") == 0)
        return test_sessions();
    for (size_t i = 0; i < sizeof SIMULATIONS / sizeof SIMULATIONS[0]; i++)
        if (argc == 3 && strcmp(argv[1], SIMULATIONS[i].name) == 0 && atoi(argv[2]) > 0) {
            json_t *answer = SIMULATIONS[i].simulate((size_t)atoi(argv[2]));
            json_dumpf(answer, stdout, JSON_INDENT(1));
            puts("");
            json_decref(answer);
            return 0;
        }
    fputs("usage: gate simulate|sessions|family EXPERIMENTS | test | test-sessions\n", stderr);
    return 2;
}

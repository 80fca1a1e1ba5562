/* verdicts.c - how often the product's verdicts are right, as JSON on stdout: for scripts/bench verdict, and a small dose of it as a test.
 *
 *   verdicts cut RESULT.json ROUNDS       the rounds of a long experiment of `mallab ab`, ROUNDS at a time, each part an experiment by
 *                                         itself: none of its runs is used twice. Memory rounds likewise, three at a time. All candidates
 *                                         together, as a table has them; and what `mallab check` says of each by itself at +3 %
 *   verdicts grow RESULT.json WIDTH MOST  likewise, each part as long as it takes until intervals are as narrow as WIDTH, with time for MOST rounds
 *   verdicts simulate EXPERIMENTS         each model of noise (samples.h): equal candidates, and one that takes 3 % more time; 8 and 20
 *                                         rounds, and until 2 %
 *   verdicts test                         simulate in little: exit 1 when a verdict is wrong more often than it may be */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/experiment/experiment.h"
#include "statistics/samples.h"

#define EFFECT     1.03
#define GATE_LIMIT 1.03

/* Verdicts of one candidate over many experiments. */
struct tally {
    size_t experiments, rounds; /* rounds of all */
    size_t time[4], peak[4];    /* by enum res_verdict */
    size_t gate[RES_OUTCOME_COUNT];
    size_t missed; /* intervals of time without `truth` in them */
    double truth;  /* NAN: not known */
    double *ratios, *widths, *peaks;
};

static void tally_add(struct tally *tally, const struct res_figures *figures, size_t rounds)
{
    const struct res_interval interval = figures->time.interval;
    const size_t number = tally->experiments++;
    tally->rounds += rounds;
    tally->time[figures->time.verdict]++;
    tally->peak[figures->peak.verdict]++;
    tally->missed += interval.low > tally->truth || interval.high < tally->truth;
    tally->ratios = res_realloc(tally->ratios, number + 1, sizeof *tally->ratios);
    tally->widths = res_realloc(tally->widths, number + 1, sizeof *tally->widths);
    tally->peaks = res_realloc(tally->peaks, number + 1, sizeof *tally->peaks);
    tally->ratios[number] = figures->time.ratio;
    tally->widths[number] = (interval.high - interval.low) / figures->time.ratio;
    tally->peaks[number] = figures->peak.ratio;
}

static double median_of(const double *samples, size_t count)
{
    return count > 0 ? res_median(samples, count) : NAN;
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Releases the tally. */
static json_t *tally_json(struct tally *tally)
{
    json_t *json = json_object(), *time = json_object(), *peak = json_object();
    for (int verdict = RES_UNDECIDED; verdict <= RES_MORE; verdict++) {
        json_object_set_new(time, RES_TIME_VERDICTS[verdict], json_integer((json_int_t)tally->time[verdict]));
        json_object_set_new(peak, RES_MEMORY_VERDICTS[verdict],
                            json_integer((json_int_t)tally->peak[verdict]));
    }
    json_t *gate = json_object();
    for (int outcome = 0; outcome < RES_OUTCOME_COUNT; outcome++)
        json_object_set_new(gate, res_outcome_name((enum res_outcome)outcome),
                            json_integer((json_int_t)tally->gate[outcome]));
    json_object_set_new(json, "gate", gate);
    json_object_set_new(json, "experiments", json_integer((json_int_t)tally->experiments));
    json_object_set_new(json, "rounds_mean",
                        number((double)tally->rounds / fmax((double)tally->experiments, 1)));
    json_object_set_new(json, "time", time);
    json_object_set_new(json, "peak", peak);
    json_object_set_new(json, "time_ratio_median", number(median_of(tally->ratios, tally->experiments)));
    json_object_set_new(json, "time_width_median", number(median_of(tally->widths, tally->experiments)));
    json_object_set_new(json, "peak_ratio_median", number(median_of(tally->peaks, tally->experiments)));
    json_object_set_new(json, "missed",
                        isnan(tally->truth) ? json_null() : json_integer((json_int_t)tally->missed));
    free(tally->ratios);
    free(tally->widths);
    free(tally->peaks);
    return json;
}

static size_t grown(const struct trial *trial, double width, size_t rounds_most, size_t *ret_rounds);
static void keep_rounds(struct trial *trial, size_t rounds);

/* Of all candidates but the baseline; releases the tallies. */
static json_t *tallies_json(struct tally *tallies, const struct samples *samples)
{
    json_t *list = json_array();
    for (size_t i = 1; i < samples->trial.candidate_count; i++) {
        json_t *json = tally_json(&tallies[i]);
        json_object_set_new(json, "name", json_string(samples->result.workloads[0].candidates[i].name));
        json_array_append_new(list, json);
    }
    return list;
}

/* ---- a long experiment ---------------------------------------------------------------------- */

static void tally_all(const struct trial *trial, double resolve, struct tally *tallies)
{
    struct res_result_workload workload;
    trial_workload(trial, resolve, &workload);
    for (size_t i = 1; i < trial->candidate_count; i++) {
        tallies[i].truth = NAN;
        tally_add(&tallies[i], &workload.candidates[i].figures, trial->rounds);
        tallies[i].gate[trial_outcome(trial, i, GATE_LIMIT, NULL)]++;
    }
    trial_workload_drop(&workload);
}

/* width > 0: as many rounds as that takes, at most `rounds`; else `rounds`. */
static json_t *cut(const char *path, size_t rounds, double width)
{
    struct samples samples;
    samples_load(path, &samples);
    const struct trial *whole = &samples.trial;
    struct tally *tallies = res_calloc(whole->candidate_count, sizeof *tallies);
    for (size_t first = 0, experiments = 0; first < whole->rounds; experiments++) {
        struct trial trial;
        size_t count = rounds;
        samples_cut(&samples, first, whole->rounds - first, whole->memory_rounds, &trial);
        const bool whole_one = width > 0 ? grown(&trial, width, rounds, &count) > 0
                                         : first + count <= whole->rounds;
        free(trial.entries);
        if (!whole_one)
            break;
        samples_cut(&samples, first, count, experiments * MEMORY_ROUNDS, &trial);
        tally_all(&trial, width, tallies);
        free(trial.entries);
        first += count;
    }
    json_t *list = tallies_json(tallies, &samples);
    free(tallies);
    samples_release(&samples);
    return list;
}

/* ---- models --------------------------------------------------------------------------------- */

static void keep_rounds(struct trial *trial, size_t rounds)
{
    trial->rounds = (unsigned)rounds;
    for (size_t i = 0; i < trial->entry_count; i++)
        trial->entries[i].run_count = rounds;
}

/* How many rounds of a trial a width takes: 0 where there are not enough. */
static size_t grown(const struct trial *trial, double width, size_t rounds_most, size_t *ret_rounds)
{
    struct res_options options = {.rounds = (unsigned)rounds_most, .until = width};
    struct trial part = *trial;
    const size_t have = trial->rounds;
    size_t rounds = RES_ROUNDS_FOR_VERDICT;
    part.entries = res_calloc(part.entry_count, sizeof *part.entries);
    memcpy(part.entries, trial->entries, part.entry_count * sizeof *part.entries);
    for (; rounds <= have; rounds++) {
        keep_rounds(&part, rounds);
        struct res_result_workload workload;
        trial_workload(&part, 0, &workload);
        const bool is_over = res_until_ended(&(struct res_trial){.told = &workload}, &options, 0, 0, 0);
        trial_workload_drop(&workload);
        if (is_over)
            break;
    }
    free(part.entries);
    *ret_rounds = rounds;
    return rounds <= have ? rounds : 0;
}

/* One experiment. width 0: of `rounds` rounds; else of as many as that takes, at most `rounds`. */
static void simulate_one(enum model model, double effect, size_t rounds, double width,
                         struct res_random *random, struct tally *tally)
{
    struct trial trial;
    size_t count = rounds;
    model_draw(model, effect, rounds, random, &trial);
    struct trial part = trial;
    part.entries = res_calloc(part.entry_count, sizeof *part.entries);
    memcpy(part.entries, trial.entries, part.entry_count * sizeof *part.entries);
    if (width > 0)
        (void)grown(&trial, width, rounds, &count);
    keep_rounds(&part, count);
    struct res_result_workload workload;
    trial_workload(&part, 0, &workload);
    (void)res_random_next(random); /* each experiment draws its seed, as `mallab ab` does */
    tally->truth = effect;
    tally_add(tally, &workload.candidates[1].figures, count);
    trial_workload_drop(&workload);
    free(part.entries);
    model_release(&trial);
}

struct plan {
    const char *name;
    size_t rounds;
    double width;
};

static const struct plan PLANS[] = {{"8 rounds", 8, 0}, {"20 rounds", 20, 0}, {"until 2%", 80, 0.02}};

static json_t *simulate(size_t experiments)
{
    struct res_random random = res_random_from(1);
    json_t *list = json_array();
    for (int model = 0; model < MODEL_COUNT; model++)
        for (size_t plan = 0; plan < sizeof PLANS / sizeof PLANS[0]; plan++)
            for (int turn = 0; turn < 2; turn++) {
                const double effect = turn == 0 ? 1 : EFFECT;
                struct tally tally = {0};
                for (size_t i = 0; i < experiments; i++)
                    simulate_one((enum model)model, effect, PLANS[plan].rounds, PLANS[plan].width, &random,
                                 &tally);
                json_t *json = tally_json(&tally);
                json_object_set_new(json, "model", json_string(model_name((enum model)model)));
                json_object_set_new(json, "plan", json_string(PLANS[plan].name));
                json_object_set_new(json, "effect", json_real(effect));
                json_array_append_new(list, json);
            }
    return list;
}

/* ---- the test ------------------------------------------------------------------------------- */

/* 24 experiments of each kind. What is asked: at most 5 % false verdicts, at least 95 % found, 5 % of the intervals without the truth. A sound
 * procedure fails by chance in about 1 of 1000 cases each (binomial), and the seed is fixed. */
#define TEST_EXPERIMENTS 24
#define FALSE_MOST       5
#define FOUND_LEAST      19
#define MISSED_MOST      9 /* of the intervals of equals and slower ones */

static bool test_one(enum model model, const struct plan *plan, struct res_random *random)
{
    struct tally equal = {0}, slower = {0};
    for (size_t i = 0; i < TEST_EXPERIMENTS; i++) {
        simulate_one(model, 1, plan->rounds, plan->width, random, &equal);
        simulate_one(model, EFFECT, plan->rounds, plan->width, random, &slower);
    }
    const size_t wrong = equal.time[RES_LESS] + equal.time[RES_MORE];
    const size_t found = slower.time[RES_MORE];
    const bool good = wrong <= FALSE_MOST && slower.time[RES_LESS] <= 2 &&
                      equal.missed + slower.missed <= MISSED_MOST &&
                      (plan->width == 0 || found >= FOUND_LEAST);
    fprintf(stderr,
            "%s, %s: %zu of %d equals called different, %zu of %d slower ones found, "
            "%zu intervals without the truth%s\n",
            model_name(model), plan->name, wrong, TEST_EXPERIMENTS, found, TEST_EXPERIMENTS,
            equal.missed + slower.missed, good ? "" : ": FAILED");
    json_decref(tally_json(&equal));
    json_decref(tally_json(&slower));
    return good;
}

static int test(void)
{
    static const struct plan plans[] = {{"8 rounds", 8, 0}, {"until 2%", 80, 0.02}};
    struct res_random random = res_random_from(2);
    bool good = true;
    for (int model = 0; model < MODEL_COUNT; model++)
        for (size_t plan = 0; plan < sizeof plans / sizeof plans[0]; plan++)
            good = test_one((enum model)model, &plans[plan], &random) && good;
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    json_t *answer = NULL;
    if (argc == 2 && strcmp(argv[1], "test") == 0)
        return test();
    if (argc == 4 && strcmp(argv[1], "cut") == 0 && atoi(argv[3]) > 0)
        answer = cut(argv[2], (size_t)atoi(argv[3]), 0);
    else if (argc == 5 && strcmp(argv[1], "grow") == 0 && atof(argv[3]) > 0 && atoi(argv[4]) > 0)
        answer = cut(argv[2], (size_t)atoi(argv[4]), atof(argv[3]));
    else if (argc == 3 && strcmp(argv[1], "simulate") == 0 && atoi(argv[2]) > 0)
        answer = simulate((size_t)atoi(argv[2]));
    if (answer == NULL) {
        fputs("usage: verdicts cut RESULT.json ROUNDS | grow RESULT.json WIDTH MOST | "
              "simulate EXPERIMENTS | test\n",
              stderr);
        return 2;
    }
    json_dumpf(answer, stdout, JSON_INDENT(1));
    puts("");
    json_decref(answer);
    return 0;
}

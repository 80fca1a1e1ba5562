/* test_results_tune.c - the search for settings, on a formula instead of replays: it finds what is better, says so of nothing
 * else, keeps to its budget, and one seed repeats it. */
#include <math.h>

#include "footprint/base/support.h"
#include "results/measure/statistics/significance.h"
#include "results/measure/tune/tune_search.h"
#include "unit/harness.h"

#define RUN_NS  UINT64_C(100000000)
#define SLOW_NS (4 * RUN_NS)

static const char GLIBC[] = "[allocator]\nname = glibc\nreplay = glibc\nlibrary = libc.so.6\nproof = glibc\n"
                            "[ranges]\narena_max = 1, 2, 4, 8\ntcache_count = 0, 7, 127, 512\n"
                            "trim_threshold = 16384..67108864 times 4\ntop_pad = 0, 131072, 4194304\n";
static const char JEMALLOC[] = "[allocator]\nname = je\nreplay = jemalloc\nlibrary = libjemalloc.so.2\n"
                               "proof = jemalloc\n[ranges]\nnarenas = 1, 2, 4\ntcache = true, false\n";

/* ---- a machine of formulas ------------------------------------------------------------------ */

typedef void truth_fn(const char *name, double ret_logs[2]); /* "" is the default */

struct machine {
    truth_fn *truth;
    double time_noise, memory_noise;     /* standard deviations of a run's logarithm */
    const char *broken;                  /* points whose name holds it fail */
    uint64_t now_ns, run_ns, stop_at_ns; /* 0: never */
    uint64_t slow_until_ns;              /* runs take SLOW_NS before */
    struct res_random random;
    struct res_tune_point *confirmed[RES_TUNE_FINALISTS];
    unsigned confirmed_runs;
};

/* Normal enough: the sum of twelve uniform numbers. One run in twenty is disturbed, as on a shared machine. */
static double noise_of(struct machine *machine, double deviation)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(res_random_next(&machine->random) >> 11) / (double)(UINT64_C(1) << 53);
    if (res_random_below(&machine->random, 20) == 0)
        sum = fabs(sum) * 5;
    return sum * deviation;
}

static void figures_of(struct machine *machine, const char *name, double ret_figures[2])
{
    double logs[2] = {0, 0};
    if (machine->truth != NULL)
        machine->truth(name, logs);
    ret_figures[0] = 20 * exp(logs[0] + noise_of(machine, machine->time_noise));
    ret_figures[1] = 1e8 * exp(logs[1] + noise_of(machine, machine->memory_noise));
}

static enum res_tune_outcome run(void *context, struct res_tune_point *point, enum res_tune_pass pass,
                                 double ret_figures[2], char **ret_reason)
{
    struct machine *machine = context;
    double figures[2];
    machine->run_ns = machine->now_ns < machine->slow_until_ns ? SLOW_NS : RUN_NS;
    machine->now_ns += machine->run_ns;
    if (machine->stop_at_ns != 0 && machine->now_ns >= machine->stop_at_ns)
        return RES_TUNE_STOPPED;
    if (point != NULL && machine->broken != NULL && strstr(point->name, machine->broken) != NULL) {
        *ret_reason = res_strdup("wrong settings");
        return RES_TUNE_RUN_FAILED;
    }
    figures_of(machine, point != NULL ? point->name : "", figures);
    ret_figures[0] = pass == RES_TUNE_TIME ? figures[0] : NAN;
    ret_figures[1] = pass == RES_TUNE_MEMORY ? figures[1] : NAN;
    return RES_TUNE_OK;
}

static enum res_tune_outcome confirm(void *context, struct res_tune_point *const *finalists, size_t count,
                                     const struct res_tune_rounds *rounds,
                                     struct res_tune_confirmation *ret_confirmation, char **ret_reason)
{
    struct machine *machine = context;
    (void)ret_reason; /* this one cannot fail */
    const uint64_t end_ns = machine->now_ns + rounds->time_ns, round_ns = (count + 2) * machine->run_ns;
    res_tune_confirmation_init(ret_confirmation, count, rounds->most);
    ret_confirmation->memory_apart = true;
    for (size_t i = 0; i < count + 2; i++) {
        struct res_tune_entry *entry = &ret_confirmation->entries[i];
        const bool other = i > 0 && i <= count;
        if (other)
            machine->confirmed[i - 1] = finalists[i - 1];
        entry->settings = other ? finalists[i - 1]->choice_count : 0;
    }
    for (unsigned round = 0;
         round < rounds->most && (round < rounds->least || machine->now_ns + round_ns <= end_ns); round++) {
        for (size_t i = 0; i < count + 2; i++) {
            struct res_tune_entry *entry = &ret_confirmation->entries[i];
            double figures[2];
            figures_of(machine, i > 0 && i <= count ? finalists[i - 1]->name : "", figures);
            entry->times[entry->time_count++] = figures[0];
            if (round < rounds->memory)
                entry->memories[entry->memory_count++] = figures[1];
            machine->now_ns += machine->run_ns;
            machine->confirmed_runs++;
        }
    }
    return RES_TUNE_OK;
}

static uint64_t now_ns(void *context)
{
    return ((struct machine *)context)->now_ns;
}

/* ---- a search ------------------------------------------------------------------------------- */

struct lab {
    struct res_registry registry;
    const struct res_candidate *bases[2];
    struct res_tune_space space;
    struct machine machine;
    struct res_tune_search search;
};

static void search_with(struct lab *lab, size_t bases, uint64_t seed, uint64_t budget_ns)
{
    const struct res_tune_evaluator evaluator = {
        .run = run, .confirm = confirm, .now_ns = now_ns, .memory_apart = true, .context = &lab->machine};
    struct res_random random = res_random_from(seed);
    (void)res_registry_parse(&lab->registry, "glibc.ini", GLIBC, strlen(GLIBC)); /* the finds below tell */
    (void)res_registry_parse(&lab->registry, "je.ini", JEMALLOC, strlen(JEMALLOC));
    lab->bases[0] = res_registry_find(&lab->registry, "glibc");
    lab->bases[1] = res_registry_find(&lab->registry, "je");
    lab->machine.random = res_random_from(seed * 7 + 1);
    res_tune_space_init(&lab->space, lab->bases, bases, &random);
    res_tune_run(&lab->space, &evaluator, seed, budget_ns, &lab->search);
}

static void release(struct lab *lab)
{
    res_tune_search_release(&lab->search);
    res_tune_space_release(&lab->space);
    res_registry_release(&lab->registry);
}

/* The place of a finalist by name, from 1; 0: it is none. */
static size_t finalist(const struct lab *lab, const char *name)
{
    for (size_t i = 0; i < lab->search.finalist_count; i++) {
        if (strcmp(lab->search.finalists[i]->name, name) == 0)
            return i + 1;
    }
    return 0;
}

/* ---- finding -------------------------------------------------------------------------------- */

static bool has(const char *name, const char *setting)
{
    return strstr(name, setting) != NULL;
}

/* tcache_count=127 saves 12 % of time, trim_threshold=65536 20 % of memory, the rest does nothing or harm. */
static void two_that_help(const char *name, double ret_logs[2])
{
    ret_logs[0] = has(name, "tcache_count=127") ? log(0.88) : has(name, "tcache_count=0") ? log(1.5) : 0;
    ret_logs[1] = has(name, "trim_threshold=65536") ? log(0.8) : has(name, "top_pad=4194304") ? log(1.1) : 0;
}

TEST(settings_that_help_are_found_together)
{
    unsigned found = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct lab lab = {.machine = {.truth = two_that_help, .time_noise = 0.03, .memory_noise = 0.005}};
        search_with(&lab, 1, seed, 600 * RUN_NS);
        const size_t place = finalist(&lab, "glibc+tcache_count=127+trim_threshold=65536");
        CHECK_U64(lab.search.end, RES_TUNE_CONFIRMED);
        if (place > 0 && lab.search.judgements[place].on_front &&
            lab.search.judgements[place].time.verdict == RES_LESS &&
            lab.search.judgements[place].memory.verdict == RES_LESS && !lab.search.judgements[0].on_front)
            found++;
        release(&lab);
    }
    printf("found in %u of 20 searches\n", found);
    CHECK(found >= 16); /* 18 where it was written */
}

/* Less time for more memory: both ends are on the front, and so is the default. */
static void a_trade(const char *name, double ret_logs[2])
{
    ret_logs[0] = has(name, "arena_max=8") ? log(0.8) : 0;
    ret_logs[1] = has(name, "arena_max=8") ? log(1.3) : has(name, "arena_max=1") ? log(0.7) : 0;
    if (has(name, "arena_max=1"))
        ret_logs[0] = log(1.25);
}

TEST(a_trade_leaves_the_default_on_the_front)
{
    struct lab lab = {.machine = {.truth = a_trade, .time_noise = 0.01, .memory_noise = 0.002}};
    search_with(&lab, 1, 5, 600 * RUN_NS);
    const size_t fast = finalist(&lab, "glibc+arena_max=8"), small = finalist(&lab, "glibc+arena_max=1");
    CHECK(fast > 0 && small > 0);
    CHECK(lab.search.judgements[0].on_front);
    CHECK(lab.search.judgements[fast].on_front && lab.search.judgements[small].on_front);
    CHECK(lab.search.judgements[fast].memory.verdict == RES_MORE);
    release(&lab);
}

/* The other allocator is better as it is; narenas=1 is better still. */
static void another_allocator(const char *name, double ret_logs[2])
{
    ret_logs[0] = strncmp(name, "je", 2) == 0 ? log(0.7) : 0;
    ret_logs[1] = has(name, "narenas=1") ? log(0.8) : 0;
}

TEST(of_several_allocators_the_best_setting_is_found)
{
    struct lab lab = {.machine = {.truth = another_allocator, .time_noise = 0.02, .memory_noise = 0.002}};
    search_with(&lab, 2, 3, 900 * RUN_NS);
    const size_t place = finalist(&lab, "je+narenas=1");
    CHECK(place > 0 && lab.search.judgements[place].on_front);
    CHECK(!lab.search.judgements[0].on_front);
    release(&lab);
}

/* The other allocator is better whatever its settings: on the shortest budget that does, none of them is recommended with it. */
static void another_as_it_is(const char *name, double ret_logs[2])
{
    ret_logs[0] = strncmp(name, "je", 2) == 0 ? log(0.6) : 0;
    ret_logs[1] = 0;
}

TEST(what_does_nothing_is_taken_off_also_without_time)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct lab lab = {.machine = {.truth = another_as_it_is, .time_noise = 0.01, .memory_noise = 0.002}};
        search_with(&lab, 2, seed, 100 * RUN_NS);
        CHECK_U64(lab.search.end, RES_TUNE_CONFIRMED);
        for (size_t i = 0; i < lab.search.finalist_count; i++)
            CHECK(strncmp(lab.search.finalists[i]->name, "je+", 3) != 0);
        CHECK(finalist(&lab, "je") > 0);
        release(&lab);
    }
}

/* A setting without any effect rides along with one that has some: the point with fewer settings is on the front. */
TEST(of_equals_the_one_with_fewer_settings_is_on_the_front)
{
    struct res_tune_confirmation confirmation;
    struct res_tune_judgement judgements[3];
    res_tune_confirmation_init(&confirmation, 2, 12);
    confirmation.memory_apart = true;
    for (size_t entry = 0; entry < 4; entry++) {
        struct res_tune_entry *one = &confirmation.entries[entry];
        const bool other = entry == 1 || entry == 2;
        one->settings = entry == 1 ? 2 : entry == 2 ? 1 : 0;
        for (size_t round = 0; round < 12; round++)
            one->times[one->time_count++] = (other ? 18 : 20) + 0.01 * (double)((round * 7 + entry * 3) % 12);
        for (size_t round = 0; round < 5; round++)
            one->memories[one->memory_count++] = 1e8 + 1e4 * (double)((round * 3 + entry) % 5);
    }
    res_tune_judge(&confirmation, judgements);
    CHECK(judgements[1].time.verdict == RES_LESS && judgements[2].time.verdict == RES_LESS);
    CHECK(judgements[1].memory.verdict == RES_SAME);
    CHECK(!judgements[1].on_front);
    CHECK(judgements[2].on_front);
    CHECK(!judgements[0].on_front);
    res_tune_confirmation_release(&confirmation);
}

/* Ten per cent of a heap of 40 kB is one page: nobody sets a variable for it. */
TEST(some_pages_are_no_saving)
{
    for (int large = 0; large < 2; large++) {
        struct res_tune_confirmation confirmation;
        struct res_tune_judgement judgements[2];
        res_tune_confirmation_init(&confirmation, 1, 12);
        confirmation.memory_apart = true;
        for (size_t entry = 0; entry < 3; entry++) {
            struct res_tune_entry *one = &confirmation.entries[entry];
            one->settings = entry == 1;
            for (size_t round = 0; round < 12; round++)
                one->times[one->time_count++] = 20 + 0.01 * (double)((round * 7 + entry * 3) % 12);
            for (size_t round = 0; round < 5; round++)
                one->memories[one->memory_count++] = (large ? 4e6 : 4e4) * (entry == 1 ? 0.9 : 1) +
                                                     (double)((round * 3 + entry) % 5);
        }
        res_tune_judge(&confirmation, judgements);
        CHECK(judgements[1].memory.verdict == (large ? RES_LESS : RES_SAME));
        CHECK(judgements[1].on_front == (bool)large);
        res_tune_confirmation_release(&confirmation);
    }
}

/* Whole runs that noise has all over the place, and steady times that tell the two apart: the latter decide, as they do against the default. */
TEST(finalists_are_compared_by_steady_times)
{
    for (int told_apart = 0; told_apart < 2; told_apart++) {
        struct res_tune_confirmation confirmation;
        struct res_tune_judgement judgements[3];
        res_tune_confirmation_init(&confirmation, 2, 12);
        confirmation.memory_apart = true;
        for (size_t entry = 0; entry < 4; entry++) {
            struct res_tune_entry *one = &confirmation.entries[entry];
            const bool other = entry == 1 || entry == 2;
            one->settings = other ? 1 : 0;
            one->has_time = true;
            one->time = (struct res_difference){.ratio = other ? 0.8 : 1,
                                                .interval = {other ? 0.78 : 0.98, other ? 0.82 : 1.02},
                                                .p_value = other ? 0.0005 : 0.5,
                                                .verdict = other ? RES_LESS : RES_SAME};
            one->time_to = res_calloc(3, sizeof *one->time_to);
            const double ratio = entry == 2 ? 0.9 : 1 / 0.9;
            one->time_to[other ? 3 - entry : 0] = (struct res_difference){
                .ratio = ratio,
                .interval = {ratio * 0.99, ratio * 1.01},
                .p_value = told_apart ? 0.0005 : 0.4,
            };
            for (size_t round = 0; round < 12; round++)
                one->times[one->time_count++] = 10 + (double)((round * 7 + entry * 5) % 12);
            for (size_t round = 0; round < 5; round++)
                one->memories[one->memory_count++] = 1e8 + 1e4 * (double)((round * 3 + entry) % 5);
        }
        res_tune_judge(&confirmation, judgements);
        CHECK(judgements[2].on_front);
        CHECK(judgements[1].on_front == !told_apart);
        res_tune_confirmation_release(&confirmation);
    }
}

/* ---- not finding ---------------------------------------------------------------------------- */

/* Pure noise, and 200 searches in it: "better" by time or memory is a false claim, and at most one in twenty makes one. */
TEST(noise_alone_is_called_better_in_at_most_one_search_of_twenty)
{
    unsigned claims = 0, by_samples_of_the_search = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct lab lab = {.machine = {.time_noise = 0.06, .memory_noise = 0.02}};
        search_with(&lab, 1, seed, 500 * RUN_NS);
        CHECK_U64(lab.search.end, RES_TUNE_CONFIRMED);
        bool claimed = !lab.search.judgements[0].on_front;
        for (size_t i = 1; i <= lab.search.finalist_count; i++)
            claimed = claimed || lab.search.judgements[i].on_front;
        claims += claimed;
        by_samples_of_the_search += res_tune_time_of(lab.search.finalists[0]) < -0.02;
        release(&lab);
    }
    printf(
        "false claims in %u of 200 searches; the samples of the search showed the winner 2 %% better in %u\n",
        claims, by_samples_of_the_search);
    CHECK(claims <= 10);
    CHECK(by_samples_of_the_search > 50); /* else there was nothing to guard against */
}

static void all_harm(const char *name, double ret_logs[2])
{
    ret_logs[0] = *name != '\0' ? log(1.4) : 0;
    ret_logs[1] = *name != '\0' ? log(1.2) : 0;
}

TEST(where_all_settings_harm_one_is_confirmed_as_harmful)
{
    struct lab lab = {.machine = {.truth = all_harm, .time_noise = 0.01, .memory_noise = 0.01}};
    search_with(&lab, 1, 9, 500 * RUN_NS);
    CHECK_U64(lab.search.end, RES_TUNE_CONFIRMED);
    CHECK_U64(lab.search.finalist_count, 1);
    CHECK(lab.search.judgements[0].on_front && !lab.search.judgements[1].on_front);
    CHECK(lab.search.judgements[1].time.verdict == RES_MORE);
    release(&lab);
}

TEST(what_fails_is_dropped_with_its_reason)
{
    struct lab lab = {.machine = {.truth = two_that_help, .time_noise = 0.01, .broken = "tcache_count"}};
    search_with(&lab, 1, 2, 600 * RUN_NS);
    CHECK_U64(res_tune_count(&lab.space, RES_TUNE_FAILED), 4);
    for (size_t i = 0; i < lab.space.point_count; i++) {
        const struct res_tune_point *point = lab.space.points[i];
        CHECK((point->state == RES_TUNE_FAILED) == has(point->name, "tcache_count"));
        CHECK((point->state == RES_TUNE_FAILED) == (point->why != NULL));
        CHECK(point->choice_count < 2 || !has(point->name, "tcache_count"));
    }
    const size_t place = finalist(&lab, "glibc+trim_threshold=65536");
    CHECK(place > 0 && lab.search.judgements[place].on_front);
    release(&lab);
}

TEST(all_failing_is_an_end_with_a_reason)
{
    struct lab lab = {.machine = {.time_noise = 0.01, .broken = "glibc"}};
    search_with(&lab, 1, 2, 600 * RUN_NS);
    CHECK_U64(lab.search.end, RES_TUNE_END_FAILED);
    CHECK_STR(lab.search.problem, "no setting could be tried: wrong settings");
    CHECK(lab.search.judgements == NULL);
    release(&lab);
}

/* ---- time ----------------------------------------------------------------------------------- */

TEST(the_budget_is_kept)
{
    static const uint64_t RUNS[] = {120, 150, 300, 1000, 5000};
    size_t tried_before = 0;
    for (size_t i = 0; i < sizeof RUNS / sizeof RUNS[0]; i++) {
        struct lab lab = {.machine = {.truth = two_that_help, .time_noise = 0.02, .memory_noise = 0.01}};
        search_with(&lab, 2, 4, RUNS[i] * RUN_NS);
        const size_t tried = lab.space.point_count - res_tune_count(&lab.space, RES_TUNE_UNTRIED);
        CHECK_U64(lab.search.end, RES_TUNE_CONFIRMED);
        CHECK(lab.machine.now_ns <= RUNS[i] * RUN_NS);
        CHECK(tried >= tried_before);
        const size_t rounds = lab.search.confirmation.entries[0].time_count;
        CHECK(rounds >= RES_TUNE_ROUNDS_LEAST && rounds <= RES_TUNE_ROUNDS_MOST);
        tried_before = tried;
        release(&lab);
    }
}

/* At first runs take four times as long, and the confirmation of one point seems to take most of the budget. */
TEST(what_a_slow_start_reserved_is_used)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct lab lab = {.machine = {.truth = two_that_help, .time_noise = 0.02, .memory_noise = 0.01}};
        lab.machine.slow_until_ns = 40 * RUN_NS;
        search_with(&lab, 2, seed, 345 * RUN_NS);
        CHECK_U64(lab.search.end, RES_TUNE_CONFIRMED);
        CHECK_U64(res_tune_count(&lab.space, RES_TUNE_UNTRIED), 0);
        CHECK_U64(lab.search.confirmation.entries[0].time_count, RES_TUNE_ROUNDS_MOST);
        CHECK(lab.machine.now_ns <= 345 * RUN_NS);
        release(&lab);
    }
}

TEST(a_budget_that_is_too_short_says_what_would_do)
{
    struct lab lab = {.machine = {.time_noise = 0.02, .memory_noise = 0.01}};
    search_with(&lab, 1, 4, 20 * RUN_NS);
    CHECK_U64(lab.search.end, RES_TUNE_END_TOO_SHORT);
    CHECK(lab.search.problem != NULL);
    const char *named = lab.search.problem != NULL ? strstr(lab.search.problem, "--budget ") : NULL;
    CHECK(named != NULL);
    const uint64_t seconds = named != NULL ? strtoull(named + 9, NULL, 10) : 0;
    release(&lab);
    struct lab again = {.machine = {.time_noise = 0.02, .memory_noise = 0.01}};
    search_with(&again, 1, 4, seconds * 10 * RUN_NS);
    CHECK_U64(again.search.end, RES_TUNE_CONFIRMED);
    release(&again);
}

TEST(a_stop_leaves_what_was_found_unconfirmed)
{
    struct lab lab = {.machine = {.truth = two_that_help, .time_noise = 0.01, .memory_noise = 0.005}};
    lab.machine.stop_at_ns = 60 * RUN_NS;
    search_with(&lab, 1, 4, 600 * RUN_NS);
    CHECK_U64(lab.search.end, RES_TUNE_END_STOPPED);
    CHECK(lab.search.judgements == NULL);
    CHECK(lab.search.finalist_count > 0);
    CHECK_U64(lab.machine.confirmed_runs, 0);
    release(&lab);
}

TEST(one_seed_repeats_the_search)
{
    struct lab labs[2] = {{.machine = {.time_noise = 0.05, .memory_noise = 0.01}},
                          {.machine = {.time_noise = 0.05, .memory_noise = 0.01}}};
    for (int i = 0; i < 2; i++)
        search_with(&labs[i], 2, 77, 500 * RUN_NS);
    CHECK_U64(labs[0].space.point_count, labs[1].space.point_count);
    CHECK_U64(labs[0].search.finalist_count, labs[1].search.finalist_count);
    for (size_t i = 0; i < labs[0].space.point_count && i < labs[1].space.point_count; i++) {
        CHECK_STR(labs[0].space.points[i]->name, labs[1].space.points[i]->name);
        CHECK_U64(labs[0].space.points[i]->state, labs[1].space.points[i]->state);
    }
    release(&labs[0]);
    release(&labs[1]);
}

/* ---- the parts ------------------------------------------------------------------------------ */

static bool near(double value, double expected)
{
    return fabs(value - expected) < 1e-4;
}

TEST(probabilities_are_those_of_the_tables)
{
    const double down[] = {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.35, 0.3};
    const double even[] = {0.5, 2, 0.25, 4};
    const double one_up[] = {1.001, 0.9, 0.8, 0.7, 0.6, 0.5};
    const double same[] = {1, 1, 1}, less[] = {0.9, 0.9, 0.9};
    CHECK(near(res_signed_rank_p(down, 8), 2 / 256.0)); /* one of 256 signs, both sides */
    CHECK(near(res_signed_rank_p(one_up, 6), 4 / 64.0));
    CHECK(near(res_signed_rank_p(even, 4), 1));
    CHECK(near(res_signed_rank_p(same, 3), 1));
    CHECK(near(res_student_p(same, 3), 1));
    CHECK(near(res_student_p(less, 3), 0));
    /* t = 4.303 with 2 degrees, 2.776 with 4, 12.706 with 1: the 5 % points. Ratios with mean t and error 1. */
    const double two[] = {exp(4.3027 - sqrt(3)), exp(4.3027), exp(4.3027 + sqrt(3))};
    CHECK(near(res_student_p(two, 3), 0.05));
    const double one[] = {exp(12.7062 - 1), exp(12.7062 + 1)};
    CHECK(near(res_student_p(one, 2), 0.05));
    const double spread = sqrt(5.0);
    const double four[] = {exp(2.7764 - spread * sqrt(2)), exp(2.7764), exp(2.7764 + spread * sqrt(2)),
                           exp(2.7764), exp(2.7764)};
    CHECK(near(res_student_p(four, 5), 0.05));
}

TEST(points_are_named_as_on_the_command_line_and_exist_once)
{
    struct lab lab = {0};
    struct res_random random = res_random_from(1);
    const struct res_tune_choice there[] = {{0, 1}, {2, 0}}, back[] = {{2, 0}, {0, 1}};
    (void)res_registry_parse(&lab.registry, "glibc.ini", GLIBC, strlen(GLIBC));
    lab.bases[0] = res_registry_find(&lab.registry, "glibc");
    res_tune_space_init(&lab.space, lab.bases, 1, &random);
    CHECK_U64(lab.space.declared, 4 + 4 + 7 + 3);
    CHECK_U64(lab.space.point_count, lab.space.declared);
    const struct res_tune_point *point = res_tune_space_add(&lab.space, 0, there, 2);
    CHECK(point != NULL);
    CHECK_STR(point != NULL ? point->name : NULL, "glibc+arena_max=2+trim_threshold=16384");
    CHECK(res_tune_space_add(&lab.space, 0, back, 2) == NULL);
    release(&lab);
}

RUN_TESTS(T(settings_that_help_are_found_together), T(a_trade_leaves_the_default_on_the_front),
          T(of_several_allocators_the_best_setting_is_found),
          T(what_does_nothing_is_taken_off_also_without_time),
          T(of_equals_the_one_with_fewer_settings_is_on_the_front), T(finalists_are_compared_by_steady_times),
          T(some_pages_are_no_saving), T(noise_alone_is_called_better_in_at_most_one_search_of_twenty),
          T(where_all_settings_harm_one_is_confirmed_as_harmful), T(what_fails_is_dropped_with_its_reason),
          T(all_failing_is_an_end_with_a_reason), T(the_budget_is_kept),
          T(what_a_slow_start_reserved_is_used), T(a_budget_that_is_too_short_says_what_would_do),
          T(a_stop_leaves_what_was_found_unconfirmed), T(one_seed_repeats_the_search),
          T(probabilities_are_those_of_the_tables), T(points_are_named_as_on_the_command_line_and_exist_once))

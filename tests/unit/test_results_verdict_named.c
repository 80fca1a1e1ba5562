/* The verdict of programs at rest, confirmed, of few calls: what is told, and who is named. */
#include "unit/verdict_program.h"

/* ---- a program that ends, and one that goes on ------------------------------------------------ */

/* Whether there is advice for rest to a program that ended so, after a pause of so many of its ten seconds, with so much live of 50 MB then, and at the end. */
static double ran_ns; /* of 1 s of CPU time; 0: not known */

static bool is_told_of_rest(const char *ended, int pause_s, double live_bytes, double live_end_bytes)
{
    json_t *process = json_loads(PROCESS, 0, NULL), *times = json_array(), *live = json_array();
    if (ran_ns > 0)
        json_object_set_new(process, "ran_ns", json_real(ran_ns));
    json_object_set_new(process, "ended", ended != NULL ? json_string(ended) : json_null());
    for (json_int_t second = 0; second <= 10; second++)
        if (second == 0 || second > pause_s)
            for (json_int_t part = 0; part < 4; part++) {
                json_array_append_new(times, json_integer(second * 1000000000 + part * 250000000));
                json_array_append_new(live, json_real(live_bytes));
            }
    json_t *workload = program_of(&SMALL, 1,
                                  json_pack("{s:I, s:i, s:o, s:{s:o, s:o}}", "duration_ns",
                                            (json_int_t)10750000000, "live_peak_bytes", 50000000, "process",
                                            process, "samples", "time_ns", times, "live_bytes", live));
    json_object_set_new(json_at(workload, "candidates.0.runs.0"), "live_end_bytes",
                        json_real(live_end_bytes));
    const struct res_result_workload *known = typed_workload(workload, "glibc");
    const bool told = strstr(verdict_words(known), " at rest") != NULL;
    CHECK(told == (known->verdict->rest.candidate != NULL));
    struct res_grid grid;
    struct res_text text = {0};
    const struct res_result result = {.baseline = (char *)(uintptr_t) "glibc"};
    res_verdict_grid(&grid, &result, known);
    res_grid_text(&grid, &(struct res_style){0}, &text);
    res_grid_release(&grid);
    CHECK(told == (strstr(text.text, " rest") != NULL));
    free(text.text);
    return told;
}

TEST(a_program_that_just_ends_is_never_at_rest)
{
    CHECK(!is_told_of_rest("exit 0", 0, 4e7, 4e7) && !is_told_of_rest("exit 1", 0, 4e7, 4e7));
    CHECK(is_told_of_rest("exit 0", 5, 4e7, 4e7));
    CHECK(is_told_of_rest("signal 15", 0, 4e7, 4e7) && is_told_of_rest("running", 0, 4e7, 0));
    CHECK(is_told_of_rest(NULL, 5, 4e7, 4e7) && !is_told_of_rest(NULL, 0, 4e7, 4e7));
}

/* What is left is what it held in its pause, not what it freed to exit. */
TEST(who_frees_all_to_exit_was_not_recorded_at_rest)
{
    CHECK(!is_told_of_rest("exit 0", 5, 4e7, 0));
    CHECK(!is_told_of_rest("exit 0", 5, 1e6, 0)); /* it computed all the time, as ffmpeg does */
    ran_ns = 10e9;
    CHECK(is_told_of_rest("exit 0", 5, 1e6, 0));
    ran_ns = 0;
}

/* ---- runs of the program itself --------------------------------------------------------------- */

/* A result of fast and small with a confirmation: four runs of the baseline of 400 to 1,000 ms, and of small a peak with this verdict. */
static const struct res_result_workload *confirmed_as(struct figures second, const char *time_verdict,
                                                      const char *peak_verdict)
{
    const struct figures both[] = {FAST, second};
    json_auto_t *result = json_of(
        "{'baseline': 'glibc', 'confirmation': {'runs': 8, 'timed_by': 'wait4'}, 'confirmed': ["
        "{'candidate': 'small', 'control': false, 'runs': 4, 'verdict': {'time': '%s', 'peak': '%s'}}, "
        "{'candidate': 'glibc', 'control': true, 'runs': 4, 'time': {'baseline_ns': 5e8, "
        "'baseline_samples_ns': [4e8, 5e8, 5e8, 1e9]}, 'verdict': {'time': 'undecided', 'peak': "
        "'undecided'}}]}",
        time_verdict, peak_verdict);
    json_object_set_new(result, "workloads",
                        json_pack("[o]", program_of(both, 2, json_of("{'process': %s}", PROCESS))));
    return typed(result)->workloads;
}

static const struct res_result_workload *confirmed_with(const char *peak_verdict)
{
    return confirmed_as(SMALL, "undecided", peak_verdict);
}

TEST(what_was_not_tried_is_not_advised_in_place_of_what_the_program_contradicts)
{
    const struct figures faster = {"small", 0.5, 0.02, 0.7, 0.002, 1e7, 0.05, 1, 0.2};
    const struct res_result_workload *known = confirmed_as(faster, "slower", "undecided");
    CHECK(known->verdict->time.kind == RES_ANSWER_REFUTED &&
          known->verdict->peak.kind == RES_ANSWER_NONE_SHOWN);
    known = confirmed_as(SMALL, "slower", "undecided"); /* as the replay said */
    CHECK_STR(known->verdict->time.candidate, "fast");
}

TEST(shares_of_time_are_of_what_the_program_took_in_its_runs)
{
    const struct res_result_workload *known = confirmed_with("undecided");
    CHECK(fabs(known->share_time - 0.2) < 1e-9);
    CHECK(fabs(known->share_time_low - 0.1) < 1e-9 && fabs(known->share_time_high - 0.25) < 1e-9);
    CHECK(strstr(verdict_words(known), "time: fast saves 40 ms of CPU, 4-10 %, for 20.0 MB more") != NULL);
}

/* Calls of fast take 60 % of 100 ms, of 400 to 1,000 ms: 4 to 10 % less. Of a program that gains other than that both are told. */
TEST(what_the_program_gains_stands_beside_what_its_calls_do)
{
    static const struct {
        double ratio;
        const char *words;
    } CASES[] = {
        {0.64,
         "fast takes 36 % less time (35-37), calls alone 8.0 % less; the rest is the program's own code, "
         "e.g. "
         "where objects lie"},
        {0.92, "fast takes 8.0 % less time (7-9)"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        json_auto_t *result = json_of(
            "{'baseline': 'glibc', 'confirmation': {'runs': 8, 'timed_by': 'wait4'}, 'confirmed': ["
            "{'candidate': 'fast', 'control': false, 'runs': 8, 'time': {'ratio': %g, 'ratio_low': %g, "
            "'ratio_high': %g}, 'verdict': {'time': 'faster', 'peak': 'undecided'}}, "
            "{'candidate': 'glibc', 'control': true, 'runs': 8, 'time': {'baseline_ns': 5e8, "
            "'baseline_samples_ns': [4e8, 5e8, 5e8, 1e9]}, 'verdict': {'time': 'undecided', 'peak': "
            "'undecided'}}]}",
            CASES[i].ratio, CASES[i].ratio - 0.01, CASES[i].ratio + 0.01);
        json_object_set_new(result, "workloads",
                            json_pack("[o]", program_of(&FAST, 1, json_of("{'process': %s}", PROCESS))));
        CHECK_STR(typed_note(typed(result)->workloads, "confirmed"), CASES[i].words);
    }
}

/* No more were asked for, Ctrl-C came, or the time was over. */
TEST(too_few_pairs_are_told_as_what_they_are)
{
    static const char *const CASES[][2] = {
        {"'pairs_asked': 3", "no verdict, 3 pairs ran, 8 are needed"},
        {"'pairs_asked': 0, 'stopped': true, 'budget_ns': 6e10", "no verdict, 3 pairs ran, 8 are needed"},
        {"'pairs_asked': 0, 'budget_ns': 6e10", "no verdict, 3 pairs ran in time, 8 are needed"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        char words[256];
        json_auto_t *result = json_of(
            "{'baseline': 'glibc', 'confirmation': {'runs': 8, 'timed_by': 'wait4', %s}, 'confirmed': ["
            "{'candidate': 'fast', 'control': false, 'runs': 3, 'time': {'samples_ns': [1, 1, 1], "
            "'baseline_samples_ns': [1, 1, 1]}, 'peak': {'samples_bytes': [1, 1, 1, 1], "
            "'baseline_samples_bytes': [1, 1, 1, 1]}, 'verdict': {'time': 'undecided', 'peak': "
            "'undecided'}}, "
            "{'candidate': 'glibc', 'control': true, 'runs': 3, 'verdict': {'time': 'undecided', 'peak': "
            "'undecided'}}]}",
            CASES[i][0]);
        const struct res_result *known = typed(result);
        snprintf(words, sizeof words, "time: %s", CASES[i][1]);
        CHECK_STR(known->notes[0].text, words);
        snprintf(words, sizeof words, "memory: %s", CASES[i][1]);
        CHECK_STR(known->notes[1].text, words);
        CHECK(strstr(known->notes[2].text, "in time") == NULL || i == 2);
    }
}

TEST(what_the_program_contradicts_is_not_advised_for_rest_either)
{
    CHECK(strstr(verdict_words(confirmed_with("undecided")), "at rest") != NULL);
    const struct res_result_workload *known = confirmed_with("more");
    CHECK(known->verdict->rest.kind == RES_ANSWER_REFUTED &&
          strstr(verdict_words(known), " at rest") == NULL);
    CHECK(strstr(verdict_words(known), "small saves in malloc, but the program itself needs more\n") != NULL);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* One total of the program on the screen: that of the note which says why. */
TEST(a_heap_that_cannot_be_is_no_share)
{
    const char *process = "{\"cpu_user_ns\": 9e9, \"cpu_system_ns\": 0, \"rss_peak_bytes\": 9e7, "
                          "\"rss_anon_peak_bytes\": 5e7}";
    const struct res_result_workload *known = program_with(&SMALL, 1, "known", process);
    const struct res_result result = {.confirmed_count = 0};
    OWNED_TEXT *share = res_verdict_share(&result, known);
    CHECK(strstr(share, "and 100.0 MB (not trustworthy)") != NULL && strstr(share, " of 90") == NULL);
}

/* As of a process that was attached to while it ran. */
TEST(a_part_of_a_run_has_no_share)
{
    struct res_process process = {0};
    const struct res_result_workload part = {.process = &process,
                                             .lost_known = true,
                                             .lost_calls = 500,
                                             .ops = 1000,
                                             .share_time = NAN,
                                             .share_memory = NAN};
    const struct res_result result = {.confirmed_count = 0};
    OWNED_TEXT *share = res_verdict_share(&result, &part);
    CHECK(strncmp(share, "malloc's share is unknown: only a part", 38) == 0);
}

TEST(calls_that_are_not_timed_are_not_counted)
{
    OWNED_TEXT *head = res_verdict_head(
        typed_workload(program_of(NULL, 0, json_of("{'ops': 1000, 'inherited_ops': 400}")), "glibc"));
    CHECK(strncmp(head, "600 calls, ", 11) == 0);
}

/* 150 kB: 30 % of a heap, and nothing to anybody. */
TEST(little_memory_does_not_matter)
{
    const struct res_result_workload *known = program_with(&SMALL, 1, "known", PROCESS);
    CHECK(res_is_little_memory(known, 150e3) && !res_is_little_memory(known, 300e3));
    const char *small = "{\"cpu_user_ns\": 9e8, \"cpu_system_ns\": 0, \"rss_peak_bytes\": 5e6}";
    CHECK(!res_is_little_memory(program_with(&SMALL, 1, "known", small), -150e3));
    CHECK(res_is_little_memory(program_with(&SMALL, 1, "known", NULL), -150e3));
}

static const char *hint_of(json_t *workload, double cpu_ns, const char *cut)
{
    json_auto_t *all = json_pack("{s:s, s:[O]}", "baseline", "glibc", "workloads", workload);
    json_object_set_new(json_object_get(workload, "process"), "cpu_user_ns", json_real(cpu_ns));
    struct res_result *result = typed(all);
    result->asked = (struct res_asked){.command = "sort big", .cut = cut, .run_ns = cut != NULL ? 6e8 : 0};
    res_notes_fill(result);
    return typed_note(result->workloads, "confirm");
}

/* Who asked for it in vain is told why, and not to ask for it. */
TEST(what_was_asked_for_is_not_proposed)
{
    json_auto_t *all = json_pack("{s:s, s:[o]}", "baseline", "glibc", "workloads",
                                 program_of(&FAST, 1, json_of("{'process': %s}", PROCESS)));
    struct res_result *result = typed(all);
    CHECK(strstr(verdict_words(result->workloads), "try --confirm") != NULL);
    result->asked = (struct res_asked){.command = "sort big", .not_confirmed = "Ctrl-C ended its recording"};
    res_notes_fill(result);
    CHECK(strstr(verdict_words(result->workloads), "try --confirm") == NULL);
    CHECK_STR(typed_note(result->workloads, "confirmed"), "no: Ctrl-C ended its recording");
    OWNED_TEXT *text = res_table_text(result, &(struct res_style){0});
    CHECK(strstr(text, "--confirm") == NULL);
    result->asked = (struct res_asked){0};
}

/* A command that computes when it is stopped is no service. What one of many processes took is no run's time. */
TEST(what_a_confirmation_takes_is_told_where_it_is_known)
{
    json_auto_t *workload = program_of(
        &FAST, 1,
        json_of("{'memory_rounds': 0, 'duration_ns': 600000000, 'process': {'cpu_system_ns': 0, "
                "'rss_peak_bytes': 2e8, 'ran_ns': 6e8, 'ended': 'signal 2'}}"));
    CHECK_STR(hint_of(workload, 5e8, "until Ctrl-C, 600 ms"), "runs it to its end each time");
    CHECK_STR(hint_of(workload, 2e8, "until Ctrl-C, 600 ms"), "runs the service itself");
    json_object_set_new(json_object_get(workload, "process"), "ended", json_string("exit 0"));
    CHECK(strstr(hint_of(workload, 5e8, NULL), " runs of it, ") != NULL);
    json_object_set_new(workload, "processes", json_integer(5));
    CHECK_STR(hint_of(workload, 5e8, NULL), "runs it in pairs");
}

/* ---- who is named ---------------------------------------------------------------------------- */

/* "": none. */
static const char *leader_of(const struct figures *figures, size_t count, const char *live)
{
    const struct res_answer *time = &program_with(figures, count, live, NULL)->verdict->time;
    return time->candidate != NULL ? time->candidate : "";
}

#define LEADER(figures) leader_of(figures, sizeof(figures) / sizeof(figures)[0], "known")

TEST(of_equals_in_time_clearly_less_memory_leads)
{
    /* As a user had it: an allocator that frees nothing is 2 % faster, within noise of 25 %, and takes a third more; all take more than the
     * baseline. The least takes 1.5 % less than the next, and looks 20 % slower than that. */
    const struct figures seen[] = {{"two", 0.323, 0.25, 1.068, 0.002, 1e7, 0.3, 1, 1},
                                   {"one", 0.399, 0.25, 1.052, 0.002, 1e7, 0.3, -1, 1},
                                   {"bump", 0.316, 0.25, 1.457, 0.001, 1e7, 0.3, -1, 1}};
    CHECK_STR(LEADER(seen), "two");
    /* Where memory is not known it cannot tell. */
    CHECK_STR(leader_of(seen, 3, "from_middle"), "bump");
}

TEST(who_is_told_apart_by_time_does_not_give_it_for_memory)
{
    const struct figures apart[] = {{"small", 0.6, 0.05, 0.7, 0.002, 1e7, 0.05, 1, 1},
                                    {"fast", 0.5, 0.05, 1.2, 0.002, 1e7, 0.05, 1, 1}};
    CHECK_STR(LEADER(apart), "fast");
}

TEST(memory_within_five_per_cent_leads_nobody)
{
    const struct figures little[] = {{"small", 0.55, 0.2, 0.97, 0.002, 1e7, 0.3, 1, 1},
                                     {"fast", 0.5, 0.2, 1, 0.002, 1e7, 0.3, -1, 1}};
    CHECK_STR(LEADER(little), "fast");
}

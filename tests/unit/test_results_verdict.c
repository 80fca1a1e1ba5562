/* test_results_verdict.c - what figures mean for the program: shares and savings of the whole process, who is named, what is not
 * trusted. */
#include "unit/verdict_program.h"

TEST(figures_stand_beside_the_whole_process)
{
    const struct figures both[] = {FAST, SMALL};
    const struct res_result_workload *known = program_with(both, 2, "known", PROCESS);
    const struct res_program_verdict *verdict = known->verdict;
    CHECK(fabs(known->share_time - 0.1) < 1e-9 && fabs(known->share_memory - 0.5) < 1e-9);
    CHECK_STR(verdict->time.candidate, "fast");
    CHECK(fabs(verdict->time.saved - 40e6) < 1 && fabs(verdict->time.of_process - 0.04) < 1e-9);
    CHECK_STR(verdict->peak.candidate, "small");
    CHECK(fabs(verdict->peak.saved - 30e6) < 1 && fabs(verdict->peak.of_process - 0.15) < 1e-9);
    CHECK(fabs(verdict->rest.saved - 80e6) < 1 && fabs(verdict->rest.of_process - 0.4) < 1e-9);
    CHECK_STR(verdict_words(known), "time: fast may save about 4 % of the program: try --confirm\n"
                                    "memory: small saves 30.0 MB at the peak, 80.0 MB at rest\n");
    CHECK(fabs(known->good_for - 0.04) <
          1e-9); /* the width of the control's interval: both others are shown */
}

/* 40 ms of 810 and of 790. */
TEST(a_saving_that_the_programs_own_code_may_eat_is_not_promised)
{
    const char *const processes[] = {"{\"cpu_user_ns\": 800000000, \"cpu_system_ns\": 10000000}",
                                     "{\"cpu_user_ns\": 780000000, \"cpu_system_ns\": 10000000}"};
    for (int i = 0; i < 2; i++) {
        const struct res_result_workload *known = program_with(&FAST, 1, "known", processes[i]);
        CHECK(known->verdict->time.kind == (i == 0 ? RES_ANSWER_UNDECIDED : RES_ANSWER_TAKE));
        CHECK((strstr(verdict_words(known), "saves 40 ms") != NULL) == (i == 1));
    }
}

/* ---- what starts take ------------------------------------------------------------------------ */

static const struct res_result_workload *started(double more_ns, int processes, double events_share,
                                                 const char *live)
{
    json_t *workload = program_of(&FAST, 1,
                                  json_of("{'processes': %d, 'events_share': %g, 'live': '%s', "
                                          "'memory_rounds': 0, 'process': %s}",
                                          processes, events_share, live, PROCESS));
    json_more(json_at(workload, "candidates.1"),
              json_of("{'start': {'cpu_ns': %.17g, 'more_cpu_ns': %.17g}}", 1e6 + more_ns, more_ns));
    return typed_workload(workload, "glibc");
}

TEST(what_starts_take_is_taken_off_the_savings)
{
    CHECK(fabs(started(4e6, 1, 1, "known")->verdict->time.saved - 36e6) < 1);
    CHECK(fabs(started(1e6, 21, 0.99, "known")->verdict->time.saved - (40 - 21 * 0.99) * 1e6) < 1);
    /* Of a make of 500 compilers one was replayed: it pays its own start. */
    CHECK(fabs(started(4e6, 500, 0.002, "known")->verdict->time.saved - 36e6) < 1);
    /* It began before it was recorded. */
    CHECK(fabs(started(4e6, 1, 1, "from_middle")->verdict->time.saved - 40e6) < 1);
    const struct res_result_workload *known = started(45e6, 1, 1, "known");
    CHECK_U64(known->verdict->time.kind, RES_ANSWER_STARTS_COST);
    CHECK(fabs(known->verdict->time.saved + 5e6) < 1);
    CHECK(strstr(verdict_words(known), "time: stay with glibc, fast takes 5 ms more with its start\n") !=
          NULL);
    CHECK(typed_note(known, "try it") == NULL);
    CHECK(strstr(verdict_words(started(39.9e6, 1, 1, "known")), "could be gained, their starts counted\n") !=
          NULL); /* within noise */
    CHECK_U64(started(38e6, 1, 1, "known")->verdict->time.kind, RES_ANSWER_NOT_WORTH);
}

/* A share is the recording's: it ran on glibc, which takes 60 % of what the baseline of this comparison takes. */
TEST(shares_are_of_the_allocator_that_was_recorded)
{
    static const struct figures slow = {"slow", 1 / 0.6, 0.02, 1.5, 0.002, 1e7, 0.05, 1, 1};
    for (int named = 0; named < 3; named++) {
        json_t *workload = program_of(&BASE, 1, json_of("{'process': %s}", PROCESS));
        json_t *base = json_more(entry_of(&slow), json_of("{'name': 'other'}"));
        json_array_set_new(json_at(workload, "candidates"), 0, base);
        json_array_set_new(json_at(workload, "candidates"), 1, entry_of(&BASE));
        json_object_set(workload, "control", base);
        if (named > 0)
            json_more(workload, json_of("{'runs_on': {'name': '%s'}}", named == 1 ? "glibc" : "scudo"));
        const struct res_result_workload *known = typed_workload(workload, "other");
        const struct res_result result = {.baseline = NULL};
        const double calls = named == 1 ? 100e6 : 100e6 / 0.6, heap = named == 1 ? 1e8 : 1.5e8;
        CHECK(named == 2 ? isnan(known->share_time) : fabs(known->share_time - calls / 1e9) < 1e-6);
        CHECK(named == 2 ? isnan(known->share_memory) : fabs(known->share_memory - heap / 2e8) < 1e-6);
        OWNED_TEXT *share = res_verdict_share(&result, known);
        CHECK((strstr(share, "unknown: scudo, which it ran on, was not replayed") != NULL) == (named == 2));
    }
}

/* Each died by a limit: another baseline would not help, and the one it ran on was replayed. */
TEST(where_all_died_no_other_baseline_is_offered)
{
    static const char *const SAID[][2] = {
        {"no candidate survives the limit of 10.0 MB: raise --limit\n",
         "glibc, which it ran on, died in its replay"},
        {"there is none: every candidate failed\n", "glibc, which it ran on, failed in its replay"},
    };
    for (int i = 0; i < 2; i++) {
        json_t *workload = program_of(&FAST, 1,
                                      json_of("{'process': %s, 'runs_on': {'name': 'glibc'}}", PROCESS));
        for (size_t k = 0; k < 2; k++)
            json_more(json_array_get(json_at(workload, "candidates"), k),
                      json_of("{'failed': 'it ended', 'failure': {'cause': '%s'}}", i == 0 ? "oom" : "exit"));
        json_auto_t *all = json_pack("{s:s, s:[o]}", "baseline", "glibc", "workloads", workload);
        if (i == 0)
            json_more(all, json_of("{'limit_bytes': 10000000, 'limit_by': 'cgroup'}"));
        const struct res_result *result = typed(all);
        CHECK_STR(verdict_words(result->workloads), SAID[i][0]);
        OWNED_TEXT *share = res_verdict_share(result, result->workloads);
        CHECK(strstr(share, SAID[i][1]) != NULL);
    }
}

/* The program holds them as well, and no table of the heap has them: they are in what a faster one costs. */
TEST(what_libraries_hold_of_files_is_no_saving)
{
    file_bytes = 2e6;
    const struct res_program_verdict *verdict = program_with(&SMALL, 1, "known", PROCESS)->verdict;
    CHECK(fabs(verdict->peak.saved - 28e6) < 1 && fabs(verdict->peak.of_process - 0.14) < 1e-9);
    CHECK(fabs(verdict->rest.saved - 78e6) < 1);
    CHECK(fabs(program_with(&FAST, 1, "known", PROCESS)->verdict->time.price - 22e6) < 1);
    file_bytes = 31e6;
    CHECK(program_with(&SMALL, 1, "known", PROCESS)->verdict->peak.candidate == NULL);
    file_bytes = 0;
}

/* Of a million calls. Windows that are removed leave no share, and the others whole. */
TEST(calls_that_lack_are_no_share_of_the_program_and_no_ground)
{
    static const struct {
        const char *cause;
        int calls, kind;
        const char *words;
    } CASES[] = {
        {"lost_calls", 9000, RES_ANSWER_UNDECIDED, "time: fast may save about 4 % of what was recorded: "},
        {"lost_calls", 12000, RES_ANSWER_NOT_TRUSTED,
         "time: no verdict, 1.2 % of its calls were not recorded\nmemory: no verdict, 1.2 % "},
        {"left_out_calls", 1000000, RES_ANSWER_NOT_TRUSTED,
         "time: no verdict, 50 % of its calls were not recorded\n"},
        {"removed_calls", 12000, RES_ANSWER_TAKE, "time: fast saves 40 % of malloc's time"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        const struct res_result_workload *known = known_of(
            &FAST,
            json_of("{'complete': false, '%s': %d, 'process': %s}", CASES[i].cause, CASES[i].calls, PROCESS));
        CHECK(isfinite(known->share_time) == (i == 0) && isfinite(known->share_memory) == (i == 0));
        CHECK_U64(known->verdict->time.kind, CASES[i].kind);
        CHECK(strstr(verdict_words(known), CASES[i].words) != NULL);
    }
}

TEST(without_the_process_per_cent_are_of_calls_and_heap)
{
    const struct figures both[] = {FAST, SMALL};
    const struct res_result_workload *known = program_with(both, 2, "known", NULL);
    CHECK(isnan(known->share_time) && isnan(known->verdict->time.of_process) &&
          fabs(known->verdict->time.of_malloc - 0.4) < 1e-9);
    CHECK(strstr(verdict_words(known), "time: fast saves 40 % of malloc's time, for 20.0 MB more\n") != NULL);
    CHECK(strstr(verdict_words(known), "memory: small saves 30.0 MB, 30 %, for 50 % more time in malloc\n") !=
          NULL);
}

/* 3 % of the program's memory for 12 % of its time, or for 7.5 %; another saves less and takes no time. */
TEST(a_saving_whose_price_is_out_of_proportion_is_not_advised)
{
    static const struct figures dear = {"dear", 2.2, 0.02, 0.94, 0.002, 1e7, 0.05, 1, 1},
                                fair = {"fair", 1.75, 0.02, 0.94, 0.002, 1e7, 0.05, 1, 1},
                                free_one = {"free", 1, 0.02, 0.96, 0.002, 1e7, 0.05, 1, 1},
                                large = {"large", 0.4, 0.02, 1.8, 0.002, 1e7, 0.05, 1, 1};
    const struct figures both[] = {dear, free_one};
    const struct res_result_workload *known = program_with(&dear, 1, "known", PROCESS);
    CHECK_U64(known->verdict->peak.kind, RES_ANSWER_TOO_DEAR);
    CHECK(strstr(verdict_words(known), "memory: stay with glibc, a smaller one costs too much\n") != NULL);
    CHECK(typed_note(known, "try it") == NULL);
    CHECK_U64(program_with(&fair, 1, "known", PROCESS)->verdict->peak.kind, RES_ANSWER_TAKE);
    CHECK_STR(program_with(both, 2, "known", PROCESS)->verdict->peak.candidate, "free");
    /* 6 % of its time, for 40 % of its memory. */
    known = program_with(&large, 1, "known", PROCESS);
    CHECK_U64(known->verdict->time.kind, RES_ANSWER_TOO_DEAR);
    CHECK(strstr(verdict_words(known), "time: stay with glibc, a faster one costs too much\n") != NULL);
}

TEST(a_small_share_does_not_matter_whatever_is_shown)
{
    const char *large = "{\"cpu_user_ns\": 30e9, \"cpu_system_ns\": 1e9, \"rss_peak_bytes\": 20e9}";
    const struct res_result_workload *known = program_with(&FAST, 1, "known", large);
    CHECK(known->verdict->time.kind == RES_ANSWER_DOES_NOT_MATTER &&
          known->verdict->peak.kind == RES_ANSWER_DOES_NOT_MATTER);
    CHECK_STR(verdict_words(known), "malloc does not matter: no allocator can save 1 % of the program\n");
    CHECK(typed_note(known, "try it") == NULL);
    const char *time_only = "{\"cpu_user_ns\": 30e9, \"cpu_system_ns\": 1e9, \"rss_peak_bytes\": 200e6}";
    CHECK(strstr(verdict_words(program_with(&SMALL, 1, "known", time_only)),
                 "time: it does not matter, malloc takes about 0.3 % of the program\nmemory: small") != NULL);
}

TEST(a_saving_of_less_than_one_per_cent_is_not_worth_it)
{
    const char *process = "{\"cpu_user_ns\": 5e9, \"cpu_system_ns\": 0, \"rss_peak_bytes\": 200e6}";
    const struct res_result_workload *known = program_with(&FAST, 1, "known", process);
    CHECK(strstr(verdict_words(known), "time: do not bother, fast saves about 0.8 % of the program\n") !=
          NULL);
    CHECK_STR(known->verdict->time.candidate, "fast");
    CHECK(typed_note(known, "try it") == NULL);
}

TEST(what_the_noise_may_hide_is_told_of_the_program)
{
    const struct figures loud = {"loud", 1, 0.2, 1, 0.002, 1e7, 0.05, 1, 1};
    const char *small = "{\"cpu_user_ns\": 3e9, \"cpu_system_ns\": 0, \"rss_peak_bytes\": 200e6}";
    CHECK(strstr(verdict_words(program_with(&loud, 1, "known", PROCESS)),
                 "time: stay with glibc, no other is shown to be faster\n") != NULL);
    CHECK(fabs(program_with(&loud, 1, "known", PROCESS)->verdict->time.may_hide - 0.02) < 1e-9);
    CHECK(strstr(verdict_words(program_with(&loud, 1, "known", small)),
                 "time: do not bother, less than 0.7 % of the program could be gained\n") != NULL);
    CHECK(strstr(verdict_words(program_with(&SMALL, 1, "known", PROCESS)),
                 "time: stay with glibc, every other is slower\n") != NULL);
}

/* More faults than the whole process had, a heap larger than its memory, more time than its CPU time. */
TEST(what_cannot_be_is_not_advised_by)
{
    static const struct {
        const char *process, *time, *memory;
    } CASES[] = {
        {"{\"cpu_user_ns\": 9e7, \"cpu_system_ns\": 0, \"rss_peak_bytes\": 2e8, \"rss_anon_peak_bytes\": "
         "9e7}",
         "a replay takes 100 ms, the program took 90 ms", NULL},
        {"{\"cpu_user_ns\": 9e9, \"cpu_system_ns\": 0, \"rss_peak_bytes\": 2e8, \"rss_anon_peak_bytes\": "
         "5e7}",
         NULL, "a replay holds 100 MB, the program held 50.0 MB"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        const struct figures both[] = {FAST, SMALL};
        const struct res_result_workload *known = program_with(both, 2, "known", CASES[i].process);
        CHECK((known->no_trust_time != NULL) == (CASES[i].time != NULL));
        CHECK((known->no_trust_memory != NULL) == (CASES[i].memory != NULL));
        CHECK((known->verdict->time.candidate == NULL) == (CASES[i].time != NULL));
        CHECK((known->verdict->peak.candidate == NULL) == (CASES[i].memory != NULL));
        CHECK(strstr(verdict_words(known), "no verdict, a replay ") != NULL);
        CHECK(strstr(verdict_words(known), CASES[i].time != NULL ? CASES[i].time : CASES[i].memory) != NULL);
    }
}

/* How many threads overlap that are over at once, and with them the heap, differs from run to run. */
TEST(memory_of_brief_threads_depends_on_scheduling)
{
    static const struct {
        const char *process;
        bool trusted;
    } CASES[] = {{"{\"cpu_user_ns\": 9e9, \"brief_calls\": 950000}", false},
                 {"{\"cpu_user_ns\": 9e9, \"brief_calls\": 200000}", true},
                 {"{\"cpu_user_ns\": 9e9}", true}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        const struct res_result_workload *known = program_with(&SMALL, 1, "known", CASES[i].process);
        CHECK((known->verdict->peak.candidate != NULL) == CASES[i].trusted);
        CHECK(known->no_trust_time == NULL);
        CHECK(
            (strstr(verdict_words(known), "memory: no verdict, threads below 10 ms made 95 % of the calls") ==
             NULL) == CASES[i].trusted);
    }
}

/* What is waited for in calls is not kept as it was: neither the baseline's time is a ground then, nor a candidate's. */
TEST(times_that_wait_for_threads_are_no_ground)
{
    static const struct {
        int threads;
        double baseline, candidate; /* of 100 ms in calls */
        bool trusted, advised;
    } CASES[] = {{2, 20e6, 0, false, false},
                 {2, 0, 20e6, true, false},
                 {2, 4e6, 2e6, true, true},
                 {2, NAN, NAN, true, true},
                 {1, 20e6, 20e6, true, true}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        json_t *workload = program_of(&FAST, 1, json_of("{'threads': %d}", CASES[i].threads));
        for (int entry = 0; entry < 2; entry++) {
            const double blocked = entry == 0 ? CASES[i].baseline : CASES[i].candidate;
            size_t at;
            json_t *run;
            json_array_foreach(json_at(workload, entry == 0 ? "candidates.0.runs" : "candidates.1.runs"), at,
                               run)
            {
                if (isfinite(blocked))
                    json_object_set_new(run, "blocked_ns", json_real(at == 0 ? 90e6 : blocked));
            }
        }
        const struct res_result_workload *known = typed_workload(workload, "glibc");
        CHECK((known->no_trust_time == NULL) == CASES[i].trusted);
        CHECK((known->verdict->time.candidate != NULL) == CASES[i].advised);
    }
}

/* The replay touches more pages than the whole process: what it does is not what the program did. */
TEST(more_page_faults_than_the_whole_process_are_no_ground)
{
    static const struct {
        double replayed, process;
        bool trusted;
    } CASES[] = {{50000, 30000, false},
                 {35000, 30000, true},
                 {900, 300, true},
                 {300, 30000, true},
                 {50000, NAN, true}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        json_t *workload = program_of(
            &FAST, 1,
            json_of("{'process': {'cpu_user_ns': 900000000, 'cpu_system_ns': 0, 'rss_peak_bytes': 2e8}}"));
        json_object_set_new(json_at(workload, "candidates.0"), "faults_minor", json_real(CASES[i].replayed));
        if (isfinite(CASES[i].process))
            json_object_set_new(json_at(workload, "process"), "faults_minor", json_real(CASES[i].process));
        const struct res_result_workload *known = typed_workload(workload, "glibc");
        CHECK((known->no_trust_time == NULL) == CASES[i].trusted);
        CHECK((known->verdict->time.candidate != NULL) == CASES[i].trusted);
    }
}

/* Where not all that was live is known, memory figures are not what they seem. */
TEST(no_verdict_on_memory_that_is_not_known)
{
    static const char *const live[] = {"from_middle", "paused", "left_behind"};
    for (size_t i = 0; i < COUNT_OF(live); i++) {
        const struct res_result_workload *known = program_with(&SMALL, 1, live[i], PROCESS);
        CHECK(known->verdict->peak.candidate == NULL && known->verdict->rest.candidate == NULL);
        CHECK(strstr(verdict_words(known), "memory: not known, ") != NULL);
        CHECK(isnan(known->share_memory) == (i == 0));
        CHECK(strstr(typed_note(known, "live"), "live bytes") != NULL);
    }
}

/* Also where a part of malloc is not tiny, but small: what its own allocator hides is worth a word all the same. */
TEST(an_allocator_of_the_programs_own_is_named)
{
    static const struct {
        const char *program;
        int calls, frees;
        double cpu_ns, bytes;
        const char *label, *words; /* of a note; NULL: there is none */
    } CASES[] = {
        {"python3.11", 1000, 7, 1e9, 2e10, "verdict", "PYTHONMALLOC=malloc"},
        {"python3.11", 1000, 7, 1e9, 2e10, "preload", "7 frees go past any"},
        {"python3.11", 1000000, 0, 2.5e9, 2e8, "heap", "PYTHONMALLOC=malloc"},
        {"sort", 1000000, 0, 2.5e9, 2e8, "heap", NULL},
        {"sort", 1000000, 8, 2.5e9, 2e8, "preload", "8 frees go past any"}, /* of a million calls: php-fpm */
        {"sort", 1000000, 4, 2.5e9, 2e8, "preload", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        const struct res_result_workload *known = known_of(
            &FAST,
            json_of("{'program': '%s', 'ops': %d, 'unseen_frees': %d, 'memory_rounds': 0, 'process': "
                    "{'cpu_user_ns': %g, 'cpu_system_ns': 0, 'rss_peak_bytes': %g}}",
                    CASES[i].program, CASES[i].calls, CASES[i].frees, CASES[i].cpu_ns, CASES[i].bytes));
        const char *said = strcmp(CASES[i].label, "verdict") == 0 ? verdict_words(known)
                                                                  : typed_note(known, CASES[i].label);
        CHECK((said != NULL) == (CASES[i].words != NULL));
        CHECK(said == NULL || strstr(said, CASES[i].words) != NULL);
    }
}

/* Nothing that would crash is there to paste; settings of the C library's malloc are. */
TEST(what_would_crash_is_not_to_be_pasted)
{
    static const char *const CASES[][3] = {
        {"'a': 1", "'library': '/lib/libfast.so'", "fast"},
        {"'unseen_frees': 8", "'library': '/lib/libfast.so'",
         "do not preload fast: 8 frees went past any (RTLD_DEEPBIND)"},
        {"'runs_on': {'name': 'glibc', 'version': '2.36', 'how': 'deepbind'}", "'library': '/lib/libfast.so'",
         "do not preload fast: some libraries' frees went past any (RTLD_DEEPBIND)"},
        {"'runs_on': {'name': 'glibc', 'version': '2.36', 'how': 'deepbind'}",
         "'library': '/lib/libc.so.6', 'environment': {'GLIBC_TUNABLES': 'glibc.malloc.arena_max=1'}",
         "fast"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        json_t *workload = program_of(&FAST, 1,
                                      json_of("{%s, 'process': {'cpu_user_ns': 5e8, 'cpu_system_ns': "
                                              "0, 'rss_peak_bytes': 2e8}}",
                                              CASES[i][0]));
        json_more(json_at(workload, "candidates.1"), json_of("{%s}", CASES[i][1]));
        CHECK_STR(typed_note(typed_workload(workload, "glibc"), "try it"), CASES[i][2]);
    }
}

/* test_convert_merge.c - several processes as one input: ops, names of irregularities and losses are the sum of the members',
 * whatever addresses they share; turns follow recorded time; damaged members and missing ones are told. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "convert/base/source.h"
#include "convert/convert.h"
#include "convert/merge/regions.h"
#include "convert/ops/live_table.h"
#include "unit/harness.h"
#include "unit/history.h"
#include "unit/scratch.h"
#include "unit/spell.h"

static struct conv_error error;

/* A process of a simulated program; every one of them uses the same addresses. */
static void make_process(const char *directory, const char *name, uint32_t threads, size_t events,
                         uint32_t bump_every, uint64_t seed, uint32_t process_id, bool trailer)
{
    const struct history_options options = {.threads = threads,
                                            .events = events,
                                            .objects = 300,
                                            .bump_every = bump_every,
                                            .bump_ns = 1000,
                                            .resize_share = 10};
    struct history history;
    char path[600];
    history_init(&history, threads, seed);
    history_simulate(&history, &options);
    history_cut(&history, 400);
    snprintf(path, sizeof path, "%s/%s.%u.fp", directory, name, process_id);
    CHECK_U64(history_write(&history, path, process_id, trailer), FP_OK);
    history_release(&history);
}

static struct conv_survey convert(const char *in, const char *merge, const char *wl)
{
    const struct conv_options options = {.overwrite = true, .no_inherited = true, .select = {.merge = merge}};
    struct conv_report report = {0};
    struct conv_survey survey;
    CHECK_U64(conv_file(in, wl, &options, &report, &error), FP_OK);
    survey = report.survey;
    conv_report_release(&report);
    return survey;
}

static void add_figures(struct conv_survey *sum, const struct conv_survey *one)
{
    sum->ops += one->ops;
    sum->events += one->events;
    sum->threads += one->threads;
    sum->requested_bytes += one->requested_bytes;
    sum->live_bytes_end += one->live_bytes_end;
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        sum->irregular[i] += one->irregular[i];
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        sum->lost[i] += one->lost[i];
    if (one->duration_ns > sum->duration_ns)
        sum->duration_ns = one->duration_ns;
}

static void check_sum(const struct conv_survey *merged, const struct conv_survey *sum)
{
    CHECK_U64(merged->ops, sum->ops);
    CHECK_U64(merged->events, sum->events);
    CHECK_U64(merged->threads, sum->threads);
    CHECK_U64(merged->requested_bytes, sum->requested_bytes);
    CHECK_U64(merged->live_bytes_end, sum->live_bytes_end);
    CHECK_U64(merged->duration_ns, sum->duration_ns);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        CHECK_U64(merged->irregular[i], sum->irregular[i]);
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        CHECK_U64(merged->lost[i], sum->lost[i]);
}

TEST(merged_is_the_sum_of_its_members)
{
    static const struct {
        const char *name;
        uint32_t threads, process_id;
    } members[] = {{"a", 1, 10}, {"b", 4, 20}, {"c", 3, 30}};
    const char *directory = scratch_path("sum"), *wl = scratch_path("sum.wl"),
               *again = scratch_path("again.wl");
    struct conv_survey sum = {0}, merged;
    char *one, *two;
    size_t one_size, two_size;
    CHECK(mkdir(directory, 0700) == 0);
    for (size_t i = 0; i < 3; i++) {
        char path[600];
        struct conv_survey own;
        make_process(directory, members[i].name, members[i].threads, 5000, 16, i + 1, members[i].process_id,
                     true);
        snprintf(path, sizeof path, "%s/%s.%u.fp", directory, members[i].name, members[i].process_id);
        own = convert(path, NULL, wl);
        add_figures(&sum, &own);
    }
    merged = convert(directory, "", wl);
    check_sum(&merged, &sum);
    CHECK_U64(merged.selected.merged_processes, 3);
    CHECK(!merged.complete); /* nobody says that these are all */
    CHECK(strstr(merged.incomplete_why, "recording.json") != NULL);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        CHECK_U64(merged.irregular[i], 0); /* though all three use the same addresses at the same time */
    (void)convert(directory, "30,10,made[-]u*", again);
    one = scratch_read(wl, &one_size);
    two = scratch_read(again, &two_size);
    CHECK(one_size == two_size && memcmp(one, two, one_size) == 0);
    free(one);
    free(two);
}

/* All ops with their threads, in one number. */
static uint64_t hash_of(const char *wl)
{
    struct wl_reader *reader = NULL;
    struct wl_window window;
    uint64_t hash = 0;
    CHECK_U64(wl_reader_open(wl, NULL, &reader), FP_OK);
    while (wl_reader_next(reader, &window) == FP_OK) {
        for (uint32_t i = 0; i < window.op_count; i++)
            hash = conv_mix(hash ^ window.ops[i].id, 1) ^ conv_mix(window.ops[i].size, window.ops[i].call);
        for (uint32_t i = 0; i < window.run_count; i++)
            hash = conv_mix(hash ^ window.runs[i].thread, window.runs[i].op_count);
    }
    wl_reader_close(reader);
    return hash;
}

/* One epoch with more events than are arranged at once: what is live is asked for in the midst of it. */
TEST(oversized_epochs_of_a_member)
{
    const char *directory = scratch_path("large"), *wl = scratch_path("large.wl");
    struct conv_survey sum = {0}, own, merged;
    uint64_t hash;
    char path[600];
    CHECK(mkdir(directory, 0700) == 0);
    make_process(directory, "a", 2, 80000, 1u << 30, 5, 10, true);
    make_process(directory, "b", 2, 3000, 16, 6, 20, true);
    snprintf(path, sizeof path, "%s/a.10.fp", directory);
    own = convert(path, NULL, wl);
    CHECK(own.irregular[CONV_OVERSIZED_GROUPS] > 0);
    add_figures(&sum, &own);
    hash = hash_of(wl);
    (void)convert(directory, "10", wl); /* merged with nobody */
    CHECK_U64(hash_of(wl), hash);
    snprintf(path, sizeof path, "%s/b.20.fp", directory);
    own = convert(path, NULL, wl);
    add_figures(&sum, &own);
    merged = convert(directory, "", wl);
    check_sum(&merged, &sum);
}

/* The first part of such an epoch makes an object, and waits in the member's queue while the second part is arranged, in
 * which another thread takes its address over. Were the object not known there, the only order that fits would be the wrong
 * one: allocated by the second thread, then released by the first. */
TEST(the_second_part_of_an_oversized_epoch_knows_the_first)
{
    enum { FILLERS = 80000, ADDRESS = 0x1000 }; /* a part has at most 65,536 events of each of two lanes */
    const char *directory = scratch_path("parts"), *wl = scratch_path("parts.wl");
    struct conv_survey merged;
    struct history history;
    char path[600];
    uint64_t time_ns = 0;
    CHECK(mkdir(directory, 0700) == 0);
    history_init(&history, 2, 1);
    history_add(&history, 0, FP_CALL_MALLOC, ADDRESS, 10, 1, time_ns += 64);
    for (uint64_t i = 0; i < FILLERS; i++)
        history_add(&history, 0, i % 2 == 0 ? FP_CALL_MALLOC : FP_CALL_FREE, 0x8000, i % 2 == 0 ? 30 : 0, 1,
                    time_ns += 64);
    history_add(&history, 0, FP_CALL_FREE, ADDRESS, 0, 1, time_ns += 64);
    history_add(&history, 1, FP_CALL_MALLOC, ADDRESS, 20, 1, time_ns += 64);
    history.end_ns = time_ns;
    history_cut(&history, 1000);
    snprintf(path, sizeof path, "%s/a.10.fp", directory);
    CHECK_U64(history_write(&history, path, 10, true), FP_OK);
    history_release(&history);
    make_process(directory, "b", 1, 100, 16, 6, 20, true);
    merged = convert(directory, "10", wl);
    CHECK_U64(merged.irregular[CONV_OVERSIZED_GROUPS], 1);
    CHECK_U64(merged.irregular[CONV_LOST_FREE], 0);
    CHECK_U64(merged.irregular[CONV_FREE_OF_UNKNOWN], 0);
    CHECK_U64(merged.live_bytes_end, 20);
    merged = convert(directory, "", wl);
    CHECK_U64(merged.irregular[CONV_LOST_FREE], 0);
}

/* A footprint of one lane with a stamp at every mark. */
static void make_timed(const char *directory, uint32_t process_id, const uint64_t *times, size_t count)
{
    struct history history;
    char path[600];
    history_init(&history, 1, 1);
    for (size_t i = 0; i < count; i++)
        history_add(&history, 0, FP_CALL_MALLOC, 0x1000 + i * 16, process_id + i, i + 1, times[i]);
    history.end_ns = times[count - 1];
    history_cut(&history, count);
    snprintf(path, sizeof path, "%s/p.%u.fp", directory, process_id);
    CHECK_U64(history_write(&history, path, process_id, true), FP_OK);
    history_release(&history);
}

TEST(turns_follow_recorded_time)
{
    static const uint64_t first[] = {6400, 12800, 64000}, second[] = {640, 12800, 19200}, third[] = {32000};
    const char *directory = scratch_path("turns"), *wl = scratch_path("turns.wl");
    struct conv_survey merged;
    CHECK(mkdir(directory, 0700) == 0);
    make_timed(directory, 100, first, 3);
    make_timed(directory, 200, second, 3);
    make_timed(directory, 300, third, 1);
    merged = convert(directory, "", wl);
    CHECK_U64(merged.threads, 3);
    /* Threads are numbered as they come; of the equal times 12,800 the process listed first is first. */
    CHECK_STR(spell_ops(wl), "m1:200 m2:100@1 m3:101@1 m4:201 m5:202 m6:300@2 m7:102@1");
    CHECK_U64(merged.duration_ns, 64000);
}

/* A process tree whose members all run at the same time: more footprints than the process may open. */
TEST(more_processes_than_descriptors)
{
    enum { PROCESSES = 1200, DESCRIPTORS = 100 };
    const char *directory = scratch_path("many"), *wl = scratch_path("many.wl"),
               *few = scratch_path("few.wl");
    struct rlimit before, low = {.rlim_cur = DESCRIPTORS};
    struct conv_survey merged, again;
    pid_t child;
    int ended = -1;
    CHECK(mkdir(directory, 0700) == 0);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        const uint64_t times[] = {64 * (i + 1), 640000 - 64 * i, 6400000 + 64 * (i * 7 % 1000)};
        make_timed(directory, 1000 + i, times, 3);
    }
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    merged = convert(directory, "", wl);
    CHECK_U64(merged.selected.merged_processes, PROCESSES);
    CHECK_U64(merged.ops, PROCESSES * 3);
    low.rlim_max = before.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    again = convert(directory, "", few);
    CHECK(getrlimit(RLIMIT_NOFILE, &low) == 0 && low.rlim_cur == DESCRIPTORS); /* put back */
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    check_sum(&again, &merged);
    CHECK_U64(hash_of(few), hash_of(wl));
    /* Where it cannot be raised. */
    child = fork();
    if (child == 0) {
        const struct conv_options options = {.overwrite = true, .select = {.merge = ""}};
        struct conv_report report = {0};
        low = (struct rlimit){DESCRIPTORS, DESCRIPTORS};
        _exit(setrlimit(RLIMIT_NOFILE, &low) != 0                             ? 2
              : conv_file(directory, few, &options, &report, &error) == FP_OK ? 3
              : conv_error_exit_code(&error) != 3                             ? 4
              : strstr(error.what, "raise 'ulimit -Hn'") == NULL              ? 5
                                                                              : 0);
    }
    CHECK(child > 0 && waitpid(child, &ended, 0) == child);
    CHECK_U64(ended, 0);
}

TEST(sections_of_a_merge_know_processes_that_ended)
{
    static const uint64_t first[] = {640, 1280}, second[] = {64000};
    const char *directory = scratch_path("ended"), *wl = scratch_path("ended.wl");
    const struct conv_options options = {
        .overwrite = true, .select = {.merge = "", .from = {.kind = CONV_WHEN_TIME, .value = 32000}}};
    struct conv_report report = {0};
    CHECK(mkdir(directory, 0700) == 0);
    make_timed(directory, 100, first, 2);
    make_timed(directory, 200, second, 1);
    CHECK_U64(conv_file(directory, wl, &options, &report, &error), FP_OK);
    CHECK_U64(report.survey.inherited_objects, 2);
    CHECK_STR(spell_ops(wl), "m1:100 m2:101 m3:200@1");
    CHECK_STR(report.survey.selected.text, "2 processes merged; from 0.000032 s");
    conv_report_release(&report);
}

TEST(incomplete_damaged_and_missing_members)
{
    const char *directory = scratch_path("odd"), *wl = scratch_path("odd.wl");
    struct conv_options options = {.overwrite = true, .select = {.merge = "nobody"}};
    struct conv_report report = {0};
    struct conv_survey merged;
    char path[600], *bytes;
    size_t size;
    CHECK(mkdir(directory, 0700) == 0);
    make_process(directory, "a", 1, 500, 16, 1, 10, true);
    make_process(directory, "b", 2, 500, 16, 2, 20, false);
    merged = convert(directory, "", wl);
    CHECK(!merged.complete);
    CHECK(strstr(merged.incomplete_why, "b.20.fp") != NULL ||
          strstr(merged.incomplete_why, "recording") != NULL);
    CHECK_U64(conv_file(directory, wl, &options, &report, &error), FP_ERR_ARGUMENT);
    CHECK(strstr(error.what, "no process 'nobody', only 10 made-up, 20 made-up") != NULL);
    CHECK_U64(conv_error_exit_code(&error), 2);
    options.select.merge = "";
    snprintf(path, sizeof path, "%s/a.10.fp", directory);
    CHECK_U64(conv_file(path, wl, &options, &report, &error), FP_ERR_ARGUMENT);
    CHECK(strstr(error.what, "nothing to merge") != NULL);
    /* Damage in a payload shows when its turn comes. */
    bytes = scratch_read(path, &size);
    bytes[size / 2] ^= 0x40;
    scratch_write(path, bytes, size);
    free(bytes);
    CHECK(conv_file(directory, wl, &options, &report, &error) != FP_OK);
    CHECK_U64(conv_error_exit_code(&error), 3);
    CHECK(strstr(error.path, "a.10.fp") != NULL);
}

TEST(regions_keep_processes_apart)
{
    struct conv_regions regions;
    uint64_t a = 0, b = 0, found = 0;
    CHECK(conv_regions_init(&regions));
    CHECK(conv_regions_place(&regions, 0, 0x7f0000001230, &a));
    CHECK(conv_regions_place(&regions, 1, 0x7f0000001230, &b));
    CHECK(a != b && a != 0 && b != 0 && a < CONV_ADDRESS_LIMIT && (a & 0xffffff) == 0x1230);
    CHECK(conv_regions_find(&regions, 1, 0x7f0000001230, &found));
    CHECK_U64(found, b);
    CHECK(!conv_regions_find(&regions, 2, 0x7f0000001230, &found));
    CHECK(conv_regions_place(&regions, 0, 0, &found));
    CHECK_U64(found, 0);
    CHECK(conv_regions_place(&regions, 0, UINT64_MAX, &found));
    CHECK_U64(found, UINT64_MAX);
    for (uint32_t i = 0; i < 20000; i++) /* the table grows under it */
        CHECK(conv_regions_place(&regions, i % 7, ((uint64_t)i << CONV_REGION_BITS) + 5, &found));
    CHECK(conv_regions_find(&regions, 3, ((uint64_t)10 << CONV_REGION_BITS) + 9, &found));
    CHECK(conv_regions_find(&regions, 0, 0x7f0000001231, &found));
    CHECK_U64(found, a + 1);
    conv_regions_release(&regions);
}

RUN_TESTS(T(merged_is_the_sum_of_its_members), T(oversized_epochs_of_a_member),
          T(the_second_part_of_an_oversized_epoch_knows_the_first), T(turns_follow_recorded_time),
          T(more_processes_than_descriptors), T(sections_of_a_merge_know_processes_that_ended),
          T(incomplete_damaged_and_missing_members), T(regions_keep_processes_apart))

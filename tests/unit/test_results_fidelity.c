/* test_results_fidelity.c - validation: its formulas by hand-made figures, groups, and the texts that it reads. */
#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "results/measure/experiment/timed.h"
#include "results/measure/validate/fidelity.h"
#include "results/measure/watch/program_image.h"
#include "results/measure/watch/smaps.h"
#include "unit/harness.h"

#define CHECK_SAME(actual, expected) CHECK_NEAR(actual, expected, 1e-9)

TEST(runs_that_were_alike_have_one_peak)
{
    const double alike[] = {1000, 1009, 1004}, apart[] = {1000, 1011, 1004}, unknown[] = {1000, NAN, 1004};
    const double samples[] = {65, 60, 81};
    CHECK_SAME(res_fidelity_sampled_peak(alike, samples, 3), 81);
    CHECK_SAME(res_fidelity_sampled_peak(apart, samples, 3), 65);
    CHECK_SAME(res_fidelity_sampled_peak(unknown, samples, 3), 65);
    CHECK_SAME(res_fidelity_sampled_peak(alike, samples, 1), 65);
    CHECK(isnan(res_fidelity_sampled_peak(alike, samples, 0)));
}

/* Of a program whose queues grow or empty while its mappings are read; one sampled run of five went its own way by itself. */
TEST(reading_that_changes_what_a_program_holds_is_told)
{
    const double sampled[] = {34.9, 35.7, 35.7, 35.8, 37.7}, mapped[] = {36.6, 39.0, 36.9};
    CHECK_SAME(res_disturbed_by(sampled, 5, mapped, 3, 30), 36.9 / 35.7 - 1);
    const double within[] = {35.9, 36.0, 37.0}, below[] = {30.0, 31.0, 32.0};
    CHECK_SAME(res_disturbed_by(sampled, 5, within, 3, 0.2), 0); /* by less than 1 % */
    CHECK_SAME(res_disturbed_by(sampled, 5, below, 3, 0.2), 31 / 35.7 - 1);
    CHECK_SAME(res_disturbed_by(sampled, 5, below, 3, 5),
               0); /* that what is apart lies in a file may be why */
    const double wide[] = {30, 33, 35, 37, 40}, more[] = {36, 38.9, 41}, most[] = {36, 39.1, 41};
    CHECK_SAME(res_disturbed_by(wide, 5, more, 3, 0.2), 0); /* median distance 2 */
    CHECK_SAME(res_disturbed_by(wide, 5, most, 3, 0.2), 39.1 / 35 - 1);
    CHECK_SAME(res_disturbed_by(sampled, 5, mapped, 2, 0.2), 0); /* of so few runs it is not known */
    CHECK_SAME(res_disturbed_by(sampled, 2, mapped, 3, 0.2), 0);
}

TEST(prediction_is_rest_and_startup_and_replay)
{
    const struct res_fidelity_sample sample = {.total = 3000,
                                               .heap = 1600,
                                               .replayed = 1700,
                                               .startup_total = 200,
                                               .startup_heap = 60,
                                               .missed = 50};
    const struct res_fidelity fidelity = res_fidelity_of(1000, &sample);
    CHECK_SAME(fidelity.predicted_total, 1000 + 200 + 1700 - 50);
    CHECK_SAME(fidelity.predicted_heap, 1760);
    CHECK_SAME(fidelity.error_total, 2850.0 / 3000 - 1);
    CHECK_SAME(fidelity.error_heap, 1760.0 / 1600 - 1);
}

TEST(no_real_figure_no_error)
{
    const struct res_fidelity_sample sample = {.total = 3000, .heap = 0, .replayed = 1};
    CHECK(isnan(res_fidelity_of(1000, &sample).error_heap));
    CHECK(isnan(res_fidelity_of(NAN, &sample).error_total));
}

TEST(a_small_heap_is_not_judged)
{
    const double bound = RES_HEAP_JUDGED;
    struct res_fidelity fidelity = {.real_heap = bound - 1, .predicted_heap = bound - 1};
    CHECK(res_fidelity_is_small(&fidelity));
    fidelity.predicted_heap = bound; /* so far off is a miss */
    CHECK(!res_fidelity_is_small(&fidelity));
    fidelity.predicted_heap = NAN;
    CHECK(!res_fidelity_is_small(&fidelity));
}

TEST(peaks_that_do_not_fall_together_are_not_added)
{
    const double at[] = {0, 50, 100}, early[] = {10, 2, 1}, late[] = {1, 2, 20}, recorded[] = {0, 500, 1000};
    const struct res_course rest = {at, early, 3}, replayed = {recorded, late, 3}, alike = {at, late, 3};
    const struct res_course nothing = {0};
    /* Highest alone 10 and 20; together at most 2 + 20: the clock of the other run does not matter. */
    CHECK_SAME(res_fidelity_missed(&rest, &replayed), 8);
    CHECK_SAME(res_fidelity_missed(&alike, &replayed), 0);
    CHECK_SAME(res_fidelity_missed(&rest, &nothing), 0);
    /* When rest fell between its last two samples is not known: it may have met what was replayed there. */
    const double sparse[] = {0, 90, 100}, falls[] = {1, 10, 2}, dense[] = {0, 95, 100};
    const struct res_course seldom = {sparse, falls, 3}, often = {dense, late, 3};
    CHECK_SAME(res_fidelity_missed(&seldom, &often), 0);
    CHECK_SAME(res_fidelity_missed(&nothing, &replayed), 0);
}

/* The program lets go of its heap and then touches files, early in the recorded run and late in the real one. By shares of the
 * duration the files would be in memory beside the heap. */
TEST(moments_of_two_runs_are_matched_by_the_heap)
{
    const double real_at[] = {10, 20, 80, 90, 100}, heap_bytes[] = {2, 8, 8, 1, 1};
    const double rest_bytes[] = {3, 5, 5, 9, 9};
    const double at[] = {1, 2, 3, 4, 98, 99, 100}, replay_bytes[] = {2, 8, 8, 8, 8, 8, 1};
    const double other_bytes[] = {3, 7, 7, 7, 7, 7, 6};
    const struct res_course rest = {real_at, rest_bytes, 5}, heap = {real_at, heap_bytes, 5};
    const struct res_course replayed = {at, replay_bytes, 7}, other = {at, other_bytes, 7}, none = {0};
    CHECK_SAME(res_fidelity_missed(&rest, &replayed), 0); /* 9 and 8 together: never seen */
    struct res_course retimed = res_fidelity_retimed(&rest, &heap, &replayed);
    CHECK_U64(retimed.count >= 7, 1);
    CHECK_SAME(retimed.at[0], 1);
    CHECK_SAME(retimed.at[retimed.count - 1], 100);
    CHECK_SAME(retimed.bytes[retimed.count - 1], 9);
    CHECK_SAME(res_fidelity_missed(&retimed, &replayed), 9 + 8 - (5 + 8)); /* of 9 + 1 and 5 + 8 the latter */
    CHECK_SAME(res_fidelity_missed(&retimed, &other),
               9 + 7 - (9 + 6)); /* this allocator keeps what is freed */
    res_course_release(&retimed);
    CHECK_U64(res_fidelity_retimed(&rest, &heap, &none).count, 0);
    CHECK_U64(res_fidelity_retimed(&none, &none, &replayed).count, 0);
}

TEST(sign_is_judged_outside_the_noise_only)
{
    CHECK(res_fidelity_sign(-5, 0.8, RES_LESS) == RES_SIGN_RIGHT);
    CHECK(res_fidelity_sign(5, 0.8, RES_LESS) == RES_SIGN_WRONG);
    CHECK(res_fidelity_sign(5, 1.2, RES_MORE) == RES_SIGN_RIGHT);
    CHECK(res_fidelity_sign(5, 0.99, RES_UNDECIDED) == RES_SIGN_NOISE);
    CHECK(res_fidelity_sign(NAN, 0.8, RES_LESS) == RES_SIGN_UNKNOWN);
    CHECK(res_fidelity_sign(5, NAN, RES_UNDECIDED) == RES_SIGN_UNKNOWN);
}

/* ---- groups --------------------------------------------------------------------------------- */

static struct res_image member(uint64_t begin_ns, uint64_t end_ns, uint64_t own_peak)
{
    return (struct res_image){.called = "worker",
                              .begin_ns = begin_ns,
                              .last_ns = end_ns,
                              .exact = true,
                              .has_library = true,
                              .has_maps = true,
                              .peak_bytes = (double)own_peak,
                              .cpu_ns = 7,
                              .apart_most_bytes = 3,
                              .together = 1,
                              .series_every = 1};
}

static void add_moment(struct res_image *image, uint64_t time_ns, uint64_t resident, uint64_t heap)
{
    image->series[image->series_count++] = (struct res_moment){.time_ns = time_ns,
                                                               .resident_bytes = resident,
                                                               .anonymous_bytes = heap + 2,
                                                               .heap_bytes = heap,
                                                               .apart_bytes = 2};
}

/* The third was forked by one of them and executed another program: it is none of the group. */
TEST(a_group_holds_what_its_processes_hold_together)
{
    struct res_image *images = res_calloc(3, sizeof *images), *group = res_calloc(1, sizeof *group);
    const struct res_sampled sampled = {.images = images, .image_count = 3};
    images[0] = member(100, 200, 60);
    images[1] = member(150, 300, 90);
    images[2] = member(150, 300, 9000);
    images[2].exact = false;
    add_moment(&images[0], 10, 40, 20);
    add_moment(&images[0], 60, 50, 30); /* at 160, beside 30 of the other */
    add_moment(&images[1], 5, 30, 10);
    add_moment(&images[1], 100, 60, 40); /* at 250: the first is gone at 200 */
    CHECK(res_sampled_group(&sampled, "worker", group));
    CHECK_SAME(group->peak_bytes,
               90); /* what one held between two samples is more than the sums of 62 and 60 */
    CHECK_U64(group->together, 2);
    CHECK_SAME(group->heap_peak_bytes, 40);
    CHECK_SAME(group->apart_most_bytes, 6);
    CHECK_SAME(group->cpu_ns, 14);
    CHECK_U64(group->series_count, 4);
    CHECK_U64(group->series[2].resident_bytes, 32 + 12 + 18); /* files, of which both have 18, once */
    CHECK_U64(group->series[3].resident_bytes, 42 + 18);
    CHECK(group->has_library);
    images[1].exact = false;
    CHECK(res_sampled_group(&sampled, "worker", group)); /* of one it is that one */
    CHECK_SAME(group->peak_bytes, 60);
    CHECK(!res_sampled_group(&sampled, "other", group));
    free(images);
    free(group);
}

/* ---- texts ---------------------------------------------------------------------------------- */

#define MAPPING(range, access, name, kilobytes)                                                              \
    range " " access " 00000000 00:01 7                          " name "\nSize: 4096 kB\nRss: 9999 kB\n"    \
          "Anonymous: " kilobytes " kB\nAnonHugePages: 7777 kB\nVmFlags: rd wr\n"

static const char SMAPS[] = MAPPING("1000-2000", "r-xp", "/bin/program", "0")
    MAPPING("2000-3000", "rw-p", "/bin/program", "4") MAPPING("3000-4000", "rw-p", "", "8") /* its .bss */
    MAPPING("5000-9000", "rw-p", "[heap]", "100") MAPPING("a000-b000", "rw-p", "", "200")
        MAPPING("b000-c000", "r--p", "/lib/x86 64/liballoc.so", "0")
            MAPPING("c000-d000", "rw-p", "/lib/x86 64/liballoc.so", "16")
                MAPPING("d000-e000", "rw-p", "", "32")
                    MAPPING("e000-f000", "rw-p", "/memfd:mallab-apart (deleted)", "400")
                        MAPPING("f000-ff00", "rw-p", "[stack]", "12");

TEST(heap_is_told_from_the_rest)
{
    const struct res_smaps plain = res_smaps_parse(SMAPS, sizeof SMAPS - 1, NULL);
    CHECK_U64(plain.heap_bytes, (100 + 200) * 1024);
    CHECK_U64(plain.apart_bytes, (4 + 8 + 16 + 32 + 400 + 12) * 1024);
    const struct res_smaps with = res_smaps_parse(SMAPS, sizeof SMAPS - 1, "/lib/x86 64/liballoc.so");
    CHECK_U64(with.heap_bytes, (100 + 200 + 16 + 32) * 1024);
    CHECK_U64(with.apart_bytes, (4 + 8 + 400 + 12) * 1024);
}

static uint64_t file_bytes(const struct res_files *files, const char *name)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->all[i].name == res_files_name(name))
            return files->all[i].resident_bytes;
    return 0;
}

/* As it came from a program whose heap grew between two reads, seconds apart: of 89.9 MB in total 159.7 were the heap's. The
 * third kind grew downwards and was joined with its neighbour. */
TEST(a_mapping_that_is_listed_twice_counts_once)
{
    static const char text[] = MAPPING("1000-2000", "rw-p", "/bin/program", "4")
        MAPPING("5000-9000", "rw-p", "[heap]", "71860") MAPPING("5000-b000", "rw-p", "[heap]", "87872")
            MAPPING("c000-d000", "rw-p", "", "8") MAPPING("d000-e000", "r--p", "/lib/library", "0")
                MAPPING("20000-21000", "rw-p", "", "16") MAPPING("21000-22000", "---p", "", "0")
                    MAPPING("1f000-22000", "rw-p", "", "64") MAPPING("30000-31000", "rw-p", "[stack]", "12");
    const struct res_smaps sums = res_smaps_parse(text, sizeof text - 1, NULL);
    CHECK_U64(sums.heap_bytes, (87872 + 8 + 64) * 1024);
    CHECK_U64(sums.apart_bytes, (4 + 12) * 1024);
    CHECK_U64(file_bytes(&sums.files, "/bin/program"), 9999 * 1024);
}

/* Once a fifth of jemalloc's memory in ruby was taken for the .bss of a memory file that it lay behind. */
TEST(what_lies_behind_a_memory_file_is_heap)
{
    static const char text[] = MAPPING("1000-2000", "rw-p", "/memfd:mallab-apart (deleted)", "4")
        MAPPING("2000-9000", "rw-p", "", "64");
    const struct res_smaps sums = res_smaps_parse(text, sizeof text - 1, NULL);
    CHECK_U64(sums.heap_bytes, 64 * 1024);
    CHECK_U64(sums.apart_bytes, 4 * 1024);
}

/* "Rss:" is 9999 kB of each mapping, written pages included. */
TEST(what_is_resident_is_told_by_name_but_for_the_heap)
{
    const struct res_smaps with = res_smaps_parse(SMAPS, sizeof SMAPS - 1, "/lib/x86 64/liballoc.so");
    CHECK_U64(with.files.count, 4); /* not [heap]; .bss is of its file */
    CHECK_U64(file_bytes(&with.files, "/bin/program"), 3 * 9999 * 1024);
    CHECK_U64(file_bytes(&with.files, "/lib/x86 64/liballoc.so"), (9999 + 9999 - 16 + 9999 - 32) * 1024);
    CHECK_U64(file_bytes(&with.files, "[stack]"), 9999 * 1024);
}

TEST(a_library_that_the_program_has_by_itself_is_not_brought)
{
    struct res_files startup = {0}, base = {0}, program = {0}, later = {0};
    res_files_add(&startup, 1, 500, 0); /* the program itself: true(1) */
    res_files_add(&base, 1, 480, 0);
    res_files_add(&startup, 2, 3000, 0); /* libstdc++ */
    res_files_add(&startup, 3, 600, 70); /* the allocator */
    res_files_add(&base, 4, 1000, 0);    /* libc, of which less is read here */
    res_files_add(&startup, 4, 900, 0);
    CHECK_SAME(res_files_brought(&startup, &base, &program), 20 + 3000 + 600);
    res_files_add(&program, 2, 1000, 0);
    res_files_add(&program, 2, 1800, 0); /* its second mapping */
    CHECK_SAME(res_files_brought(&startup, &base, &program), 20 + 200 + 600);
    res_files_add(&later, 2, 4000, 0);
    res_files_add(&later, 1, 490, 0);
    res_files_raise(&program, &later);
    CHECK_SAME(res_files_brought(&startup, &base, &program), 10 + 600);
    /* With the allocator as the baseline it goes. */
    CHECK_SAME(res_files_brought(&base, &startup, &later), 100 - 3000 - 600);
    /* A fork has only what it wrote for itself. */
    startup.walk_stacks = true;
    res_files_keep_written(&startup);
    res_files_keep_written(&base);
    CHECK_SAME(res_files_brought(&startup, &base, &program), 70);
}

TEST(more_names_than_room_do_no_harm)
{
    struct res_files files = {0};
    for (uint64_t i = 1; i <= 2 * RES_FILES_MAX; i++)
        res_files_add(&files, i, 1, 0);
    CHECK_U64(files.count, RES_FILES_MAX);
}

/* One segment to read and one to write, and unwinding tables of seven times eight bytes. */
static void write_elf(const char *path, uint64_t file_bytes, uint64_t memory_bytes)
{
    Elf64_Ehdr head = {.e_phoff = sizeof head, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3};
    const Elf64_Phdr segments[3] = {
        {.p_type = PT_GNU_EH_FRAME, .p_vaddr = 0x700, .p_filesz = 0x8, .p_memsz = 0x8},
        {.p_type = PT_LOAD, .p_vaddr = 0, .p_filesz = 0x800, .p_memsz = 0x800},
        {.p_type = PT_LOAD, .p_vaddr = 0x1f00, .p_filesz = file_bytes, .p_memsz = memory_bytes},
    };
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(&head, sizeof head, 1, file) == 1 &&
          fwrite(segments, sizeof segments, 1, file) == 1);
    CHECK(fclose(file) == 0);
}

TEST(bss_is_what_the_file_says)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "bss-%d", (int)getpid());
    write_elf(path, 0x200, 0x3000); /* in the file up to 0x2100, in memory up to 0x4f00 */
    const int length = snprintf(text, sizeof text,
                                "1000-3000 rw-p 00000000 00:01 7 %s\nAnonymous: 8 kB\n"
                                "3000-90000 rw-p 00000000 00:00 0\nAnonymous: 100 kB\n",
                                path);
    const struct res_smaps sums = res_smaps_parse(text, (size_t)length, NULL);
    CHECK_U64(sums.apart_bytes, (8 + 8) * 1024);
    CHECK_U64(sums.heap_bytes, 92 * 1024); /* mapped right behind it, and joined by the kernel */
    unlink(path);
}

/* tcmalloc of gperftools walks the stack whenever its heap grows: rg held 2.3 MB more of files under it, of which true(1) had
 * 1.8, clang 4.2, of which true(1) had 0.4. */
TEST(who_walks_stacks_reads_tables_of_the_program)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "tables-%d", (int)getpid());
    write_elf(path, 0x200, 0x3000);
    static const char walking[] = MAPPING("1000-2000", "rw-p", "/usr/lib/libunwind.so.8", "0");
    const int length = snprintf(text, sizeof text,
                                "1000-3000 rw-p 00000000 00:01 7 %s\nRss: 123 kB\nAnonymous: 0 kB\n"
                                "4000-9000 rw-p 00000000 00:01 9 less code\nRss: 100 kB\nAnonymous: 0 kB\n",
                                path);
    const double whole = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
    const struct res_files startup = res_smaps_parse(walking, sizeof walking - 1, NULL).files, base = {0};
    struct res_files program = {0};
    const struct res_files sample = res_smaps_parse(text, (size_t)length, NULL).files;
    CHECK_SAME(res_files_brought(&startup, &base, &program), 9999 * 1024); /* the library itself */
    res_files_raise(&program, &sample);
    CHECK_SAME(res_files_brought(&startup, &base, &program), 9999 * 1024 + 123 * 1024 * 7 * 8 / whole);
    CHECK_SAME(res_files_brought(&base, &base, &program), 0);
    CHECK_SAME(res_files_brought(&startup, &startup, &program), 0); /* the baseline's program has read them */
    unlink(path);
}

/* Cut anywhere, sums only grow, and nothing is read behind the end (the sanitizers look). */
TEST(a_text_that_is_cut_is_no_harm)
{
    uint64_t before = 0;
    for (size_t length = 0; length < sizeof SMAPS; length++) {
        char *text = res_calloc(length, 1);
        memcpy(text, SMAPS, length);
        const struct res_smaps sums = res_smaps_parse(text, length, NULL);
        free(text);
        /* Within a number its first digits count: less than the whole, never more. */
        CHECK(sums.heap_bytes + sums.apart_bytes <= 772 * 1024);
        if (length == 0 || SMAPS[length - 1] == '\n') {
            CHECK(sums.heap_bytes + sums.apart_bytes >= before);
            before = sums.heap_bytes + sums.apart_bytes;
        }
    }
    CHECK_U64(before, 772 * 1024);
}

TEST(nonsense_is_passed_over)
{
    static const char text[] = "Anonymous: 5 kB\nzzzz\n1-2\n\n\n1000-2000 rw\nAnonymous: 6 kB\n-- --";
    const struct res_smaps sums = res_smaps_parse(text, sizeof text - 1, NULL);
    CHECK_U64(sums.heap_bytes + sums.apart_bytes, 0);
}

TEST(status_is_whole_or_refused)
{
    static const char text[] = "Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t 8 kB\nVmRSS:\t 7 kB\nRssAnon:\t 4 kB\n"
                               "RssFile:\t 2 kB\nRssShmem:\t 1 kB\n";
    struct res_status status = {0};
    CHECK(res_status_parse(text, &status));
    CHECK_U64(status.peak_bytes, 8 * 1024);
    CHECK_U64(status.anonymous_bytes + status.file_bytes + status.shared_bytes, status.resident_bytes);
    CHECK(!res_status_parse("Name:\tx\nState:\tZ (zombie)\n", &status));
}

TEST(words_survive_the_shell)
{
    char first[] = "/bin/a b", second[] = "it's \"$x\"", third[] = "";
    char *const words[] = {first, second, third, NULL};
    char *line = res_shell_words(words);
    CHECK_STR(line, "'/bin/a b' 'it'\\''s \"$x\"' ''");
    free(line);
}

static bool parses(const char *text, struct res_timed *ret)
{
    char *reason = NULL;
    const bool parsed = res_timed_parse(text, strlen(text), ret, &reason);
    CHECK(parsed == (reason == NULL));
    free(reason);
    return parsed;
}

TEST(hyperfine_is_believed_when_it_makes_sense)
{
    struct res_timed timed = {0};
    CHECK(parses("{\"results\":[{\"times\":[0.5],\"user\":0.25,\"system\":0.125,\"exit_codes\":[3]}]}",
                 &timed));
    CHECK_SAME(timed.wall_ns, 5e8);
    CHECK_SAME(timed.user_ns + timed.system_ns, 3.75e8);
    CHECK_U64(timed.exit_code, 3);
    CHECK(parses("{\"results\":[{\"times\":[1],\"user\":1,\"system\":0,\"exit_codes\":[null]}]}", &timed));
    CHECK_U64(timed.exit_code, RES_SOME_SIGNAL);
    CHECK(!parses("", &timed));
    CHECK(!parses("{}", &timed));
    CHECK(!parses("{\"results\":[]}", &timed));
    CHECK(!parses("{\"results\":[{\"times\":[-1],\"user\":0,\"system\":0}]}", &timed));
    CHECK(!parses("{\"results\":[{\"times\":[1],\"user\":\"0\",\"system\":0}]}", &timed));
}

RUN_TESTS(T(runs_that_were_alike_have_one_peak), T(reading_that_changes_what_a_program_holds_is_told),
          T(prediction_is_rest_and_startup_and_replay), T(no_real_figure_no_error),
          T(a_small_heap_is_not_judged), T(moments_of_two_runs_are_matched_by_the_heap),
          T(peaks_that_do_not_fall_together_are_not_added), T(a_group_holds_what_its_processes_hold_together),
          T(sign_is_judged_outside_the_noise_only), T(heap_is_told_from_the_rest),
          T(a_mapping_that_is_listed_twice_counts_once), T(what_is_resident_is_told_by_name_but_for_the_heap),
          T(a_library_that_the_program_has_by_itself_is_not_brought), T(more_names_than_room_do_no_harm),
          T(what_lies_behind_a_memory_file_is_heap), T(bss_is_what_the_file_says),
          T(who_walks_stacks_reads_tables_of_the_program), T(a_text_that_is_cut_is_no_harm),
          T(nonsense_is_passed_over), T(status_is_whole_or_refused), T(words_survive_the_shell),
          T(hyperfine_is_believed_when_it_makes_sense))

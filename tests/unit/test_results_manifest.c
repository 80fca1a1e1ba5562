/* test_results_manifest - a plan is read as it was written; what is torn, out of bounds, or leads out of the directory is
 * refused; files of cells are told apart, published once, and never replaced. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "harness.h"
#include "results/measure/plan/cell_files.h"
#include "results/measure/plan/manifest.h"
#include "scratch.h"

#define HEAD                                                                                                 \
    "mallab-plan/1\ncells\t%s\nmallab\t0.1.0\nbaseline\tglibc\nmachine\tany\nweights\thosts\n"               \
    "selection\tall\ntouch\tpage\nmemory_rounds\t3\nidle_ms\t60000\nseed\t7\nload_percent\t25\n"             \
    "all_hosts\t0\ncandidate\tglibc\tglibc\t/lib/libc.so.6\t2.36\tab12\tcd34\t\n"                            \
    "candidate\tlibx\t/opt/libx.so\t/opt/libx.so\t\t\t\tX_CONF='a b'\n"                                      \
    "id\tlabel\tworkload\tfile_digest\tblock\trounds\tseed\tthreads\tshare\n"
#define ROW(id, label, path, rest) id "\t" label "\t" path "\t" rest
#define A                          "workloads/00000000000000aa.wl"
#define REST                       "00000000000000aa\t0\t8\t11\t2\t0.25\n"
#define OTHER                      "00000000000000ab\t0\t8\t12\t1\t0.75\n"

/* The problem, "" when it is read. */
static const char *problem_of(const char *cells, const char *rows)
{
    static char kept[512];
    struct res_plan plan;
    char *problem = NULL, *head = res_printf(HEAD, cells), *text = res_printf("%s%s", head, rows);
    kept[0] = '\0';
    if (res_plan_parse(text, strlen(text), &plan, &problem))
        res_plan_release(&plan);
    else
        snprintf(kept, sizeof kept, "%s", problem);
    CHECK(plan.rows == NULL && plan.candidates == NULL); /* released, or empty */
    free(problem);
    free(text);
    free(head);
    return kept;
}

TEST(a_plan_is_read_as_it_was_written)
{
    struct res_plan plan;
    char *problem = NULL;
    char *text = res_printf(HEAD "%s", "3",
                            ROW("0", "h1", A, REST) ROW("1", "h-2", A, OTHER)
                                ROW("2", "h1", A, "00000000000000aa\t1\t8\t13\t2\t0.25\n"));
    CHECK(res_plan_parse(text, strlen(text), &plan, &problem));
    CHECK_STR(problem != NULL ? problem : "", "");
    CHECK_U64(plan.row_count, 3);
    CHECK_U64(plan.candidate_count, 2);
    CHECK_STR(plan.rows[1].label, "h-2");
    CHECK_U64(plan.rows[1].file_digest, 0xab);
    CHECK_U64(plan.rows[2].block, 1);
    CHECK(plan.rows[0].share == 0.25);
    CHECK(res_plan_same_workload(&plan.rows[0], &plan.rows[2]));
    CHECK(!res_plan_same_workload(&plan.rows[0], &plan.rows[1]));
    CHECK_STR(plan.candidates[1].word, "/opt/libx.so");
    CHECK_STR(plan.candidates[1].environment, "X_CONF='a b'");
    CHECK(plan.candidates[1].build.id == NULL);
    CHECK_U64(strlen(plan.digest), 32);
    char digest[33];
    memcpy(digest, plan.digest, sizeof digest);
    char *again = res_plan_text(&plan);
    CHECK_STR(again, text);
    CHECK_STR(plan.digest, digest);
    free(again);
    /* More blocks leave the digest as it is. */
    free(plan.rows[2].label);
    free(plan.rows[2].workload);
    plan.row_count = 2;
    again = res_plan_text(&plan);
    CHECK_STR(plan.digest, digest);
    free(again);
    plan.seed = 8;
    again = res_plan_text(&plan);
    CHECK(strcmp(plan.digest, digest) != 0);
    free(again);
    free(text);
    res_plan_release(&plan);
}

TEST(a_bad_row_is_refused)
{
    static const struct {
        const char *cells, *rows, *word;
    } CASES[] = {
        {"2", ROW("0", "h1", A, REST) ROW("1", "h2", A, OTHER), ""},
        {"2", ROW("0", "h1", A, REST), "cut off"},
        {"2", ROW("0", "h1", A, REST) "1\th2\t" A "\t00000000000000ab\t0\t8\t12\t1\t0.75", "cut off"},
        {"1", ROW("0", "h1", A, REST) ROW("1", "h2", A, OTHER), "more rows"},
        {"0", "", "number of cells"},
        {"1000001", "", "number of cells"},
        {"99999999999999999999", "", "number of cells"},
        {"-1", "", "number of cells"},
        {"2", ROW("0", "h1", A, REST) ROW("2", "h2", A, OTHER), "without gaps"},
        {"2", ROW("1", "h1", A, REST) ROW("1", "h2", A, OTHER), "without gaps"},
        {"2", ROW("0", "", A, REST) ROW("1", "h2", A, OTHER), "label"},
        {"2", ROW("0", "h\x1b[31m", A, REST) ROW("1", "h2", A, OTHER), "label"},
        {"2", ROW("0", "h1", "/etc/passwd", REST) ROW("1", "h2", A, OTHER), "path"},
        {"2", ROW("0", "h1", "../x.wl", REST) ROW("1", "h2", A, OTHER), "path"},
        {"2", ROW("0", "h1", "workloads/../../x.wl", REST) ROW("1", "h2", A, OTHER), "path"},
        {"2", ROW("0", "h1", "workloads/.hidden", REST) ROW("1", "h2", A, OTHER), "path"},
        {"2", ROW("0", "h1", "workloads//x", REST) ROW("1", "h2", A, OTHER), "path"},
        {"2", ROW("0", "h1", "workloads/", REST) ROW("1", "h2", A, OTHER), "path"},
        {"2", ROW("0", "h1", "", REST) ROW("1", "h2", A, OTHER), "path"},
        {"2", ROW("0", "h1", A, "aa\t0\t8\t11\t2\t0.25\n") ROW("1", "h2", A, OTHER), "digest"},
        {"2", ROW("0", "h1", A, "00000000000000aa\t0\t0\t11\t2\t0.25\n") ROW("1", "h2", A, OTHER), "bounds"},
        {"2", ROW("0", "h1", A, "00000000000000aa\t1000\t8\t11\t2\t0.25\n") ROW("1", "h2", A, OTHER),
         "bounds"},
        {"2", ROW("0", "h1", A, "00000000000000aa\t0\t8\t11\t2\tnan\n") ROW("1", "h2", A, OTHER), "bounds"},
        {"2", ROW("0", "h1", A, "00000000000000aa\t0\t8\t11\t2\t0\n") ROW("1", "h2", A, OTHER), "bounds"},
        {"2", ROW("0", "h1", A, "00000000000000aa\t0\t8\t11\t2\t0.5\n") ROW("1", "h2", A, OTHER), "sum to 1"},
        {"2", ROW("0", "h1", A, REST) ROW("1", "h1", A, "00000000000000aa\t0\t8\t12\t1\t0.25\n"), "agree"},
        {"2", ROW("0", "h1", A, REST) ROW("1", "h1", A, "00000000000000aa\t1\t8\t12\t1\t0.75\n"), "agree"},
        {"2", ROW("0", "h1", A, REST) "1\th2\n", "9 columns"},
        {"2", ROW("0", "h1", A, REST) "1\th2\t" A "\t00000000000000ab\t0\t8\t12\t1\t0.75\tx\n", "9 columns"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const char *problem = problem_of(CASES[i].cells, CASES[i].rows);
        if (*CASES[i].word == '\0' ? *problem != '\0' : strstr(problem, CASES[i].word) == NULL)
            HARNESS_FAIL("case %zu: '%s', expected '%s'", i, problem, CASES[i].word);
    }
}

TEST(a_bad_head_is_refused)
{
    static const char *const TEXTS[] = {"",
                                        "mallab-plan/1",
                                        "mallab-plan/2\n",
                                        "{\"schema\": \"mallab-plan/1\"}\n",
                                        "mallab-plan/1\ncells\t1\nid\tlabel\n",
                                        "mallab-plan/1\ncells\t1\nmallab\t0.1.0\nmallab\t0.1.0\n",
                                        "mallab-plan/1\ncells\t1\nfuture\t1\n",
                                        "mallab-plan/1\ncells\t1\ncandidate\ta\tb\n",
                                        "mallab-plan/1\ncells\t1\nall_hosts\t2\n",
                                        "mallab-plan/1\ncells\t1\nload_percent\t101\n"};
    struct res_plan plan;
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        char *problem = NULL;
        CHECK(!res_plan_parse(TEXTS[i], strlen(TEXTS[i]), &plan, &problem));
        CHECK(problem != NULL && plan.mallab_version == NULL);
        free(problem);
    }
    char *problem = NULL;
    CHECK(!res_plan_parse("mallab-plan/1\n\0", 15, &plan, &problem));
    free(problem);
}

/* A plan's directory of our own; its descriptor. */
static int directory_of(const char *name)
{
    const char *path = scratch_path(name);
    CHECK(mkdir(path, 0755) == 0);
    char *problem = NULL;
    const int fd = res_plan_directory(path, &problem);
    CHECK(fd >= 0);
    return fd;
}

TEST(a_plan_comes_through_the_door)
{
    struct res_plan plan;
    char *problem = NULL,
         *text = res_printf(HEAD ROW("0", "h1", A, "00000000000000aa\t0\t8\t1\t2\t1\n"), "1");
    const int fd = directory_of("door");
    CHECK(res_plan_parse(text, strlen(text), &plan, &problem));
    CHECK(res_plan_save(fd, &plan, &problem));
    res_plan_release(&plan);
    CHECK(res_plan_load(scratch_path("door"), &plan, NULL, &problem));
    CHECK_U64(plan.row_count, 1);
    res_plan_release(&plan);
    /* A link is not followed, and what others may write to is not believed. */
    CHECK(rename(scratch_path("door/manifest.tsv"), scratch_path("door/real.tsv")) == 0);
    CHECK(symlink("real.tsv", scratch_path("door/manifest.tsv")) == 0);
    CHECK(!res_plan_load(scratch_path("door"), &plan, NULL, &problem));
    CHECK(strstr(problem, "symbolic link") != NULL);
    free(problem);
    problem = NULL;
    CHECK(unlink(scratch_path("door/manifest.tsv")) == 0);
    CHECK(rename(scratch_path("door/real.tsv"), scratch_path("door/manifest.tsv")) == 0);
    CHECK(chmod(scratch_path("door"), 0777) == 0);
    CHECK(!res_plan_load(scratch_path("door"), &plan, NULL, &problem));
    free(problem);
    free(text);
    close(fd);
}

TEST(files_of_cells_are_told_apart)
{
    static const struct {
        const char *name;
        enum res_cell_file kind;
        uint64_t cell;
    } CASES[] = {{"17.json", RES_CELL_RESULT, 17},
                 {"0.json", RES_CELL_RESULT, 0},
                 {"17.why", RES_CELL_WHY, 17},
                 {"17.json.00ff12ab00ff12ab", RES_CELL_TEMPORARY, 17},
                 {"3.why.1", RES_CELL_TEMPORARY, 3},
                 {"017.json", RES_CELL_OTHER, 0},
                 {".json", RES_CELL_OTHER, 0},
                 {"17.json~", RES_CELL_OTHER, 0},
                 {"17.json.", RES_CELL_OTHER, 0},
                 {"17.json.zst", RES_CELL_OTHER, 0},
                 {"17.jsonx", RES_CELL_OTHER, 0},
                 {"x17.json", RES_CELL_OTHER, 0},
                 {"99999999999999999.json", RES_CELL_OTHER, 0},
                 {"", RES_CELL_OTHER, 0}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        uint64_t cell = 0;
        CHECK_U64(res_cell_file_of(CASES[i].name, &cell), CASES[i].kind);
        CHECK_U64(cell, CASES[i].cell);
    }
}

static void check_content(int cells, uint64_t cell, const char *expected)
{
    struct fp_error error;
    char text[64] = "";
    const int fd = res_cell_open(cells, cell, &error);
    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) >= 0);
    CHECK_STR(text, expected);
    close(fd);
}

TEST(a_result_is_published_once)
{
    char *problem = NULL;
    struct fp_error error;
    const int plan = directory_of("once"), cells = res_cells_open(plan, true, &problem);
    CHECK(cells >= 0);
    CHECK(res_cell_open(cells, 4, &error) < 0 && error.status == FP_ERR_OPEN && error.sys_errno == ENOENT);
    CHECK_U64(res_cell_publish(cells, 4, "first", 5, &problem), RES_CELL_PUBLISHED);
    CHECK_U64(res_cell_publish(cells, 4, "second", 6, &problem), RES_CELL_WAS_THERE);
    check_content(cells, 4, "first");
    /* The maker was killed before it took the temporary's name away. */
    CHECK(linkat(cells, "4.json", cells, "4.json.0123456789abcdef", 0) == 0);
    check_content(cells, 4, "first");
    CHECK(linkat(cells, "4.json", cells, "else", 0) == 0);
    CHECK(res_cell_open(cells, 4, &error) < 0 && error.status == FP_ERR_UNTRUSTED);
    CHECK(symlinkat("4.json", cells, "5.json") == 0);
    CHECK(res_cell_open(cells, 5, &error) < 0);
    CHECK_U64(res_cell_publish(cells, 5, "x", 1, &problem), RES_CELL_WAS_THERE);
    close(cells);
    close(plan);
}

TEST(why_there_is_none_is_told)
{
    char *problem = NULL;
    const int plan = directory_of("why"), cells = res_cells_open(plan, true, &problem);
    CHECK(res_cell_why(cells, 1) == NULL);
    CHECK_U64(res_cell_tries(cells, 1), 0);
    res_cell_set_why(cells, 1, 75, "too \x1b[1m busy\nhere");
    CHECK_U64(res_cell_tries(cells, 1), 1);
    res_cell_set_why(cells, 1, 3, "digest differs (exit 7 on n, try 5)");
    CHECK_U64(res_cell_tries(cells, 1), 2);
    char *why = res_cell_why(cells, 1), *node = res_node_name();
    char *expected = res_printf("digest differs (exit 7 on n, try 5) (exit 3 on %.64s, try 2)", node);
    CHECK_STR(why, expected);
    free(expected);
    free(node);
    free(why);
    close(cells);
    close(plan);
}

/* Eight at once: one is first, and all that the others do is nothing. */
TEST(of_copies_at_once_one_is_kept)
{
    char *problem = NULL;
    const int plan = directory_of("race"), cells = res_cells_open(plan, true, &problem);
    pid_t children[8];
    unsigned published = 0, there = 0;
    for (unsigned i = 0; i < 8; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            char text[32];
            snprintf(text, sizeof text, "copy %u", i);
            _exit((int)res_cell_publish(cells, 9, text, strlen(text), &problem));
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        int status = 0;
        CHECK(waitpid(children[i], &status, 0) == children[i] && WIFEXITED(status));
        published += WEXITSTATUS(status) == RES_CELL_PUBLISHED;
        there += WEXITSTATUS(status) == RES_CELL_WAS_THERE;
    }
    CHECK_U64(published, 1);
    CHECK_U64(there, 7);
    close(cells);
    close(plan);
}

RUN_TESTS(T(a_plan_is_read_as_it_was_written), T(a_bad_row_is_refused), T(a_bad_head_is_refused),
          T(a_plan_comes_through_the_door), T(files_of_cells_are_told_apart), T(a_result_is_published_once),
          T(why_there_is_none_is_told), T(of_copies_at_once_one_is_kept))

/* test_results_collecting.c - cells of a plan come home: in any order, whole or torn, doubled, of another plan, of hosts that share a
 * name; and two thousand of them, one at a time in memory. */
#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>

#include "footprint/base/support.h"
#include "results/measure/figures/entry_figures.h"
#include "results/measure/plan/cell_files.h"
#include "results/measure/plan/collecting.h"
#include "results/measure/plan/manifest.h"
#include "results/measure/result/result.h"
#include "results/report/table/fleet_table.h"
#include "unit/harness.h"
#include "unit/scratch.h"

#define DIGEST UINT64_C(0x1d2c3b4a59687786)

static json_t *template_of(void)
{
    char *path = res_printf("%s/tests/cli/data/gate-now.json", getenv("MALLAB_SOURCE"));
    json_error_t error;
    json_t *json = json_load_file(path, 0, &error);
    free(path);
    if (json == NULL)
        abort();
    return json;
}

/* As the result has them. */
static struct res_plan plan_of(const json_t *result, size_t rows)
{
    const json_t *workload = json_array_get(json_object_get(result, "workloads"), 0);
    const json_t *candidates = json_object_get(workload, "candidates");
    struct res_plan plan = {.mallab_version = res_strdup(MALLAB_VERSION),
                            .baseline = res_strdup(json_string_value(json_object_get(result, "baseline"))),
                            .machine = res_strdup(RES_PLAN_ANY),
                            .weights = res_strdup("hosts"),
                            .selection = res_strdup("all"),
                            .touch = res_strdup("page"),
                            .load_percent = 100,
                            .candidate_count = json_array_size(candidates),
                            .row_count = rows};
    plan.candidates = res_calloc(plan.candidate_count, sizeof *plan.candidates);
    for (size_t i = 0; i < plan.candidate_count; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(candidates, i), "name"));
        char *plain = res_text_plain(name);
        plan.candidates[i] = (struct res_plan_candidate){.name = plain,
                                                         .word = res_strdup(plain),
                                                         .library = res_strdup(""),
                                                         .version = res_strdup(""),
                                                         .environment = res_strdup("")};
    }
    plan.rows = res_calloc(rows, sizeof *plan.rows);
    for (size_t i = 0; i < rows; i++)
        plan.rows[i] = (struct res_plan_row){
            .label = res_printf("host-%zu", i),
            .workload = res_strdup("workloads/x.wl"),
            .file_digest = DIGEST,
            .rounds = (uint64_t)json_integer_value(json_object_get(workload, "rounds")),
            .seed = i,
            .threads = 1,
            .share = 1.0 / (double)rows};
    return plan;
}

/* A cell's result, time of the last candidate moved a little by its number. The caller's to free. */
static char *cell_text(json_t *result, const struct res_plan *plan, uint64_t cell)
{
    char digest[17];
    json_t *workload = json_array_get(json_object_get(result, "workloads"), 0);
    snprintf(digest, sizeof digest, "%016" PRIx64, plan->rows[cell].file_digest);
    json_object_set_new(workload, "file_digest", json_string(digest));
    json_object_set_new(result, "cell",
                        json_pack("{s:I, s:s, s:I, s:s}", "id", (json_int_t)cell, "label",
                                  plan->rows[cell].label, "block", (json_int_t)plan->rows[cell].block, "plan",
                                  plan->digest));
    return json_dumps(result, JSON_COMPACT);
}

struct scene {
    const char *directory;
    int fd, cells;
    json_t *result;
    struct res_plan plan;
};

static struct scene scene_begin(const char *name, size_t rows)
{
    struct scene scene = {.directory = scratch_path(name), .result = template_of()};
    char *problem = NULL;
    CHECK(mkdir(scene.directory, 0755) == 0);
    scene.fd = open(scene.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    scene.plan = plan_of(scene.result, rows);
    if (!res_plan_save(scene.fd, &scene.plan, &problem))
        HARNESS_FAIL("%s", problem);
    scene.cells = res_cells_open(scene.fd, true, &problem);
    CHECK(scene.cells >= 0);
    return scene;
}

static void scene_end(struct scene *scene)
{
    json_decref(scene->result);
    res_plan_release(&scene->plan);
    close(scene->fd);
    close(scene->cells);
}

static void publish(const struct scene *scene, uint64_t cell)
{
    char *text = cell_text(scene->result, &scene->plan, cell), *problem = NULL;
    CHECK_U64(res_cell_publish(scene->cells, cell, text, strlen(text), &problem), RES_CELL_PUBLISHED);
    free(text);
}

static void put(const struct scene *scene, const char *name, const char *text)
{
    const int fd = openat(scene->cells, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

static struct res_fleet collect(const struct scene *scene)
{
    struct res_fleet fleet = {0};
    uint64_t done = 0, all = 0;
    char *problem = NULL;
    struct res_collecting *collecting = res_collecting_begin(scene->directory, &problem);
    if (collecting == NULL) {
        HARNESS_FAIL("%s", problem);
        exit(1);
    }
    while (res_collecting_next(collecting, &done, &all))
        ;
    CHECK_U64(done, scene->plan.row_count);
    CHECK_U64(all, scene->plan.row_count);
    res_collecting_finish(collecting, &fleet);
    return fleet;
}

static char *document_of(const struct res_fleet *fleet)
{
    json_t *json = res_fleet_write(fleet);
    char *text = json_dumps(json, JSON_INDENT(1));
    json_decref(json);
    return text;
}

/* Two hosts whose workloads have one name and one digest are two rows, and the order in which cells come changes no byte. */
TEST(the_order_of_coming_changes_nothing)
{
    static const uint64_t ORDERS[2][4] = {{0, 1, 2, 3}, {2, 0, 3, 1}};
    char *documents[2];
    for (size_t order = 0; order < 2; order++) {
        struct scene scene = scene_begin(order == 0 ? "one" : "other", 4);
        for (size_t i = 0; i < 4; i++) {
            publish(&scene, ORDERS[order][i]);
            struct res_fleet so_far = collect(&scene);
            CHECK_U64(so_far.host_count, i + 1);
            CHECK_U64(so_far.missing_count, 3 - i);
            res_fleet_release(&so_far);
        }
        struct res_fleet fleet = collect(&scene);
        CHECK_STR(fleet.hosts[0].label, "host-0");
        CHECK_STR(fleet.hosts[3].label, "host-3");
        documents[order] = document_of(&fleet);
        struct res_fleet again = {0};
        json_t *json = res_fleet_write(&fleet);
        char *problem = NULL;
        CHECK(res_fleet_read(json, &again, &problem));
        char *rewritten = document_of(&again);
        CHECK_STR(rewritten, documents[order]);
        free(rewritten);
        json_decref(json);
        res_fleet_release(&again);
        res_fleet_release(&fleet);
        scene_end(&scene);
    }
    CHECK_STR(documents[0], documents[1]);
    free(documents[0]);
    free(documents[1]);
}

static const char *cause_of(const struct res_fleet *fleet, uint64_t cell)
{
    for (size_t i = 0; i < fleet->missing_count; i++)
        if (fleet->missing[i].cell == cell)
            return fleet->missing[i].cause;
    return "it is there";
}

static void check_cause(const struct res_fleet *fleet, uint64_t cell, const char *words)
{
    if (strstr(cause_of(fleet, cell), words) == NULL)
        HARNESS_FAIL("cell %" PRIu64 ": '%s' does not hold '%s'", cell, cause_of(fleet, cell), words);
}

/* Everything that is no cell's result is named, with its cause, or counted. */
TEST(what_is_not_taken_is_named)
{
    struct scene scene = scene_begin("odd", 10);
    publish(&scene, 0);
    put(&scene, "1.json", "{\"schema\": \"mallab-exp"); /* torn */
    put(&scene, "2.json", "");
    char *text = cell_text(scene.result, &scene.plan, 0);
    put(&scene, "3.json", text); /* a copy of cell 0 */
    put(&scene, "0 (1).json", text);
    put(&scene, "77.json", text);
    put(&scene, "0.json.0123456789abcdef", text);
    put(&scene, "5.json.89abcdef", "{");
    free(text);
    res_cell_set_why(scene.cells, 4, 75, "other programs used 60 % of processor time");
    res_cell_set_why(scene.cells, 0, 75, "void, the result is there");
    char digest[sizeof scene.plan.digest];
    memcpy(digest, scene.plan.digest, sizeof digest);
    memset(scene.plan.digest, 'a', sizeof digest - 1);
    publish(&scene, 5); /* of another plan */
    memcpy(scene.plan.digest, digest, sizeof digest);
    json_t *workload = json_array_get(json_object_get(scene.result, "workloads"), 0);
    json_t *rounds = json_incref(json_object_get(workload, "rounds"));
    json_object_set_new(workload, "rounds", json_integer(json_integer_value(rounds) - 1));
    publish(&scene, 6);
    json_object_set_new(workload, "rounds", rounds);
    scene.plan.rows[7].file_digest++;
    publish(&scene, 7);
    json_object_del(scene.result, "cell");
    text = json_dumps(scene.result, 0);
    put(&scene, "8.json", text);
    free(text);
    CHECK(symlinkat("0.json", scene.cells, "9.json") == 0);

    struct res_fleet fleet = collect(&scene);
    CHECK_U64(fleet.host_count, 1);
    CHECK_U64(fleet.missing_count, 9);
    check_cause(&fleet, 0, "it is there");
    check_cause(&fleet, 1, "its file cannot be read");
    check_cause(&fleet, 2, "its file cannot be read");
    check_cause(&fleet, 3, "its file is of cell 0");
    check_cause(&fleet, 4, "other programs used 60 % of processor time (exit 75");
    check_cause(&fleet, 5, "its file is of another plan");
    check_cause(&fleet, 6, "rounds of");
    check_cause(&fleet, 7, "its file is of another workload");
    check_cause(&fleet, 8, "its file is a result of no cell");
    check_cause(&fleet, 9, "its file is not taken");
    CHECK_U64(fleet.left.torn, 2);
    CHECK_U64(fleet.left.doubled, 2);
    CHECK_U64(fleet.left.temporary, 2);
    char *numbers = res_fleet_missing_numbers(&fleet);
    CHECK_STR(numbers, "1-9\n");
    free(numbers);
    res_fleet_release(&fleet);
    scene_end(&scene);
}

TEST(a_plan_without_cells_is_all_missing)
{
    struct scene scene = scene_begin("none", 3);
    CHECK(unlinkat(scene.fd, "cells", AT_REMOVEDIR) == 0);
    struct res_fleet fleet = collect(&scene);
    CHECK_U64(fleet.missing_count, 3);
    check_cause(&fleet, 2, "no result yet");
    res_fleet_release(&fleet);
    CHECK(res_is_plan(scene.directory) && !res_is_plan("."));
    scene_end(&scene);
}

/* Some 20 MB of JSON, a hundred times that parsed. What stays of a cell is its figures. */
TEST(memory_is_that_of_one_cell)
{
    struct rusage before, after;
    struct scene scene = scene_begin("many", 2000);
    for (uint64_t i = 0; i < 2000; i++) { /* not published: a disk takes longer for that than all of it */
        char *text = cell_text(scene.result, &scene.plan, i), name[32];
        snprintf(name, sizeof name, "%" PRIu64 ".json", i);
        put(&scene, name, text);
        free(text);
    }
    CHECK(getrusage(RUSAGE_SELF, &before) == 0);
    struct res_fleet fleet = collect(&scene);
    CHECK(getrusage(RUSAGE_SELF, &after) == 0);
    CHECK_U64(fleet.host_count, 2000);
    CHECK_U64(fleet.missing_count, 0);
    printf("2000 cells: %ld kB before, %ld kB at most\n", before.ru_maxrss, after.ru_maxrss);
#ifndef MALLAB_SANITIZED /* its malloc keeps what was freed */
    CHECK(after.ru_maxrss - before.ru_maxrss < 40000);
#endif
    res_fleet_release(&fleet);
    scene_end(&scene);
}

RUN_TESTS(T(the_order_of_coming_changes_nothing), T(what_is_not_taken_is_named),
          T(a_plan_without_cells_is_all_missing), T(memory_is_that_of_one_cell))

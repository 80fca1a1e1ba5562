/* verb_allocators.c - `mallab allocators`: what can be compared on this machine. */
#include <stdio.h>

#include "cli/verbs/verbs.h"
#include "results/measure/base/fields.h"

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.row = &cli_answer_json},
    {0},
};
/* clang-format on */

static json_t *pairs_object(const struct res_pairs *pairs)
{
    json_t *object = json_object();
    for (size_t i = 0; i < pairs->count; i++)
        json_object_set_new(object, pairs->items[i].name, res_json_text(pairs->items[i].value));
    return object;
}

static json_t *ranges_array(const struct res_candidate *candidate)
{
    json_t *array = json_array();
    for (size_t i = 0; i < candidate->ranges.count; i++) {
        json_t *values = json_array();
        char *value;
        for (size_t k = 0; (value = res_range_value(&candidate->ranges.items[i], k)) != NULL; k++) {
            json_array_append_new(values, res_json_text(value));
            free(value);
        }
        json_array_append_new(array,
                              json_pack("{s:o, s:o}", "setting",
                                        res_json_text(candidate->ranges.items[i].name), "values", values));
    }
    return array;
}

static json_t *candidate_object(const struct res_candidate *candidate)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", res_json_text(candidate->name));
    json_object_set_new(object, "description", res_json_text(candidate->description));
    json_object_set_new(object, "found", json_boolean(candidate->found));
    json_object_set_new(object, "version", res_json_text(candidate->version));
    json_object_set_new(object, "library", res_json_text(candidate->path));
    json_object_set_new(object, "library_name", res_json_text(candidate->library));
    json_object_set_new(object, "method", json_string(candidate->preload != NULL ? "preload" : "linked"));
    json_object_set_new(object, "proof", res_json_text(candidate->proof));
    json_object_set_new(object, "package", res_json_text(candidate->package));
    json_object_set_new(object, "missing", res_json_text(candidate->missing));
    json_object_set_new(object, "program", res_json_text(candidate->program));
    json_object_set_new(object, "environment", pairs_object(&candidate->environment));
    json_object_set_new(object, "settings_proven", json_boolean(candidate->settings == NULL));
    json_object_set_new(object, "expect", pairs_object(&candidate->expected));
    json_object_set_new(object, "ranges", ranges_array(candidate));
    json_object_set_new(object, "file", res_json_text(candidate->origin));
    return object;
}

static int print_json(const struct res_registry *registry)
{
    json_t *object = json_object();
    json_t *array = json_array();
    for (size_t i = 0; i < registry->candidate_count; i++)
        json_array_append_new(array, candidate_object(registry->candidates[i]));
    json_object_set_new(object, "schema", json_string("mallab-allocators/1"));
    json_object_set_new(object, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(object, "allocators", array);
    return cli_print_json(object);
}

/* Below a candidate stand the settings that make it differ from another one of the same library. */
static void print_table(const struct res_registry *registry)
{
    static const struct res_column columns[] = {
        {.heading = "name"},
        {.heading = "version", .gap = 2},
        {.heading = "proof", .gap = 2},
        {.heading = "how", .least = 7, .gap = 2},
        {.heading = "library", .open = true, .gap = 2},
    };
    const struct res_style style = {0};
    struct res_text page = {0};
    struct res_grid grid;
    res_grid_begin(&grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < registry->candidate_count; i++) {
        const struct res_candidate *candidate = registry->candidates[i];
        res_grid_add(&grid, candidate->name);
        res_grid_add(&grid, candidate->version != NULL ? candidate->version : "-");
        res_grid_add(&grid, candidate->proof != NULL ? candidate->proof : "address");
        res_grid_add(&grid, candidate->preload != NULL ? "preload" : "linked");
        if (candidate->found)
            res_grid_add(&grid, candidate->path != NULL ? candidate->path : "-");
        else
            res_grid_own(&grid, res_printf("missing: %s", candidate->missing));
        for (size_t k = 0; k < candidate->environment.count; k++) {
            char *setting = res_printf("%s=%s", candidate->environment.items[k].name,
                                       candidate->environment.items[k].value);
            res_grid_below(&grid, setting);
            free(setting);
        }
    }
    res_grid_text(&grid, &style, &page);
    cli_put(page.text, page.length);
    res_grid_release(&grid);
    free(page.text);
}

static int run_allocators(int argc, char **argv)
{
    struct cli_answer answer = {0};
    struct cli_operands operands;
    struct res_registry registry = {0};
    int code = cli_options_take(&CLI_ALLOCATORS, argc, argv, &answer, &operands);
    if (code >= 0)
        return code;
    code = cli_registry_load(&CLI_ALLOCATORS, &registry);
    if (code == CLI_DONE) {
        for (size_t i = 0; i < registry.candidate_count; i++)
            (void)res_candidate_resolve(registry.candidates[i],
                                        res_program_directories()); /* shown as it comes out */
        if (cli_is_json(&answer))
            code = print_json(&registry);
        else
            print_table(&registry);
    }
    res_registry_release(&registry);
    return code;
}

const struct cli_verb CLI_ALLOCATORS = {
    .name = "allocators",
    .summary = "list the allocators that can be compared",
    .usage = "[OPTION...]",
    .purpose =
        "List the candidates: name, version and library of those that are here, the package to install of "
        "those that are not, and how a run proves which allocator served it. Each is a file in "
        "$MALLAB_ALLOCATORS, or where mallab was installed.",
    .options = OPTIONS,
    .examples = "mallab allocators",
    .exit_codes = "0 done, 1 failed, 2 misuse",
    .run = run_allocators,
};

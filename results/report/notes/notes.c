/* notes.c - words around the table. */
#include "results/report/notes/notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/experiment/hyperfine_runs.h"
#include "results/measure/figures/memory_limit.h"
#include "results/measure/figures/steadiness.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/deploy.h"
#include "results/report/notes/memory_words.h"
#include "results/report/notes/noise_words.h"
#include "results/report/table/table.h"

#define FEW_OPS 20000 /* an allocator's first calls take some 100 us: here 5 ns of each */

void res_notes_why(struct res_text *text, const char *label, const json_t *entry, const char *what,
                   const json_t *object, const char *key)
{
    if (!json_is_string(json_object_get(object, key)))
        return;
    char *name = res_cell_plain(entry, "name", "?");
    char *why = res_cell_plain(object, key, "?");
    char *words = res_printf("%s: %s%s", name, what, why);
    res_lines_add(text, label, words);
    free(words);
    free(why);
    free(name);
}

char *res_workload_program(const json_t *workload)
{
    const char *name = json_string_value(json_object_get(workload, "name"));
    const char *program = json_string_value(json_object_get(workload, "program"));
    const json_int_t processes = json_integer_value(json_object_get(workload, "processes"));
    const json_int_t merged = json_integer_value(json_object_get(workload, "merged_processes"));
    const char *selection = json_string_value(json_object_get(workload, "selection"));
    const size_t length = program != NULL ? strlen(program) : 0;
    const bool says_nothing = length == 0 || (name != NULL && strncmp(name, program, length) == 0 &&
                                              (name[length] == '.' || name[length] == '\0'));
    char *plain, *words;
    if (says_nothing && processes < 2 && selection == NULL)
        return NULL;
    plain = res_text_plain(length > 0 ? program : "a program without name");
    words = processes < 2 ? res_strdup(plain)
                          : res_printf("%s, %lld of %lld processes, %.0f %% of the events", plain,
                                       (long long)(merged > 0 ? merged : 1), (long long)processes,
                                       100 * res_cell_number(workload, "events_share"));
    free(plain);
    if (selection != NULL) {
        char *chosen = res_text_plain(selection);
        char *all = res_printf("%s; %s", words, chosen);
        free(words);
        free(chosen);
        words = all;
    }
    return words;
}

char *res_incomplete_words(const json_t *workload)
{
    struct res_text words = {0};
    char digits[32];
    const json_int_t left_out = json_integer_value(json_object_get(workload, "left_out_calls"));
    const json_int_t removed = json_integer_value(json_object_get(workload, "removed_calls"));
    if (!json_is_false(json_object_get(workload, "complete")))
        return NULL; /* results of before say nothing */
    char *why = res_cell_plain(workload, "incomplete_why", "not known why");
    res_text_printf(&words, "the recording is not whole: %s", why);
    if (removed > 0)
        res_text_printf(&words, "; %s calls were in windows that are removed",
                        fp_text_grouped((unsigned long long)removed, digits));
    if (left_out > 0)
        res_text_printf(&words, "; %s calls on objects that were made unrecorded are left out",
                        fp_text_grouped((unsigned long long)left_out, digits));
    free(why);
    return words.text;
}

void res_notes_head(struct res_text *text, const json_t *workload)
{
    char *name = res_cell_plain(workload, "name", "?");
    char ops[32], duration[32], live[32], threads_text[32];
    const json_int_t threads = json_integer_value(json_object_get(workload, "threads"));
    const double duration_ns = res_cell_number(workload, "duration_ns");
    char *program = res_workload_program(workload);
    res_text_printf(
        text, "%s%s%s%s: %s ops, %s thread%s, %s%s, live peak %s\n", name, program != NULL ? " (" : "",
        program != NULL ? program : "", program != NULL ? ")" : "",
        fp_text_grouped((unsigned long long)json_integer_value(json_object_get(workload, "ops")), ops),
        fp_text_grouped((unsigned long long)threads, threads_text), threads == 1 ? "" : "s",
        duration_ns > 0 ? "recorded over " : "without recorded time",
        duration_ns > 0 ? res_text_duration(duration_ns, duration) : "",
        fp_text_bytes(res_cell_number(workload, "live_peak_bytes"), live));
    char *incomplete = res_incomplete_words(workload);
    if (incomplete != NULL)
        res_lines_add(text, "recorded", incomplete);
    res_text_add(text, "\n", 1);
    free(incomplete);
    free(program);
    free(name);
}

/* What every figure rests on: rounds, seed, and what was subtracted. */
static void add_basis_line(struct res_text *text, const json_t *result, const json_t *workload)
{
    const json_int_t rounds = json_integer_value(json_object_get(workload, "rounds"));
    const json_t *floor = json_object_get(workload, "floor");
    const json_t *time = json_object_get(floor, "time");
    const char *failed = json_string_value(json_object_get(floor, "failed"));
    struct res_text words = {0};
    res_text_printf(&words, "%d round%s in an order shuffled by seed %lld", (int)rounds,
                    rounds == 1 ? "" : "s", (long long)json_integer_value(json_object_get(result, "seed")));
    char *ended = res_ended_words(workload);
    res_text_printf(&words, "%s", ended);
    free(ended);
    if (json_is_true(json_object_get(result, "stopped")) &&
        !json_is_object(json_object_get(workload, "stopped")))
        res_text_printf(&words, ", stopped before the %lld asked for",
                        (long long)json_integer_value(json_object_get(result, "rounds_asked")));
    const json_t *workloads = json_object_get(result, "workloads");
    const char *by = json_string_value(json_object_get(json_object_get(workload, "stopped"), "by"));
    if (json_is_true(json_object_get(result, "stopped")) && by != NULL && strcmp(by, "interrupt") != 0 &&
        json_array_get(workloads, json_array_size(workloads) - 1) == workload)
        res_text_printf(&words, json_is_object(json_object_get(result, "validation"))
                                    ? ", stopped in the real runs or further recordings"
                                    : ", stopped in the passes behind them");
    if (!json_is_object(floor) || failed != NULL) {
        res_text_printf(&words, "; the harness' own time is still in the figures (%s)",
                        failed != NULL ? failed : "mallab-replay-none is not there");
    } else {
        const char *quiet = RES_NS(res_cell_number(time, "quiet_ns_per_op"));
        const char *typical = RES_NS(res_cell_number(time, "typical_ns_per_op"));
        res_text_printf(&words, "; the harness' own %s ns per op (typical %s) are subtracted", quiet,
                        typical);
    }
    char *plain = res_text_plain(words.text);
    res_lines_add(text, "basis", plain);
    free(plain);
    free(words.text);
}

static void add_machine_line(struct res_text *text, const json_t *machine)
{
    struct res_text words = {0};
    char memory[32];
    char *cpu = res_cell_plain(machine, "cpu", "unknown processor");
    char *kernel = res_cell_plain(machine, "kernel", "?");
    char *libc = res_cell_plain(machine, "libc", "libc unknown");
    char *thp = res_cell_plain(machine, "transparent_huge_pages", "unknown");
    char *governor = res_cell_plain(machine, "governor", "unknown");
    const double load = res_cell_number(machine, "load_1_minute");
    res_text_printf(&words, "%s, %lld CPUs, %s", cpu,
                    (long long)json_integer_value(json_object_get(machine, "cpus")),
                    fp_text_bytes(fmax(res_cell_number(machine, "memory_bytes"), 0), memory));
    if (json_is_true(json_object_get(machine, "virtual_machine")))
        res_text_printf(&words, ", virtual");
    res_text_printf(&words, "; Linux %s, %s; huge pages %s, governor %s", kernel, libc, thp, governor);
    if (isfinite(load))
        res_text_printf(&words, ", load %.1f", load);
    res_lines_add(text, "machine", words.text);
    free(words.text);
    free(cpu);
    free(kernel);
    free(libc);
    free(thp);
    free(governor);
}

static void add_named_reason(struct res_text *text, const char *label, const json_t *object, const char *key)
{
    char *name = res_cell_plain(object, "name", "?");
    char *reason = res_cell_plain(object, key, "?");
    char *words = res_printf("%s: %s", name, reason);
    res_lines_add(text, label, words);
    free(words);
    free(name);
    free(reason);
}

static void add_failed_lines(struct res_text *text, const json_t *workload)
{
    const json_t *control = json_object_get(workload, "control");
    size_t index;
    json_t *object;
    json_array_foreach(json_object_get(workload, "candidates"), index, object)
    {
        if (json_is_string(json_object_get(object, "failed")))
            add_named_reason(text, "failed", object, "failed");
    }
    /* Where the baseline failed its second run had no chance either. */
    if (json_is_string(json_object_get(control, "failed")) &&
        !json_is_string(
            json_object_get(json_array_get(json_object_get(workload, "candidates"), 0), "failed")))
        add_named_reason(text, "control", control, "failed");
}

/* "reallocarray, pvalloc", NULL when the candidate has all that the workload calls. */
static char *substituted_calls(const json_t *candidate)
{
    const json_t *run = json_array_get(json_object_get(candidate, "runs"), 0);
    struct res_text words = {0};
    size_t index;
    json_t *call;
    json_array_foreach(json_object_get(run, "substituted"), index, call)
    {
        char *name = res_text_plain(json_is_string(call) ? json_string_value(call) : "?");
        res_text_printf(&words, "%s%s", words.text != NULL ? ", " : "", name);
        free(name);
    }
    return words.text;
}

/* Calls that libraries do not have, and that the replay made through another function of theirs. Candidates that lack
 * the same ones, as the settings of one library do, are named together. */
static void add_stand_in_line(struct res_text *text, const json_t *workload)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    struct res_text words = {0};
    for (size_t i = 0; i < json_array_size(candidates); i++) {
        char *calls = substituted_calls(json_array_get(candidates, i));
        bool told = calls == NULL;
        for (size_t earlier = 0; earlier < i && !told; earlier++) {
            char *others = substituted_calls(json_array_get(candidates, earlier));
            told = others != NULL && strcmp(others, calls) == 0;
            free(others);
        }
        for (size_t same = i, listed = 0; same < json_array_size(candidates) && !told; same++) {
            char *others = substituted_calls(json_array_get(candidates, same));
            if (others != NULL && strcmp(others, calls) == 0) {
                char *name = res_cell_plain(json_array_get(candidates, same), "name", "?");
                res_text_printf(&words, "%s%s", listed++ > 0 ? ", " : words.text != NULL ? "; " : "", name);
                free(name);
            }
            free(others);
        }
        if (!told)
            res_text_printf(&words, " without %s", calls);
        free(calls);
    }
    if (words.text != NULL) {
        char *line = res_printf("%s: another function of the library was called instead", words.text);
        res_lines_add(text, "stand-ins", line);
        free(line);
    }
    free(words.text);
}

/* What holds for all workloads of the result; said once, with the last. */
static void add_common_lines(struct res_text *text, const json_t *result)
{
    size_t index;
    json_t *object;
    add_machine_line(text, json_object_get(result, "machine"));
    res_notes_disturbances(text, result);
    json_array_foreach(json_object_get(result, "missing"), index, object)
    {
        add_named_reason(text, "missing", object, "reason");
    }
}

static void add_advice(struct res_text *text, const json_t *result, const json_t *workload)
{
    char *advice = res_advice(result, workload);
    char *plain = res_text_plain(advice);
    res_lines_add(text, "advice", plain);
    free(plain);
    free(advice);
    json_t *advised = res_deploy_advised(result, workload), *row;
    size_t index;
    json_array_foreach(advised, index, row)
    {
        char *name = res_cell_plain(row, "name", "?");
        res_deploy_add(text, index == 0, name, json_string_value(json_object_get(row, "line")));
        free(name);
    }
    json_decref(advised);
}

/* Of what came before the begin: a window's, or a parent's objects. */
static void add_inherited_line(struct res_text *text, const json_t *workload)
{
    char digits[32], timed[32];
    const json_int_t inherited = json_integer_value(json_object_get(workload, "inherited_ops"));
    const json_int_t ops = json_integer_value(json_object_get(workload, "ops")) - inherited;
    if (inherited <= 0 || ops < 0)
        return;
    char *words = res_printf(
        "%s ops create the objects that were there before, untimed; all times are of the %s "
        "after them, memory of both",
        fp_text_grouped((unsigned long long)inherited, digits),
        fp_text_grouped((unsigned long long)ops, timed));
    res_lines_add(text, "inherited", words);
    free(words);
}

/* Figures of memory that look like any others, and are not. */
static void add_live_line(struct res_text *text, const json_t *workload)
{
    const char *words = res_live_words(workload);
    if (words != NULL)
        res_lines_add(text, "memory", words);
}

static void add_few_line(struct res_text *text, const json_t *workload)
{
    char digits[32];
    const json_int_t ops = json_integer_value(json_object_get(workload, "ops")) -
                           json_integer_value(json_object_get(workload, "inherited_ops"));
    if (ops >= FEW_OPS)
        return;
    char *words = res_printf("%s calls are few: the allocators' own start may be most of what is measured",
                             fp_text_grouped((unsigned long long)ops, digits));
    res_lines_add(text, "note", words);
    free(words);
}

/* Takes over words; NULL: no line. */
static void add_words(struct res_text *text, const char *label, char *words)
{
    if (words != NULL)
        res_lines_add(text, label, words);
    free(words);
}

/* What makes the figures doubtful, or is other than the reader expects: never left out. */
static void add_doubts(struct res_text *text, const json_t *result, const json_t *workload)
{
    add_failed_lines(text, workload);
    add_words(text, "limit", res_limit_words(result, workload));
    res_notes_start(text, result, workload);
    res_notes_end(text, workload);
    res_notes_unpredicted(text, workload);
    add_inherited_line(text, workload);
    add_live_line(text, workload);
    add_few_line(text, workload);
    add_words(text, "unsteady", res_unsteady_words(workload));
    add_words(text, "steadiness", res_steadiness_words(workload));
    add_stand_in_line(text, workload);
    res_notes_unproven(text, workload);
    res_notes_misaligned(text, workload);
    res_notes_binding(text, workload);
}

/* What explains the figures, for who asks. */
static void add_details(struct res_text *text, const json_t *result, const json_t *workload)
{
    res_notes_idle(text, result, workload);
    add_words(text, "waste", res_waste_words(workload));
    res_notes_passes(text, workload);
    res_notes_whole(text, workload);
}

void res_notes_foot(struct res_text *text, const json_t *result, const json_t *workload,
                    const struct res_style *style, bool is_last)
{
    char *baseline = res_cell_plain(result, "baseline", "?");
    res_text_add(text, "\n", 1);
    add_advice(text, result, workload);
    add_words(text, "noise", res_noise_words(result, workload));
    add_basis_line(text, result, workload);
    res_notes_memory(text, result, workload, style->details);
    if (style->details)
        add_details(text, result, workload);
    add_doubts(text, result, workload);
    if (is_last) {
        add_common_lines(text, result);
        if (!style->details)
            res_lines_add(
                text, "more",
                "ab and report with --details: memory's clock, waste, latency by call, system calls");
    }
    free(baseline);
}

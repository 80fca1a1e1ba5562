/* notes.c - which notes there are, in their order, and how they are printed. */
#include "results/report/notes/notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/fleet/fleet.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/noting.h"

#define FEW_OPS 20000 /* an allocator's first calls take some 100 us: here 5 ns of each */

/* ---- making ---------------------------------------------------------------------------------- */

void res_note_end_with(struct res_noting *to, char *detail)
{
    if (to->words.text != NULL) {
        to->notes = res_realloc(to->notes, to->count + 1, sizeof *to->notes);
        to->notes[to->count++] = (struct res_note){
            .severity = to->severity,
            .label = res_strdup(to->label),
            .text = to->words.text,
            .detail = detail,
            .details = to->told != RES_TOLD_ALWAYS,
            .on_page = to->told == RES_TOLD_TEXT,
        };
    }
    to->words = (struct res_text){0};
}

void res_note_end(struct res_noting *to)
{
    res_note_end_with(to, NULL);
}

bool res_note_each(struct res_noting *to,
                   bool (*figure)(const struct res_result_entry *entry, const void *which, double *ret_value),
                   const void *which, const char *(*cell)(double value, char *room))
{
    const char *comma = "";
    bool any = false;
    RES_EACH_CANDIDATE(entry, to->workload)
    {
        double value = 0;
        if (!figure(entry, which, &value))
            continue;
        say(to, "%s%s %s", comma, entry->name, cell(value, RES_WORDS_ROOM));
        any = any || isfinite(value);
        comma = ", ";
    }
    return any;
}

static void note_incomplete(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const char *why = workload->incomplete_why != NULL ? workload->incomplete_why : "not known why";
    const char *cut = to->result->asked.cut;
    if (cut != NULL && workload == to->result->workloads)
        say(to, "%s%s", cut, workload->complete ? "" : "; ");
    if (workload->complete)
        return;
    say(to, "the recording is not whole: %s", why);
    if (workload->lost_calls > 0 && strstr(why, "lost") == NULL)
        say(to, "; %s calls were lost%s", FP_GROUPED(workload->lost_calls),
            workload->lost_known ? "" : ", perhaps more");
    else if (!workload->lost_known)
        say(to, "; how many calls were lost is not known");
    if (workload->removed_calls > 0)
        say(to, "; %s calls were in windows that are removed", FP_GROUPED(workload->removed_calls));
    if (workload->left_out_calls > 0)
        say(to, "; %s calls on objects that were made unrecorded are left out",
            FP_GROUPED(workload->left_out_calls));
}

static void note_failed(struct res_noting *to, const struct res_result_entry *entry)
{
    if (entry->failed != NULL)
        say(to, "%s: %s", entry->name, entry->failed);
}

/* Where the baseline failed its second run had no chance either. */
static void note_control(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    if (workload->control.failed != NULL && workload->candidates[0].failed == NULL)
        say(to, "%s: %s", workload->control.name, workload->control.failed);
}

static void note_few(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const uint64_t ops = workload->ops > workload->inherited_ops ? workload->ops - workload->inherited_ops
                                                                 : 0;
    if (ops < FEW_OPS)
        say(to,
            "%s calls are few: the allocators' own start may be most of what is measured; record for longer",
            FP_GROUPED(ops));
}

/* ---- settings and calls that an allocator lacks ---------------------------------------------- */

static const struct res_texts *substituted_of(const struct res_result_entry *entry)
{
    static const struct res_texts NONE;
    return entry->run_count > 0 ? &entry->runs[0].substituted : &NONE;
}

static bool are_same(const struct res_texts *one, const struct res_texts *other)
{
    bool same = one->count == other->count;
    for (size_t i = 0; same && i < one->count; i++)
        same = strcmp(one->items[i], other->items[i]) == 0;
    return same;
}

/* Candidates that lack the same calls, as the settings of one library do, are named together. */
static void note_stand_ins(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    RES_EACH_CANDIDATE(entry, workload)
    {
        const struct res_texts *calls = substituted_of(entry);
        bool told = calls->count == 0;
        for (const struct res_result_entry *before = workload->candidates; before < entry && !told; before++)
            told = are_same(substituted_of(before), calls);
        if (told)
            continue;
        say(to, "%s%s", to->words.text != NULL ? "; " : "", entry->name);
        for (const struct res_result_entry *next = entry + 1;
             next < workload->candidates + workload->candidate_count; next++)
            if (are_same(substituted_of(next), calls))
                say(to, ", %s", next->name);
        for (size_t i = 0; i < calls->count; i++)
            say(to, "%s%s", i > 0 ? ", " : " without ", calls->items[i]);
    }
    if (to->words.text != NULL)
        say(to, ": another function of the library was called instead");
}

/* Settings of which nothing tells whether the allocator heeded them: a row may be that of its default. */
static void note_unproven(struct res_noting *to)
{
    RES_EACH_CANDIDATE(entry, to->workload)
    {
        json_t *settings = entry->run_count > 0 ? entry->runs[0].settings : NULL, *setting;
        const char *key;
        size_t listed = 0;
        json_object_foreach(settings, key, setting)
        {
            const char *from = json_string_value(json_object_get(setting, "from"));
            if (from == NULL || strcmp(from, "nobody") != 0)
                continue;
            char *plain = res_text_plain(key);
            if (listed++ == 0)
                say(to, "%s%s with ", to->words.text != NULL ? "; " : "", entry->name);
            say(to, "%s%s", listed > 1 ? ", " : "", plain);
            free(plain);
        }
    }
    if (to->words.text != NULL)
        say(to, ": nothing tells whether the allocator reads it ('settings = unproven')");
}

/* Only where it is not what it is by default. */
static void note_binding(struct res_noting *to)
{
    const struct res_result_entry *first = &to->workload->candidates[0];
    const struct res_run *run = first->run_count > 0 ? &first->runs[0] : NULL;
    if (run == NULL)
        return;
    if (run->threads_as != NULL && strcmp(run->threads_as, "one") == 0 && to->workload->threads > 1)
        say(to, "the calls of %s threads ran on one (--one-thread), which can reverse a verdict",
            FP_GROUPED(to->workload->threads));
    if (run->pin != NULL && strcmp(run->pin, "no") != 0)
        say(to, "%sthreads were kept to processors: %s", to->words.text != NULL ? "; " : "", run->pin);
    if (isnan(run->nice)) /* not asked for */
        return;
    say(to, "%snice %.0f", to->words.text != NULL ? "; " : "", run->nice);
    if (run->nice_refused != NULL)
        say(to, " was refused (%s): the priority is as it was", run->nice_refused);
}

/* ---- on all of a result ---------------------------------------------------------------------- */

static const char *known(const char *word, const char *otherwise)
{
    return word != NULL ? word : otherwise;
}

static void note_machine(struct res_noting *to)
{
    const struct res_machine *machine = &to->result->machine;
    say(to, "%s, %.0f CPUs, %s%s; Linux %s, %s; huge pages %s, governor %s",
        known(machine->cpu, "unknown processor"), fmax(machine->cpus, 0),
        FP_BYTES(fmax(machine->memory_bytes, 0)), machine->virtual_machine == 1 ? ", virtual" : "",
        known(machine->kernel, "?"), known(machine->libc, "libc unknown"),
        known(machine->transparent_huge_pages, "unknown"), known(machine->governor, "unknown"));
    if (isfinite(machine->load_1_minute))
        say(to, ", load %.1f", machine->load_1_minute);
}

/* The same may have been seen before the runs and after: the last one tells it. */
static void note_disturbed(struct res_noting *to)
{
    const struct res_result *result = to->result;
    for (size_t i = 0; i < result->disturbance_count; i++) {
        const struct res_disturbance *one = &result->disturbances[i];
        bool told = one->text == NULL;
        for (size_t later = i + 1; later < result->disturbance_count && !told; later++)
            told = one->kind != NULL && result->disturbances[later].kind != NULL &&
                   strcmp(one->kind, result->disturbances[later].kind) == 0;
        if (told)
            continue;
        say(to, "%s%s%s", one->text, one->remedy != NULL ? ": " : "", one->remedy != NULL ? one->remedy : "");
        res_note_end(to);
    }
}

static void note_missing(struct res_noting *to)
{
    for (size_t i = 0; i < to->result->missing_count; i++) {
        const struct res_missing_candidate *missing = &to->result->missing[i];
        say(to, "%s: %s", missing->name != NULL ? missing->name : "?",
            missing->reason != NULL ? missing->reason : "?");
        res_note_end(to);
    }
}

/* ---- the table of notes ---------------------------------------------------------------------- */

static const struct res_note_row FIRST_ROWS[] = {
    {"recorded", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_incomplete},
    {0},
};

static const struct res_note_row LAST_ROWS[] = {
    {"failed", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .each = note_failed},
    {"control", RES_NOTE_WARNING, RES_TOLD_DETAILS, .make = note_control},
    {"few calls", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_few},
    {"stand-ins", RES_NOTE_WARNING, RES_TOLD_DETAILS, .make = note_stand_ins},
    {"unproven", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_unproven},
    {"binding", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_binding},
    {0},
};

static const struct res_note_row RESULT_ROWS[] = {
    {"machine", RES_NOTE_INFO, RES_TOLD_DETAILS, .make = note_machine},
    {"disturbed", RES_NOTE_WARNING, RES_TOLD_DETAILS, .make = note_disturbed},
    {"missing", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_missing},
    {0},
};

/* In the order in which they are printed. */
static const struct res_note_row *const WORKLOAD_ROWS[] = {
    FIRST_ROWS,      RES_VERDICT_ROWS, RES_CONFIRMED_ROWS, RES_BASIS_ROWS,
    RES_MEMORY_ROWS, RES_PASS_ROWS,    LAST_ROWS,          RES_CONFIRM_ROWS,
};

static void make_notes(struct res_noting *to, const struct res_note_row *rows)
{
    for (; rows->label != NULL; rows++) {
        to->label = rows->label;
        to->severity = rows->severity;
        to->told = rows->told;
        if (rows->make != NULL)
            rows->make(to);
        res_note_end(to);
        for (size_t i = 0; rows->each != NULL && i < to->workload->candidate_count; i++) {
            rows->each(to, &to->workload->candidates[i]);
            res_note_end(to);
        }
    }
}

static void drop_notes(struct res_note **notes, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        free((*notes)[i].label);
        free((*notes)[i].text);
        free((*notes)[i].detail);
    }
    free(*notes);
    *notes = NULL;
    *count = 0;
}

void res_notes_fleet(struct res_fleet *fleet)
{
    struct res_noting to = {.fleet = fleet};
    drop_notes(&fleet->notes, &fleet->note_count);
    make_notes(&to, RES_FLEET_ROWS);
    fleet->notes = to.notes;
    fleet->note_count = to.count;
}

void res_notes_fill(struct res_result *result)
{
    struct res_noting common = {.result = result};
    res_verdicts_fill(result);
    for (size_t i = 0; i < result->workload_count; i++) {
        struct res_result_workload *workload = &result->workloads[i];
        struct res_noting to = {.result = result, .workload = workload};
        drop_notes(&workload->notes, &workload->note_count);
        for (size_t k = 0; workload->candidate_count > 0 && k < sizeof WORKLOAD_ROWS / sizeof *WORKLOAD_ROWS;
             k++)
            make_notes(&to, WORKLOAD_ROWS[k]);
        workload->notes = to.notes;
        workload->note_count = to.count;
    }
    drop_notes(&result->notes, &result->note_count);
    make_notes(&common, RES_CONFIRMED_ROWS);
    make_notes(&common, RESULT_ROWS);
    result->notes = common.notes;
    result->note_count = common.count;
    if (!res_result_is_fleet(result))
        res_fleet_of_result(result);
    if (result->fleet != NULL)
        res_notes_fleet(result->fleet);
}

/* ---- printing -------------------------------------------------------------------------------- */

/* What the recording lacks is told above a table, not below it. */
static const char RECORDED[] = "recorded";

static bool is_told_above(const struct res_note *note)
{
    return strcmp(note->label, RECORDED) == 0;
}

void res_notes_text(struct res_text *text, const struct res_note *notes, size_t count, bool details,
                    const char *label)
{
    for (size_t i = 0; i < count; i++) {
        const struct res_note *note = &notes[i];
        if (note->details != details || is_told_above(note) ||
            (label != NULL && strcmp(label, note->label) != 0))
            continue;
        if (note->detail != NULL) /* never broken: it is to be taken with the mouse */
            res_text_printf(text, "%-*s%s: %s\n", RES_LABEL_COLUMNS, note->label, note->text, note->detail);
        else
            res_lines_add(text, note->label, note->text);
    }
}

/* What it is for stands behind it as a shell's comment, where there is room. */
static void add_command(struct res_text *text, const char *label, const struct res_note *note)
{
    const size_t columns = res_text_columns(note->detail) + res_text_columns(note->text) + sizeof " # " - 1;
    const bool fits = RES_SCREEN_LABEL_COLUMNS + columns <= RES_SCREEN_COLUMNS;
    res_text_printf(text, "%-*s%s%s%s\n", RES_SCREEN_LABEL_COLUMNS, label, note->detail, fits ? " # " : "",
                    fits ? note->text : "");
    if (!fits)
        res_lines_screen(text, "", note->text);
}

/* The label of a line of several notes stands before the first. */
void res_notes_screen(struct res_text *text, const struct res_note *notes, size_t count, const char *command)
{
    const char *before = "";
    for (size_t i = 0; i < count; i++) {
        const struct res_note *note = &notes[i];
        if (note->details || is_told_above(note))
            continue;
        const bool is_verdict = strcmp(note->label, RES_VERDICT_LABEL) == 0;
        const char *label = strcmp(before, note->label) == 0 ? "" : is_verdict ? "VERDICT" : note->label;
        /* Never broken: it is to be taken with the mouse. */
        if (note->detail != NULL && res_shell_is_line(note->detail))
            res_text_printf(text, "%-*s%s %s\n", RES_SCREEN_LABEL_COLUMNS, label, note->detail,
                            command != NULL ? command : "COMMAND");
        else if (note->detail != NULL)
            add_command(text, label, note);
        else
            res_lines_screen(text, label, note->text);
        before = note->label;
    }
}

void res_notes_markdown(struct res_text *text, const struct res_note *notes, size_t count)
{
    bool is_list = false;
    for (size_t i = 0; i < count; i++) {
        const struct res_note *note = &notes[i];
        if (note->details || is_told_above(note))
            continue;
        if (note->detail != NULL) {
            /* No mark of Markdown counts in a block of code, and its line begins with the name of a variable or our own. */
            res_text_printf(text, res_shell_is_line(note->detail) ? "\nTo try " : "\nTo confirm it, ");
            res_markdown_add(text, note->text);
            res_text_printf(text, ":\n\n```sh\n%s\n```\n", note->detail);
            is_list = false;
            continue;
        }
        const char *strong = note->severity == RES_NOTE_ADVICE ? "**" : "";
        res_text_printf(text, "%s- %s", is_list ? "" : "\n", strong);
        res_markdown_add(text, note->label);
        res_text_printf(text, "%s: ", strong);
        res_markdown_add(text, note->text);
        res_text_printf(text, "\n");
        is_list = true;
    }
}

/* ---- the line above a table ------------------------------------------------------------------ */

char *res_notes_program(const struct res_result_workload *workload)
{
    const char *program = workload->program != NULL ? workload->program : "";
    const size_t length = strlen(program);
    const char *slash = strrchr(workload->name, '/'); /* behind the host's label */
    const char *name = slash != NULL ? slash + 1 : workload->name;
    const bool says_nothing = length == 0 || (strncmp(name, program, length) == 0 &&
                                              (name[length] == '.' || name[length] == '\0'));
    const bool has_host = workload->label != NULL && slash == NULL;
    struct res_text words = {0};
    if (says_nothing && !has_host && workload->processes < 2 && workload->selection == NULL)
        return NULL;
    res_text_printf(&words, "%s%s%s", length > 0 ? program : "a program without name", has_host ? " on " : "",
                    has_host ? workload->label : "");
    if (workload->processes > 1)
        res_text_printf(&words, ", %s of %s processes, %.0f %% of the events",
                        FP_GROUPED(workload->group_processes > 0 ? workload->group_processes : 1),
                        FP_GROUPED(workload->processes), 100 * workload->events_share);
    if (workload->selection != NULL)
        res_text_printf(&words, "; %s", workload->selection);
    return words.text;
}

const char *res_notes_recorded(const struct res_result_workload *workload)
{
    for (size_t i = 0; i < workload->note_count; i++)
        if (is_told_above(&workload->notes[i]))
            return workload->notes[i].text;
    return NULL;
}

void res_notes_head(struct res_text *text, const struct res_result_workload *workload)
{
    char *program = res_notes_program(workload);
    res_text_printf(text, "%s%s%s%s: %s ops, %s thread%s, %s%s, live peak %s\n", workload->name,
                    program != NULL ? " (" : "", program != NULL ? program : "", program != NULL ? ")" : "",
                    FP_GROUPED(workload->ops), FP_GROUPED(workload->threads),
                    workload->threads == 1 ? "" : "s",
                    workload->duration_ns > 0 ? "recorded over " : "without recorded time",
                    workload->duration_ns > 0 ? RES_DURATION((double)workload->duration_ns) : "",
                    FP_BYTES((double)workload->live_peak_bytes));
    const char *lacks = res_notes_recorded(workload);
    if (lacks != NULL)
        res_lines_add(text, RECORDED, lacks);
    res_text_add(text, "\n", 1);
    free(program);
}

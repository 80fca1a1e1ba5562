/* notes.c - notes are made of the rows of sentences.c, and printed. */
#include "results/report/notes/notes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/fleet/fleet.h"

/* ---- from a row to words --------------------------------------------------------------------- */

static const struct res_slot *slot_named(const char *name, size_t length)
{
    for (const struct res_slot *slot = __start_res_slots, *end = slot + RES_SLOT_COUNT; slot < end; slot++)
        if (strlen(slot->name) == length && memcmp(slot->name, name, length) == 0)
            return slot;
    return NULL;
}

/* Adds the words of a sentence up to `end`. Returns false where a slot of them has nothing to say. */
static bool add_words(struct res_text *text, const char *words, const char *end,
                      const struct res_about *about)
{
    while (words < end) {
        const size_t plain = strcspn(words, "{[");
        const size_t length = words + plain < end ? plain : (size_t)(end - words);
        res_text_add(text, words, length);
        words += length;
        if (words == end)
            break;
        const char *close = strchr(words, *words == '[' ? ']' : '}');
        assert(close != NULL && close < end);
        if (*words == '[') {
            struct res_text part = {0};
            if (add_words(&part, words + 1, close, about) && part.text != NULL)
                res_text_add(text, part.text, part.length);
            free(part.text);
        } else {
            const struct res_slot *slot = slot_named(words + 1, (size_t)(close - words) - 1);
            const size_t before = text->length;
            assert(slot != NULL);
            slot->add(about, text);
            if (text->length == before)
                return false;
        }
        words = close + 1;
    }
    return true;
}

/* The caller's to free; NULL: there is nothing to say. */
static char *worded(const char *words, const struct res_about *about)
{
    struct res_text text = {0};
    if (add_words(&text, words, words + strlen(words), about))
        return text.text;
    free(text.text);
    return NULL;
}

/* ---- from rows to notes ---------------------------------------------------------------------- */

struct notes {
    struct res_note *items;
    size_t count;
};

static void add_note(struct notes *notes, const struct res_sentence *row, const struct res_about *about)
{
    char *text = row->when == NULL || row->when(about) ? worded(row->words, about) : NULL;
    char *detail = text != NULL && row->detail != NULL ? worded(row->detail, about) : NULL;
    if (text == NULL || (row->detail != NULL && detail == NULL)) {
        free(text);
        return;
    }
    notes->items = res_realloc(notes->items, notes->count + 1, sizeof *notes->items);
    notes->items[notes->count++] = (struct res_note){.severity = (int)row->severity,
                                                     .label = res_strdup(row->label),
                                                     .text = text,
                                                     .detail = detail,
                                                     .details = row->details};
}

/* The answer that a row is about; NULL: there is none, or it is of another kind. */
static const struct res_answer *answer_for(const struct res_sentence *row,
                                           const struct res_program_verdict *verdict)
{
    const struct res_answer *answer = verdict == NULL          ? NULL
                                      : row->of == RES_OF_TIME ? &verdict->time
                                      : row->of == RES_OF_PEAK ? &verdict->peak
                                                               : &verdict->rest;
    return answer != NULL && answer->kind == (int)row->kind ? answer : NULL;
}

static struct notes make_notes(const struct res_sentence *rows, const struct res_about *about,
                               const struct res_program_verdict *verdict)
{
    struct notes notes = {NULL, 0};
    for (const struct res_sentence *row = rows; row->words != NULL; row++) {
        struct res_about now = *about;
        now.answer = row->of != RES_OF_ANY ? answer_for(row, verdict) : NULL;
        if (row->of != RES_OF_ANY && now.answer == NULL)
            continue;
        if (row->next == NULL)
            add_note(&notes, row, &now);
        for (; row->next != NULL && row->next(&now); now.at++)
            add_note(&notes, row, &now);
    }
    return notes;
}

static void put_notes(struct res_note **place, size_t *count, struct notes made)
{
    for (size_t i = 0; i < *count; i++)
        res_described_release(&RES_NOTE, &(*place)[i]);
    free(*place);
    *place = made.items;
    *count = made.count;
}

void res_notes_fleet(struct res_fleet *fleet)
{
    const struct res_about about = {.fleet = fleet};
    res_fleet_verdict_fill(fleet);
    put_notes(&fleet->notes, &fleet->note_count, make_notes(RES_FLEET_SENTENCES, &about, fleet->verdict));
}

void res_notes_fill(struct res_result *result)
{
    const struct res_about common = {.result = result};
    for (size_t i = 0; i < result->workload_count; i++) {
        struct res_result_workload *workload = &result->workloads[i];
        const struct res_about about = {.result = result, .workload = workload};
        put_notes(&workload->notes, &workload->note_count,
                  workload->candidate_count > 0
                      ? make_notes(RES_WORKLOAD_SENTENCES, &about, workload->verdict)
                      : (struct notes){NULL, 0});
    }
    put_notes(
        &result->notes, &result->note_count,
        make_notes(RES_RESULT_SENTENCES, &common, result->workload_count == 0 ? result->verdict : NULL));
    if (!res_result_is_fleet(result))
        res_fleet_of_result(result);
    if (result->fleet != NULL)
        res_notes_fleet(result->fleet);
}

/* ---- printing -------------------------------------------------------------------------------- */

/* The recording's gaps are told above a table, and on the screen that answers in place of a resolution. */
static const char RECORDED[] = "recorded", RESOLUTION[] = "resolution";

static bool is_told_above(const struct res_note *note)
{
    return strcmp(note->label, RECORDED) == 0;
}

void res_notes_details(struct res_text *text, const struct res_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct res_note *note = &notes[i];
        if (note->details && note->detail != NULL)
            res_text_printf(text, "%-*s%s\n", RES_LABEL_COLUMNS, note->label, note->detail);
        if (note->details)
            res_lines_add(text, note->detail != NULL ? "" : note->label, note->text);
    }
}

/* Never broken: it is to be taken with the mouse. The command stands behind the variables where there is room, else its place. */
static void add_command(struct res_text *text, const char *label, const struct res_note *note,
                        const char *command)
{
    const size_t room = RES_SCREEN_COLUMNS - RES_SCREEN_LABEL_COLUMNS,
                 columns = res_text_columns(note->detail) + 1;
    const bool is_known = command != NULL && columns + res_text_columns(command) <= room;
    const char *behind = is_known ? command : "COMMAND";
    const bool fits = columns + res_text_columns(behind) <= room;
    res_text_printf(text, "%-*s%s%s%s\n", RES_SCREEN_LABEL_COLUMNS, label, note->detail, fits ? " " : "",
                    fits ? behind : "");
}

static bool is_verdict(const struct res_note *note)
{
    return strcmp(note->label, RES_VERDICT_LABEL) == 0;
}

/* An answer is never cut. */
static bool is_whole(const struct res_note *note)
{
    return is_verdict(note) || strcmp(note->label, "growth") == 0;
}

/* One line, of which --details has all. */
static void add_line(struct res_text *text, const char *label, const struct res_note *note, bool details)
{
    const size_t room = RES_SCREEN_COLUMNS - RES_SCREEN_LABEL_COLUMNS;
    RES_FREED char *words = res_lines_clauses(note->text, details || is_whole(note) ? SIZE_MAX : room);
    res_lines_screen(text, label, words);
}

void res_notes_screen(struct res_text *text, const struct res_note *notes, size_t count, const char *command,
                      bool details)
{
    const struct res_note *lacks = count > 0 && is_told_above(&notes[0]) && !details ? &notes[0] : NULL;
    const char *before = "";
    size_t lines = 0;
    for (size_t i = 0; i < count; i++) {
        const struct res_note *note = &notes[i];
        if (note->details || (is_told_above(note) && !details))
            continue;
        lines = strcmp(before, note->label) == 0 ? lines + 1 : 1;
        before = note->label;
        if (!details && lines > (is_verdict(note) ? 2 : 1))
            continue;
        const char *label = lines > 1 ? "" : is_verdict(note) ? "VERDICT" : note->label;
        if (note->detail != NULL) {
            add_command(text, label, note, command);
        } else {
            const bool is_unsure = lacks != NULL && strcmp(note->label, RESOLUTION) == 0;
            add_line(text, is_unsure ? RECORDED : label, is_unsure ? lacks : note, details);
            lacks = is_unsure ? NULL : lacks;
        }
    }
    if (lacks != NULL)
        add_line(text, RECORDED, lacks, details);
}

static void add_markdown(struct res_text *text, const struct res_note *notes, size_t count)
{
    bool is_list = false;
    for (size_t i = 0; i < count; i++) {
        const struct res_note *note = &notes[i];
        if (note->details || is_told_above(note))
            continue;
        if (note->detail != NULL) {
            /* No mark of Markdown counts in a block of code, and its line begins with the name of a variable. */
            res_text_printf(text, "\nTo try ");
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

/* Notes before the verdict stand above everything: nothing below counts without them. */
static size_t advice_of(const struct res_note *notes, size_t count)
{
    size_t first = 0;
    while (first < count && notes[first].severity != RES_NOTE_ADVICE)
        first++;
    return first < count ? first : 0;
}

/* The rest of one of a page: its words, and what is to be copied. */
static void add_item(struct res_text *text, const struct res_note *note)
{
    res_html_add(text, note->text);
    if (note->detail != NULL) {
        res_text_printf(text, "<code class=\"command whole\">");
        res_html_add(text, note->detail);
        res_text_printf(text, "</code>\n");
    }
    res_text_printf(text, "</li>\n");
}

/* The name before the words of one. */
static void add_label(struct res_text *text, const struct res_note *note)
{
    res_text_printf(text, "<strong>");
    res_html_add(text, note->label);
    res_text_printf(text, ":</strong> ");
}

static void add_list(struct res_text *text, const struct res_note *notes, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (notes[i].severity == RES_NOTE_ADVICE)
            continue;
        res_text_printf(text, "%s<li%s>", any ? "" : "<ul class=\"notes\">",
                        notes[i].severity == RES_NOTE_WARNING ? " class=\"warning\"" : "");
        add_label(text, &notes[i]);
        add_item(text, &notes[i]);
        any = true;
    }
    res_text_printf(text, "%s", any ? "</ul>\n" : "");
}

void res_notes_lead(struct res_document *document, const struct res_note *notes, size_t count)
{
    struct res_text *text = &document->text;
    bool any = false;
    if (document->style->form != RES_FORM_HTML)
        return;
    add_list(text, notes, advice_of(notes, count));
    for (size_t i = 0; i < count; i++) {
        if (notes[i].severity != RES_NOTE_ADVICE)
            continue;
        res_text_printf(text, "%s", any ? "" : "<div class=\"advice\"><strong>Verdict</strong><ul>");
        res_text_printf(text, notes[i].detail != NULL ? "<li>To try " : "<li>");
        if (notes[i].detail == NULL && !is_verdict(&notes[i])) /* "confirmed": not of the replay's calls */
            add_label(text, &notes[i]);
        add_item(text, &notes[i]);
        any = true;
    }
    res_text_printf(text, "%s", any ? "</ul></div>\n" : "");
}

void res_notes_rest(struct res_document *document, const struct res_note *notes, size_t count,
                    const char *command)
{
    const size_t told = advice_of(notes, count);
    if (document->style->form == RES_FORM_TEXT)
        res_notes_screen(&document->text, notes, count, command, true);
    else if (document->style->form == RES_FORM_MARKDOWN)
        add_markdown(&document->text, notes, count);
    else
        add_list(&document->text, notes + told, count - told);
}

/* ---- the line above a table ------------------------------------------------------------------ */

/* "python3", or "cc1, 1 of 4 processes, 97 % of the events"; NULL: nothing to add. */
static char *program_of(const struct res_result_workload *workload)
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

char *res_notes_title(const struct res_result_workload *workload)
{
    RES_FREED char *program = program_of(workload);
    char *title = program != NULL ? res_printf("%s (%s)", workload->name, program)
                                  : res_strdup(workload->name);
    return title;
}

const char *res_notes_recorded(const struct res_result_workload *workload)
{
    for (size_t i = 0; i < workload->note_count; i++)
        if (is_told_above(&workload->notes[i]))
            return workload->notes[i].text;
    return NULL;
}

/* table.c - the table of a result: as text, for documents and for programs. */
#include "results/report/table/table.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/report/notes/notes.h"

#define SHOWN_MAX 64u
#define OWN_MAX   6u /* columns of CSV before the fields */
#define KEY_MAX   2u /* and behind them */

/* ---- which fields --------------------------------------------------------------------------- */

struct shown {
    const struct res_field *field;
    const struct res_field *part; /* the entry's struct that it is a member of; NULL: of the entry itself */
};

struct shown_list {
    struct shown items[SHOWN_MAX];
    size_t count;
};

enum block { IN_TIME, IN_MEMORY, IN_BOTH, IN_CSV };

static bool is_in(const struct res_shown *shown, enum block block)
{
    const bool is_name = block == IN_MEMORY && shown->as == RES_AS_NAME; /* which each block has */
    return block == IN_CSV ? shown->csv != NULL
                           : shown->heading != NULL && (is_name || shown->in_memory == (block == IN_MEMORY));
}

static void list_fields(struct shown_list *list, const struct res_described *described,
                        const struct res_field *part, enum block block, bool late)
{
    for (size_t i = 0; i < described->field_count; i++) {
        const struct res_field *field = &described->fields[i];
        if (field->kind == RES_FIELD_STRUCT && part == NULL)
            list_fields(list, field->of, field, block, late);
        else if (is_in(&field->shown, block) && field->shown.late == late && list->count < SHOWN_MAX)
            list->items[list->count++] = (struct shown){field, part};
    }
}

/* Both blocks together have the columns of time first. */
static struct shown_list list_of(enum block block)
{
    struct shown_list list = {.count = 0};
    if (block == IN_BOTH) {
        const struct shown_list memory = list_of(IN_MEMORY);
        list = list_of(IN_TIME);
        for (size_t i = 1; i < memory.count && list.count < SHOWN_MAX; i++)
            list.items[list.count++] = memory.items[i];
        return list;
    }
    list_fields(&list, &RES_RESULT_ENTRY, NULL, block, false);
    list_fields(&list, &RES_RESULT_ENTRY, NULL, block, true);
    return list;
}

/* The struct that has the field; NULL where the entry has none. */
static const void *owner_of(const struct shown *shown, const struct res_result_entry *entry)
{
    return shown->part == NULL ? entry : *(const void *const *)((const char *)entry + shown->part->offset);
}

static double number_of(const struct shown *shown, const void *owner)
{
    return owner != NULL ? *(const double *)(const void *)((const char *)owner + shown->field->offset) : NAN;
}

static const char *text_of(const struct shown *shown, const void *owner)
{
    return owner != NULL ? *(const char *const *)((const char *)owner + shown->field->offset) : NULL;
}

/* ---- cells of the table --------------------------------------------------------------------- */

/* The common part of a table's cells. */
struct table {
    const struct res_result_workload *workload;
    const char *baseline;
    struct res_bytes_unit unit;
};

/* Too few rounds have an interval without width, which would look sure. Memory has passes of its own, which need fewer. */
static const char *range_words(const struct res_result_workload *workload,
                               const struct res_difference *difference, bool in_memory, char *room)
{
    if (!in_memory && workload->rounds < RES_ROUNDS_FOR_INTERVAL && isfinite(difference->ratio))
        return "?";
    return res_interval_words(difference->interval.low, difference->interval.high, room);
}

static void add_verdict(struct res_grid *grid, const struct res_result_entry *entry, bool is_baseline)
{
    const struct res_difference *time = &entry->figures.time;
    const char *word = res_verdict_shown(time->verdict, time->interval.low, time->interval.high);
    if (entry->failed != NULL) {
        const char *cause = entry->failure != NULL ? entry->failure->cause : NULL;
        res_grid_add(grid, res_failure_is_death(cause) ? "died" : "failed");
        res_grid_role(grid, RES_ROLE_BAD);
        return;
    }
    res_grid_add(grid, is_baseline ? "baseline" : word);
    res_grid_role(grid, is_baseline ? RES_ROLE_NONE : res_cell_role_large(word, time->ratio));
}

static void add_memory_verdict(struct res_grid *grid, const struct res_result_entry *entry, bool is_baseline)
{
    const struct res_difference *peak = &entry->figures.peak;
    const char *word = RES_MEMORY_VERDICTS[peak->verdict];
    if (entry->failed != NULL || is_baseline) {
        res_grid_add(grid, entry->failed != NULL ? "-" : "baseline");
    } else if (entry->resident_clock == RES_CLOCK_RECORDED && !entry->predicted) {
        res_grid_add(grid, "not predicted");
    } else {
        res_grid_add(grid, peak->verdict == RES_UNDECIDED ? "?" : word);
        res_grid_role(grid, res_cell_role_large(word, peak->ratio));
    }
}

/* Adds the colour of a column without words: none colour for doubt, which nothing would explain. */
static void add_role(struct res_grid *grid, const struct shown *shown, const void *owner)
{
    if (shown->field->shown.judged == 0 || owner == NULL)
        return;
    const int verdict = *(const int *)((const char *)owner + shown->field->shown.judged);
    if (verdict >= RES_LESS)
        res_grid_role(grid, res_cell_role(RES_TIME_VERDICTS[verdict]));
}

static void add_cell(struct res_grid *grid, const struct table *table, const struct shown *shown,
                     const struct res_result_entry *entry)
{
    const void *owner = owner_of(shown, entry);
    const bool in_memory = shown->field->shown.in_memory;
    const struct res_difference *difference = in_memory ? &entry->figures.peak : &entry->figures.time;
    const bool is_baseline = strcmp(entry->name, table->baseline) == 0;
    const char *text;
    switch (shown->field->shown.as) {
    case RES_AS_TEXT:
        text = text_of(shown, owner);
        res_grid_add(grid, text != NULL ? text : "-");
        break;
    case RES_AS_NAME:
        res_grid_add(grid, entry->name);
        break;
    case RES_AS_NS:
        res_grid_add(grid, RES_NS(number_of(shown, owner)));
        add_role(grid, shown, owner);
        break;
    case RES_AS_BYTES:
        res_grid_add(grid, RES_IN_UNIT(number_of(shown, owner), table->unit));
        break;
    case RES_AS_FACTOR:
        res_grid_add(grid, RES_FACTOR(number_of(shown, owner)));
        break;
    case RES_AS_NUMBER:
        res_grid_add(grid, RES_NUMBER(number_of(shown, owner)));
        break;
    case RES_AS_CHANGE:
        res_grid_add(grid, is_baseline ? "" : RES_PERCENT(difference->ratio));
        break;
    case RES_AS_RANGE:
        res_grid_add(grid,
                     is_baseline ? "" : range_words(table->workload, difference, in_memory, RES_WORDS_ROOM));
        break;
    case RES_AS_VERDICT:
        (in_memory ? add_memory_verdict : add_verdict)(grid, entry, is_baseline);
        break;
    }
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Words of a heading, with those of the table in it; the caller's to free. NULL for NULL. */
static char *fill_in(const char *words, const struct table *table)
{
    const char *mark = words != NULL ? strchr(words, '{') : NULL;
    if (mark == NULL)
        return res_strdup(words);
    return res_printf("%.*s%s%s", (int)(mark - words), words,
                      strncmp(mark, "{unit}", 6) == 0 ? table->unit.name : table->baseline,
                      strchr(mark, '}') + 1);
}

static bool is_left(enum res_shown_as as)
{
    return as == RES_AS_TEXT || as == RES_AS_NAME || as == RES_AS_RANGE || as == RES_AS_VERDICT;
}

/* Tells whether no candidate has the part that the field is in, or the number, where few results have that. */
static bool is_nowhere(const struct shown *shown, const struct res_result_workload *workload)
{
    for (size_t i = 0; i < workload->candidate_count; i++) {
        const void *owner = owner_of(shown, &workload->candidates[i]);
        const struct res_shown *how = &shown->field->shown;
        if (owner != NULL && !(how->late && how->as == RES_AS_BYTES && isnan(number_of(shown, owner))))
            return false;
    }
    return true;
}

static void grid_begin(struct res_grid *grid, const struct table *table, const struct shown_list *list)
{
    struct res_column columns[SHOWN_MAX];
    char *words[SHOWN_MAX][3];
    for (size_t i = 0; i < list->count; i++) {
        const struct res_shown *shown = &list->items[i].field->shown;
        const char *before = i > 0 ? columns[i - 1].group : NULL;
        words[i][0] = fill_in(shown->heading, table);
        words[i][1] = fill_in(shown->group, table);
        words[i][2] = fill_in(shown->alone, table);
        const bool goes_on = before != NULL && words[i][1] != NULL && strcmp(before, words[i][1]) == 0;
        columns[i] = (struct res_column){
            .heading = words[i][0],
            .group = words[i][1],
            .alone = words[i][2],
            .right = !is_left(shown->as),
            .own_line = shown->as == RES_AS_NAME,
            .hidden = is_nowhere(&list->items[i], table->workload),
            .gap = i == 0    ? 0
                   : goes_on ? 1
                             : 2,
            .expendable = shown->expendable,
        };
    }
    res_grid_begin(grid, columns, list->count);
    for (size_t i = 0; i < list->count; i++) {
        for (size_t k = 0; k < 3; k++)
            free(words[i][k]);
    }
}

static struct table table_of(const struct res_result *result, const struct res_result_workload *workload)
{
    double largest = 0;
    for (size_t i = 0; i < workload->candidate_count; i++)
        largest = fmax(largest, workload->candidates[i].figures.peak_bytes);
    return (struct table){
        .workload = workload, .baseline = result->baseline, .unit = res_bytes_unit_of(largest)};
}

/* Begins a grid and puts all candidates of a workload into it. */
static void columns_fill(struct res_grid *grid, const struct res_result *result,
                         const struct res_result_workload *workload, enum block block)
{
    const struct shown_list list = list_of(block);
    const struct table table = table_of(result, workload);
    grid_begin(grid, &table, &list);
    for (size_t i = 0; i < workload->candidate_count; i++) {
        for (size_t k = 0; k < list.count; k++)
            add_cell(grid, &table, &list.items[k], &workload->candidates[i]);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* A floor has the first rows only. */
static bool is_for_floor(const struct shown *shown)
{
    const struct res_field *field = shown->part != NULL ? shown->part : shown->field;
    return field < RES_RESULT_FLOOR.fields + RES_RESULT_FLOOR.field_count;
}

static void add_value(struct res_grid *grid, const struct shown *shown, const struct res_result_entry *entry)
{
    const void *owner = owner_of(shown, entry);
    const struct res_field *field = shown->field;
    const double number = field->kind == RES_FIELD_NUMBER || field->kind == RES_FIELD_WHOLE
                              ? number_of(shown, owner)
                              : NAN;
    if (field->kind == RES_FIELD_TEXT)
        res_grid_add(grid, text_of(shown, owner) != NULL ? text_of(shown, owner) : "");
    else if (field->kind == RES_FIELD_WORD)
        res_grid_add(grid, field->words[*(const int *)((const char *)owner + field->offset)]);
    else if (field->kind == RES_FIELD_WHOLE && isfinite(number))
        res_grid_bare(grid, res_printf("%.0f", number));
    else
        res_grid_number(grid, number);
}

static void add_line(struct res_grid *grid, const struct shown_list *list,
                     const struct res_result_workload *workload, const struct res_result_entry *entry,
                     const char *role)
{
    res_grid_add(grid, workload->name);
    res_grid_bare(grid, res_strdup(role));
    res_grid_add(grid, entry->name);
    res_grid_add(grid, entry->version != NULL ? entry->version : "");
    res_grid_bare(grid, res_printf("%llu", (unsigned long long)workload->ops));
    res_grid_bare(grid, res_printf("%llu", (unsigned long long)workload->rounds));
    for (size_t i = 0; i < list->count; i++) {
        if (entry != workload->floor || is_for_floor(&list->items[i]))
            add_value(grid, &list->items[i], entry);
        else
            res_grid_add(grid, NULL);
    }
    res_grid_add(grid, workload->label != NULL ? workload->label : "");
    res_grid_add(grid, workload->file_digest != NULL ? workload->file_digest : "");
}

/* columns_csv - begin a grid and put a line for each candidate, control and floor of all workloads into it. */
static void columns_csv(struct res_grid *grid, const struct res_result *result)
{
    const struct shown_list list = list_of(IN_CSV);
    struct res_column columns[OWN_MAX + SHOWN_MAX + KEY_MAX] = {
        {.heading = "workload"}, {.heading = "role"}, {.heading = "candidate"},
        {.heading = "version"},  {.heading = "ops"},  {.heading = "rounds"}};
    for (size_t i = 0; i < list.count; i++)
        columns[OWN_MAX + i].heading = list.items[i].field->shown.csv;
    columns[OWN_MAX + list.count].heading = "label";
    columns[OWN_MAX + list.count + 1].heading = "file_digest";
    res_grid_begin(grid, columns, OWN_MAX + list.count + KEY_MAX);
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        for (size_t k = 0; k < workload->candidate_count; k++)
            add_line(grid, &list, workload, &workload->candidates[k], "candidate");
        add_line(grid, &list, workload, &workload->control, "control");
        if (workload->floor != NULL)
            add_line(grid, &list, workload, workload->floor, "floor");
    }
}

/* ---- the page ------------------------------------------------------------------------------- */

void res_table_grid(struct res_grid *grid, const struct res_result *result,
                    const struct res_result_workload *workload)
{
    columns_fill(grid, result, workload, IN_BOTH);
}

/* ---- text ----------------------------------------------------------------------------------- */

/* All columns side by side would be wider than a page: time stands above memory there, each with the names. */
static void add_table(struct res_text *text, const struct res_result *result,
                      const struct res_result_workload *workload, const struct res_style *style)
{
    static const enum block BLOCKS[] = {IN_TIME, IN_MEMORY};
    for (size_t i = 0; i < sizeof BLOCKS / sizeof BLOCKS[0]; i++) {
        struct res_grid grid;
        columns_fill(&grid, result, workload, BLOCKS[i]);
        res_text_add(text, "\n", 1);
        res_grid_text(&grid, style, text);
        res_grid_release(&grid);
    }
}

static bool has_latency(const struct res_result_workload *workload)
{
    for (size_t i = 0; i < workload->candidate_count; i++)
        if (workload->candidates[i].latency != NULL)
            return true;
    return false;
}

/* Options of the verb at hand that were not given. The caller's to free; NULL where all there is to do stands above. */
static char *more_words(const struct res_result *result, const struct res_style *style)
{
    const struct res_result_entry *tried[RES_TRIED_MAX];
    const struct res_result_workload *workload = &result->workloads[0];
    const bool pays = result->workload_count == 1 && res_notes_tried(workload, tried) > 0;
    const char *confirm = result->asked.not_confirmed != NULL ? ""
                          : style->of_file                    ? "mallab confirm runs the program; "
                                                              : "--confirm runs the program itself; ";
    const char *first = pays                                         ? confirm
                        : workload->processes > 1 && !style->of_file ? "--process NAME for another; "
                                                                     : "";
    if (pays && result->confirmation != NULL)
        return NULL; /* that the program itself shows it stands there, too */
    const char *keep = style->of_file ? "; --format html" : style->is_kept ? "" : "; -o FILE";
    return res_printf("%s--details%s%s%s", first, has_latency(workload) ? " for p99" : "", keep,
                      *first == '\0' && !style->of_file ? "; mallab report --format html FILE" : "");
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static void md_workload(struct res_document *document, const struct res_result *result,
                        const struct res_result_workload *workload)
{
    const char *lacks = res_notes_recorded(workload);
    RES_FREED char *title = res_notes_title(workload), *head = res_verdict_head(workload);
    RES_FREED char *share = res_verdict_share(result, workload);
    RES_FREED char *words = res_printf("%s. %s%s%s", head, share, lacks != NULL ? "; " : "",
                                       lacks != NULL ? lacks : "");
    struct res_grid grid;
    res_document_heading(document, 3, "%s", title);
    res_markdown_add(&document->text, words);
    res_document_gap(document);
    res_notes_rest(document, workload->notes, workload->note_count, NULL);
    res_document_gap(document);
    columns_fill(&grid, result, workload, IN_BOTH);
    res_document_table(document, "All figures", &grid);
    res_grid_release(&grid);
}

/* ---- both forms ------------------------------------------------------------------------------ */

static void add_workload(struct res_document *document, const struct res_result *result,
                         const struct res_result_workload *workload)
{
    const struct res_style *style = document->style;
    struct res_text *text = &document->text;
    if (style->form == RES_FORM_MARKDOWN) {
        md_workload(document, result, workload);
        return;
    }
    res_verdict_screen(document, result, workload);
    if (!style->details)
        return;
    add_table(text, result, workload, style);
    res_text_add(text, "\n", 1);
    res_notes_details(text, workload->notes, workload->note_count);
}

char *res_table_text(const struct res_result *result, const struct res_style *style)
{
    struct res_document document = {.style = style};
    struct res_text *text = &document.text;
    const bool markdown = style->form == RES_FORM_MARKDOWN;
    for (size_t i = 0; i < result->workload_count; i++) {
        if (i > 0)
            res_document_gap(&document);
        add_workload(&document, result, &result->workloads[i]);
    }
    if (result->workload_count == 0 && result->confirmation != NULL)
        res_confirm_screen(&document, result);
    if (markdown) {
        res_notes_rest(&document, result->notes, result->note_count, NULL);
        return text->text != NULL ? text->text : res_strdup("\n");
    }
    if (result->fleet != NULL) {
        res_document_gap(&document);
        res_fleet_screen(&document, result->fleet);
    }
    if (style->details)
        res_notes_details(text, result->notes, result->note_count);
    if (result->workload_count > 0 || result->confirmation != NULL)
        res_notes_rest(&document, result->notes, result->note_count, result->asked.command);
    RES_FREED char *more = result->workload_count > 0 && !style->details ? more_words(result, style) : NULL;
    if (more != NULL)
        res_lines_screen(text, "more", more);
    return text->text != NULL ? text->text : res_strdup("no workload was replayed\n");
}

/* ---- CSV ------------------------------------------------------------------------------------ */

char *res_table_csv(const struct res_result *result)
{
    struct res_text text = {0};
    struct res_grid grid;
    columns_csv(&grid, result);
    res_grid_csv(&grid, &text);
    res_grid_release(&grid);
    return text.text;
}

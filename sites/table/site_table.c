/* site_table.c - a row for each figure; tables and JSON from the rows. */
#include "sites/table/site_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/fields.h"
#include "results/measure/base/figure_words.h"

/* ---- figures --------------------------------------------------------------------------------- */

enum unit { COUNT, BYTES, SHARE, TIME };

/* The basis of a figure where there is but a sample of objects; LARGEST: on none but those that are seen. */
enum basis { LARGEST, MADE, LIVE, PEAK };

struct figure {
    const char *key, *heading;
    const char *group; /* of the heading; NULL: none */
    enum unit unit;
    unsigned tables; /* bits: of which tables it is a column */
    enum basis basis;
    const char *range[2]; /* keys of its least and most, of a sample; NULL: it has none */
    double (*of)(const struct conv_site_counts *counts);
    const char *meaning; /* NULL: rows are in no order of it */
    unsigned expendable; /* as in struct res_column (grid.h) */
};

#define SITES (1u << SITE_TABLE_SITES)
#define LEAKS (1u << SITE_TABLE_LEAKS)

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Objects that could have been freed. */
static double ended_or_live(const struct conv_site_counts *counts)
{
    return counts->allocations - counts->resized;
}

#define OF(name, expression)                                                                                 \
    static double name(const struct conv_site_counts *counts)                                                \
    {                                                                                                        \
        return (expression);                                                                                 \
    }
OF(allocations, (double)counts->allocations)
OF(bytes, (double)counts->bytes)
OF(peak, (double)counts->peak_bytes)
OF(live, (double)counts->live_bytes)
OF(objects, (double)counts->live_objects)
OF(soon, share(counts->freed_soon, counts->freed))
OF(churn, (double)counts->freed_soon)
OF(elsewhere, share(counts->freed_elsewhere, counts->freed))
OF(freed, share(counts->freed, ended_or_live(counts)))
OF(life, counts->freed > 0 ? (double)conv_site_life_ns(counts, 0.5) : NAN)
OF(least, (double)counts->least_size)
OF(most, (double)counts->most_size)
OF(quarter1, (double)counts->quarter_bytes[0])
OF(quarter2, (double)counts->quarter_bytes[1])
OF(quarter3, (double)counts->quarter_bytes[2])
OF(quarter4, (double)counts->quarter_bytes[3])
OF(oldest, counts->live_objects > 0 ? (double)counts->oldest_ns : NAN)
OF(overdue, (double)counts->overdue_bytes)

#define QUARTERS "made in quarter"
#define RANGE(key)                                                                                           \
    {                                                                                                        \
        key "_low", key "_high"                                                                              \
    }

static const struct figure FIGURES[] = {
    {"peak_bytes", "at the peak", NULL, BYTES, SITES, PEAK, RANGE("peak_bytes"), peak,
     "bytes live when most was live", 0},
    {"live_bytes", "live", NULL, BYTES, LEAKS, LIVE, RANGE("live_bytes"), live, "bytes live at the end", 0},
    {"live_objects", "objects", NULL, COUNT, LEAKS, LIVE, RANGE("live_objects"), objects,
     "objects live at the end", 0},
    {"allocations", "calls", NULL, COUNT, SITES, MADE, RANGE("allocations"), allocations,
     "calls that allocated", 0},
    {"bytes", "bytes", NULL, BYTES, SITES, MADE, RANGE("bytes"), bytes, "bytes asked for in all", 0},
    {"freed_share", "freed", NULL, SHARE, LEAKS, MADE, {0}, freed, NULL, 0},
    {"life_ns", "half live", NULL, TIME, SITES, MADE, {0}, life, NULL, 3},
    {"soon_share", "soon", NULL, SHARE, SITES, MADE, {0}, soon, NULL, 2},
    {"elsewhere_share", "elsewhere", NULL, SHARE, SITES, MADE, {0}, elsewhere, NULL, 1},
    {"churn", "churn", NULL, COUNT, 0, MADE, {0}, churn, "objects freed within 100 calls", 0},
    {"least_size", "least", NULL, BYTES, 0, LARGEST, {0}, least, NULL, 0},
    {"most_size", "most", NULL, BYTES, 0, LARGEST, {0}, most, "the largest size asked for", 0},
    {"quarter1_bytes", "1", QUARTERS, BYTES, LEAKS, LIVE, {0}, quarter1, NULL, 2},
    {"quarter2_bytes", "2", QUARTERS, BYTES, LEAKS, LIVE, {0}, quarter2, NULL, 2},
    {"quarter3_bytes", "3", QUARTERS, BYTES, LEAKS, LIVE, {0}, quarter3, NULL, 2},
    {"quarter4_bytes", "4", QUARTERS, BYTES, LEAKS, LIVE, {0}, quarter4, NULL, 2},
    {"oldest_ns", "oldest", NULL, TIME, LEAKS, LARGEST, {0}, oldest, "age of the oldest object live", 0},
    {"overdue_bytes",
     "overdue",
     NULL,
     BYTES,
     LEAKS,
     LIVE,
     {0},
     overdue,
     "bytes live past the site's usual age",
     1},
};

#define SITE_COLUMNS                                                                                         \
    28u /* of a page, for names, where the others can do without: ld-linux-x86-64.so.2+0x10c90 has no place to break */

#define FIGURE_COUNT (sizeof FIGURES / sizeof FIGURES[0])
#define COLUMNS_MOST (3 * FIGURE_COUNT + 4)

static struct conv_site_range range_of(const struct figure *figure, const struct conv_site_counts *counts)
{
    static const struct conv_site_basis none;
    const struct conv_site_basis *basis = figure->basis == MADE   ? &counts->made
                                          : figure->basis == LIVE ? &counts->live
                                          : figure->basis == PEAK ? &counts->peak
                                                                  : &none;
    return (figure->basis == PEAK ? conv_site_peak_range : conv_site_range)(
        figure->of(counts), basis->samples,
        figure->unit == BYTES ? basis->bytes_variance : basis->objects_variance);
}

bool site_figure_keys(size_t number, const char **ret_key, const char **ret_meaning)
{
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        if (FIGURES[i].meaning == NULL || number-- > 0)
            continue;
        *ret_key = FIGURES[i].key;
        *ret_meaning = FIGURES[i].meaning;
        return true;
    }
    return false;
}

static const struct figure *figure_of(const char *key)
{
    size_t at = 0;
    while (at + 1 < FIGURE_COUNT && strcmp(FIGURES[at].key, key) != 0)
        at++;
    return &FIGURES[at];
}

/* ---- order ----------------------------------------------------------------------------------- */

struct ordered {
    struct site_group group;
    double rank, value;
};

static int by_rank(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? 1 : -1;
    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    return strcmp(a->group.key, b->group.key);
}

/* A site that grows without end has something live from each quarter; one that was made at the start and is kept has only that. */
static unsigned quarters_of(const struct conv_site_counts *counts)
{
    unsigned quarters = 0;
    for (unsigned i = 0; i < CONV_SITE_QUARTERS; i++)
        quarters |= (counts->quarter_bytes[i] > 0) << i;
    return quarters;
}

static bool is_of_start(const struct conv_site_counts *counts)
{
    return quarters_of(counts) <= 1;
}

static double rank_of(const struct conv_site_counts *counts)
{
    if (is_of_start(counts))
        return 0;
    return quarters_of(counts) == (1u << CONV_SITE_QUARTERS) - 1 && counts->freed == 0 ? 2 : 1;
}

void site_groups_sort(struct site_group *groups, size_t count, enum site_table table, const char *key)
{
    struct ordered *all = res_calloc(count, sizeof *all);
    const struct figure *figure = figure_of(key != NULL                 ? key
                                            : table == SITE_TABLE_LEAKS ? "live_bytes"
                                                                        : "peak_bytes");
    for (size_t i = 0; i < count; i++) {
        const double value = figure->of(&groups[i].counts);
        all[i] = (struct ordered){groups[i],
                                  table == SITE_TABLE_LEAKS && key == NULL ? rank_of(&groups[i].counts) : 0,
                                  isnan(value) ? -1 : value};
    }
    qsort(all, count, sizeof *all, by_rank);
    for (size_t i = 0; i < count; i++)
        groups[i] = all[i].group;
    free(all);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static size_t shown(size_t count, const struct site_table_request *request)
{
    return request->most > 0 && request->most < count ? request->most : count;
}

static void ask_lines(struct site_stacks *stacks, const struct site_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        site_stacks_lines(stacks, groups[i].counts.site);
    site_stacks_settle(stacks);
}

/* Sums of a hostile file's sizes have no end. */
static uint64_t whole(double value)
{
    return value < 0x1p62 ? (uint64_t)llround(value) : UINT64_C(1) << 62;
}

static char *value_words(enum unit unit, double value)
{
    char room[FP_TEXT_BYTES];
    if (!isfinite(value) || (value == 0 && (unit == BYTES || unit == COUNT)))
        return res_strdup("-");
    switch (unit) {
    case BYTES:
        return res_strdup(fp_text_bytes(value, room));
    case SHARE:
        return res_printf("%.0f %%", 100 * value);
    case TIME:
        return res_strdup(RES_DURATION(value));
    case COUNT:
    default:
        return res_strdup(fp_text_grouped(whole(value), room));
    }
}

/* An estimate with half the width of its range, or only what it is less than. */
static char *figure_words(const struct figure *figure, const struct conv_site_counts *counts, bool utf8)
{
    const double value = figure->of(counts);
    const struct conv_site_range range = range_of(figure, counts);
    if (figure->range[0] == NULL || range.low == range.high || value == 0)
        return value_words(figure->unit, range.is_told ? value : NAN);
    char *words = value_words(figure->unit, range.is_told ? value : range.high);
    char *all = range.is_told ? res_printf("%s %s%.0f %%", words, utf8 ? "\302\261" : "+-",
                                           100 * (range.high - value) / value)
                              : res_printf("<%s", words);
    free(words);
    return all;
}

char *site_total_words(const struct conv_sites *sites, const char *key)
{
    const struct figure *figure = figure_of(key);
    const struct conv_site_counts all = site_totals(sites);
    const struct conv_site_range range = range_of(figure, &all);
    const double values[3] = {figure->of(&all), range.low, range.high};
    char rooms[3][FP_TEXT_BYTES];
    for (size_t i = 0; i < 3; i++)
        (void)(figure->unit == COUNT ? fp_text_grouped(whole(values[i]), rooms[i])
                                     : fp_text_bytes(values[i], rooms[i]));
    if (!range.is_told)
        return isfinite(range.high) ? res_printf("less than %s", rooms[2]) : res_strdup("an unknown number");
    return range.low == range.high ? res_strdup(rooms[0])
                                   : res_printf("about %s (%s to %s)", rooms[0], rooms[1], rooms[2]);
}

static void add_column(struct res_column *columns, size_t *count, const char *heading)
{
    columns[*count] = (struct res_column){.heading = heading, .right = true, .gap = *count > 0 ? 2 : 0};
    (*count)++;
}

static size_t columns_of(enum site_table table, struct res_column *ret_columns)
{
    size_t count = 0;
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        if (!(FIGURES[i].tables & 1u << table))
            continue;
        add_column(ret_columns, &count, FIGURES[i].heading);
        ret_columns[count - 1].group = FIGURES[i].group;
        ret_columns[count - 1].expendable = FIGURES[i].expendable;
    }
    ret_columns[count++] = (struct res_column){
        .heading = "site", .open = true, .gap = 2, .least = SITE_COLUMNS};
    return count;
}

static void below(struct site_stacks *stacks, const struct site_group *group, size_t frames,
                  struct res_grid *grid)
{
    struct res_text stack = {0};
    char *rest;
    site_stack_words(stacks, group->counts.site, 2, frames, &stack);
    for (char *line = stack.text != NULL ? strtok_r(stack.text, "\n", &rest) : NULL; line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        res_grid_below(grid, line);
    free(stack.text);
}

/* Tells what was all made at the start, in a line. */
static void note_start(const struct site_group *groups, size_t count, struct res_text *text)
{
    uint64_t bytes = 0, objects = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += groups[i].counts.live_bytes;
        objects += groups[i].counts.live_objects;
    }
    res_text_printf(text, "\n");
    res_lines_printf(text, "start", "%s in %s object%s of %s site%s were all made in the first quarter",
                     FP_BYTES((double)bytes), FP_GROUPED(objects), objects == 1 ? "" : "s", FP_GROUPED(count),
                     count == 1 ? "" : "s");
}

char *site_table_text(struct site_stacks *stacks, const struct site_group *groups, size_t count,
                      const struct site_table_request *request, const struct res_style *style)
{
    struct res_column columns[COLUMNS_MOST];
    struct res_text text = {0};
    struct res_grid grid;
    const size_t rows = shown(count, request);
    const bool is_apart = request->table == SITE_TABLE_LEAKS && request->is_by_rank;
    size_t rows_before = 0;
    while (is_apart && rows_before < count && !is_of_start(&groups[rows_before].counts))
        rows_before++;
    ask_lines(stacks, groups, rows);
    res_grid_begin(&grid, columns, columns_of(request->table, columns));
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < FIGURE_COUNT; i++)
            if (FIGURES[i].tables & 1u << request->table)
                res_grid_own(&grid, figure_words(&FIGURES[i], &groups[row].counts, style->utf8));
        res_grid_own(&grid, site_group_words(stacks, &groups[row], request->by));
        if (request->frames > 0)
            below(stacks, &groups[row], request->frames, &grid);
        if (is_apart && row + 1 < rows && row + 1 == rows_before)
            res_grid_below(&grid, "all made in the first quarter:");
    }
    res_grid_text(&grid, style, &text);
    res_grid_release(&grid);
    if (rows < count)
        res_text_printf(&text, "and %s more: --top 0\n", FP_GROUPED(count - rows));
    if (is_apart && rows_before < count)
        note_start(groups + rows_before, count - rows_before, &text);
    return text.text;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *frames_json(const struct site_stacks *stacks, uint32_t site, enum fp_cut *ret_cut)
{
    struct site_stack_frame *frames = res_calloc(SITE_FRAMES_MAX, sizeof *frames);
    const size_t count = site_stack_frames(stacks, site, frames, ret_cut);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *frame = json_object();
        json_object_set_new(frame, "function", res_json_text(frames[i].words->function));
        json_object_set_new(frame, "module", res_json_text(frames[i].module));
        json_object_set_new(frame, "file", res_json_text(frames[i].words->file));
        json_object_set_new(frame, "line",
                            frames[i].words->line > 0 ? json_integer(frames[i].words->line) : json_null());
        json_object_set_new(frame, "inlined", json_boolean(frames[i].words->is_inlined));
        json_array_append_new(array, frame);
    }
    free(frames);
    return array;
}

static json_t *value_json(enum unit unit, double value)
{
    return !isfinite(value) ? json_null()
           : unit == SHARE  ? json_real(value)
                            : json_integer((json_int_t)whole(value));
}

static void set_figure(json_t *object, const struct figure *figure, const struct conv_site_counts *counts,
                       bool is_sample)
{
    const struct conv_site_range range = range_of(figure, counts);
    json_object_set_new(object, figure->key,
                        value_json(figure->unit, range.is_told ? figure->of(counts) : NAN));
    for (size_t i = 0; is_sample && figure->range[0] != NULL && i < 2; i++)
        json_object_set_new(object, figure->range[i],
                            value_json(figure->unit, i == 0 ? range.low : range.high));
}

void site_totals_json(json_t *object, const struct conv_sites *sites)
{
    const struct conv_site_counts all = site_totals(sites);
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (FIGURES[i].range[0] != NULL)
            set_figure(object, &FIGURES[i], &all, sites->survey.sample_bytes != 0);
    json_object_set_new(object, "all_live_bytes", value_json(BYTES, sites->all_live_bytes));
}

static json_t *group_json(const struct site_stacks *stacks, const struct site_group *group, enum site_by by)
{
    json_t *object = json_object();
    enum fp_cut cut;
    char *words = site_group_words(stacks, group, by);
    json_object_set_new(object, "site", res_json_text(words));
    const bool is_sample = stacks->sites->survey.sample_bytes != 0;
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        set_figure(object, &FIGURES[i], &group->counts, is_sample);
    if (is_sample) {
        json_object_set_new(object, "samples", value_json(COUNT, group->counts.made.samples));
        json_object_set_new(object, "live_samples", value_json(COUNT, group->counts.live.samples));
        json_object_set_new(object, "peak_samples", value_json(COUNT, group->counts.peak.samples));
    }
    json_object_set_new(object, "stacks", json_integer((json_int_t)group->stacks));
    json_object_set_new(object, "stack", frames_json(stacks, group->counts.site, &cut));
    json_object_set_new(object, "cut", res_json_text(fp_cut_name(cut)));
    free(words);
    return object;
}

json_t *site_table_json(struct site_stacks *stacks, const struct site_group *groups, size_t count,
                        const struct site_table_request *request)
{
    json_t *array = json_array();
    const size_t rows = shown(count, request);
    ask_lines(stacks, groups, rows);
    for (size_t i = 0; i < rows; i++)
        json_array_append_new(array, group_json(stacks, &groups[i], request->by));
    return array;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void note_cuts(const struct conv_sites *sites, const struct conv_site_counts *totals,
                      struct res_texts *notes)
{
    uint64_t calls[FP_CUT_COUNT] = {0};
    for (size_t i = 0; i < sites->count; i++) {
        const enum fp_cut cut = fp_site_cut(&sites->stacks, sites->counts[i].site);
        calls[cut < FP_CUT_COUNT ? cut : FP_CUT_LOST] += (uint64_t)sites->counts[i].allocations;
    }
    for (unsigned cut = 1; cut < FP_CUT_INHERITED; cut++)
        if (calls[cut] > 0)
            res_texts_take(notes, res_printf("cut: %s of %s calls: %s", FP_GROUPED(calls[cut]),
                                             FP_GROUPED(whole(totals->allocations)), site_cut_words(cut)));
}

/* Modules of which the same is to be told share a line. */
static void note_modules(struct site_stacks *stacks, struct res_texts *notes)
{
    for (enum names_state state = 0; state <= NAMES_UNMAPPED; state++) {
        const char *words = names_state_words(state);
        struct res_text names = {0};
        size_t count = 0;
        for (uint32_t module = 0; words != NULL && module < stacks->module_count; module++)
            if (names_module_state(stacks->names, module) == state)
                res_text_printf(&names, "%s%s", count++ > 0 ? ", " : "",
                                names_module_name(stacks->names, module));
        if (count > 0)
            res_texts_take(notes, res_printf("names: %s%s %s%s", names.text, count > 1 ? ": each" : "", words,
                                             state == NAMES_STRIPPED
                                                 ? ": its package of debug symbols, or --debuginfod, has them"
                                                 : ""));
        free(names.text);
    }
}

static void note_sample(const struct conv_sites *sites, const struct conv_site_counts *totals,
                        struct res_texts *notes)
{
    if (sites->survey.sample_bytes != 0)
        res_texts_take(
            notes,
            res_printf(
                "sampled: %s objects are recorded, about one for %s: all figures are estimates with their "
                "95 %% range, or an upper bound (<) where fewer than %d samples tell",
                FP_GROUPED(whole(totals->made.samples)), FP_BYTES((double)sites->survey.sample_bytes),
                CONV_SAMPLES_LEAST));
}

void site_table_notes(struct site_stacks *stacks, struct res_texts *notes)
{
    const struct conv_site_counts totals = site_totals(stacks->sites);
    note_sample(stacks->sites, &totals, notes);
    note_cuts(stacks->sites, &totals, notes);
    note_modules(stacks, notes);
}

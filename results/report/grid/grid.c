/* grid.c - see grid.h. */
#include "results/report/grid/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    char *words; /* plain */
    enum res_role role;
    bool bare; /* without quotes in CSV */
};

#define TALL 20u /* rows from which on a page scrolls a table in a box */

struct res_grid_row {
    struct cell *cells; /* one for each column, below a row one */
    size_t filled;
    bool is_below;
};

/* ---- cells ---------------------------------------------------------------------------------- */

void res_grid_begin(struct res_grid *grid, const struct res_column *columns, size_t column_count)
{
    *grid = (struct res_grid){.columns = res_calloc(column_count, sizeof *grid->columns),
                              .column_count = column_count};
    for (size_t i = 0; i < column_count; i++) {
        const char *group = columns[i].group, *alone = columns[i].alone;
        grid->columns[i] = columns[i];
        grid->columns[i].heading = res_text_plain(columns[i].heading);
        grid->columns[i].group = group != NULL ? res_text_plain(group) : NULL;
        grid->columns[i].alone = alone != NULL ? res_text_plain(alone) : NULL;
    }
}

static void forget_rows(struct res_grid *grid)
{
    for (size_t i = 0; i < grid->row_count; i++) {
        for (size_t k = 0; k < grid->rows[i].filled; k++)
            free(grid->rows[i].cells[k].words);
        free(grid->rows[i].cells);
    }
    free(grid->rows);
    grid->rows = NULL;
    grid->row_count = 0;
}

void res_grid_release(struct res_grid *grid)
{
    forget_rows(grid);
    for (size_t i = 0; i < grid->column_count; i++) {
        free((char *)(uintptr_t)grid->columns[i].heading); /* the copies that res_grid_begin made */
        free((char *)(uintptr_t)grid->columns[i].group);
        free((char *)(uintptr_t)grid->columns[i].alone);
    }
    free(grid->columns);
    *grid = (struct res_grid){0};
}

static struct res_grid_row *add_row(struct res_grid *grid, bool is_below)
{
    grid->rows = res_realloc(grid->rows, grid->row_count + 1, sizeof *grid->rows);
    struct res_grid_row *row = &grid->rows[grid->row_count++];
    *row = (struct res_grid_row){.cells = res_calloc(grid->column_count, sizeof *row->cells),
                                 .is_below = is_below};
    return row;
}

static struct res_grid_row *open_row(struct res_grid *grid)
{
    struct res_grid_row *last = grid->row_count > 0 ? &grid->rows[grid->row_count - 1] : NULL;
    const bool is_open = last != NULL && !last->is_below && last->filled < grid->column_count;
    return is_open ? last : add_row(grid, false);
}

void res_grid_add(struct res_grid *grid, const char *words)
{
    struct res_grid_row *row = open_row(grid);
    row->cells[row->filled++] = (struct cell){.words = res_text_plain(words != NULL ? words : ""),
                                              .bare = words == NULL};
}

void res_grid_own(struct res_grid *grid, char *words)
{
    res_grid_add(grid, words);
    free(words);
}

static struct cell *last_cell(struct res_grid *grid)
{
    struct res_grid_row *row = &grid->rows[grid->row_count - 1];
    return &row->cells[row->filled - 1];
}

void res_grid_bare(struct res_grid *grid, char *words)
{
    res_grid_own(grid, words);
    last_cell(grid)->bare = true;
}

void res_grid_number(struct res_grid *grid, double number)
{
    res_grid_bare(grid, isfinite(number) ? res_printf("%.9g", number) : NULL);
}

void res_grid_role(struct res_grid *grid, enum res_role role)
{
    last_cell(grid)->role = role;
}

void res_grid_below(struct res_grid *grid, const char *words)
{
    struct res_grid_row *row = add_row(grid, true);
    row->cells[row->filled++].words = res_text_plain(words);
}

static const char *words_of(const struct res_grid_row *row, size_t column)
{
    return column < row->filled ? row->cells[column].words : "";
}

static const char *name_of(const struct res_column *column)
{
    return column->alone != NULL ? column->alone : column->heading;
}

/* ---- a terminal's page ---------------------------------------------------------------------- */

/* The columns that are shown, and their widths. */
struct page {
    const struct res_grid *grid;
    const struct res_style *style;
    bool *shown;
    size_t *widths;
    bool names_above;         /* no room beside the others even for the first heading */
    struct res_text left_out; /* names of columns, for want of room */
};

static size_t larger(size_t left, size_t right)
{
    return left > right ? left : right;
}

/* Tells whether there are rows, and none has words in this column. */
static bool is_empty(const struct res_grid *grid, size_t column)
{
    for (size_t i = 0; i < grid->row_count; i++) {
        if (!grid->rows[i].is_below && *words_of(&grid->rows[i], column) != '\0')
            return false;
    }
    return grid->row_count > 0;
}

/* The place behind the last column below the same group as this one. */
static size_t group_end(const struct res_grid *grid, size_t first)
{
    const char *group = grid->columns[first].group;
    size_t end = first + 1;
    while (group != NULL && end < grid->column_count && grid->columns[end].group != NULL &&
           strcmp(grid->columns[end].group, group) == 0)
        end++;
    return end;
}

/* The width of the columns shown from `first` up to `end`, with the gaps between them.
 * ret_ends  the first and the last of these; both `end` where none is shown. */
static size_t width_between(const struct page *page, size_t first, size_t end, size_t ret_ends[2])
{
    size_t width = 0;
    ret_ends[0] = ret_ends[1] = end;
    for (size_t column = first; column < end; column++) {
        if (!page->shown[column])
            continue;
        width += page->widths[column] + (ret_ends[0] < end ? page->grid->columns[column].gap : 0);
        ret_ends[0] = ret_ends[0] < end ? ret_ends[0] : column;
        ret_ends[1] = column;
    }
    return width;
}

/* Makes the columns wide enough for their cells and headings, and the last of each group for its words. */
static void measure(struct page *page)
{
    const struct res_grid *grid = page->grid;
    for (size_t column = 0; column < grid->column_count; column++) {
        size_t width = larger(res_text_columns(grid->columns[column].heading), grid->columns[column].least);
        const bool set_by_cells = !grid->columns[column].open && !grid->columns[column].own_line;
        for (size_t i = 0; i < grid->row_count && set_by_cells; i++) {
            if (!grid->rows[i].is_below)
                width = larger(width, res_text_columns(words_of(&grid->rows[i], column)));
        }
        page->widths[column] = width;
    }
    for (size_t column = 0; column < grid->column_count; column = group_end(grid, column)) {
        size_t ends[2];
        const size_t end = group_end(grid, column), width = width_between(page, column, end, ends);
        const char *group = grid->columns[column].group;
        const size_t needed = group != NULL && ends[0] < end ? res_text_columns(group) : 0;
        if (needed > width)
            page->widths[ends[1]] += needed - width;
    }
}

static size_t width_of(const struct page *page)
{
    return res_page_columns(page->style->columns > 0 ? page->style->columns : RES_TABLE_COLUMNS);
}

/* The longest name that fits beside the other columns sets the width of a first column whose words may stand on their own line.
 * Returns whether all others fit, and the first heading. */
static bool fit_names(struct page *page)
{
    const struct res_grid *grid = page->grid;
    const size_t heading = page->widths[0];
    size_t others = grid->columns[0].gap;
    for (size_t column = 1; column < grid->column_count; column++)
        others += page->shown[column] ? grid->columns[column].gap + page->widths[column] : 0;
    for (size_t i = 0; i < grid->row_count && grid->columns[0].own_line; i++) {
        const size_t own = grid->rows[i].is_below ? 0 : res_text_columns(words_of(&grid->rows[i], 0));
        page->widths[0] = own + others <= width_of(page) ? larger(page->widths[0], own) : page->widths[0];
    }
    return heading + others <= width_of(page);
}

/* Leaves out the column that is most expendable. Returns false where none is. */
static bool leave_out(struct page *page)
{
    const struct res_grid *grid = page->grid;
    size_t found = grid->column_count;
    for (size_t i = 0; i < grid->column_count; i++) {
        const unsigned rank = page->shown[i] ? grid->columns[i].expendable : 0;
        if (rank > 0 && (found == grid->column_count || rank < grid->columns[found].expendable))
            found = i;
    }
    if (found == grid->column_count)
        return false;
    page->shown[found] = false;
    res_text_printf(&page->left_out, "%s%s",
                    page->left_out.length > 0 ? ", " : "No room for: ", name_of(&grid->columns[found]));
    return true;
}

/* The place where a column's words begin. */
static size_t column_of(const struct page *page, size_t column)
{
    size_t begin = page->grid->columns[column].gap;
    for (size_t i = 0; i < column; i++)
        begin += page->shown[i] ? page->grid->columns[i].gap + page->widths[i] : 0;
    return begin;
}

static void print_words(const struct page *page, struct res_text *text, size_t column, const char *words,
                        enum res_role role)
{
    const struct res_column *about = &page->grid->columns[column];
    size_t columns = res_text_columns(words), width = page->widths[column];
    if (column == 0 && columns > width) {
        res_lines_pad(text, about->gap);
        res_text_add(text, words, strlen(words));
        res_lines_end(text);
        words = "";
        columns = 0;
    }
    const size_t blanks = width > columns ? width - columns : 0;
    if (about->open && res_page_open() > 0) {
        res_lines_pad(text, about->gap);
        res_lines_wrap_open(text, words, column_of(page, column));
        text->length--; /* the row ends the line */
        return;
    }
    res_lines_pad(text, about->gap + (about->right ? blanks : 0));
    res_text_printf(text, "%s%s%s", res_colour_begin(page->style, role), words,
                    res_colour_end(page->style, role));
    res_lines_pad(text, about->right ? 0 : blanks);
}

static void print_groups(const struct page *page, struct res_text *text)
{
    const struct res_grid *grid = page->grid;
    bool any = false;
    for (size_t column = 0; column < grid->column_count; column++)
        any = any || (page->shown[column] && grid->columns[column].group != NULL);
    for (size_t column = 0; any && column < grid->column_count; column = group_end(grid, column)) {
        size_t ends[2];
        const size_t end = group_end(grid, column), width = width_between(page, column, end, ends);
        const char *group = grid->columns[column].group != NULL ? grid->columns[column].group : "";
        if (ends[0] == end)
            continue;
        res_lines_pad(text, grid->columns[ends[0]].gap);
        res_text_add(text, group, strlen(group));
        res_lines_pad(text, width - res_text_columns(group));
    }
    if (any)
        res_lines_end(text);
}

static void print_row(const struct page *page, struct res_text *text, const struct res_grid_row *row)
{
    const struct res_grid *grid = page->grid;
    if (row->is_below) {
        res_lines_pad(text, grid->columns[0].gap + page->widths[0] + grid->columns[1].gap);
        res_text_add(text, words_of(row, 0), strlen(words_of(row, 0)));
    }
    for (size_t column = 0; column < grid->column_count && !row->is_below; column++) {
        if (page->shown[column])
            print_words(page, text, column, words_of(row, column),
                        column < row->filled ? row->cells[column].role : RES_ROLE_NONE);
    }
    res_lines_end(text);
}

static void print_page(const struct page *page, struct res_text *text)
{
    const struct res_grid *grid = page->grid;
    if (page->names_above) {
        res_text_printf(text, "%s", grid->columns[0].heading);
        res_lines_end(text);
    }
    print_groups(page, text);
    for (size_t column = 0; column < grid->column_count; column++) {
        if (page->shown[column])
            print_words(page, text, column,
                        column == 0 && page->names_above ? "" : grid->columns[column].heading, RES_ROLE_NONE);
    }
    res_lines_end(text);
    for (size_t i = 0; i < grid->row_count; i++)
        print_row(page, text, &grid->rows[i]);
}

void res_grid_text(struct res_grid *grid, const struct res_style *style, struct res_text *text)
{
    struct page page = {.grid = grid,
                        .style = style,
                        .shown = res_calloc(grid->column_count, sizeof *page.shown),
                        .widths = res_calloc(grid->column_count, sizeof *page.widths)};
    for (size_t column = 0; column < grid->column_count; column++)
        page.shown[column] = !grid->columns[column].hidden && (column == 0 || !is_empty(grid, column));
    for (measure(&page); !fit_names(&page); measure(&page)) {
        if (leave_out(&page))
            continue;
        page.names_above = grid->columns[0].own_line;
        page.widths[0] = page.names_above ? 0 : page.widths[0];
        break;
    }
    print_page(&page, text);
    if (page.left_out.length > 0) {
        res_text_printf(&page.left_out, "; --json has all.");
        res_lines_wrap(text, page.left_out.text, 0);
    }
    free(page.left_out.text);
    free(page.shown);
    free(page.widths);
    forget_rows(grid);
}

/* ---- Markdown and CSV ----------------------------------------------------------------------- */

void res_grid_markdown(struct res_grid *grid, struct res_text *text)
{
    for (size_t column = 0; column < grid->column_count; column++) {
        if (grid->columns[column].hidden)
            continue;
        res_text_add(text, "| ", 2);
        res_markdown_add(text, name_of(&grid->columns[column]));
        res_text_add(text, " ", 1);
    }
    res_text_add(text, "|\n", 2);
    for (size_t column = 0; column < grid->column_count; column++) {
        if (!grid->columns[column].hidden)
            res_text_printf(text, "| %s ", grid->columns[column].right ? "---:" : "---");
    }
    res_text_add(text, "|\n", 2);
    for (size_t i = 0; i < grid->row_count; i++) {
        for (size_t column = 0; column < grid->column_count && !grid->rows[i].is_below; column++) {
            if (grid->columns[column].hidden)
                continue;
            res_text_add(text, "| ", 2);
            res_markdown_add(text, words_of(&grid->rows[i], column));
            res_text_add(text, " ", 1);
        }
        if (!grid->rows[i].is_below)
            res_text_add(text, "|\n", 2);
    }
    forget_rows(grid);
}

void res_grid_csv(struct res_grid *grid, struct res_text *text)
{
    for (size_t column = 0; column < grid->column_count; column++)
        res_text_printf(text, "%s%s", column > 0 ? "," : "", grid->columns[column].heading);
    res_text_add(text, "\n", 1);
    for (size_t i = 0; i < grid->row_count; i++) {
        const struct res_grid_row *row = &grid->rows[i];
        for (size_t column = 0; column < row->filled; column++) {
            res_text_printf(text, "%s", column > 0 ? "," : "");
            if (row->cells[column].bare)
                res_text_printf(text, "%s", row->cells[column].words);
            else
                res_csv_text(text, row->cells[column].words);
        }
        res_text_add(text, "\n", 1);
    }
    forget_rows(grid);
}

/* ---- HTML ------------------------------------------------------------------------------------ */

static void html_cell(struct res_text *text, const char *tag, const char *what, bool right,
                      enum res_role role, const char *words)
{
    static const char *const ROLES[] = {
        [RES_ROLE_NONE] = "", [RES_ROLE_GOOD] = "good", [RES_ROLE_BAD] = "bad", [RES_ROLE_DOUBT] = "doubt"};
    res_text_printf(text, "<%s%s class=\"%s%s%s\">", tag, what, right ? "number" : "",
                    right && role != RES_ROLE_NONE ? " " : "", ROLES[role]);
    res_html_add(text, words);
    res_text_printf(text, "</%s>", tag);
}

static bool is_in_page(const struct res_grid *grid, size_t column)
{
    return !grid->columns[column].hidden && (column == 0 || !is_empty(grid, column));
}

/* Words above several columns stand once. */
static void html_groups(const struct res_grid *grid, struct res_text *text)
{
    bool any = false;
    for (size_t i = 0; i < grid->column_count; i++)
        any = any || (is_in_page(grid, i) && grid->columns[i].group != NULL);
    if (!any)
        return;
    res_text_printf(text, "<tr>");
    for (size_t i = 0, end; i < grid->column_count; i = end) {
        size_t shown = 0;
        end = group_end(grid, i);
        end = end > i ? end : i + 1;
        for (size_t k = i; k < end; k++)
            shown += is_in_page(grid, k);
        if (shown == 0)
            continue;
        res_text_printf(text, "<th scope=\"colgroup\" colspan=\"%zu\" class=\"group\">", shown);
        res_html_add(text, grid->columns[i].group);
        res_text_printf(text, "</th>");
    }
    res_text_printf(text, "</tr>");
}

void res_grid_html(struct res_grid *grid, const char *caption, struct res_text *text)
{
    res_text_printf(text, "<div class=\"scroll%s\" tabindex=\"0\" role=\"region\" aria-label=\"",
                    grid->row_count < TALL ? "" : " tall");
    res_html_add(text, caption);
    res_text_printf(text, "\"><table class=\"figures\"><caption class=\"unseen\">");
    res_html_add(text, caption);
    res_text_printf(text, "</caption><thead>");
    html_groups(grid, text);
    res_text_printf(text, "<tr>");
    for (size_t i = 0; i < grid->column_count; i++)
        if (is_in_page(grid, i))
            html_cell(text, "th", " scope=\"col\"", grid->columns[i].right, RES_ROLE_NONE,
                      grid->columns[i].heading);
    res_text_printf(text, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < grid->row_count; row++) {
        if (grid->rows[row].is_below)
            continue;
        res_text_printf(text, "<tr>");
        for (size_t i = 0; i < grid->column_count; i++)
            if (is_in_page(grid, i))
                html_cell(text, i == 0 ? "th" : "td", i == 0 ? " scope=\"row\"" : "", grid->columns[i].right,
                          i < grid->rows[row].filled ? grid->rows[row].cells[i].role : RES_ROLE_NONE,
                          words_of(&grid->rows[row], i));
        res_text_printf(text, "</tr>\n");
    }
    res_text_printf(text, "</tbody></table></div>\n");
    forget_rows(grid);
}

/* lines.c - see grid.h. */
#include "results/report/grid/grid.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"

#define TERMINAL_LEAST 40u /* below that nothing is gained by shorter lines */
#define CHARACTER      4u  /* its bytes, at most */

static size_t terminal; /* its columns; 0: there is none */

void res_page_begin(size_t columns)
{
    terminal = columns == 0 || columns > TERMINAL_LEAST ? columns : TERMINAL_LEAST;
}

size_t res_page_columns(size_t most)
{
    return terminal > 0 && terminal < most ? terminal : most;
}

size_t res_page_open(void)
{
    return terminal;
}

const char *res_colour_begin(const struct res_style *style, enum res_role role)
{
    static const char *const colours[] = {"", "\033[32m", "\033[31m", "\033[33m"};
    return style->colour ? colours[role] : "";
}

const char *res_colour_end(const struct res_style *style, enum res_role role)
{
    return style->colour && role != RES_ROLE_NONE ? "\033[0m" : "";
}

void res_markdown_add(struct res_text *text, const char *words)
{
    /* A bar would end the cell, and the rest are marks that a file's name may hold. */
    RES_FREED char *plain = res_text_plain(words != NULL ? words : "-");
    for (const char *byte = plain; *byte != '\0'; byte++) {
        if (strchr("|\\`*_<>[]#&~", *byte) != NULL)
            res_text_add(text, "\\", 1);
        res_text_add(text, byte, 1);
    }
}

static bool begins_formula(const char *plain)
{
    static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};
    if (plain[0] != '\0' && strchr("=+-@", plain[0]) != NULL)
        return strcmp(plain, "-") != 0;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (strncmp(plain, wide[i], strlen(wide[i])) == 0)
            return true;
    return false;
}

void res_html_add(struct res_text *text, const char *words)
{
    RES_FREED char *plain = res_text_plain(words != NULL ? words : "");
    for (const char *rest = plain; *rest != '\0';) {
        const size_t harmless = strcspn(rest, "<>&\"'");
        res_text_add(text, rest, harmless);
        rest += harmless;
        if (*rest != '\0')
            res_text_printf(text, "&#%d;", *rest++);
    }
}

void res_csv_text(struct res_text *text, const char *words)
{
    RES_FREED char *plain = res_text_plain(words != NULL ? words
                                                         : ""); /* tabs and line ends are none any more */
    res_text_printf(text, begins_formula(plain) ? "\"'" : "\"");
    for (const char *at = plain; *at != '\0'; at++)
        res_text_add(text, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    res_text_add(text, "\"", 1);
}

void res_lines_pad(struct res_text *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        res_text_add(text, " ", 1);
}

void res_lines_end(struct res_text *text)
{
    while (text->length > 0 && text->text[text->length - 1] == ' ')
        text->length--;
    res_text_add(text, "\n", 1);
}

/* The length of the first word. A number and its unit are one: a line that began with a lone "%" was hard to read. */
static size_t word_length(const char *words)
{
    static const char *const UNITS[] = {"%", "B", "kB", "MB", "GB", "TB", "ns", "us", "ms", "s"};
    const size_t length = strcspn(words, " ");
    if (length == 0 || words[length] == '\0' || words[length - 1] < '0' || words[length - 1] > '9')
        return length;
    const char *next = words + length + 1;
    const size_t next_length = strcspn(next, " ");
    const size_t bare = strcspn(next, " ,;:)]");
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (bare > 0 && strlen(UNITS[i]) == bare && strncmp(next, UNITS[i], bare) == 0)
            return length + 1 + next_length;
    }
    return length;
}

char *res_lines_cut(const char *words, size_t length, size_t columns)
{
    char *kept = res_strndup(words, length);
    while (res_text_columns(kept) > columns && length > 1) {
        length = length / CHARACTER > columns ? columns * CHARACTER : length - 1;
        while (length > 1 && ((unsigned char)kept[length] & 0xc0) == 0x80)
            length--;
        kept[length] = '\0';
    }
    return kept;
}

/* room: for a word, which is cut where it is longer. */
static void wrap(struct res_text *text, const char *words, size_t indent, size_t page, size_t room)
{
    size_t column = indent;
    while (*words != '\0') {
        RES_FREED char *word = res_lines_cut(words, word_length(words), room);
        const size_t length = strlen(word), columns = res_text_columns(word);
        if (column > indent && column + 1 + columns > page) {
            res_text_add(text, "\n", 1);
            res_lines_pad(text, indent);
            column = indent;
        } else if (column > indent) {
            res_text_add(text, " ", 1);
            column++;
        }
        res_text_add(text, word, length);
        column += columns;
        words += length;
        words += strspn(words, " ");
    }
    res_text_add(text, "\n", 1);
}

void res_lines_wrap(struct res_text *text, const char *words, size_t indent)
{
    wrap(text, words, indent, res_page_columns(RES_TABLE_COLUMNS), SIZE_MAX);
}

void res_lines_wrap_open(struct res_text *text, const char *words, size_t indent)
{
    const size_t page = terminal > 0 ? terminal : SIZE_MAX;
    wrap(text, words, indent, page, page > indent ? page - indent : 1);
}

void res_lines_screen(struct res_text *text, const char *label, const char *words)
{
    res_text_printf(text, "%-*s ", RES_SCREEN_LABEL_COLUMNS - 1, label);
    wrap(text, words, RES_SCREEN_LABEL_COLUMNS, res_page_columns(RES_SCREEN_COLUMNS), SIZE_MAX);
}

char *res_lines_clauses(const char *words, size_t columns)
{
    size_t kept = 0, depth = 0;
    if (res_text_columns(words) <= columns)
        return res_strdup(words);
    for (size_t i = 0; words[i] != '\0' && i <= columns; i++) {
        depth += words[i] == '(';
        depth -= words[i] == ')' && depth > 0;
        if (depth == 0 && strchr(",;:", words[i]) != NULL && words[i + 1] == ' ')
            kept = i;
    }
    return kept > 0 ? res_strndup(words, kept) : res_strdup(words);
}

void res_lines_add(struct res_text *text, const char *label, const char *words)
{
    res_text_printf(text, "%-*s", RES_LABEL_COLUMNS, label);
    res_lines_wrap(text, words, RES_LABEL_COLUMNS);
}

void res_lines_printf(struct res_text *text, const char *label, const char *format, ...)
{
    char *words = NULL;
    va_list list;
    va_start(list, format);
    const int length = vasprintf(&words, format, list);
    va_end(list);
    RES_FREED char *plain = res_text_plain(length >= 0 ? words
                                                       : format); /* without memory the line says less */
    res_lines_add(text, label, plain);
    if (length >= 0)
        free(words);
}

/* ---- single figures as text ---- */

enum res_role res_cell_role(const char *verdict)
{
    static const struct {
        const char *verdict;
        enum res_role role;
    } ROLES[] = {
        {"faster", RES_ROLE_GOOD},        {"less", RES_ROLE_GOOD},
        {"within", RES_ROLE_GOOD},        {"slower", RES_ROLE_BAD},
        {"more", RES_ROLE_BAD},           {"over", RES_ROLE_BAD},
        {"undecided", RES_ROLE_DOUBT},    {RES_CELL_NOT_SHOWN, RES_ROLE_DOUBT},
        {"inconclusive", RES_ROLE_DOUBT},
    };
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++)
        if (verdict != NULL && strcmp(verdict, ROLES[i].verdict) == 0)
            return ROLES[i].role;
    return RES_ROLE_NONE;
}

enum res_role res_cell_role_large(const char *verdict, double ratio)
{
    const enum res_role role = res_cell_role(verdict);
    return role != RES_ROLE_DOUBT && fabs(ratio - 1) < RES_COLOUR_LEAST ? RES_ROLE_NONE : role;
}

const char *res_verdict_shown(enum res_verdict verdict, double low, double high)
{
    if (verdict == RES_LESS || verdict == RES_MORE)
        return RES_TIME_VERDICTS[verdict];
    const bool is_same = verdict == RES_SAME && low >= 1 - RES_CELL_SAME && high <= 1 + RES_CELL_SAME;
    return is_same ? RES_TIME_VERDICTS[RES_SAME] : RES_CELL_NOT_SHOWN;
}

/* ---- document ---- */

static __attribute__((format(printf, 2, 0))) void add_words(struct res_document *document, const char *format,
                                                            va_list arguments)
{
    RES_FREED char *words = NULL;
    if (vasprintf(&words, format, arguments) < 0)
        res_no_memory();
    RES_FREED char *plain = res_text_plain(words);
    if (document->style->form == RES_FORM_MARKDOWN)
        res_markdown_add(&document->text, plain);
    else if (document->style->form == RES_FORM_HTML)
        res_html_add(&document->text, plain);
    else
        res_text_printf(&document->text, "%s", plain);
}

void res_document_heading(struct res_document *document, unsigned level, const char *format, ...)
{
    const enum res_form form = document->style->form;
    va_list arguments;
    va_start(arguments, format);
    if (form == RES_FORM_MARKDOWN)
        res_text_printf(&document->text, "%.*s ", (int)level, "######");
    else if (form == RES_FORM_HTML)
        res_text_printf(&document->text, "<h%u>", level);
    add_words(document, format, arguments);
    if (form == RES_FORM_HTML)
        res_text_printf(&document->text, "</h%u>", level);
    res_text_printf(&document->text, form == RES_FORM_MARKDOWN ? "\n\n" : "\n");
    va_end(arguments);
}

void res_document_line(struct res_document *document, const char *format, ...)
{
    struct res_document words = {.style = document->style};
    va_list arguments;
    va_start(arguments, format);
    add_words(&words, format, arguments);
    va_end(arguments);
    const char *line = words.text.text != NULL ? words.text.text : "";
    if (document->style->form == RES_FORM_TEXT)
        res_lines_wrap(&document->text, line, 0);
    else
        res_text_printf(&document->text,
                        document->style->form == RES_FORM_HTML ? "<p class=\"small\">%s</p>\n" : "- %s\n",
                        line);
    free(words.text.text);
}

void res_document_names(struct res_document *document, const struct res_texts *names, size_t most)
{
    for (size_t i = 0; i < names->count && (most == 0 || i < most); i++)
        res_document_line(document, "%s", names->items[i]);
    if (most > 0 && names->count > most)
        res_document_line(document, "%zu more", names->count - most);
}

void res_document_table(struct res_document *document, const char *caption, struct res_grid *grid)
{
    if (document->style->form == RES_FORM_MARKDOWN)
        res_grid_markdown(grid, &document->text);
    else if (document->style->form == RES_FORM_HTML)
        res_grid_html(grid, caption, &document->text);
    else
        res_grid_text(grid, document->style, &document->text);
}

void res_document_screen(struct res_document *document, const char *caption, struct res_grid *grid)
{
    const struct res_style *style = document->style;
    struct res_style screen = *style;
    screen.columns = RES_SCREEN_COLUMNS;
    document->style = &screen;
    res_document_table(document, caption, grid);
    document->style = style;
    if (style->form == RES_FORM_TEXT)
        res_document_gap(document);
    res_grid_release(grid);
}

void res_document_gap(struct res_document *document)
{
    res_text_add(&document->text, "\n", 1);
}

char *res_document_end(struct res_document *document)
{
    if (document->text.text == NULL)
        res_text_add(&document->text, "", 0);
    return document->text.text;
}

/* ltrace.c - what `ltrace -o FILE PROGRAM` writes of a program's library calls.
 *
 * A line is `CALLER->NAME(ARGUMENTS) = RESULT`; CALLER may be missing, and `@LIBRARY` may follow NAME.
 * Before it may stand the id of a thread or process, `ID` or `[pid ID]` (ltrace -f), and a time, of
 * which only that of -ttt is taken. A call during which another thread wrote has two lines, the first
 * with `<unfinished ...>` or `<no return ...>` at its end, then `<... NAME resumed> ) = RESULT`: its
 * object exists from the second on, and a free has happened at the first. Calls that the same thread
 * makes between them are the allocator's own. Of functions that it does not know, ltrace prints more
 * arguments than they have. The object of posix_memalign is not in the line: that call is passed over
 * like other functions, signals and exits. */
#include <stdlib.h>

#include "convert/import/import.h"
#include "convert/import/scan.h"

#define OPEN_MAX      1024u    /* a bound on what a file can make us look through at every line */
#define EPOCH_SECONDS 1000000u /* fewer are those of ltrace -r, since the line before */

struct call_form {
    const char *name;
    uint8_t call;
    bool old_address, extra, size; /* its arguments, in this order; free has an address instead */
};

static const struct call_form FORMS[] = {
    {"malloc", FP_CALL_MALLOC, false, false, true},
    {"free", FP_CALL_FREE, false, false, false},
    {"calloc", FP_CALL_CALLOC, false, true, true}, /* extra is the count */
    {"realloc", FP_CALL_REALLOC, true, false, true},
    {"reallocarray", FP_CALL_REALLOCARRAY, true, true, true},
    {"memalign", FP_CALL_MEMALIGN, false, true, true}, /* extra is the alignment */
    {"aligned_alloc", FP_CALL_ALIGNED_ALLOC, false, true, true},
    {"valloc", FP_CALL_VALLOC, false, false, true},
    {"pvalloc", FP_CALL_PVALLOC, false, false, true},
};

/* A call that waits for its second line. */
struct open_call {
    const struct call_form *form;
    unsigned within; /* open calls of the same function that were made by it */
    struct conv_parsed parsed;
};

struct ltrace {
    struct open_call open[OPEN_MAX];
    size_t open_count;
    uint64_t base_us; /* first time seen */
    bool has_time, has_ids, child_ended, has_call;
};

/* ---- pieces of a line ---------------------------------------------------------------------- */

static void take_id(struct ltrace *ltrace, struct conv_scan *scan, struct conv_parsed *ret)
{
    struct conv_scan ahead = *scan;
    const bool in_brackets = conv_scan_text(&ahead, "[pid ");
    uint64_t id;
    ret->thread_id = 1;
    if (!conv_scan_decimal(&ahead, &id) || id > INT32_MAX || (in_brackets && !conv_scan_char(&ahead, ']')) ||
        !conv_scan_at_gap(&ahead))
        return;
    conv_scan_blanks(&ahead);
    ret->thread_id = (uint32_t)id;
    ltrace->has_ids = true;
    *scan = ahead;
}

static void take_time(struct ltrace *ltrace, struct conv_scan scan, struct conv_parsed *ret)
{
    uint64_t seconds, micros;
    if (!conv_scan_decimal(&scan, &seconds) || !conv_scan_char(&scan, '.') ||
        !conv_scan_next_decimal(&scan, &micros) || seconds < EPOCH_SECONDS || seconds > UINT32_MAX ||
        micros > 999999)
        return;
    micros += seconds * 1000000;
    if (!ltrace->has_time)
        ltrace->base_us = micros;
    ltrace->has_time = ret->has_time = true;
    ret->time_ns = micros > ltrace->base_us ? (micros - ltrace->base_us) * 1000 : 0;
}

/* Times of any form (-r, -t, -tt, -ttt) and the caller's address in brackets (-i). */
static void skip_columns(struct conv_scan *scan)
{
    for (struct conv_scan ahead = *scan; ahead.at < ahead.end; *scan = ahead) {
        if (*ahead.at != '[' && (unsigned char)(*ahead.at - '0') > 9)
            return;
        for (; !conv_scan_at_gap(&ahead); ahead.at++)
            if (*ahead.at == '(')
                return;
        conv_scan_blanks(&ahead);
    }
}

/* Large arguments are hexadecimal where ltrace does not know the function, and (size_t)-1 is -1. */
static bool take_number(struct conv_scan *scan, uint64_t *ret_value)
{
    const bool negative = conv_scan_char(scan, '-');
    if (conv_scan_text(scan, "nil") || conv_scan_text(scan, "(nil)") || conv_scan_text(scan, "NULL"))
        *ret_value = 0;
    else if (!conv_scan_0x(scan, ret_value) && !conv_scan_decimal(scan, ret_value))
        return false;
    *ret_value = negative ? -*ret_value : *ret_value;
    return true;
}

static bool take_arguments(struct conv_scan *scan, const struct call_form *form, struct conv_parsed *ret)
{
    if (form->old_address && (!take_number(scan, &ret->old_address) || !conv_scan_comma(scan)))
        return false;
    if (form->extra && (!take_number(scan, &ret->extra) || !conv_scan_comma(scan)))
        return false;
    return take_number(scan, form->size ? &ret->size : &ret->address);
}

static bool ends_with(const struct conv_scan *scan, const char *end)
{
    const size_t length = strlen(end);
    return (size_t)(scan->end - scan->at) >= length && memcmp(scan->end - length, end, length) == 0;
}

/* Behind the arguments that count, or behind `resumed> `. */
static const char *take_result(struct conv_scan *scan, const struct call_form *form, struct conv_parsed *ret)
{
    const char *bracket = memchr(scan->at, ')', (size_t)(scan->end - scan->at));
    uint64_t address = ret->address;
    if (bracket == NULL)
        return "no ')' behind the arguments";
    scan->at = bracket + 1;
    conv_scan_blanks(scan);
    if (!conv_scan_text(scan, "= ") ||
        !(form->size ? take_number(scan, &address) : conv_scan_text(scan, "<void>")))
        return "no '= RESULT' behind the call, 0x... or <void>";
    if (!conv_scan_ended(scan) &&
        (*scan->at != '<' || !ends_with(scan, ">"))) /* ltrace -T: how long it took */
        return "something follows the result";
    ret->address = address;
    ret->call = form->call;
    return NULL;
}

static const struct call_form *form_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++)
        if (strlen(FORMS[i].name) == length && memcmp(FORMS[i].name, name, length) == 0)
            return &FORMS[i];
    return NULL;
}

/* ---- lines --------------------------------------------------------------------------------- */

static struct open_call *open_call_of(struct ltrace *ltrace, uint32_t thread_id)
{
    for (size_t i = 0; i < ltrace->open_count; i++)
        if (ltrace->open[i].parsed.thread_id == thread_id)
            return &ltrace->open[i];
    return NULL;
}

static const char *take_begin(struct ltrace *ltrace, struct conv_scan *scan, struct conv_parsed *ret)
{
    const char *bracket = memchr(scan->at, '(', (size_t)(scan->end - scan->at)), *name, *end;
    struct open_call *open = open_call_of(ltrace, ret->thread_id);
    const bool unfinished = ends_with(scan, "<unfinished ...>") || ends_with(scan, "<no return ...>");
    const struct call_form *form;
    if (bracket == NULL || memchr(scan->at, '\0', (size_t)(scan->end - scan->at)) != NULL)
        return "not a line of this format";
    for (name = bracket; name > scan->at && name[-1] != '>' && !conv_scan_is_blank(name[-1]);)
        name--;
    end = memchr(name, '@', (size_t)(bracket - name));
    form = form_of(name, (size_t)((end != NULL ? end : bracket) - name));
    if (form == NULL)
        return ends_with(scan, "...>") || memmem(bracket, (size_t)(scan->end - bracket), " = ", 3) != NULL
                   ? NULL
                   : "neither result nor '<unfinished ...>' behind a call";
    scan->at = bracket + 1;
    ltrace->has_call = true;
    struct conv_parsed within = {0}; /* of a call that another one makes nothing is taken */
    if (!take_arguments(scan, form, open != NULL ? &within : ret))
        return "not the arguments of its call";
    if (open != NULL) {
        open->within += unfinished && open->form == form;
        return NULL;
    }
    if (unfinished && ltrace->open_count == OPEN_MAX)
        return "more than 1,024 calls at once";
    if (unfinished)
        ltrace->open[ltrace->open_count++] = (struct open_call){.form = form, .parsed = *ret};
    if (!unfinished)
        return take_result(scan, form, ret);
    ret->call = form->size ? FP_CALL_NONE : form->call;
    return NULL;
}

static void close_call(struct ltrace *ltrace, struct open_call *open)
{
    *open = ltrace->open[--ltrace->open_count];
}

static const char *take_resumed(struct ltrace *ltrace, struct conv_scan *scan, struct conv_parsed *ret)
{
    const char *end = memchr(scan->at, ' ', (size_t)(scan->end - scan->at));
    const struct call_form *form = end != NULL ? form_of(scan->at, (size_t)(end - scan->at)) : NULL;
    struct open_call *open = open_call_of(ltrace, ret->thread_id);
    struct conv_parsed parsed = *ret;
    const char *wrong;
    if (end == NULL)
        return "no ' resumed>' behind '<... NAME'";
    if (form == NULL || (open != NULL && open->form != form))
        return memchr(end, '\0', (size_t)(scan->end - end)) == NULL ? NULL
                                                                    : "holds a zero byte: this is no text";
    if (open == NULL)
        return "no line before it began the call that it resumes";
    scan->at = end;
    parsed.old_address = open->parsed.old_address;
    parsed.extra = open->parsed.extra;
    parsed.size = open->parsed.size;
    wrong = conv_scan_text(scan, " resumed>") ? take_result(scan, form, &parsed)
                                              : "no ' resumed>' behind its name";
    if (wrong != NULL)
        return wrong;
    if (open->within > 0) {
        open->within--;
        return NULL;
    }
    close_call(ltrace, open);
    if (form->size)
        *ret = parsed;
    return NULL;
}

static const char *parse(void *state, const struct conv_options *options, const char *line, size_t length,
                         struct conv_parsed *ret)
{
    struct ltrace *ltrace = state;
    struct conv_scan scan = conv_scan_of(line, length);
    struct open_call *open;
    (void)options;
    take_id(ltrace, &scan, ret);
    take_time(ltrace, scan, ret);
    skip_columns(&scan);
    if (conv_scan_text(&scan, "<... "))
        return take_resumed(ltrace, &scan, ret);
    if (conv_scan_text(&scan, "--- ") && ends_with(&scan, " ---")) {
        ltrace->child_ended = ltrace->child_ended || conv_scan_text(&scan, "SIGCHLD ");
        return NULL;
    }
    if (!conv_scan_text(&scan, "+++ ") || !ends_with(&scan, " +++"))
        return take_begin(ltrace, &scan, ret);
    if ((open = open_call_of(ltrace, ret->thread_id)) != NULL)
        close_call(ltrace, open);
    return NULL;
}

/* Lines of any function look alike: one of an allocator's has to be among the first. */
static bool matches(struct conv_head head)
{
    struct ltrace *ltrace = calloc(1, sizeof *ltrace);
    const struct conv_options options = {0};
    const char *line;
    size_t length;
    bool fits = ltrace != NULL;
    while (fits && !ltrace->has_call && conv_head_line(&head, &line, &length))
        fits = parse(ltrace, &options, line, length, &(struct conv_parsed){0}) == NULL;
    fits = fits && ltrace->has_call;
    free(ltrace);
    return fits;
}

static enum fp_status finish(struct conv_import *import)
{
    const struct ltrace *ltrace = import->state;
    if (!ltrace->has_time)
        conv_import_lacks(import, "time");
    if (!ltrace->has_ids)
        conv_import_lacks(import, "threads");
    if (ltrace->has_ids && ltrace->child_ended)
        conv_import_incomplete(import, "a child ended, whose calls cannot be told from its parent's");
    return FP_OK;
}

const struct conv_format CONV_FORMAT_LTRACE = {
    .kind = CONV_KIND_LTRACE,
    .name = "ltrace",
    .title = "ltrace -o FILE, best with -f -ttt",
    .lacks = "exact call, some calls",
    .state_bytes = sizeof(struct ltrace),
    .matches = matches,
    .parse = parse,
    .finish = finish,
};

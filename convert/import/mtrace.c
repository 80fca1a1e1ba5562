/* mtrace.c - the file that glibc's mtrace() writes.
 *
 * Each call is a line, behind an optional `@ WHERE `: `+ PTR SIZE`, `- PTR`, `< OLD` and on the next line `> NEW SIZE`
 * (one realloc), `! OLD SIZE` (a realloc that failed). Sizes are printed with %#lx, pointers with %p, NULL is (nil).
 * `= Start` and `= End` stand where mtrace() and muntrace() were called. With --salvage a half of a realloc whose other
 * half is missing is a free or a malloc. */
#include "convert/import/import.h"
#include "convert/text/scan.h"

struct mtrace {
    bool ended;       /* by `= End` */
    bool in_realloc;  /* its first line was seen */
    uint64_t resized; /* by it; 0: NULL */
};

static bool next_pointer(struct conv_scan *scan, uint64_t *ret_address)
{
    conv_scan_blanks(scan);
    if (conv_scan_text(scan, "(nil)")) {
        *ret_address = 0;
        return conv_scan_at_gap(scan);
    }
    return conv_scan_0x(scan, ret_address) && conv_scan_at_gap(scan);
}

/* %#lx prints 0 without 0x. */
static bool next_size(struct conv_scan *scan, uint64_t *ret_size)
{
    conv_scan_blanks(scan);
    if (conv_scan_0x(scan, ret_size))
        return conv_scan_at_gap(scan);
    return conv_scan_next_decimal(scan, ret_size) && *ret_size == 0;
}

/* WHERE ends with the address of the caller in brackets; what stands before may be any file's and function's name. */
static bool skip_where(struct conv_scan *scan)
{
    const size_t length = (size_t)(scan->end - scan->at);
    const char *bracket = memrchr(scan->at, ']', length);
    if (bracket == NULL || memchr(scan->at, '\0', length) != NULL)
        return false;
    scan->at = bracket + 1;
    return conv_scan_char(scan, ' ');
}

static const char *take_note(struct mtrace *mtrace, struct conv_scan *scan, struct conv_parsed *ret)
{
    conv_scan_blanks(scan);
    if (conv_scan_text(scan, "Start") && conv_scan_ended(scan)) {
        /* Calls between muntrace() and the next mtrace() are not here. */
        ret->call = mtrace->ended ? FP_MARK_GAP : FP_CALL_NONE;
        ret->extra = FP_GAP_PAUSE;
        mtrace->ended = false;
        return NULL;
    }
    mtrace->ended = conv_scan_text(scan, "End") && conv_scan_ended(scan);
    return mtrace->ended ? NULL : "neither '= Start' nor '= End'";
}

static const char *take_call(struct mtrace *mtrace, char kind, struct conv_scan *scan,
                             struct conv_parsed *ret)
{
    uint64_t *pointer = kind == '!' ? &ret->old_address : &ret->address;
    if (!next_pointer(scan, pointer))
        return "no pointer, 0x... or (nil)";
    if (kind != '-' && kind != '<' && !next_size(scan, &ret->size))
        return "no size, 0x... or 0";
    if (!conv_scan_ended(scan))
        return "something follows the call";
    switch (kind) {
    case '+':
        ret->call = FP_CALL_MALLOC;
        break;
    case '-':
        ret->call = FP_CALL_FREE;
        break;
    case '<':
        mtrace->in_realloc = true;
        mtrace->resized = ret->address;
        break;
    case '>':
        ret->old_address = mtrace->in_realloc ? mtrace->resized : 0;
        mtrace->in_realloc = false;
        ret->call = FP_CALL_REALLOC;
        break;
    default: /* '!' */
        ret->call = FP_CALL_REALLOC;
        break;
    }
    return NULL;
}

/* A line that is damaged itself does not tear a realloc apart: it may have come between its halves. */
static const char *take_torn(struct mtrace *mtrace, char kind, struct conv_scan *scan,
                             struct conv_parsed *ret)
{
    const bool in_realloc = mtrace->in_realloc;
    const uint64_t resized = mtrace->resized;
    const char *wrong;
    if (kind == '=')
        return take_note(mtrace, scan, ret);
    wrong = take_call(mtrace, kind, scan, ret);
    if (wrong != NULL)
        return wrong;
    ret->torn = in_realloc != (kind == '>');
    if (ret->torn && in_realloc) {
        ret->torn_address = resized;
        mtrace->in_realloc = kind == '<';
    }
    return NULL;
}

static const char *parse(void *state, const struct conv_options *options, const char *line, size_t length,
                         struct conv_parsed *ret)
{
    struct mtrace *mtrace = state;
    struct conv_scan scan = conv_scan_of(line, length);
    char kind;
    ret->thread_id = 1;
    if (conv_scan_text(&scan, "@ ") && !skip_where(&scan))
        return "no '[ADDRESS] ' and call behind '@ '";
    kind = scan.at < scan.end ? *scan.at++ : '\0';
    if (kind == '\0' || strchr("+-<>!=", kind) == NULL || !conv_scan_at_gap(&scan))
        return "not a line of this format";
    if (options->salvage)
        return take_torn(mtrace, kind, &scan, ret);
    if (mtrace->in_realloc != (kind == '>'))
        return mtrace->in_realloc ? "'<' before it is not followed by its '>': several processes in one file?"
                                  : "'>' does not follow a '<': several processes in one file?";
    return kind == '=' ? take_note(mtrace, &scan, ret) : take_call(mtrace, kind, &scan, ret);
}

static enum fp_status finish(struct conv_import *import)
{
    const struct mtrace *mtrace = import->state;
    /* A cut line behind its first half is its second half: one call, counted already. */
    if (mtrace->in_realloc && import->survey->irregular[CONV_CUT_LINES] == 0)
        conv_import_cut(import, "realloc");
    return FP_OK;
}

const struct conv_format CONV_FORMAT_MTRACE = {
    .kind = CONV_KIND_MTRACE,
    .name = "mtrace",
    .title = "glibc's mtrace()",
    .lacks = "threads, time, exact call, alignment",
    .state_bytes = sizeof(struct mtrace),
    .head_lines = 1,
    .parse = parse,
    .finish = finish,
};

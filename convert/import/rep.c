/* rep.c - traces of the malloc lab of "Computer Systems: A Programmer's Perspective".
 *
 * Four lines with a number each: size of the heap (a hint), number of ids, number of calls, weight. Then `a ID SIZE`,
 * `r ID SIZE` (the object keeps its id), `f ID`; in newer ones `f -1` is a free of NULL. */
#include "convert/import/import.h"
#include "convert/text/scan.h"

#define HEADER_LINES 4u

struct rep {
    unsigned header_lines;
    uint64_t header[HEADER_LINES];
    uint64_t calls;
    bool header_damaged; /* what it stated is not known */
};

static const char *take_header(struct rep *rep, struct conv_scan scan, bool salvage)
{
    uint64_t *number = &rep->header[rep->header_lines];
    const char *wrong = NULL;
    if (!conv_scan_next_decimal(&scan, number) || !conv_scan_ended(&scan))
        wrong = "not a number alone, as the first four lines have";
    else if (rep->header_lines == 1 && *number >= CONV_ADDRESS_LIMIT)
        wrong = "not a number of ids below 2^48";
    if (wrong != NULL && !salvage)
        return wrong;
    if (wrong != NULL) {
        *number = CONV_ADDRESS_LIMIT - 1;
        rep->header_damaged = true;
    }
    rep->header_lines++;
    return wrong;
}

/* Ids begin with 0, which is no address. */
static bool next_id(struct conv_scan *scan, const struct rep *rep, uint64_t *ret_address)
{
    uint64_t id;
    if (!conv_scan_next_decimal(scan, &id) || id >= rep->header[1])
        return false;
    *ret_address = id + 1;
    return true;
}

static bool is_free_of_null(struct conv_scan scan)
{
    return conv_scan_text(&scan, "f -1") && conv_scan_ended(&scan);
}

static const char *parse(void *state, const struct conv_options *options, const char *line, size_t length,
                         struct conv_parsed *ret)
{
    struct rep *rep = state;
    struct conv_scan scan = conv_scan_of(line, length);
    if (rep->header_lines < HEADER_LINES)
        return take_header(rep, scan, options->salvage);
    ret->thread_id = 1;
    ret->call = line[0] == 'a'   ? FP_CALL_MALLOC
                : line[0] == 'r' ? FP_CALL_REALLOC
                : line[0] == 'f' ? FP_CALL_FREE
                                 : FP_CALL_NONE;
    if (is_free_of_null(scan)) {
        rep->calls++;
        return NULL;
    }
    scan.at++;
    if (ret->call == FP_CALL_NONE || !conv_scan_at_gap(&scan))
        return "not a call of this format";
    if (!next_id(&scan, rep, &ret->address))
        return "no id below the number of ids that the second line states";
    if (ret->call != FP_CALL_FREE && !conv_scan_next_decimal(&scan, &ret->size))
        return "no size";
    if (!conv_scan_ended(&scan))
        return "something follows the call";
    if (ret->call == FP_CALL_REALLOC)
        ret->old_address = ret->address;
    rep->calls++;
    return NULL;
}

static enum fp_status finish(struct conv_import *import)
{
    const struct rep *rep = import->state;
    if (rep->header_lines < HEADER_LINES)
        conv_incomplete(import->survey, "it ends before its four first lines do");
    else if (!rep->header_damaged && rep->calls != rep->header[2])
        conv_incomplete(import->survey, "it states %llu calls and holds %llu",
                        (unsigned long long)rep->header[2], (unsigned long long)rep->calls);
    return FP_OK;
}

const struct conv_format CONV_FORMAT_REP = {
    .kind = CONV_KIND_REP,
    .name = "rep",
    .title = "malloc lab of CS:APP (.rep)",
    .lacks = "threads, time, exact call, alignment, failed calls",
    .state_bytes = sizeof(struct rep),
    .head_lines = HEADER_LINES + 1,
    .parse = parse,
    .finish = finish,
};

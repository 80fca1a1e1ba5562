/* ids2009.c - what the converter of 2009 made of that log: ids in place of addresses.
 *
 * The first line is the number of the next id, padded. Then `m ID SIZE`, `c ID COUNT SIZE`, `r NEW OLD SIZE`, `f ID`.
 * Id 0 is NULL. */
#include "convert/import/import.h"
#include "convert/import/scan.h"

struct ids2009 {
    bool begun;
    uint64_t id_limit;
};

/* The first line. */
static bool take_limit(const char *line, size_t length, uint64_t *ret_limit)
{
    struct conv_scan scan = conv_scan_of(line, length);
    return conv_scan_next_decimal(&scan, ret_limit) && conv_scan_ended(&scan);
}

static bool next_id(struct conv_scan *scan, uint64_t limit, uint64_t *ret_id)
{
    return conv_scan_next_decimal(scan, ret_id) && (*ret_id < limit || *ret_id == 0);
}

static const char *parse(void *state, const struct conv_options *options, const char *line, size_t length,
                         struct conv_parsed *ret)
{
    struct ids2009 *ids = state;
    struct conv_scan scan = conv_scan_of(line, length);
    bool numbers = true;
    if (!ids->begun) {
        const bool found = take_limit(line, length, &ids->id_limit) && ids->id_limit < CONV_ADDRESS_LIMIT;
        ids->begun = found || options->salvage;
        if (!found)
            ids->id_limit = CONV_ADDRESS_LIMIT;
        return found ? NULL : "not the number of the next id, below 2^48";
    }
    ret->thread_id = 1;
    scan.at++;
    switch (line[0]) {
    case 'm':
        ret->call = FP_CALL_MALLOC;
        break;
    case 'c':
        ret->call = FP_CALL_CALLOC;
        break;
    case 'r':
        ret->call = FP_CALL_REALLOC;
        break;
    case 'f':
        ret->call = FP_CALL_FREE;
        break;
    default:
        return "not a call of this format";
    }
    if (!conv_scan_at_gap(&scan))
        return "not a call of this format";
    if (!next_id(&scan, ids->id_limit, &ret->address))
        return "no id below the number that the first line states";
    if (ret->call == FP_CALL_REALLOC && !next_id(&scan, ids->id_limit, &ret->old_address))
        return "no old id below the number that the first line states";
    if (ret->call == FP_CALL_CALLOC)
        numbers = conv_scan_next_decimal(&scan, &ret->extra);
    if (ret->call != FP_CALL_FREE)
        numbers = numbers && conv_scan_next_decimal(&scan, &ret->size);
    if (!numbers)
        return "no count or size";
    return conv_scan_ended(&scan) ? NULL : "something follows the call";
}

const struct conv_format CONV_FORMAT_IDS2009 = {
    .kind = CONV_KIND_IDS2009,
    .name = "2009",
    .title = "the 2009 library's log, converted to ids",
    .lacks = "threads, time, some calls",
    .state_bytes = sizeof(struct ids2009),
    .head_lines = 2,
    .parse = parse,
};

/* raw2009.c - the log of the recording library of 2009: `x55e0 = malloc(16);`, `free(x55e0);`.
 *
 * malloc, calloc, realloc and free, sizes decimal, addresses hexadecimal behind an x, NULL is x0. No threads. */
#include "convert/import/import.h"
#include "convert/import/scan.h"

static bool take_pointer(struct conv_scan *scan, uint64_t *ret_address)
{
    return conv_scan_char(scan, 'x') && conv_scan_hex(scan, ret_address);
}

static bool take_allocation(struct conv_scan *scan, struct conv_parsed *ret)
{
    if (conv_scan_text(scan, "malloc(")) {
        ret->call = FP_CALL_MALLOC;
        return conv_scan_decimal(scan, &ret->size);
    }
    if (conv_scan_text(scan, "realloc(")) {
        ret->call = FP_CALL_REALLOC;
        return take_pointer(scan, &ret->old_address) && conv_scan_comma(scan) &&
               conv_scan_decimal(scan, &ret->size);
    }
    ret->call = FP_CALL_CALLOC;
    return conv_scan_text(scan, "calloc(") && conv_scan_decimal(scan, &ret->extra) && conv_scan_comma(scan) &&
           conv_scan_decimal(scan, &ret->size);
}

static const char *parse(void *state, const struct conv_options *options, const char *line, size_t length,
                         struct conv_parsed *ret)
{
    struct conv_scan scan = conv_scan_of(line, length);
    (void)state;
    (void)options;
    ret->thread_id = 1;
    if (scan.at < scan.end && *scan.at == 'x') {
        if (!take_pointer(&scan, &ret->address) || !conv_scan_text(&scan, " = "))
            return "no 'xADDRESS = ' at its beginning";
        if (!take_allocation(&scan, ret))
            return "no malloc, calloc or realloc with its arguments";
    } else {
        ret->call = FP_CALL_FREE;
        if (!conv_scan_text(&scan, "free(") || !take_pointer(&scan, &ret->address))
            return "not a call of this format";
    }
    if (!conv_scan_text(&scan, ");") || !conv_scan_ended(&scan))
        return "no ');' at its end";
    return NULL;
}

const struct conv_format CONV_FORMAT_RAW2009 = {
    .kind = CONV_KIND_RAW2009,
    .name = "2009raw",
    .title = "log of the 2009 recording library",
    .lacks = "threads, time, some calls",
    .head_lines = 1,
    .parse = parse,
};

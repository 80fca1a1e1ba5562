/* android.c - the text of Android's malloc_debug (record_allocs).
 *
 * A line is `TID: CALL 0xADDRESS ...`, optionally followed by two times in nanoseconds, begin and end of the
 * call. File order is the order of events: the recorder writes lines in the order in which calls ended. */
#include "convert/import/import.h"
#include "convert/text/scan.h"

/* aarch64 keeps a tag in the top byte of pointers (malloc_debug prints it): it is no part of the address. */
#define ADDRESS_BITS UINT64_C(0x00ffffffffffffff)

struct android {
    uint64_t base_ns; /* first time seen */
    bool has_base;
};

struct call_form {
    const char *name;
    uint8_t call;
    bool old_address, extra, size;
};

static const struct call_form FORMS[] = {
    {"malloc", FP_CALL_MALLOC, false, false, true},
    {"free", FP_CALL_FREE, false, false, false},
    {"realloc", FP_CALL_REALLOC, true, false, true},
    {"calloc", FP_CALL_CALLOC, false, true, true}, /* ADDRESS COUNT SIZE: extra is the count */
    {"memalign", FP_CALL_MEMALIGN, false, true, true},
    {"thread_done", FP_MARK_THREAD_EXIT, false, false, false},
};

static const struct call_form *next_call(struct conv_scan *scan)
{
    size_t length;
    const char *word = conv_scan_next_word(scan, &length);
    for (size_t i = 0; word != NULL && i < sizeof FORMS / sizeof FORMS[0]; i++)
        if (strlen(FORMS[i].name) == length && memcmp(FORMS[i].name, word, length) == 0)
            return &FORMS[i];
    return NULL;
}

static bool next_address(struct conv_scan *scan, uint64_t *ret_address)
{
    conv_scan_blanks(scan);
    if (!conv_scan_0x(scan, ret_address) || !conv_scan_at_gap(scan))
        return false;
    *ret_address &= ADDRESS_BITS;
    return *ret_address < CONV_ADDRESS_LIMIT;
}

static uint64_t since_base(struct android *android, uint64_t time_ns)
{
    if (!android->has_base) {
        android->has_base = true;
        android->base_ns = time_ns;
    }
    return time_ns > android->base_ns ? time_ns - android->base_ns : 0;
}

static const char *parse(void *state, const struct conv_options *options, const char *line, size_t length,
                         struct conv_parsed *ret)
{
    struct conv_scan scan = conv_scan_of(line, length);
    const struct call_form *form;
    uint64_t thread_id, start_ns, end_ns;
    (void)options;
    if (!conv_scan_decimal(&scan, &thread_id) || thread_id == 0 || thread_id > INT32_MAX ||
        !conv_scan_char(&scan, ':'))
        return "no thread id and colon at its beginning";
    ret->thread_id = (uint32_t)thread_id;
    form = next_call(&scan);
    if (form == NULL)
        return "not a call of this format";
    ret->call = form->call;
    if (!next_address(&scan, &ret->address))
        return "no address below 2^48 after the call";
    if (form->old_address && !next_address(&scan, &ret->old_address))
        return "no old address below 2^48";
    if (form->extra && !conv_scan_next_decimal(&scan, &ret->extra))
        return "no count or alignment";
    if (form->size && !conv_scan_next_decimal(&scan, &ret->size))
        return "no size";
    if (conv_scan_ended(&scan))
        return NULL;
    if (!conv_scan_next_decimal(&scan, &start_ns) || !conv_scan_next_decimal(&scan, &end_ns) ||
        end_ns < start_ns)
        return "what follows the call is no begin and end time";
    if (!conv_scan_ended(&scan))
        return "something follows the times";
    ret->has_time = true;
    ret->time_ns = since_base(state, start_ns);
    return NULL;
}

static enum fp_status finish(struct conv_import *import)
{
    const struct android *android = import->state;
    if (!android->has_base)
        conv_import_lacks(import, "time");
    return FP_OK;
}

const struct conv_format CONV_FORMAT_ANDROID = {
    .kind = CONV_KIND_ANDROID,
    .name = "android",
    .title = "Android's malloc_debug, record_allocs",
    .lacks = "exact call",
    .state_bytes = sizeof(struct android),
    .head_lines = 1,
    .parse = parse,
    .finish = finish,
};

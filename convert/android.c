/* android.c - import the text of Android's malloc_debug (record_allocs).
 *
 * A line is `TID: CALL 0xADDRESS ...`, optionally followed by two times in nanoseconds, begin and end of the
 * call. File order is the order of events: the recorder writes lines in the order in which calls ended. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/input.h"
#include "convert/live.h"
#include "convert/text.h"

#define BATCH_EVENTS 256u
#define NONE         UINT32_MAX

/* aarch64 keeps a tag in the top byte of pointers (malloc_debug prints it): it is no part of the address. */
#define ADDRESS_BITS UINT64_C(0x00ffffffffffffff)

struct thread_slot {
    uint32_t thread_id; /* 0: empty slot; ids are from 1 */
    uint32_t lane;      /* NONE: it has ended; the id may come again as a new thread */
};

struct android {
    struct conv_text *text;
    const char *path;
    struct thread_slot *slots;
    size_t slot_mask, slots_used;
    uint64_t seed;
    uint32_t *thread_ids; /* by lane */
    uint32_t lane_count, lane_capacity;
    uint64_t base_ns; /* first time seen */
    bool has_base;
    uint64_t last_ns;
    bool cut;
    struct conv_event batch[BATCH_EVENTS];
    size_t batch_count;
};

/* ---- one line ------------------------------------------------------------------------------ */

struct parsed {
    uint32_t thread_id;
    uint8_t call; /* FP_CALL_* or FP_MARK_THREAD_EXIT */
    uint64_t address, old_address, size, extra;
    bool has_time;
    uint64_t start_ns;
};

struct scanner {
    const char *at, *end;
};

static void skip_blanks(struct scanner *scanner)
{
    while (scanner->at < scanner->end && (*scanner->at == ' ' || *scanner->at == '\t'))
        scanner->at++;
}

static bool take_decimal(struct scanner *scanner, uint64_t *ret_value)
{
    const char *begin = scanner->at;
    uint64_t value = 0;
    for (; scanner->at < scanner->end && *scanner->at >= '0' && *scanner->at <= '9'; scanner->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*scanner->at - '0'), &value))
            return false;
    *ret_value = value;
    return scanner->at > begin;
}

/* A number of its own: blanks before it, a blank or the end after it. */
static bool next_decimal(struct scanner *scanner, uint64_t *ret_value)
{
    skip_blanks(scanner);
    return take_decimal(scanner, ret_value) &&
           (scanner->at == scanner->end || *scanner->at == ' ' || *scanner->at == '\t');
}

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

static bool next_address(struct scanner *scanner, uint64_t *ret_address)
{
    const char *begin;
    uint64_t value = 0;
    skip_blanks(scanner);
    if (scanner->end - scanner->at < 3 || scanner->at[0] != '0' || (scanner->at[1] | 0x20) != 'x')
        return false;
    scanner->at += 2;
    begin = scanner->at;
    for (; scanner->at < scanner->end && hex_digit(*scanner->at) >= 0; scanner->at++)
        value = value << 4 | (uint64_t)hex_digit(*scanner->at);
    if (scanner->at == begin || scanner->at - begin > 16)
        return false;
    *ret_address = value & ADDRESS_BITS;
    return *ret_address < CONV_ADDRESS_LIMIT &&
           (scanner->at == scanner->end || *scanner->at == ' ' || *scanner->at == '\t');
}

struct call_form {
    const char *name;
    uint8_t call;
    bool old_address, extra, size;
};

static const struct call_form FORMS[] = {
    {"malloc", FP_CALL_MALLOC, false, false, true},
    {"free", FP_CALL_FREE, false, false, false},
    {"realloc", FP_CALL_REALLOC, true, false, true},
    {"calloc", FP_CALL_CALLOC, false, true, true},
    {"memalign", FP_CALL_MEMALIGN, false, true, true},
    {"thread_done", FP_MARK_THREAD_EXIT, false, false, false},
};

static const struct call_form *next_call(struct scanner *scanner)
{
    const char *begin;
    size_t length;
    skip_blanks(scanner);
    begin = scanner->at;
    while (scanner->at < scanner->end && *scanner->at != ' ' && *scanner->at != '\t')
        scanner->at++;
    length = (size_t)(scanner->at - begin);
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++)
        if (strlen(FORMS[i].name) == length && memcmp(FORMS[i].name, begin, length) == 0)
            return &FORMS[i];
    return NULL;
}

/* Returns NULL, or what is wrong with the line. */
static const char *parse_line(const char *line, size_t length, struct parsed *ret)
{
    struct scanner scanner = {line, line + length};
    const struct call_form *form;
    uint64_t thread_id, end_ns;
    *ret = (struct parsed){0};
    if (!take_decimal(&scanner, &thread_id) || thread_id == 0 || thread_id > INT32_MAX ||
        scanner.at == scanner.end || *scanner.at++ != ':')
        return "no thread id and colon at its beginning";
    ret->thread_id = (uint32_t)thread_id;
    form = next_call(&scanner);
    if (form == NULL)
        return "not a call of this format";
    ret->call = form->call;
    if (!next_address(&scanner, &ret->address))
        return "no address below 2^48 after the call";
    if (form->old_address && !next_address(&scanner, &ret->old_address))
        return "no old address below 2^48";
    if (form->extra && !next_decimal(&scanner, &ret->extra))
        return "no count or alignment";
    if (form->size && !next_decimal(&scanner, &ret->size))
        return "no size";
    skip_blanks(&scanner);
    if (scanner.at == scanner.end)
        return NULL;
    if (!next_decimal(&scanner, &ret->start_ns) || !next_decimal(&scanner, &end_ns) || end_ns < ret->start_ns)
        return "what follows the call is no begin and end time";
    ret->has_time = true;
    skip_blanks(&scanner);
    return scanner.at == scanner.end ? NULL : "something follows the times";
}

bool conv_android_is_line(const char *line, size_t length)
{
    struct parsed parsed;
    return parse_line(line, length, &parsed) == NULL;
}

/* ---- threads ------------------------------------------------------------------------------- */

static struct thread_slot *slot_of(struct android *android, uint32_t thread_id)
{
    size_t at = conv_mix(thread_id, android->seed) & android->slot_mask;
    while (android->slots[at].thread_id != 0 && android->slots[at].thread_id != thread_id)
        at = (at + 1) & android->slot_mask;
    return &android->slots[at];
}

static bool grow_slots(struct android *android)
{
    struct thread_slot *old = android->slots;
    const size_t old_capacity = old != NULL ? android->slot_mask + 1 : 0;
    const size_t capacity = old_capacity != 0 ? old_capacity * 2 : 256;
    struct thread_slot *slots = calloc(capacity, sizeof *slots);
    if (slots == NULL)
        return false;
    android->slots = slots;
    android->slot_mask = capacity - 1;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].thread_id != 0)
            *slot_of(android, old[i].thread_id) = old[i];
    free(old);
    return true;
}

static enum fp_status new_lane(struct android *android, uint32_t thread_id, uint32_t *ret_lane)
{
    if (android->lane_count == WL_THREADS_MAX)
        return FP_ERR_LIMIT;
    if (android->lane_count == android->lane_capacity) {
        const uint32_t capacity = android->lane_capacity * 2 + 256;
        uint32_t *thread_ids = realloc(android->thread_ids, capacity * sizeof *thread_ids);
        if (thread_ids == NULL)
            return FP_ERR_MEMORY;
        android->thread_ids = thread_ids;
        android->lane_capacity = capacity;
    }
    android->thread_ids[android->lane_count] = thread_id;
    *ret_lane = android->lane_count++;
    return FP_OK;
}

static enum fp_status lane_of(struct android *android, uint32_t thread_id, struct thread_slot **ret_slot)
{
    struct thread_slot *slot;
    if ((android->slots == NULL || android->slots_used * 2 > android->slot_mask) && !grow_slots(android))
        return FP_ERR_MEMORY;
    slot = slot_of(android, thread_id);
    if (slot->thread_id == 0) {
        *slot = (struct thread_slot){.thread_id = thread_id, .lane = NONE};
        android->slots_used++;
    }
    *ret_slot = slot;
    return slot->lane != NONE ? FP_OK : new_lane(android, thread_id, &slot->lane);
}

/* The trace does not say which thread is the main one: it is taken to be the first. */
static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    const struct android *android = data;
    *ret_thread_id = android->thread_ids[lane];
    *ret_is_main = lane == 0;
}

/* ---- the pass ------------------------------------------------------------------------------ */

static enum fp_status flush(struct android *android, const struct conv_sink *sink)
{
    const size_t count = android->batch_count;
    android->batch_count = 0;
    return count > 0 ? sink->events(sink->data, android->batch, count) : FP_OK;
}

static uint64_t time_of(struct android *android, const struct parsed *parsed)
{
    if (!parsed->has_time)
        return android->last_ns;
    if (!android->has_base) {
        android->has_base = true;
        android->base_ns = parsed->start_ns;
    }
    if (parsed->start_ns > android->base_ns && parsed->start_ns - android->base_ns > android->last_ns)
        android->last_ns = parsed->start_ns - android->base_ns;
    return android->last_ns;
}

static enum fp_status take(struct android *android, const struct parsed *parsed, const struct conv_sink *sink)
{
    struct thread_slot *slot;
    struct conv_event *event;
    enum fp_status status = lane_of(android, parsed->thread_id, &slot);
    if (status == FP_OK && android->batch_count + 2 > BATCH_EVENTS)
        status = flush(android, sink);
    if (status != FP_OK)
        return status;
    if (parsed->old_address != 0) {
        event = &android->batch[android->batch_count++];
        *event = (struct conv_event){.time_ns = time_of(android, parsed),
                                     .address = parsed->old_address,
                                     .lane = slot->lane,
                                     .call = FP_MARK_RESIZE_FROM};
    }
    event = &android->batch[android->batch_count++];
    *event = (struct conv_event){.time_ns = time_of(android, parsed),
                                 .address = parsed->address,
                                 .old_address = parsed->old_address,
                                 .size = parsed->size,
                                 .extra = parsed->extra,
                                 .lane = slot->lane,
                                 .call = parsed->call};
    /* calloc's form is ADDRESS COUNT SIZE, so extra is the count, as in struct fp_shape. */
    if (parsed->call == FP_MARK_THREAD_EXIT)
        slot->lane = NONE;
    return FP_OK;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error)
{
    struct android *android = data;
    struct conv_line line;
    enum fp_status status;
    while ((status = conv_text_line(android->text, error, &line)) == FP_OK) {
        struct parsed parsed;
        const char *wrong;
        if (line.length == 0)
            continue;
        wrong = parse_line(line.at, line.length, &parsed);
        if (wrong != NULL && !line.has_end) {
            /* The recorder was stopped while it wrote. A cut number could still look whole, but then the
             * line parses, and its call did happen. */
            survey->irregular[CONV_CUT_LINES]++;
            android->cut = true;
            continue;
        }
        if (wrong != NULL) {
            status = conv_fail(error, android->path, FP_ERR_CORRUPT, 0, line.offset, "%s", wrong);
            error->line = line.number;
            return status;
        }
        status = take(android, &parsed, sink);
        if (status == FP_ERR_LIMIT)
            return conv_fail(error, android->path, FP_ERR_LIMIT, 0, line.offset, "more than %u threads",
                             WL_THREADS_MAX);
        if (status != FP_OK)
            return status;
    }
    return status == FP_END ? flush(android, sink) : status;
}

static uint64_t position(void *data)
{
    const struct android *android = data;
    return conv_text_position(android->text);
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    const struct android *android = data;
    (void)gap_calls; /* the format knows no gaps */
    survey->duration_ns = android->last_ns;
    survey->file_bytes = conv_text_position(android->text);
    survey->complete = true;
    if (android->cut)
        conv_incomplete(survey, "its last line is cut off");
}

static void close_android(void *data)
{
    struct android *android = data;
    conv_text_close(android->text);
    free(android->slots);
    free(android->thread_ids);
    free(android);
}

/* Whether the text's first line with anything on it is of the format. */
static enum fp_status check_format(struct android *android, bool detected, struct conv_error *error)
{
    const char *bytes, *end, *newline;
    size_t size;
    enum fp_status status = conv_text_peek(android->text, error, &bytes, &size);
    if (status != FP_OK)
        return status;
    end = bytes + size;
    if (size >= 7 && memcmp(bytes, "MALLAB", 6) == 0)
        return conv_fail(error, android->path, FP_ERR_FOREIGN, 0, 0,
                         "is a compressed or piped %s: give the plain file",
                         bytes[6] == 'W' ? "workload" : "footprint");
    while (bytes < end && (*bytes == '\n' || *bytes == '\r'))
        bytes++;
    newline = memchr(bytes, '\n', (size_t)(end - bytes));
    size = (size_t)((newline != NULL ? newline : end) - bytes);
    if (size > 0 && bytes[size - 1] == '\r')
        size--;
    if (!detected || conv_android_is_line(bytes, size))
        return FP_OK;
    return conv_fail(error, android->path, FP_ERR_FOREIGN, 0, 0,
                     "is no footprint, no recording and no trace of a known format");
}

enum fp_status conv_android_open(const char *path, bool detected, struct conv_survey *survey,
                                 struct conv_error *ret_error, struct conv_input *ret_input)
{
    struct android *android = calloc(1, sizeof *android);
    enum fp_status status;
    if (android == NULL)
        return conv_fail(ret_error, path, FP_ERR_MEMORY, 0, 0, "no memory for threads");
    android->path = path;
    android->seed = conv_seed();
    status = conv_text_open(path, ret_error, &android->text);
    if (status == FP_OK)
        status = check_format(android, detected, ret_error);
    if (status != FP_OK) {
        close_android(android);
        return status;
    }
    survey->kind = CONV_KIND_ANDROID;
    *ret_input = (struct conv_input){
        .data = android,
        .namer = {.data = android, .name = name_lane},
        .source = "android",
        .run = run,
        .position = position,
        .conclude = conclude,
        .close = close_android,
    };
    return FP_OK;
}

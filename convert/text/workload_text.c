/* workload_text.c - lines of a workload text -> a workload writer. Every line is hostile until it is understood. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/base/source.h"
#include "convert/ops/rewrite.h"
#include "convert/text/scan.h"
#include "convert/text/text_input.h"
#include "footprint/base/meta.h"

#define ZSTD_LEVEL_MAX 19u
#define PROGRESS_LINES (UINT64_C(1) << 20)

static bool next_number(struct conv_scan *scan, uint64_t most, uint64_t *ret)
{
    return conv_scan_next_decimal(scan, ret) && *ret <= most;
}

static enum fp_call next_call(struct conv_scan *scan)
{
    char name[48];
    size_t length;
    const char *word = conv_scan_next_word(scan, &length);
    if (word == NULL || length >= sizeof name)
        return FP_CALL_NONE;
    memcpy(name, word, length);
    name[length] = '\0';
    if (strncmp(name, "operator_", 9) == 0)
        name[8] = ' ';
    return fp_call_from_name(name);
}

/* The words behind the size: `x COUNT` or `align BYTES`, as the call has it, and `fresh`. Returns NULL, or what is wrong. */
static const char *parse_extra(struct conv_scan *scan, struct wl_op *op)
{
    const enum fp_extra extra = fp_call_extra_of(op->call);
    uint64_t number;
    if (extra == FP_EXTRA_COUNT) {
        if (!conv_scan_is_next(scan, "x") || !next_number(scan, UINT16_MAX, &number))
            return "after the size of this call comes 'x' and a count up to 65535";
        op->count = (uint16_t)number;
    } else if (extra == FP_EXTRA_ALIGNMENT) {
        if (!conv_scan_is_next(scan, "align") || !next_number(scan, CONV_ADDRESS_LIMIT - 1, &number) ||
            number == 0 || (number & (number - 1)) != 0)
            return "after the size of this call comes 'align' and a power of two below 2^48";
        op->align_log2 = (uint8_t)__builtin_ctzll(number);
    }
    if (conv_scan_ended(scan))
        return NULL;
    if (fp_call_kind_of(op->call) != FP_KIND_RESIZE || !conv_scan_is_next(scan, "fresh") ||
        !conv_scan_ended(scan))
        return "something follows the op";
    op->align_log2 |= WL_OP_FRESH;
    return NULL;
}

/* An op from its call on, to the line's end: every number is within the format's limits, the call takes
 * what is given. Returns NULL, or what is wrong (static). */
static const char *parse_op(struct conv_scan *scan, struct wl_op *ret)
{
    struct conv_scan before;
    uint64_t number;
    const char *wrong;
    *ret = (struct wl_op){.call = (uint8_t)next_call(scan)};
    if (ret->call == FP_CALL_NONE || fp_call_kind_of(ret->call) == FP_KIND_NONE)
        return "no call of the malloc family after the thread";
    if (!next_number(scan, WL_IDS_MAX - 1, &number))
        return "no number of an object below 2^31";
    ret->id = (uint32_t)number;
    before = *scan;
    if (next_number(scan, CONV_ADDRESS_LIMIT - 1, &number))
        ret->size = number;
    else if (fp_call_kind_of(ret->call) == FP_KIND_RELEASE && !fp_call_tells_size(ret->call))
        *scan = before; /* most releases state none */
    else
        return "no size below 2^48 after the object";
    wrong = parse_extra(scan, ret);
    if (wrong == NULL && conv_op_bytes(ret) >= CONV_ADDRESS_LIMIT)
        wrong = "count times size is 2^48 or more";
    return wrong;
}

struct reading {
    const char *path;
    int descriptor;
    struct conv_text *text;
    const struct conv_options *options;
    struct conv_error *error;
    struct conv_line line;
    struct wl_writer_options writer_options;
    uint32_t sized_object;    /* that the op of the line before gave its size; 0: none */
    struct wl_writer *writer; /* NULL as long as the head goes on */
    struct conv_rewrite rewrite;
    uint32_t thread_count;
    uint64_t time_ns;
    bool has_main, ended;
    /* The head's entries, "key=value" each, terminated; meta first. */
    char *entries[META_COUNT_MAX];
    bool is_note[META_COUNT_MAX];
    size_t entry_count, entry_bytes;
};

static enum fp_status fail(struct reading *reading, const char *what)
{
    const enum fp_status status = conv_fail(reading->error, reading->path, FP_ERR_CORRUPT, 0,
                                            reading->line.offset, "%s", what);
    reading->error->line = reading->line.number;
    return status;
}

static enum fp_status writer_failed(struct reading *reading, enum fp_status status)
{
    const struct fp_error *cause = reading->writer != NULL ? wl_writer_error(reading->writer) : NULL;
    if (status == FP_ERR_MEMORY || cause == NULL || cause->status != status)
        return conv_fail_memory(reading->error, reading->path, "a workload");
    conv_fail_with(reading->error, reading->path, cause);
    if (status == FP_ERR_WRITE)
        reading->error->output = true;
    else
        reading->error->line = reading->line.number;
    return status;
}

/* ---- the head ------------------------------------------------------------------------------ */

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Append what follows the keyword and one blank, unescaped, to the newest entry. */
static enum fp_status append_entry(struct reading *reading, const char *at, const char *end)
{
    char **entry = &reading->entries[reading->entry_count - 1];
    const size_t old = strlen(*entry), room = (size_t)(end - at);
    char *grown, *to;
    reading->entry_bytes += room;
    if (reading->entry_bytes > META_BYTES_MAX)
        return fail(reading, "more than 64 KiB of meta data");
    grown = realloc(*entry, old + room + 1);
    if (grown == NULL)
        return writer_failed(reading, FP_ERR_MEMORY);
    *entry = grown;
    to = grown + old;
    *to = '\0';
    while (at < end) {
        char byte = *at++;
        if (byte == '\\') {
            if (end - at < 3 || at[0] != 'x' || hex_digit(at[1]) < 0 || hex_digit(at[2]) < 0)
                return fail(reading, "a backslash that is not \\x and two digits 0-9, a-f");
            byte = (char)(hex_digit(at[1]) << 4 | hex_digit(at[2]));
            at += 3;
        }
        if (byte == '\0' || byte == '\n')
            return fail(reading, "meta data with a zero or a line's end");
        *to++ = byte;
        *to = '\0';
    }
    return FP_OK;
}

static enum fp_status take_entry(struct reading *reading, const struct conv_scan *scan, bool is_note,
                                 bool is_more)
{
    const char *at = scan->at;
    if (reading->writer != NULL)
        return fail(reading, "meta data after the first thread, time or op");
    if (is_more && reading->entry_count == 0)
        return fail(reading, "'more' without 'meta' or 'note' before it");
    if (!is_more) {
        if (reading->entry_count == META_COUNT_MAX)
            return fail(reading, "more entries of meta data than a workload holds");
        reading->entries[reading->entry_count] = calloc(1, 1);
        if (reading->entries[reading->entry_count] == NULL)
            return writer_failed(reading, FP_ERR_MEMORY);
        reading->is_note[reading->entry_count++] = is_note;
    }
    if (at < scan->end)
        at++;
    return append_entry(reading, at, scan->end);
}

static bool split_entries(struct reading *reading, struct fp_meta *ret_entries)
{
    for (size_t i = 0; i < reading->entry_count; i++) {
        char *equals = strchr(reading->entries[i], '=');
        if (equals == NULL || equals == reading->entries[i])
            return false;
        *equals = '\0';
        ret_entries[i] = (struct fp_meta){reading->entries[i], equals + 1};
    }
    return true;
}

/* The head has ended: meta data and options are known. */
static enum fp_status begin_body(struct reading *reading)
{
    struct fp_meta entries[META_COUNT_MAX], meta[META_COUNT_MAX];
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for writing"};
    size_t meta_count = 0;
    enum fp_status status;
    if (reading->writer != NULL)
        return FP_OK;
    if (!split_entries(reading, entries))
        return fail(reading, "an entry of meta data before this line is not of the form key=value");
    for (size_t i = 0; i < reading->entry_count; i++)
        if (!reading->is_note[i])
            meta[meta_count++] = entries[i];
    if (reading->options->window_ops != 0)
        reading->writer_options.window_ops = reading->options->window_ops;
    if (reading->options->zstd_level != 0)
        reading->writer_options.zstd_level = reading->options->zstd_level;
    reading->writer_options.descriptor = reading->descriptor;
    reading->writer_options.in_place = reading->options->in_place;
    status = wl_writer_create(reading->path, false, &reading->writer_options, meta, meta_count, &cause,
                              &reading->writer);
    if (status != FP_OK) {
        conv_fail_with(reading->error, reading->path, &cause);
        reading->error->output = status == FP_ERR_WRITE;
        return status;
    }
    reading->rewrite.writer = reading->writer;
    for (size_t i = 0; i < reading->entry_count && status == FP_OK; i++)
        if (reading->is_note[i])
            status = wl_writer_note(reading->writer, entries[i].key, entries[i].value);
    return status == FP_OK ? FP_OK : writer_failed(reading, status);
}

static enum fp_status take_option(struct reading *reading, struct conv_scan *scan, bool is_window_ops)
{
    struct wl_writer_options *options = &reading->writer_options;
    uint64_t number = 0;
    if (reading->writer != NULL)
        return fail(reading, "an option after the first thread, time or op");
    if (!next_number(scan, is_window_ops ? WL_WINDOW_OPS_MAX : ZSTD_LEVEL_MAX, &number) || number == 0 ||
        !conv_scan_ended(scan))
        return fail(reading, is_window_ops ? "window_ops takes a number from 1 to 65536"
                                           : "zstd_level takes a number from 1 to 19");
    if (is_window_ops)
        options->window_ops = (uint32_t)number;
    else
        options->zstd_level = (int)number;
    return FP_OK;
}

/* ---- the body ------------------------------------------------------------------------------ */

static enum fp_status take_thread(struct reading *reading, struct conv_scan *scan)
{
    uint64_t number, thread_id;
    bool is_main = false, exited = false;
    uint32_t thread;
    enum fp_status status;
    if (!next_number(scan, UINT32_MAX, &number) || number != reading->thread_count)
        return fail(reading, "threads are numbered from 0, one after the other");
    if (!next_number(scan, UINT32_MAX, &thread_id))
        return fail(reading, "no thread id below 2^32");
    while (!conv_scan_ended(scan)) {
        bool *flag = *scan->at == 'm' ? &is_main : &exited;
        if (*flag || !conv_scan_is_next(scan, flag == &is_main ? "main" : "exited"))
            return fail(reading, "after the thread id comes 'main', 'exited' or nothing");
        *flag = true;
    }
    if (is_main && reading->has_main)
        return fail(reading, "a second main thread");
    reading->has_main = reading->has_main || is_main;
    status = wl_writer_thread(reading->writer, (uint32_t)thread_id, is_main, &thread);
    if (status != FP_OK)
        return writer_failed(reading, status);
    if (exited)
        wl_writer_thread_exit(reading->writer, thread);
    reading->thread_count++;
    return FP_OK;
}

static enum fp_status take_time(struct reading *reading, struct conv_scan *scan)
{
    uint64_t time_ns;
    if (!next_number(scan, UINT64_MAX, &time_ns) || !conv_scan_ended(scan))
        return fail(reading, "no time in nanoseconds");
    if (time_ns < reading->time_ns)
        return fail(reading, "times never fall");
    reading->time_ns = time_ns;
    wl_writer_note_time(reading->writer);
    return FP_OK;
}

static enum fp_status take_cut(struct reading *reading, struct conv_scan *scan)
{
    const enum fp_status status = conv_scan_ended(scan) ? wl_writer_cut(reading->writer) : FP_ERR_CORRUPT;
    if (status == FP_ERR_CORRUPT)
        return fail(reading, "after 'cut' comes nothing");
    return status == FP_OK ? FP_OK : writer_failed(reading, status);
}

static enum fp_status take_op(struct reading *reading, struct conv_scan *scan)
{
    uint64_t thread;
    struct wl_op op;
    const char *what;
    enum fp_status status;
    if (!next_number(scan, UINT32_MAX, &thread))
        return fail(reading, "not a line of this format");
    if (thread >= reading->thread_count)
        return fail(reading, "an op of a thread that no line 'thread' before it names");
    what = parse_op(scan, &op);
    if (what != NULL)
        return fail(reading, what);
    status = conv_rewrite_op(&reading->rewrite, (uint32_t)thread, &op, reading->time_ns, &what);
    reading->sized_object = fp_call_kind_of(op.call) != FP_KIND_RELEASE ? op.id : 0;
    if (status == FP_OK)
        return FP_OK;
    return status == FP_ERR_CORRUPT && what != NULL ? fail(reading, what) : writer_failed(reading, status);
}

static enum fp_status take_touched(struct reading *reading, struct conv_scan *scan)
{
    uint64_t share;
    enum fp_status status;
    if (!next_number(scan, FP_SHARE_WHOLE - 1, &share) || !conv_scan_ended(scan))
        return fail(reading, "touched takes a number from 0 to 255");
    if (reading->sized_object == 0)
        return fail(reading, "touched stands behind an op that gives an object its size");
    status = wl_writer_touched(reading->writer, reading->rewrite.objects[reading->sized_object].written_id,
                               (uint32_t)share);
    reading->sized_object = 0;
    return status == FP_OK ? FP_OK : writer_failed(reading, status);
}

static enum fp_status take_end(struct reading *reading, struct conv_scan *scan)
{
    uint64_t end_ns;
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for the summary"};
    enum fp_status status;
    if (!next_number(scan, UINT64_MAX, &end_ns) || !conv_scan_ended(scan))
        return fail(reading, "no time in nanoseconds after 'end'");
    if (end_ns / FP_TIME_UNIT_NS < reading->time_ns / FP_TIME_UNIT_NS)
        return fail(reading, "the end lies before the last op");
    status = wl_writer_finish(reading->writer, end_ns, NULL, NULL, &cause);
    reading->writer = NULL;
    reading->ended = true;
    if (status != FP_OK) {
        conv_fail_with(reading->error, reading->path, &cause);
        reading->error->output = true;
    }
    return status;
}

static const struct {
    const char *word;
    enum fp_status (*take)(struct reading *reading, struct conv_scan *scan);
} BODY[] = {{"thread", take_thread},
            {"time", take_time},
            {"touched", take_touched},
            {"cut", take_cut},
            {"end", take_end}};

/* Takes this word where the line begins with it. */
static bool begins_with(struct conv_scan *scan, const char *word)
{
    struct conv_scan behind = *scan;
    if (!conv_scan_is_next(&behind, word))
        return false;
    *scan = behind;
    return true;
}

/* A comment is a word that begins with #. */
static void cut_comment(struct conv_scan *scan)
{
    const char *at = memchr(scan->at, '#', (size_t)(scan->end - scan->at));
    for (; at != NULL && at < scan->end; at++)
        if (*at == '#' && (at == scan->at || conv_scan_is_blank(at[-1])))
            scan->end = at;
}

static enum fp_status take_line(struct reading *reading)
{
    struct conv_scan scan = conv_scan_of(reading->line.at, reading->line.length), whole = scan;
    enum fp_status status;
    cut_comment(&scan);
    if (conv_scan_ended(&scan))
        return FP_OK;
    if (reading->ended)
        return fail(reading, "something follows the line 'end'");
    if (*scan.at >= '0' && *scan.at <= '9') { /* nearly all are: no word is looked for */
        status = begin_body(reading);
        return status == FP_OK ? take_op(reading, &scan) : status;
    }
    if (begins_with(&scan, "window_ops"))
        return take_option(reading, &scan, true);
    if (begins_with(&scan, "zstd_level"))
        return take_option(reading, &scan, false);
    if (begins_with(&whole, "meta"))
        return take_entry(reading, &whole, false, false);
    if (begins_with(&whole, "note"))
        return take_entry(reading, &whole, true, false);
    if (begins_with(&whole, "more"))
        return take_entry(reading, &whole, false, true);
    status = begin_body(reading);
    for (size_t i = 0; i < sizeof BODY / sizeof BODY[0] && status == FP_OK; i++)
        if (begins_with(&scan, BODY[i].word))
            return BODY[i].take(reading, &scan);
    return status == FP_OK ? fail(reading, "not a line of this format") : status;
}

static enum fp_status check_first_line(struct reading *reading)
{
    const enum fp_status status = conv_text_line(reading->text, reading->error, &reading->line);
    struct conv_scan first = {0};
    if (status != FP_OK && status != FP_END)
        return status;
    if (status == FP_OK)
        first = conv_scan_of(reading->line.at, reading->line.length);
    if (conv_scan_text(&first, CONV_TEXT_MAGIC) && first.at == first.end)
        return FP_OK;
    if (status == FP_OK && reading->line.length > strlen(CONV_TEXT_NAME) &&
        memcmp(reading->line.at, CONV_TEXT_NAME, strlen(CONV_TEXT_NAME)) == 0)
        return CONV_FOREIGN(reading->error, reading->path,
                            "is a workload text of another version; this one reads version 1");
    return CONV_FOREIGN(reading->error, reading->path, "is no workload text: its first line is not '%s'",
                        CONV_TEXT_MAGIC);
}

static enum fp_status read_lines(struct reading *reading)
{
    enum fp_status status = check_first_line(reading);
    while (status == FP_OK &&
           (status = conv_text_line(reading->text, reading->error, &reading->line)) == FP_OK) {
        status = take_line(reading);
        if (reading->options->progress != NULL && reading->line.number % PROGRESS_LINES == 0)
            reading->options->progress(reading->options->progress_data, reading->line.number,
                                       conv_text_position(reading->text), 0);
    }
    if (status != FP_END)
        return status;
    if (reading->ended)
        return FP_OK;
    status = conv_fail(reading->error, reading->path, FP_ERR_TRUNCATED, 0, reading->line.offset,
                       "the text ends without its line 'end'");
    reading->error->line = reading->line.number;
    return status;
}

static enum fp_status read_text(const char *path, int descriptor, const struct conv_options *options,
                                struct conv_error *error)
{
    struct reading reading = {.path = path, .descriptor = descriptor, .options = options, .error = error};
    enum fp_status status = conv_text_open(path, error, &reading.text);
    if (status != FP_OK)
        return status;
    conv_rewrite_init(&reading.rewrite, NULL);
    status = read_lines(&reading);
    conv_rewrite_release(&reading.rewrite);
    wl_writer_abandon(reading.writer);
    for (size_t i = 0; i < reading.entry_count; i++)
        free(reading.entries[i]);
    conv_text_close(reading.text);
    return status;
}

enum fp_status conv_temporary_text(const char *in_path, const char *beside,
                                   const struct conv_options *options, struct conv_temporary *ret_temporary,
                                   struct conv_error *error)
{
    enum fp_status status = conv_temporary_open(beside, ret_temporary, error);
    if (status != FP_OK)
        return status;
    status = read_text(in_path, ret_temporary->descriptor, options, error);
    conv_temporary_name(ret_temporary, error);
    if (status != FP_OK)
        (void)close(ret_temporary->descriptor); /* nothing is to be kept */
    return status;
}

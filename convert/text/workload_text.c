/* workload_text.c - lines of a workload text -> a workload writer. Every line is hostile until it is understood. */
#include "convert/text/workload_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/base/source.h"
#include "convert/ops/rewrite.h"
#include "convert/text/text_input.h"
#include "footprint/base/meta.h"

#define ZSTD_LEVEL_MAX 19u
#define PROGRESS_LINES (UINT64_C(1) << 20)

/* The rest of a line; borrowed, not terminated. */
struct conv_words {
    const char *at, *end;
};

struct conv_word {
    const char *at;
    size_t length;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* The next word, parted by blanks; false at the line's end, and where a comment begins. */
static bool next_word(struct conv_words *words, struct conv_word *ret)
{
    while (words->at < words->end && is_blank(*words->at))
        words->at++;
    if (words->at == words->end || *words->at == '#')
        return false;
    ret->at = words->at;
    while (words->at < words->end && !is_blank(*words->at))
        words->at++;
    ret->length = (size_t)(words->at - ret->at);
    return true;
}

static bool word_is(const struct conv_word *word, const char *text)
{
    return strlen(text) == word->length && memcmp(word->at, text, word->length) == 0;
}

/* A decimal number up to most. next_number - the next word as one. */
static bool number_of(const struct conv_word *word, uint64_t most, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < word->length; i++)
        if (word->at[i] < '0' || word->at[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(word->at[i] - '0'), &value))
            return false;
    *ret = value;
    return word->length > 0 && value <= most;
}

static bool next_number(struct conv_words *words, uint64_t most, uint64_t *ret)
{
    struct conv_word word;
    return next_word(words, &word) && number_of(&word, most, ret);
}

/* Tells whether no word is left. Takes one where there is. */
static bool at_end(struct conv_words *words)
{
    struct conv_word word;
    return !next_word(words, &word);
}

static enum fp_call call_of(const struct conv_word *word)
{
    char name[48];
    if (word->length >= sizeof name)
        return FP_CALL_NONE;
    memcpy(name, word->at, word->length);
    name[word->length] = '\0';
    if (strncmp(name, "operator_", 9) == 0)
        name[8] = ' ';
    return fp_call_from_name(name);
}

/* The words behind the size: `x COUNT` or `align BYTES`, as the call has it, and `fresh`. Returns NULL, or what is wrong. */
static const char *parse_extra(struct conv_words *words, struct wl_op *op)
{
    const enum fp_extra extra = fp_call_extra_of(op->call);
    struct conv_word word;
    uint64_t number;
    if (extra == FP_EXTRA_COUNT) {
        if (!next_word(words, &word) || !word_is(&word, "x") || !next_number(words, UINT16_MAX, &number))
            return "after the size of this call comes 'x' and a count up to 65535";
        op->count = (uint16_t)number;
    } else if (extra == FP_EXTRA_ALIGNMENT) {
        if (!next_word(words, &word) || !word_is(&word, "align") ||
            !next_number(words, CONV_ADDRESS_LIMIT - 1, &number) || number == 0 ||
            (number & (number - 1)) != 0)
            return "after the size of this call comes 'align' and a power of two below 2^48";
        op->align_log2 = (uint8_t)__builtin_ctzll(number);
    }
    if (!next_word(words, &word))
        return NULL;
    if (fp_call_kind_of(op->call) != FP_KIND_RESIZE || !word_is(&word, "fresh") || !at_end(words))
        return "something follows the op";
    op->align_log2 |= WL_OP_FRESH;
    return NULL;
}

/* An op from its call on, to the line's end: every number is within the format's limits, the call takes
 * what is given. Returns NULL, or what is wrong (static). */
static const char *parse_op(struct conv_words *words, struct wl_op *ret)
{
    struct conv_words before;
    struct conv_word word;
    uint64_t number;
    const char *wrong;
    *ret = (struct wl_op){0};
    if (!next_word(words, &word) || (ret->call = (uint8_t)call_of(&word)) == FP_CALL_NONE ||
        fp_call_kind_of(ret->call) == FP_KIND_NONE)
        return "no call of the malloc family after the thread";
    if (!next_number(words, WL_IDS_MAX - 1, &number))
        return "no number of an object below 2^31";
    ret->id = (uint32_t)number;
    before = *words;
    if (next_number(words, CONV_ADDRESS_LIMIT - 1, &number))
        ret->size = number;
    else if (fp_call_kind_of(ret->call) == FP_KIND_RELEASE && !fp_call_tells_size(ret->call))
        *words = before; /* most releases state none */
    else
        return "no size below 2^48 after the object";
    wrong = parse_extra(words, ret);
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

static enum fp_status take_entry(struct reading *reading, const struct conv_words *words, bool is_note,
                                 bool is_more)
{
    const char *at = words->at;
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
    if (at < words->end)
        at++;
    return append_entry(reading, at, words->end);
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

static enum fp_status take_option(struct reading *reading, const struct conv_word *name,
                                  struct conv_words *words)
{
    struct wl_writer_options *options = &reading->writer_options;
    const bool is_window_ops = word_is(name, "window_ops");
    uint64_t number = 0;
    if (reading->writer != NULL)
        return fail(reading, "an option after the first thread, time or op");
    if (!next_number(words, is_window_ops ? WL_WINDOW_OPS_MAX : ZSTD_LEVEL_MAX, &number) || number == 0 ||
        !at_end(words))
        return fail(reading, is_window_ops ? "window_ops takes a number from 1 to 65536"
                                           : "zstd_level takes a number from 1 to 19");
    if (is_window_ops)
        options->window_ops = (uint32_t)number;
    else
        options->zstd_level = (int)number;
    return FP_OK;
}

/* ---- the body ------------------------------------------------------------------------------ */

static enum fp_status take_thread(struct reading *reading, struct conv_words *words)
{
    uint64_t number, thread_id;
    bool is_main = false, exited = false;
    struct conv_word word;
    uint32_t thread;
    enum fp_status status;
    if (!next_number(words, UINT32_MAX, &number) || number != reading->thread_count)
        return fail(reading, "threads are numbered from 0, one after the other");
    if (!next_number(words, UINT32_MAX, &thread_id))
        return fail(reading, "no thread id below 2^32");
    while (next_word(words, &word)) {
        bool *flag = word_is(&word, "main") ? &is_main : word_is(&word, "exited") ? &exited : NULL;
        if (flag == NULL || *flag)
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

static enum fp_status take_time(struct reading *reading, struct conv_words *words)
{
    uint64_t time_ns;
    if (!next_number(words, UINT64_MAX, &time_ns) || !at_end(words))
        return fail(reading, "no time in nanoseconds");
    if (time_ns < reading->time_ns)
        return fail(reading, "times never fall");
    reading->time_ns = time_ns;
    wl_writer_note_time(reading->writer);
    return FP_OK;
}

static enum fp_status take_cut(struct reading *reading, struct conv_words *words)
{
    const enum fp_status status = at_end(words) ? wl_writer_cut(reading->writer) : FP_ERR_CORRUPT;
    if (status == FP_ERR_CORRUPT)
        return fail(reading, "after 'cut' comes nothing");
    return status == FP_OK ? FP_OK : writer_failed(reading, status);
}

static enum fp_status take_op(struct reading *reading, const struct conv_word *first,
                              struct conv_words *words)
{
    uint64_t thread;
    struct wl_op op;
    const char *what;
    enum fp_status status;
    if (!number_of(first, UINT32_MAX, &thread))
        return fail(reading, "not a line of this format");
    if (thread >= reading->thread_count)
        return fail(reading, "an op of a thread that no line 'thread' before it names");
    what = parse_op(words, &op);
    if (what != NULL)
        return fail(reading, what);
    status = conv_rewrite_op(&reading->rewrite, (uint32_t)thread, &op, reading->time_ns, &what);
    reading->sized_object = fp_call_kind_of(op.call) != FP_KIND_RELEASE ? op.id : 0;
    if (status == FP_OK)
        return FP_OK;
    return status == FP_ERR_CORRUPT && what != NULL ? fail(reading, what) : writer_failed(reading, status);
}

static enum fp_status take_touched(struct reading *reading, struct conv_words *words)
{
    uint64_t share;
    enum fp_status status;
    if (!next_number(words, FP_SHARE_WHOLE - 1, &share) || !at_end(words))
        return fail(reading, "touched takes a number from 0 to 255");
    if (reading->sized_object == 0)
        return fail(reading, "touched stands behind an op that gives an object its size");
    status = wl_writer_touched(reading->writer, reading->rewrite.objects[reading->sized_object].written_id,
                               (uint32_t)share);
    reading->sized_object = 0;
    return status == FP_OK ? FP_OK : writer_failed(reading, status);
}

static enum fp_status take_end(struct reading *reading, struct conv_words *words)
{
    uint64_t end_ns;
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for the summary"};
    enum fp_status status;
    if (!next_number(words, UINT64_MAX, &end_ns) || !at_end(words))
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

static enum fp_status take_line(struct reading *reading)
{
    struct conv_words words = {reading->line.at, reading->line.at + reading->line.length};
    struct conv_word first;
    enum fp_status status;
    if (!next_word(&words, &first))
        return FP_OK;
    if (reading->ended)
        return fail(reading, "something follows the line 'end'");
    if (word_is(&first, "window_ops") || word_is(&first, "zstd_level"))
        return take_option(reading, &first, &words);
    if (word_is(&first, "meta") || word_is(&first, "note") || word_is(&first, "more"))
        return take_entry(reading, &words, word_is(&first, "note"), word_is(&first, "more"));
    status = begin_body(reading);
    if (status != FP_OK)
        return status;
    if (word_is(&first, "thread"))
        return take_thread(reading, &words);
    if (word_is(&first, "time"))
        return take_time(reading, &words);
    if (word_is(&first, "touched"))
        return take_touched(reading, &words);
    if (word_is(&first, "cut"))
        return take_cut(reading, &words);
    if (word_is(&first, "end"))
        return take_end(reading, &words);
    return take_op(reading, &first, &words);
}

static enum fp_status check_first_line(struct reading *reading)
{
    const enum fp_status status = conv_text_line(reading->text, reading->error, &reading->line);
    const struct conv_word first = {reading->line.at, reading->line.length};
    if (status != FP_OK && status != FP_END)
        return status;
    if (status == FP_OK && word_is(&first, CONV_TEXT_MAGIC))
        return FP_OK;
    if (status == FP_OK && first.length > strlen(CONV_TEXT_NAME) &&
        memcmp(first.at, CONV_TEXT_NAME, strlen(CONV_TEXT_NAME)) == 0)
        (void)conv_fail(reading->error, reading->path, FP_ERR_FOREIGN, 0, 0,
                        "is a workload text of another version; this one reads version 1");
    else
        (void)conv_fail(reading->error, reading->path, FP_ERR_FOREIGN, 0, 0,
                        "is no workload text: its first line is not '%s'", CONV_TEXT_MAGIC);
    return conv_no_remedy(reading->error);
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

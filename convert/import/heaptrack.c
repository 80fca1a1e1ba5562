/* heaptrack.c - reading the output of `heaptrack --raw`, up to format version 3.
 *
 * Numbers are hexadecimal without 0x: `v PROGRAM FORMAT` comes first, `+ SIZE TRACE PTR` and `- PTR` are calls,
 * `c MS` is the time in milliseconds, about each 10 of them. `X ` is the command line, which may be of several
 * lines; an `I`, `m` or `t` line (`s` in the other form) follows it. Everything else is of no interest here.
 * heaptrack writes the form of its analysis under the same version: there `+` and `-` name kinds of allocations, not
 * objects, and `a` and `i` lines say which. */
#include <stdio.h>
#include <string.h>

#include "convert/import/import.h"
#include "convert/text/scan.h"
#include "convert/text/text_input.h"

#define VERSION_KNOWN 3u
#define NS_PER_MS     UINT64_C(1000000)

struct heaptrack {
    bool has_version;
    bool in_command;   /* behind `X`, as long as nothing else has begun */
    uint64_t left_out; /* lines of it that look like calls, and are none */
    char wrong[128];
};

static const char *take_version(struct heaptrack *heaptrack, struct conv_scan scan, struct conv_parsed *ret)
{
    uint64_t program, version = 0;
    if (!conv_scan_text(&scan, "v ") || !conv_scan_next_hex(&scan, &program))
        return "no 'v' line with heaptrack's version at its beginning";
    /* The first heaptracks had no version of the format. */
    if (!conv_scan_ended(&scan) && (!conv_scan_next_hex(&scan, &version) || !conv_scan_ended(&scan)))
        return "no version of the format in its 'v' line";
    if (version > VERSION_KNOWN) {
        snprintf(
            heaptrack->wrong, sizeof heaptrack->wrong,
            "is of heaptrack's format version %llu, this mallab reads up to %u: a newer mallab may read it",
            (unsigned long long)version, VERSION_KNOWN);
        ret->refusal = FP_ERR_READ;
        return heaptrack->wrong;
    }
    heaptrack->has_version = true;
    return NULL;
}

static const char *take_allocation(struct conv_scan *scan, struct conv_parsed *ret)
{
    uint64_t trace;
    ret->call = FP_CALL_MALLOC;
    if (!conv_scan_next_hex(scan, &ret->size) || !conv_scan_next_hex(scan, &trace) ||
        !conv_scan_next_hex(scan, &ret->address) || !conv_scan_ended(scan))
        return "not '+ SIZE TRACE PTR'";
    return NULL;
}

static const char *take_free(struct conv_scan *scan, struct conv_parsed *ret)
{
    ret->call = FP_CALL_FREE;
    return conv_scan_next_hex(scan, &ret->address) && conv_scan_ended(scan) ? NULL : "not '- PTR'";
}

static const char *take_time(struct conv_scan *scan, struct conv_parsed *ret)
{
    uint64_t time_ms;
    if (!conv_scan_next_hex(scan, &time_ms) || !conv_scan_ended(scan) ||
        __builtin_mul_overflow(time_ms, NS_PER_MS, &ret->time_ns))
        return "not 'c MILLISECONDS'";
    ret->has_time = true;
    return NULL;
}

static const char *skip_line(struct heaptrack *heaptrack, const char *line, size_t length)
{
    if (line[0] == 'X')
        heaptrack->in_command = true;
    if (strchr("Imts", line[0]) != NULL)
        heaptrack->in_command = false, heaptrack->left_out = 0;
    return memchr(line, '\0', length) == NULL ? NULL : "holds a zero byte: this is no text";
}

static const char *parse_record(struct heaptrack *heaptrack, const char *line, size_t length,
                                struct conv_parsed *ret)
{
    struct conv_scan scan = conv_scan_of(line + 2, length - 2);
    switch (line[0]) {
    case '+':
        return take_allocation(&scan, ret);
    case '-':
        return take_free(&scan, ret);
    case 'c':
        return take_time(&scan, ret);
    case 'a':
    case 'i':
        ret->refusal = FP_ERR_READ;
        return "is of the form that heaptrack made for its analysis, which no longer says which object a "
               "call is "
               "about: record again with 'heaptrack --raw'";
    default:
        return skip_line(heaptrack, line, length);
    }
}

static const char *parse(void *state, const struct conv_options *options, const char *line, size_t length,
                         struct conv_parsed *ret)
{
    struct heaptrack *heaptrack = state;
    const char *wrong;
    (void)options;
    /* Not to be salvaged: behind another beginning any text would be lines of no interest, and pass for a trace. */
    if (!heaptrack->has_version)
        return take_version(heaptrack, conv_scan_of(line, length), ret);
    ret->thread_id = 1;
    if (length >= 2 && line[1] == ' ')
        wrong = parse_record(heaptrack, line, length, ret);
    else
        wrong = line[0] == '+' || line[0] == '-' ? "not a call" : skip_line(heaptrack, line, length);
    if (wrong != NULL && heaptrack->in_command) {
        *ret = (struct conv_parsed){0}; /* the command line goes on, whatever it looks like */
        heaptrack->left_out++;
        return NULL;
    }
    return wrong;
}

static bool matches(struct conv_head head)
{
    struct heaptrack heaptrack = {0};
    struct conv_parsed parsed = {0};
    const char *line;
    size_t length;
    if (!conv_head_line(&head, &line, &length))
        return false;
    return parse(&heaptrack, NULL, line, length, &parsed) == NULL || parsed.refusal != FP_OK;
}

/* The place behind a line's last such character; 0: there is none. Searched by hand: with its sanitizers on, gcc takes the line for
 * what may be NULL, and warns of memrchr. */
static size_t behind_last(const char *line, size_t length, char character)
{
    while (length > 0 && line[length - 1] != character)
        length--;
    return length;
}

/* Takes as much of the program's name as there is room for. */
static void take_program(struct conv_survey *survey, const char *name, const char *end)
{
    const size_t room = sizeof survey->program - 1;
    const size_t length = (size_t)(end - name) < room ? (size_t)(end - name) : room;
    memcpy(survey->program, name, length);
    survey->program[length] = '\0';
}

/* The program's name: `x LENGTH PATH`, before version 3 `x PATH`. */
static void begin(struct conv_import *import, struct conv_head head)
{
    struct conv_survey *survey = import->survey;
    const char *line;
    size_t length;
    while (conv_head_line(&head, &line, &length)) {
        if (line[0] != 'x' || length < 3)
            continue;
        const size_t path = behind_last(line, length, ' '), name = behind_last(line, length, '/');
        if (path > 0 || name > 0)
            take_program(survey, line + (name > 0 ? name : path), line + length);
        return;
    }
}

static enum fp_status finish(struct conv_import *import)
{
    const struct heaptrack *heaptrack = import->state;
    if (heaptrack->left_out == 0)
        return FP_OK;
    if (import->options.salvage) {
        import->survey->irregular[CONV_BAD_LINES] += heaptrack->left_out;
        import->survey->lost_marks += heaptrack->left_out;
        snprintf(import->wrong, sizeof import->wrong, "no 'I' line ends its command line");
        return FP_OK;
    }
    return CONV_IMPORT_WRONG(import, conv_text_offset(import->text),
                             "what looks like calls follows its command line, but no 'I' line ends that,");
}

const struct conv_format CONV_FORMAT_HEAPTRACK = {
    .kind = CONV_KIND_HEAPTRACK,
    .name = "heaptrack",
    .title = "heaptrack --raw",
    .lacks = "threads, exact time, exact call, alignment, failed calls, some calls",
    .state_bytes = sizeof(struct heaptrack),
    .matches = matches,
    .parse = parse,
    .begin = begin,
    .finish = finish,
};

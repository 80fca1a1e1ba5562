/* formats.c - the table of formats, as convert/meson.build lists them. */
#include "convert/import/formats.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"

#define DECLARED(name) extern const struct conv_format CONV_FORMAT_##name;
/* cppcheck-suppress unknownMacro ; the build writes it */
CONV_TRACES(DECLARED)

#define LISTED(name) &CONV_FORMAT_##name,
static const struct conv_format *const FORMATS[] = {CONV_TRACES(LISTED)};

#define FORMATS_LENGTH (sizeof FORMATS / sizeof FORMATS[0])

/* --from takes our own kinds of files, too. */
static const enum conv_kind OWN[] = {CONV_KIND_FOOTPRINT, CONV_KIND_RECORDING, CONV_KIND_WORKLOAD,
                                     CONV_KIND_TEXT};

#define OWN_LENGTH (sizeof OWN / sizeof OWN[0])

const struct conv_format *conv_format_at(size_t number)
{
    return number < FORMATS_LENGTH ? FORMATS[number] : NULL;
}

const struct conv_format *conv_format_of_kind(enum conv_kind kind)
{
    for (size_t i = 0; i < FORMATS_LENGTH; i++)
        if (FORMATS[i]->kind == kind)
            return FORMATS[i];
    return NULL;
}

const char *conv_kind_name(enum conv_kind kind)
{
    static const char *const OTHERS[] = {
        [CONV_KIND_FOOTPRINT] = "footprint", [CONV_KIND_WORKLOAD] = "workload",
        [CONV_KIND_RECORDING] = "recording", [CONV_KIND_RESULT] = "result",
        [CONV_KIND_TEXT] = "text",           [CONV_KIND_TAR] = "tar archive"};
    const struct conv_format *format = conv_format_of_kind(kind);
    const char *name = format != NULL ? format->name : NULL;
    if (name == NULL && (unsigned)kind < sizeof OTHERS / sizeof OTHERS[0])
        name = OTHERS[kind];
    return name != NULL ? name : "unknown";
}

const char *conv_trace_title(enum conv_kind kind)
{
    const struct conv_format *format = conv_format_of_kind(kind);
    return format != NULL ? format->title : NULL;
}

enum conv_kind conv_from_kind(const char *name)
{
    for (size_t i = 0; i < OWN_LENGTH; i++)
        if (strcmp(conv_kind_name(OWN[i]), name) == 0)
            return OWN[i];
    for (size_t i = 0; i < FORMATS_LENGTH; i++)
        if (strcmp(FORMATS[i]->name, name) == 0)
            return FORMATS[i]->kind;
    return CONV_KIND_UNKNOWN;
}

char *conv_from_names(char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    for (size_t i = 0; i < OWN_LENGTH + FORMATS_LENGTH; i++)
        fp_text_more(ret_text, size, ", ", "%s",
                     i < OWN_LENGTH ? conv_kind_name(OWN[i]) : FORMATS[i - OWN_LENGTH]->name);
    return ret_text;
}

/* ---- what a head is of -------------------------------------------------------------------------- */

bool conv_head_line(struct conv_head *head, const char **ret_line, size_t *ret_length)
{
    const char *newline;
    size_t length;
    while (head->size > 0 && (*head->bytes == '\n' || *head->bytes == '\r')) {
        head->bytes++;
        head->size--;
    }
    newline = memchr(head->bytes, '\n', head->size);
    if (head->size == 0 || (newline == NULL && !head->whole))
        return false;
    length = newline != NULL ? (size_t)(newline - head->bytes) : head->size;
    *ret_line = head->bytes;
    *ret_length = length > 0 && head->bytes[length - 1] == '\r' ? length - 1 : length;
    head->bytes += length;
    head->size -= length;
    return true;
}

bool conv_format_fits(const struct conv_format *format, struct conv_head head)
{
    static const struct conv_options options = {0};
    void *state;
    bool matches = true;
    if (format->matches != NULL)
        return format->matches(head);
    state = calloc(1, format->state_bytes + 1);
    for (unsigned i = 0; i < format->head_lines && matches; i++) {
        struct conv_parsed parsed = {0};
        const char *line;
        size_t length;
        matches = state != NULL && conv_head_line(&head, &line, &length) &&
                  format->parse(state, &options, line, length, &parsed) == NULL;
    }
    if (state != NULL && format->release != NULL)
        format->release(state);
    free(state);
    return matches;
}

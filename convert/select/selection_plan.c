/* selection_plan.c - settle a selection, and say it. */
#include "convert/select/selection_plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool conv_plan_any(const struct conv_selection *select)
{
    return select->from.kind != CONV_WHEN_NONE || select->to.kind != CONV_WHEN_NONE || select->head != 0;
}

/* ---- times --------------------------------------------------------------------------------- */

static bool is_share(const struct conv_when *moment)
{
    return moment->kind == CONV_WHEN_SHARE;
}

/* A time, or none where it is the beginning (value 0). */
static void settle_when(struct conv_when *moment, uint64_t duration_ns)
{
    if (is_share(moment))
        *moment = (struct conv_when){
            .kind = CONV_WHEN_TIME,
            .value = (uint64_t)((unsigned __int128)duration_ns * moment->value / CONV_SHARE_WHOLE)};
}

bool conv_plan_wants_duration(const struct conv_selection *select)
{
    return (is_share(&select->from) && select->from.value != 0) ||
           (is_share(&select->to) && select->to.value < CONV_SHARE_WHOLE) ||
           select->from.kind == CONV_WHEN_CLOCK || select->to.kind == CONV_WHEN_CLOCK;
}

enum fp_status conv_plan_clock(const char *path, uint64_t start_unix_ns, uint64_t duration_ns,
                               struct conv_when *when, struct conv_error *error)
{
    const time_t start = (time_t)(start_unix_ns / 1000000000u);
    const uint64_t sought = when->value;
    struct tm day, then;
    time_t moment;
    if (when->kind != CONV_WHEN_CLOCK)
        return FP_OK;
    if (start_unix_ns == 0 || localtime_r(&start, &day) == NULL)
        return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0, "does not say at what time it began");
    for (int days = 0; days < 2; days++) {
        then = (struct tm){.tm_year = day.tm_year,
                           .tm_mon = day.tm_mon,
                           .tm_mday = day.tm_mday + days,
                           .tm_hour = (int)(sought / 3600),
                           .tm_min = (int)(sought / 60 % 60),
                           .tm_sec = (int)(sought % 60),
                           .tm_isdst = -1};
        moment = mktime(&then);
        if (moment > start)
            break;
    }
    *when = (struct conv_when){.kind = CONV_WHEN_TIME,
                               .value = (uint64_t)moment * 1000000000u - start_unix_ns};
    if (moment <= start || (duration_ns != 0 && when->value > duration_ns))
        return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0,
                         "was not recorded at %02d:%02d:%02d: it began at %02d:%02d:%02d", then.tm_hour,
                         then.tm_min, then.tm_sec, day.tm_hour, day.tm_min, day.tm_sec);
    return FP_OK;
}

static enum fp_status settle_times(const char *path, uint64_t duration_ns, struct conv_options *options,
                                   uint64_t start_unix_ns, struct conv_error *error)
{
    struct conv_when *from = &options->select.from, *to = &options->select.to;
    enum fp_status status = conv_plan_clock(path, start_unix_ns, duration_ns, from, error);
    if (status == FP_OK)
        status = conv_plan_clock(path, start_unix_ns, duration_ns, to, error);
    if (status != FP_OK)
        return status;
    if (to->kind == CONV_WHEN_SHARE && to->value >= CONV_SHARE_WHOLE)
        to->kind = CONV_WHEN_NONE;
    if (from->kind != CONV_WHEN_NONE && from->value == 0)
        from->kind = CONV_WHEN_NONE;
    if ((is_share(from) || is_share(to)) && duration_ns == 0)
        return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0,
                         "has no recorded time of which a share could be taken");
    settle_when(from, duration_ns);
    settle_when(to, duration_ns);
    if (to->kind == CONV_WHEN_TIME && to->value <= (from->kind == CONV_WHEN_TIME ? from->value : 0))
        return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0, "the section ends before it begins");
    return FP_OK;
}

/* ---- words --------------------------------------------------------------------------------- */

static void add(struct conv_selected *selected, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct conv_selected *selected, const char *format, ...)
{
    size_t used = strlen(selected->text);
    va_list list;
    if (used > 0)
        used += (size_t)snprintf(selected->text + used, sizeof selected->text - used, "; ");
    if (used >= sizeof selected->text)
        return;
    va_start(list, format);
    vsnprintf(selected->text + used, sizeof selected->text - used, format, list);
    va_end(list);
}

static const char *seconds(uint64_t ns, char ret_text[32])
{
    size_t length = (size_t)snprintf(ret_text, 32, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u,
                                     ns % 1000000000u);
    while (ret_text[length - 1] == '0')
        ret_text[--length] = '\0';
    if (ret_text[length - 1] == '.')
        ret_text[--length] = '\0';
    snprintf(ret_text + length, 32 - length, " s");
    return ret_text;
}

static void word(struct conv_selected *selected)
{
    char from[32], to[32];
    selected->text[0] = '\0';
    if (selected->from_ns > 0 && selected->to_ns > 0)
        add(selected, "%s to %s", seconds(selected->from_ns, from), seconds(selected->to_ns, to));
    else if (selected->from_ns > 0)
        add(selected, "from %s", seconds(selected->from_ns, from));
    else if (selected->to_ns > 0)
        add(selected, "up to %s", seconds(selected->to_ns, to));
    if (selected->head > 0)
        add(selected, "first %" PRIu64 " calls", selected->head);
}

enum fp_status conv_plan_settle(const char *path, uint64_t duration_ns, struct conv_options *options,
                                struct conv_survey *survey, struct conv_error *error)
{
    struct conv_selection *select = &options->select;
    struct conv_selected *selected = &survey->selected;
    enum fp_status status;
    status = settle_times(path, duration_ns, options, survey->start_unix_ns, error);
    if (status != FP_OK)
        return status;
    if (conv_plan_any(select)) { /* else there may be that of a workload */
        selected->from_ns = select->from.kind == CONV_WHEN_TIME ? select->from.value : 0;
        selected->to_ns = select->to.kind == CONV_WHEN_TIME ? select->to.value : 0;
        selected->head = select->head;
        word(selected);
    }
    if (survey->start_unix_ns != 0 && select->from.kind == CONV_WHEN_TIME)
        survey->start_unix_ns += select->from.value;
    return FP_OK;
}

/* ---- meta data ----------------------------------------------------------------------------- */

struct entry {
    const char *key;
    size_t offset;
};

#define ENTRY(member)                                                                                        \
    {                                                                                                        \
        "select_" #member, offsetof(struct conv_selected, member)                                            \
    }
static const struct entry NUMBERS[] = {
    ENTRY(from_ns),
    ENTRY(to_ns),
    ENTRY(head),
};

enum fp_status conv_plan_write(struct wl_writer *writer, const struct conv_selected *selected)
{
    enum fp_status status = FP_OK;
    char value[32];
    if (selected->text[0] == '\0')
        return FP_OK;
    status = wl_writer_note(writer, "selection", selected->text);
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0] && status == FP_OK; i++) {
        const uint64_t *number = (const void *)((const char *)selected + NUMBERS[i].offset);
        if (*number == 0)
            continue;
        snprintf(value, sizeof value, "%" PRIu64, *number);
        status = wl_writer_note(writer, NUMBERS[i].key, value);
    }
    return status;
}

void conv_plan_read(const struct wl_reader *reader, struct conv_selected *ret_selected)
{
    const char *text = wl_reader_meta(reader, "selection");
    *ret_selected = (struct conv_selected){0};
    if (text == NULL)
        return;
    snprintf(ret_selected->text, sizeof ret_selected->text, "%s", text);
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
        const char *value = wl_reader_meta(reader, NUMBERS[i].key);
        uint64_t *number = (void *)((char *)ret_selected + NUMBERS[i].offset);
        *number = value != NULL ? strtoull(value, NULL, 10) : 0;
    }
}

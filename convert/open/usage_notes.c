/* usage_notes.c - notes of a usage written and read. Keys: docs/format.md, "Meta". */
#include "convert/open/usage_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/base/process_usage.h"

#define PREFIX "process_"

/* Ages of figures that are final are 0, and not noted. */
static const struct {
    const char *key;
    size_t at;
} NUMBERS[] = {
    {"cpu_user_ns", offsetof(struct fp_usage, cpu_user_ns)},
    {"cpu_system_ns", offsetof(struct fp_usage, cpu_system_ns)},
    {"faults_minor", offsetof(struct fp_usage, faults_minor)},
    {"faults_major", offsetof(struct fp_usage, faults_major)},
    {"rss_peak_bytes", offsetof(struct fp_usage, rss_peak_bytes)},
    {"rss_anon_peak_bytes", offsetof(struct fp_usage, rss_anon_peak_bytes)},
    {"cpu_age_ns", offsetof(struct fp_usage, cpu_age_ns)},
    {"memory_age_ns", offsetof(struct fp_usage, memory_age_ns)},
};
#define NUMBERS_LENGTH (sizeof NUMBERS / sizeof NUMBERS[0])

static enum fp_status note_number(struct wl_writer *writer, const char *key, uint64_t number)
{
    char name[64], value[24];
    if (number > INT64_MAX || (number == 0 && strstr(key, "_age_") != NULL))
        return FP_OK;
    snprintf(name, sizeof name, PREFIX "%s", key);
    snprintf(value, sizeof value, "%" PRIu64, number);
    return wl_writer_note(writer, name, value);
}

static enum fp_status note_text(struct wl_writer *writer, const char *key, const char *value)
{
    return value[0] != '\0' ? wl_writer_note(writer, key, value) : FP_OK;
}

/* "exit 3", "signal 9", "exec", "running". */
static enum fp_status note_end(struct wl_writer *writer, const struct fp_usage *usage)
{
    char value[48];
    if (usage->ended == FP_ENDED_UNKNOWN)
        return FP_OK;
    if (usage->code == FP_USAGE_UNKNOWN)
        snprintf(value, sizeof value, "%s", fp_ended_name(usage->ended));
    else
        snprintf(value, sizeof value, "%s %" PRIu64, fp_ended_name(usage->ended), usage->code);
    return wl_writer_note(writer, PREFIX "ended", value);
}

enum fp_status conv_usage_note(struct wl_writer *writer, const struct fp_usage *usage)
{
    enum fp_status status = FP_OK;
    if (usage == NULL)
        return FP_OK;
    for (size_t i = 0; i < NUMBERS_LENGTH && status == FP_OK; i++)
        status = note_number(writer, NUMBERS[i].key,
                             *(const uint64_t *)(const void *)((const char *)usage + NUMBERS[i].at));
    if (status == FP_OK)
        status = note_number(writer, "ran_ns", fp_usage_ran_ns(usage));
    if (status == FP_OK)
        status = note_end(writer, usage);
    if (status == FP_OK)
        status = note_text(writer, "runs_on_name", usage->allocator);
    if (status == FP_OK)
        status = note_text(writer, "runs_on_version", usage->version);
    if (status == FP_OK && usage->runs_on != FP_RUNS_ON_UNKNOWN)
        status = note_text(writer, "runs_on_how", fp_runs_on_name(usage->runs_on));
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* A note that is no number tells nothing. Returns whether it is there. */
static bool take(const struct wl_reader *reader, const char *key, struct fp_usage *usage, const char *as)
{
    const char *value = wl_reader_meta(reader, key);
    return value != NULL && fp_usage_take(usage, as, value);
}

static bool take_end(const struct wl_reader *reader, struct fp_usage *usage)
{
    const char *value = wl_reader_meta(reader, PREFIX "ended");
    char word[16];
    if (value == NULL)
        return false;
    const size_t length = strcspn(value, " ");
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), value);
    (void)fp_usage_take(usage, "ended", word); /* another word leaves it unknown */
    if (value[length] == ' ')
        (void)fp_usage_take(usage, "code", value + length + 1); /* likewise */
    return true;
}

void conv_usage_read(const struct wl_reader *reader, struct conv_survey *survey)
{
    struct fp_usage usage;
    bool told = false;
    fp_usage_init(&usage);
    usage.cpu_age_ns = usage.memory_age_ns = 0;
    for (size_t i = 0; i < NUMBERS_LENGTH; i++) {
        char key[64];
        snprintf(key, sizeof key, PREFIX "%s", NUMBERS[i].key);
        told = take(reader, key, &usage, NUMBERS[i].key) || told;
    }
    if (take(reader, PREFIX "ran_ns", &usage, "end_ns"))
        usage.begin_ns = 0;
    told = take_end(reader, &usage) || told;
    told = take(reader, "runs_on_name", &usage, "allocator") || told;
    told = take(reader, "runs_on_version", &usage, "version") || told;
    told = take(reader, "runs_on_how", &usage, "how") || told;
    conv_usage_set(&survey->usage, told ? &usage : NULL);
}

/* profile_json.c - a profile's arrays as JSON. Of the nodes few have values of their own: these are listed once, and each
 * metric has a number for each of them. */
#include "sites/show/profile_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- written --------------------------------------------------------------------------------- */

/* Strings of a profile have no controls (site_profile.h): what JSON and a script element could take for their own is left. */
static void add_string(struct res_text *out, const char *text)
{
    if (text == NULL) {
        res_text_printf(out, "null");
        return;
    }
    res_text_add(out, "\"", 1);
    while (*text != '\0') {
        const size_t harmless = strcspn(text, "\"\\<>&");
        res_text_add(out, text, harmless);
        text += harmless;
        if (*text != '\0')
            res_text_printf(out, "\\u%04x", (unsigned)*text++);
    }
    res_text_add(out, "\"", 1);
}

static const char *comma(size_t at)
{
    return at > 0 ? "," : "";
}

/* -1: not known. */
static int64_t number_of(uint32_t string)
{
    return string != SITE_NONE ? (int64_t)string : -1;
}

static void add_tree(struct res_text *out, const struct site_profile *profile)
{
    res_text_printf(out, ",\"strings\":[");
    for (size_t i = 0; i < profile->string_count; i++) {
        res_text_printf(out, "%s", comma(i));
        add_string(out, profile->strings[i]);
    }
    res_text_printf(out, "],\"frames\":[");
    for (size_t i = 0; i < profile->frame_count; i++) {
        const struct site_frame *frame = &profile->frames[i];
        res_text_printf(out, "%s%" PRId64 ",%" PRId64 ",%" PRId64, comma(i), number_of(frame->function),
                        number_of(frame->module), number_of(frame->file));
    }
    res_text_printf(out, "],\"node_frames\":[");
    for (size_t i = 0; i < profile->node_count; i++)
        res_text_printf(out, "%s%" PRIu32, comma(i), profile->nodes[i].frame);
    res_text_printf(out, "],\"parents\":["); /* how far before the node, which is a small number; 0: none */
    for (size_t i = 0; i < profile->node_count; i++) {
        const uint32_t parent = profile->nodes[i].parent;
        res_text_printf(out, "%s%zu", comma(i), parent != SITE_TOP ? i - parent : 0);
    }
    res_text_printf(out, "]");
}

/* The metric that the ratio is to: the same before, else the baseline's. */
static uint32_t compared_with(const struct site_profile *profile, uint32_t number)
{
    const struct site_metric *metric = &profile->metrics[number];
    const char *allocator = metric->allocator != SITE_NONE ? profile->strings[metric->allocator] : NULL;
    if (metric->is_before)
        return SITE_NONE;
    const uint32_t before = site_profile_find(profile, metric->value, allocator, true);
    if (before != SITE_NONE || allocator == NULL || profile->baseline == NULL)
        return before;
    const uint32_t base = site_profile_find(profile, metric->value, profile->baseline, false);
    return base != number ? base : SITE_NONE;
}

/* Nodes with a value of their own, in order. */
static uint32_t *holders_of(const struct site_profile *profile, size_t *ret_count)
{
    uint32_t *holders = res_calloc(profile->node_count + 1, sizeof *holders);
    size_t count = 0;
    for (size_t node = 0; node < profile->node_count; node++) {
        bool is_holder = false;
        for (uint32_t i = 0; i < profile->metric_count; i++)
            is_holder |= site_profile_own(profile, node, i) != 0;
        if (is_holder)
            holders[count++] = (uint32_t)node;
    }
    *ret_count = count;
    return holders;
}

/* What the estimates of a metric rest on; anything but a result has them. */
static void add_bases(struct res_text *out, const struct site_basis *bases, const uint32_t *holders,
                      size_t count)
{
    res_text_printf(out, ",\"samples\":[");
    for (size_t i = 0; i < count; i++)
        res_text_printf(out, "%s%.0f", comma(i), bases[holders[i]].samples);
    res_text_printf(out, "],\"variances\":[");
    for (size_t i = 0; i < count; i++)
        res_text_printf(out, "%s%.6g", comma(i), bases[holders[i]].variance);
    res_text_printf(out, "]");
}

static void add_metrics(struct res_text *out, const struct site_profile *profile)
{
    size_t holder_count;
    uint32_t *holders = holders_of(profile, &holder_count);
    res_text_printf(out, ",\"holders\":["); /* each as what is to be added to the one before */
    for (size_t i = 0; i < holder_count; i++)
        res_text_printf(out, "%s%" PRIu32, comma(i), holders[i] - (i > 0 ? holders[i - 1] : 0));
    res_text_printf(out, "],\"metrics\":[");
    for (uint32_t number = 0; number < profile->metric_count; number++) {
        const struct site_metric *metric = &profile->metrics[number];
        const struct site_value_words *words = &site_value_words[metric->value];
        res_text_printf(
            out, "%s{\"value\":\"%s\",\"unit\":\"%s\",\"words\":\"%s\",\"before\":%s,\"base\":%" PRId64,
            comma(number), words->key, words->unit, words->words, metric->is_before ? "true" : "false",
            number_of(compared_with(profile, number)));
        res_text_printf(out, ",\"allocator\":");
        add_string(out, metric->allocator != SITE_NONE ? profile->strings[metric->allocator] : NULL);
        res_text_printf(out, ",\"own\":[");
        for (size_t i = 0; i < holder_count; i++)
            res_text_printf(out, "%s%" PRId64, comma(i), site_profile_own(profile, holders[i], number));
        res_text_printf(out, "]");
        if (metric->bases != NULL)
            add_bases(out, metric->bases, holders, holder_count);
        res_text_printf(out, "}");
    }
    res_text_printf(out, "]");
    free(holders);
}

void site_profile_put(struct res_text *out, const struct site_profile *profile, uint32_t shown)
{
    res_text_printf(
        out, "{\"schema\":\"mallab-flame/1\",\"mallab_version\":\"%s\",\"shown\":%" PRIu32 ",\"title\":",
        MALLAB_VERSION, shown);
    add_string(out, profile->title);
    res_text_printf(out, ",\"baseline\":");
    add_string(out, profile->baseline);
    res_text_printf(out, ",\"notes\":[");
    for (size_t i = 0; i < profile->note_count; i++)
        res_text_printf(out, "%s%" PRIu32, comma(i), profile->notes[i]);
    res_text_printf(out, "]");
    add_tree(out, profile);
    add_metrics(out, profile);
    res_text_printf(out, "}");
}

json_t *site_profile_json(const struct site_profile *profile)
{
    struct site_profile folded = site_profile_fold(profile, true);
    struct res_text text = {0};
    site_profile_put(&text, &folded, 0);
    json_t *json = json_loadb(text.text, text.length, 0, NULL);
    free(text.text);
    site_profile_release(&folded);
    return json;
}

/* ---- read ------------------------------------------------------------------------------------ */

#define READ_MAX (1u << 24) /* of frames, nodes and strings: no profile has so many */

/* Arrays of a profile as JSON, each of which is one. */
struct reading {
    const json_t *strings, *frames, *node_frames, *parents, *holders, *metrics;
    size_t frame_count, node_count;
    struct site_profile *profile;
};

/* NULL: there is none, or it is no string. */
static const char *string_at(const struct reading *reading, const json_t *number)
{
    const json_int_t at = json_is_integer(number) ? json_integer_value(number) : -1;
    return at >= 0 ? json_string_value(json_array_get(reading->strings, (size_t)at)) : NULL;
}

static bool read_nodes(struct reading *reading, uint32_t *places)
{
    for (size_t i = 0; i < reading->node_count; i++) {
        const json_t *frame = json_array_get(reading->node_frames, i),
                     *back = json_array_get(reading->parents, i);
        const json_int_t at = json_is_integer(frame) ? json_integer_value(frame) : -1;
        const json_int_t before = json_is_integer(back) ? json_integer_value(back) : -1;
        if (at < 0 || (size_t)at >= reading->frame_count || before < 0 || (size_t)before > i)
            return false;
        const struct site_frame_words words = {
            .function = string_at(reading, json_array_get(reading->frames, 3 * (size_t)at)),
            .module = string_at(reading, json_array_get(reading->frames, 3 * (size_t)at + 1)),
            .file = string_at(reading, json_array_get(reading->frames, 3 * (size_t)at + 2))};
        places[i] = site_profile_node(reading->profile, before > 0 ? places[i - (size_t)before] : SITE_TOP,
                                      site_profile_frame(reading->profile, &words));
    }
    return true;
}

static bool read_metric(struct reading *reading, const json_t *metric, const uint32_t *places)
{
    const char *key = json_string_value(json_object_get(metric, "value"));
    const json_t *own = json_object_get(metric, "own");
    unsigned value = 0;
    uint64_t node = 0;
    while (value < SITE_VALUES && (key == NULL || strcmp(site_value_words[value].key, key) != 0))
        value++;
    if (value == SITE_VALUES || json_array_size(own) != json_array_size(reading->holders))
        return false;
    const uint32_t number = site_profile_metric(reading->profile, (enum site_value)value,
                                                json_string_value(json_object_get(metric, "allocator")));
    for (size_t i = 0; i < json_array_size(own); i++) {
        const json_t *step = json_array_get(reading->holders, i);
        if (!json_is_integer(step) || json_integer_value(step) < 0 || json_integer_value(step) > READ_MAX)
            return false;
        node += (uint64_t)json_integer_value(step);
        if (node >= reading->node_count)
            return false;
        site_profile_add(reading->profile, places[node], number, json_number_value(json_array_get(own, i)));
    }
    return true;
}

static bool read_all(struct reading *reading)
{
    uint32_t *places = res_calloc(reading->node_count + 1, sizeof *places);
    bool good = read_nodes(reading, places);
    for (size_t i = 0; i < json_array_size(reading->metrics) && good; i++)
        good = read_metric(reading, json_array_get(reading->metrics, i), places);
    free(places);
    return good;
}

bool site_profile_read(const json_t *json, struct site_profile *ret_profile)
{
    struct reading reading = {.strings = json_object_get(json, "strings"),
                              .frames = json_object_get(json, "frames"),
                              .node_frames = json_object_get(json, "node_frames"),
                              .parents = json_object_get(json, "parents"),
                              .holders = json_object_get(json, "holders"),
                              .metrics = json_object_get(json, "metrics"),
                              .profile = ret_profile};
    const json_t *notes = json_object_get(json, "notes");
    *ret_profile = (struct site_profile){0};
    reading.frame_count = json_array_size(reading.frames) / 3;
    reading.node_count = json_array_size(reading.node_frames);
    if (reading.node_count > READ_MAX || json_array_size(reading.parents) != reading.node_count ||
        json_array_size(reading.metrics) > SITE_METRICS_MAX || !read_all(&reading)) {
        site_profile_release(ret_profile);
        return false;
    }
    site_profile_title(ret_profile, json_string_value(json_object_get(json, "title")));
    site_profile_baseline(ret_profile, json_string_value(json_object_get(json, "baseline")));
    for (size_t i = 0; i < json_array_size(notes); i++)
        if (string_at(&reading, json_array_get(notes, i)) != NULL)
            site_profile_note(ret_profile, string_at(&reading, json_array_get(notes, i)));
    return true;
}

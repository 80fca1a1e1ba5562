/* pprof.c - fields are written as they come; a message inside another is written apart first, as its length precedes it.
 * Numbers of functions and locations are those of frames, of strings those of the profile's, all from 1. */
#include "sites/show/site_profile.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "footprint/base/support.h"

#define GZIP_FRAME (15 + 16) /* windowBits: the largest window, and gzip's frame */

/* Field numbers, of profile.proto. */
enum profile_field {
    SAMPLE_TYPE = 1,
    SAMPLE,
    MAPPING,
    LOCATION,
    FUNCTION,
    STRING,
    COMMENT = 13,
    DEFAULT_TYPE
};
enum type_field { TYPE = 1, UNIT };
enum sample_field { LOCATIONS = 1, VALUES };
enum mapping_field { MAPPING_ID = 1, MAPPING_FILE = 5, HAS_FUNCTIONS = 7, HAS_FILES, HAS_LINES, HAS_INLINED };
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION = 1, LINE };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

static void put_varint(struct res_text *out, uint64_t value)
{
    char bytes[10];
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[length++] = (char)(value | 0x80);
    bytes[length++] = (char)value;
    res_text_add(out, bytes, length);
}

/* Zero is what a field has that is not there. */
static void put_number(struct res_text *out, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    put_varint(out, field << 3);
    put_varint(out, value);
}

static void put_bytes(struct res_text *out, unsigned field, const char *bytes, size_t length)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, length);
    res_text_add(out, bytes, length);
}

/* Writes the message, and empties it for the next. */
static void put_message(struct res_text *out, unsigned field, struct res_text *message)
{
    put_bytes(out, field, message->text != NULL ? message->text : "", message->length);
    message->length = 0;
}

/* The profile's strings come first, as number 1 and on; behind them those of this file. */
struct strings {
    size_t next;
    struct res_text extra; /* as fields of the profile */
};

static uint64_t string_of(uint32_t string)
{
    return string != SITE_NONE ? (uint64_t)string + 1 : 0;
}

static uint64_t extra_string(struct strings *strings, const char *text)
{
    put_bytes(&strings->extra, STRING, text, strlen(text));
    return strings->next++;
}

static int64_t value_of(const struct site_profile *profile, const uint32_t *pair, size_t node)
{
    return site_profile_own(profile, node, pair[0]) - site_profile_own(profile, node, pair[1]);
}

/* Pairs of what is written and what is taken off it. Returns how many. */
static size_t metrics_of(const struct site_profile *profile, uint32_t *ret_metrics)
{
    size_t count = 0;
    for (uint32_t i = 0; i < profile->metric_count; i++) {
        const struct site_metric *metric = &profile->metrics[i];
        if (metric->is_before)
            continue;
        ret_metrics[2 * count] = i;
        ret_metrics[2 * count++ + 1] = site_profile_find(profile, metric->value, true);
    }
    return count;
}

static void put_types(struct res_text *out, const struct site_profile *profile, const uint32_t *metrics,
                      size_t count, uint32_t shown, struct strings *strings)
{
    struct res_text message = {0};
    for (size_t i = 0; i < count; i++) {
        const struct site_metric *metric = &profile->metrics[metrics[2 * i]];
        const struct site_value_words *words = &site_value_words[metric->value];
        const uint64_t type = extra_string(strings, words->key);
        put_number(&message, TYPE, type);
        put_number(&message, UNIT, extra_string(strings, words->unit));
        put_message(out, SAMPLE_TYPE, &message);
        if (metrics[2 * i] == shown)
            put_number(out, DEFAULT_TYPE, type);
    }
    free(message.text);
}

/* Locations stand from the end of a stack to its top, as the nodes lead. */
static void put_samples(struct res_text *out, const struct site_profile *profile, const uint32_t *metrics,
                        size_t count)
{
    struct res_text message = {0}, packed = {0};
    for (size_t node = 0; node < profile->node_count; node++) {
        bool is_empty = true;
        for (size_t i = 0; i < count; i++)
            is_empty &= value_of(profile, &metrics[2 * i], node) == 0;
        if (is_empty)
            continue;
        for (uint32_t at = (uint32_t)node; at != SITE_TOP; at = profile->nodes[at].parent)
            put_varint(&packed, (uint64_t)profile->nodes[at].frame + 1);
        put_message(&message, LOCATIONS, &packed);
        for (size_t i = 0; i < count; i++)
            put_varint(&packed, (uint64_t)value_of(profile, &metrics[2 * i], node));
        put_message(&message, VALUES, &packed);
        put_message(out, SAMPLE, &message);
    }
    free(message.text);
    free(packed.text);
}

/* Viewers look for symbols of a module's own unless they are told that there is nothing to find.
 * mappings  of each string: the mapping's number, 0 for none. */
static void put_mapping(struct res_text *out, struct res_text *message, uint32_t module, uint32_t *mappings,
                        uint32_t *count)
{
    if (module == SITE_NONE || mappings[module] != 0)
        return;
    mappings[module] = ++*count;
    put_number(message, MAPPING_ID, mappings[module]);
    put_number(message, MAPPING_FILE, string_of(module));
    for (unsigned field = HAS_FUNCTIONS; field <= HAS_INLINED; field++)
        put_number(message, field, true);
    put_message(out, MAPPING, message);
}

static void put_frames(struct res_text *out, const struct site_profile *profile)
{
    uint32_t *mappings = res_calloc(profile->string_count + 1, sizeof *mappings), mapping_count = 0;
    struct res_text message = {0}, line = {0};
    for (size_t i = 0; i < profile->frame_count; i++) {
        const struct site_frame *frame = &profile->frames[i];
        put_mapping(out, &message, frame->module, mappings, &mapping_count);
        put_number(&message, LOCATION_ID, i + 1);
        put_number(&message, LOCATION_MAPPING, frame->module != SITE_NONE ? mappings[frame->module] : 0);
        put_number(&line, LINE_FUNCTION, i + 1);
        put_number(&line, LINE, frame->line);
        put_message(&message, LOCATION_LINE, &line);
        put_message(out, LOCATION, &message);
        put_number(&message, FUNCTION_ID, i + 1);
        put_number(&message, FUNCTION_NAME, string_of(frame->function));
        put_number(&message, FUNCTION_SYSTEM_NAME, string_of(frame->function));
        put_number(&message, FUNCTION_FILE, string_of(frame->file));
        put_message(out, FUNCTION, &message);
    }
    free(message.text);
    free(line.text);
    free(mappings);
}

/* deflateBound is enough for one call, which takes less than 4 GiB. */
static char *packed_of(const struct res_text *plain, size_t *ret_length)
{
    z_stream stream = {0};
    char *packed = NULL;
    if (plain->length <= UINT32_MAX / 2 &&
        deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_FRAME, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
        const size_t room = deflateBound(&stream, plain->length);
        packed = res_calloc(room, 1);
        stream.next_in = (Bytef *)plain->text;
        stream.next_out = (Bytef *)packed;
        stream.avail_in = (uInt)plain->length;
        stream.avail_out = (uInt)room;
        (void)deflate(&stream, Z_FINISH); /* there is room for all */
        *ret_length = stream.total_out;
        (void)deflateEnd(&stream); /* only frees */
    }
    return packed;
}

char *site_pprof(const struct site_profile *profile, uint32_t shown, size_t *ret_length)
{
    struct site_profile folded = site_profile_fold(profile, false);
    struct strings strings = {.next = folded.string_count + 1};
    struct res_text out = {0};
    uint32_t *metrics = res_calloc(2 * folded.metric_count + 1, sizeof *metrics);
    const size_t count = metrics_of(&folded, metrics);
    put_types(&out, &folded, metrics, count, shown, &strings);
    put_samples(&out, &folded, metrics, count);
    put_frames(&out, &folded);
    put_bytes(&out, STRING, "", 0);
    for (size_t i = 0; i < folded.string_count; i++)
        put_bytes(&out, STRING, folded.strings[i], strlen(folded.strings[i]));
    for (size_t i = 0; i < folded.note_count; i++)
        put_number(&out, COMMENT, string_of(folded.notes[i]));
    if (strings.extra.length > 0)
        res_text_add(&out, strings.extra.text, strings.extra.length);
    char *packed = packed_of(&out, ret_length);
    free(out.text);
    free(strings.extra.text);
    free(metrics);
    site_profile_release(&folded);
    return packed;
}

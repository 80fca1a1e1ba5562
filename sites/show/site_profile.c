/* site_profile.c - strings, frames and nodes are numbered. */
#include "sites/show/site_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "sites/stacks/stacks.h"

#define WHOLE_MAX 0x1p53 /* no sum of bytes is so large */

const struct site_value_words site_value_words[SITE_VALUES] = {
    [SITE_LIVE] = {"live", "bytes", "live at the peak"},
    [SITE_BYTES] = {"bytes", "bytes", "allocated"},
    [SITE_COUNT] = {"count", "count", "allocations"},
};

/* ---- numbering ------------------------------------------------------------------------------- */

/* Room for one more of what begins with zeroes. */
#define ROOM(items, room, wanted)                                                                            \
    do {                                                                                                     \
        if (!FP_GROW(items, room, wanted))                                                                   \
            res_no_memory();                                                                                 \
    } while (0)

/* The bytes of a thing's text, or of its struct, which has no holes. */
static const void *bytes_of(const struct site_profile *profile, enum site_kind kind, uint32_t number,
                            size_t *ret_length)
{
    if (kind == SITE_STRING) {
        *ret_length = strlen(profile->strings[number]);
        return profile->strings[number];
    }
    *ret_length = kind == SITE_FRAME ? sizeof profile->frames[0] : sizeof profile->nodes[0];
    return kind == SITE_FRAME ? (const void *)&profile->frames[number] : &profile->nodes[number];
}

/* The number of what stands behind the last that is numbered, or of the one that equals it. */
static uint32_t numbered(struct site_profile *profile, enum site_kind kind, size_t count)
{
    struct fp_index *index = &profile->indexes[kind];
    size_t length, found_length, step = 0;
    const void *wanted = bytes_of(profile, kind, (uint32_t)count, &length), *found;
    const uint64_t hash = fp_index_hash(wanted, length, 0);
    for (uint32_t number; (number = fp_index_next(index, hash, &step)) != FP_INDEX_END;) {
        found = bytes_of(profile, kind, number, &found_length);
        if (found_length == length && memcmp(found, wanted, length) == 0)
            return number;
    }
    if (!fp_index_add(index, hash, (uint32_t)count))
        res_no_memory();
    return (uint32_t)count;
}

static uint32_t string_of(struct site_profile *profile, const char *text)
{
    if (text == NULL)
        return SITE_NONE;
    char plain[SITE_NAME_MAX + 1];
    fp_text_plain(text, plain, sizeof plain);
    ROOM(profile->strings, profile->string_room, profile->string_count + 1);
    profile->strings[profile->string_count] = plain;
    const uint32_t number = numbered(profile, SITE_STRING, profile->string_count);
    if (number == profile->string_count)
        profile->strings[profile->string_count++] = res_strdup(plain);
    return number;
}

uint32_t site_profile_frame(struct site_profile *profile, const struct site_frame_words *words)
{
    const struct site_frame frame = {string_of(profile, words->function), string_of(profile, words->module),
                                     string_of(profile, words->file), words->line};
    ROOM(profile->frames, profile->frame_room, profile->frame_count + 1);
    profile->frames[profile->frame_count] = frame;
    const uint32_t number = numbered(profile, SITE_FRAME, profile->frame_count);
    profile->frame_count += number == profile->frame_count;
    return number;
}

uint32_t site_profile_node(struct site_profile *profile, uint32_t parent, uint32_t frame)
{
    ROOM(profile->nodes, profile->node_room, profile->node_count + 1);
    for (size_t i = 0; i < profile->metric_count; i++) {
        struct site_metric *metric = &profile->metrics[i];
        ROOM(metric->values, metric->value_room, profile->node_room);
        if (metric->bases != NULL)
            ROOM(metric->bases, metric->basis_room, profile->node_room);
    }
    profile->nodes[profile->node_count] = (struct site_node){parent, frame};
    const uint32_t number = numbered(profile, SITE_NODE, profile->node_count);
    profile->node_count += number == profile->node_count;
    return number;
}

/* ---- metrics --------------------------------------------------------------------------------- */

uint32_t site_profile_find(const struct site_profile *profile, enum site_value value, bool is_before)
{
    for (uint32_t i = 0; i < profile->metric_count; i++)
        if (profile->metrics[i].value == value && profile->metrics[i].is_before == is_before)
            return i;
    return SITE_NONE;
}

static uint32_t metric_of(struct site_profile *profile, enum site_value value, bool is_before)
{
    const uint32_t found = site_profile_find(profile, value, is_before);
    if (found != SITE_NONE)
        return found;
    profile->metrics = res_realloc(profile->metrics, profile->metric_count + 1, sizeof *profile->metrics);
    struct site_metric *metric = &profile->metrics[profile->metric_count];
    *metric = (struct site_metric){.value = value, .is_before = is_before};
    ROOM(metric->values, metric->value_room, profile->node_room + 1);
    return (uint32_t)profile->metric_count++;
}

uint32_t site_profile_metric(struct site_profile *profile, enum site_value value)
{
    return metric_of(profile, value, false);
}

void site_profile_add(struct site_profile *profile, uint32_t node, uint32_t metric, double amount)
{
    if (isfinite(amount))
        profile->metrics[metric].values[node] += amount;
}

void site_profile_rest(struct site_profile *profile, uint32_t node, uint32_t metric, struct site_basis basis)
{
    struct site_metric *to = &profile->metrics[metric];
    ROOM(to->bases, to->basis_room, profile->node_room + 1);
    to->bases[node].samples += basis.samples;
    to->bases[node].variance += basis.variance;
}

int64_t site_profile_own(const struct site_profile *profile, size_t node, uint32_t metric)
{
    const double value = metric != SITE_NONE ? profile->metrics[metric].values[node] : 0;
    return fabs(value) < WHOLE_MAX ? llround(value) : 0;
}

/* ---- a whole profile ------------------------------------------------------------------------- */

void site_profile_title(struct site_profile *profile, const char *title)
{
    free(profile->title);
    profile->title = title != NULL ? res_text_plain(title) : NULL;
}

void site_profile_note(struct site_profile *profile, const char *words)
{
    profile->notes = res_realloc(profile->notes, profile->note_count + 1, sizeof *profile->notes);
    profile->notes[profile->note_count++] = string_of(profile, words);
}

void site_profile_release(struct site_profile *profile)
{
    for (size_t i = 0; i < profile->string_count; i++)
        free(profile->strings[i]);
    for (size_t i = 0; i < profile->metric_count; i++) {
        free(profile->metrics[i].values);
        free(profile->metrics[i].bases);
    }
    for (size_t i = 0; i < SITE_KINDS; i++)
        fp_index_release(&profile->indexes[i]);
    void *const parts[] = {profile->strings, profile->frames, profile->nodes,
                           profile->metrics, profile->notes,  profile->title};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        free(parts[i]);
    *profile = (struct site_profile){0};
}

static const char *text_of(const struct site_profile *profile, uint32_t string)
{
    return string != SITE_NONE ? profile->strings[string] : NULL;
}

/* The frame of another profile as one of this; its line only where it is wanted. */
static uint32_t frame_taken(struct site_profile *profile, const struct site_profile *other, uint32_t number,
                            bool with_line)
{
    const struct site_frame *frame = &other->frames[number];
    const struct site_frame_words words = {text_of(other, frame->function), text_of(other, frame->module),
                                           text_of(other, frame->file), with_line ? frame->line : 0};
    return site_profile_frame(profile, &words);
}

/* place: of each node of the other profile, its node of this. */
static void add_values(struct site_profile *profile, const struct site_profile *other, const uint32_t *place,
                       bool is_before)
{
    for (size_t i = 0; i < other->metric_count; i++) {
        const struct site_metric *metric = &other->metrics[i];
        const uint32_t to = metric_of(profile, metric->value, is_before || metric->is_before);
        for (size_t node = 0; node < other->node_count; node++) {
            site_profile_add(profile, place[node], to, metric->values[node]);
            if (metric->bases != NULL)
                site_profile_rest(profile, place[node], to, metric->bases[node]);
        }
    }
}

void site_profile_merge(struct site_profile *profile, const struct site_profile *other)
{
    uint32_t *place = res_calloc(other->node_count + 1, sizeof *place);
    for (size_t i = 0; i < other->node_count; i++) {
        const struct site_node *node = &other->nodes[i];
        const uint32_t parent = node->parent != SITE_TOP ? place[node->parent] : SITE_TOP;
        place[i] = site_profile_node(profile, parent, frame_taken(profile, other, node->frame, true));
    }
    add_values(profile, other, place, true);
    free(place);
}

/* ---- recursion ------------------------------------------------------------------------------- */

static bool is_same_function(const struct site_profile *profile, uint32_t one, uint32_t other)
{
    const struct site_frame *a = &profile->frames[one], *b = &profile->frames[other];
    return a->function == b->function && a->module == b->module;
}

/* The stack that ends with `frame` below `parent`: how many of its last frames repeat those before them, and the node that
 * has them already. SITE_NONE: none do. */
static uint32_t repeated_of(const struct site_profile *profile, uint32_t parent, uint32_t frame)
{
    uint32_t path[2 * SITE_PERIOD_MAX] = {SITE_NONE}, frames[2 * SITE_PERIOD_MAX] = {frame};
    size_t length = 1;
    for (uint32_t at = parent; at != SITE_TOP && length < 2 * SITE_PERIOD_MAX;
         at = profile->nodes[at].parent) {
        path[length] = at;
        frames[length++] = profile->nodes[at].frame;
    }
    for (size_t period = 1; 2 * period <= length; period++) {
        size_t same = 0;
        while (same < period && is_same_function(profile, frames[same], frames[same + period]))
            same++;
        if (same == period)
            return path[period];
    }
    return SITE_NONE;
}

struct site_profile site_profile_fold(const struct site_profile *profile, bool is_by_function)
{
    struct site_profile folded = {0};
    uint32_t *place = res_calloc(profile->node_count + 1, sizeof *place);
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct site_node *node = &profile->nodes[i];
        const uint32_t parent = node->parent != SITE_TOP ? place[node->parent] : SITE_TOP;
        const uint32_t frame = frame_taken(&folded, profile, node->frame, !is_by_function);
        const uint32_t repeated = repeated_of(&folded, parent, frame);
        place[i] = repeated != SITE_NONE ? repeated : site_profile_node(&folded, parent, frame);
    }
    site_profile_title(&folded, profile->title);
    for (size_t i = 0; i < profile->note_count; i++)
        site_profile_note(&folded, profile->strings[profile->notes[i]]);
    add_values(&folded, profile, place, false);
    free(place);
    return folded;
}

/* ---- folded: each stack is written from its nodes, which know their parents only: collected upwards, written downwards ---- */

/* A name with a semicolon would be two frames. */
static void add_name(struct res_text *text, const char *name)
{
    while (*name != '\0') {
        const size_t harmless = strcspn(name, ";");
        res_text_add(text, name, harmless);
        name += harmless;
        if (*name != '\0')
            res_text_add(text, ":", 1);
        name += *name != '\0';
    }
}

static void add_stack(struct res_text *text, const struct site_profile *profile, uint32_t node)
{
    struct {
        uint32_t *nodes;
        size_t count, room;
    } path = {0};
    for (uint32_t at = node; at != SITE_TOP; at = profile->nodes[at].parent) {
        ROOM(path.nodes, path.room, path.count + 1);
        path.nodes[path.count++] = at;
    }
    while (path.count-- > 0) {
        const struct site_frame *frame = &profile->frames[profile->nodes[path.nodes[path.count]].frame];
        add_name(text, frame->function != SITE_NONE ? profile->strings[frame->function] : "[unknown]");
        res_text_add(text, ";", path.count > 0);
    }
    free(path.nodes);
}

char *site_folded(const struct site_profile *profile, uint32_t metric)
{
    const struct site_metric *of = &profile->metrics[metric];
    struct site_profile folded = site_profile_fold(profile, true);
    const uint32_t before = of->is_before ? SITE_NONE : site_profile_find(&folded, of->value, true);
    struct res_text text = {0};
    for (size_t i = 0; i < folded.node_count; i++) {
        const int64_t value = site_profile_own(&folded, i, metric);
        const int64_t value_before = site_profile_own(&folded, i, before);
        if (value == 0 && value_before == 0)
            continue;
        add_stack(&text, &folded, (uint32_t)i);
        if (before != SITE_NONE)
            res_text_printf(&text, " %" PRId64, value_before);
        res_text_printf(&text, " %" PRId64 "\n", value);
    }
    site_profile_release(&folded);
    return text.text != NULL ? text.text : res_strdup("");
}

/* ---- of stacks: they are told from the allocation up, a profile is built from the top ---------------- */

static uint32_t node_of(struct site_profile *profile, uint32_t parent, const struct site_frame_words *words)
{
    return site_profile_node(profile, parent, site_profile_frame(profile, words));
}

/* The node of a site's stack. frames: room for SITE_FRAMES_MAX. */
static uint32_t stack_of(struct site_profile *profile, const struct site_stacks *stacks, uint32_t site,
                         struct site_stack_frame *frames)
{
    enum fp_cut cut;
    size_t count = site_stack_frames(stacks, site, frames, &cut);
    const char *why = site_cut_words(cut);
    uint32_t node = SITE_TOP;
    if (why != NULL || count == 0) {
        char *function = res_printf("[%s]", why != NULL ? why : "no call stack");
        node = node_of(profile, node, &(struct site_frame_words){.function = function});
        free(function);
    }
    while (count-- > 0) {
        const struct names_frame *words = frames[count].words;
        node = node_of(
            profile, node,
            &(struct site_frame_words){words->function, frames[count].module, words->file, words->line});
    }
    return node;
}

void site_profile_take(struct site_profile *profile, struct site_stacks *stacks, bool with_lines)
{
    const struct conv_sites *sites = stacks->sites;
    const uint32_t live = site_profile_metric(profile, SITE_LIVE);
    const uint32_t bytes = site_profile_metric(profile, SITE_BYTES);
    const uint32_t count = site_profile_metric(profile, SITE_COUNT);
    struct site_stack_frame *frames = res_calloc(SITE_FRAMES_MAX, sizeof *frames);
    for (size_t i = 0; i < sites->count && with_lines; i++)
        site_stacks_lines(stacks, sites->counts[i].site);
    if (with_lines)
        site_stacks_settle(stacks);
    for (size_t i = 0; i < sites->count; i++) {
        const struct conv_site_counts *counts = &sites->counts[i];
        const uint32_t node = stack_of(profile, stacks, counts->site, frames);
        site_profile_add(profile, node, live, (double)counts->peak_bytes);
        site_profile_add(profile, node, bytes, (double)counts->bytes);
        site_profile_add(profile, node, count, (double)counts->allocations);
        if (sites->survey.sample_bytes == 0)
            continue;
        site_profile_rest(profile, node, live,
                          (struct site_basis){counts->peak.samples, counts->peak.bytes_variance});
        site_profile_rest(profile, node, bytes,
                          (struct site_basis){counts->made.samples, counts->made.bytes_variance});
        site_profile_rest(profile, node, count,
                          (struct site_basis){counts->made.samples, counts->made.objects_variance});
    }
    free(frames);
}

/* flame_page.c - a profile as one HTML page that needs nothing else: stacks drawn by their values, with zoom, search, and a
 * switch of value; colours tell the ratio to what a value is compared with.
 *
 *   strings      of the profile
 *   frames       three numbers each: function, module, file; -1: not known
 *   node_frames  by node: its frame
 *   parents      by node: how far before it its parent stands; 0: it has none
 *   holders      nodes with a value of their own, each as what is to be added to the one before
 *   metrics      `own` has a number for each of them; of estimates `samples` and `variances`, too
 *
 * The page is put together when mallab is built, from flame.html, flame.js, flame.css and, of the report's page,
 * results/report/html/elements.js and report.css. Names are untrusted: they reach it as JSON in a script element of type
 * application/json, in which no byte can end the element, and from there only as text. A content security policy allows the
 * page its own script, by its hash, and no request. */
#include "sites/show/site_profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

/* Made by embed.py. */
extern const char site_flame_html[];
extern const size_t site_flame_html_length, site_flame_html_gaps[];

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

/* Writes the basis of a metric's estimates. */
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
        const uint32_t base = metric->is_before ? SITE_NONE : site_profile_find(profile, metric->value, true);
        res_text_printf(
            out, "%s{\"value\":\"%s\",\"unit\":\"%s\",\"words\":\"%s\",\"before\":%s,\"base\":%" PRId64,
            comma(number), words->key, words->unit, words->words, metric->is_before ? "true" : "false",
            number_of(base));
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

static void add_profile(struct res_text *out, const struct site_profile *profile, uint32_t shown)
{
    res_text_printf(
        out, "{\"schema\":\"mallab-flame/1\",\"mallab_version\":\"%s\",\"shown\":%" PRIu32 ",\"title\":",
        MALLAB_VERSION, shown);
    add_string(out, profile->title);
    res_text_printf(out, ",\"notes\":[");
    for (size_t i = 0; i < profile->note_count; i++)
        res_text_printf(out, "%s%" PRIu32, comma(i), profile->notes[i]);
    res_text_printf(out, "]");
    add_tree(out, profile);
    add_metrics(out, profile);
    res_text_printf(out, "}");
}

char *site_flame_page(const struct site_profile *profile, uint32_t shown)
{
    struct site_profile folded = site_profile_fold(profile, true);
    struct res_text page = {0};
    const size_t gap = site_flame_html_gaps[0];
    res_text_add(&page, site_flame_html, gap);
    add_profile(&page, &folded, shown);
    res_text_add(&page, site_flame_html + gap, site_flame_html_length - gap);
    site_profile_release(&folded);
    return page.text;
}

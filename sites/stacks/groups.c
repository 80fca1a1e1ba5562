/* groups.c - a key for each site, sums over equal keys, and groups in words. */
#include "sites/stacks/stacks.h"

#include <stdlib.h>
#include <string.h>

#define CALLERS_SHOWN 3 /* functions on one line */

static const char *const CUT_WORDS[FP_CUT_COUNT] = {
    [FP_CUT_LOST] = "its stack was lost while recording",
    [FP_CUT_FULL] = "the table of stacks was full",
    [FP_CUT_STACK] = "on a stack whose bounds are not known: a coroutine's or a signal handler's",
    [FP_CUT_CFI] = "called by code without unwind tables: compiled at run time, or assembly",
    [FP_CUT_RULE] = "called by code whose unwind tables are not followed",
    [FP_CUT_DEEP] = "deeper than is walked",
    [FP_CUT_BROKEN] = "a frame that leads out of the stack",
    [FP_CUT_MEMORY] = "no memory for it while recording",
    [FP_CUT_INHERITED] = "inherited from the parent",
    [FP_CUT_UNSAMPLED] = "not in the sample of stacks",
};

const char *site_cut_words(enum fp_cut cut)
{
    return cut < FP_CUT_COUNT ? CUT_WORDS[cut] : NULL;
}

/* ---- words ----------------------------------------------------------------------------------- */

static void put_frame(const struct site_stack_frame *frame, bool with_line, struct res_text *text)
{
    char name[SITE_SHORT_NAME];
    site_short_name(frame->words->function, name, sizeof name);
    res_text_printf(text, "%s", name);
    if (with_line && frame->words->file != NULL)
        res_text_printf(text, " %s:%u", basename(frame->words->file), frame->words->line);
}

/* A caller of main or of a thread's first function tells nothing. */
static bool is_above_all(const char *function)
{
    static const char *const names[] = {
        "main", "start_thread", "clone", "clone3", "_start", "__libc_start_main", "__libc_start_call_main"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(function, names[i]) == 0)
            return true;
    return false;
}

/* The frame that allocates: of its node the innermost that is no wrapper. */
static size_t first_frame(const struct site_stacks *stacks, const struct site_stack_frame *frames,
                          size_t count, uint32_t site)
{
    const uint32_t node = site_stack_caller(stacks, site);
    size_t at = 0;
    while (at < count && frames[at].node != node)
        at++;
    while (at + 1 < count && site_wrapper_by_name(frames[at].words->function) && frames[at + 1].node == node)
        at++;
    return at;
}

/* Frames from the one that allocates up, as many as most; a function that calls itself is told once, and wrappers are not. */
static void put_callers(const struct site_stacks *stacks, uint32_t site, size_t most, struct res_text *text)
{
    struct site_stack_frame *frames = res_calloc(SITE_FRAMES_MAX, sizeof *frames);
    enum fp_cut cut;
    const size_t count = site_stack_frames(stacks, site, frames, &cut);
    size_t shown = 0;
    char name[SITE_SHORT_NAME], last[SITE_SHORT_NAME] = "";
    for (size_t at = first_frame(stacks, frames, count, site); at < count && shown < most; at++) {
        site_short_name(frames[at].words->function, name, sizeof name);
        if (strcmp(name, last) == 0 ||
            (shown > 0 && (stacks->wrappers[frames[at].node] || site_wrapper_by_name(name))))
            continue;
        if (shown > 0 && is_above_all(last))
            break;
        res_text_printf(text, "%s", shown > 0 ? " < " : "");
        put_frame(&frames[at], shown == 0, text);
        memcpy(last, name, sizeof last);
        shown++;
    }
    if (count == 0)
        res_text_printf(text, "[%s]", cut != FP_CUT_NONE ? site_cut_words(cut) : "no call stack");
    free(frames);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Groups by site have their words in common, but for the callers further up. */
static char *key_of(const struct site_stacks *stacks, uint32_t site, enum site_by by)
{
    const uint32_t node = site_stack_caller(stacks, site);
    struct res_text text = {0};
    if (by == SITE_BY_STACK)
        return res_printf("%u", site);
    if (node == 0)
        return res_printf("? %u", fp_site_cut(&stacks->sites->stacks, site));
    if (by == SITE_BY_MODULE)
        return res_strdup(site_node_module(stacks, node));
    if (by == SITE_BY_FUNCTION)
        return res_printf("%s %s", site_node_module(stacks, node), site_node_function(stacks, node));
    put_callers(stacks, site, 2, &text);
    return text.text;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int by_key(const void *left, const void *right)
{
    const struct site_group *a = left, *b = right;
    return strcmp(a->key, b->key);
}

static uint64_t least_of(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

static uint64_t most_of(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

static void add_basis(struct conv_site_basis *sum, const struct conv_site_basis *more)
{
    sum->samples += more->samples;
    sum->objects_variance += more->objects_variance;
    sum->bytes_variance += more->bytes_variance;
}

static void add_counts(struct conv_site_counts *sum, const struct conv_site_counts *more)
{
    add_basis(&sum->made, &more->made);
    add_basis(&sum->live, &more->live);
    add_basis(&sum->peak, &more->peak);
    sum->allocations += more->allocations;
    sum->bytes += more->bytes;
    sum->resized += more->resized;
    sum->freed += more->freed;
    sum->freed_soon += more->freed_soon;
    sum->freed_elsewhere += more->freed_elsewhere;
    sum->live_objects += more->live_objects;
    sum->live_bytes += more->live_bytes;
    sum->peak_objects += more->peak_objects;
    sum->peak_bytes += more->peak_bytes;
    sum->least_size = least_of(sum->least_size, more->least_size);
    sum->most_size = most_of(sum->most_size, more->most_size);
    sum->oldest_ns = most_of(sum->oldest_ns, more->oldest_ns);
    sum->overdue_bytes += more->overdue_bytes;
    for (size_t i = 0; i < CONV_SITE_QUARTERS; i++)
        sum->quarter_bytes[i] += more->quarter_bytes[i];
    for (size_t i = 0; i < CONV_LIFE_CLASSES; i++)
        sum->lives[i] += least_of(more->lives[i], UINT32_MAX - sum->lives[i]);
}

struct conv_site_counts site_totals(const struct conv_sites *sites)
{
    struct conv_site_counts all = {.least_size = UINT64_MAX};
    for (size_t i = 0; i < sites->count; i++)
        add_counts(&all, &sites->counts[i]);
    return all;
}

static void merge(struct site_group *group, struct site_group *more)
{
    add_counts(&group->counts, &more->counts);
    if (more->lead_bytes > group->lead_bytes) {
        group->lead_bytes = more->lead_bytes;
        group->counts.site = more->counts.site;
    }
    group->stacks += more->stacks;
    free(more->key);
}

size_t site_groups_make(const struct site_stacks *stacks, enum site_by by, const unsigned char *parts,
                        struct site_group **ret_groups)
{
    const struct conv_sites *sites = stacks->sites;
    struct site_group *groups = res_calloc(sites->count + 1, sizeof *groups);
    size_t all = 0, count = 0;
    for (size_t i = 0; i < sites->count; i++)
        if (parts == NULL || parts[i] == SITE_SHOWN)
            groups[all++] = (struct site_group){.counts = sites->counts[i],
                                                .lead_bytes = sites->counts[i].bytes,
                                                .stacks = 1,
                                                .key = key_of(stacks, sites->counts[i].site, by)};
    qsort(groups, all, sizeof *groups, by_key);
    for (size_t i = 0; i < all; i++) {
        if (count > 0 && by_key(&groups[count - 1], &groups[i]) == 0)
            merge(&groups[count - 1], &groups[i]);
        else
            groups[count++] = groups[i];
    }
    *ret_groups = groups;
    return count;
}

void site_groups_release(struct site_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(groups[i].key);
    free(groups);
}

char *site_group_words(const struct site_stacks *stacks, const struct site_group *group, enum site_by by)
{
    const uint32_t node = site_stack_caller(stacks, group->counts.site);
    struct res_text text = {0};
    if (node != 0 && by == SITE_BY_MODULE)
        return res_strdup(site_node_module(stacks, node));
    if (node != 0 && by == SITE_BY_FUNCTION)
        return res_strdup(site_node_function(stacks, node));
    put_callers(stacks, group->counts.site, CALLERS_SHOWN, &text);
    return text.text;
}

void site_stack_words(const struct site_stacks *stacks, uint32_t site, unsigned blanks, size_t most,
                      struct res_text *text)
{
    struct site_stack_frame *frames = res_calloc(SITE_FRAMES_MAX, sizeof *frames);
    enum fp_cut cut;
    const size_t count = site_stack_frames(stacks, site, frames, &cut);
    for (size_t i = 0; i < count && i < most; i++) {
        res_text_printf(text, "%*s", (int)blanks, "");
        put_frame(&frames[i], true, text);
        if (!site_is_unnamed(frames[i].words->function))
            res_text_printf(text, "  (%s)", frames[i].module);
        res_text_printf(text, "\n");
    }
    if (count > most)
        res_text_printf(text, "%*s... %zu more\n", (int)blanks, "", count - most);
    else if (cut != FP_CUT_NONE)
        res_text_printf(text, "%*s... %s\n", (int)blanks, "", site_cut_words(cut));
    free(frames);
}

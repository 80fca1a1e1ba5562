/* stacks_profile.c - stacks are told from the allocation up, a profile is built from the top. */
#include "sites/show/site_profile.h"

#include <stdlib.h>

#include "footprint/base/support.h"
#include "sites/stacks/stacks.h"

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
        if (sites->sample_bytes == 0)
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

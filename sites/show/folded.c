/* folded.c - each stack is written from its nodes, which know their parents only: collected upwards, written downwards. */
#include "sites/show/folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

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
        if (path.count == path.room) {
            path.room = path.room > 0 ? path.room * 2 : 64;
            path.nodes = res_realloc(path.nodes, path.room, sizeof *path.nodes);
        }
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

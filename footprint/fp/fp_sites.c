/* fp_sites.c - stacks and modules looked up. */
#include "footprint/fp/fp_sites.h"

static const char *const CUTS[FP_CUT_COUNT] = {
    [FP_CUT_LOST] = "lost",           [FP_CUT_FULL] = "full",
    [FP_CUT_STACK] = "stack",         [FP_CUT_CFI] = "cfi",
    [FP_CUT_RULE] = "rule",           [FP_CUT_DEEP] = "deep",
    [FP_CUT_BROKEN] = "broken",       [FP_CUT_MEMORY] = "memory",
    [FP_CUT_INHERITED] = "inherited", [FP_CUT_UNSAMPLED] = "unsampled",
};

const char *fp_cut_name(unsigned cut)
{
    return cut < FP_CUT_COUNT ? CUTS[cut] : NULL;
}

struct fp_site_node fp_site_node_at(const struct fp_sites *sites, uint32_t site)
{
    if (site < FP_SITE_FIRST || site >= sites->node_end || sites->nodes[site].address == 0)
        return (struct fp_site_node){.parent = FP_CUT_LOST};
    return sites->nodes[site];
}

enum fp_cut fp_site_cut(const struct fp_sites *sites, uint32_t site)
{
    while (site >= FP_SITE_FIRST)
        site = fp_site_node_at(sites, site).parent; /* lower: the reader has checked that */
    return site < FP_CUT_COUNT ? (enum fp_cut)site : FP_CUT_LOST;
}

const struct fp_module *fp_site_module(const struct fp_sites *sites, const struct fp_site_node *node)
{
    for (uint32_t i = sites->module_count; i-- > 0;) {
        const struct fp_module *module = &sites->modules[i];
        if (module->epoch == node->epoch && node->address > module->start && node->address <= module->end)
            return module;
    }
    return NULL;
}

/* site_module.h - what fp_module_map_find answers, the plain way: each module is looked at. */
#ifndef MALLAB_TESTS_UNIT_SITE_MODULE_H
#define MALLAB_TESTS_UNIT_SITE_MODULE_H

#include <stddef.h>

#include "footprint/fp/fp_sites.h"

static inline const struct fp_module *fp_site_module(const struct fp_sites *sites,
                                                     const struct fp_site_node *node)
{
    for (uint32_t i = sites->module_count; i-- > 0;) {
        const struct fp_module *module = &sites->modules[i];
        if (module->epoch == node->epoch && node->address > module->start && node->address <= module->end)
            return module;
    }
    return NULL;
}

#endif

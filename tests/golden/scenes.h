/* scenes.h - the valid golden files, each made by the public writers from fixed numbers. Compression levels are
 * fixed, too: another default is no other format. */
#ifndef MALLAB_TESTS_SCENES_H
#define MALLAB_TESTS_SCENES_H

#include <stdbool.h>
#include <stddef.h>

#include "footprint/base/status.h"

struct scene {
    const char *name; /* with its ending, ".fp" or ".wl" */
    /* Writes the file, which must not exist yet. Same bytes each time. */
    enum fp_status (*write)(const char *path);
};

/* The tables are ended by an entry without a name. */
extern const struct scene FP_SCENES[];
extern const struct scene WL_SCENES[];

#endif

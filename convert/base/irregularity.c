/* irregularity.c - names of irregularities, and what each means for a recording. */
#include "convert/base/irregularity.h"

#include <stddef.h>

struct irregularity_words {
    const char *name;
    enum { REGULAR, DEFECT, LOSS } means; /* a loss is a defect too */
};

static const struct irregularity_words IRREGULARITIES[CONV_IRREGULARITY_COUNT] = {
    [CONV_FREE_OF_UNKNOWN] = {"free_of_unknown", DEFECT},
    [CONV_RESIZE_OF_UNKNOWN] = {"resize_of_unknown", DEFECT},
    [CONV_LOST_FREE] = {"lost_free", DEFECT},
    [CONV_FAILED_CALLS] = {"failed_calls", REGULAR},
    [CONV_REALLOC_TO_ZERO] = {"realloc_to_zero", REGULAR},
    [CONV_UNFINISHED_CALLS] = {"unfinished_calls", REGULAR},
    [CONV_IMPOSSIBLE_CALLS] = {"impossible_calls", DEFECT},
    [CONV_ORDER_REPAIRED] = {"order_repaired", DEFECT},
    [CONV_OVERSIZED_GROUPS] = {"oversized_groups", DEFECT},
    [CONV_GAPS] = {"gaps", DEFECT},
    [CONV_MISSING_BLOCKS] = {"missing_blocks", DEFECT},
    [CONV_SALVAGED_BLOCKS] = {"salvaged_blocks", DEFECT},
    [CONV_CUT_LINES] = {"cut_lines", DEFECT},
    [CONV_INHERITED_FREES] = {"inherited_frees", REGULAR},
    [CONV_PAUSES] = {"pauses", REGULAR},
    [CONV_UNRECORDED_OBJECTS] = {"unrecorded_objects", REGULAR},
    [CONV_UNRECORDED_FREES] = {"unrecorded_frees", REGULAR},
    [CONV_SIZE_DIFFERS] = {"size_differs", DEFECT},
    [CONV_FOREIGN_CALLS] = {"foreign_calls", REGULAR},
    [CONV_FOREIGN_RESIZES] = {"foreign_resizes", REGULAR},
    [CONV_RELEASED_BY_OTHERS] = {"released_by_others", REGULAR},
    [CONV_DAMAGED_BLOCKS] = {"damaged_blocks", LOSS},
    [CONV_BAD_LINES] = {"bad_lines", LOSS},
    [CONV_LONG_LINES] = {"long_lines", LOSS},
    [CONV_BAD_RECORDS] = {"bad_records", LOSS},
    [CONV_LOST_TAILS] = {"lost_tails", LOSS},
    [CONV_TORN_REALLOCS] = {"torn_reallocs", DEFECT},
    [CONV_UNMET_WAITS] = {"unmet_waits", DEFECT},
};

const char *conv_irregularity_name(unsigned irregularity)
{
    return irregularity < CONV_IRREGULARITY_COUNT ? IRREGULARITIES[irregularity].name : NULL;
}

bool conv_irregularity_is_defect(unsigned irregularity)
{
    return irregularity < CONV_IRREGULARITY_COUNT && IRREGULARITIES[irregularity].means != REGULAR;
}

bool conv_irregularity_is_loss(unsigned irregularity)
{
    return irregularity < CONV_IRREGULARITY_COUNT && IRREGULARITIES[irregularity].means == LOSS;
}

/* startup_memory.c - memory before the first call weighs as much as memory after it. */
#include "results/measure/figures/startup_memory.h"

/* Comparisons with NAN are false. */
bool res_held_outweighed(struct res_held own, struct res_held baseline)
{
    return own.bytes + own.start_bytes >= baseline.bytes + baseline.start_bytes;
}

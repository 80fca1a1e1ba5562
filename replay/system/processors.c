/* processors.c - see processors.h. */
#include "replay/system/processors.h"

#include <sched.h>

unsigned rep_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) /* more than 1024: one baton is slow but right */
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

/* collect_front.c - processes of which no call comes, and why. */
#include "shim/collect/collect_front.h"

#include <stdio.h>
#include <string.h>

#include "shim/collect/collect_tell.h"

#define RUN_NS UINT64_C(2000000000) /* by then a program that calls malloc at all has called it */

static void explain(const struct seg_allocator *allocator, char *ret_why, size_t size)
{
    char library[sizeof allocator->library];
    memcpy(library, allocator->library, sizeof library);
    library[sizeof library - 1] = '\0';
    const char *slash = strrchr(library, '/');
    if (library[0] == '\0')
        (void)snprintf(ret_why, size,
                       "brings a malloc of its own, which is asked before any preloaded library: build it "
                       "without, or with its allocator as a shared library");
    else
        (void)snprintf(ret_why, size,
                       "calls the malloc of '%.60s', which is preloaded before the recorder: name "
                       "libmallab.so first in LD_PRELOAD",
                       slash != NULL ? slash + 1 : library);
}

void front_check(struct collector *collector, struct collect_image *image)
{
    const struct seg_allocator *allocator = &collector->segment.view.slots[image->slot].allocator;
    char why[200];
    if (image->front_told || image->has_malloc || get_acquire(&allocator->how) == FP_RUNS_ON_UNKNOWN ||
        !allocator->in_front || (!image->ended && clock_monotonic_ns() - image->found_ns < RUN_NS))
        return;
    image->front_told = true;
    explain(allocator, why, sizeof why);
    notes_add(collector, image->program, image->pid, why);
}

void front_look(struct collector *collector)
{
    struct collect_image *image;
    for (uint32_t slot = 0; (image = collect_next_image(collector, &slot)) != NULL;)
        front_check(collector, image);
}

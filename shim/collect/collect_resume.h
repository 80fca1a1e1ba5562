/* collect_resume.h - the footprints that a killed collector left: gone on with, listed, or removed where it had only begun. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_RESUME_H
#define MALLAB_SHIM_COLLECT_COLLECT_RESUME_H

#include "shim/collect/collect.h"

/* resume_footprint - go on with the footprint that the note of the image's slot names. Returns false when there is none to go on with.
 * resume_list_former - list the images whose footprints are there and whose slots are not: they had ended before.
 * resume_remove_begun - remove footprints that do not say yet whose they are. */
bool resume_footprint(struct collector *collector, struct collect_image *image);
void resume_list_former(struct collector *collector);
void resume_remove_begun(struct collector *collector);

#endif

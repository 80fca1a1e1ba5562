/* collect_recover.h - what a killed collector left: its segment's records, put behind its footprints' last whole blocks.
 *
 * Run by hand of `mallab convert` and `mallab record`, never by a program. The segment is taken over for good: it is
 * stopped, so that processes still running claim nothing more, drained, and removed.
 * It was shared with the recorded processes, so nothing in it is believed before it is checked. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_RECOVER_H
#define MALLAB_SHIM_COLLECT_COLLECT_RECOVER_H

#include "shim/collect/collect.h"

enum recover_result {
    RECOVER_DONE,
    RECOVER_NOTHING, /* no segment, or its collector lives, or somebody else is at it */
    RECOVER_FAILED,
};

/* recover_open - map the segment of options.out's dead collector and check it. ret_reason is set unless RECOVER_DONE. */
enum recover_result recover_open(struct collector *collector, const char **ret_reason);

/* recover_run - stop the segment, write everything in it, finish all footprints. */
void recover_run(struct collector *collector);

/* recover_footprint - go on with the footprint that the note of the image's slot names. Returns false when there is none to go on
 * with. */
bool recover_footprint(struct collector *collector, struct collect_image *image);

#endif

/* collect_place.h - the directory that a recording goes into: the one named, one beside it, or that of a recording to join.
 *
 * Several collectors may look for one at the same moment, as when LD_PRELOAD is set for programs that are started together.
 * So a directory is locked (flock on its descriptor, kept until the collector ends) before it is looked into: exclusively
 * while a recording is prepared there, shared from when others can join it. A file system without locks goes without. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_PLACE_H
#define MALLAB_SHIM_COLLECT_COLLECT_PLACE_H

#include "shim/collect/collect.h"

enum place {
    PLACE_OURS,
    PLACE_TAKEN,
    PLACE_JOINED,
    PLACE_FAILED,
    PLACE_UNTRUSTED, /* another user's, or others may write to it */
};

/* place_find - open options.out as directory_fd, new or empty; with options.unique or join, where that holds something, the
 * first of OUT.2, OUT.3 ... that is free; with join, the segment's path of a recording that goes on in one of them. Where
 * another collector prepares its recording just now, join waits for that.
 * ret_number   1 for OUT itself, N for OUT.N.
 * ret_error    why it is PLACE_UNTRUSTED.
 * Returns      PLACE_FAILED with errno set; PLACE_OURS with the directory locked against other collectors. */
enum place place_find(struct collector *collector, uint32_t *ret_number, struct fp_error *ret_error);

/* place_share - after the segment was published: others may join, and what waits in place_find goes on.
 * place_forget - remove a directory that place_find made, where nothing came of the recording. */
void place_share(const struct collector *collector);
void place_forget(const struct collector *collector);

#endif

/* collect_find.h - the segment of a recording that is there already: to join it, to recover it, or to remove it. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_FIND_H
#define MALLAB_SHIM_COLLECT_COLLECT_FIND_H

#include <jansson.h>

#include "shim/collect/collect_segment.h"

/* segment_of_live_collector - the segment of a recording that still goes on.
 * directory_fd  of the recording, opened by fp_trusted_open; directory: its absolute path.
 * ret_path      absolute.
 * Returns       whether there is one. */
bool segment_of_live_collector(int directory_fd, const char *directory, char *ret_path, size_t size);

/* segment_of_dead_collector - the segment of a recording whose collector was killed, opened to be taken over, and its header
 * as it is now. The caller's to close. Returns whether there is one. */
bool segment_of_dead_collector(int directory_fd, struct fp_segment_file *ret_file,
                               struct seg_header *ret_header);

/* segment_read_recording - recording.json of a directory; NULL: there is none that may be believed. The caller's to release. */
json_t *segment_read_recording(int directory_fd);

/* segment_tell_path - the absolute path of a recording's segment. False: it is too long for the shim. */
bool segment_tell_path(const struct fp_segment_file *file, const char *directory, char *ret_path,
                       size_t size);

/* segment_remove_stale - unlink segments of ours whose collectors were killed, unless their recording still waits to be
 * recovered; whoever maps one keeps it. */
void segment_remove_stale(void);

#endif

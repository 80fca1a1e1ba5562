/* segment_file.h - the file behind a recording's shared memory: what it is called, where it lies, whether its collector lives.
 *
 *   name     mallab-UID-16 hexadecimal digits, as its collector made it
 *   folder   /dev/shm, or the recording's own directory where there is none
 *   lock     flock(2), held by the collector for as long as it lives; the kernel lets go of it when that is killed
 *
 * A recording's `segment_path` only chooses between the two folders and tells the name: no other file is ever opened, locked or
 * removed because of it. */
#ifndef MALLAB_FOOTPRINT_BASE_SEGMENT_FILE_H
#define MALLAB_FOOTPRINT_BASE_SEGMENT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "footprint/base/trusted.h"

#define FP_SEGMENT_FOLDER     "/dev/shm"
#define FP_SEGMENT_NAME_BYTES 40u /* the longest name, and its end */

struct fp_segment_file {
    int folder_fd;
    int fd;
    char name[FP_SEGMENT_NAME_BYTES];
    bool shared; /* in FP_SEGMENT_FOLDER, not in the recording's directory */
};

/* fp_segment_name_is_ours - whether it is a name that a collector of our user gives. */
bool fp_segment_name_is_ours(const char *name);

/* fp_segment_name_make - such a name, by chance. False: no random numbers. */
bool fp_segment_name_make(char ret_name[FP_SEGMENT_NAME_BYTES]);

/* fp_segment_open - the segment of a recording, through the door (trusted.h).
 * recording_fd  the recording's directory; it must have come through the door.
 * path          recording.json's segment_path, of any content; NULL: none.
 * use           FP_TRUSTED_OWN or FP_TRUSTED_SHARE.
 * ret_error     filled on failure, may be NULL.
 * Returns       true with *ret_file to be closed by fp_segment_close; false: none that may be believed. */
bool fp_segment_open(int recording_fd, const char *path, enum fp_trusted_use use,
                     struct fp_segment_file *ret_file, struct fp_error *ret_error);
void fp_segment_close(struct fp_segment_file *file);

/* fp_segment_is_held - whether the lock of an opened segment is another's: its collector lives. Where the file system has no
 * locks that is not known, and taken to be so. */
bool fp_segment_is_held(int fd);

/* fp_segment_remove - unlink a segment, if the file of that name still is the one that is open, and has such a name.
 * Whoever has it mapped keeps it. Returns whether it was removed. */
bool fp_segment_remove(const struct fp_segment_file *file);

#endif

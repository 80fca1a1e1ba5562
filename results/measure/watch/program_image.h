/* program_image.h - the figures of one image of a sampled run (sampled.h), as they are read from /proc.
 *
 * A process that is gone leaves its figures as they were. */
#ifndef MALLAB_RESULTS_MEASURE_WATCH_PROGRAM_IMAGE_H
#define MALLAB_RESULTS_MEASURE_WATCH_PROGRAM_IMAGE_H

#include "results/measure/watch/sampled.h"

/* What /proc/PID/status tells, in bytes. */
struct res_status {
    uint64_t peak_bytes, resident_bytes, anonymous_bytes, file_bytes, shared_bytes;
};

/* res_status_parse - false when a figure is missing: of a kernel's thread, or of a process that has lost its memory. */
bool res_status_parse(const char *text, struct res_status *ret_status);

/* res_image_begin - name it; at its exec, or when it was forked. */
void res_image_begin(struct res_image *image, pid_t pid, uint64_t now_ns);

/* res_image_sample - one sample. */
void res_image_sample(struct res_image *image, uint64_t now_ns);

/* res_image_last - the exact figures, while it is stopped at its end. */
void res_image_last(struct res_image *image, uint64_t now_ns, const char *const *libraries);

/* res_image_end - no more will come. */
void res_image_end(struct res_image *image, uint64_t now_ns);

/* res_image_is - whether it goes by this name. */
bool res_image_is(const struct res_image *image, const char *name);

#endif

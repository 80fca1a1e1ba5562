/* ranges.h - the values that a setting may be tried with: section [ranges] of a candidate's file.
 *
 *   narenas = 1, 2, 4, 8                    a list
 *   dirty_decay_ms = 0..30000 step 5000     whole numbers from the first to the last, both taken
 *   mmap_threshold = 65536..33554432 times 2
 *
 * Settings are named as in variables.h. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_RANGES_H
#define MALLAB_RESULTS_MEASURE_BASE_RANGES_H

#include <stddef.h>

#define RES_RANGE_VALUES_MAX 1024u
#define RES_RANGES_MAX       64u

struct res_range {
    char *setting;
    char *text;    /* as given */
    char **values; /* all of them, in the given or in rising order */
    size_t value_count;
};

/* res_range_parse - read one.
 * ret_range  filled on success; res_range_release drops it.
 * Returns    NULL, or the problem in one line, the caller's to free. */
char *res_range_parse(const char *setting, const char *text, struct res_range *ret_range);
void res_range_release(struct res_range *range);

/* res_ranges_add - parse and append to a list. Returns NULL, or the problem; also for a setting that is there already.
 * res_ranges_free - drop a whole list. */
char *res_ranges_add(struct res_range **list, size_t *count, const char *setting, const char *text);
void res_ranges_free(struct res_range *list, size_t count);

#endif

/* footprints.h - footprints made up, and converted. */
#ifndef MALLAB_TESTS_FOOTPRINTS_H
#define MALLAB_TESTS_FOOTPRINTS_H

#include "convert/convert.h"
#include "unit/harness.h"
#include "unit/history.h"
#include "unit/scratch.h"

static struct conv_error error;

static inline void make_footprint(const char *path, uint32_t threads, uint64_t seed, uint32_t process_id,
                                  bool trailer)
{
    const struct history_options options = {.threads = threads,
                                            .events = 5000,
                                            .objects = 300,
                                            .bump_every = 16,
                                            .bump_ns = 1000,
                                            .resize_share = 10};
    struct history history;
    history_init(&history, threads, seed);
    history_simulate(&history, &options);
    history_cut(&history, 400);
    CHECK_U64(history_write(&history, path, process_id, trailer), FP_OK);
    history_release(&history);
}

/* The figures of what was converted, however it was. */
static inline void check_same_survey(const struct conv_survey *one, const struct conv_survey *other)
{
    CHECK_U64(one->ops, other->ops);
    CHECK_U64(one->threads, other->threads);
    CHECK_U64(one->duration_ns, other->duration_ns);
    CHECK_U64(one->requested_bytes, other->requested_bytes);
    CHECK_U64(one->live_bytes_peak, other->live_bytes_peak);
    CHECK_U64(one->live_objects_peak, other->live_objects_peak);
    CHECK_U64(one->live_bytes_end, other->live_bytes_end);
    CHECK_U64(one->live_objects_end, other->live_objects_end);
    CHECK_U64(one->largest_size, other->largest_size);
    CHECK(memcmp(one->ops_by_call, other->ops_by_call, sizeof one->ops_by_call) == 0);
    CHECK(memcmp(one->class_count, other->class_count, sizeof one->class_count) == 0);
    CHECK(memcmp(one->class_bytes, other->class_bytes, sizeof one->class_bytes) == 0);
}

static inline enum fp_status convert(const char *in, const char *out, const struct conv_options *options,
                                     struct conv_report *ret)
{
    memset(ret, 0, sizeof *ret);
    return conv_file(in, out, options, ret, &error);
}

#endif

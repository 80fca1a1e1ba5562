/* busy.h - a workload of threads that hand objects to each other all the time. */
#ifndef MALLAB_TESTS_UNIT_BUSY_H
#define MALLAB_TESTS_UNIT_BUSY_H

#include "footprint/wl/workload.h"
#include "unit/harness.h"
#include "unit/random.h"

static uint64_t busy_random;
static bool busy_in_place; /* options.in_place */
/* The sites that ops may name, and who names that of the next op, an allocation or a resize; NULL: none. */
__attribute__((unused)) static const struct fp_sites *busy_sites;
__attribute__((unused)) static void (*busy_tell)(struct wl_writer *writer, uint32_t op);

static inline uint64_t random_below(uint64_t bound)
{
    return test_random(&busy_random) % bound;
}

/* Of so many ops. Of five threads and more the last one comes late and goes early. */
static inline void write_busy(const char *path, uint32_t threads, uint32_t window_ops, uint32_t ops)
{
    const struct wl_writer_options options = {
        .window_ops = window_ops, .in_place = busy_in_place, .sites = busy_sites, .program = "busy"};
    struct wl_writer *writer = NULL;
    uint32_t live[64], live_count = 0, thread;
    uint64_t bytes[64], now = 0;
    busy_random = 5;
    CHECK_U64(wl_writer_create(path, true, &options, NULL, 0, NULL, &writer), FP_OK);
    for (uint32_t i = 0; i < threads; i++)
        CHECK_U64(wl_writer_thread(writer, 100 + i, i == 0, &thread), FP_OK);
    for (uint32_t i = 0; i < ops; i++) {
        const uint64_t choice = random_below(4);
        const uint32_t victim = live_count > 0 ? (uint32_t)random_below(live_count) : 0;
        struct fp_shape shape = {FP_CALL_MALLOC, 1 + random_below(500), 0};
        enum fp_status status;
        const bool is_late = threads >= 5 && (i <= ops * 3 / 10 || i >= ops / 2);
        thread = (uint32_t)random_below(is_late ? threads - 1 : threads);
        const bool begins = live_count == 0 || (choice < 2 && live_count < 64);
        now += 200;
        if (busy_tell != NULL && (begins || choice == 2))
            busy_tell(writer, i);
        if (begins) {
            status = wl_writer_allocate(writer, thread, &shape, now, &live[live_count]);
            bytes[live_count++] = shape.size;
        } else if (choice == 2) {
            shape.call = FP_CALL_REALLOC;
            status = wl_writer_resize(writer, thread, &shape, now, live[victim], bytes[victim]);
            bytes[victim] = shape.size;
        } else {
            shape = (struct fp_shape){FP_CALL_FREE, 0, 0};
            status = wl_writer_release(writer, thread, &shape, now, live[victim], bytes[victim]);
            live[victim] = live[--live_count];
            bytes[victim] = bytes[live_count];
        }
        CHECK_U64(status, FP_OK);
    }
    wl_writer_thread_exit(writer, threads - 1);
    CHECK_U64(wl_writer_finish(writer, now + 5000, NULL, NULL, NULL), FP_OK);
}

#endif

/* replay_workload - write a workload of random but legal ops of many threads: the same bytes for a seed.
 *
 * usage: replay_workload OUT.wl THREADS OPS SEED [WINDOW_OPS [BIG_AT]]
 * BIG_AT is the number of an op that is to be a malloc of 1234567 bytes; WINDOW_OPS 0 is the default.
 *
 * Threads 0 .. THREADS-1 come and go, at most 24 at a time; thread 0 is the main thread. Every call of the
 * family occurs. Any thread may resize or release what any other allocated. With THREADS 1 the thread is main. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "footprint/wl/workload.h"

#define ACTIVE_MAX 24u
#define LIVE_MAX   4096u

struct object {
    uint32_t id;
    uint8_t call; /* that allocated it */
    uint64_t bytes, size, alignment;
};

static uint64_t state;
static struct object live[LIVE_MAX];
static uint32_t live_count;
static struct wl_writer *writer;
static uint64_t now_ns;

static uint32_t pick(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % below);
}

static void must(enum fp_status status)
{
    if (status == FP_OK)
        return;
    fprintf(stderr, "replay_workload: %s\n", fp_status_name(status));
    exit(1);
}

static uint64_t random_size(void)
{
    const uint32_t kind = pick(1000);
    if (kind < 900)
        return pick(512);
    return kind < 997 ? pick(16384) : pick(400000);
}

static void allocate(uint32_t thread)
{
    static const uint8_t CALLS[] = {
        FP_CALL_MALLOC,
        FP_CALL_MALLOC,
        FP_CALL_MALLOC,
        FP_CALL_MALLOC,
        FP_CALL_CALLOC,
        FP_CALL_REALLOC,
        FP_CALL_REALLOCARRAY,
        FP_CALL_POSIX_MEMALIGN,
        FP_CALL_ALIGNED_ALLOC,
        FP_CALL_MEMALIGN,
        FP_CALL_VALLOC,
        FP_CALL_PVALLOC,
        FP_CALL_NEW,
        FP_CALL_NEW_ARRAY,
        FP_CALL_NEW_NOTHROW,
        FP_CALL_NEW_ARRAY_NOTHROW,
        FP_CALL_NEW_ALIGNED,
        FP_CALL_NEW_ARRAY_ALIGNED,
        FP_CALL_NEW_ALIGNED_NOTHROW,
        FP_CALL_NEW_ARRAY_ALIGNED_NOTHROW,
    };
    struct object *object = &live[live_count++];
    struct fp_shape shape = {.call = CALLS[pick(sizeof CALLS)], .size = random_size()};
    if (fp_call_extra_of(shape.call) == FP_EXTRA_ALIGNMENT) {
        shape.extra = UINT64_C(8) << pick(6);
        /* No empty ones: jemalloc 5.3 puts them in the alignment's size class, and their sized delete in that
         * of 0. */
        shape.size += 1;
        /* C11 lets aligned_alloc refuse what is no multiple, and scudo does. */
        if (shape.call == FP_CALL_ALIGNED_ALLOC)
            shape.size = (shape.size + shape.extra - 1) & ~(shape.extra - 1);
    } else if (fp_call_extra_of(shape.call) == FP_EXTRA_COUNT) {
        shape.extra = 1 + pick(3);
    }
    *object = (struct object){
        .call = shape.call, .bytes = fp_shape_bytes(&shape), .size = shape.size, .alignment = shape.extra};
    must(wl_writer_allocate(writer, thread, &shape, now_ns, &object->id));
}

static void allocate_big(uint32_t thread)
{
    static const struct fp_shape SHAPE = {.call = FP_CALL_MALLOC, .size = 1234567};
    uint32_t id;
    must(wl_writer_allocate(writer, thread, &SHAPE, now_ns, &id)); /* never released */
}

static void resize(uint32_t thread, struct object *object)
{
    struct fp_shape shape = {.call = FP_CALL_REALLOC, .size = 1 + random_size()};
    if (pick(4) == 0) {
        shape.call = FP_CALL_REALLOCARRAY;
        shape.extra = 1 + pick(3);
    }
    must(wl_writer_resize(writer, thread, &shape, now_ns, object->id, object->bytes));
    object->bytes = fp_shape_bytes(&shape);
    object->call = FP_CALL_REALLOC;
}

/* The release that fits the allocation, now and then one of its variants. */
static void release(uint32_t thread, uint32_t index)
{
    const struct object object = live[index];
    struct fp_shape shape = {.call = FP_CALL_FREE};
    if (object.call >= FP_CALL_NEW && object.call <= FP_CALL_NEW_ARRAY_ALIGNED_NOTHROW) {
        static const uint8_t BY_NEW[][2] = {
            {FP_CALL_DELETE, FP_CALL_DELETE_SIZED},
            {FP_CALL_DELETE_ARRAY, FP_CALL_DELETE_ARRAY_SIZED},
            {FP_CALL_DELETE, FP_CALL_DELETE_NOTHROW},
            {FP_CALL_DELETE_ARRAY, FP_CALL_DELETE_ARRAY_NOTHROW},
            {FP_CALL_DELETE_ALIGNED, FP_CALL_DELETE_SIZED_ALIGNED},
            {FP_CALL_DELETE_ARRAY_ALIGNED, FP_CALL_DELETE_ARRAY_SIZED_ALIGNED},
            {FP_CALL_DELETE_ALIGNED, FP_CALL_DELETE_ALIGNED_NOTHROW},
            {FP_CALL_DELETE_ARRAY_ALIGNED, FP_CALL_DELETE_ARRAY_ALIGNED_NOTHROW},
        };
        shape.call = BY_NEW[object.call - FP_CALL_NEW][pick(2)];
        shape.size = object.size;
        shape.extra = object.alignment;
    } else if (object.call == FP_CALL_MALLOC && pick(8) == 0) {
        shape = (struct fp_shape){.call = FP_CALL_FREE_SIZED, .size = object.size};
    } else if (object.call == FP_CALL_ALIGNED_ALLOC && pick(2) == 0) {
        shape = (struct fp_shape){FP_CALL_FREE_ALIGNED_SIZED, object.size, object.alignment};
    }
    must(wl_writer_release(writer, thread, &shape, now_ns, object.id, object.bytes));
    live[index] = live[--live_count];
}

static bool may_resize(const struct object *object)
{
    return object->call == FP_CALL_MALLOC || object->call == FP_CALL_CALLOC ||
           object->call == FP_CALL_REALLOC || object->call == FP_CALL_REALLOCARRAY;
}

static void step(uint32_t thread)
{
    static const struct fp_shape FREE = {.call = FP_CALL_FREE};
    const uint32_t kind = pick(100);
    now_ns += 64 + pick(640);
    if (kind == 0) {
        must(wl_writer_release(writer, thread, &FREE, now_ns, 0, 0));
    } else if (live_count == 0 || (kind < 52 && live_count < LIVE_MAX)) {
        allocate(thread);
    } else {
        const uint32_t index = pick(live_count);
        if (kind > 85 && may_resize(&live[index]))
            resize(thread, &live[index]);
        else
            release(thread, index);
    }
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: replay_workload OUT.wl THREADS OPS SEED [WINDOW_OPS [BIG_AT]]\n");
        return 2;
    }
    const uint32_t threads = (uint32_t)strtoul(argv[2], NULL, 10);
    const uint64_t ops = strtoull(argv[3], NULL, 10);
    const struct wl_writer_options options = {.window_ops = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10)
                                                                     : 0};
    const uint64_t big_at = argc > 6 ? strtoull(argv[6], NULL, 10) : UINT64_MAX;
    uint32_t active[ACTIVE_MAX], active_count = 0, begun = 0;
    struct fp_error error;
    state = strtoull(argv[4], NULL, 10);
    must(wl_writer_create(argv[1], true, &options, NULL, 0, &error, &writer));
    for (uint64_t done = 0; done < ops;) {
        /* Threads begin evenly over the run; when all places are taken, one of the others ends first. */
        if (active_count == 0 || (begun < threads && done >= begun * ops / threads)) {
            if (active_count == ACTIVE_MAX) {
                const uint32_t index = 1 + pick(ACTIVE_MAX - 1);
                wl_writer_thread_exit(writer, active[index]);
                active[index] = active[--active_count];
            }
            must(wl_writer_thread(writer, 1000 + begun, begun == 0, &active[active_count++]));
            begun++;
        }
        const uint32_t thread = active[pick(active_count)];
        for (uint32_t run = 1 + pick(40); run > 0 && done < ops; run--, done++) {
            if (done == big_at)
                allocate_big(thread);
            else
                step(thread);
        }
    }
    must(wl_writer_finish(writer, now_ns, NULL, NULL, &error));
    return 0;
}

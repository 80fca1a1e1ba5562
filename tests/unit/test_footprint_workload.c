/* Shows: ops come back from a workload as they were given, with the ids that the writer handed out; cuts and flipped bits are noticed; the
 * summary's figures are those of a plain model; rewinding repeats everything. */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "footprint/base/bytes.h"
#include "footprint/wl/wl_writer.h"
#include "footprint/wl/workload.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/readers.h"
#include "unit/scratch.h"

#define THREADS 7
#define OPS     30000

static char path[512];
static uint64_t random_state = 1;
static uint32_t picked_thread;

static uint64_t random_next(void)
{
    return test_random(&random_state);
}

static void fresh_path(void)
{
    static unsigned number;
    char name[32];
    snprintf(name, sizeof name, "%u.wl", number++);
    snprintf(path, sizeof path, "%s", scratch_path(name));
}

struct done {
    uint32_t thread, id;
    struct fp_shape shape;
    uint64_t time_ns;
};

static struct done done[OPS];
static struct {
    uint32_t id;
    uint64_t bytes;
} live[OPS];
static uint32_t live_count;

static uint32_t pick_thread(uint32_t threads)
{
    if (random_next() % 9 == 0)
        picked_thread = (uint32_t)(random_next() % threads);
    return picked_thread % threads;
}

static void write_one(struct wl_writer *writer, uint32_t op, uint32_t threads, uint64_t time_ns)
{
    const uint32_t thread = pick_thread(threads);
    const uint64_t choice = random_next() % 10;
    const uint32_t victim = live_count > 0 ? (uint32_t)(random_next() % live_count) : 0;
    struct fp_shape shape = {FP_CALL_MALLOC, random_next() % 300, 0};
    uint32_t id = 0;
    if (choice < 5 || live_count == 0) {
        if (choice == 0)
            shape = (struct fp_shape){FP_CALL_CALLOC, 8, random_next() % 5 + 1};
        else if (choice == 1)
            shape = (struct fp_shape){FP_CALL_ALIGNED_ALLOC, 640, UINT64_C(1) << (3 + random_next() % 8)};
        else if (choice == 2)
            shape = (struct fp_shape){FP_CALL_REALLOC, random_next() % 70000, 0};
        CHECK_U64(wl_writer_allocate(writer, thread, &shape, time_ns, &id), FP_OK);
        live[live_count].id = id;
        live[live_count++].bytes = fp_shape_bytes(&shape);
    } else if (choice < 6) {
        shape.call = FP_CALL_REALLOC;
        id = live[victim].id;
        CHECK_U64(wl_writer_resize(writer, thread, &shape, time_ns, id, live[victim].bytes), FP_OK);
        live[victim].bytes = shape.size;
    } else if (choice == 6 && random_next() % 4 == 0) {
        shape = (struct fp_shape){FP_CALL_FREE, 0, 0};
        CHECK_U64(wl_writer_release(writer, thread, &shape, time_ns, 0, 0), FP_OK);
    } else {
        shape = (struct fp_shape){choice == 7 ? FP_CALL_DELETE_SIZED : FP_CALL_FREE,
                                  choice == 7 ? live[victim].bytes : 0, 0};
        id = live[victim].id;
        CHECK_U64(wl_writer_release(writer, thread, &shape, time_ns, id, live[victim].bytes), FP_OK);
        live[victim] = live[--live_count];
    }
    done[op] = (struct done){thread, id, shape, time_ns};
}

static bool in_place;

static struct wl_summary write_random(uint32_t threads, uint32_t window_ops, uint32_t ops)
{
    const struct wl_writer_options options = {.window_ops = window_ops, .in_place = in_place};
    const struct fp_meta meta[] = {{"program", "random"}};
    struct wl_writer *writer = NULL;
    struct wl_summary summary = {0};
    uint64_t time_ns = 0;
    uint64_t bytes = 0;
    struct stat stat_;
    fresh_path();
    live_count = 0;
    CHECK_U64(wl_writer_create(path, false, &options, meta, 1, NULL, &writer), FP_OK);
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t thread;
        CHECK_U64(wl_writer_thread(writer, 100 + i, i == 2, &thread), FP_OK);
        CHECK_U64(thread, i);
    }
    for (uint32_t op = 0; op < ops; op++)
        write_one(writer, op, threads, time_ns += random_next() % 1000);
    wl_writer_thread_exit(writer, 0);
    CHECK_U64(wl_writer_note(writer, "irregular_gaps", "7"), FP_OK);
    CHECK_U64(wl_writer_finish(writer, time_ns + 5000, &summary, &bytes, NULL), FP_OK);
    CHECK(stat(path, &stat_) == 0 && (uint64_t)stat_.st_size == bytes);
    return summary;
}

static void check_window(const struct wl_window *window, uint64_t first, const struct wl_summary *summary)
{
    static uint32_t thread_of[65536];
    uint32_t op = 0;
    for (uint32_t run = 0; run < window->run_count; run++)
        for (uint32_t i = 0; i < window->runs[run].op_count; i++)
            thread_of[op++] = window->runs[run].thread;
    CHECK_U64(op, window->op_count);
    for (uint32_t i = 0; i < window->op_count; i++) {
        const struct done *expected = &done[first + i];
        const struct wl_op *actual = &window->ops[i];
        CHECK_U64(thread_of[i], expected->thread);
        CHECK_U64(actual->id, expected->id);
        CHECK(actual->id <= summary->id_max);
        CHECK_U64(actual->call, expected->shape.call);
        CHECK_U64(actual->size, expected->shape.size);
        if (fp_call_extra_of(actual->call) == FP_EXTRA_COUNT)
            CHECK_U64(actual->count, expected->shape.extra);
        if (fp_call_extra_of(actual->call) == FP_EXTRA_ALIGNMENT)
            CHECK_U64(UINT64_C(1) << actual->align_log2, expected->shape.extra);
        if (i % WL_TIME_STRIDE == 0)
            CHECK_U64(window->times_ns[i / WL_TIME_STRIDE], expected->time_ns / 64 * 64);
    }
}

static void read_and_check(const struct wl_summary *summary, uint32_t ops)
{
    WL_READER *reader = wl_opened(path);
    CHECK_STR(wl_reader_meta(reader, "program"), "random");
    CHECK_STR(wl_reader_meta(reader, "irregular_gaps"), "7");
    CHECK_U64(wl_reader_summary(reader)->ops, ops);
    CHECK_U64(wl_reader_summary(reader)->live_bytes_peak, summary->live_bytes_peak);
    CHECK_U64(wl_reader_summary(reader)->id_max, summary->id_max);
    for (int pass = 0; pass < 2; pass++) {
        struct wl_window window;
        uint64_t first = 0;
        enum fp_status status;
        while ((status = wl_reader_next(reader, &window)) == FP_OK) {
            CHECK_U64(window.facts.first_op, first);
            check_window(&window, first, summary);
            first += window.op_count;
        }
        CHECK_U64(status, FP_END);
        CHECK_U64(first, ops);
        wl_reader_rewind(reader);
    }
}

TEST(one_thread_comes_back)
{
    const struct wl_summary summary = write_random(1, 0, OPS);
    CHECK_U64(summary.id_max, summary.live_objects_peak);
    CHECK_U64(summary.live_objects_end, live_count);
    read_and_check(&summary, OPS);
}

TEST(many_threads_come_back_in_order)
{
    static const uint32_t windows[] = {1, 17, 500, 8192, 65536};
    for (size_t i = 0; i < COUNT_OF(windows); i++) {
        const struct wl_summary summary = write_random(THREADS, windows[i], OPS);
        struct wl_reader *reader = NULL;
        CHECK(summary.id_max <= summary.live_objects_peak + windows[i]);
        read_and_check(&summary, OPS);
        CHECK_U64(wl_reader_open(path, NULL, &reader), FP_OK);
        CHECK(wl_reader_summary(reader)->threads[2].is_main);
        CHECK(wl_reader_summary(reader)->threads[0].exited && !wl_reader_summary(reader)->threads[1].exited);
        CHECK_U64(wl_reader_summary(reader)->threads[3].thread_id, 103);
        wl_reader_close(reader);
    }
}

/* The bytes do not tell who packed them. */
TEST(packed_in_place_or_not)
{
    uint64_t hashes[2];
    for (int i = 0; i < 2; i++) {
        static char bytes[1 << 22];
        in_place = i == 1;
        random_state = 12345;
        picked_thread = 0;
        (void)write_random(THREADS, 500, OPS);
        FILE *file = fopen(path, "rb");
        CHECK(file != NULL);
        size_t size = fread(bytes, 1, sizeof bytes, file);
        CHECK(size > 10000 && size < sizeof bytes);
        hashes[i] = XXH64(bytes, size, 0);
        fclose(file);
    }
    in_place = false;
    CHECK_U64(hashes[0], hashes[1]);
}

/* Numbers of ops are kept in 32 bits. */
TEST(what_was_named_long_ago_stays_long_ago)
{
    static const uint64_t now = (UINT64_C(7) << 32) + 5;
    uint32_t next[6] = {0};
    uint32_t last_op[6] = {0,
                           5,
                           (uint32_t)now - 1,
                           (uint32_t)now - WL_AGE_MAX,
                           (uint32_t)now - WL_AGE_MAX - 1,
                           (uint32_t)now + 1};
    struct wl_writer *writer = calloc(1, sizeof *writer);
    writer->ids.next = next;
    writer->ids.used = 5;
    writer->last_op = last_op;
    writer->summary.ops = now;
    wl_writer_age(writer);
    CHECK_U64(last_op[1], 5);
    CHECK_U64((uint32_t)now - last_op[2], 1);
    CHECK_U64((uint32_t)now - last_op[3], WL_AGE_MAX);
    CHECK_U64((uint32_t)now - last_op[4], WL_AGE_MAX);
    CHECK_U64((uint32_t)now - last_op[5], WL_AGE_MAX);
    CHECK(WL_AGE_MAX + WL_AGE_EVERY + WL_WINDOW_OPS_MAX < UINT32_MAX && WL_AGE_MAX > WINDOW_HISTORY);
    CHECK_U64(writer->aged_at, now);
    free(writer);
}

TEST(empty_workloads_are_whole)
{
    const struct wl_summary summary = write_random(1, 0, 0);
    CHECK_U64(summary.windows, 0);
    read_and_check(&summary, 0);
}

TEST(a_dictionary_that_overflows_begins_anew)
{
    const struct wl_writer_options options = {.window_ops = 4096};
    struct wl_writer *writer = NULL;
    struct wl_window window, former = {0};
    uint32_t thread, id, op = 0;
    fresh_path();
    CHECK_U64(wl_writer_create(path, false, &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK_U64(wl_writer_thread(writer, 1, true, &thread), FP_OK);
    for (uint64_t i = 0; i < 150000; i++) {
        const struct fp_shape shape = {FP_CALL_MALLOC, i * 3, 0};
        CHECK_U64(wl_writer_allocate(writer, thread, &shape, 0, &id), FP_OK);
    }
    CHECK_U64(wl_writer_finish(writer, 0, NULL, NULL, NULL), FP_OK);
    WL_READER *reader = wl_opened(path);
    while (wl_reader_next(reader, &window) == FP_OK) {
        for (uint32_t i = 0; i < window.op_count; i++, op++)
            CHECK(window.ops[i].size == op * UINT64_C(3) && window.ops[i].id == op + 1);
        /* The one before is still there. */
        for (uint32_t i = 0; i < former.op_count; i++)
            CHECK_U64(former.ops[i].id, former.facts.first_op + i + 1);
        CHECK(former.op_count == 0 || former.runs[0].op_count == former.op_count);
        former = window;
    }
    CHECK_U64(op, 150000);
}

TEST(misuse_is_refused)
{
    const struct wl_writer_options options = {0};
    const struct fp_shape shape = {FP_CALL_MALLOC, 8, 0}, free_shape = {FP_CALL_FREE, 0, 0};
    const struct fp_shape huge = {FP_CALL_MALLOC, UINT64_C(1) << 48, 0};
    struct fp_shape odd = {FP_CALL_MEMALIGN, 100, 24};
    struct wl_writer *writer = NULL;
    struct wl_window window;
    uint32_t thread, id = 0;
    fresh_path();
    CHECK_U64(wl_writer_create(path, false, &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK_U64(wl_writer_allocate(writer, 0, &shape, 0, &id), FP_ERR_ARGUMENT); /* no thread yet */
    CHECK_U64(wl_writer_thread(writer, 1, true, &thread), FP_OK);
    CHECK_U64(wl_writer_allocate(writer, 0, &free_shape, 0, &id), FP_ERR_ARGUMENT);
    CHECK_U64(wl_writer_allocate(writer, 0, &huge, 0, &id), FP_ERR_LIMIT);
    CHECK_U64(wl_writer_release(writer, 0, &free_shape, 0, 1, 0), FP_ERR_ARGUMENT);
    CHECK_U64(wl_writer_note(writer, "two\nlines", "x"), FP_ERR_ARGUMENT);
    CHECK_U64(wl_writer_allocate(writer, 0, &odd, 0, &id), FP_OK);
    CHECK_U64(wl_writer_release(writer, 0, &free_shape, 0, id, 101), FP_ERR_ARGUMENT);
    CHECK_U64(wl_writer_release(writer, 0, &free_shape, 0, id, 100), FP_OK);
    CHECK_U64(wl_writer_release(writer, 0, &free_shape, 0, id, 100), FP_ERR_ARGUMENT);
    CHECK_U64(wl_writer_finish(writer, 0, NULL, NULL, NULL), FP_OK);
    WL_READER *reader = wl_opened(path);
    CHECK_U64(wl_reader_next(reader, &window), FP_OK);
    CHECK_U64(window.ops[0].align_log2, 5); /* 24 is raised to 32 */
    writer = NULL;
    CHECK_U64(wl_writer_create(path, false, &options, NULL, 0, NULL, &writer), FP_ERR_EXISTS);
    CHECK_U64(wl_writer_create(path, true, &options, NULL, 0, NULL, &writer), FP_OK);
    wl_writer_abandon(writer);
    CHECK(access(path, F_OK) == 0);
}

static unsigned count_beside(void)
{
    char directory[sizeof path];
    struct dirent **entries = NULL;
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash == NULL)
        abort();
    *slash = '\0';
    int count = scandir(directory, &entries, NULL, NULL);
    CHECK(count > 2);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return (unsigned)count;
}

TEST(a_killed_writer_leaves_nothing_and_keeps_what_was_there)
{
    const struct wl_writer_options options = {.window_ops = 4};
    struct wl_writer *writer = NULL;
    int status = 0;
    pid_t child;
    fresh_path();
    unsigned before = count_beside();
    CHECK_U64(wl_writer_create(path, false, &options, NULL, 0, NULL, &writer), FP_OK);
    if (count_beside() > before) {
        wl_writer_abandon(writer);
        printf("note: this file system has no files without names\n");
        return;
    }
    CHECK_U64(wl_writer_finish(writer, 0, NULL, NULL, NULL), FP_OK);
    before = count_beside();
    for (int turn = 0; turn < 2; turn++) {
        child = fork();
        if (child == 0) {
            if (wl_writer_create(path, true, &options, NULL, 0, NULL, &writer) == FP_OK)
                (void)raise(turn == 0 ? SIGKILL : SIGTERM);
            _exit(1);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        CHECK_U64(count_beside(), before);
    }
    /* Over what is there, and not over it. */
    writer = NULL;
    CHECK_U64(wl_writer_create(path, true, &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK_U64(wl_writer_finish(writer, 0, NULL, NULL, NULL), FP_OK);
    CHECK_U64(count_beside(), before);
    CHECK(unlink(path) == 0);
    writer = NULL;
    CHECK_U64(wl_writer_create(path, false, &options, NULL, 0, NULL, &writer), FP_OK);
    scratch_write(path, "x", 1); /* it came meanwhile */
    CHECK_U64(wl_writer_finish(writer, 0, NULL, NULL, NULL), FP_ERR_EXISTS);
    CHECK_U64(count_beside(), before);
}

static uint8_t bytes[1 << 20];

static enum fp_status read_all(size_t size)
{
    struct wl_reader *reader = NULL;
    struct wl_window window;
    fresh_path();
    FILE *file = fopen(path, "wb");
    CHECK(fwrite(bytes, 1, size, file) == size);
    fclose(file);
    enum fp_status status = wl_reader_open(path, NULL, &reader);
    if (status == FP_OK) {
        while ((status = wl_reader_next(reader, &window)) == FP_OK)
            ;
        wl_reader_close(reader);
    }
    unlink(path);
    return status;
}

/* Small, with several windows all the same: it is opened for every third of its bits, and all those of a payload fall to one
 * checksum. */
TEST(cuts_and_flipped_bits_are_noticed)
{
    write_random(3, 50, 100);
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CHECK_U64(read_all(size), FP_END);
    CHECK(size > 300);
    for (size_t cut = 0; cut < size; cut += 5) {
        const enum fp_status status = read_all(cut);
        CHECK(status == FP_ERR_TRUNCATED || status == FP_ERR_FOREIGN);
    }
    for (size_t bit = 0; bit < size * 8; bit += 3) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(read_all(size) != FP_END);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    put_u16(bytes + 8, WL_VERSION + 1);
    put_u64(bytes + 56, XXH64(bytes, 56, 0));
    CHECK_U64(read_all(size), FP_ERR_VERSION);
}

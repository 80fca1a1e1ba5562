/* Shows: a workload's bytes do not tell who packed them; what is beyond a dictionary or a number's bits; misuse is refused; a killed writer leaves
 * nothing. What a writer was given is what a reader hands out: tests/golden shows it, and each fuzzer for any file. */
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "footprint/wl/wl_writer.h"
#include "footprint/wl/workload.h"
#include "unit/busy.h"
#include "unit/harness.h"
#include "unit/readers.h"
#include "unit/scratch.h"

static char path[512];

static void fresh_path(void)
{
    static unsigned number;
    char name[32];
    snprintf(name, sizeof name, "%u.wl", number++);
    snprintf(path, sizeof path, "%s", scratch_path(name));
}

/* The bytes do not tell who packed them. */
TEST(packed_in_place_or_not)
{
    size_t size, other_size;
    fresh_path();
    write_busy(path, 7, 500, 30000);
    OWNED_TEXT *bytes = scratch_read(path, &size);
    busy_in_place = true;
    write_busy(path, 7, 500, 30000);
    OWNED_TEXT *other = scratch_read(path, &other_size);
    CHECK(size > 10000 && size == other_size && memcmp(bytes, other, size) == 0);
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

/* test_convert_glibc_wl.c - workloads of glibc's trace tools: objects that pass between threads, with the signals that the
 * tools put in, convert to an order in which every address alternates; without the signals some would not. */
#include "convert/convert.h"
#include "convert/import/import.h"
#include "footprint/wl/workload.h"
#include "unit/harness.h"
#include "unit/readers.h"
#include "unit/scratch.h"
#include "unit/traces.h"

#define THREADS 7u
#define OBJECTS 300u
#define CALLS   30000u

static struct conv_error error;

/* What a thread does, in memory. */
struct stream {
    FILE *out;
    char *bytes;
    size_t size;
};

struct made {
    uint64_t syncs, calls[THREADS];
};

/* Whoever touches what another thread touched last waits for a signal of that one; new threads wait for the first. */
static struct made make_streams(struct stream *streams, bool with_syncs)
{
    struct made made = {0};
    unsigned owner[OBJECTS + 1] = {0}; /* thread + 1 */
    bool live[OBJECTS + 1] = {0}, started[THREADS] = {[3] = true};
    uint64_t random = 7;
    for (unsigned i = 0; i < CALLS; i++) {
        const unsigned thread = i < 100 ? 3 : test_random(&random) % THREADS;
        const unsigned object = 1 + test_random(&random) % OBJECTS;
        const unsigned before = !started[thread] ? 3 : owner[object] != 0 ? owner[object] - 1 : thread;
        for (unsigned k = 0; with_syncs && k < 2; k++) {
            const unsigned giver = k == 0 ? before : owner[object] != 0 ? owner[object] - 1 : thread;
            if (giver == thread || (k == 1 && giver == before))
                continue;
            put_number(streams[giver].out, 6);
            put_number(streams[giver].out, ++made.syncs);
            put_number(streams[thread].out, 7);
            put_number(streams[thread].out, made.syncs);
        }
        started[thread] = true;
        owner[object] = thread + 1;
        made.calls[thread]++;
        if (!live[object]) {
            put_number(streams[thread].out, 2);
            put_number(streams[thread].out, object);
            put_number(streams[thread].out, test_random(&random) % 5000);
        } else {
            put_number(streams[thread].out, 5);
            put_number(streams[thread].out, object);
        }
        live[object] = !live[object];
    }
    for (unsigned i = 0; i < THREADS; i++)
        put_number(streams[i].out, 1);
    return made;
}

/* The file: offsets as numbers of fixed length, so that where streams stand does not depend on where they stand. */
static void write_file(const char *path, const struct stream *streams, uint64_t syncs)
{
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        abort();
    put_number(out, 8);
    put_number(out, OBJECTS + 1);
    put_number(out, 9);
    put_number(out, syncs);
    put_number(out, 10);
    put_number(out, THREADS);
    size_t offset = (size_t)ftell(out) + THREADS * 5 + 1;
    for (unsigned i = 0; i < THREADS; i++) {
        const uint8_t number[5] = {11, (uint8_t)(128 | offset >> 21), (uint8_t)(128 | (offset >> 14 & 127)),
                                   (uint8_t)(128 | (offset >> 7 & 127)), (uint8_t)(offset & 127)};
        fwrite(number, 1, sizeof number, out);
        offset += streams[i].size;
    }
    putc(1, out);
    for (unsigned i = 0; i < THREADS; i++)
        fwrite(streams[i].bytes, 1, streams[i].size, out);
    if (fclose(out) != 0)
        abort();
}

static struct made make_file(const char *path, bool with_syncs)
{
    struct stream streams[THREADS] = {0};
    for (unsigned i = 0; i < THREADS; i++)
        streams[i].out = open_memstream(&streams[i].bytes, &streams[i].size);
    const struct made made = make_streams(streams, with_syncs);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(fclose(streams[i].out) == 0);
    write_file(path, streams, made.syncs);
    for (unsigned i = 0; i < THREADS; i++)
        free(streams[i].bytes);
    return made;
}

/* How far a thread's ops have come when half of all are done. */
static void check_turns(const char *path, const struct made *made)
{
    struct wl_window window;
    uint64_t ops = 0, per_thread[THREADS] = {0};
    WL_READER *reader = wl_opened(path);
    while (reader != NULL && wl_reader_next(reader, &window) == FP_OK && ops < CALLS / 2) {
        ops += window.op_count;
        for (uint32_t i = 0; i < window.run_count; i++)
            per_thread[window.runs[i].thread] += window.runs[i].op_count;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        const uint32_t id = wl_reader_summary(reader)->threads[i].thread_id;
        const uint64_t whole = made->calls[id - 1];
        if (per_thread[i] * 10 < whole * 3 || per_thread[i] * 10 > whole * 7)
            HARNESS_FAIL("thread %u has done %" PRIu64 " of %" PRIu64 " at half time", id, per_thread[i],
                         whole);
    }
}

TEST(signals_are_heeded)
{
    const char *path = scratch_path("threads"), *out = scratch_path("threads.wl");
    const struct made made = make_file(path, true);
    const struct conv_options options = {.overwrite = true, .window_ops = 500};
    OWNED(conv_report) report = {0};
    char words[600];
    if (conv_file(path, out, &options, &report, &error) != FP_OK) {
        HARNESS_FAIL("%s", conv_error_text(&error, words, sizeof words));
        return;
    }
    CHECK_U64(report.survey.kind, CONV_KIND_GLIBC_WL);
    CHECK_U64(report.survey.ops, CALLS);
    CHECK_U64(report.survey.threads, THREADS);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        CHECK_U64(report.survey.irregular[i], 0);
    check_turns(out, &made);
}

/* The same calls without the signals: what the test above shows is due to them. */
TEST(without_signals_it_does_not_add_up)
{
    const char *path = scratch_path("unsigned");
    OWNED(conv_survey) survey = {0};
    (void)make_file(path, false);
    CHECK_U64(conv_survey_file(path, NULL, &survey, &error), FP_OK);
    CHECK(survey.irregular[CONV_LOST_FREE] > 100 && survey.irregular[CONV_FREE_OF_UNKNOWN] > 100);
}

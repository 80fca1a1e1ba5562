/* fp_scenes.c - footprints of every shape that the format allows, small. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/fp/footprint.h"
#include "footprint/fp/fp_sites.h"
#include "footprint/fp/record.h"
#include "golden/scenes.h"
#include "unit/append_block.h"
#include "unit/random.h"

#define MARKS_ROOM  1000
#define SHAPES_ROOM 400
#define STAMPS_ROOM 100

/* A block being put together. Epoch and time go on from block to block, as in a recording. */
struct stage {
    struct fp_mark marks[MARKS_ROOM];
    struct fp_shape shapes[SHAPES_ROOM];
    struct fp_stamp stamps[STAMPS_ROOM];
    struct fp_block block;
    uint64_t epoch, time_ns, random;
    uint64_t addresses[64]; /* objects live now */
    unsigned live;
    struct fp_lane lanes[4]; /* marks counted by flush */
};

static uint64_t random_next(struct stage *stage)
{
    return test_random(&stage->random);
}

static struct stage *stage_new(uint64_t seed)
{
    struct stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL)
        abort();
    stage->random = seed;
    stage->epoch = 1;
    stage->time_ns = 6400;
    stage->lanes[0] = (struct fp_lane){4242, true, 0};
    for (uint32_t i = 1; i < 4; i++)
        stage->lanes[i] = (struct fp_lane){4242 + i, false, 0};
    return stage;
}

static void add_stamp(struct stage *stage)
{
    stage->stamps[stage->block.stamp_count++] = (struct fp_stamp){stage->block.mark_count, stage->time_ns};
    stage->time_ns += 64 * (1 + random_next(stage) % 50);
}

static void add_mark(struct stage *stage, uint8_t call, uint64_t size, uint64_t extra, uint64_t address)
{
    struct fp_block *block = &stage->block;
    uint32_t shape = 0;
    while (shape < block->shape_count &&
           (stage->shapes[shape].call != call || stage->shapes[shape].size != size ||
            stage->shapes[shape].extra != extra))
        shape++;
    if (shape == block->shape_count)
        stage->shapes[block->shape_count++] = (struct fp_shape){call, size, extra};
    if (block->mark_count == 0)
        block->base_epoch = stage->epoch;
    if (block->mark_count % 15 == 0)
        add_stamp(stage);
    stage->marks[block->mark_count++] = (struct fp_mark){
        .address = address, .shape = (uint16_t)shape, .epoch = (uint32_t)(stage->epoch - block->base_epoch)};
}

static enum fp_status flush(struct stage *stage, struct fp_writer *writer, uint32_t lane, uint64_t sequence)
{
    stage->block.lane = lane;
    stage->block.sequence = sequence;
    stage->block.marks = stage->marks;
    stage->block.shapes = stage->shapes;
    stage->lanes[lane].marks += stage->block.mark_count;
    stage->block.stamps = stage->stamps;
    enum fp_status status = append_block(writer, &stage->block);
    stage->block = (struct fp_block){0};
    return status;
}

/* Ordinary traffic of one thread: malloc, free, now and then a realloc. */
static void add_traffic(struct stage *stage, unsigned marks)
{
    while (marks-- > 0) {
        const uint64_t choice = random_next(stage) % 8;
        const uint64_t size = 16 << random_next(stage) % 6;
        const unsigned victim = stage->live > 0 ? (unsigned)(random_next(stage) % stage->live) : 0;
        stage->epoch += random_next(stage) % 4 == 0;
        if (stage->live == 64 || (choice < 3 && stage->live > 0)) {
            add_mark(stage, FP_CALL_FREE, 0, 0, stage->addresses[victim]);
            stage->addresses[victim] = stage->addresses[--stage->live];
        } else if (choice == 3 && stage->live > 0) {
            add_mark(stage, FP_MARK_RESIZE_FROM, 0, 0, stage->addresses[victim]);
            stage->addresses[victim] = 0x555500000000 + random_next(stage) % 256 * 16;
            add_mark(stage, FP_CALL_REALLOC, size, 0, stage->addresses[victim]);
        } else {
            stage->addresses[stage->live] = 0x555500000000 + random_next(stage) % 256 * 16;
            add_mark(stage, FP_CALL_MALLOC, size, 0, stage->addresses[stage->live++]);
        }
    }
}

static enum fp_status begin(const char *path, size_t meta_count, struct fp_writer **ret_writer)
{
    static const struct fp_meta meta[] = {{"program", "scene"}, {"clock", "tsc"}, {"order", "epoch=1"}};
    const struct fp_writer_options options = {
        .process_id = 4242, .zstd_level = 1, .start_unix_ns = UINT64_C(1700000000000000000)};
    return fp_writer_create(AT_FDCWD, path, &options, meta, meta_count, NULL, ret_writer);
}

/* Frees the stage. writer: NULL when it could not be made. */
static enum fp_status end(struct stage *stage, struct fp_writer *writer, enum fp_status status,
                          struct fp_trailer trailer)
{
    trailer.lanes = stage->lanes;
    if (status == FP_OK)
        status = fp_writer_finish(writer, &trailer, NULL);
    else
        fp_writer_abandon(writer);
    free(stage);
    return status;
}

static enum fp_status write_one_lane(const char *path)
{
    struct stage *stage = stage_new(1);
    struct fp_writer *writer = NULL;
    enum fp_status status = begin(path, 3, &writer);
    for (unsigned i = 0; i < 3 && status == FP_OK; i++) {
        add_traffic(stage, 200);
        status = flush(stage, writer, 0, i);
    }
    return end(stage, writer, status, (struct fp_trailer){.end_time_ns = 900000, .lane_count = 1});
}

/* Four lanes that take turns; a lost block, a gap, forks, an exit, every cause of loss. */
static enum fp_status write_lanes(const char *path)
{
    static const struct {
        uint32_t lane;
        uint64_t sequence;
    } turns[] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 2}, {3, 0}, {0, 2}};
    struct fp_trailer trailer = {.end_time_ns = 1 << 20, .lane_count = 4};
    struct stage *stage = stage_new(2);
    struct fp_writer *writer = NULL;
    enum fp_status status = begin(path, 2, &writer);
    for (unsigned i = 0; i < 7 && status == FP_OK; i++) {
        add_traffic(stage, 30);
        if (turns[i].lane == 0)
            add_mark(stage, FP_MARK_FORK, turns[i].sequence + 1, 0, 0);
        if (turns[i].lane == 1 && turns[i].sequence == 2)
            add_mark(stage, FP_MARK_GAP, 1234567, 0, 0);
        stage->epoch += i == 4 ? UINT64_C(1) << 33 : 0; /* the next base is beyond 32 bits */
        if (turns[i].lane == 2)
            add_mark(stage, FP_MARK_THREAD_EXIT, 0, 0, 0);
        add_stamp(stage); /* after the last mark */
        status = flush(stage, writer, turns[i].lane, turns[i].sequence);
    }
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        trailer.lost[i] = UINT64_C(1) << i * 9;
    return end(stage, writer, status, trailer);
}

/* Every call and mark, with the least and greatest sizes, NULL results, addresses at the end of 64 bits. */
static enum fp_status write_calls(const char *path)
{
    struct stage *stage = stage_new(3);
    struct fp_writer *writer = NULL;
    enum fp_status status = begin(path, 3, &writer);
    for (unsigned call = 0; call < 256; call++) {
        const uint64_t extra = fp_call_extra_of(call) == FP_EXTRA_NONE ? 0 : 64;
        if (!fp_mark_is_valid(call) || call == FP_MARK_RESIDENT) /* which version 1 has not */
            continue;
        stage->epoch += call;
        add_mark(stage, (uint8_t)call, 0, extra, 0);
        add_mark(stage, (uint8_t)call, 100, extra, 0x7fff00000000 + call * 16);
        add_mark(stage, (uint8_t)call, UINT64_MAX, extra != 0 ? UINT64_MAX : 0, UINT64_MAX - call);
    }
    if (status == FP_OK)
        status = flush(stage, writer, 0, 0);
    return end(stage, writer, status, (struct fp_trailer){.end_time_ns = UINT64_MAX, .lane_count = 1});
}

#define LARGE_BYTES (128u * 1024) /* as large began when this golden file was made */

/* Shares of large objects before they go, and one that stays. */
static enum fp_status write_resident(const char *path)
{
    static const struct fp_writer_options options = {.process_id = 4242, .zstd_level = 1};
    struct stage *stage = stage_new(7);
    struct fp_writer *writer = NULL;
    enum fp_status status = fp_writer_create(AT_FDCWD, path, &options, NULL, 0, NULL, &writer);
    for (uint64_t i = 0; i < 6; i++) {
        const uint64_t address = 0x7f0000000010 + (i << 24);
        stage->epoch += i;
        add_mark(stage, FP_CALL_MALLOC, LARGE_BYTES << i, 0, address);
        add_mark(stage, FP_MARK_RESIDENT, 0, i * 51 < 250 ? i * 51 : FP_SHARE_WHOLE, address);
        if (i == 2)
            add_mark(stage, FP_MARK_RESIZE_FROM, 0, 0, address);
        if (i == 2)
            add_mark(stage, FP_CALL_REALLOC, LARGE_BYTES, 0, address);
        if (i != 3)
            add_mark(stage, FP_CALL_FREE, 0, 0, address);
    }
    if (status == FP_OK)
        status = flush(stage, writer, 0, 0);
    return end(stage, writer, status, (struct fp_trailer){.end_time_ns = 900000, .lane_count = 1});
}

/* What the process used, told twice, as a collector that was killed in between leaves it; a series, and figures not known. */
static enum fp_status write_usage(const char *path)
{
    static const struct fp_writer_options options = {.process_id = 4242, .zstd_level = 1};
    struct fp_usage_point points[40];
    struct stage *stage = stage_new(8);
    struct fp_writer *writer = NULL;
    struct fp_usage usage;
    enum fp_status status = fp_writer_create(AT_FDCWD, path, &options, NULL, 0, NULL, &writer);
    fp_usage_init(&usage);
    add_traffic(stage, 20);
    if (status == FP_OK)
        status = flush(stage, writer, 0, 0);
    if (status == FP_OK)
        status = fp_writer_usage(writer, &usage);
    for (unsigned i = 0; i < 40; i++)
        points[i] = (struct fp_usage_point){.time_ns = 6400 + i * UINT64_C(50000000),
                                            .rss_bytes = (i < 20 ? i : 40 - i) * UINT64_C(1048576) + 4096,
                                            .rss_anon_bytes = (i < 20 ? i : 40 - i) * UINT64_C(1048576),
                                            .cpu_ns = i * UINT64_C(10000000)};
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++)
        *fp_usage_at(&usage, &FP_USAGE_NUMBERS[i]) = FP_USAGE_NUMBERS[i].together == FP_OF_MACHINE
                                                         ? FP_USAGE_NUMBERS[i].most
                                                         : (i + 1) * 1000000;
    usage.faults_major = 0;
    usage.memory_age_ns = FP_USAGE_UNKNOWN;
    usage.code = 9;
    usage.ended = FP_ENDED_SIGNAL;
    usage.runs_on = FP_RUNS_ON_PRELOADED;
    strcpy(usage.allocator, "jemalloc");
    strcpy(usage.version, "5.3.0");
    strcpy(usage.library, "/usr/lib/libjemalloc.so.2");
    strcpy(usage.machine.kernel, "6.1.0-13-amd64");
    usage.point_count = 40;
    usage.points = points;
    if (status == FP_OK)
        status = fp_writer_usage(writer, &usage);
    return end(stage, writer, status,
               (struct fp_trailer){.end_time_ns = UINT64_C(2000000000), .lane_count = 1});
}

/* Stacks of three modules, one of which was loaded where another had been; cut ones, a node told twice and one never; a block
 * of marks without sites beside those with. */
static enum fp_status write_sites(const char *path)
{
    static const struct fp_writer_options options = {.process_id = 4242, .zstd_level = 1};
    static const struct fp_module modules[] = {
        {0x555500000000, 0x555500010000, 0x555500000000, 0, 4, {0xde, 0xad, 0xbe, 0xef}, ""},
        {0x7f0000000000, 0x7f0000200000, 0x7effffff0000, 0, 20, {1, 2, 3}, "/usr/lib/libone.so"},
        {0x7f0000100000, 0x7f0000300000, 0x7f0000100000, 1, 0, {0}, "/usr/lib/libtwo.so"}};
    static const struct fp_site_entry first[] = {{16, {0x555500000100, FP_CUT_NONE, 0}},
                                                 {17, {0x7f0000000200, 16, 0}},
                                                 {19, {0x7f0000100300, 17, 0}},
                                                 {20, {0x7f0000100300, 17, 1}}};
    static const struct fp_site_entry second[] = {
        {17, {0x7f0000000200, 16, 0}}, {18, {0x7f0000000200, FP_CUT_CFI, 0}}, {22, {0x7fffffffffff, 21, 0}}};
    static uint32_t sites[MARKS_ROOM];
    struct stage *stage = stage_new(9);
    struct fp_writer *writer = NULL;
    enum fp_status status = fp_writer_create(AT_FDCWD, path, &options, NULL, 0, NULL, &writer);
    if (status == FP_OK)
        status = fp_writer_modules(writer, modules, 2);
    if (status == FP_OK)
        status = fp_writer_sites(writer, first, 4);
    add_traffic(stage, 40);
    for (uint32_t i = 0; i < stage->block.mark_count; i++)
        sites[i] = !fp_call_has_site(stage->shapes[stage->marks[i].shape].call) ? 0
                   : i % 7 == 3                                                 ? FP_CUT_STACK
                                                                                : FP_SITE_FIRST + i * 5 % 8;
    stage->block.sites = sites;
    if (status == FP_OK)
        status = flush(stage, writer, 0, 0);
    if (status == FP_OK)
        status = fp_writer_sites(writer, second, 3);
    if (status == FP_OK)
        status = fp_writer_modules(writer, modules + 1, 2);
    add_traffic(stage, 10);
    if (status == FP_OK)
        status = flush(stage, writer, 0, 1);
    return end(stage, writer, status, (struct fp_trailer){.end_time_ns = 900000, .lane_count = 1});
}

/* A sample of stacks: most allocations have none. */
static enum fp_status write_sample(const char *path)
{
    static const struct fp_writer_options options = {.process_id = 4242, .zstd_level = 1};
    static const struct fp_meta meta[] = {{"program", "scene"}, {FP_SAMPLE_META, "524288"}};
    static const struct fp_site_entry nodes[] = {{16, {0x555500000100, FP_CUT_NONE, 0}},
                                                 {17, {0x555500000200, 16, 0}}};
    static uint32_t sites[MARKS_ROOM];
    struct stage *stage = stage_new(9);
    struct fp_writer *writer = NULL;
    enum fp_status status = fp_writer_create(AT_FDCWD, path, &options, meta, 2, NULL, &writer);
    if (status == FP_OK)
        status = fp_writer_sites(writer, nodes, 2);
    add_traffic(stage, 40);
    for (uint32_t i = 0; i < stage->block.mark_count; i++)
        sites[i] = !fp_call_has_site(stage->shapes[stage->marks[i].shape].call) ? 0
                   : i % 6 == 0                                                 ? 17
                                                                                : FP_CUT_UNSAMPLED;
    stage->block.sites = sites;
    if (status == FP_OK)
        status = flush(stage, writer, 0, 0);
    return end(stage, writer, status, (struct fp_trailer){.end_time_ns = 900000, .lane_count = 1});
}

/* Recovered from a killed collector while the process went on. */
static enum fp_status write_ran_on(const char *path)
{
    struct stage *stage = stage_new(5);
    struct fp_writer *writer = NULL;
    enum fp_status status = begin(path, 3, &writer);
    add_traffic(stage, 20);
    if (status == FP_OK)
        status = flush(stage, writer, 0, 0);
    return end(
        stage, writer, status,
        (struct fp_trailer){.end_time_ns = 900000, .lane_count = 1, .ran_on = true, .uncounted = true});
}

/* More than 256 shapes, so that their high bytes are stored; no stamps but the first. */
static enum fp_status write_shapes(const char *path)
{
    struct stage *stage = stage_new(4);
    struct fp_writer *writer = NULL;
    enum fp_status status = begin(path, 1, &writer);
    for (unsigned i = 0; i < 700; i++)
        add_mark(stage, FP_CALL_CALLOC, i % 300, 3, 0x600000 + i % 77 * 8);
    stage->block.stamp_count = 1;
    if (status == FP_OK)
        status = flush(stage, writer, 0, 0);
    return end(stage, writer, status, (struct fp_trailer){.lane_count = 1});
}

static enum fp_status write_no_trailer(const char *path)
{
    struct stage *stage = stage_new(5);
    struct fp_writer *writer = NULL;
    enum fp_status status = begin(path, 3, &writer);
    for (unsigned i = 0; i < 2 && status == FP_OK; i++) {
        add_traffic(stage, 50);
        status = flush(stage, writer, i, 0);
    }
    free(stage);
    fp_writer_abandon(writer);
    return status;
}

static enum fp_status write_empty(const char *path)
{
    struct fp_writer *writer = NULL;
    const enum fp_status status = begin(path, 0, &writer);
    return end(stage_new(6), writer, status, (struct fp_trailer){0});
}

const struct scene FP_SCENES[] = {
    {"one-lane.fp", write_one_lane}, {"lanes.fp", write_lanes},       {"calls.fp", write_calls},
    {"shapes.fp", write_shapes},     {"ran-on.fp", write_ran_on},     {"no-trailer.fp", write_no_trailer},
    {"empty.fp", write_empty},       {"resident.fp", write_resident}, {"usage.fp", write_usage},
    {"sites.fp", write_sites},       {"sample.fp", write_sample},     {NULL, NULL},
};

/* wl_scenes.c - workloads of every shape that the format allows, small. */
#include <stdint.h>
#include <stdlib.h>

#include "footprint/wl/workload.h"
#include "golden/scenes.h"
#include "unit/random.h"

#define LIVE_ROOM 512

/* Plays a random program against a writer; the first failure sticks. */
struct player {
    struct wl_writer *writer;
    enum fp_status status;
    uint64_t random, time_ns;
    struct {
        uint32_t id;
        uint64_t bytes;
    } live[LIVE_ROOM];
    uint32_t live_count;
};

static uint64_t random_next(struct player *player)
{
    return test_random(&player->random);
}

static void begin(struct player *player, const char *path, uint32_t window_ops, uint64_t seed)
{
    static const struct fp_meta meta[] = {{"program", "scene"}, {"source", "footprint"}};
    const struct wl_writer_options options = {.window_ops = window_ops, .zstd_level = 1};
    *player = (struct player){.random = seed, .time_ns = 1000};
    player->status = wl_writer_create(path, false, &options, meta, 2, NULL, &player->writer);
}

static void add_thread(struct player *player, uint32_t thread_id, bool is_main)
{
    uint32_t thread;
    if (player->status == FP_OK)
        player->status = wl_writer_thread(player->writer, thread_id, is_main, &thread);
}

static void allocate(struct player *player, uint32_t thread, uint8_t call, uint64_t size, uint64_t extra)
{
    const struct fp_shape shape = {call, size, extra};
    uint32_t id = 0;
    if (player->status != FP_OK || player->live_count == LIVE_ROOM)
        return;
    player->status = wl_writer_allocate(player->writer, thread, &shape, player->time_ns, &id);
    player->live[player->live_count].id = id;
    player->live[player->live_count++].bytes = fp_shape_bytes(&shape);
}

static void resize(struct player *player, uint32_t thread, uint8_t call, uint64_t size, uint64_t extra,
                   uint32_t victim)
{
    const struct fp_shape shape = {call, size, extra};
    if (player->status == FP_OK)
        player->status = wl_writer_resize(player->writer, thread, &shape, player->time_ns,
                                          player->live[victim].id, player->live[victim].bytes);
    player->live[victim].bytes = fp_shape_bytes(&shape);
}

static void release(struct player *player, uint32_t thread, uint8_t call, uint64_t size, uint64_t extra,
                    uint32_t victim)
{
    const struct fp_shape shape = {call, size, extra};
    if (player->status == FP_OK)
        player->status = wl_writer_release(player->writer, thread, &shape, player->time_ns,
                                           player->live[victim].id, player->live[victim].bytes);
    player->live[victim] = player->live[--player->live_count];
}

static enum fp_status end(struct player *player, bool noted)
{
    if (player->status == FP_OK && noted)
        player->status = wl_writer_note(player->writer, "irregular_double_free", "2");
    if (player->status == FP_OK)
        return wl_writer_finish(player->writer, player->time_ns + 100000, NULL, NULL, NULL);
    wl_writer_abandon(player->writer);
    return player->status;
}

static void play(struct player *player, uint32_t ops, uint32_t threads)
{
    uint32_t thread = 0;
    while (ops-- > 0) {
        const uint64_t choice = random_next(player) % 10;
        const uint64_t size = random_next(player) % 20 * 24;
        const uint32_t victim = player->live_count > 0 ? (uint32_t)(random_next(player) % player->live_count)
                                                       : 0;
        player->time_ns += random_next(player) % 500;
        if (random_next(player) % 5 == 0)
            thread = (uint32_t)(random_next(player) % threads);
        if (choice < 5 || player->live_count == 0)
            allocate(player, thread, choice == 0 ? FP_CALL_REALLOC : FP_CALL_MALLOC, size, 0);
        else if (choice == 5)
            resize(player, thread, FP_CALL_REALLOC, size, 0, victim);
        else
            release(player, thread, FP_CALL_FREE, 0, 0, victim);
    }
}

static enum fp_status write_one_thread(const char *path)
{
    struct player player;
    begin(&player, path, 0, 1);
    add_thread(&player, 77, true);
    play(&player, 500, 1);
    return end(&player, false);
}

/* Small windows, so that ids change threads between them; waits; threads that come and go. */
static enum fp_status write_threads(const char *path)
{
    struct player player;
    begin(&player, path, 64, 2);
    for (uint32_t i = 0; i < 4; i++)
        add_thread(&player, 100 + i, i == 1);
    play(&player, 150, 2);
    if (player.status == FP_OK)
        wl_writer_thread_exit(player.writer, 0);
    for (uint32_t i = 0; i < 150 && player.status == FP_OK; i++) {
        const uint32_t thread = (uint32_t)(1 + random_next(&player) % 3);
        player.time_ns += 77;
        if (i % 2 == 0)
            allocate(&player, thread, FP_CALL_NEW, 8 * i, 0);
        else
            release(&player, thread, FP_CALL_DELETE, 0, 0,
                    (uint32_t)(random_next(&player) % player.live_count));
    }
    if (player.status == FP_OK)
        wl_writer_thread_exit(player.writer, 3);
    return end(&player, true);
}

/* Every call with its least and a great size; releases of NULL; what the writer folds and raises. */
static enum fp_status write_calls(const char *path)
{
    static const uint64_t sizes[] = {0, 1000, UINT64_C(1) << 40};
    struct player player;
    const struct fp_shape release_null = {FP_CALL_FREE, 0, 0};
    begin(&player, path, 50, 3);
    add_thread(&player, 1, true);
    for (unsigned i = 0; i < 3; i++) {
        for (uint8_t call = 1; call < FP_CALL_COUNT; call++) {
            const uint64_t extra = fp_call_extra_of(call) == FP_EXTRA_NONE ? 0 : UINT64_C(1) << 3 * i;
            player.time_ns += 64;
            if (fp_call_kind_of(call) == FP_KIND_ALLOCATE)
                allocate(&player, 0, call, sizes[i], extra);
            else if (fp_call_kind_of(call) == FP_KIND_RESIZE)
                resize(&player, 0, call, sizes[i], extra, 0);
            else
                release(&player, 0, call, i == 2 ? 0 : sizes[i], extra, player.live_count - 1);
            if (player.live_count == 0)
                allocate(&player, 0, FP_CALL_REALLOCARRAY, 8, 3);
        }
    }
    allocate(&player, 0, FP_CALL_CALLOC, 8, 100000);
    allocate(&player, 0, FP_CALL_MEMALIGN, 8, 24);
    if (player.status == FP_OK)
        player.status = wl_writer_release(player.writer, 0, &release_null, 0, 0, 0);
    return end(&player, false);
}

/* More than 256 shapes, and one window long after the others. */
static enum fp_status write_shapes(const char *path)
{
    struct player player;
    begin(&player, path, 300, 4);
    add_thread(&player, 1, true);
    for (uint32_t i = 0; i < 400; i++) {
        player.time_ns += i == 350 ? UINT64_C(1) << 40 : 1;
        allocate(&player, 0, FP_CALL_MALLOC, i, 0);
    }
    return end(&player, true);
}

#define LARGE_BYTES (128u * 1024) /* as large began when this golden file was made */

/* Shares of large objects, told when they go: two windows later, twice, of all, of one that was resized. */
static enum fp_status write_touched(const char *path)
{
    static const struct wl_writer_options options = {.window_ops = 10, .zstd_level = 1};
    struct player player = {.random = 6, .time_ns = 1000};
    player.status = wl_writer_create(path, false, &options, NULL, 0, NULL, &player.writer);
    add_thread(&player, 1, true);
    for (uint32_t i = 0; i < 24; i++) {
        player.time_ns += 640;
        allocate(&player, 0, i % 3 == 0 ? FP_CALL_CALLOC : FP_CALL_MALLOC, LARGE_BYTES + i, 1);
    }
    resize(&player, 0, FP_CALL_REALLOC, LARGE_BYTES * 4, 0, 5);
    for (uint32_t i = 24; i-- > 4 && player.status == FP_OK;) {
        player.status = wl_writer_touched(player.writer, player.live[i].id, i * 12 < 256 ? i * 12 : 256);
        if (player.status == FP_OK && i == 7)
            player.status = wl_writer_touched(player.writer, player.live[i].id, 200);
        release(&player, 0, FP_CALL_FREE, 0, 0, i);
    }
    return end(&player, false);
}

/* Pauses before ops of every place: a 16th one, the next, the last of a window, two in a row, and before the end. */
static enum fp_status write_pauses(const char *path)
{
    static const struct wl_writer_options options = {
        .window_ops = 40, .zstd_level = 1, .pause_ns = WL_PAUSE_NS};
    static const uint32_t behind[] = {1, 16, 21, 22, 33, 39, 40, 41, 59};
    struct player player = {.random = 7, .time_ns = 1000};
    uint32_t next = 0;
    player.status = wl_writer_create(path, false, &options, NULL, 0, NULL, &player.writer);
    add_thread(&player, 1, true);
    for (uint32_t i = 0; i < 100; i++) {
        const bool pauses = next < sizeof behind / sizeof *behind && behind[next] == i;
        next += pauses;
        player.time_ns += pauses ? WL_PAUSE_NS : 640;
        allocate(&player, 0, FP_CALL_MALLOC, 100 + i, 0);
    }
    player.time_ns += 10 * WL_PAUSE_NS;
    return end(&player, false);
}

/* Call sites: of two modules, one of them the program and told twice, of compiled code, cut ones, one that the recorder lost;
 * with more of each than ops need. Nodes 20 and 23 are of one stack, 30 has callers that ops name before it. */
static enum fp_status write_sites(const char *path)
{
    static const struct fp_site_node nodes[48] = {
        [16] = {.address = 0x401100, .parent = FP_CUT_NONE},
        [17] = {.address = 0x401200, .parent = 16},
        [18] = {.address = 0x7f0000001234, .parent = 17, .epoch = 1},
        [19] = {.address = 0x7f0000001238, .parent = 17, .epoch = 1}, /* no op names it */
        [20] = {.address = 0x7f0000001300, .parent = 18, .epoch = 1},
        [22] = {.address = 0x7e0000000777, .parent = FP_CUT_CFI}, /* in no module, as the next */
        [23] = {.address = 0x7e0000000666, .parent = 22},
        [30] = {.address = 0x7f0000005678, .parent = 20, .epoch = 2}, /* another that was loaded there */
        [31] = {.address = 0x401100, .parent = 25},                   /* its parent was lost */
        [47] = {.address = 0x401300, .parent = 30},
    };
    static const struct fp_module modules[] = {
        {.start = 0x7d0000000000, .end = 0x7d0000001000, .base = 0x7d0000000000, .path = "/lib/unused.so"},
        {.start = 0x7f0000001000,
         .end = 0x7f0000009000,
         .base = 0x7f0000000000,
         .epoch = 1,
         .build_id_bytes = 4,
         .build_id = {1, 2, 3, 4},
         .path = "/home/somebody/lib/libx.so.1"},
        {.start = 0x401000, .end = 0x402000, .base = 0x400000, .path = ""},
        {.start = 0x7f0000001000,
         .end = 0x7f0000009000,
         .base = 0x7f0000000000,
         .epoch = 2,
         .build_id_bytes = 4,
         .build_id = {1, 2, 3, 5},
         .path = "/home/somebody/lib/liby.so"},
    };
    static const struct fp_sites sites = {
        .node_end = 48, .nodes = nodes, .module_count = 4, .modules = modules};
    static const uint32_t order[] = {20, 0, 20, 18, FP_CUT_STACK, 23, 30, 24, 22, 31, 47, 20, 999999, 16};
    const struct wl_writer_options options = {
        .window_ops = 20, .zstd_level = 1, .pause_ns = WL_PAUSE_NS, .sites = &sites, .program = "scene"};
    struct player player = {.random = 8, .time_ns = 1000};
    player.status = wl_writer_create(path, false, &options, NULL, 0, NULL, &player.writer);
    add_thread(&player, 1, true);
    for (uint32_t i = 0; i < 70; i++) {
        player.time_ns += 640;
        if (player.status == FP_OK && i % 5 != 4)
            wl_writer_site(player.writer, order[i / 2 % (sizeof order / sizeof order[0])]);
        if (i % 5 == 3 && i < 60)
            resize(&player, 0, FP_CALL_REALLOC, 64 + i % 2 * 16, 0, 0);
        else if (i % 5 == 4)
            release(&player, 0, FP_CALL_FREE, 0, 0, player.live_count - 1);
        else
            allocate(&player, 0, i % 7 == 0 ? FP_CALL_REALLOC : FP_CALL_NEW, 24 + i % 3 * 8, 0);
    }
    return end(&player, false);
}

static enum fp_status write_empty(const char *path)
{
    struct player player;
    begin(&player, path, 0, 5);
    return end(&player, false);
}

const struct scene WL_SCENES[] = {
    {"one-thread.wl", write_one_thread}, {"threads.wl", write_threads}, {"calls.wl", write_calls},
    {"shapes.wl", write_shapes},         {"empty.wl", write_empty},     {"touched.wl", write_touched},
    {"pauses.wl", write_pauses},         {"sites.wl", write_sites},     {NULL, NULL},
};

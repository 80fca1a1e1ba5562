/* waste.c - live objects by the workload, their usable sizes by the allocator, the difference. */
#include "replay/meters/waste.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "replay/base/proc.h"

/* A window that cannot be read ends the replay, too, which says why. */
static uint64_t highest_live_bytes(struct wl_reader *reader)
{
    struct wl_window window;
    uint64_t highest = 0;
    while (wl_reader_next(reader, &window) == FP_OK)
        highest = window.facts.live_bytes > highest ? window.facts.live_bytes : highest;
    wl_reader_rewind(reader);
    return highest;
}

bool rep_waste_init(struct rep_waste *waste, const char *path, const char *kind, void **slots)
{
    struct fp_error error;
    *waste = (struct rep_waste){.kind = kind, .slots = slots};
    if (wl_reader_open(path, &error, &waste->reader) != FP_OK)
        return false;
    const struct wl_summary *summary = wl_reader_summary(waste->reader);
    waste->highest_live_bytes = highest_live_bytes(waste->reader);
    waste->before = (struct rep_waste_sample){
        .cached_bytes = REP_WASTE_UNKNOWN,
        .metadata_bytes = REP_WASTE_UNKNOWN,
    };
    rep_statistics(kind, &waste->before); /* of no live object: usable_bytes is 0 */
    return rep_live_init(&waste->live, summary->id_max);
}

bool rep_waste_is_due(const struct rep_waste *waste, const struct wl_window *window)
{
    /* A slice that ends within a window tells no peak, and the live objects are followed by whole windows. */
    const bool ends_window = window->facts.live_bytes_peak >= window->facts.live_bytes;
    return !waste->peak.taken && ends_window && window->facts.live_bytes >= waste->highest_live_bytes;
}

/* The windows before the op that were not read yet. They were read once: no status can be new. */
static void catch_up(struct rep_waste *waste, uint64_t ops)
{
    struct wl_window window = {0};
    while (window.facts.first_op + window.op_count < ops && wl_reader_next(waste->reader, &window) == FP_OK)
        rep_live_follow(&waste->live, &window, window.op_count);
}

static const void *library_of(const void *address)
{
    Dl_info info;
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* Another library's malloc_usable_size would read headers that are not there. */
static int64_t usable_bytes(const struct rep_waste *waste)
{
    size_t (*usable_size)(void *);
    void *found = dlsym(RTLD_DEFAULT, "malloc_usable_size");
    int64_t sum = 0;
    if (found == NULL || library_of(found) != library_of(dlsym(RTLD_DEFAULT, "malloc")))
        return REP_WASTE_UNKNOWN;
    memcpy(&usable_size, &found, sizeof usable_size);
    for (uint32_t id = 1; id <= waste->live.id_max && id != 0; id++) {
        if (waste->live.sizes[id] != 0 && waste->slots[id] != NULL)
            sum += (int64_t)usable_size(waste->slots[id]);
    }
    return sum;
}

static int64_t huge_page_bytes(void)
{
    uint64_t kilobytes;
    return rep_proc_number("/proc/self/smaps_rollup", "AnonHugePages:", &kilobytes)
               ? (int64_t)kilobytes * 1024
               : REP_WASTE_UNKNOWN;
}

static int64_t known_or_zero(int64_t bytes)
{
    return bytes != REP_WASTE_UNKNOWN ? bytes : 0;
}

static int64_t since(int64_t bytes, int64_t before)
{
    if (bytes == REP_WASTE_UNKNOWN || bytes < known_or_zero(before))
        return REP_WASTE_UNKNOWN;
    return bytes - known_or_zero(before);
}

void rep_waste_sample(struct rep_waste *waste, struct rep_waste_sample *ret_sample, uint64_t ops,
                      uint64_t time_ns, uint64_t resident_bytes)
{
    catch_up(waste, ops);
    *ret_sample = (struct rep_waste_sample){
        .taken = true,
        .ops = ops,
        .time_ns = time_ns,
        .live_bytes = waste->live.bytes,
        .live_objects = waste->live.objects,
        .resident_bytes = resident_bytes,
        .usable_bytes = usable_bytes(waste),
        .rounding_bytes = REP_WASTE_UNKNOWN,
        .cached_bytes = REP_WASTE_UNKNOWN,
        .metadata_bytes = REP_WASTE_UNKNOWN,
        .huge_page_bytes = huge_page_bytes(),
    };
    if (ret_sample->usable_bytes != REP_WASTE_UNKNOWN)
        ret_sample->rounding_bytes = ret_sample->usable_bytes - (int64_t)ret_sample->live_bytes;
    rep_statistics(waste->kind, ret_sample);
    ret_sample->cached_bytes = since(ret_sample->cached_bytes, waste->before.cached_bytes);
    ret_sample->metadata_bytes = since(ret_sample->metadata_bytes, waste->before.metadata_bytes);
    ret_sample->rest_bytes = (int64_t)resident_bytes - (int64_t)ret_sample->live_bytes -
                             known_or_zero(ret_sample->rounding_bytes) -
                             known_or_zero(ret_sample->cached_bytes) -
                             known_or_zero(ret_sample->metadata_bytes);
}

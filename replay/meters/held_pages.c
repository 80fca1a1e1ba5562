/* held_pages.c - resident pages shared out over the live objects on them. */
#include "replay/meters/held_pages.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/base/own_process.h"
#include "replay/base/storage.h"

/* ---- sharing out ------------------------------------------------------------------------------- */

static uint64_t end_of(const struct rep_held_object *object)
{
    return object->address + object->bytes;
}

/* How many of an object's bytes lie below `end` and not below `begin`. */
static uint64_t within(const struct rep_held_object *object, uint64_t begin, uint64_t end)
{
    const uint64_t from = object->address > begin ? object->address : begin;
    const uint64_t to = end_of(object) < end ? end_of(object) : end;
    return to > from ? to - from : 0;
}

/* The objects from `first` up to `end` have bytes on the page, which is resident. */
static void share_page(const struct rep_held_object *objects, size_t first, size_t end, uint64_t begin,
                       uint64_t *ret_held)
{
    uint64_t sum = 0;
    for (size_t i = first; i < end; i++)
        sum += within(&objects[i], begin, begin + REP_PAGE_BYTES);
    for (size_t i = first; i < end && sum > 0; i++)
        ret_held[objects[i].id] += REP_HELD_UNIT * REP_PAGE_BYTES *
                                   within(&objects[i], begin, begin + REP_PAGE_BYTES) / sum;
}

void rep_held_share(const struct rep_held_object *objects, size_t count,
                    enum rep_page_state (*state_of)(void *context, uint64_t page), void *context,
                    uint64_t *ret_held, struct rep_held_sums *ret_sums)
{
    size_t first = 0;
    uint64_t page = 0;
    *ret_sums = (struct rep_held_sums){0};
    while (first < count) {
        const uint64_t own = objects[first].address / REP_PAGE_BYTES;
        page = own > page ? own : page;
        const uint64_t begin = page * REP_PAGE_BYTES;
        size_t end = first + 1;
        while (end < count && objects[end].address < begin + REP_PAGE_BYTES)
            end++;
        const enum rep_page_state state = state_of(context, page);
        if (state == REP_PAGE_RESIDENT) {
            share_page(objects, first, end, begin, ret_held);
            ret_sums->pages_bytes += REP_PAGE_BYTES;
        } else if (state == REP_PAGE_SWAPPED) {
            ret_sums->swapped_bytes += REP_PAGE_BYTES;
        }
        while (first < count && end_of(&objects[first]) <= begin + REP_PAGE_BYTES)
            first++;
        page++;
    }
}

#define DIGIT_BITS 16u
#define DIGITS     4u

void rep_held_sort(struct rep_held_object *objects, struct rep_held_object *scratch, size_t count)
{
    static size_t places[1u << DIGIT_BITS];
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        const unsigned shift = digit * DIGIT_BITS;
        size_t sum = 0;
        memset(places, 0, sizeof places);
        for (size_t i = 0; i < count; i++)
            places[objects[i].address >> shift & ((1u << DIGIT_BITS) - 1)]++;
        for (size_t i = 0; i < 1u << DIGIT_BITS; i++) {
            const size_t here = places[i];
            places[i] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            scratch[places[objects[i].address >> shift & ((1u << DIGIT_BITS) - 1)]++] = objects[i];
        struct rep_held_object *sorted = scratch;
        scratch = objects;
        objects = sorted;
    }
    _Static_assert(DIGITS % 2 == 0, "what is sorted is where it was");
}

/* ---- in the replay ----------------------------------------------------------------------------- */

static uint64_t *map_file(int fd, size_t bytes, const char **ret_why)
{
    struct stat facts;
    *ret_why = "the file of --held has not 8 bytes for each object id of the workload";
    if (fstat(fd, &facts) != 0 || (uint64_t)facts.st_size != bytes)
        return NULL;
    *ret_why = "the file of --held cannot be mapped";
    uint64_t *file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    return file != MAP_FAILED ? file : NULL;
}

bool rep_held_init(struct rep_held *held, int fd, uint64_t at_op, const struct wl_summary *summary,
                   void *const *slots, const char **ret_why)
{
    *held = (struct rep_held){
        .at_op = at_op, .id_max = summary->id_max, .slots = slots, .usable_size = rep_usable_size()};
    held->file = map_file(fd, ((size_t)summary->id_max + 1) * sizeof *held->file, ret_why);
    if (held->file == NULL)
        return false;
    for (size_t id = 1; id <= held->id_max; id++)
        held->count += held->file[id] != 0;
    *ret_why = "/proc/self/pagemap cannot be read";
    held->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (held->pagemap_fd < 0)
        return false;
    *ret_why = "the live objects do not fit into memory";
    held->objects = rep_storage_map(held->count, sizeof *held->objects);
    held->scratch = rep_storage_map(held->count, sizeof *held->scratch);
    return held->objects != NULL && held->scratch != NULL;
}

#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)

static enum rep_page_state state_of(void *context, uint64_t page)
{
    struct rep_held *held = context;
    if (page < held->block_first || page >= held->block_first + held->block_count) {
        const ssize_t got = pread(held->pagemap_fd, held->block, sizeof held->block,
                                  (off_t)(page * sizeof held->block[0]));
        held->block_first = page;
        held->block_count = got > 0 ? (uint64_t)got / sizeof held->block[0] : 0;
    }
    if (held->block_count == 0)
        return REP_PAGE_ABSENT;
    const uint64_t bits = held->block[page - held->block_first];
    return (bits & PAGEMAP_PRESENT) != 0   ? REP_PAGE_RESIDENT
           : (bits & PAGEMAP_SWAPPED) != 0 ? REP_PAGE_SWAPPED
                                           : REP_PAGE_ABSENT;
}

static uint64_t bytes_of(const struct rep_held *held, void *object, uint64_t requested)
{
    const uint64_t usable = held->usable_size != NULL ? held->usable_size(object) : 0;
    return usable > requested ? usable : requested > 0 ? requested : 1;
}

void rep_held_take(struct rep_held *held, uint64_t resident_bytes)
{
    size_t count = 0;
    for (uint32_t id = 1; id <= held->id_max && id != 0 && count < held->count; id++) {
        const uint64_t size = held->file[id];
        held->file[id] = 0;
        if (size != 0 && held->slots[id] != NULL)
            held->objects[count++] = (struct rep_held_object){
                .address = (uintptr_t)held->slots[id],
                .bytes = bytes_of(held, held->slots[id], size - 1),
                .id = id};
    }
    held->resident_bytes = resident_bytes;
    rep_held_sort(held->objects, held->scratch, count);
    rep_held_share(held->objects, count, state_of, held, held->file, &held->sums);
    held->taken = true;
}

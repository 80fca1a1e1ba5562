/* test_replay_held - resident pages are shared out over the live objects on them, wholly, and to nobody else. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "replay/base/storage.h"
#include "replay/meters/held_pages.h"

#define PAGE REP_PAGE_BYTES
#define IDS  5000u

static uint64_t held[IDS + 1];
static struct rep_held_sums sums;
static uint64_t asked_last;

/* Each 10th page is in swap, each 7th is absent; asked of each once, by rising number. */
static enum rep_page_state some(void *context, uint64_t page)
{
    (void)context;
    CHECK(page > asked_last || asked_last == 0);
    asked_last = page;
    return page % 10 == 0 ? REP_PAGE_SWAPPED : page % 7 == 0 ? REP_PAGE_ABSENT : REP_PAGE_RESIDENT;
}

static enum rep_page_state all(void *context, uint64_t page)
{
    (void)context;
    (void)page;
    return REP_PAGE_RESIDENT;
}

static uint64_t share(const struct rep_held_object *objects, size_t count,
                      enum rep_page_state (*state_of)(void *context, uint64_t page))
{
    uint64_t sum = 0;
    memset(held, 0, sizeof held);
    asked_last = 0;
    rep_held_share(objects, count, state_of, NULL, held, &sums);
    for (size_t i = 0; i <= IDS; i++)
        sum += held[i];
    return sum / REP_HELD_UNIT;
}

TEST(what_nobody_uses_goes_with_who_pins_the_page)
{
    const struct rep_held_object alone = {.address = 10 * PAGE + 16, .bytes = 8, .id = 3};
    CHECK_U64(share(&alone, 1, all), PAGE);
    CHECK_U64(held[3], PAGE * REP_HELD_UNIT);
}

TEST(a_page_is_shared_by_bytes)
{
    const struct rep_held_object objects[] = {{.address = 11 * PAGE, .bytes = 300, .id = 1},
                                              {.address = 11 * PAGE + 512, .bytes = 100, .id = 2}};
    CHECK_U64(share(objects, 2, all), PAGE);
    CHECK_U64(held[1], PAGE * REP_HELD_UNIT / 4 * 3);
    CHECK_U64(held[2], PAGE * REP_HELD_UNIT / 4);
}

/* One that begins in the midst of a page and ends in that of another, with a small one behind it. */
TEST(an_object_of_several_pages_has_a_share_of_each)
{
    const struct rep_held_object objects[] = {{.address = 20 * PAGE + PAGE / 2, .bytes = 2 * PAGE, .id = 1},
                                              {.address = 22 * PAGE + PAGE / 2, .bytes = PAGE / 4, .id = 2}};
    const uint64_t sum = share(objects, 2, all);
    CHECK(sum <= 3 * PAGE && sum + 1 >= 3 * PAGE);
    CHECK_U64(held[2] / REP_HELD_UNIT, PAGE / 3);
    CHECK_U64(sums.pages_bytes, 3 * PAGE);
}

TEST(nothing_is_held_of_what_is_not_resident)
{
    const struct rep_held_object objects[] = {
        {.address = 20 * PAGE, .bytes = 3 * PAGE, .id = 1}}; /* 20: swapped, 21: absent */
    CHECK_U64(share(objects, 1, some), PAGE);
    CHECK_U64(sums.swapped_bytes, PAGE);
    CHECK_U64(sums.pages_bytes, PAGE);
    CHECK_U64(share(NULL, 0, some), 0);
}

static uint64_t seed = 4;

static uint64_t pick(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

/* Objects of all sizes, in any order: what they hold adds up to the pages, as one who looks at each page by itself counts them. */
TEST(shares_add_up_to_the_pages)
{
    static struct rep_held_object objects[IDS], scratch[IDS];
    static bool used[1u << 16];
    uint64_t at = UINT64_C(0x7f0000000000), pages = 0, first = at / PAGE;
    for (uint32_t i = 0; i < IDS; i++) {
        const uint64_t bytes = 1 + (pick(50) == 0 ? pick(5 * PAGE) : pick(200));
        objects[i] = (struct rep_held_object){.address = at, .bytes = bytes, .id = 1 + i};
        for (uint64_t page = at / PAGE; page <= (at + bytes - 1) / PAGE; page++)
            used[page - first] = true;
        at += (bytes + 15) / 16 * 16 + (pick(9) == 0 ? 16 * pick(1000) : 0);
    }
    for (uint32_t i = IDS; i > 1; i--) {
        const uint64_t other = pick(i);
        const struct rep_held_object swapped = objects[i - 1];
        objects[i - 1] = objects[other];
        objects[other] = swapped;
    }
    rep_held_sort(objects, scratch, IDS);
    for (uint32_t i = 0; i < IDS; i++)
        CHECK_U64(objects[i].id, i + 1);
    for (uint64_t page = 0; page < 1u << 16; page++)
        pages += used[page] && some(NULL, first + page) == REP_PAGE_RESIDENT ? 1 : 0;
    const uint64_t sum = share(objects, IDS, some);
    CHECK_U64(sums.pages_bytes, pages * PAGE);
    CHECK(sum <= pages * PAGE && sum + IDS > pages * PAGE);
}

/* The kernel's own word: of three pages one was never touched. */
TEST(the_page_map_tells_what_is_resident)
{
    static struct rep_held taken;
    void *slots[3] = {NULL};
    const struct wl_summary summary = {.id_max = 2};
    const char *why = NULL;
    const uint64_t sizes[3] = {0, 3 * PAGE + 1, 0 + 1};
    uint64_t file[3];
    const int fd = memfd_create("held", MFD_CLOEXEC);
    char *memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(fd >= 0 && memory != MAP_FAILED);
    CHECK_U64((uint64_t)pwrite(fd, sizes, sizeof sizes, 0), sizeof sizes);
    slots[1] = memory;
    slots[2] = memory + 3 * PAGE;
    memory[0] = memory[2 * PAGE] = memory[3 * PAGE] = 1;
    CHECK(rep_held_init(&taken, fd, 7, &summary, slots, &why));
    taken.usable_size = NULL; /* these are no objects of malloc */
    rep_held_take(&taken, 12345);
    CHECK_U64((uint64_t)pread(fd, file, sizeof file, 0), sizeof file);
    CHECK_U64(file[0], 0);
    CHECK_U64(file[1], 2 * PAGE * REP_HELD_UNIT);
    CHECK_U64(file[2], PAGE * REP_HELD_UNIT); /* an object of no bytes is on its page, too */
    CHECK_U64(taken.resident_bytes, 12345);
    CHECK(ftruncate(fd, 8) == 0);
    CHECK(!rep_held_init(&taken, fd, 7, &summary, slots, &why));
    CHECK(strstr(why, "8 bytes") != NULL);
    close(fd);
}

RUN_TESTS(T(what_nobody_uses_goes_with_who_pins_the_page), T(a_page_is_shared_by_bytes),
          T(an_object_of_several_pages_has_a_share_of_each), T(nothing_is_held_of_what_is_not_resident),
          T(shares_add_up_to_the_pages), T(the_page_map_tells_what_is_resident))

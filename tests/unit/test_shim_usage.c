/* test_shim_usage.c - what a collector makes of looks at a process and of what the process told: bounds, bases, another program
 * in its place, and no memory. */
#include "collect/steps.h"
#include "unit/harness.h"

#define SECOND_US UINT64_C(1000000)
#define MIB       (UINT64_C(1) << 20)

static struct collector collector;
static struct seg_slot slots[SEG_SLOT_COUNT];
static struct collect_image image;
static struct fp_proc_stat times;    /* what /proc shows */
static struct fp_proc_status memory; /* likewise */
static bool refuses;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    return refuses && size != sizeof(struct fp_usage) ? NULL : __real_calloc(count, size);
}

bool fp_proc_stat(pid_t pid, struct fp_proc_stat *ret_stat)
{
    *ret_stat = times;
    return (uint32_t)pid == image.pid;
}

bool fp_proc_status(pid_t pid, struct fp_proc_status *ret_status)
{
    *ret_status = memory;
    return (uint32_t)pid == image.pid;
}

void look_at_machine(uint32_t pid, struct fp_machine *ret_machine)
{
    *ret_machine = (struct fp_machine){.processors = 64, .affinity = 7};
}

bool look_at_end(int pidfd, int *ret_wait_status)
{
    *ret_wait_status = 0;
    return pidfd >= 0;
}

uint64_t look_age_ns(uint64_t start_ticks)
{
    return start_ticks;
}

/* A process that is found a millisecond after recording began. */
static void found(void)
{
    static struct collect_image *images[] = {&image};
    static struct seg_header told;
    collector = (struct collector){.images = images, .image_count = 1, .segment_count = 1};
    collector.segments[0].view.slots = slots;
    collector.segments[0].view.header = &told;
    collector.clock.first_ns = fp_now_ns() - 1000000;
    collector.segments[0].image_of_slot[3] = 1;
    image = (struct collect_image){
        .segment = &collector.segments[0], .pid = 4711, .slot = 3, .pidfd = -1, .parent_serial = SEG_NOBODY};
    times = (struct fp_proc_stat){.start_ticks = 7};
    memory = (struct fp_proc_status){.peak = 8 * MIB, .rss = 6 * MIB, .anon = 4 * MIB, .file = 2 * MIB};
    memset(slots, 0, sizeof slots);
}

static void end(enum image_end how)
{
    image.ended = true;
    image.end = how;
    usage_end(&collector, &image);
}

/* A shell that has computed for a minute, then executes the first program that is recorded. */
TEST(what_came_before_the_image_is_not_its_own)
{
    found();
    slots[3].begin = (struct seg_usage){
        .user_us = 60 * SECOND_US, .system_us = 30 * SECOND_US, .faults_minor = 70};
    usage_adopt(&collector, &image, true);
    slots[3].end = (struct seg_usage){.at_ns = fp_now_ns(),
                                      .user_us = 60 * SECOND_US + 500,
                                      .system_us = 30 * SECOND_US + 300,
                                      .faults_minor = 75,
                                      .peak_kib = 1};
    put_release(&slots[3].usage_end, SEG_USAGE_EXIT);
    end(IMAGE_EXIT);
    CHECK_U64(image.usage->cpu_user_ns, 500000);
    CHECK_U64(image.usage->cpu_system_ns, 300000);
    CHECK_U64(image.usage->faults_minor, 5);
    usage_release(&image);
}

TEST(what_cannot_be_is_bounded)
{
    found();
    usage_adopt(&collector, &image, true);
    slots[3].end = (struct seg_usage){.at_ns = UINT64_MAX,
                                      .user_us = UINT64_MAX,
                                      .system_us = UINT64_MAX,
                                      .faults_minor = UINT64_MAX,
                                      .peak_kib = UINT64_MAX,
                                      .rss_kib = UINT64_MAX};
    put_release(&slots[3].usage_end, SEG_USAGE_EXIT);
    end(IMAGE_EXIT);
    CHECK(image.usage->cpu_user_ns <= collect_elapsed_ns(&collector) * 8192);
    CHECK(image.usage->faults_minor <= INT64_MAX && image.usage->rss_peak_bytes <= INT64_MAX);
    CHECK(image.usage->end_ns <= collect_elapsed_ns(&collector));
    usage_release(&image);
}

/* Until the next image attaches, or it is seen that none does. */
TEST(the_next_program_is_not_looked_at)
{
    found();
    usage_adopt(&collector, &image, true);
    slots[3].end = (struct seg_usage){
        .at_ns = fp_now_ns(), .user_us = 5, .peak_kib = 9 * 1024, .rss_kib = 7 * 1024, .anon_kib = 3 * 1024};
    put_release(&slots[3].usage_end, SEG_USAGE_EXEC);
    times.user_ns = 1000000000;
    memory = (struct fp_proc_status){.peak = 900 * MIB, .rss = 800 * MIB, .anon = 700 * MIB};
    usage_look(&collector, UINT64_MAX);
    end(IMAGE_EXIT); /* that one has ended before it was noticed */
    CHECK_U64(image.usage->ended, FP_ENDED_EXEC);
    CHECK_U64(image.usage->cpu_user_ns, 5000);
    CHECK_U64(image.usage->rss_peak_bytes, 9 * MIB);
    usage_release(&image);
}

TEST(an_exec_that_failed_is_none)
{
    found();
    usage_adopt(&collector, &image, true);
    put_release(&slots[3].usage_end, SEG_USAGE_NONE);
    usage_look(&collector, UINT64_MAX);
    CHECK_U64(image.usage->rss_peak_bytes, 8 * MIB);
    CHECK_U64(image.usage->point_count, 1);
    usage_release(&image);
}

TEST(without_memory_nothing_is_told)
{
    volatile unsigned char *dirty = malloc(sizeof(struct fp_usage));
    found();
    for (size_t i = 0; dirty != NULL && i < sizeof(struct fp_usage); i++)
        dirty[i] = 0xaa; /* what the next allocation finds there */
    free((void *)(uintptr_t)dirty);
    refuses = true;
    usage_adopt(&collector, &image, true);
    refuses = false;
    CHECK(image.usage == NULL && image.looks == NULL);
    CHECK(usage_present(&collector, &image) == NULL);
    usage_release(&image);
}

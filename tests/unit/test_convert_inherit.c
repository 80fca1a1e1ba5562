/* test_convert_inherit.c - a forked process begins with its parent's objects, and hostile families are survived; call stacks of several parts of a
 * process become one list, in which no stack is deeper than a recorder's can be. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "convert/convert.h"
#include "convert/order/inherit.h"
#include "footprint/fp/fp_sites.h"
#include "unit/append_block.h"
#include "unit/harness.h"
#include "unit/scratch.h"

struct call {
    unsigned call;
    uint64_t address, size, extra;
};

static struct conv_error error;

/* A footprint of one thread. fork_of NULL: not forked. number 0: no fork_number. */
static const char *write_process(const char *name, uint32_t process_id, const char *fork_of, unsigned number,
                                 const struct call *calls, uint32_t count)
{
    const char *path = scratch_path(name);
    const struct fp_writer_options options = {.process_id = process_id};
    const struct fp_lane lane = {.thread_id = process_id, .is_main = true, .marks = count};
    const struct fp_trailer trailer = {.end_time_ns = 6400, .lane_count = 1, .lanes = &lane};
    char digits[16];
    struct fp_meta meta[2] = {{"fork_of", fork_of}, {"fork_number", digits}};
    struct fp_writer *writer = NULL;
    struct fp_mark marks[16];
    struct fp_shape shapes[16];
    const struct fp_block block = {
        .base_epoch = 1, .mark_count = count, .shape_count = count, .marks = marks, .shapes = shapes};
    snprintf(digits, sizeof digits, "%u", number);
    for (uint32_t i = 0; i < count; i++) {
        marks[i] = (struct fp_mark){.address = calls[i].address, .shape = i};
        shapes[i] = (struct fp_shape){
            .call = (uint8_t)calls[i].call, .size = calls[i].size, .extra = calls[i].extra};
    }
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &options, meta,
                               fork_of == NULL ? 0
                               : number != 0   ? 2
                                               : 1,
                               NULL, &writer),
              FP_OK);
    CHECK_U64(append_block(writer, &block), FP_OK);
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
    return path;
}

static const struct call ONE_FREE[] = {{FP_CALL_FREE, 0x1000, 0, 0}};

static void estate_of(const char *path, struct conv_estate *ret_estate)
{
    static const struct conv_options options = {0};
    struct conv_parts parts;
    CHECK_U64(conv_parts_open(path, CONV_EXTENT_ONE, &parts, &error), FP_OK);
    CHECK_U64(conv_inherit(path, &parts, &options, ret_estate), FP_OK);
    conv_parts_close(&parts);
}

static void check_object(const struct conv_estate *estate, size_t at, unsigned call, uint64_t address,
                         uint64_t size, uint64_t extra)
{
    CHECK(at < estate->count);
    if (at >= estate->count)
        return;
    CHECK_U64(estate->objects[at].call, call);
    CHECK_U64(estate->objects[at].address, address);
    CHECK_U64(estate->objects[at].size, size);
    CHECK_U64(estate->objects[at].extra, extra);
    CHECK_U64(estate->objects[at].time_ns, 0);
}

/* Each object by the call that made it, the oldest first; what was resized by malloc; nothing of after the fork. */
TEST(the_living_are_inherited_by_age)
{
    static const struct call parent[] = {
        {FP_CALL_MALLOC, 0x1000, 10, 0},
        {FP_CALL_CALLOC, 0x2000, 4, 5},
        {FP_CALL_NEW_ALIGNED, 0x3000, 7, 64},
        {FP_CALL_MALLOC, 0x4000, 40, 0},
        {FP_CALL_FREE, 0x1000, 0, 0},
        {FP_MARK_RESIZE_FROM, 0x4000, 0, 0},
        {FP_CALL_REALLOC, 0x5000, 50, 0},
        {FP_CALL_MALLOC, 0x1000, 11, 0},
        {FP_MARK_FORK, 0, 1, 0},
        {FP_CALL_MALLOC, 0x6000, 60, 0},
        {FP_MARK_FORK, 0, 2, 0},
        {FP_CALL_FREE, 0x2000, 0, 0},
    };
    struct conv_estate estate;
    write_process("sh.1.fp", 1, NULL, 0, parent, 12);
    estate_of(write_process("sh.2.fp", 2, "sh.1.fp", 1, ONE_FREE, 1), &estate);
    CHECK_U64(estate.count, 4);
    check_object(&estate, 0, FP_CALL_CALLOC, 0x2000, 4, 5);
    check_object(&estate, 1, FP_CALL_NEW_ALIGNED, 0x3000, 7, 64);
    check_object(&estate, 2, FP_CALL_MALLOC, 0x5000, 50, 0);
    check_object(&estate, 3, FP_CALL_MALLOC, 0x1000, 11, 0);
    CHECK_STR(estate.why, "");
    conv_estate_release(&estate);
    estate_of(write_process("sh.3.fp", 3, "sh.1.fp", 2, ONE_FREE, 1), &estate);
    CHECK_U64(estate.count, 5);
    conv_estate_release(&estate);
}

TEST(a_realloc_under_way_has_not_begun)
{
    static const struct call parent[] = {{FP_CALL_MALLOC, 0x4000, 40, 0},
                                         {FP_MARK_RESIZE_FROM, 0x4000, 0, 0},
                                         {FP_MARK_FORK, 0, 1, 0},
                                         {FP_CALL_REALLOC, 0x5000, 50, 0}};
    static const struct call failed[] = {{FP_CALL_MALLOC, 0x4000, 40, 0},
                                         {FP_MARK_RESIZE_FROM, 0x4000, 0, 0},
                                         {FP_CALL_REALLOC, 0, 50, 0},
                                         {FP_MARK_FORK, 0, 1, 0}};
    struct conv_estate estate;
    write_process("way.1.fp", 1, NULL, 0, parent, 4);
    estate_of(write_process("way.2.fp", 2, "way.1.fp", 1, ONE_FREE, 1), &estate);
    CHECK_U64(estate.count, 1);
    check_object(&estate, 0, FP_CALL_MALLOC, 0x4000, 40, 0);
    conv_estate_release(&estate);
    write_process("failed.1.fp", 1, NULL, 0, failed, 4);
    estate_of(write_process("failed.2.fp", 2, "failed.1.fp", 1, ONE_FREE, 1), &estate);
    CHECK_U64(estate.count, 1);
    check_object(&estate, 0, FP_CALL_MALLOC, 0x4000, 40, 0);
    conv_estate_release(&estate);
}

/* It failed, so its object went on living, and was released: nothing of it may come back at the fork. */
TEST(a_realloc_to_an_absurd_size_has_failed)
{
    static const struct call parent[] = {{FP_CALL_MALLOC, 0x4000, 40, 0},
                                         {FP_MARK_RESIZE_FROM, 0x4000, 0, 0},
                                         {FP_CALL_REALLOC, 0, UINT64_C(1) << 62, 0},
                                         {FP_CALL_MALLOC, 0x5000, 50, 0},
                                         {FP_CALL_FREE, 0x4000, 0, 0},
                                         {FP_MARK_FORK, 0, 1, 0}};
    struct conv_estate estate;
    write_process("absurd.1.fp", 1, NULL, 0, parent, 6);
    estate_of(write_process("absurd.2.fp", 2, "absurd.1.fp", 1, ONE_FREE, 1), &estate);
    CHECK_U64(estate.count, 1);
    check_object(&estate, 0, FP_CALL_MALLOC, 0x5000, 50, 0);
    conv_estate_release(&estate);
}

/* Grandparent, parent, child: what the parent released of the grandparent's is gone. */
TEST(estates_pass_through_generations)
{
    static const struct call first[] = {
        {FP_CALL_MALLOC, 0x1000, 10, 0}, {FP_CALL_MALLOC, 0x2000, 20, 0}, {FP_MARK_FORK, 0, 1, 0}};
    static const struct call second[] = {
        {FP_CALL_FREE, 0x1000, 0, 0}, {FP_CALL_MALLOC, 0x1000, 30, 0}, {FP_MARK_FORK, 0, 1, 0}};
    struct conv_survey survey = {0};
    struct conv_estate estate;
    const char *child;
    write_process("g.1.fp", 1, NULL, 0, first, 3);
    write_process("g.2.fp", 2, "g.1.fp", 1, second, 3);
    child = write_process("g.3.fp", 3, "g.2.fp", 1, ONE_FREE, 1);
    estate_of(child, &estate);
    CHECK_U64(estate.count, 2);
    check_object(&estate, 0, FP_CALL_MALLOC, 0x2000, 20, 0);
    check_object(&estate, 1, FP_CALL_MALLOC, 0x1000, 30, 0);
    conv_estate_release(&estate);
    CHECK_U64(conv_survey_file(child, NULL, &survey, &error), FP_OK);
    CHECK_U64(survey.inherited_objects, 2);
    CHECK_U64(survey.inherited_bytes, 50);
    CHECK_U64(survey.events, 1);
    CHECK_U64(survey.ops, 3);
    CHECK_U64(survey.requested_bytes, 0);
    CHECK_U64(survey.live_objects_end, 1);
    CHECK_U64(survey.irregular[CONV_INHERITED_FREES], 0);
    conv_survey_release(&survey);
}

/* No parent, no mark, no number, a name that leads elsewhere, a family that is its own ancestor. */
TEST(what_cannot_be_known_is_left_out_and_told)
{
    static const struct call parent[] = {{FP_CALL_MALLOC, 0x1000, 10, 0}, {FP_MARK_FORK, 0, 1, 0}};
    const struct {
        const char *fork_of;
        unsigned number;
        const char *why;
    } families[] = {
        {"nobody.9.fp", 1, "cannot be read"}, {"p.1.fp", 7, "ends before its fork 7"},
        {"p.1.fp", 0, "no mark of the fork"}, {"../p.1.fp", 1, "named strangely"},
        {"..", 1, "named strangely"},         {"c.2.fp", 1, "more than 64 ancestors"},
    };
    write_process("p.1.fp", 1, NULL, 0, parent, 2);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        struct conv_estate estate;
        const char *child = scratch_path("c.2.fp");
        (void)unlink(child);
        estate_of(write_process("c.2.fp", 2, families[i].fork_of, families[i].number, ONE_FREE, 1), &estate);
        CHECK_U64(estate.count, 0);
        if (strstr(estate.why, families[i].why) == NULL)
            CHECK_STR(estate.why, families[i].why);
        conv_estate_release(&estate);
    }
}

enum { NODES = 100000 };

static struct fp_site_node nodes[FP_SITE_FIRST + NODES];

/* Each node calls the next: a stack for each depth. */
static struct fp_sites chain(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        nodes[FP_SITE_FIRST + i] = (struct fp_site_node){
            .address = 0x1000 + i, .parent = i > 0 ? FP_SITE_FIRST + i - 1 : FP_CUT_NONE};
    return (struct fp_sites){.node_end = FP_SITE_FIRST + count, .nodes = nodes};
}

static uint32_t depth_of(const struct fp_sites *sites, uint32_t site)
{
    uint32_t depth = 0;
    for (; site >= FP_SITE_FIRST; site = fp_site_node_at(sites, site).parent)
        depth++;
    return depth;
}

TEST(stacks_as_deep_as_a_recorder_makes_them_stay)
{
    struct fp_stacks stacks = {0};
    const struct fp_sites told = chain(FP_STACK_DEPTH_MAX);
    CHECK(fp_stacks_add(&stacks, &told));
    CHECK_U64(depth_of(&stacks.sites, told.node_end - 1), FP_STACK_DEPTH_MAX);
    CHECK_U64(fp_site_cut(&stacks.sites, told.node_end - 1), FP_CUT_NONE);
    fp_stacks_release(&stacks);
}

/* Else what asks something of each stack takes as many steps as the square of a file's nodes, of which there may be millions. */
TEST(deeper_ones_are_cut)
{
    struct fp_stacks stacks = {0};
    const struct fp_sites told = chain(NODES);
    CHECK(fp_stacks_add(&stacks, &told));
    for (uint32_t site = FP_SITE_FIRST; site < told.node_end; site += 997)
        CHECK(depth_of(&stacks.sites, site) <= FP_STACK_DEPTH_MAX);
    CHECK_U64(fp_site_cut(&stacks.sites, told.node_end - 1), FP_CUT_DEEP);
    CHECK_U64(fp_site_cut(&stacks.sites, FP_SITE_FIRST + 9), FP_CUT_NONE);
    fp_stacks_release(&stacks);
}

/* The second part tells what the first lacks: only both together are too deep. */
TEST(parts_are_deep_together)
{
    struct fp_stacks stacks = {0};
    struct fp_sites told = chain(2 * FP_STACK_DEPTH_MAX);
    const uint32_t middle = FP_SITE_FIRST + FP_STACK_DEPTH_MAX, last = told.node_end - 1;
    const struct fp_site_node kept = nodes[middle];
    nodes[middle] = (struct fp_site_node){0};
    CHECK(fp_stacks_add(&stacks, &told));
    CHECK_U64(fp_site_cut(&stacks.sites, last), FP_CUT_LOST);
    nodes[middle] = kept;
    CHECK(fp_stacks_add(&stacks, &told));
    CHECK(depth_of(&stacks.sites, last) <= FP_STACK_DEPTH_MAX);
    CHECK_U64(fp_site_cut(&stacks.sites, last), FP_CUT_DEEP);
    fp_stacks_release(&stacks);
}

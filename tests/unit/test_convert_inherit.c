/* test_convert_inherit.c - a forked process begins with its parent's objects, and hostile families are survived; call stacks of several parts of a
 * process become one list, in which no stack is deeper than a recorder's can be. */
#include <fcntl.h>
#include <string.h>

#include "convert/convert.h"
#include "convert/order/process_image.h"
#include "footprint/fp/fp_sites.h"
#include "unit/append_block.h"
#include "unit/events.h"
#include "unit/harness.h"
#include "unit/scratch.h"

static struct conv_error error;

/* A footprint of one thread, of events.h. fork_of NULL: not forked. number 0: no fork_number. */
static const char *write_process(const char *name, uint32_t process_id, const char *fork_of, unsigned number,
                                 const char *text)
{
    const char *path = scratch_path(name);
    struct conv_event events[16];
    const uint32_t count = (uint32_t)events_of(text, events);
    const struct fp_writer_options options = {.process_id = process_id};
    const struct fp_lane lane = {.thread_id = process_id, .is_main = true, .marks = count};
    const struct fp_trailer trailer = {.end_time_ns = 6400, .lane_count = 1, .lanes = &lane};
    char digits[16];
    struct fp_meta meta[2] = {{"fork_of", fork_of}, {"fork_number", digits}};
    const size_t meta_count = fork_of == NULL ? 0 : number != 0 ? 2 : 1;
    struct fp_writer *writer = NULL;
    struct fp_mark marks[16];
    struct fp_shape shapes[16];
    const struct fp_block block = {
        .base_epoch = 1, .mark_count = count, .shape_count = count, .marks = marks, .shapes = shapes};
    snprintf(digits, sizeof digits, "%u", number);
    for (uint32_t i = 0; i < count; i++) {
        marks[i] = (struct fp_mark){.address = events[i].address, .shape = i};
        shapes[i] = (struct fp_shape){
            .call = events[i].call, .size = events[i].size, .extra = events[i].extra};
    }
    (void)unlink(path); /* of the test before */
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &options, meta, meta_count, NULL, &writer), FP_OK);
    CHECK_U64(append_block(writer, &block), FP_OK);
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
    return path;
}

#define ONE_FREE "f1000"

static char text[256];

static enum fp_status write_object(void *data, const struct conv_event *objects, size_t count)
{
    (void)data;
    for (const struct conv_event *object = objects; object < objects + count; object++) {
        const size_t used = strlen(text);
        size_t kind = 0;
        while (EVENT_LETTERS[kind].letter != '?' && EVENT_LETTERS[kind].call != object->call)
            kind++;
        CHECK_U64(object->time_ns, 0);
        snprintf(text + used, sizeof text - used, "%s%c%" PRIx64 ":%" PRIu64, used > 0 ? " " : "",
                 EVENT_LETTERS[kind].letter, object->address, object->size);
        if (object->extra > 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), "*%" PRIu64, object->extra);
    }
    return FP_OK;
}

/* What a process begins with, as events.h has it; ret_why: what of it is not known. */
static const char *estate_of(const char *path, const char **ret_why)
{
    static const struct conv_options options = {0};
    static const struct conv_sink sink = {.inherit = write_object};
    static char why[192];
    struct conv_parts parts;
    text[0] = '\0';
    CHECK_U64(conv_parts_open(path, CONV_EXTENT_ONE, &parts, &error), FP_OK);
    CHECK_U64(conv_inherit(path, &parts, &options, 0, &sink, why, sizeof why), FP_OK);
    conv_parts_close(&parts);
    *ret_why = why;
    return text;
}

/* Each object by the call that made it, the oldest first; what was resized by malloc; nothing of after the fork. */
TEST(the_living_are_inherited_by_age)
{
    static const char MANY[] =
        "a1000:10 c2000:4*5 n3000:7*64 a4000:40 f1000 s4000 r5000:50 a1000:11 k0:1 a6000:60 k0:2 f2000";
    static const struct {
        const char *parent;
        unsigned number;
        const char *estate;
    } CASES[] = {
        {MANY, 1, "c2000:4*5 n3000:7*64 a5000:50 a1000:11"},
        {MANY, 2, "c2000:4*5 n3000:7*64 a5000:50 a1000:11 a6000:60"},
        {"a4000:40 s4000 k0:1 r5000:50", 1, "a4000:40"}, /* a realloc under way has not begun */
        {"a4000:40 s4000 r0:50 k0:1", 1, "a4000:40"},    /* and one that failed has not been */
        /* Of an absurd size, too: its object went on living, and was released. Nothing of it may come back at the fork. */
        {"a4000:40 s4000 r0:4611686018427387904 a5000:50 f4000 k0:1", 1, "a5000:50"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        const char *why;
        write_process("sh.1.fp", 1, NULL, 0, CASES[i].parent);
        CHECK_STR(estate_of(write_process("sh.2.fp", 2, "sh.1.fp", CASES[i].number, ONE_FREE), &why),
                  CASES[i].estate);
        CHECK_STR(why, "");
    }
}

/* A forked process releases what its parent allocated: no defect of the recording. */
TEST(releases_of_a_parents_objects_are_no_defect)
{
    for (size_t forked = 0; forked < 2; forked++) {
        OWNED(conv_survey) survey = {0};
        const char *child = write_process("child.fp", 6, forked ? "sh.5.fp" : NULL, 0, ONE_FREE);
        CHECK_U64(conv_survey_file(child, NULL, &survey, &error), FP_OK);
        CHECK_U64(survey.irregular[CONV_FREE_OF_UNKNOWN], !forked);
        CHECK_U64(survey.irregular[CONV_INHERITED_FREES], forked);
        CHECK(survey.complete);
    }
}

/* Grandparent, parent, child: what the parent released of the grandparent's is gone. */
TEST(estates_pass_through_generations)
{
    OWNED(conv_survey) survey = {0};
    const char *why;
    write_process("g.1.fp", 1, NULL, 0, "a1000:10 a2000:20 k0:1");
    write_process("g.2.fp", 2, "g.1.fp", 1, "f1000 a1000:30 k0:1");
    const char *child = write_process("g.3.fp", 3, "g.2.fp", 1, ONE_FREE);
    CHECK_STR(estate_of(child, &why), "a2000:20 a1000:30");
    CHECK_U64(conv_survey_file(child, NULL, &survey, &error), FP_OK);
    CHECK_U64(survey.inherited_objects, 2);
    CHECK_U64(survey.inherited_bytes, 50);
    CHECK_U64(survey.events, 1);
    CHECK_U64(survey.ops, 3);
    CHECK_U64(survey.requested_bytes, 0);
    CHECK_U64(survey.live_objects_end, 1);
    CHECK_U64(survey.irregular[CONV_INHERITED_FREES], 0);
}

/* No parent, no mark, no number, a name that leads elsewhere, a family that is its own ancestor. */
TEST(what_cannot_be_known_is_left_out_and_told)
{
    const struct {
        const char *fork_of;
        unsigned number;
        const char *why;
    } families[] = {
        {"nobody.9.fp", 1, "cannot be read"}, {"p.1.fp", 7, "ends before its fork 7"},
        {"p.1.fp", 0, "no mark of the fork"}, {"../p.1.fp", 1, "named strangely"},
        {"..", 1, "named strangely"},         {"c.2.fp", 1, "more than 64 ancestors"},
    };
    write_process("p.1.fp", 1, NULL, 0, "a1000:10 k0:1");
    for (size_t i = 0; i < COUNT_OF(families); i++) {
        const char *why;
        CHECK_STR(
            estate_of(write_process("c.2.fp", 2, families[i].fork_of, families[i].number, ONE_FREE), &why),
            "");
        if (strstr(why, families[i].why) == NULL)
            CHECK_STR(why, families[i].why);
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
    OWNED(fp_stacks) stacks = {0};
    const struct fp_sites told = chain(FP_STACK_DEPTH_MAX);
    CHECK(fp_stacks_add(&stacks, &told));
    CHECK_U64(depth_of(&stacks.sites, told.node_end - 1), FP_STACK_DEPTH_MAX);
    CHECK_U64(fp_site_cut(&stacks.sites, told.node_end - 1), FP_CUT_NONE);
}

/* Else what asks something of each stack takes as many steps as the square of a file's nodes, of which there may be millions. */
TEST(deeper_ones_are_cut)
{
    OWNED(fp_stacks) stacks = {0};
    const struct fp_sites told = chain(NODES);
    CHECK(fp_stacks_add(&stacks, &told));
    for (uint32_t site = FP_SITE_FIRST; site < told.node_end; site += 997)
        CHECK(depth_of(&stacks.sites, site) <= FP_STACK_DEPTH_MAX);
    CHECK_U64(fp_site_cut(&stacks.sites, told.node_end - 1), FP_CUT_DEEP);
    CHECK_U64(fp_site_cut(&stacks.sites, FP_SITE_FIRST + 9), FP_CUT_NONE);
}

/* The second part tells what the first lacks: only both together are too deep. */
TEST(parts_are_deep_together)
{
    OWNED(fp_stacks) stacks = {0};
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
}

/* test_convert_stacks.c - call stacks of several parts of a process become one list, in which no stack is deeper than a recorder's can be. */
#include <stdlib.h>
#include <string.h>

#include "convert/base/process_stacks.h"
#include "unit/harness.h"

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
    struct conv_stacks stacks = {0};
    const struct fp_sites told = chain(CONV_STACK_DEPTH_MAX);
    CHECK(conv_stacks_add(&stacks, &told));
    CHECK_U64(depth_of(&stacks.sites, told.node_end - 1), CONV_STACK_DEPTH_MAX);
    CHECK_U64(fp_site_cut(&stacks.sites, told.node_end - 1), FP_CUT_NONE);
    conv_stacks_release(&stacks);
}

/* Else what asks something of each stack takes as many steps as the square of a file's nodes, of which there may be millions. */
TEST(deeper_ones_are_cut)
{
    struct conv_stacks stacks = {0};
    const struct fp_sites told = chain(NODES);
    CHECK(conv_stacks_add(&stacks, &told));
    for (uint32_t site = FP_SITE_FIRST; site < told.node_end; site += 997)
        CHECK(depth_of(&stacks.sites, site) <= CONV_STACK_DEPTH_MAX);
    CHECK_U64(fp_site_cut(&stacks.sites, told.node_end - 1), FP_CUT_DEEP);
    CHECK_U64(fp_site_cut(&stacks.sites, FP_SITE_FIRST + 9), FP_CUT_NONE);
    conv_stacks_release(&stacks);
}

/* The second part tells what the first lacks: only both together are too deep. */
TEST(parts_are_deep_together)
{
    struct conv_stacks stacks = {0};
    struct fp_sites told = chain(2 * CONV_STACK_DEPTH_MAX);
    const uint32_t middle = FP_SITE_FIRST + CONV_STACK_DEPTH_MAX, last = told.node_end - 1;
    const struct fp_site_node kept = nodes[middle];
    nodes[middle] = (struct fp_site_node){0};
    CHECK(conv_stacks_add(&stacks, &told));
    CHECK_U64(fp_site_cut(&stacks.sites, last), FP_CUT_LOST);
    nodes[middle] = kept;
    CHECK(conv_stacks_add(&stacks, &told));
    CHECK(depth_of(&stacks.sites, last) <= CONV_STACK_DEPTH_MAX);
    CHECK_U64(fp_site_cut(&stacks.sites, last), FP_CUT_DEEP);
    conv_stacks_release(&stacks);
}

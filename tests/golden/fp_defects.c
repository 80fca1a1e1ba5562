/* fp_defects.c - damaged footprints. */
#include "footprint/fp/columns.h"
#include "footprint/fp/site_model.h"
#include "footprint/fp/usage.h"
#include "golden/defects.h"

#define HEADER BLOCK_HEADER_BYTES
#define SITES  "sites.fp"
#define USAGE  "usage.fp"
#define LANES  "lanes.fp"

/* Most is done to the second block of marks, which has 34: so many values of one byte each are in its columns of epochs. */
#define SECOND           AT(BLOCK_MARKS, 1)
#define OF_SECOND(which) IN(BLOCK_MARKS, 1, MARKS_##which)
#define OTHERS           33

/* A module is its start, bytes, base, number, build id, and path; this is the only one. */
#define MODULE(text)                                                                                         \
    {SET(AT(BLOCK_MODULES, 0), 12, 4, 1)},                                                                   \
    {                                                                                                        \
        COLUMN(IN(BLOCK_MODULES, 0, 0), text)                                                                \
    }

/* -1 and -3 as varints */
#define MINUS_1 "\377\377\377\377\377\377\377\377\377\1"
#define MINUS_3 "\375\377\377\377\377\377\377\377\377\1"

const struct defect FP_DEFECTS[] = {
    {"truncated-header.fp", LANES, {{CUT(BEGIN, 40)}}},
    {"empty-file.fp", LANES, {{CUT(BEGIN, 0)}}},
    {"foreign.fp", LANES, {{WRITE(BEGIN, 0, "\177ELF\2\1\1\0")}}},
    {"newer-version.fp", LANES, {{SET(BEGIN, 8, 2, 99)}}},
    {"header-checksum.fp", LANES, {{FLIP(BEGIN, 57, 1)}}},
    {"unit-of-time.fp", LANES, {{SET(BEGIN, 20, 4, 1)}}},
    {"meta-without-equals.fp", LANES, {{COLUMN(IN(BLOCK_META, 0, 0), "program scene\n")}}},
    {"meta-bomb.fp", LANES, {{BOMB(IN(BLOCK_META, 0, 0), 1u << 20, 1u << 20)}}},
    {"second-meta.fp", LANES, {{REPEAT(AT(BLOCK_META, 0), BLOCK_MARKS)}}},
    /* The second usage block: the first has nothing in its columns. */
    {"usage-no-number.fp", USAGE, {{COLUMN(IN(BLOCK_USAGE, 1, USAGE_TEXT), "cpu_user_ns=12 ms\n")}}},
    {"usage-below-zero.fp", /* one KiB less than none */
     USAGE,
     {{SET(AT(BLOCK_USAGE, 1), 12, 4, 1)}, {COLUMN(IN(BLOCK_USAGE, 1, USAGE_SERIES), "\1\1\0\0")}}},
    {"usage-beyond-limit.fp", USAGE, {{SET(AT(BLOCK_USAGE, 1), 12, 4, FP_USAGE_POINTS_MAX + 1)}}},
    {"coded-sites-cut.fp", SITES, {{RESIZE(IN(BLOCK_MARKS, 0, MARKS_SITES), -1)}}},
    {"coded-sites-too-many.fp", SITES, {{RESIZE(IN(BLOCK_MARKS, 0, MARKS_SITES), 1)}}},
    {"coded-nodes-cut.fp", SITES, {{RESIZE(IN(BLOCK_SITES, 0, 0), -1)}}},
    {"coded-nodes-too-many.fp", SITES, {{RESIZE(IN(BLOCK_SITES, 0, 0), 1)}}},
    {"coded-nodes-of-noise.fp", /* whatever this is, it is no tree of nodes */
     SITES,
     {{COLUMN(IN(BLOCK_SITES, 0, 0), "\x12\xf3\x9a\x57\x01\xbc\xfe\xe1\x20\x44\x8d\x90\x33\xc7")}}},
    {"nodes-beyond-limit.fp", SITES, {{SET(AT(BLOCK_SITES, 0), 12, 4, FP_SITES_BLOCK_MAX + 1)}}},
    {"module-of-no-length.fp", SITES, {MODULE("\1\0\0\0\0\0")}},
    {"module-path-beyond-column.fp", SITES, {MODULE("\1\1\0\0\0\11")}},
    {"module-path-with-escape.fp", SITES, {MODULE("\1\1\0\0\0\2\33[")}},
    {"cut-in-block.fp", LANES, {{CUT(AT(BLOCK_MARKS, 3), HEADER + 20)}}},
    {"cut-in-block-header.fp", LANES, {{CUT(AT(BLOCK_MARKS, 2), 30)}}},
    {"no-trailer.fp", LANES, {{CUT(AT(BLOCK_TRAILER, 0), 0)}}},
    {"block-magic.fp", LANES, {{WRITE(SECOND, 0, "\0\0\0\0")}}},
    {"block-header-checksum.fp", LANES, {{FLIP(SECOND, 33, 4)}}},
    {"payload-checksum.fp", LANES, {{FLIP(SECOND, HEADER + 70, 4)}}},
    {"payload-beyond-limit.fp", LANES, {{SET(SECOND, 16, 4, (16u << 20) + 1)}}},
    {"columns-beyond-limit.fp", LANES, {{SET(SECOND, 6, 2, BLOCK_COLUMNS_MAX + 1)}}},
    {"marks-beyond-limit.fp", LANES, {{SET(SECOND, 12, 4, FP_BLOCK_MARKS_MAX + 1)}}},
    {"no-marks.fp", LANES, {{SET(SECOND, 12, 4, 0)}}},
    {"lane-beyond-limit.fp", LANES, {{SET(SECOND, 8, 4, FP_LANES_MAX)}}},
    {"too-few-columns.fp", LANES, {{SET(SECOND, 6, 2, MARKS_COLUMNS - 1)}}},
    {"count-above-columns.fp", LANES, {{SET(SECOND, 12, 4, OTHERS + 2)}}},
    {"column-beyond-payload.fp", LANES, {{TABLE(OF_SECOND(EPOCH), 100, 1000000)}}},
    {"column-stored-above-raw.fp", LANES, {{TABLE(OF_SECOND(SHAPES), 8, 9)}}},
    {"column-raw-huge.fp", LANES, {{TABLE(OF_SECOND(SHAPES), UINT32_MAX, 8)}}},
    /* The stream is larger than its table entry: the decompressor must stop at the entry. */
    {"bomb-in-small-column.fp", LANES, {{BOMB(OF_SECOND(LITERAL), 4u << 20, 200)}}},
    /* The table tells the truth about 64 MiB: more than a block of so few marks can hold. */
    {"bomb-told.fp", LANES, {{BOMB(OF_SECOND(LITERAL), 64u << 20, 64u << 20)}}},
    /* The reverse: the stream holds less than the table says. */
    {"stream-too-small.fp", LANES, {{BOMB(OF_SECOND(SHAPE_LOW), 13, 31)}}},
    {"distance-before-start.fp",
     LANES,
     {{WITHIN(OF_SECOND(ADDRESS), 0, "\2")}}}, /* the first: one before it */
    {"shape-out-of-range.fp", LANES, {{WITHIN(OF_SECOND(SHAPE_LOW), 5, "\310")}}},
    {"shape-of-no-call.fp", LANES, {{WITHIN(OF_SECOND(SHAPES), 0, "\50")}}}, /* 40: neither call nor mark */
    {"epoch-overflow.fp", LANES, {{BEHIND(OF_SECOND(EPOCH), OTHERS, "\200\200\200\200\20")}}}, /* 2^32 */
    {"epoch-decreases.fp", /* 5 forward, then 2^64 - 3 forward, which would be 3 back */
     LANES,
     {{BEHIND(OF_SECOND(EPOCH), OTHERS, MINUS_3)}, {WITHIN(OF_SECOND(EPOCH), 0, "\5")}}},
    {"epoch-base-overflow.fp", LANES, {{SET(SECOND, 32, 8, UINT64_MAX - 1)}}},
    {"stamp-beyond-block.fp", /* 1000 marks behind the first */
     LANES,
     {{COLUMN(OF_SECOND(STAMP_GAP), "\5\350\7")}, {COLUMN(OF_SECOND(STAMP_TIME), "\5\0")}}},
    {"stamp-goes-back.fp",
     LANES,
     {{COLUMN(OF_SECOND(STAMP_GAP), "\5" MINUS_3)}, {COLUMN(OF_SECOND(STAMP_TIME), "\5\0")}}},
    {"stamp-time-goes-back.fp",
     LANES,
     {{COLUMN(OF_SECOND(STAMP_GAP), "\5\1")}, {COLUMN(OF_SECOND(STAMP_TIME), "\5" MINUS_3)}}},
    {"varint-too-long.fp",
     LANES,
     {{BEHIND(OF_SECOND(EPOCH), OTHERS, "\377\377\377\377\377\377\377\377\377\377\377\377")}}},
    {"literal-left-over.fp", LANES, {{BEHIND(OF_SECOND(LITERAL), 199, "\0")}}},
    {"trailer-with-fewer-lanes.fp", /* end 0; no causes of loss; one lane: thread 1, main, no marks */
     LANES,
     {{COLUMN(IN(BLOCK_TRAILER, 0, 0), "\0\0\1\1\1\0")}, {SET(AT(BLOCK_TRAILER, 0), 12, 4, 1)}}},
    {"trailer-lanes-beyond-limit.fp", LANES, {{SET(AT(BLOCK_TRAILER, 0), 12, 4, FP_LANES_MAX + 1)}}},
    {"trailer-losses-without-end.fp",
     LANES,
     {{COLUMN(IN(BLOCK_TRAILER, 0, 0), "\0" MINUS_1)}}}, /* of 2^64 - 1 causes */
    {"trailer-bomb.fp", LANES, {{BOMB(IN(BLOCK_TRAILER, 0, 0), 64u << 20, 64u << 20)}}},
    {"bytes-after-trailer.fp", LANES, {{INSERT(END, "more")}}},
    {0},
};

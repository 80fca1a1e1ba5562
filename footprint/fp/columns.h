/* columns.h - a block of marks as columns: under construction, already in the form in which they are stored, and back.
 *
 * fp_records_take fills it with what a lane stored. A mark never stands in memory as such: what is known of it goes straight to where the column wants it.
 *
 *   seen     which mark named an address last. Direct-mapped and lossy: an address that another one has pushed out is
 *            told as a literal once more. An address below 2^48 and its entry determine each other (seen_place), so
 *            that nothing has to be looked up to be sure
 *   shapes   numbered as they appear; found by code and size (direct) where the record had one word, else by hash
 *
 * One thread at a time. All arrays are as large as a block can make them, and what is not used is never touched. */
#ifndef MALLAB_FOOTPRINT_FP_COLUMNS_H
#define MALLAB_FOOTPRINT_FP_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/blockio.h"
#include "footprint/fp/footprint.h"
#include "footprint/fp/fp_sites.h"
#include "footprint/fp/record.h"
#include "footprint/fp/site_model.h"

/* ---- what records say of stacks ----------------------------------------------------------------------
 *
 * What a lane's records say of stacks (record.h): sites, nodes, modules. The collector's.
 *
 * One for each stream, for as long as it lasts. A hostile program writes the records: numbers are bounded here, texts made
 * printable, and the reader of the file checks once more. */

struct fp_site_decoder {
    struct fp_site_predictor predictor;
    uint32_t told; /* the next allocation's site, where it is not the one that is guessed; 0: it is */
    /* The receivers of sites; a module's path lasts until the call returns. */
    void (*take_node)(void *context, const struct fp_site_entry *entry);
    void (*take_module)(void *context, const struct fp_module *module);
    void *context;
    uint32_t text_bytes, text_pieces, text_next; /* of the module that is being told; no pieces: none is */
    uint8_t text[FP_RECORD_MODULE_BYTES_MAX + FP_RECORD_PIECE_BYTES];
};

/* fp_site_decoder_begin - a chunk or a thread begins. */
void fp_site_decoder_begin(struct fp_site_decoder *decoder);

/* fp_site_decoder_skip - one record whose mark is known already: what it changes here. words: as many as it has. */
void fp_site_decoder_skip(struct fp_site_decoder *decoder, const uint64_t *words);

struct columns_memory; /* below */

struct fp_columns {
    uint32_t mark_count, shape_count, stamp_count;
    uint32_t literal_count;
    uint64_t base_epoch; /* of the first mark */
    uint64_t epoch;      /* of the last one */
    size_t address_bytes, epoch_bytes;
    uint32_t generation;
    bool sited;                    /* allocations have sites */
    struct fp_site_decoder *sites; /* of the stream whose records are taken, borrowed; NULL: none are told */
    uint32_t other_count;          /* shapes that are no calls: which, of the first of them */
    uint16_t others[4];
    struct columns_memory *memory;
};

/* fp_columns_init - zeroed memory becomes an empty block, for as long as the process lives. Returns false without memory. */
bool fp_columns_init(struct fp_columns *columns);

/* fp_columns_clear - empty the block. */
void fp_columns_clear(struct fp_columns *columns);

/* fp_columns_take_sites - whose records come next, NULL: of one that tells none. Where the first have none, none is known of theirs. */
void fp_columns_take_sites(struct fp_columns *columns, struct fp_site_decoder *sites);

/* fp_columns_events - how many of the marks are calls. */
uint32_t fp_columns_events(const struct fp_columns *columns);

/* fp_columns_have - whether one of the marks is that call. */
bool fp_columns_have(const struct fp_columns *columns, unsigned call);

/* fp_columns_stamp - the time before the mark that comes next. Of two before one mark the later stays.
 * time_ns   not below the block's former ones. */
void fp_columns_stamp(struct fp_columns *columns, uint64_t time_ns);

/* ---- records of a lane (record.h) into a block: the collector's hot path ---------------------------- */

enum fp_records_stop {
    FP_RECORDS_END,    /* at a word of 0 or at the end */
    FP_RECORDS_STAMP,  /* at the two words of a stamp, which is the caller's to read: it knows the clock */
    FP_RECORDS_THREAD, /* at the two words of FP_RECORD_THREAD, likewise */
    FP_RECORDS_FULL,   /* at a mark that needs a block of its own: no room, or its epoch is too far away */
};

/* fp_records_take - append records to the block as far as they go without the caller.
 * words, count  the chunk; *at is where to begin and then where it stopped.
 * epoch         of the lane; follows what the records say.
 * damaged       counts words that are no record. */
enum fp_records_stop fp_records_take(struct fp_columns *columns, const uint64_t *words, uint32_t count,
                                     uint32_t *at, uint64_t *epoch, uint64_t *damaged);

/* fp_records_calls - how many calls stand in words from number `at` on, up to a word of 0; a word that is no record may have been
 * one, and is counted. For what cannot be kept: needs no columns, and no memory. */
uint64_t fp_records_calls(const uint64_t *words, uint32_t count, uint32_t at);

/* fp_writer_columns - append a block of at least one mark to a footprint. The block stays as it is.
 * Returns   FP_OK; FP_ERR_WRITE (the file is cut back to its last whole block; further calls may be tried again),
 *           FP_ERR_LIMIT, FP_ERR_MEMORY, FP_ERR_ARGUMENT (no mark, or no such lane). */
enum fp_status fp_writer_columns(struct fp_writer *writer, struct fp_columns *columns, uint32_t lane,
                                 uint64_t sequence);

/* ==== private to footprint/ ============================================================================
 *
 * docs/format.md, "Marks block", specifies the columns. Addresses are told as the number of marks
 * since the same address was last named in the block: allocators hand out again what was freed, and
 * programs free what they allocated, so most distances are small and repeat. */

enum marks_column {
    MARKS_SHAPES = 0,
    MARKS_SHAPE_LOW,
    MARKS_SHAPE_HIGH,
    MARKS_ADDRESS,
    MARKS_LITERAL,
    MARKS_EPOCH,
    MARKS_STAMP_GAP,
    MARKS_STAMP_TIME,
    MARKS_COLUMNS,               /* that every block has */
    MARKS_SITES = MARKS_COLUMNS, /* where allocations have sites */
    MARKS_COLUMNS_MOST,
};

/* Flags of a block's header; bits 0-2 hold the shift by which all literals of the block were divided. */
#define MARKS_FLAG_SHIFT     7u
#define MARKS_FLAG_CONTINUES 16u /* the model of sites goes on from the same lane's block before */
#define MARKS_CHAIN_MOST     64u /* blocks that go on from each other */

/* marks_column_count - the columns of a block by its header, MARKS_COLUMNS or, with sites, one more. */
static inline unsigned marks_column_count(const struct block_header *header)
{
    return header->column_count == MARKS_COLUMNS_MOST ? MARKS_COLUMNS_MOST : MARKS_COLUMNS;
}

/* ---- a block under construction ---------------------------------------------------------------- */

/* Address codes: 0 a literal follows in its column, 1 NULL, d + 1 the address named d marks ago. */
enum { ADDRESS_LITERAL = 0, ADDRESS_NULL = 1 };

#define SEEN_BITS         17u /* twice FP_BLOCK_MARKS_MAX entries */
#define SEEN_TAG_BITS     31u
#define SEEN_ADDRESS_BITS 48u

#define SHAPE_TABLE_BITS         17u /* twice FP_BLOCK_MARKS_MAX shapes */
#define COLUMNS_GENERATION_LIMIT 0xffffu

_Static_assert(SEEN_BITS + SEEN_TAG_BITS == SEEN_ADDRESS_BITS, "place and tag are the address");
_Static_assert(FP_BLOCK_MARKS_MAX <= 0x10000, "numbers of marks and of shapes have 16 bits");

/* One structure, so that the loop over records holds one pointer. Entries of the three tables are of the block's
 * generation, or empty. */
struct columns_memory {
    uint64_t seen
        [1u << SEEN_BITS]; /* tag 31 bits, generation 16, number of the mark 16, from the top; bit 32 is 0 */
    uint32_t direct[(FP_RECORD_CODE_MASK + 1) << FP_RECORD_SHORT_SIZE_BITS]; /* generation 16, shape 16 */
    uint32_t table[1u << SHAPE_TABLE_BITS]; /* likewise, by hash; open addressing */
    uint16_t mark_shapes[FP_BLOCK_MARKS_MAX];
    uint64_t literals[FP_BLOCK_MARKS_MAX]; /* addresses that the column calls literals */
    struct fp_shape shapes[FP_BLOCK_MARKS_MAX];
    uint32_t sites[FP_BLOCK_MARKS_MAX]; /* by mark; of one whose call has none, anything */
    struct fp_stamp stamps[FP_BLOCK_MARKS_MAX + 1];
    /* Columns, as large as they can become. */
    uint8_t address[FP_BLOCK_MARKS_MAX * 3 + 1];               /* put_short_varint writes one more */
    uint8_t epochs[FP_BLOCK_MARKS_MAX * 5 + VARINT_BYTES_MAX]; /* 0 behind epoch_bytes */
    uint8_t shape_low[FP_BLOCK_MARKS_MAX], shape_high[FP_BLOCK_MARKS_MAX];
    uint8_t shape_list[FP_BLOCK_MARKS_MAX * SHAPE_BYTES_MAX];
    uint8_t site_list[FP_BLOCK_MARKS_MAX * SITE_BYTES_MOST + RANGE_TAIL_BYTES];
    uint8_t literal[FP_BLOCK_MARKS_MAX * VARINT_BYTES_MAX];
    uint8_t stamp_gaps[(FP_BLOCK_MARKS_MAX + 1) * 3];
    uint8_t stamp_times[(FP_BLOCK_MARKS_MAX + 1) * VARINT_BYTES_MAX];
};

struct columns_put {
    struct columns_memory *memory;
    uint8_t *address;
    uint32_t literal, generation, mark;
};

static inline struct columns_put columns_put_at(const struct fp_columns *columns)
{
    return (struct columns_put){
        .memory = columns->memory,
        .address = columns->memory->address + columns->address_bytes,
        .literal = columns->literal_count,
        .generation = columns->generation << 16,
        .mark = columns->mark_count,
    };
}

static inline void columns_put_done(struct fp_columns *columns, const struct columns_put *put)
{
    columns->address_bytes = (size_t)(put->address - columns->memory->address);
    columns->literal_count = put->literal;
    columns->epoch_bytes += put->mark -
                            columns->mark_count; /* a mark of the same epoch: a byte 0, and it is 0 */
    columns->mark_count = put->mark;
}

/* Multiplied by an odd number, 48 bits go to 48 bits one to one: the upper 17 are the place, the rest the tag. The number is
 * the golden section of 2^48, which spreads neighbours better than chance would. */
static inline uint64_t seen_mix(uint64_t address)
{
    return address * UINT64_C(0x9e3779b97f4b);
}

static inline uint32_t seen_place(uint64_t mixed)
{
    return (uint32_t)(mixed >> SEEN_TAG_BITS) & ((1u << SEEN_BITS) - 1);
}

/* columns_put_mark - append a mark of the epoch that columns_put_epoch set last. There is room for it. */
static inline void columns_put_mark(struct columns_put *put, uint64_t address, uint32_t shape)
{
    struct columns_memory *const memory = put->memory;
    const uint64_t mixed = seen_mix(address);
    const uint64_t key = mixed << (64 - SEEN_TAG_BITS) | put->generation;
    uint64_t *const seen = &memory->seen[seen_place(mixed)];
    const uint64_t before = *seen ^ key; /* the number of the mark, where all else is equal */
    const uint32_t is_known = before <= 0xffff;
    const uint32_t mark = put->mark++;
    memory->mark_shapes[mark] = (uint16_t)shape;
    if (__builtin_expect(address == 0, 0)) {
        *put->address++ = ADDRESS_NULL;
        return;
    }
    memory->literals[put->literal] = address;
    if (__builtin_expect(address >> SEEN_ADDRESS_BITS != 0, 0)) {
        put->literal++;
        *put->address++ = ADDRESS_LITERAL;
        return;
    }
    /* No branch: which addresses are known is anybody's guess. */
    put->literal += 1 - is_known;
    put->address = put_short_varint(put->address, (mark - (uint32_t)before + 1) & (0 - is_known));
    *seen = key | mark;
}

/* columns_put_base - the epoch that the first mark's is told from. Before the first mark. */
static inline void columns_put_base(struct fp_columns *columns, uint64_t epoch)
{
    columns->base_epoch = columns->epoch = epoch;
}

/* columns_put_epoch - the epoch of the marks to come, of which there is one: not below that of the last, and less than
 * 2^32 above the base. Not between columns_put_at and columns_put_done. */
static inline void columns_put_epoch(struct fp_columns *columns, uint64_t epoch)
{
    uint8_t *const at = columns->memory->epochs + columns->epoch_bytes;
    if (epoch == columns->epoch)
        return;
    /* The last byte of the varint is the one that each mark has anyway. */
    columns->epoch_bytes += (size_t)(put_varint(at, epoch - columns->epoch) - at) - 1;
    columns->epoch = epoch;
}

/* columns_shape - the number of a shape, whatever record it came by. There is room for a mark. */
uint32_t columns_shape(struct fp_columns *columns, const struct fp_shape *shape);

/* ---- columns and back ------------------------------------------------------------------------------ */

/* columns_finish - the columns of a block of at least one mark, which is complete; the last only where it is `sited`. Pointers are the block's
 * until it is cleared. Fills in what struct block_header has of a marks block.
 * model   goes on from the lane's block before, or has been begun anew; not used where there are no sites. */
void columns_finish(struct fp_columns *columns, struct site_model *model, uint32_t lane, uint64_t sequence,
                    struct block_header *ret_header, struct column ret_columns[MARKS_COLUMNS_MOST]);

/* marks_scratch_bytes - most bytes that the columns of a block of count marks can hold. */
size_t marks_scratch_bytes(uint32_t count);

/* marks_decode - turn columns, marks_column_count of them, into marks, checking everything that struct fp_block promises.
 * model     of the sites, where there are some: it stands behind the block before, or has been begun anew. NULL: what it would
 *           have to know is lost, and so are the sites.
 * Returns   FP_OK; FP_ERR_CORRUPT with *ret_what; FP_ERR_MEMORY. */
enum fp_status marks_decode(const struct block_header *header,
                            const struct column columns[MARKS_COLUMNS_MOST], struct site_model *model,
                            struct fp_block_buffer *buffer, struct fp_block *ret_block,
                            const char **ret_what);

#endif

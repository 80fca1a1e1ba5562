/* columns.h - a block of marks under construction, already in the form in which its columns are stored.
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

#include "footprint/fp/footprint.h"
#include "footprint/fp/fp_sites.h"
#include "footprint/fp/record.h"

/* ---- what records say of stacks ----------------------------------------------------------------------
 *
 * What a lane's records say of stacks (record.h): sites, nodes, modules. The collector's.
 *
 * One for each stream, for as long as it lasts. A hostile program writes the records: numbers are bounded here, texts made
 * printable, and the reader of the file checks once more. */

struct fp_site_decoder {
    bool sampled; /* nothing is predicted: an allocation without a told site was not sampled */
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

/* fp_site_decoder_take - a record that is FP_RECORD_SITE, _NODE or _MODULE, of two or three words.
 * Returns   false: it is none that a recorder writes. */
bool fp_site_decoder_take(struct fp_site_decoder *decoder, const uint64_t *words);

/* fp_site_decoder_site - the site of an allocation of so many bytes, which follows what was taken. */
uint32_t fp_site_decoder_site(struct fp_site_decoder *decoder, uint64_t size);

/* fp_site_decoder_skip - one record whose mark is known already: what it changes here. words: as many as it has. */
void fp_site_decoder_skip(struct fp_site_decoder *decoder, const uint64_t *words);

struct columns_memory; /* marks.h */

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
    uint8_t short_calls[16]; /* fp_record_code backwards */
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

#endif

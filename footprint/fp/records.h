/* records.h - records of a lane (record.h) into the columns of a block. The collector's hot path. */
#ifndef MALLAB_FOOTPRINT_FP_RECORDS_H
#define MALLAB_FOOTPRINT_FP_RECORDS_H

#include "footprint/fp/columns.h"

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

#endif

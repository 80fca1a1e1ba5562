/* record.h - the 16-byte record that the shim stores for a call and the collector reads.
 *
 * Two 64-bit words. Word 0 is written last and is never 0, so that a reader of a zeroed chunk,
 * or of a chunk whose writer was killed, sees each record whole or not at all.
 *
 *   word 0   bits  0-7   call, mark or FP_RECORD_* (never 0)
 *            bits  8-15  epoch, bits 32-39
 *            bits 16-63  address (48 bits; user space on x86-64 and aarch64 without LVA ends below)
 *   word 1   bits  0-31  size, low 32 bits
 *            bits 32-63  epoch, bits 0-31
 *
 * FP_RECORD_WIDE carries what does not fit the record that follows it in the same lane:
 *            word 0 bits 16-63  size, bits 32-63 (in the low 32 of the 48 bits)
 *            word 1             extra (count or alignment), 64 bits
 * FP_RECORD_STAMP carries a time and the whole epoch; it stands for no call:
 *            word 0 bits  8-63  epoch, low 56 bits
 *            word 1             raw clock (fp_clock of the segment: TSC ticks, or ns of CLOCK_MONOTONIC)
 *
 * Epochs: see docs/order.md. A record's 40 bits are completed by the stamps before it; a lane
 * writes a stamp first in each chunk and then first in each 256-byte group, or in every fourth
 * of them while its process has one lane only. */
#ifndef MALLAB_FOOTPRINT_RECORD_H
#define MALLAB_FOOTPRINT_RECORD_H

#include <stdint.h>

enum {
    FP_RECORD_WIDE = 62,
    FP_RECORD_STAMP = 63,
};

#define FP_RECORD_BYTES       16u
#define FP_RECORD_GROUP_BYTES 256u /* a lane stamps at each multiple (or fourth): 15 records to a stamp */

struct fp_record {
    uint64_t word0;
    uint64_t word1;
};

static inline uint64_t fp_record_word0(unsigned call, uint64_t epoch, uint64_t address)
{
    return (uint64_t)call | (epoch >> 32 & 0xff) << 8 | address << 16;
}

static inline uint64_t fp_record_word1(uint64_t epoch, uint64_t size)
{
    return epoch << 32 | (size & 0xffffffffu);
}

static inline unsigned fp_record_call(const struct fp_record *record)
{
    return (unsigned)(record->word0 & 0xff);
}

static inline uint64_t fp_record_address(const struct fp_record *record)
{
    return record->word0 >> 16;
}

static inline uint64_t fp_record_size32(const struct fp_record *record)
{
    return record->word1 & 0xffffffffu;
}

/* fp_record_epoch40 - the low 40 bits of the epoch of a call's record. */
static inline uint64_t fp_record_epoch40(const struct fp_record *record)
{
    return record->word1 >> 32 | (record->word0 >> 8 & 0xff) << 32;
}

/* fp_epoch_extend - complete 40 bits by the newest whole epoch known of the lane.
 * Valid while the two are less than 2^39 apart, which at one step per microsecond is six days. */
static inline uint64_t fp_epoch_extend(uint64_t base, uint64_t low40)
{
    const uint64_t span = UINT64_C(1) << 40;
    uint64_t epoch = (base & ~(span - 1)) | low40;
    if (epoch + span / 2 < base)
        epoch += span;
    else if (epoch > base + span / 2 && epoch >= span)
        epoch -= span;
    return epoch;
}

#endif

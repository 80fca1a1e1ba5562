/* records.c - the records of lanes, into a block under construction, and what they say of stacks: the collector's hot path. */
#include "footprint/fp/columns.h"

#include <stddef.h>
#include <string.h>

#include "footprint/base/call.h"

/* ---- what records say of stacks ---------------------------------------------------------------------- */

void fp_site_decoder_begin(struct fp_site_decoder *decoder)
{
    fp_site_begin(&decoder->predictor);
    decoder->told = 0;
}

/* The site of an allocation of so many bytes, which follows what was taken. */
static uint32_t take_site(struct fp_site_decoder *decoder, uint64_t size)
{
    const uint32_t told = decoder->told;
    decoder->told = 0;
    uint32_t *guess = fp_site_guess(&decoder->predictor, size);
    const uint32_t site = told != 0 ? told : *guess;
    fp_site_settle(&decoder->predictor, guess, site);
    return site;
}

static bool take_node(struct fp_site_decoder *decoder, const uint64_t *words)
{
    struct fp_site_entry entry = {.site = fp_record_node_site(words[1])};
    entry.node.address = words[0] >> 16;
    entry.node.parent = fp_record_node_parent(words[1]);
    entry.node.epoch = fp_record_node_epoch(words[1]);
    if (entry.site < FP_SITE_FIRST || entry.site >= FP_SITES_MAX || entry.node.parent >= entry.site ||
        entry.node.address == 0)
        return false;
    decoder->take_node(decoder->context, &entry);
    return true;
}

/* All pieces of a module are here. */
static bool finish_module(struct fp_site_decoder *decoder)
{
    struct fp_record_module head;
    struct fp_module module = {0};
    if (decoder->text_bytes < sizeof head)
        return false;
    memcpy(&head, decoder->text, sizeof head);
    const size_t rest = decoder->text_bytes - sizeof head;
    if (head.build_id_bytes > FP_BUILD_ID_MAX || head.build_id_bytes > rest ||
        rest - head.build_id_bytes > FP_PATH_MAX || head.start >= head.end ||
        head.end >> FP_ADDRESS_BITS != 0)
        return false;
    module.start = head.start;
    module.end = head.end;
    module.base = head.base;
    module.epoch = head.epoch;
    module.build_id_bytes = head.build_id_bytes;
    memcpy(module.build_id, decoder->text + sizeof head, head.build_id_bytes);
    char *path = (char *)decoder->text + sizeof head + head.build_id_bytes;
    for (char *at = path; at < (char *)decoder->text + decoder->text_bytes; at++)
        if ((unsigned char)*at < ' ' || (unsigned char)*at >= 127)
            *at = '?';
    decoder->text[decoder->text_bytes] = '\0';
    module.path = path;
    decoder->take_module(decoder->context, &module);
    return true;
}

static bool take_piece(struct fp_site_decoder *decoder, const uint64_t *words)
{
    const uint32_t number = fp_record_piece_number(words[0]), bytes = fp_record_piece_bytes(words[0]);
    if (bytes == 0 || bytes > FP_RECORD_MODULE_BYTES_MAX)
        return false;
    if (number == 0) {
        decoder->text_bytes = bytes;
        decoder->text_pieces = (bytes + FP_RECORD_PIECE_BYTES - 1) / FP_RECORD_PIECE_BYTES;
        decoder->text_next = 0;
    }
    if (number != decoder->text_next || number >= decoder->text_pieces || bytes != decoder->text_bytes) {
        decoder->text_pieces = 0; /* some are lost: so is the module */
        return true;
    }
    memcpy(decoder->text + (size_t)number * FP_RECORD_PIECE_BYTES, words + 1, FP_RECORD_PIECE_BYTES);
    if (++decoder->text_next < decoder->text_pieces)
        return true;
    decoder->text_pieces = 0;
    return finish_module(decoder);
}

/* A record that is FP_RECORD_SITE, _NODE or _MODULE, of two or three words. Returns false: it is none that a recorder writes. */
static bool take_of_sites(struct fp_site_decoder *decoder, const uint64_t *words)
{
    switch ((uint8_t)(words[0] >> 4)) {
    case FP_RECORD_SITE:
        decoder->told = (uint32_t)words[1];
        if (decoder->told < FP_SITES_MAX)
            return true;
        decoder->told = FP_CUT_LOST;
        return false;
    case FP_RECORD_NODE:
        return take_node(decoder, words);
    case FP_RECORD_MODULE:
        return take_piece(decoder, words);
    default:
        return false;
    }
}

void fp_site_decoder_skip(struct fp_site_decoder *decoder, const uint64_t *words)
{
    const unsigned code = words[0] & FP_RECORD_CODE_MASK;
    const uint8_t call = (uint8_t)(words[0] >> 4);
    if (code == FP_RECORD_LONG || code == FP_RECORD_WIDE) {
        if (fp_record_is_of_sites(words[0]))
            (void)take_of_sites(decoder, words); /* what it told is in the file */
        else if (fp_call_has_site(call))
            (void)take_site(decoder, code == FP_RECORD_LONG ? words[1] & 0xffffffff : words[1]);
    } else if (code <= FP_RECORD_SHORT_CODES && fp_call_has_site(fp_record_call(code))) {
        (void)take_site(decoder, words[0] >> FP_RECORD_ADDRESS_BITS);
    }
}

/* ---- records ------------------------------------------------------------------------------------ */

#define LOOK_AHEAD 16u /* records: about a memory latency */

static inline bool is_short(uint64_t word)
{
    return (word & FP_RECORD_CODE_MASK) - 1 < FP_RECORD_SHORT_CODES;
}

static inline struct fp_shape short_shape(uint64_t word)
{
    const uint8_t call = (uint8_t)fp_record_call(word & FP_RECORD_CODE_MASK);
    return (struct fp_shape){call, word >> FP_RECORD_ADDRESS_BITS, fp_record_extra(call)};
}

/* The number of a shape that has no entry of `direct` yet. */
static __attribute__((noinline)) uint32_t new_short_shape(struct fp_columns *columns, uint64_t word)
{
    const struct fp_shape shape = short_shape(word);
    return columns_shape(columns, &shape);
}

/* Code and size of a record of one word are its place in the table: neighbouring sizes share lines of the cache,
 * where a hash would scatter them. */
static inline uint64_t direct_place(uint64_t word)
{
    const uint64_t turned = word << FP_RECORD_SHORT_SIZE_BITS | word >> FP_RECORD_ADDRESS_BITS;
    return turned & (((FP_RECORD_CODE_MASK + 1) << FP_RECORD_SHORT_SIZE_BITS) - 1);
}

static inline uint64_t short_address(uint64_t word)
{
    return word & ((UINT64_C(1) << FP_RECORD_ADDRESS_BITS) - 1) & ~(uint64_t)FP_RECORD_CODE_MASK;
}

/* Records of one word from `at` to before `end`, as far as they go; there is room for them in the block.
 * ahead   words that may be read behind `end`. */
static inline __attribute__((always_inline)) const uint64_t *take_run(struct fp_columns *columns,
                                                                      struct columns_put *put,
                                                                      const uint64_t *at, const uint64_t *end,
                                                                      unsigned ahead)
{
    struct columns_memory *const memory = put->memory;
    for (; at < end; at++) {
        const uint64_t word = *at;
        uint32_t shape = memory->direct[direct_place(word)] ^ put->generation;
        if (ahead > 0)
            __builtin_prefetch(&memory->seen[seen_place(seen_mix(short_address(at[ahead])))], 1);
        if (__builtin_expect(shape > 0xffff, 0)) {
            /* Codes of other records have no entries. */
            if (!is_short(word))
                break;
            shape = new_short_shape(columns, word);
        }
        columns_put_mark(put, short_address(word), shape);
    }
    return at;
}

/* Records of one word up to the next other one; the block has room for end - at. */
static uint32_t take_short(struct fp_columns *columns, const uint64_t *words, uint32_t at, uint32_t end)
{
    struct columns_put put = columns_put_at(columns);
    const uint64_t *stop = words + at;
    if (end - at > LOOK_AHEAD)
        stop = take_run(columns, &put, stop, words + end - LOOK_AHEAD, LOOK_AHEAD);
    if (words + end - stop <= LOOK_AHEAD)
        stop = take_run(columns, &put, stop, words + end, 0);
    columns_put_done(columns, &put);
    return (uint32_t)(stop - words);
}

/* Records of one word with their sites. As take_short, but slower, and nothing is looked for ahead. */
static uint32_t take_sited(struct fp_columns *columns, const uint64_t *words, uint32_t at, uint32_t end)
{
    struct columns_put put = columns_put_at(columns);
    for (; at < end && is_short(words[at]); at++) {
        const uint64_t word = words[at];
        const struct fp_shape shape = short_shape(word);
        if (fp_call_has_site(shape.call))
            put.memory->sites[put.mark] = take_site(columns->sites, shape.size);
        columns_put_mark(&put, short_address(word), columns_shape(columns, &shape));
    }
    columns_put_done(columns, &put);
    return at;
}

/* A record of two or three words. Returns how many it took, 0: it is none. */
static uint32_t take_long(struct fp_columns *columns, const uint64_t *words, uint32_t left, uint64_t epoch)
{
    struct columns_put put;
    const uint64_t first = words[0];
    const unsigned code = first & FP_RECORD_CODE_MASK;
    const uint8_t call = (uint8_t)(first >> 4);
    struct fp_shape shape = {.call = call};
    uint32_t taken;
    if (code == FP_RECORD_LONG && left >= 2) {
        shape.size = words[1] & 0xffffffff;
        shape.extra = words[1] >> 32;
        taken = 2;
    } else if (code == FP_RECORD_WIDE && left >= 3) {
        shape.size = words[1];
        shape.extra = words[2];
        taken = 3;
    } else {
        return 0;
    }
    if (!fp_mark_is_valid(call))
        return 0;
    if (columns->sites != NULL && fp_call_has_site(call))
        columns->memory->sites[columns->mark_count] = take_site(columns->sites, shape.size);
    columns_put_epoch(columns, epoch);
    put = columns_put_at(columns);
    columns_put_mark(&put, first >> 16, columns_shape(columns, &shape));
    columns_put_done(columns, &put);
    return taken;
}

enum fp_records_stop fp_records_take(struct fp_columns *columns, const uint64_t *words, uint32_t count,
                                     uint32_t *at, uint64_t *epoch, uint64_t *damaged)
{
    while (*at < count && words[*at] != 0) {
        const unsigned code = words[*at] & FP_RECORD_CODE_MASK;
        const uint32_t room = FP_BLOCK_MARKS_MAX - columns->mark_count;
        uint32_t taken;
        if (code == FP_RECORD_EPOCH) {
            *epoch = fp_record_epoch_of(words[(*at)++]);
            continue;
        }
        if (code == FP_RECORD_STAMP && count - *at >= 2)
            return FP_RECORDS_STAMP;
        if (fp_record_is_thread(words[*at]) && count - *at >= 2)
            return FP_RECORDS_THREAD;
        if (columns->sites != NULL && fp_record_is_of_sites(words[*at]) &&
            count - *at >= fp_record_words(words[*at])) {
            *damaged += !take_of_sites(columns->sites, words + *at);
            *at += fp_record_words(words[*at]);
            continue;
        }
        if (columns->mark_count == 0)
            columns_put_base(columns, *epoch);
        if (room == 0 || *epoch < columns->epoch || *epoch - columns->base_epoch > UINT32_MAX)
            return FP_RECORDS_FULL;
        if (is_short(words[*at])) {
            columns_put_epoch(columns, *epoch);
            taken = count - *at < room ? count : *at + room;
            if (columns->sites == NULL)
                *at = take_short(columns, words, *at, taken);
            else
                *at = take_sited(columns, words, *at, taken);
            continue;
        }
        taken = take_long(columns, words + *at, count - *at, *epoch);
        *damaged += taken == 0;
        *at += taken > 0 ? taken : 1;
    }
    return FP_RECORDS_END;
}

uint64_t fp_records_calls(const uint64_t *words, uint32_t count, uint32_t at)
{
    const unsigned resize_from = fp_record_code(FP_MARK_RESIZE_FROM);
    uint64_t calls = 0;
    while (at < count && words[at] != 0) {
        const unsigned code = words[at] & FP_RECORD_CODE_MASK;
        const uint8_t call = (uint8_t)(words[at] >> 4);
        const uint32_t length = fp_record_words(words[at]);
        const bool whole = length <= count - at;
        if ((fp_record_is_thread(words[at]) || fp_record_is_of_sites(words[at])) && whole)
            ; /* no call */
        else if (code == FP_RECORD_LONG || code == FP_RECORD_WIDE)
            calls += !whole || call < FP_CALL_COUNT || !fp_mark_is_valid(call);
        else if (code != FP_RECORD_EPOCH && !(code == FP_RECORD_STAMP && whole))
            calls += code != resize_from;
        at += whole ? length : 1;
    }
    return calls;
}

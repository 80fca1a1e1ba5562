/* site_decoder.c - sites out of a lane's records. */
#include "footprint/fp/site_decoder.h"

#include <stddef.h>

#include "footprint/base/call.h"

void fp_site_decoder_begin(struct fp_site_decoder *decoder)
{
    fp_site_begin(&decoder->predictor);
    decoder->told = 0;
}

uint32_t fp_site_decoder_site(struct fp_site_decoder *decoder, uint64_t size)
{
    const uint32_t told = decoder->told;
    decoder->told = 0;
    if (decoder->sampled)
        return told != 0 ? told : FP_CUT_UNSAMPLED;
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

bool fp_site_decoder_take(struct fp_site_decoder *decoder, const uint64_t *words)
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
            (void)fp_site_decoder_take(decoder, words); /* what it told is in the file */
        else if (fp_call_has_site(call))
            (void)fp_site_decoder_site(decoder, code == FP_RECORD_LONG ? words[1] & 0xffffffff : words[1]);
    } else if (code <= FP_RECORD_SHORT_CODES && fp_call_has_site(fp_record_call(code))) {
        (void)fp_site_decoder_site(decoder, words[0] >> FP_RECORD_ADDRESS_BITS);
    }
}

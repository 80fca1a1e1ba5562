/* site_decoder.h - what a lane's records say of stacks (record.h): sites, nodes, modules. The collector's.
 *
 * One for each stream, for as long as it lasts. A hostile program writes the records: numbers are bounded here, texts made
 * printable, and the reader of the file checks once more. */
#ifndef MALLAB_FOOTPRINT_FP_SITE_DECODER_H
#define MALLAB_FOOTPRINT_FP_SITE_DECODER_H

#include "footprint/fp/fp_sites.h"
#include "footprint/fp/record.h"

struct fp_site_decoder {
    bool sampled; /* nothing is predicted: an allocation without a told site was not sampled */
    struct fp_site_predictor predictor;
    uint32_t
        told; /* the site of the allocation that comes next, where it is not the one that is guessed; 0: it is */
    /* Whom to tell; a module's path lasts until the call returns. */
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

#endif

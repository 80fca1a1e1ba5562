/* salvage.h - --salvage for traces: what is left out is counted, and a file of which nothing is left is refused. */
#ifndef MALLAB_CONVERT_IMPORT_SALVAGE_H
#define MALLAB_CONVERT_IMPORT_SALVAGE_H

#include "convert/import/import.h"

#define CONV_SALVAGE_BYTES                                                                                   \
    (UINT64_C(1) << 20) /* without a meaning from the beginning on: this is something else */

/* conv_import_skip - with options.salvage: leave out what cannot be understood, and count it. What is wrong with
 * the first of it is kept for the message.
 * offset    where it stands; line: its number, 0 of a binary trace.
 * Returns   FP_OK: go on; FP_ERR_CORRUPT, with the error filled, where it is hopeless. */
enum fp_status conv_import_skip(struct conv_import *import, enum conv_irregularity why, uint64_t offset,
                                uint64_t line, const char *wrong);

/* conv_import_hopeless - whether, as far as offset, so little has a meaning that it is no use to read on. */
bool conv_import_hopeless(const struct conv_import *import, uint64_t offset);
enum fp_status conv_import_give_up(struct conv_import *import);

/* conv_import_tail - with options.salvage: a rest of unknown length, from offset on, cannot be read. */
void conv_import_tail(struct conv_import *import, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* conv_import_salvaged - after the last call: tell what was left out. Returns FP_OK; FP_ERR_CORRUPT, with the error
 * filled, when there was nothing else. */
enum fp_status conv_import_salvaged(struct conv_import *import);

#endif

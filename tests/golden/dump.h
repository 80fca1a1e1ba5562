/* dump.h - everything that the readers hand out, as text: one line a fact.
 *
 * What depends on the compressor's version (sizes, offsets from the file's start, the digest) is left out. */
#ifndef MALLAB_TESTS_DUMP_H
#define MALLAB_TESTS_DUMP_H

#include <stdio.h>

#include "footprint/base/status.h"

/* Where reading ended. stage: "open", "tail" (after the last good block), "block", "window" or "end"; number: of
 * the block or window that was refused. */
struct dump_result {
    const char *stage;
    unsigned long number;
    struct fp_error error;
};

/* dump_footprint, dump_workload - read the whole file.
 * out       receives the text; NULL to read only.
 * Returns   what the reader said last: status FP_OK when every part was read. */
struct dump_result dump_footprint(const char *path, FILE *out);
struct dump_result dump_workload(const char *path, FILE *out);

#endif

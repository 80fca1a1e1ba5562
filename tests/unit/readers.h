/* readers.h - files that a test opens, and that are closed where the variable's scope ends. */
#ifndef MALLAB_TESTS_UNIT_READERS_H
#define MALLAB_TESTS_UNIT_READERS_H

#include "footprint/fp/footprint.h"
#include "footprint/wl/workload.h"
#include "unit/harness.h"

static inline struct fp_reader *fp_opened(const char *path)
{
    struct fp_reader *reader = NULL;
    CHECK_U64(fp_reader_open(path, NULL, &reader), FP_OK);
    return reader;
}

static inline void fp_reader_let_go(struct fp_reader **reader)
{
    fp_reader_close(*reader);
}

static inline struct wl_reader *wl_opened(const char *path)
{
    struct wl_reader *reader = NULL;
    CHECK_U64(wl_reader_open(path, NULL, &reader), FP_OK);
    return reader;
}

static inline void wl_reader_let_go(struct wl_reader **reader)
{
    wl_reader_close(*reader);
}

#define FP_READER __attribute__((cleanup(fp_reader_let_go))) struct fp_reader
#define WL_READER __attribute__((cleanup(wl_reader_let_go))) struct wl_reader

#endif

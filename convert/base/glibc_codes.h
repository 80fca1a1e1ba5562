/* glibc_codes.h - codes of the records of glibc's trace_run (.wl), which import and export share (docs/importing.md). */
#ifndef MALLAB_CONVERT_BASE_GLIBC_CODES_H
#define MALLAB_CONVERT_BASE_GLIBC_CODES_H

enum conv_glibc_code {
    CODE_NOTHING = 0,
    CODE_DONE = 1,
    CODE_MALLOC = 2,
    CODE_CALLOC = 3,
    CODE_REALLOC = 4,
    CODE_FREE = 5,
    CODE_SIGNAL = 6,
    CODE_WAIT = 7,
    CODE_POINTERS = 8,
    CODE_SYNCS = 9,
    CODE_THREADS = 10,
    CODE_START_THREAD = 11,
    CODE_MEMALIGN = 12,
    CODE_VALLOC = 13,
    CODE_PVALLOC = 14,
};

#endif

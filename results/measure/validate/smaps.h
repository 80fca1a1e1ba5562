/* smaps.h - what of a process' anonymous memory is the heap's, from the text of /proc/PID/smaps.
 *
 *   anonymous   pages that no file backs any more, or ever did: what the kernel calls "Anonymous" of a mapping
 *   heap        anonymous pages of "[heap]", of mappings without a name, and of the allocator's own library with its .bss
 *   apart       all other anonymous pages: written pages of files (.data, relocated pointers), stacks of main threads, .bss
 *               (of a mapping without a name that begins where a writable one of a file ends, as much as bss.h says),
 *               and what the program itself maps where libmallab-apart.so is preloaded, which gives such mappings a
 *               name (shim/preload/apart.c)
 *
 *   file        what is resident of a mapping with a name, or of a file's .bss, but what is the heap's of it
 *
 * Stacks of other threads have no name and count as heap: some 8 to 100 KiB a thread that runs.
 * Source: Linux, Documentation/filesystems/proc.rst, "/proc/PID/smaps". */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_SMAPS_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_SMAPS_H

#include <stddef.h>
#include <stdint.h>

#include "results/measure/validate/mapping_names.h"

struct res_smaps {
    uint64_t heap_bytes;
    uint64_t apart_bytes;
    struct res_files files; /* all that is resident and not the heap's, by name */
};

/* res_smaps_parse - add up the mappings of a text, which may be cut at its end: then the last mapping may be missing.
 * text       length bytes, not terminated. Lines that are not understood are passed over.
 * allocator  path of the allocator's library; NULL: none is counted so, as libc's, whose data are mostly not malloc's. */
struct res_smaps res_smaps_parse(const char *text, size_t length, const char *allocator);

#endif

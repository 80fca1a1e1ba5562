/* bss.h - how much zeroed memory the loader maps behind a file's own data. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_BSS_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_BSS_H

#include <stdint.h>

/* res_bss_bytes - of an ELF file, the bytes of the mapping without a name that follows its last loaded segment: whole
 * pages from the end of what is mapped of the file to the end of the segment in memory (elf(5): p_filesz, p_memsz).
 * What a path said is remembered: one thread only, and files that do not change meanwhile.
 * Returns   UINT64_MAX when path cannot be read or is no 64-bit ELF file of this machine's byte order. */
uint64_t res_bss_bytes(const char *path);

#endif

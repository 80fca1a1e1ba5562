/* part_name.h - names of footprints within a recording: STEM.fp, or STEM.wNNNN.fp for a window (docs/format.md). */
#ifndef MALLAB_FOOTPRINT_BASE_PART_NAME_H
#define MALLAB_FOOTPRINT_BASE_PART_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* fp_part_name - split a footprint's name into its stem and its window, 0 for none.
 * name      without a folder; need not be terminated within size.
 * ret_stem  of size bytes, terminated; untouched unless it is a footprint's name.
 * Returns   false: no footprint's name, a hidden file's, or not shorter than size. */
bool fp_part_name(const char *name, size_t size, char *ret_stem, uint32_t *ret_window);

/* fp_part_stem - a program's name as the beginning of a file's in one directory, whatever somebody called it: UTF-8, as JSON has
 * the file's name, no slash, no control character, no leading dot or dash, never empty.
 * name      need not be terminated within name_size.
 * ret_stem  of size bytes, 8 at least; cut where it does not fit. */
void fp_part_stem(const char *name, size_t name_size, char *ret_stem, size_t size);

#endif

/* dwarf_frames.h - what DWARF says of an address: the function, what is inlined into it there, files and lines.
 *
 * For a child with limits of memory and time (libdw reads what is hostile). Of each unit that is asked for the functions are
 * read once, so that many addresses are cheap. */
#ifndef MALLAB_SITES_NAMES_DWARF_FRAMES_H
#define MALLAB_SITES_NAMES_DWARF_FRAMES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites/names/names.h"

struct dwarf_frames;

/* Texts are libdw's, until dwarf_frames_close. */
struct dwarf_frame {
    const char *name; /* as it is linked, to be demangled, where that is told; NULL: not known */
    const char *file; /* NULL: not known */
    uint32_t line;
    uint64_t start; /* of the function; 0: of what is inlined */
};

/* dwarf_frames_open - dwarf is borrowed. Returns NULL: it tells of no code, or there is no memory. */
struct dwarf_frames *dwarf_frames_open(Dwarf *dwarf);
void dwarf_frames_close(struct dwarf_frames *frames); /* NULL is accepted */

/* dwarf_frames_find - the function first, then what is inlined, the innermost last. Where no function is known but a
 * line is, one frame without a name.
 * Returns   how many, 0 to NAMES_INLINED_MAX. */
size_t dwarf_frames_find(struct dwarf_frames *frames, uint64_t address,
                         struct dwarf_frame ret_frames[NAMES_INLINED_MAX]);

#endif

/* debug_files.h - a module's file, and the one with its symbols and DWARF, by build id.
 *
 * A file counts where its build id is the module's. Looked for, in this order:
 *   the file      its path as recorded, or of a name alone the usual places; in each directory: its path, its name, .build-id/xx/yyyy
 *   debug file    the file itself; in each directory, then in /usr/lib/debug: .build-id/xx/yyyy.debug; in each directory:
 *                 its name, with .debug, too; what the file's .gnu_debuglink names: beside it, in .debug, in /usr/lib/debug
 *   debuginfod    both, only where it may be asked */
#ifndef MALLAB_SITES_NAMES_DEBUG_FILES_H
#define MALLAB_SITES_NAMES_DEBUG_FILES_H

#include <elfutils/libdw.h>

#include "sites/names/name_messages.h"

struct debug_files {
    Elf *file, *debug; /* NULL: not found. debug may be the same as file */
    int fds[2];
    bool was_replaced; /* there is a file at the path, and it is another */
    bool is_damaged;   /* it cannot be read as ELF, and nobody knows whether it should be another */
};

/* debug_files_open - with_lines: the debug file should have DWARF.
 * ret   to be released with debug_files_release, in any case. */
void debug_files_open(const struct name_request *request, bool with_lines, struct debug_files *ret);
void debug_files_release(struct debug_files *files);

/* debug_files_set_alternative - give the DWARF of a debug file what it shares with others (.gnu_debugaltlink, as dwz makes
 * it), where the system's place does not have it but one of the directories does.
 * Returns   what is to be closed after dwarf: ret_elf, and the descriptor; -1: nothing was found, or there is no need. */
int debug_files_set_alternative(const struct name_places *places, Dwarf *dwarf, Dwarf **ret_alternative);

#endif

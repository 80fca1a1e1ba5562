/* loader.h - which dynamic loader a program asks for: glibc's takes our library, musl's does not, a static one has none.
 *
 * Hostile bytes: every offset and size is checked, what is read is bounded. Used by the shim in children that share their
 * parent's memory, so there is no allocation and a small stack; the caller says how to read. */
#ifndef MALLAB_FOOTPRINT_BASE_LOADER_H
#define MALLAB_FOOTPRINT_BASE_LOADER_H

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#define LOADER_HEADERS_MOST 64u
#define LOADER_PATH_BYTES   256u

enum loader {
    LOADER_NONE, /* the program is statically linked */
    LOADER_MUSL, /* it ends programs into which a library of glibc is preloaded */
    LOADER_OTHER /* glibc's; or it cannot be told, and the kernel will say what is wrong with the program */
};

#define LOADER_MUSL_OBSTACLE "is built for musl, into which a recorder built for glibc cannot be preloaded"

/* loader_of - look at a program's headers.
 * fd, read  borrowed; read is as pread(2).
 * head      its ELF header, of our class and with headers of our size. */
static inline enum loader loader_of(int fd, const ElfW(Ehdr) * head,
                                    long (*read)(int fd, void *bytes, size_t size, uint64_t offset))
{
    char path[LOADER_PATH_BYTES] = "";
    if (head->e_phoff > INT64_MAX / 2 || head->e_phnum > LOADER_HEADERS_MOST)
        return LOADER_OTHER;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        ElfW(Phdr) header;
        if (read(fd, &header, sizeof header, head->e_phoff + i * sizeof header) != (long)sizeof header)
            return LOADER_OTHER;
        if (header.p_type != PT_INTERP)
            continue;
        const long got = header.p_filesz < sizeof path && header.p_offset <= INT64_MAX / 2
                             ? read(fd, path, (size_t)header.p_filesz, header.p_offset)
                             : -1;
        path[got > 0 ? got : 0] = '\0';
        const char *slash = strrchr(path, '/');
        return strncmp(slash != NULL ? slash + 1 : path, "ld-musl-", 8) == 0 ? LOADER_MUSL : LOADER_OTHER;
    }
    return LOADER_NONE;
}

#endif

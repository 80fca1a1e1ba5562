/* loader.h - which dynamic loader a program asks for: glibc's takes our library, musl's does not, a static one has none.
 *
 * Hostile bytes: every offset and size is checked, what is read is bounded. Used by the shim in children that share their
 * parent's memory, so there is no allocation and a small stack; the caller says how to read. */
#ifndef MALLAB_FOOTPRINT_BASE_LOADER_H
#define MALLAB_FOOTPRINT_BASE_LOADER_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LOADER_HEADERS_MOST 64u
#define LOADER_PATH_BYTES   256u
#define LOADER_TAGS_MOST    64u

enum loader {
    LOADER_NONE, /* the program is statically linked */
    LOADER_MUSL, /* it ends programs into which a library of glibc is preloaded */
    LOADER_OTHER /* glibc's, or the program is that loader itself; or it cannot be told, and the kernel will say what is wrong with the program */
};

#define LOADER_MUSL_OBSTACLE "is built for musl, into which a recorder built for glibc cannot be preloaded"

/* Whether it is a shared object with a name, as the loader is, which is started by itself to run what its arguments say. A static
 * program that can lie anywhere has no name. */
static inline bool loader_is_itself(int fd, const ElfW(Phdr) * dynamic,
                                    long (*read)(int fd, void *bytes, size_t size, uint64_t offset))
{
    ElfW(Dyn) tags[LOADER_TAGS_MOST];
    const long got = dynamic->p_offset <= INT64_MAX / 2 ? read(fd, tags, sizeof tags, dynamic->p_offset) : -1;
    const size_t count = got > 0 ? (size_t)got / sizeof tags[0] : 0;
    for (size_t i = 0; i < count && tags[i].d_tag != DT_NULL; i++)
        if (tags[i].d_tag == DT_SONAME)
            return true;
    return false;
}

/* loader_of - look at a program's headers.
 * fd, read  borrowed; read is as pread(2).
 * head      its ELF header, of our class and with headers of our size. */
static inline enum loader loader_of(int fd, const ElfW(Ehdr) * head,
                                    long (*read)(int fd, void *bytes, size_t size, uint64_t offset))
{
    char path[LOADER_PATH_BYTES] = "";
    bool itself = false;
    if (head->e_phoff > INT64_MAX / 2 || head->e_phnum > LOADER_HEADERS_MOST)
        return LOADER_OTHER;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        ElfW(Phdr) header;
        if (read(fd, &header, sizeof header, head->e_phoff + i * sizeof header) != (long)sizeof header)
            return LOADER_OTHER;
        itself = itself || (header.p_type == PT_DYNAMIC && loader_is_itself(fd, &header, read));
        if (header.p_type != PT_INTERP)
            continue;
        const long got = header.p_filesz < sizeof path && header.p_offset <= INT64_MAX / 2
                             ? read(fd, path, (size_t)header.p_filesz, header.p_offset)
                             : -1;
        path[got > 0 ? got : 0] = '\0';
        const char *slash = strrchr(path, '/');
        return strncmp(slash != NULL ? slash + 1 : path, "ld-musl-", 8) == 0 ? LOADER_MUSL : LOADER_OTHER;
    }
    return itself ? LOADER_OTHER : LOADER_NONE;
}

#endif

/* sanitizer.h - programs that bring the run-time library of a sanitizer, which takes the allocator's place.
 *
 * Such a library insists on being the first one loaded, or has its own malloc in the program itself, which calls do not leave:
 * with a recorder preloaded the program ends before it begins, or nothing is seen of it. Here by the names that its dynamic
 * linker is told: of libraries that it needs, and of the run-time's own functions where it is linked in.
 *
 * Hostile bytes: every offset and size is checked, what is read is bounded. Used by the shim in children that share their
 * parent's memory, so there is no allocation and a small stack; the caller says how to read. */
#ifndef MALLAB_SHIM_SHARED_SANITIZER_H
#define MALLAB_SHIM_SHARED_SANITIZER_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- which dynamic loader a program asks for: glibc's takes our library, musl's does not, a static one has none ---- */

#define LOADER_HEADERS_MOST 64u
#define LOADER_PATH_BYTES   256u
#define LOADER_TAGS_MOST    64u

enum loader {
    LOADER_NONE, /* the program is statically linked */
    LOADER_MUSL, /* it ends programs into which a library of glibc is preloaded */
    LOADER_OTHER /* glibc's, or the program is that loader itself; or it cannot be told, and the kernel will say what is wrong with the program */
};

#define LOADER_MUSL_OBSTACLE "is built for musl, into which a recorder built for glibc cannot be preloaded"

/* Tells whether it is a shared object with a name, as the loader is, which is started by itself to run what its arguments say. A static
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

#define SANITIZER_HEADERS_MOST 64u
#define SANITIZER_DYNAMIC_MOST 4096u               /* entries looked at */
#define SANITIZER_STRINGS_MOST ((uint64_t)4 << 20) /* bytes of names looked at: a browser has 1 MiB */
#define SANITIZER_NAME_BYTES   32u                 /* longer than any name below */

/* Messages name the sanitizer between these two. */
#define SANITIZER_OBSTACLE "is built with "
#define SANITIZER_OBSTACLE_REST                                                                              \
    ", whose allocator takes no other before it: it runs without the recorder, and so does what it starts"

/* Reads as pread(2) does. Returns the bytes read, less at the end of the file, negative on failure. */
typedef long (*sanitizer_read)(int fd, void *bytes, size_t size, uint64_t offset);

static inline const char *sanitizer_by_name(const char *name)
{
    static const struct {
        const char *begin, *sanitizer;
        bool whole; /* name, else only its begin */
    } NAMES[] = {
        {"libasan.so", "AddressSanitizer", false},      {"libclang_rt.asan", "AddressSanitizer", false},
        {"__asan_init", "AddressSanitizer", true},      {"libtsan.so", "ThreadSanitizer", false},
        {"libclang_rt.tsan", "ThreadSanitizer", false}, {"__tsan_init", "ThreadSanitizer", true},
        {"libhwasan.so", "HWAddressSanitizer", false},  {"libclang_rt.hwasan", "HWAddressSanitizer", false},
        {"__hwasan_init", "HWAddressSanitizer", true},  {"libclang_rt.msan", "MemorySanitizer", false},
        {"__msan_init", "MemorySanitizer", true},
    };
    if (name[0] != 'l' && name[0] != '_')
        return NULL;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (NAMES[i].whole ? strcmp(name, NAMES[i].begin) == 0
                           : strncmp(name, NAMES[i].begin, strlen(NAMES[i].begin)) == 0)
            return NAMES[i].sanitizer;
    return NULL;
}

/* Names of a string table, each behind a zero. */
static inline const char *sanitizer_in_strings(int fd, sanitizer_read read, uint64_t at, uint64_t size)
{
    char bytes[2048];
    const uint64_t end = at + (size < SANITIZER_STRINGS_MOST ? size : SANITIZER_STRINGS_MOST);
    for (long got, keep; at + 1 < end; at += (uint64_t)keep) {
        const char *found = NULL;
        got = read(fd, bytes, end - at < sizeof bytes - 1 ? (size_t)(end - at) : sizeof bytes - 1, at);
        if (got <= 1)
            return NULL;
        bytes[got] = '\0';
        /* Names that begin near the end may be cut: they are looked at next time. */
        keep = got > (long)SANITIZER_NAME_BYTES && at + (uint64_t)got < end ? got - (long)SANITIZER_NAME_BYTES
                                                                            : got;
        for (long i = 1; i <= keep && i < got && found == NULL; i++)
            found = bytes[i - 1] == '\0' ? sanitizer_by_name(bytes + i) : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

struct sanitizer_file {
    int fd;
    sanitizer_read read;
    ElfW(Ehdr) head;
};

static inline bool sanitizer_header(const struct sanitizer_file *file, unsigned i, ElfW(Phdr) * ret_header)
{
    const uint64_t at = file->head.e_phoff + (uint64_t)i * sizeof *ret_header;
    return file->head.e_phoff <= INT64_MAX / 2 &&
           file->read(file->fd, ret_header, sizeof *ret_header, at) == (long)sizeof *ret_header;
}

/* Find the place in the file of a range of addresses. */
static inline bool sanitizer_place(const struct sanitizer_file *file, uint64_t address, uint64_t size,
                                   uint64_t *ret_offset)
{
    for (unsigned i = 0; i < file->head.e_phnum && i < SANITIZER_HEADERS_MOST; i++) {
        ElfW(Phdr) header;
        if (!sanitizer_header(file, i, &header))
            return false;
        if (header.p_type != PT_LOAD || address < header.p_vaddr ||
            address - header.p_vaddr >= header.p_filesz ||
            size > header.p_filesz - (address - header.p_vaddr) || header.p_offset > INT64_MAX / 4 ||
            header.p_filesz > INT64_MAX / 4)
            continue;
        *ret_offset = header.p_offset + (address - header.p_vaddr);
        return true;
    }
    return false;
}

static inline bool sanitizer_strings(const struct sanitizer_file *file, const ElfW(Phdr) * dynamic,
                                     uint64_t *ret_offset, uint64_t *ret_size)
{
    uint64_t address = 0, size = 0;
    const uint64_t count = dynamic->p_filesz / sizeof(ElfW(Dyn));
    if (dynamic->p_offset > INT64_MAX / 2)
        return false;
    for (uint64_t i = 0; i < count && i < SANITIZER_DYNAMIC_MOST; i++) {
        ElfW(Dyn) entry;
        if (file->read(file->fd, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) !=
                (long)sizeof entry ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB)
            address = entry.d_un.d_ptr;
        if (entry.d_tag == DT_STRSZ)
            size = entry.d_un.d_val;
    }
    *ret_size = size;
    return size > 0 && sanitizer_place(file, address, size, ret_offset);
}

/* sanitizer_of - the sanitizer that a program was built with, by the name that people know; NULL where there is none whose
 * run-time takes the allocator's place, and where it cannot be told.
 * fd  borrowed; of an executable, or any file. */
static inline const char *sanitizer_of(int fd, sanitizer_read read)
{
    struct sanitizer_file file = {.fd = fd, .read = read};
    if (read(fd, &file.head, sizeof file.head, 0) != (long)sizeof file.head ||
        memcmp(file.head.e_ident, ELFMAG, SELFMAG) != 0 || file.head.e_phentsize != sizeof(ElfW(Phdr)) ||
        file.head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return NULL;
    for (unsigned i = 0; i < file.head.e_phnum && i < SANITIZER_HEADERS_MOST; i++) {
        ElfW(Phdr) header;
        uint64_t offset, size;
        if (!sanitizer_header(&file, i, &header))
            return NULL;
        if (header.p_type == PT_DYNAMIC)
            return sanitizer_strings(&file, &header, &offset, &size)
                       ? sanitizer_in_strings(fd, read, offset, size)
                       : NULL;
    }
    return NULL;
}

#endif

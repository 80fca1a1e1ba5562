/* program_file.h - the head of a program's file: what keeps our library out of it.
 *
 *   loader      the dynamic loader that it asks for: glibc's takes our library, musl's ends the program, a static program has none;
 *               the loader itself, which is started to run what its arguments say, is a shared object with a name
 *   rights      of a program with rights of its own the loader takes no library from whoever starts it
 *   sanitizer   its run-time takes the allocator's place: it insists on being the first library loaded, or has its own malloc in the
 *               program itself, which calls do not leave. With a recorder preloaded the program ends before it begins, or nothing is
 *               seen of it. Found by the names that the dynamic linker is told: of libraries, and of the run-time's own functions
 *
 * Hostile bytes: every offset and size is checked, what is read is bounded. Used by the shim in children that share their
 * parent's memory, so there is no allocation and a small stack; the caller says how to read. */
#ifndef MALLAB_SHIM_SHARED_PROGRAM_FILE_H
#define MALLAB_SHIM_SHARED_PROGRAM_FILE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define PROGRAM_HEADERS_MOST 64u
#define PROGRAM_PATH_BYTES   256u
#define PROGRAM_TAGS_AT_ONCE 64u
#define PROGRAM_TAGS_MOST    4096u               /* entries of the dynamic section that are looked at */
#define PROGRAM_STRINGS_MOST ((uint64_t)4 << 20) /* bytes of names looked at: a browser has 1 MiB */
#define PROGRAM_NAME_BYTES   32u                 /* longer than any name below */

#if defined __x86_64__
#define PROGRAM_MACHINE EM_X86_64
#elif defined __aarch64__
#define PROGRAM_MACHINE EM_AARCH64
#elif defined __riscv
#define PROGRAM_MACHINE EM_RISCV
#else
#define PROGRAM_MACHINE EM_NONE /* unknown to us: not compared */
#endif

/* Messages name the sanitizer between these two. */
#define SANITIZER_OBSTACLE "is built with "
#define SANITIZER_OBSTACLE_REST                                                                              \
    ", whose allocator takes no other before it: it runs without the recorder, and so does what it starts"

/* Reads as pread(2) does. Returns the bytes read, less at the end of the file, negative on failure. */
typedef long (*program_read)(int fd, void *bytes, size_t size, uint64_t offset);

struct program_file {
    int fd; /* borrowed */
    program_read read;
    ElfW(Ehdr) head;
    ElfW(Phdr) dynamic; /* its header; size 0: it has none that is read */
};

/* From PROGRAM_SETUID on they depend on who runs it: the loader treats it as any other for the user that it belongs to. */
enum program_obstacle {
    PROGRAM_FITS, /* or it cannot be told, and the kernel will say what is wrong with the program; or it is none */
    PROGRAM_FOREIGN,
    PROGRAM_STATIC,
    PROGRAM_MUSL,
    PROGRAM_SETUID,
    PROGRAM_SETGID,
    PROGRAM_CAPABLE,
};

/* program_words - an obstacle in words, behind the program's name; NULL for PROGRAM_FITS. */
static inline const char *program_words(enum program_obstacle obstacle)
{
    static const char *const WORDS[] = {
        [PROGRAM_FITS] = NULL,
        [PROGRAM_FOREIGN] = "is built for another machine type than this mallab",
        [PROGRAM_STATIC] = "is statically linked: no library can be preloaded into it",
        [PROGRAM_MUSL] = "is built for musl, into which a recorder built for glibc cannot be preloaded",
        [PROGRAM_SETUID] = "is setuid: the loader takes no preloaded library into such programs",
        [PROGRAM_SETGID] = "is setgid: the loader takes no preloaded library into such programs",
        [PROGRAM_CAPABLE] = "has file capabilities: the loader takes no preloaded library into such programs",
    };
    return WORDS[obstacle];
}

static inline bool program_header(const struct program_file *file, unsigned i, ElfW(Phdr) * ret_header)
{
    return i < PROGRAM_HEADERS_MOST && file->head.e_phoff <= INT64_MAX / 2 &&
           file->read(file->fd, ret_header, sizeof *ret_header,
                      file->head.e_phoff + i * sizeof *ret_header) == (long)sizeof *ret_header;
}

/* The value of an entry of the dynamic section. Returns whether it is there. */
static inline bool program_tag(const struct program_file *file, int64_t tag, uint64_t *ret_value)
{
    ElfW(Dyn) entries[PROGRAM_TAGS_AT_ONCE];
    const uint64_t all = file->dynamic.p_filesz / sizeof entries[0];
    uint64_t left = all < PROGRAM_TAGS_MOST ? all : PROGRAM_TAGS_MOST, offset = file->dynamic.p_offset;
    for (long got = sizeof entries; left > 0 && got == (long)sizeof entries; offset += sizeof entries) {
        got = file->read(file->fd, entries, sizeof entries, offset);
        for (size_t i = 0; got > 0 && i < (size_t)got / sizeof entries[0] && left > 0; i++, left--) {
            *ret_value = entries[i].d_un.d_val;
            if (entries[i].d_tag == tag || entries[i].d_tag == DT_NULL)
                return entries[i].d_tag == tag;
        }
    }
    return false;
}

/* The obstacle that is told by the loader that it asks for. Fills in the dynamic section's header. */
static inline enum program_obstacle program_loader(struct program_file *file)
{
    ElfW(Phdr) header;
    char path[PROGRAM_PATH_BYTES] = "";
    bool asks = false;
    uint64_t name;
    for (unsigned i = 0; i < file->head.e_phnum; i++) {
        if (!program_header(file, i, &header))
            return PROGRAM_FITS;
        if (header.p_offset > INT64_MAX / 2)
            header.p_filesz = header.p_offset = 0;
        if (header.p_type == PT_DYNAMIC && file->dynamic.p_filesz == 0)
            file->dynamic = header;
        if (header.p_type != PT_INTERP || asks)
            continue;
        asks = true;
        if (header.p_filesz < sizeof path &&
            file->read(file->fd, path, (size_t)header.p_filesz, header.p_offset) < 0)
            path[0] = '\0';
    }
    const char *slash = strrchr(path, '/');
    if (strncmp(slash != NULL ? slash + 1 : path, "ld-musl-", 8) == 0)
        return PROGRAM_MUSL;
    return asks || program_tag(file, DT_SONAME, &name) ? PROGRAM_FITS : PROGRAM_STATIC;
}

/* program_look - look at a file, and whether our library can be preloaded into it.
 * fd, read     borrowed, also by ret_file.
 * facts        of the file, as fstat(2) tells them; capable: it has file capabilities that count.
 * user, group  who runs it; UINT32_MAX: anybody.
 * Returns      the obstacle. */
static inline enum program_obstacle program_look(int fd, program_read read, const struct stat *facts,
                                                 uid_t user, gid_t group, bool capable,
                                                 struct program_file *ret_file)
{
    *ret_file = (struct program_file){.fd = fd, .read = read};
    const ElfW(Ehdr) *head = &ret_file->head;
    if (read(fd, &ret_file->head, sizeof *head, 0) != (long)sizeof *head ||
        memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
        return PROGRAM_FITS; /* a script, or nothing that is executed */
    if (head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        head->e_phentsize != sizeof(ElfW(Phdr)) ||
        (PROGRAM_MACHINE != EM_NONE && head->e_machine != PROGRAM_MACHINE))
        return PROGRAM_FOREIGN;
    if (head->e_type != ET_EXEC && head->e_type != ET_DYN)
        return PROGRAM_FITS;
    const enum program_obstacle loader = program_loader(ret_file);
    if (loader != PROGRAM_FITS)
        return loader;
    if ((facts->st_mode & S_ISUID) != 0 && facts->st_uid != user)
        return PROGRAM_SETUID;
    /* Without group execution the bit means mandatory locking, not a change of group. */
    if ((facts->st_mode & S_ISGID) != 0 && (facts->st_mode & S_IXGRP) != 0 && facts->st_gid != group)
        return PROGRAM_SETGID;
    return capable ? PROGRAM_CAPABLE : PROGRAM_FITS;
}

/* ---- sanitizers ------------------------------------------------------------------------------------- */

/* sanitizer_by_name - the sanitizer whose library or function has this name, as people know it; NULL: none has. */
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
static inline const char *sanitizer_in_strings(int fd, program_read read, uint64_t at, uint64_t size)
{
    char bytes[2048];
    const uint64_t end = at + (size < PROGRAM_STRINGS_MOST ? size : PROGRAM_STRINGS_MOST);
    for (long got, keep; at + 1 < end; at += (uint64_t)keep) {
        const char *found = NULL;
        got = read(fd, bytes, end - at < sizeof bytes - 1 ? (size_t)(end - at) : sizeof bytes - 1, at);
        if (got <= 1)
            return NULL;
        bytes[got] = '\0';
        /* Names that begin near the end may be cut: they are looked at next time. */
        keep = got > (long)PROGRAM_NAME_BYTES && at + (uint64_t)got < end ? got - (long)PROGRAM_NAME_BYTES
                                                                          : got;
        for (long i = 1; i <= keep && i < got && found == NULL; i++)
            found = bytes[i - 1] == '\0' ? sanitizer_by_name(bytes + i) : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* The place in the file of a range of addresses. */
static inline bool program_place(const struct program_file *file, uint64_t address, uint64_t size,
                                 uint64_t *ret_offset)
{
    ElfW(Phdr) header;
    for (unsigned i = 0; i < file->head.e_phnum && program_header(file, i, &header); i++) {
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

/* sanitizer_of - the sanitizer that a program was built with, by the name that people know; NULL where there is none whose
 * run-time takes the allocator's place, and where it cannot be told.
 * file  as program_look has found it. */
static inline const char *sanitizer_of(const struct program_file *file)
{
    uint64_t address, size, offset;
    return program_tag(file, DT_STRTAB, &address) && program_tag(file, DT_STRSZ, &size) && size > 0 &&
                   program_place(file, address, size, &offset)
               ? sanitizer_in_strings(file->fd, file->read, offset, size)
               : NULL;
}

#endif

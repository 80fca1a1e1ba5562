/* library_build.c - see candidates.h. */
#include "results/measure/candidate/candidates.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "footprint/base/support.h"

#define FILE_BYTES_MAX                                                                                       \
    (UINT64_C(256) << 20) /* the largest allocator known, with debug information, takes a tenth */
#define ID_BYTES_MAX 64u  /* SHA-1 is 20 */
#define DIGITS_SHOWN 12   /* of an id or digest in a message */

/* ---- the note -------------------------------------------------------------------------------- */

static size_t padded(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

/* Of the notes of a segment. */
static char *id_of_notes(const unsigned char *notes, size_t length)
{
    ElfW(Nhdr) note;
    while (length >= sizeof note) {
        memcpy(&note, notes, sizeof note);
        const size_t name = padded(note.n_namesz), words = padded(note.n_descsz);
        const size_t room = length - sizeof note;
        if (name > room || words > room - name)
            break;
        const unsigned char *at = notes + sizeof note;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at, "GNU", 4) == 0 &&
            note.n_descsz > 0 && note.n_descsz <= ID_BYTES_MAX) {
            char digits[2 * ID_BYTES_MAX + 1];
            for (size_t i = 0; i < note.n_descsz; i++)
                (void)snprintf(digits + 2 * i, 3, "%02x", at[name + i]); /* two digits always fit */
            return res_strdup(digits);
        }
        notes = at + name + words;
        length = room - name - words;
    }
    return NULL;
}

char *res_build_id(const unsigned char *file, size_t length)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    if (length < sizeof header || memcmp(file, ELFMAG, SELFMAG) != 0)
        return NULL;
    memcpy(&header, file, sizeof header);
    if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header.e_phentsize != sizeof segment || header.e_phoff > length)
        return NULL;
    const size_t room = (length - header.e_phoff) / sizeof segment;
    for (size_t i = 0; i < header.e_phnum && i < room; i++) {
        memcpy(&segment, file + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type != PT_NOTE || segment.p_offset > length ||
            segment.p_filesz > length - segment.p_offset)
            continue;
        char *id = id_of_notes(file + segment.p_offset, segment.p_filesz);
        if (id != NULL)
            return id;
    }
    return NULL;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* All of a file of at most FILE_BYTES_MAX; NULL: it cannot be read, or is larger. */
static unsigned char *bytes_of(const char *path, size_t *ret_length)
{
    struct stat facts;
    unsigned char *bytes = NULL;
    size_t length = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for its writer */
    if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0 &&
        (uint64_t)facts.st_size <= FILE_BYTES_MAX) {
        ssize_t got = 1;
        bytes = res_calloc((size_t)facts.st_size, 1);
        while (length < (size_t)facts.st_size &&
               (got = read(fd, bytes + length, (size_t)facts.st_size - length)) > 0)
            length += (size_t)got;
        if (got <= 0) { /* it shrank, or cannot be read */
            free(bytes);
            bytes = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    *ret_length = length;
    return bytes;
}

struct res_build res_build_of(const char *path)
{
    struct res_build build = {0};
    size_t length;
    unsigned char *bytes = bytes_of(path, &length);
    if (bytes != NULL) {
        const XXH128_hash_t hash = XXH3_128bits(bytes, length);
        build.id = res_build_id(bytes, length);
        build.digest = res_printf("%016llx%016llx", (unsigned long long)hash.high64,
                                  (unsigned long long)hash.low64);
    }
    free(bytes);
    return build;
}

struct res_build res_build_copy(const struct res_build *build)
{
    return (struct res_build){build->id != NULL ? res_text_plain(build->id) : NULL,
                              build->digest != NULL ? res_text_plain(build->digest) : NULL};
}

void res_build_release(struct res_build *build)
{
    free(build->id);
    free(build->digest);
    *build = (struct res_build){0};
}

/* ---- two of them ----------------------------------------------------------------------------- */

static bool differ(const char *one, const char *other)
{
    return one != NULL && other != NULL && strcmp(one, other) != 0;
}

bool res_builds_differ(const struct res_build *one, const struct res_build *other)
{
    return differ(one->id, other->id) || differ(one->digest, other->digest);
}

char *res_build_change(const char *library, const char *version, const struct res_build *then,
                       const struct res_build *now)
{
    const bool by_id = differ(then->id, now->id);
    const char *slash = strrchr(library, '/');
    if (!res_builds_differ(then, now))
        return NULL;
    return res_printf("%s%s%s: another %s %.*s -> %.*s)", slash != NULL ? slash + 1 : library,
                      version != NULL ? " " : "", version != NULL ? version : "",
                      by_id ? "build (id" : "file (digest", DIGITS_SHOWN, by_id ? then->id : then->digest,
                      DIGITS_SHOWN, by_id ? now->id : now->digest);
}

/* Shows: the sanitizer of a program is told by the names that its dynamic linker is told, wherever in the table they stand, and
 * which loader it asks for; and a file with any of its bytes changed, or cut anywhere, is read within its bounds. */
#include "shim/shared/program_file.h"
#include "unit/harness.h"

#define STRINGS 8192u

/* A program of three headers: one loaded segment with everything, the dynamic section, and the strings behind it. */
static struct image {
    ElfW(Ehdr) head;
    ElfW(Phdr) headers[2];
    ElfW(Dyn) dynamic[3];
    char strings[STRINGS];
} image;
static size_t image_bytes;

static long read_image(int fd, void *bytes, size_t size, uint64_t offset)
{
    const size_t rest = offset < image_bytes ? image_bytes - (size_t)offset : 0;
    if (size > rest)
        size = rest;
    memcpy(bytes, (const char *)&image + (rest > 0 ? offset : 0), size);
    return (long)size;
}

static void make(const char *name, size_t at)
{
    memset(&image, 0, sizeof image);
    image_bytes = sizeof image;
    memcpy(image.head.e_ident, ELFMAG, SELFMAG);
    image.head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    image.head.e_machine = PROGRAM_MACHINE;
    image.head.e_type = ET_DYN;
    image.head.e_phoff = offsetof(struct image, headers);
    image.head.e_phentsize = sizeof image.headers[0];
    image.head.e_phnum = 2;
    image.headers[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_vaddr = 4096, .p_filesz = sizeof image};
    image.headers[1] = (ElfW(Phdr)){
        .p_type = PT_DYNAMIC, .p_offset = offsetof(struct image, dynamic), .p_filesz = sizeof image.dynamic};
    image.dynamic[0] = (ElfW(Dyn)){.d_tag = DT_STRTAB, .d_un.d_ptr = 4096 + offsetof(struct image, strings)};
    image.dynamic[1] = (ElfW(Dyn)){.d_tag = DT_STRSZ, .d_un.d_val = STRINGS};
    memset(image.strings, 'x', STRINGS);
    for (size_t i = 0; i < STRINGS; i += 100)
        image.strings[i] = '\0';
    image.strings[at] = '\0';
    memcpy(image.strings + at + 1, name, strlen(name) + 1);
}

static struct program_file file;

static enum program_obstacle look(void)
{
    static const struct stat facts;
    return program_look(3, read_image, &facts, 0, 0, false, &file);
}

static const char *sanitizer(void)
{
    (void)look();
    return sanitizer_of(&file);
}

TEST(a_name_is_found_wherever_it_stands)
{
    for (size_t at = 0; at < STRINGS - 32; at++) {
        make("libasan.so.8", at);
        CHECK_STR(sanitizer(), "AddressSanitizer");
    }
    make("__tsan_init", 2040);
    CHECK_STR(sanitizer(), "ThreadSanitizer");
    make("__tsan_initialize", 2040);
    CHECK(sanitizer() == NULL);
    make("not-libasan.so.8", 2040);
    CHECK(sanitizer() == NULL);
    make("libubsan.so.1", 2040);
    CHECK(sanitizer() == NULL);
}

TEST(changed_bytes_are_read_within_bounds)
{
    const size_t heads = offsetof(struct image, strings);
    for (size_t at = 0; at < heads; at++)
        for (unsigned value = 0; value < 256; value += 15) {
            make("libasan.so.8", 100);
            ((unsigned char *)&image)[at] = (unsigned char)value;
            (void)sanitizer(); /* whatever it says: the sanitizers of this test's build watch */
        }
    for (size_t size = 0; size < heads + STRINGS - 100; size += 7) {
        make("libasan.so.8", STRINGS - 100);
        image_bytes = size;
        CHECK(sanitizer() == NULL);
    }
}

TEST(rights_of_its_own_and_another_machine)
{
    const struct stat own = {.st_mode = S_ISUID, .st_uid = 7};
    const char glibc[] = "/lib64/ld-linux-x86-64.so.2";
    make(glibc, 100);
    image.headers[1] = (ElfW(Phdr)){
        .p_type = PT_INTERP, .p_offset = offsetof(struct image, strings) + 101, .p_filesz = sizeof glibc};
    CHECK(program_look(3, read_image, &own, 7, 7, false, &file) == PROGRAM_FITS);
    CHECK(program_look(3, read_image, &own, 8, 8, false, &file) == PROGRAM_SETUID);
    CHECK(program_look(3, read_image, &own, 7, 7, true, &file) == PROGRAM_CAPABLE);
    image.head.e_machine = EM_68K;
    CHECK(program_look(3, read_image, &own, 8, 8, true, &file) == PROGRAM_FOREIGN);
    image.head.e_ident[0] = '#';
    CHECK(program_look(3, read_image, &own, 8, 8, true, &file) == PROGRAM_FITS);
}

static enum program_obstacle loader_named(const char *path, uint64_t size)
{
    make(path, 100);
    image.headers[1] = (ElfW(Phdr)){
        .p_type = PT_INTERP, .p_offset = offsetof(struct image, strings) + 101, .p_filesz = size};
    return look();
}

TEST(the_loader_that_is_asked_for)
{
    const char musl[] = "/lib/ld-musl-x86_64.so.1", glibc[] = "/lib64/ld-linux-x86-64.so.2";
    const uint64_t sizes[] = {0, 1, 8, PROGRAM_PATH_BYTES - 1, PROGRAM_PATH_BYTES, UINT64_MAX};
    CHECK(loader_named(musl, sizeof musl) == PROGRAM_MUSL);
    CHECK(loader_named(glibc, sizeof glibc) == PROGRAM_FITS);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        CHECK(loader_named(musl, sizes[i]) ==
              (sizes[i] == PROGRAM_PATH_BYTES - 1 ? PROGRAM_MUSL : PROGRAM_FITS));
    for (size_t at = 0; at < offsetof(struct image, dynamic); at++)
        for (unsigned value = 0; value < 256; value += 15) {
            (void)loader_named(musl, sizeof musl);
            ((unsigned char *)&image)[at] = (unsigned char)value;
            (void)look();
        }
    make(musl, 100); /* a program without an interpreter; and one whose headers are not there */
    CHECK(look() == PROGRAM_STATIC);
    image.head.e_machine = PROGRAM_MACHINE;
    image.head.e_type = ET_DYN;
    image.head.e_phoff = UINT64_MAX;
    CHECK(look() == PROGRAM_FITS);
}

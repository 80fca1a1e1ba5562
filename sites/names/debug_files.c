/* debug_files.c - see names_child.h. */
#include "sites/names/names_child.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/trusted.h"

/* A workload tells names without directories: then these are tried, and the build id decides. */
static const char *const USUAL[] = {
    ".",        "/usr/lib",  "/usr/lib64",     "/usr/local/lib",  "/usr/lib/x86_64-linux-gnu",
    "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/lib/aarch64-linux-gnu"};
static const char *const SYSTEM[] = {"/usr/lib/debug"}, *const NOWHERE[] = {""};

typedef bool section_test(const GElf_Shdr *header, const char *name);

struct search {
    const struct name_request *request;
    section_test *wanted; /* without such a section a file is of no use; NULL: any is */
    const char *link;     /* the name in .gnu_debuglink; NULL: none */
    bool was_there;       /* the file that was tried last */
    int fd;
    Elf *elf; /* found */
};

static bool has_section(Elf *elf, section_test *is_it)
{
    GElf_Shdr header;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section != NULL; section = elf_nextscn(elf, section)) {
        const char *name = gelf_getshdr(section, &header) != NULL ? elf_strptr(elf, names, header.sh_name)
                                                                  : NULL;
        if (name != NULL && header.sh_type != SHT_NOBITS && is_it(&header, name))
            return true;
    }
    return false;
}

static bool is_symbols(const GElf_Shdr *header, const char *name)
{
    return header->sh_type == SHT_SYMTAB;
}

static bool is_dwarf(const GElf_Shdr *header, const char *name)
{
    return strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0;
}

/* Returns whether it is a regular file of the module, and of use. Links are followed: libraries have several names. */
static bool try_path(struct search *search, const char *path)
{
    const struct names_module *module = &search->request->module;
    struct stat facts;
    const void *id;
    const int fd = fp_trusted_look(AT_FDCWD, path, S_IFREG, O_RDONLY, &facts);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    bool is_it = elf != NULL && elf_kind(elf) == ELF_K_ELF;
    if (is_it && module->build_id_bytes > 0)
        is_it = dwelf_elf_gnu_build_id(elf, &id) == (ssize_t)module->build_id_bytes &&
                memcmp(id, module->build_id, module->build_id_bytes) == 0;
    search->was_there = fd >= 0;
    if (is_it && (search->wanted == NULL || has_section(elf, search->wanted))) {
        search->elf = elf;
        search->fd = fd;
        return true;
    }
    (void)elf_end(elf); /* accepts NULL */
    if (fd >= 0)
        (void)close(fd); /* only read from */
    return false;
}

/* The part of a path that a letter stands for, any other for itself; NULL: there is none. */
static const char *part_of(const struct search *search, char letter, const char *directory,
                           char room[NAMES_PATH_MAX])
{
    const struct names_module *module = &search->request->module;
    const char *path = module->path != NULL ? module->path : "", *name = basename(path);
    size_t length = (size_t)snprintf(room, NAMES_PATH_MAX, "%c", letter);
    switch (letter) {
    case 'D': /* a directory */
        return directory;
    case 'P': /* the module's path */
        return name != path ? path : NULL;
    case 'F': /* the folder of that, with the slash */
        snprintf(room, NAMES_PATH_MAX, "%.*s", (int)(name - path), path);
        return room;
    case 'N': /* its last part */
        return name;
    case 'W': /* the path where it is no more than a name */
        return name == path && *name != '\0' && module->build_id_bytes > 0 ? name : NULL;
    case 'L':
        return search->link;
    case 'B': /* the build id */
        length = (size_t)snprintf(room, NAMES_PATH_MAX, ".build-id/");
        for (size_t i = 0; i < module->build_id_bytes && i < NAMES_BUILD_ID_MAX; i++)
            length += (size_t)snprintf(room + length, NAMES_PATH_MAX - length, i == 0 ? "%02x/" : "%02x",
                                       module->build_id[i]);
        return module->build_id_bytes > 1 ? room : NULL;
    default:
        return room;
    }
}

/* Tries places in each directory, one after the other: paths with | between, of letters of part_of. */
static bool try_in(struct search *search, const char *const *directories, size_t count, const char *places)
{
    char path[NAMES_PATH_MAX], room[NAMES_PATH_MAX];
    for (size_t i = 0; i < count; i++)
        for (const char *at = places; *at != '\0'; at += *at == '|') {
            bool has_all = true;
            size_t length = 0;
            for (; *at != '|' && *at != '\0'; at++) {
                const char *part = part_of(search, *at, directories[i], room);
                has_all = has_all && part != NULL;
                if (has_all && length < sizeof path)
                    length += (size_t)snprintf(path + length, sizeof path - length, "%s", part);
            }
            if (has_all && length < sizeof path && try_path(search, path))
                return true;
        }
    return false;
}

/* Only where servers may be asked. */
static bool try_fetched(struct search *search, enum names_fetched what)
{
    char path[NAMES_PATH_MAX];
    return names_fetch(&search->request->module, what, path) && try_path(search, path);
}

static void find_file(struct search *search, struct debug_files *files)
{
    const struct name_places *in = search->request->places;
    const bool has_id = search->request->module.build_id_bytes > 0;
    const bool is_recorded = try_in(search, NOWHERE, 1, "P"), is_other = search->was_there && !is_recorded;
    files->was_replaced = is_other && has_id;
    files->is_damaged = is_other && !has_id;
    (void)(is_recorded || try_in(search, USUAL, sizeof USUAL / sizeof USUAL[0], "D/W") ||
           try_in(search, in->directories, in->directory_count, "D/P|D/N|D/B") ||
           try_fetched(search, NAMES_FETCH_FILE));
    files->file = search->elf;
    files->fds[0] = search->fd;
}

/* The build id alone decides: the checksum of .gnu_debuglink proves nothing. */
static void find_debug(struct search *search, section_test *wanted, struct debug_files *files)
{
    const struct name_places *in = search->request->places;
    GElf_Word checksum;
    const char *link = files->file != NULL ? dwelf_elf_gnu_debuglink(files->file, &checksum) : NULL;
    search->wanted = wanted;
    search->link = link != NULL && strchr(link, '/') == NULL ? link : NULL;
    search->elf = NULL;
    search->fd = -1;
    if (search->request->module.build_id_bytes > 0)
        (void)(try_in(search, in->directories, in->directory_count, "D/B.debug|D/N.debug|D/N") ||
               try_in(search, SYSTEM, 1, "D/B.debug|D/N.debug|D/N") ||
               try_in(search, SYSTEM, 1, "FL|F.debug/L|DF/L") || try_fetched(search, NAMES_FETCH_DEBUG));
    files->debug = search->elf;
    files->fds[1] = search->fd;
}

void debug_files_open(const struct name_request *request, bool with_lines, struct debug_files *ret)
{
    struct search search = {.request = request, .fd = -1};
    *ret = (struct debug_files){.fds = {-1, -1}};
    find_file(&search, ret);
    if (with_lines && (ret->file == NULL || !has_section(ret->file, is_dwarf)))
        find_debug(&search, is_dwarf, ret);
    if (ret->debug == NULL && (ret->file == NULL || !has_section(ret->file, is_symbols)))
        find_debug(&search, is_symbols, ret);
    if (ret->debug == NULL)
        ret->debug = ret->file;
}

void debug_files_release(struct debug_files *files)
{
    if (files->debug != files->file)
        (void)elf_end(files->debug); /* accepts NULL, as the next one */
    (void)elf_end(files->file);
    for (size_t i = 0; i < 2; i++)
        if (files->fds[i] >= 0)
            (void)close(files->fds[i]); /* only read from */
}

int debug_files_set_alternative(const struct name_places *places, Dwarf *dwarf, Dwarf **ret_alternative)
{
    const char *name;
    const void *id;
    const ssize_t bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
    if (bytes <= 0 || bytes > (ssize_t)NAMES_BUILD_ID_MAX || dwarf_getalt(dwarf) != NULL)
        return -1;
    const struct name_request wanted = {.places = places,
                                        .module = {.build_id = id, .build_id_bytes = (size_t)bytes}};
    struct search search = {.request = &wanted, .fd = -1};
    (void)try_in(&search, places->directories, places->directory_count, "D/B.debug");
    (void)elf_end(search.elf); /* of the descriptor another one is made */
    *ret_alternative = search.fd >= 0 ? dwarf_begin(search.fd, DWARF_C_READ) : NULL;
    if (*ret_alternative != NULL)
        dwarf_setalt(dwarf, *ret_alternative);
    return search.fd;
}

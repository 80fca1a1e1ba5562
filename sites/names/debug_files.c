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

#define SYSTEM_DIRECTORY "/usr/lib/debug"

struct search {
    const struct name_request *request;
    bool with_lines;
    int fd;
    Elf *elf; /* found */
};

/* Returns a descriptor of a regular file; -1. Links are followed: libraries have several names. */
static int open_regular(const char *path)
{
    struct stat facts;
    return fp_trusted_look(AT_FDCWD, path, S_IFREG, O_RDONLY, &facts);
}

static bool is_same(const struct search *search, Elf *elf)
{
    const struct names_module *module = &search->request->module;
    const void *id;
    const ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);
    return module->build_id_bytes == 0 ||
           (bytes == (ssize_t)module->build_id_bytes && memcmp(id, module->build_id, (size_t)bytes) == 0);
}

/* The descriptor is taken. Returns whether it is a file of the module. */
static bool try_descriptor(struct search *search, int fd)
{
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF && is_same(search, elf)) {
        search->elf = elf;
        search->fd = fd;
        return true;
    }
    (void)elf_end(elf); /* accepts NULL */
    if (fd >= 0)
        (void)close(fd); /* only read from */
    return false;
}

static bool try_path(struct search *search, const char *directory, const char *name, const char *ending)
{
    char path[NAMES_PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s%s%s", directory, name, ending);
    return length > 0 && (size_t)length < sizeof path && try_descriptor(search, open_regular(path));
}

static bool try_build_id(struct search *search, const char *directory, const uint8_t *id, size_t bytes,
                         const char *ending)
{
    char name[2 * NAMES_BUILD_ID_MAX + 16] = "/.build-id/";
    size_t length = strlen(name);
    if (bytes < 2 || bytes > NAMES_BUILD_ID_MAX)
        return false;
    for (size_t i = 0; i < bytes; i++)
        length += (size_t)snprintf(name + length, sizeof name - length, i == 0 ? "%02x/" : "%02x", id[i]);
    return try_path(search, directory, name, ending);
}

/* Only where servers may be asked. */
static bool try_fetched(struct search *search, enum names_fetched what)
{
    char path[NAMES_PATH_MAX];
    return names_fetch(&search->request->module, what, path) && try_path(search, path, "", "");
}

/* ---- the file -------------------------------------------------------------------------------- */

/* A workload tells names without directories: then the usual places are tried, and the build id decides. */
static bool try_usual_places(struct search *search)
{
    static const char *const places[] = {
        "./",        "/usr/lib/",  "/usr/lib64/",     "/usr/local/lib/",  "/usr/lib/x86_64-linux-gnu/",
        "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/", "/usr/lib/aarch64-linux-gnu/"};
    const struct names_module *module = &search->request->module;
    bool is_found = false;
    if (module->build_id_bytes == 0 || module->path[0] == '\0')
        return false;
    for (size_t i = 0; !is_found && i < sizeof places / sizeof places[0]; i++)
        is_found = try_path(search, places[i], module->path, "");
    return is_found;
}

static void find_file(struct search *search, struct debug_files *files)
{
    const struct name_places *places = search->request->places;
    const struct names_module *module = &search->request->module;
    const bool has_path = strchr(module->path, '/') != NULL;
    const int fd = has_path ? open_regular(module->path) : -1;
    bool is_found = try_descriptor(search, fd) || (!has_path && try_usual_places(search));
    files->was_replaced = fd >= 0 && !is_found && module->build_id_bytes > 0;
    files->is_damaged = fd >= 0 && !is_found && module->build_id_bytes == 0;
    for (size_t i = 0; !is_found && i < places->directory_count; i++)
        is_found = (module->path[0] == '/' && try_path(search, places->directories[i], module->path, "")) ||
                   try_path(search, places->directories[i], "/", basename(module->path)) ||
                   try_build_id(search, places->directories[i], module->build_id, module->build_id_bytes, "");
    if (!is_found)
        (void)try_fetched(search, NAMES_FETCH_FILE);
    files->file = search->elf;
    files->fds[0] = search->fd;
}

/* ---- the debug file -------------------------------------------------------------------------- */

static bool has_section(Elf *elf, bool (*is_it)(const GElf_Shdr *header, const char *name))
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

/* Tells whether the file that was found is of use; else it is closed and the search goes on. */
static bool is_useful(struct search *search, bool was_found)
{
    if (!was_found)
        return false;
    if (has_section(search->elf, search->with_lines ? is_dwarf : is_symbols))
        return true;
    (void)elf_end(search->elf); /* one of us */
    (void)close(search->fd);    /* only read from */
    search->elf = NULL;
    search->fd = -1;
    return false;
}

/* Tries the file that .gnu_debuglink names. */
static bool try_link(struct search *search, Elf *file)
{
    char directory[NAMES_PATH_MAX], system[NAMES_PATH_MAX + sizeof SYSTEM_DIRECTORY];
    const char *path = search->request->module.path;
    GElf_Word checksum;
    const char *name = file != NULL ? dwelf_elf_gnu_debuglink(file, &checksum) : NULL;
    const int length = (int)(basename(path) - path); /* with the slash */
    if (name == NULL || strchr(name, '/') != NULL || (size_t)length >= sizeof directory ||
        search->request->module.build_id_bytes == 0) /* its checksum proves nothing */
        return false;
    snprintf(directory, sizeof directory, "%.*s", length, path);
    snprintf(system, sizeof system, SYSTEM_DIRECTORY "%s", directory);
    return is_useful(search, try_path(search, directory, name, "")) ||
           is_useful(search, try_path(search, directory, ".debug/", name)) ||
           is_useful(search, try_path(search, system, name, ""));
}

static bool try_directory(struct search *search, const char *directory)
{
    const struct names_module *module = &search->request->module;
    const char *name = basename(module->path);
    char in[NAMES_PATH_MAX];
    if (is_useful(search,
                  try_build_id(search, directory, module->build_id, module->build_id_bytes, ".debug")))
        return true;
    if (snprintf(in, sizeof in, "%s/", directory) >= (int)sizeof in || module->build_id_bytes == 0)
        return false;
    return is_useful(search, try_path(search, in, name, ".debug")) ||
           is_useful(search, try_path(search, in, name, ""));
}

static void find_debug(struct search *search, struct debug_files *files)
{
    const struct name_places *places = search->request->places;
    bool is_found = false;
    for (size_t i = 0; !is_found && i < places->directory_count; i++)
        is_found = try_directory(search, places->directories[i]);
    is_found = is_found || try_directory(search, SYSTEM_DIRECTORY) || try_link(search, files->file);
    if (!is_found)
        (void)is_useful(search, try_fetched(search, NAMES_FETCH_DEBUG));
    files->debug = search->elf;
    files->fds[1] = search->fd;
}

void debug_files_open(const struct name_request *request, bool with_lines, struct debug_files *ret)
{
    struct search search = {.request = request, .with_lines = with_lines, .fd = -1};
    *ret = (struct debug_files){.fds = {-1, -1}};
    find_file(&search, ret);
    search.elf = NULL;
    search.fd = -1;
    if (ret->file == NULL || !has_section(ret->file, with_lines ? is_dwarf : is_symbols))
        find_debug(&search, ret);
    search.with_lines = false;
    if (with_lines && ret->debug == NULL && (ret->file == NULL || !has_section(ret->file, is_symbols)))
        find_debug(&search, ret);
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
    if (bytes <= 0 || dwarf_getalt(dwarf) != NULL)
        return -1;
    const struct name_request wanted = {.places = places,
                                        .module = {.build_id = id, .build_id_bytes = (size_t)bytes}};
    struct search search = {.request = &wanted, .fd = -1};
    for (size_t i = 0; search.elf == NULL && i < places->directory_count; i++)
        (void)try_build_id(&search, places->directories[i], id, (size_t)bytes, ".debug");
    (void)elf_end(search.elf); /* of the descriptor another one is made */
    *ret_alternative = search.fd >= 0 ? dwarf_begin(search.fd, DWARF_C_READ) : NULL;
    if (*ret_alternative != NULL)
        dwarf_setalt(dwarf, *ret_alternative);
    return search.fd;
}

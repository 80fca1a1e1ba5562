/* elf_symbol.c - an object's own table of symbols, searched by its hash table (DT_GNU_HASH, else DT_HASH).
 *
 * Laws of this file: those of shim.h; it reads what the loader has mapped, and calls only dladdr1, which allocates nothing. */
#include "shim/preload/boot.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *gnu, *plain; /* hash tables; NULL: it has none of that kind */
    const ElfW(Sym) * former;    /* only those behind it */
};

static const ElfW(Dyn) * entry_of(const struct link_map *object, int64_t tag)
{
    const ElfW(Dyn) *entry = object->l_ld;
    while (entry != NULL && entry->d_tag != tag && entry->d_tag != DT_NULL)
        entry++;
    return entry != NULL && entry->d_tag == tag ? entry : NULL;
}

/* glibc has made addresses of most of these, musl and the kernel's own object have not. */
const void *elf_at(const struct link_map *object, int64_t tag)
{
    const ElfW(Dyn) *entry = entry_of(object, tag);
    const uintptr_t address = entry != NULL ? entry->d_un.d_ptr : 0;
    return (const void *)(entry != NULL && address < object->l_addr ? address + object->l_addr : address);
}

uint64_t elf_value(const struct link_map *object, int64_t tag)
{
    const ElfW(Dyn) *entry = entry_of(object, tag);
    return entry != NULL ? entry->d_un.d_val : 0;
}

static const ElfW(Sym) * defined(const struct tables *tables, uint32_t index, const char *name)
{
    const ElfW(Sym) *symbol = &tables->symbols[index];
    const bool fits = symbol > tables->former && symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
                      (symbol->st_info & 15) == STT_FUNC &&
                      strcmp(tables->names + symbol->st_name, name) == 0;
    return fits ? symbol : NULL;
}

/* Buckets hold the first symbol of a chain; a word of the chain has bit 0 set where it ends. */
static const ElfW(Sym) * find_gnu(const struct tables *tables, const char *name)
{
    const uint32_t buckets = tables->gnu[0], first = tables->gnu[1], bloom = tables->gnu[2];
    const uint32_t *bucket = tables->gnu + 4 + bloom * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = 5381;
    const ElfW(Sym) *found = NULL;
    for (const char *letter = name; *letter != '\0'; letter++)
        hash = hash * 33 + (unsigned char)*letter;
    uint32_t index = buckets > 0 ? bucket[hash % buckets] : 0;
    if (index < first)
        return NULL;
    for (;; index++) {
        const uint32_t word = chain[index - first];
        if ((word | 1) == (hash | 1))
            found = defined(tables, index, name);
        if (found != NULL || (word & 1) != 0)
            return found;
    }
}

/* The second number of the table is that of all symbols. */
static const ElfW(Sym) * find_plain(const struct tables *tables, const char *name)
{
    const ElfW(Sym) *found = NULL;
    for (uint32_t index = 1; index < tables->plain[1] && found == NULL; index++)
        found = defined(tables, index, name);
    return found;
}

const ElfW(Sym) * elf_symbol_behind(const struct link_map *object, const char *name, const ElfW(Sym) * former)
{
    const struct tables tables = {.symbols = elf_at(object, DT_SYMTAB),
                                  .names = elf_at(object, DT_STRTAB),
                                  .gnu = elf_at(object, DT_GNU_HASH),
                                  .plain = elf_at(object, DT_HASH),
                                  .former = former};
    if (tables.symbols == NULL || tables.names == NULL)
        return NULL;
    if (tables.gnu != NULL)
        return find_gnu(&tables, name);
    return tables.plain != NULL ? find_plain(&tables, name) : NULL;
}

void *elf_symbol(const struct link_map *object, const char *name)
{
    const ElfW(Sym) *symbol = elf_symbol_behind(object, name, NULL);
    return symbol != NULL ? (void *)(object->l_addr + symbol->st_value) : NULL;
}

const struct link_map *elf_object_of(const void *address)
{
    Dl_info info;
    void *object = NULL;
    return dladdr1(address, &info, &object, RTLD_DL_LINKMAP) != 0 ? object : NULL;
}

struct elf_image elf_image_of(const struct dl_phdr_info *info)
{
    struct elf_image image = {.object = {.l_addr = info->dlpi_addr}, .first = UINTPTR_MAX};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + header->p_vaddr, past = begin + header->p_memsz;
        if (header->p_type == PT_DYNAMIC) {
            image.object.l_ld = (ElfW(Dyn) *)begin;
        } else if (header->p_type == PT_GNU_RELRO) {
            image.relro = begin;
            image.relro_past = past;
        } else if (header->p_type == PT_LOAD) {
            image.first = begin < image.first ? begin : image.first;
            image.past = past > image.past ? past : image.past;
        }
    }
    return image;
}

struct first {
    const char *name;
    void *found;
};

static int take_first(struct dl_phdr_info *info, size_t size, void *data)
{
    struct first *first = data;
    const struct elf_image image = elf_image_of(info);
    (void)size;
    if (!elf_has(&image, (uintptr_t)take_first))
        first->found = elf_symbol(&image.object, first->name);
    return first->found != NULL;
}

void *elf_first_symbol(const char *name)
{
    struct first first = {.name = name};
    (void)dl_iterate_phdr(take_first, &first); /* what it returns is in there */
    return first.found;
}

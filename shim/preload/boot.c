/* boot.c - find the definitions behind ours, and serve the calls that finding them makes.
 *
 * Laws of this file: dlsym may itself call malloc, calloc and free (its error text). Those come back to our hooks
 * on this thread before there is anything to forward to; they get memory from a static buffer whose addresses
 * every hook recognises. Never __libc_malloc: a program may bring its own allocator, and it is that one's. */
#include "shim/preload/boot.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

struct shim_next shim_next;

_Alignas(4096) char boot_buffer[BOOT_BUFFER_BYTES];
static _Atomic uint32_t boot_used;

/* 0 unresolved, 1 resolved. Two threads resolving at once store the same values. */
static _Atomic uint32_t boot_done;
static __thread bool boot_resolving __attribute__((tls_model("initial-exec")));

#define BOOT_HEADER 16u /* before each object: its size */

void *boot_allocate(size_t alignment, size_t size)
{
    uint32_t start;
    if (alignment < BOOT_HEADER)
        alignment = BOOT_HEADER;
    if (size > BOOT_BUFFER_BYTES || alignment > 4096)
        return NULL;
    uint32_t used = get_relaxed(&boot_used);
    do {
        start = (uint32_t)((used + BOOT_HEADER + alignment - 1) & ~(alignment - 1));
        if (start + size > BOOT_BUFFER_BYTES)
            return NULL;
    } while (!try_swap_relaxed(&boot_used, &used, start + (uint32_t)size));
    memcpy(boot_buffer + start - BOOT_HEADER, &size, sizeof size);
    return boot_buffer + start;
}

size_t boot_usable_size(const void *address)
{
    size_t size;
    memcpy(&size, (const char *)address - BOOT_HEADER, sizeof size);
    return size;
}

static void *next_of(const char *name)
{
    /* Behind a library that came late stand only those that it brought. */
    return SHIM_IS_LATE ? elf_first_symbol(name) : dlsym(RTLD_NEXT, name);
}

static bool in_one_object(const void *first, const void *second)
{
    Dl_info one, other;
    return dladdr(first, &one) != 0 && dladdr(second, &other) != 0 && one.dli_fbase == other.dli_fbase;
}

struct search {
    uintptr_t inside;
    struct boot_object found;
};

static int is_inside(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    const struct elf_image image = elf_image_of(info);
    (void)size;
    if (elf_has(&image, search->inside))
        search->found = (struct boot_object){image.first, image.past};
    return elf_has(&image, search->inside);
}

/* Empty where it is in none. */
static struct boot_object object_of(uintptr_t address)
{
    struct search search = {.inside = address};
    (void)dl_iterate_phdr(is_inside, &search); /* what it returns is in there */
    return search.found;
}

bool boot_resolve(void)
{
    if (likely(get_acquire(&boot_done)))
        return true;
    if (boot_resolving)
        return false;
    boot_resolving = true;
    *(void **)&shim_next.malloc_usable_size = next_of("malloc_usable_size");
    *(void **)&shim_next.clock_gettime = next_of("clock_gettime");
#define FIND(name) *(void **)&shim_next.name = next_of(#name);
    BOOT_FAMILY(FIND)
    shim_next.is_libc = in_one_object((void *)(uintptr_t)shim_next.malloc, (void *)(uintptr_t)abort);
    if (!shim_next.is_libc) {
        shim_next.allocator = object_of((uintptr_t)shim_next.malloc);
        shim_next.ours = object_of((uintptr_t)boot_resolve);
    }
    /* The program must not find our failed look-ups in its own dlerror(). */
    (void)dlerror();
    put_release(&boot_done, 1);
    boot_resolving = false;
    return true;
}

#define OPERATOR_NAME(which, name) [which] = #name,
static const char *const OPERATOR_NAMES[NEXT_OPERATOR_COUNT] = {BOOT_OPERATORS(OPERATOR_NAME)};

/* A library that was loaded with RTLD_LOCAL keeps its libstdc++ out of the scope that RTLD_NEXT searches, and
 * yet its calls come to us, because we are in the global scope: so ask in the scope of the caller. */
static void *operator_of_caller(const char *name, const void *caller)
{
    Dl_info info;
    void *found = NULL;
    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return NULL;
    found = dlsym(handle, name);
    (void)dlclose(handle); /* only our own reference: the caller is running code of it */
    /* We keep the address, so what it lies in must stay; the program may unload the library that brought it. */
    if (found != NULL && dladdr(found, &info) != 0 && info.dli_fname != NULL) {
        handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        if (handle != NULL)
            (void)dlclose(handle); /* the mark stays */
    }
    return found;
}

void boot_make_ready(void)
{
    for (unsigned which = 0; which < NEXT_OPERATOR_COUNT; which++) {
        void *found = shim_next.operators[which] == NULL ? next_of(OPERATOR_NAMES[which]) : NULL;
        if (found != NULL)
            __atomic_store_n(&shim_next.operators[which], found, __ATOMIC_RELEASE);
    }
    /* As in boot_resolve. After a look-up that succeeds libc has nothing left to free later, which would be taken for the program's. */
    (void)next_of("free");
}

void *boot_operator(unsigned call, const void *caller)
{
    const unsigned which = call - FP_CALL_NEW;
    void *found = __atomic_load_n(&shim_next.operators[which], __ATOMIC_ACQUIRE);
    if (likely(found != NULL))
        return found;
    int saved = errno;
    found = next_of(OPERATOR_NAMES[which]);
    if (found == NULL)
        found = operator_of_caller(OPERATOR_NAMES[which], caller);
    (void)dlerror();
    errno = saved;
    if (found != NULL)
        __atomic_store_n(&shim_next.operators[which], found, __ATOMIC_RELEASE);
    return found;
}

/* ---- an object's own table of symbols, searched by its hash table (DT_GNU_HASH, else DT_HASH) ---------
 *
 * It reads what the loader has mapped, and calls only dladdr1, which allocates nothing. */

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

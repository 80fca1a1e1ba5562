/* slots.c - dl_iterate_phdr over the modules, their symbols and relocations, a store for each.
 *
 * Laws: those of boot.h. */
#include "shim/preload/boot.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

/* Relocations are those of x86-64: nobody attaches to programs on other processors. */

#define MAPPINGS_BYTES (4u << 20) /* of /proc/self/maps */
#define PAGE_BYTES     4096u

/* ---- what is turned to what -------------------------------------------------------------------- */

/* Jumps out of a hook, what a process confines itself by, and how modules go: hooks that find their next by themselves, before
 * they are turned to. */
#define OTHERS(X) X(longjmp) X(_longjmp) X(siglongjmp) X(__longjmp_chk) X(prctl) X(syscall) X(dlclose)

/* The preloaded library has its hooks under names that others may stand before: it looks them up. */
#if defined(MALLAB_SHIM_LATE)
#define DECLARE(name)                 extern char hook_##name[] __asm__(#name) __attribute__((visibility("hidden")));
#define DECLARE_OPERATOR(which, name) DECLARE(name)
BOOT_FAMILY(DECLARE)
BOOT_OPERATORS(DECLARE_OPERATOR)
OTHERS(DECLARE)
#define HOOK(name) hook_##name
#else
#define HOOK(name) NULL
#endif

static struct row {
    const char *name;
    void *ours, *const *next; /* next: what the hook forwards to; NULL: it is looked for here */
    void *theirs;             /* NULL: the process has none, or it is not ours to turn */
    uintptr_t stub; /* that stands for it in all modules, in a program that is not position independent */
    bool is_found;  /* ours, by the loader under that name */
} rows[] = {
#define ROW(name)                 {#name, HOOK(name), (void *const *)(void *)&shim_next.name, NULL, 0, false},
#define ROW_OPERATOR(which, name) {#name, HOOK(name), &shim_next.operators[which], NULL, 0, false},
#define ROW_OTHER(name)           {#name, HOOK(name), NULL, NULL, 0, false},
    BOOT_FAMILY(ROW) BOOT_OPERATORS(ROW_OPERATOR) OTHERS(ROW_OTHER)};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static void find_theirs(void)
{
    const struct link_map *object = elf_object_of((const void *)(uintptr_t)find_theirs);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct row *row = &rows[i];
        row->ours = row->ours != NULL ? row->ours : elf_symbol(object, row->name);
        void *const found = row->next != NULL ? *row->next
                            : SHIM_IS_LATE    ? elf_first_symbol(row->name)
                                              : NULL;
        row->theirs = found != row->ours ? found : row->theirs;
        row->is_found = false;
    }
}

static struct row *row_of(const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* ---- a sweep over all modules ------------------------------------------------------------------- */

#define SUSPECTS 1024u

struct sweep {
    bool back;
    char *mappings;                   /* /proc/self/maps */
    uintptr_t open_page;              /* made writable by us; 0: none */
    int open_protection;              /* that it goes back to */
    uint64_t suspects[SUSPECTS / 64]; /* a bit for each word that is to be turned, by its lower bits */
    struct slots_count count;
};

static void *from_of(const struct sweep *sweep, const struct row *row)
{
    return sweep->back ? row->ours : row->theirs;
}

static uint64_t *suspect(struct sweep *sweep, const void *word, uint64_t *ret_bit)
{
    const size_t number = (uintptr_t)word / 16 % SUSPECTS;
    *ret_bit = UINT64_C(1) << number % 64;
    return &sweep->suspects[number / 64];
}

/* Most words are none of ours: of the others the first row that fits. */
static const struct row *row_from(struct sweep *sweep, const void *word)
{
    uint64_t bit;
    if (word == NULL || !(*suspect(sweep, word, &bit) & bit))
        return NULL;
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (from_of(sweep, &rows[i]) == word && rows[i].theirs != NULL)
            return &rows[i];
    return NULL;
}

struct module {
    struct elf_image image;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * plt, *others;
    size_t plt_count, other_count;
};

/* Returns false for our own, and for what has no slots. */
static bool read_module(const struct dl_phdr_info *info, struct module *ret)
{
    struct module module = {.image = elf_image_of(info)};
    const struct link_map *object = &module.image.object;
    if (object->l_ld == NULL || elf_has(&module.image, (uintptr_t)read_module))
        return false;
    module.image.relro &= ~(uintptr_t)(PAGE_BYTES - 1);
    module.image.relro_past &= ~(uintptr_t)(PAGE_BYTES - 1); /* the loader protects whole pages */
    module.symbols = elf_at(object, DT_SYMTAB);
    module.names = elf_at(object, DT_STRTAB);
    module.plt = elf_value(object, DT_PLTREL) != DT_REL ? elf_at(object, DT_JMPREL) : NULL;
    module.others = elf_at(object, DT_RELA);
    if (module.plt != NULL)
        module.plt_count = elf_value(object, DT_PLTRELSZ) / sizeof(ElfW(Rela));
    if (module.others != NULL)
        module.other_count = elf_value(object, DT_RELASZ) / sizeof(ElfW(Rela));
    *ret = module;
    return module.symbols != NULL && module.names != NULL;
}

/* ---- pages that are read-only ------------------------------------------------------------------- */

static char *read_mappings(void)
{
    const long area = raw_mmap(NULL, MAPPINGS_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (area <= 0)
        return NULL;
    (void)raw_file_begin("/proc/self/maps", (char *)area, MAPPINGS_BYTES); /* then no page is known */
    return (char *)area;
}

static uintptr_t take_hex(const char **text)
{
    uintptr_t number = 0;
    for (;; (*text)++) {
        const char digit = **text;
        if (digit >= '0' && digit <= '9')
            number = number << 4 | (uintptr_t)(digit - '0');
        else if (digit >= 'a' && digit <= 'f')
            number = number << 4 | (uintptr_t)(digit - 'a' + 10);
        else
            return number;
    }
}

/* The protection of a page; -1: that is not known. */
static int protection_of(const char *mappings, uintptr_t page)
{
    for (const char *line = mappings; line != NULL && *line != '\0'; line++) {
        const uintptr_t first = take_hex(&line);
        line += *line == '-';
        const uintptr_t past = take_hex(&line);
        if (page >= first && page < past && strlen(line) > 3)
            return (line[1] == 'r' ? PROT_READ : 0) | (line[2] == 'w' ? PROT_WRITE : 0) |
                   (line[3] == 'x' ? PROT_EXEC : 0);
        line = strchr(line, '\n');
        if (line == NULL)
            break;
    }
    return -1;
}

static bool protect(uintptr_t page, int protection)
{
    return raw_call(SYS_mprotect, (long)page, PAGE_BYTES, protection, 0, 0, 0) == 0;
}

static void close_page(struct sweep *sweep)
{
    if (sweep->open_page != 0)
        (void)protect(sweep->open_page, sweep->open_protection); /* it was so before */
    sweep->open_page = 0;
}

/* Returns whether a page that is read-only may be stored to. One that the loader is to make so, and has not yet, may not. */
static bool open_page(struct sweep *sweep, uintptr_t page)
{
    if (page == sweep->open_page)
        return true;
    close_page(sweep);
    const int protection = sweep->mappings != NULL ? protection_of(sweep->mappings, page) : -1;
    if (protection < 0 || protection & PROT_WRITE || !(protection & PROT_READ) ||
        !protect(page, protection | PROT_WRITE))
        return false;
    sweep->open_page = page;
    sweep->open_protection = protection;
    return true;
}

/* A word turned, where it is what it is to be turned from. Another thread, as in the loader, has the last word. */
static bool store(struct sweep *sweep, uintptr_t place, bool is_read_only, uintptr_t from, uintptr_t to)
{
    return (!is_read_only || open_page(sweep, place & ~(uintptr_t)(PAGE_BYTES - 1))) &&
           __atomic_compare_exchange_n((uintptr_t *)place, &from, to, false, __ATOMIC_RELEASE,
                                       __ATOMIC_RELAXED);
}

/* ---- definitions: what the loader finds by a name from now on ----------------------------------- */

static int sweep_definitions(struct dl_phdr_info *info, size_t size, void *data)
{
    struct sweep *sweep = data;
    struct module module;
    (void)size;
    if (!read_module(info, &module))
        return 0;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct row *row = &rows[i];
        const uintptr_t theirs = (uintptr_t)row->theirs - info->dlpi_addr,
                        ours = (uintptr_t)row->ours - info->dlpi_addr;
        if (!elf_has(&module.image, (uintptr_t)row->theirs))
            continue;
        for (const ElfW(Sym) *symbol = NULL;
             (symbol = elf_symbol_behind(&module.image.object, row->name, symbol)) != NULL;)
            row->is_found = store(sweep, (uintptr_t)&symbol->st_value, true, sweep->back ? ours : theirs,
                                  sweep->back ? theirs : ours) ||
                            row->is_found;
    }
    close_page(sweep);
    return 0;
}

/* ---- slots ------------------------------------------------------------------------------------------ */

/* The program comes first, so that it is known before other modules. */
static void note_stub(const struct module *module, unsigned type, const ElfW(Sym) * symbol)
{
    struct row *row = type == R_X86_64_JUMP_SLOT && symbol->st_shndx == SHN_UNDEF && symbol->st_value != 0
                          ? row_of(module->names + symbol->st_name)
                          : NULL;
    if (row != NULL)
        row->stub = module->image.object.l_addr + symbol->st_value;
}

/* Tells whether a slot that holds neither theirs nor ours leads elsewhere: not where it leads into its module's own linkage table, since it will be bound to ours,
 * nor to the one stub that leads through a slot of the program's own. */
static bool leads_elsewhere(const struct module *module, unsigned type, const ElfW(Sym) * symbol,
                            uintptr_t value)
{
    const struct row *row = row_of(module->names + symbol->st_name);
    if (row == NULL || row->next == NULL || row->theirs == NULL || value == 0 ||
        value == (uintptr_t)row->ours)
        return false;
    const bool is_unbound = type == R_X86_64_JUMP_SLOT && value >= module->image.first &&
                            value < module->image.past &&
                            value != module->image.object.l_addr + symbol->st_value;
    return is_unbound ? !row->is_found : value != row->stub;
}

/* Returns whether it was turned. row: of a name; NULL: any. */
static bool turn_word(struct sweep *sweep, const struct module *module, uintptr_t place,
                      const struct row *row)
{
    if (place % sizeof(void *) != 0 || place < module->image.first ||
        place > module->image.past - sizeof(void *))
        return false;
    void *const value = __atomic_load_n((void **)place, __ATOMIC_RELAXED);
    const struct row *first = row_from(sweep, value);
    if (first == NULL)
        return false;
    if (row == NULL || from_of(sweep, row) != value)
        row = first;
    const bool is_read_only = place >= module->image.relro && place < module->image.relro_past;
    const bool turned = store(sweep, place, is_read_only, (uintptr_t)value,
                              (uintptr_t)(sweep->back ? row->theirs : row->ours));
    sweep->count.turned += turned;
    sweep->count.left += !turned && !sweep->back && row->next != NULL;
    return turned;
}

static bool turn(struct sweep *sweep, const struct module *module, const ElfW(Rela) * relocation)
{
    const unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
    const ElfW(Sym) *symbol = &module->symbols[ELF64_R_SYM(relocation->r_info)];
    const uintptr_t place = module->image.object.l_addr + relocation->r_offset;
    bool any = false;
    switch (type) {
    case R_X86_64_RELATIVE: /* within the allocator */
        return turn_word(sweep, module, place, NULL);
    case R_X86_64_COPY: /* of what a library has named */
        for (uint64_t at = 0; at + sizeof(void *) <= symbol->st_size; at += sizeof(void *))
            any = turn_word(sweep, module, place + at, NULL) || any;
        return any;
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_64:
        break;
    default:
        return false;
    }
    if (place < module->image.first || place > module->image.past - sizeof(void *))
        return false;
    note_stub(module, type, symbol);
    const uintptr_t value = __atomic_load_n((uintptr_t *)place, __ATOMIC_RELAXED);
    if (row_from(sweep, (void *)value) != NULL)
        return turn_word(sweep, module, place, row_of(module->names + symbol->st_name));
    sweep->count.left += !sweep->back && type != R_X86_64_64 && leads_elsewhere(module, type, symbol, value);
    return false;
}

static void name_left(struct slots_count *count, const char *path, uint64_t slots)
{
    if (count->left_in[0] != '\0')
        text_append(count->left_in, sizeof count->left_in, ", ");
    text_append(count->left_in, sizeof count->left_in, *path != '\0' ? text_base_name(path) : "the program");
    text_append(count->left_in, sizeof count->left_in, " (");
    text_append_number(count->left_in, sizeof count->left_in, slots);
    text_append(count->left_in, sizeof count->left_in, ")");
}

static int sweep_slots(struct dl_phdr_info *info, size_t size, void *data)
{
    struct sweep *sweep = data;
    struct module module;
    bool any = false;
    const uint64_t left = sweep->count.left;
    (void)size;
    if (!read_module(info, &module))
        return 0;
    for (size_t i = 0; i < module.plt_count; i++)
        any = turn(sweep, &module, &module.plt[i]) || any;
    for (size_t i = 0; i < module.other_count; i++)
        any = turn(sweep, &module, &module.others[i]) || any;
    if (info->dlpi_addr == getauxval(AT_BASE)) /* the loader has looked up by itself what it calls */
        for (uintptr_t place = module.image.relro; place < module.image.relro_past; place += sizeof(void *))
            any = turn_word(sweep, &module, place, NULL) || any;
    close_page(sweep);
    sweep->count.modules += any;
    if (sweep->count.left != left)
        name_left(&sweep->count, info->dlpi_name, sweep->count.left - left);
    return 0;
}

bool slots_define(void)
{
    struct sweep sweep = {.back = false};
    boot_make_ready();
    find_theirs();
    sweep.mappings = read_mappings();
    (void)dl_iterate_phdr(sweep_definitions, &sweep);
    if (sweep.mappings != NULL)
        raw_munmap(sweep.mappings, MAPPINGS_BYTES);
    return row_of("malloc")->is_found && row_of("free")->is_found;
}

static int find_other(struct dl_phdr_info *info, size_t size, void *data)
{
    const char **other = data;
    struct module module;
    (void)size;
    if (info->dlpi_addr == getauxval(AT_BASE) || !read_module(info, &module)) /* older loaders have one */
        return 0;
    void *const found = elf_symbol(&module.image.object, "malloc");
    if (found != NULL && found != row_of("malloc")->ours)
        *other = info->dlpi_name;
    return *other != NULL;
}

const char *slots_other_malloc(void)
{
    const char *other = NULL;
    (void)dl_iterate_phdr(find_other, &other); /* what it returns is in there */
    return other;
}

struct slots_count slots_turn(bool back)
{
    struct sweep sweep = {.back = back};
    if (!back) {
        boot_make_ready(); /* operators of modules that came since */
        find_theirs();
    }
    for (size_t i = 0; i < ROW_COUNT; i++) {
        uint64_t bit, *word = suspect(&sweep, from_of(&sweep, &rows[i]), &bit);
        *word |= bit;
    }
    sweep.mappings = read_mappings();
    (void)dl_iterate_phdr(sweep_definitions, &sweep);
    (void)dl_iterate_phdr(sweep_slots, &sweep);
    if (sweep.mappings != NULL)
        raw_munmap(sweep.mappings, MAPPINGS_BYTES);
    return sweep.count;
}

void slots_theirs(uint64_t *ret_words, size_t most)
{
    for (size_t i = 0; i < most; i++)
        ret_words[i] = i < ROW_COUNT && rows[i].next != NULL ? (uint64_t)(uintptr_t)rows[i].theirs : 0;
}

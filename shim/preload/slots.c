/* slots.c - dl_iterate_phdr over the modules, their relocations, a store for each slot.
 *
 * Laws: those of slots.h. */
#include "shim/preload/slots.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "shim/preload/boot.h"
#include "shim/preload/elf_symbol.h"
#include "shim/preload/shim.h"
#include "shim/shared/raw.h"

/* x86-64: nobody attaches to programs on other processors. */
#define TYPE_JUMP_SLOT R_X86_64_JUMP_SLOT
#define TYPE_GLOB_DAT  R_X86_64_GLOB_DAT

#define MAPPINGS_BYTES (4u << 20) /* of /proc/self/maps */
#define PAGE_BYTES     4096u

/* ---- what is turned to what -------------------------------------------------------------------- */

/* What came in after us is found before it is called: a module is loaded by dlopen, and asked by dlsym. Both look at who calls
 * them, so they are entered by a jump, with the stack as it was. */
static __attribute__((used)) void *next_dlopen, *next_dlsym;
__attribute__((used)) void slots_notice(void);

void slots_notice(void)
{
    slots_turn_new();
}

#define ENTER_BY_JUMP(name)                                                                                  \
    __asm__(".pushsection .text\n"                                                                           \
            ".hidden slots_" #name "\n"                                                                      \
            ".globl slots_" #name "\n"                                                                       \
            ".type slots_" #name ", @function\n"                                                             \
            "slots_" #name ":\n"                                                                             \
            ".cfi_startproc\n"                                                                               \
            "push %rdi\n.cfi_adjust_cfa_offset 8\n"                                                          \
            "push %rsi\n.cfi_adjust_cfa_offset 8\n"                                                          \
            "push %rdx\n.cfi_adjust_cfa_offset 8\n"                                                          \
            "call slots_notice\n"                                                                            \
            "pop %rdx\n.cfi_adjust_cfa_offset -8\n"                                                          \
            "pop %rsi\n.cfi_adjust_cfa_offset -8\n"                                                          \
            "pop %rdi\n.cfi_adjust_cfa_offset -8\n"                                                          \
            "jmp *next_" #name "(%rip)\n"                                                                    \
            ".cfi_endproc\n"                                                                                 \
            ".size slots_" #name ", . - slots_" #name "\n"                                                   \
            ".popsection\n")
ENTER_BY_JUMP(dlopen);
ENTER_BY_JUMP(dlsym);

#define ROWS(X)                                                                                              \
    X(malloc, "malloc", malloc)                                                                              \
    X(calloc, "calloc", calloc)                                                                              \
    X(realloc, "realloc", realloc)                                                                           \
    X(reallocarray, "reallocarray", reallocarray)                                                            \
    X(free, "free", free)                                                                                    \
    X(free_sized, "free_sized", free_sized)                                                                  \
    X(free_aligned_sized, "free_aligned_sized", free_aligned_sized)                                          \
    X(posix_memalign, "posix_memalign", posix_memalign)                                                      \
    X(aligned_alloc, "aligned_alloc", aligned_alloc)                                                         \
    X(memalign, "memalign", memalign)                                                                        \
    X(valloc, "valloc", valloc)                                                                              \
    X(pvalloc, "pvalloc", pvalloc)                                                                           \
    X(new_plain, "_Znwm", operators[0])                                                                      \
    X(new_array, "_Znam", operators[1])                                                                      \
    X(new_nothrow, "_ZnwmRKSt9nothrow_t", operators[2])                                                      \
    X(new_array_nothrow, "_ZnamRKSt9nothrow_t", operators[3])                                                \
    X(new_aligned, "_ZnwmSt11align_val_t", operators[4])                                                     \
    X(new_array_aligned, "_ZnamSt11align_val_t", operators[5])                                               \
    X(new_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t", operators[6])                               \
    X(new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t", operators[7])                         \
    X(delete_plain, "_ZdlPv", operators[8])                                                                  \
    X(delete_array, "_ZdaPv", operators[9])                                                                  \
    X(delete_nothrow, "_ZdlPvRKSt9nothrow_t", operators[10])                                                 \
    X(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t", operators[11])                                           \
    X(delete_sized, "_ZdlPvm", operators[12])                                                                \
    X(delete_array_sized, "_ZdaPvm", operators[13])                                                          \
    X(delete_aligned, "_ZdlPvSt11align_val_t", operators[14])                                                \
    X(delete_array_aligned, "_ZdaPvSt11align_val_t", operators[15])                                          \
    X(delete_sized_aligned, "_ZdlPvmSt11align_val_t", operators[16])                                         \
    X(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t", operators[17])                                   \
    X(delete_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t", operators[18])                          \
    X(delete_array_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t", operators[19])

/* Jumps out of a hook, what a process confines itself by, and how modules come and go: hooks that find their next by themselves. */
#define OTHER_ROWS(X)                                                                                        \
    X(longjmp, "longjmp", "longjmp")                                                                         \
    X(plain_longjmp, "_longjmp", "_longjmp")                                                                 \
    X(siglongjmp, "siglongjmp", "siglongjmp")                                                                \
    X(checked_longjmp, "__longjmp_chk", "__longjmp_chk")                                                     \
    X(prctl, "prctl", "prctl")                                                                               \
    X(syscall, "syscall", "syscall")                                                                         \
    X(dlclose, "dlclose", "dlclose")                                                                         \
    X(dlopen, "dlopen", "slots_dlopen")                                                                      \
    X(dlsym, "dlsym", "slots_dlsym")

#define DECLARE(id, name, more) extern char hook_##id[] __asm__(name) __attribute__((visibility("hidden")));
#define DECLARE_OTHER(id, name, ours)                                                                        \
    extern char hook_##id[] __asm__(ours) __attribute__((visibility("hidden")));
ROWS(DECLARE)
OTHER_ROWS(DECLARE_OTHER)

static struct row {
    const char *name;
    void *const ours, *const *next; /* next: what the hook forwards to; NULL: it is looked for here */
    void *theirs;                   /* NULL: the process has none, or it is not ours to turn */
} rows[] = {
#define ROW(id, name, member)     {name, hook_##id, (void *const *)(void *)&shim_next.member, NULL},
#define OTHER_ROW(id, name, ours) {name, hook_##id, NULL, NULL},
    ROWS(ROW) OTHER_ROWS(OTHER_ROW)};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static void find_theirs(void)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct row *row = &rows[i];
        row->theirs = row->next != NULL ? *row->next : elf_first_symbol(row->name);
        if (strcmp(row->name, "dlopen") == 0)
            next_dlopen = row->theirs;
        else if (strcmp(row->name, "dlsym") == 0)
            next_dlsym = row->theirs;
    }
}

static const struct row *row_of(const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* ---- a sweep over all modules ------------------------------------------------------------------- */

struct sweep {
    bool back;
    bool has_rivals; /* the process has another malloc than the one that we forward to */
    bool
        is_behind; /* the loader itself: such modules may have come by dlopen, and bind elsewhere (RTLD_DEEPBIND) */
    char *mappings;      /* /proc/self/maps; NULL: not read yet */
    uintptr_t loader;    /* where it lies, in the list behind what the program began with; 0: not known */
    uintptr_t open_page; /* made writable by us; 0: none */
    struct slots_count count;
};

struct module {
    uintptr_t base, first, past; /* of all its segments */
    uintptr_t relro, relro_past;
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * plt, *others;
    size_t plt_count, other_count;
};

static const void *at(const struct module *module, const ElfW(Dyn) * entry)
{
    const uintptr_t address = entry->d_un.d_ptr; /* as in elf_symbol.c */
    return (const void *)(address < module->base ? address + module->base : address);
}

static void read_dynamic(struct module *module)
{
    bool plt_is_rela = true;
    for (const ElfW(Dyn) *entry = module->dynamic; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            module->symbols = at(module, entry);
            break;
        case DT_STRTAB:
            module->names = at(module, entry);
            break;
        case DT_JMPREL:
            module->plt = at(module, entry);
            break;
        case DT_PLTRELSZ:
            module->plt_count = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_PLTREL:
            plt_is_rela = entry->d_un.d_val == DT_RELA;
            break;
        case DT_RELA:
            module->others = at(module, entry);
            break;
        case DT_RELASZ:
            module->other_count = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
        default:
            break;
        }
    }
    if (module->plt == NULL || !plt_is_rela)
        module->plt_count = 0;
    if (module->others == NULL)
        module->other_count = 0;
}

/* Returns false for our own, and for what has no slots. */
static bool read_module(const struct dl_phdr_info *info, struct module *ret)
{
    struct module module = {.base = info->dlpi_addr, .first = UINTPTR_MAX};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + header->p_vaddr, past = begin + header->p_memsz;
        if (header->p_type == PT_DYNAMIC) {
            module.dynamic = (const ElfW(Dyn) *)begin;
        } else if (header->p_type == PT_GNU_RELRO) {
            module.relro = begin & ~(uintptr_t)(PAGE_BYTES - 1);
            module.relro_past = past & ~(uintptr_t)(PAGE_BYTES - 1); /* the loader protects whole pages */
        } else if (header->p_type == PT_LOAD) {
            module.first = begin < module.first ? begin : module.first;
            module.past = past > module.past ? past : module.past;
        }
    }
    if (module.dynamic == NULL ||
        ((uintptr_t)read_module >= module.first && (uintptr_t)read_module < module.past))
        return false;
    read_dynamic(&module);
    *ret = module;
    return module.symbols != NULL && module.names != NULL;
}

/* ---- pages that are read-only ------------------------------------------------------------------- */

static char *read_mappings(void)
{
    const long area = raw_mmap(NULL, MAPPINGS_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    const long fd = area > 0 ? raw_open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
    size_t used = 0;
    long got;
    if (area <= 0)
        return NULL;
    while (fd >= 0 && used + 1 < MAPPINGS_BYTES &&
           (got = raw_read((int)fd, (char *)area + used, MAPPINGS_BYTES - 1 - used)) > 0)
        used += (size_t)got;
    if (fd >= 0)
        raw_close((int)fd);
    return (char *)area; /* zeros behind it end it */
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

/* Whether it is mapped for reading only: then the loader is done with its module. */
static bool is_read_only(const char *mappings, uintptr_t page)
{
    for (const char *line = mappings; line != NULL && *line != '\0'; line++) {
        const uintptr_t first = take_hex(&line);
        line += *line == '-';
        const uintptr_t past = take_hex(&line);
        if (page >= first && page < past)
            return strncmp(line, " r--", 4) == 0;
        line = strchr(line, '\n');
        if (line == NULL)
            break;
    }
    return false;
}

static bool protect(uintptr_t page, int protection)
{
    return raw_call(SYS_mprotect, (long)page, PAGE_BYTES, protection, 0, 0, 0) == 0;
}

static void close_page(struct sweep *sweep)
{
    if (sweep->open_page != 0)
        (void)protect(sweep->open_page, PROT_READ); /* it was so before */
    sweep->open_page = 0;
}

/* Returns whether a slot may be stored to. */
static bool open_page(struct sweep *sweep, const struct module *module, uintptr_t slot)
{
    const uintptr_t page = slot & ~(uintptr_t)(PAGE_BYTES - 1);
    if (page < module->relro || page >= module->relro_past)
        return true;
    if (page == sweep->open_page)
        return true;
    close_page(sweep);
    if (sweep->mappings == NULL)
        sweep->mappings = read_mappings();
    if (sweep->mappings == NULL || !is_read_only(sweep->mappings, page) ||
        !protect(page, PROT_READ | PROT_WRITE))
        return false;
    sweep->open_page = page;
    return true;
}

/* ---- slots ------------------------------------------------------------------------------------------ */

/* Not bound yet: it leads into the module's own linkage table. */
static bool is_unbound(const struct module *module, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol,
                       uintptr_t value)
{
    return ELF64_R_TYPE(relocation->r_info) == TYPE_JUMP_SLOT && symbol->st_shndx == SHN_UNDEF &&
           value >= module->first && value < module->past;
}

static bool turn(struct sweep *sweep, const struct module *module, const ElfW(Rela) * relocation)
{
    const unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
    if (type != TYPE_JUMP_SLOT && type != TYPE_GLOB_DAT)
        return false;
    const ElfW(Sym) *symbol = &module->symbols[ELF64_R_SYM(relocation->r_info)];
    const struct row *row = row_of(module->names + symbol->st_name);
    const uintptr_t place = module->base + relocation->r_offset;
    if (row == NULL || row->theirs == NULL || place % sizeof(void *) != 0 || place < module->first ||
        place > module->past - sizeof(void *))
        return false;
    void **slot = (void **)place;
    void *const from = sweep->back ? row->ours : row->theirs, *const to = sweep->back ? row->theirs
                                                                                      : row->ours;
    void *value = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (value == to)
        return false;
    const bool fits = value == from || (!sweep->back && !(sweep->has_rivals && sweep->is_behind) &&
                                        is_unbound(module, relocation, symbol, (uintptr_t)value));
    if (!fits || !open_page(sweep, module, place)) {
        sweep->count.left += !sweep->back && row->next != NULL;
        return false;
    }
    /* The loader may bind it at this moment: then it has the last word. */
    const bool turned = __atomic_compare_exchange_n(slot, &value, to, false, __ATOMIC_RELEASE,
                                                    __ATOMIC_RELAXED);
    sweep->count.turned += turned;
    return turned;
}

static int sweep_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct sweep *sweep = data;
    struct module module;
    bool any = false;
    (void)size;
    sweep->is_behind = sweep->is_behind || sweep->loader == 0 || info->dlpi_addr == sweep->loader;
    if (!read_module(info, &module))
        return 0;
    for (size_t i = 0; i < module.plt_count; i++)
        any = turn(sweep, &module, &module.plt[i]) || any;
    for (size_t i = 0; i < module.other_count; i++)
        any = turn(sweep, &module, &module.others[i]) || any;
    close_page(sweep);
    sweep->count.modules += any;
    return 0;
}

static int find_rival(struct dl_phdr_info *info, size_t size, void *data)
{
    struct module module;
    (void)size;
    (void)data;
    if (!read_module(info, &module))
        return 0;
    const struct link_map object = {.l_addr = module.base, .l_ld = (ElfW(Dyn) *)(uintptr_t)module.dynamic};
    const void *malloc_there = elf_symbol(&object, "malloc");
    return malloc_there != NULL && malloc_there != rows[0].theirs;
}

static int take_number(struct dl_phdr_info *info, size_t size, void *data)
{
    *(unsigned long long *)data = info->dlpi_adds;
    (void)size;
    return 1;
}

static _Atomic uint32_t sweeping; /* by some thread */
static bool turned_on;            /* the rest belongs to the one who sweeps */
static unsigned long long known_modules;
static struct slots_count total;

static struct slots_count run(bool back)
{
    struct sweep sweep = {.back = back, .loader = getauxval(AT_BASE)};
    if (!back) {
        boot_make_ready(); /* operators of modules that came since */
        find_theirs();
        sweep.has_rivals = dl_iterate_phdr(find_rival, NULL) != 0;
    }
    (void)dl_iterate_phdr(take_number, &known_modules);
    (void)dl_iterate_phdr(sweep_module, &sweep);
    if (sweep.mappings != NULL)
        raw_munmap(sweep.mappings, MAPPINGS_BYTES);
    return sweep.count;
}

static bool try_begin(void)
{
    uint32_t free_now = 0;
    return swap_acquire(&sweeping, &free_now, 1);
}

static void begin(void)
{
    const struct timespec rest = {0, 1000000};
    while (!try_begin())
        (void)raw_call(SYS_nanosleep, (long)&rest, 0, 0, 0, 0, 0); /* cut short: we look sooner */
}

struct slots_count slots_turn(void)
{
    begin();
    total = run(false);
    turned_on = true;
    put_release(&sweeping, 0);
    return total;
}

void slots_turn_new(void)
{
    unsigned long long modules = 0;
    (void)dl_iterate_phdr(take_number, &modules);
    if (!try_begin())
        return; /* another thread looks */
    if (turned_on && modules != known_modules) {
        const struct slots_count count = run(false);
        total.turned += count.turned;
        total.modules += count.modules;
    }
    put_release(&sweeping, 0);
}

struct slots_count slots_turn_back(void)
{
    begin();
    turned_on = false;
    const struct slots_count count = run(true);
    put_release(&sweeping, 0);
    return count;
}

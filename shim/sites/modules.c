/* modules.c - modules found, kept, told and missed.
 *
 * Laws: those of modules.h. */
#include "shim/sites/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#define BUILD_ID_MOST 64u
#define PATH_MOST     1024u
#define CODE_AT_ONCE  32u /* rules of which modules_check_code looks whose are of code without a file */

_Static_assert(sizeof(struct fp_record_module) + BUILD_ID_MOST + PATH_MOST <= FP_RECORD_MODULE_BYTES_MAX,
               "a module fits its records");

/* ---- what the file says of itself ------------------------------------------------------------------ */

struct image {
    const ElfW(Phdr) * headers;
    unsigned count;
    uintptr_t base;
    const uint8_t *build_id;
    unsigned build_id_bytes;
};

/* A program with gaps between its segments is found segment by segment: its headers are where the kernel says. */
static bool read_program(struct image *image)
{
    image->headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    image->count = image->headers != NULL ? (unsigned)getauxval(AT_PHNUM) : 0;
    for (unsigned i = 0; i < image->count; i++)
        if (image->headers[i].p_type == PT_PHDR)
            return image->base + image->headers[i].p_vaddr == (uintptr_t)image->headers;
    return false;
}

/* The headers of a module, where its begin is that of its file, as linkers have it. */
static bool read_image(const struct modules_found *found, struct image *ret_image)
{
    const ElfW(Ehdr) *header = found->start;
    const size_t bytes = (size_t)((const char *)found->end - (const char *)found->start);
    *ret_image = (struct image){.base = ((const struct link_map *)found->link_map)->l_addr};
    if (bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phoff > 4096 - sizeof *header ||
        header->e_phnum > (4096 - header->e_phoff) / sizeof(ElfW(Phdr)) || header->e_phoff % 8 != 0)
        return read_program(ret_image); /* else within its first page, which is mapped */
    ret_image->headers = (const ElfW(Phdr) *)((const char *)found->start + header->e_phoff);
    ret_image->count = header->e_phnum;
    return true;
}

/* The segment of some protection that an address lies in. */
static bool find_segment(const struct image *image, uintptr_t address, unsigned flags, uintptr_t *ret_start,
                         uintptr_t *ret_end)
{
    for (unsigned i = 0; i < image->count; i++) {
        const ElfW(Phdr) *segment = &image->headers[i];
        const uintptr_t start = image->base + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & flags) == flags && address >= start &&
            address - start < segment->p_filesz) {
            *ret_start = start;
            *ret_end = start + segment->p_filesz;
            return true;
        }
    }
    return false;
}

static void find_build_id(struct image *image)
{
    for (unsigned i = 0; i < image->count; i++) {
        const ElfW(Phdr) *segment = &image->headers[i];
        const uintptr_t notes = image->base + segment->p_vaddr;
        uintptr_t start, end;
        if (segment->p_type != PT_NOTE || !find_segment(image, notes, PF_R, &start, &end) ||
            segment->p_filesz > end - notes)
            continue;
        for (size_t at = 0; segment->p_filesz - at >= sizeof(ElfW(Nhdr));) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(notes + at);
            const size_t left = segment->p_filesz - at - sizeof *note;
            const size_t name = (note->n_namesz + (size_t)3) & ~(size_t)3;
            const size_t text = (note->n_descsz + (size_t)3) & ~(size_t)3;
            if (name > left || text > left - name)
                break;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(note + 1, "GNU", 4) == 0) {
                image->build_id = (const uint8_t *)(note + 1) + name;
                image->build_id_bytes = note->n_descsz < BUILD_ID_MOST ? note->n_descsz : BUILD_ID_MOST;
                return;
            }
            at += sizeof *note + name + text;
        }
    }
}

static uint64_t mix_bytes(uint64_t sum, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return sum;
}

static uint64_t identity_of(const struct image *image)
{
    uint64_t sum = mix_bytes(UINT64_C(0xcbf29ce484222325), image->headers,
                             image->count * sizeof *image->headers);
    return mix_bytes(sum, image->build_id, image->build_id_bytes);
}

static void read_module(const struct modules_found *found, struct module *ret_module)
{
    struct image image;
    ret_module->link_map = found->link_map;
    ret_module->frame_header = found->frame_header;
    ret_module->start = (uintptr_t)found->start;
    ret_module->end = (uintptr_t)found->end;
    ret_module->frames = (struct cfi_segment){0};
    ret_module->code = ret_module->code_end = 0;
    ret_module->identity = 0;
    const bool readable = read_image(found, &image);
    ret_module->base = image.base;
    if (!readable)
        return;
    find_build_id(&image);
    ret_module->identity = identity_of(&image);
    for (unsigned i = 0; i < image.count; i++)
        if (image.headers[i].p_type == PT_LOAD &&
            (image.headers[i].p_flags & (PF_R | PF_X)) == (PF_R | PF_X) &&
            image.headers[i].p_filesz > ret_module->code_end - ret_module->code) {
            ret_module->code = image.base + image.headers[i].p_vaddr;
            ret_module->code_end = ret_module->code + image.headers[i].p_filesz;
        }
    const uintptr_t header = (uintptr_t)found->frame_header;
    if (header != 0 && find_segment(&image, header, PF_R, &ret_module->frames.start, &ret_module->frames.end))
        ret_module->frames.header = header;
}

/* ---- the table --------------------------------------------------------------------------------------- */

static uint32_t module_count(const struct modules *modules)
{
    const uint32_t count = atomic_load_explicit(&modules->count, memory_order_relaxed);
    return count < MODULES_MOST ? count : MODULES_MOST;
}

static bool is_same(const struct module *module, const struct module *other)
{
    return module->start == other->start && module->end == other->end && module->base == other->base &&
           module->identity == other->identity;
}

/* The entry of a module that is there, of one of the same file that was there before, or NULL. */
static struct module *find_entry(struct modules *modules, const struct module *wanted, uint32_t *ret_epoch)
{
    const uint32_t count = module_count(modules);
    *ret_epoch = 0;
    for (uint32_t i = count; i-- > 0;) {
        struct module *module = &modules->items[i];
        if (atomic_load_explicit(&module->state, memory_order_acquire) == MODULE_NONE)
            continue;
        if (is_same(module, wanted))
            return module;
        if (module->start < wanted->end && wanted->start < module->end && module->epoch >= *ret_epoch)
            *ret_epoch = module->epoch + 1;
    }
    return NULL;
}

/* One that is loaded, without reading it again: modules_check sees one that was exchanged for another just there. */
static struct module *find_loaded(struct modules *modules, const struct modules_found *found)
{
    for (uint32_t i = module_count(modules); i-- > 0;) {
        struct module *module = &modules->items[i];
        if (atomic_load_explicit(&module->state, memory_order_acquire) == MODULE_LOADED &&
            module->start == (uintptr_t)found->start && module->end == (uintptr_t)found->end &&
            module->link_map == found->link_map && module->frame_header == found->frame_header)
            return module;
    }
    return NULL;
}

/* Two threads may add the same one: then there are two, which say the same. */
static struct module *add_module(struct modules *modules, const struct module *wanted, uint32_t epoch)
{
    const uint32_t index = atomic_fetch_add_explicit(&modules->count, 1, memory_order_relaxed);
    if (index >= MODULES_MOST) {
        atomic_fetch_sub_explicit(&modules->count, 1, memory_order_relaxed);
        return NULL;
    }
    struct module *module = &modules->items[index];
    module->start = wanted->start;
    module->end = wanted->end;
    module->base = wanted->base;
    module->link_map = wanted->link_map;
    module->frame_header = wanted->frame_header;
    module->identity = wanted->identity;
    module->frames = wanted->frames;
    module->code = wanted->code;
    module->code_end = wanted->code_end;
    module->epoch = epoch < UINT16_MAX ? epoch : UINT16_MAX;
    if (epoch > 0)
        atomic_store_explicit(&modules->epochs, 1, memory_order_relaxed);
    atomic_store_explicit(&module->state, MODULE_LOADED, memory_order_release);
    return module;
}

void modules_begin(struct modules *modules, modules_find find, const void *own)
{
    struct modules_found found;
    modules->find = find;
    if (find((void *)(uintptr_t)own, &found) == 0) {
        modules->own_start = (uintptr_t)found.start;
        modules->own_end = (uintptr_t)found.end;
    }
}

/* Rules of a former generation must not come back: whoever read one before the step stores it behind the step, so the
 * generation is looked at again. */
static void keep_rule(struct modules *modules, uint64_t address, uint32_t rule, uint32_t generation)
{
    const uint64_t mixed = modules_mix(address);
    _Atomic uint64_t *pair = &modules->rules[modules_place(mixed)];
    _Atomic uint64_t *entry = &pair[0];
    if (atomic_load_explicit(entry, memory_order_relaxed) != 0 &&
        (atomic_load_explicit(&pair[1], memory_order_relaxed) == 0 || (mixed & 1) != 0))
        entry = &pair[1]; /* of a pair that is full either goes */
    atomic_store_explicit(entry, modules_tag(mixed) | rule, memory_order_seq_cst);
    if (atomic_load_explicit(&modules->generation, memory_order_seq_cst) != generation)
        atomic_store_explicit(entry, 0, memory_order_relaxed);
}

/* A module that is not in the table, or was gone. NULL: there is no room for it. */
static const struct module *meet_module(struct modules *modules, const struct modules_found *found,
                                        bool *ret_fresh)
{
    struct module wanted;
    uint32_t epoch;
    read_module(found, &wanted);
    struct module *module = find_entry(modules, &wanted, &epoch);
    if (module != NULL) {
        module->link_map = found->link_map; /* of a file that is back */
        atomic_store_explicit(&module->state, MODULE_LOADED, memory_order_release);
        return module;
    }
    module = add_module(modules, &wanted, epoch);
    *ret_fresh = true;
    return module;
}

/* A rule of kind CFI_CODE; 0: nobody may look. */
static uint32_t look_at_code(struct modules *modules, uint64_t address)
{
    uint8_t code[PROCESSOR_THUNK_BYTES];
    if (PROCESSOR_THUNK_BEFORE == 0 || modules->copy == NULL ||
        !modules->copy(address - PROCESSOR_THUNK_BEFORE, code, sizeof code))
        return 0;
    atomic_store_explicit(&modules->has_code, 1, memory_order_relaxed);
    return cfi_rule_make(CFI_CODE, processor_thunk(code));
}

uint32_t modules_rule_slow(struct modules *modules, uint64_t address, bool *ret_fresh)
{
    const uint32_t generation = atomic_load_explicit(&modules->generation, memory_order_seq_cst);
    struct modules_found found;
    if (modules->find((void *)(uintptr_t)(address - 1), &found) != 0) {
        const uint32_t rule = look_at_code(modules, address);
        if (rule != 0) /* else not kept: a module may be loaded there */
            keep_rule(modules, address, rule, generation);
        return rule;
    }
    const struct module *module = find_loaded(modules, &found);
    if (module == NULL)
        module = meet_module(modules, &found, ret_fresh);
    if (module == NULL)
        return cfi_rule_make(CFI_NONE, 0);
    uint32_t rule = module->frames.header != 0 ? cfi_find(&module->frames, (uintptr_t)address - 1)
                                               : cfi_rule_make(CFI_NONE, 0);
    if (cfi_rule_kind(rule) == CFI_NONE && address >= module->code && address + 8 <= module->code_end &&
        processor_is_signal_return((const uint8_t *)(uintptr_t)address))
        rule = cfi_rule_make(CFI_SIGNAL, 0);
    if (cfi_rule_kind(rule) != CFI_NONE)
        keep_rule(modules, address, rule, generation);
    return rule;
}

const struct module *modules_untold(struct modules *modules)
{
    for (uint32_t i = 0; i < module_count(modules); i++) {
        struct module *module = &modules->items[i];
        if (atomic_load_explicit(&module->state, memory_order_acquire) == MODULE_LOADED &&
            atomic_load_explicit(&module->told, memory_order_relaxed) == 0 &&
            atomic_exchange_explicit(&module->told, 1, memory_order_relaxed) == 0)
            return module;
    }
    return NULL;
}

uint32_t modules_epoch(const struct modules *modules, uint64_t address)
{
    for (uint32_t i = module_count(modules); i-- > 0;) {
        const struct module *module = &modules->items[i];
        if (atomic_load_explicit(&module->state, memory_order_acquire) == MODULE_LOADED &&
            address > module->start && address <= module->end)
            return module->epoch;
    }
    return 0;
}

/* The bytes before a return address, 8 of them readable; NULL: it is in no code that can be read. */
static const uint8_t *code_before(const struct modules *modules, uint64_t address)
{
    for (uint32_t i = module_count(modules); i-- > 0;) {
        const struct module *module = &modules->items[i];
        if (atomic_load_explicit(&module->state, memory_order_acquire) != MODULE_LOADED ||
            address < module->code + 8 || address > module->code_end)
            continue;
        return (const uint8_t *)(uintptr_t)address;
    }
    return NULL;
}

bool modules_is_call(const struct modules *modules, uint64_t address)
{
    const uint8_t *code = code_before(modules, address);
    return code != NULL && processor_is_call(code);
}

bool modules_is_none(const struct modules *modules, uint64_t address)
{
    const uint8_t *code = code_before(modules, address);
    return code != NULL && !processor_is_call(code);
}

uint64_t modules_target(const struct modules *modules, uint64_t address)
{
    const uint8_t *code = code_before(modules, address);
    return code != NULL ? processor_call_target(code) : 0;
}

/* No rule, and no walk, is believed any more. */
static void forget_all(struct modules *modules)
{
    atomic_fetch_add_explicit(&modules->generation, 1, memory_order_seq_cst);
    for (uint32_t i = 0; i < 1u << RULES_BITS; i++)
        atomic_store_explicit(&modules->rules[i], 0, memory_order_seq_cst);
}

bool modules_check_code(struct modules *modules)
{
    bool changed = false;
    if (atomic_load_explicit(&modules->has_code, memory_order_relaxed) == 0)
        return false;
    const uint32_t first = atomic_fetch_add_explicit(&modules->code_next, CODE_AT_ONCE, memory_order_relaxed);
    for (uint32_t i = 0; i < CODE_AT_ONCE; i++) {
        const uint32_t place = (first + i) % (1u << RULES_BITS);
        struct modules_found found;
        uint64_t entry = atomic_load_explicit(&modules->rules[place], memory_order_relaxed);
        const uint32_t rule = (uint32_t)(entry & RULE_MASK);
        if (cfi_rule_kind(rule) != CFI_CODE)
            continue;
        const uint64_t address = modules_address(place, entry);
        if (modules->find((void *)(uintptr_t)(address - 1), &found) != 0 &&
            look_at_code(modules, address) == rule)
            continue;
        atomic_compare_exchange_strong(&modules->rules[place], &entry, 0);
        changed = changed || cfi_rule_bits(rule) != 0;
    }
    if (changed)
        forget_all(modules);
    return changed;
}

bool modules_check(struct modules *modules, bool thorough)
{
    bool gone = false;
    for (uint32_t i = module_count(modules); i-- > 0;) {
        struct module *module = &modules->items[i];
        struct modules_found found;
        struct module now;
        if (atomic_load_explicit(&module->state, memory_order_acquire) != MODULE_LOADED)
            continue;
        if (modules->find((void *)module->start, &found) == 0) {
            if (!thorough && module->link_map == found.link_map &&
                module->frame_header == found.frame_header && module->end == (uintptr_t)found.end)
                continue;
            read_module(&found, &now);
            if (is_same(module, &now))
                continue;
        }
        atomic_store_explicit(&module->state, MODULE_GONE, memory_order_relaxed);
        gone = true;
    }
    if (!gone)
        return false;
    forget_all(modules);
    return true;
}

uint32_t modules_text(const struct modules *modules, const struct module *module,
                      uint8_t ret_text[FP_RECORD_MODULE_BYTES_MAX + FP_RECORD_PIECE_BYTES])
{
    struct fp_record_module head = {
        .start = module->start, .end = module->end, .base = module->base, .epoch = (uint16_t)module->epoch};
    struct modules_found found;
    struct image image = {0};
    const char *path = "";
    if (modules->find((void *)module->start, &found) == 0) {
        if (read_image(&found, &image))
            find_build_id(&image);
        path = ((const struct link_map *)found.link_map)->l_name;
    }
    size_t length = path != NULL ? strlen(path) : 0;
    if (length > PATH_MOST) {
        path += length - PATH_MOST;
        length = PATH_MOST;
    }
    head.build_id_bytes = (uint8_t)image.build_id_bytes;
    memset(ret_text, 0, FP_RECORD_MODULE_BYTES_MAX + FP_RECORD_PIECE_BYTES);
    memcpy(ret_text, &head, sizeof head);
    if (image.build_id_bytes > 0)
        memcpy(ret_text + sizeof head, image.build_id, image.build_id_bytes);
    if (length > 0)
        memcpy(ret_text + sizeof head + image.build_id_bytes, path, length);
    return (uint32_t)(sizeof head + image.build_id_bytes + length);
}

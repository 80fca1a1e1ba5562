/* module_names.c - see names_child.h. */
#include "sites/names/names_child.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/trusted.h"
#include "shim/sites/cfi.h"

/* A module while it is answered. */
struct module {
    const struct name_request *request;
    const struct name_sink *sink;
    struct intervals symbols;
    struct cfi_segment
        frames; /* of the file in memory: .eh_frame tells where functions begin, of a stripped file too */
    uint64_t frames_shift; /* from the file's addresses to those of its bytes in memory */
    bool latest;           /* of several symbols the last one counts */
    const char *symbol;    /* the one that was demangled last */
    char *function;
};

/* symbol: mangled, NULL: it has no name. */
static void tell(struct module *module, size_t question, enum name_reply_kind kind, const char *symbol,
                 const struct dwarf_frame *where)
{
    if (symbol != module->symbol) { /* addresses are sorted: mostly it is the same */
        free(module->function);
        module->function = symbol != NULL ? demangle(symbol) : NULL;
        module->symbol = symbol;
    }
    const struct name_reply reply = {.module = module->request->number,
                                     .question = (uint32_t)question,
                                     .start = where->start,
                                     .line = where->line,
                                     .kind = (uint8_t)kind,
                                     .flags = module->function != NULL ? NAME_REPLY_NAMED : 0};
    module->sink->take(module->sink->data, &reply, module->function, where->file);
}

static void tell_module(const struct module *module, enum name_reply_kind kind, enum names_state state)
{
    const struct name_reply reply = {.module = module->request->number, .line = state, .kind = (uint8_t)kind};
    module->sink->take(module->sink->data, &reply, NULL, NULL);
}

/* Finds the bytes around .eh_frame_hdr; of 32-bit files nothing is found. */
static void find_frames(Elf *elf, struct module *module)
{
    size_t count, bytes;
    GElf_Phdr header;
    uint64_t table = 0;
    const uintptr_t file = (uintptr_t)elf_rawfile(elf, &bytes);
    if (file == 0 || elf_getphdrnum(elf, &count) != 0 || gelf_getclass(elf) != ELFCLASS64)
        return;
    for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header) != NULL; i++)
        if (header.p_type == PT_GNU_EH_FRAME)
            table = header.p_vaddr;
    for (size_t i = 0; i < count && table != 0 && gelf_getphdr(elf, (int)i, &header) != NULL; i++) {
        if (header.p_type != PT_LOAD || table - header.p_vaddr >= header.p_filesz ||
            header.p_offset > bytes || header.p_filesz > bytes - header.p_offset)
            continue;
        module->frames_shift = file + header.p_offset - header.p_vaddr;
        module->frames.start = file + header.p_offset;
        module->frames.end = module->frames.start + header.p_filesz;
        module->frames.header = table + module->frames_shift;
    }
}

/* Finds a function by symbols and .eh_frame. Returns the symbol; NULL: none. */
static const char *find(const struct module *module, uint64_t address, uint64_t *ret_start)
{
    const struct cfi_segment *frames = &module->frames;
    const uintptr_t begin = frames->header != 0 ? cfi_begin(frames, address + module->frames_shift) : 0;
    const uint64_t start = begin != 0 ? begin - module->frames_shift : 0;
    const struct interval *symbol = symbols_name(&module->symbols, address, start, module->latest);
    *ret_start = symbol != NULL ? symbol->start : start;
    return symbol != NULL ? symbol->what : NULL;
}

static void tell_functions(struct module *module)
{
    for (size_t i = 0; i < module->request->count; i++) {
        struct dwarf_frame where = {0};
        const char *symbol = find(module, module->request->questions[i].address, &where.start);
        tell(module, i, NAME_REPLY_FUNCTION, symbol, &where);
    }
}

/* The symbol's name is preferred to DWARF's: so a function has one name with lines and without. */
static void tell_lines(struct module *module, struct dwarf_frames *dwarf)
{
    struct dwarf_frame frames[NAMES_INLINED_MAX];
    for (size_t i = 0; i < module->request->count; i++) {
        const struct name_question *question = &module->request->questions[i];
        const size_t count = question->with_lines ? dwarf_frames_find(dwarf, question->address, frames) : 0;
        for (size_t j = 0; j < count; j++) {
            uint64_t start;
            const char *symbol = j == 0 ? find(module, question->address, &start) : NULL;
            if (j == 0 && (symbol != NULL || frames[0].start == 0))
                frames[0].start = start;
            tell(module, i, j == 0 ? NAME_REPLY_FUNCTION : NAME_REPLY_INLINED,
                 symbol != NULL ? symbol : frames[j].name, &frames[j]);
        }
    }
}

static void read_dwarf(struct module *module, const struct debug_files *files)
{
    Dwarf *alternative = NULL;
    Dwarf *dwarf = files->debug != NULL ? dwarf_begin_elf(files->debug, DWARF_C_READ, NULL) : NULL;
    if (dwarf == NULL)
        return;
    const int fd = debug_files_set_alternative(module->request->places, dwarf, &alternative);
    struct dwarf_frames *frames = dwarf_frames_open(dwarf);
    if (frames != NULL)
        tell_lines(module, frames);
    dwarf_frames_close(frames);
    (void)dwarf_end(dwarf);       /* read only */
    (void)dwarf_end(alternative); /* accepts NULL */
    if (fd >= 0)
        (void)close(fd); /* read only */
}

static bool wants_lines(const struct name_request *request)
{
    for (size_t i = 0; i < request->count; i++)
        if (request->questions[i].with_lines)
            return true;
    return false;
}

static enum names_state state_of(const struct debug_files *files, bool has_all,
                                 const struct name_request *request)
{
    if (files->debug == NULL)
        return files->was_replaced ? NAMES_REPLACED : files->is_damaged ? NAMES_DAMAGED : NAMES_ABSENT;
    return !has_all ? NAMES_STRIPPED : request->module.build_id_bytes == 0 ? NAMES_UNPROVEN : NAMES_NAMED;
}

static void answer_file(struct module *module)
{
    const bool with_lines = wants_lines(module->request);
    struct debug_files files;
    debug_files_open(module->request, with_lines, &files);
    if (files.file != NULL)
        find_frames(files.file, module);
    const bool has_all = (files.debug != NULL && symbols_of_elf(files.debug, SHT_SYMTAB, &module->symbols)) ||
                         (files.file != NULL && symbols_of_elf(files.file, SHT_SYMTAB, &module->symbols));
    if (!has_all && files.file != NULL)
        (void)symbols_of_elf(files.file, SHT_DYNSYM, &module->symbols); /* as far as there are */
    tell_functions(module);
    if (with_lines)
        read_dwarf(module, &files);
    tell_module(module, NAME_REPLY_DONE, state_of(&files, has_all, module->request));
    intervals_release(&module->symbols); /* names are the files' */
    debug_files_release(&files);
}

/* Returns the file's bytes with a zero behind them, to be freed; NULL. */
static char *read_map(const char *path, size_t *ret_size)
{
    struct stat facts;
    char *text = NULL;
    size_t size = 0;
    const int fd = fp_trusted_open(AT_FDCWD, path, S_IFREG, FP_TRUSTED_READ, NULL);
    if (fd >= 0 && fstat(fd, &facts) == 0 && (uint64_t)facts.st_size < PERF_MAP_BYTES_MAX)
        text = malloc((size_t)facts.st_size + 1);
    while (text != NULL && size < (size_t)facts.st_size) {
        const ssize_t count = read(fd, text + size, (size_t)facts.st_size - size);
        if (count <= 0)
            break; /* it became shorter */
        size += (size_t)count;
    }
    if (fd >= 0)
        (void)close(fd); /* only read from */
    if (text != NULL)
        text[size] = '\0';
    *ret_size = size + 1;
    return text;
}

static void answer_jit(struct module *module)
{
    const char *path = module->request->module.path;
    struct stat facts;
    const bool is_there = path[0] != '\0' && stat(path, &facts) == 0;
    size_t size;
    char *text = is_there ? read_map(path, &size) : NULL;
    enum names_state state = is_there ? NAMES_DAMAGED : NAMES_UNMAPPED;
    module->latest = true;
    if (text != NULL && symbols_of_perf_map(text, size, &module->symbols))
        state = NAMES_NAMED;
    tell_functions(module);
    tell_module(module, NAME_REPLY_DONE, state);
    intervals_release(&module->symbols);
    free(text);
}

void module_names(const struct name_request *request, const struct name_sink *sink)
{
    struct module module = {.request = request, .sink = sink};
    (void)elf_version(EV_CURRENT); /* libelf wants to be asked; both are of one version */
    tell_module(&module, NAME_REPLY_BEGINS, NAMES_UNASKED);
    if (request->module.kind == NAMES_JIT)
        answer_jit(&module);
    else
        answer_file(&module);
    free(module.function);
}

/* late_process.c - /proc/PID and process_vm_readv(2), with bounds.
 *
 * Laws of this file: late_process.h has them. */
#include "record/attach/late_process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "footprint/base/arrays.h"
#include "footprint/base/proc.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "record/recorder.h"
#include "shim/shared/late_report.h"

#define MAPPINGS_MOST 200000u
#define MODULES_MOST  8192u
#define HEADERS_MOST  64u
#define DYNAMIC_MOST  1024u
#define FRAMES_MOST   (512u << 20) /* of the frames' tables, in all */
#define PREPARED_MOST (64u << 20)
#define BYTES_MOST    (64u << 20)
#define CHAIN_MOST    4096u
#define NAME_MOST     64u
#define STATUS_BYTES  (1u << 20) /* with as many groups as a process can have */
#define MAPS_MOST     (256u << 20)

/* ---- /proc ------------------------------------------------------------------------------------- */

const char *late_status(pid_t pid, pid_t thread)
{
    static char status[STATUS_BYTES];
    char name[64];
    snprintf(name, sizeof name, "task/%d/status", (int)thread);
    (void)fp_proc_read(pid, name, status, sizeof status); /* else it is empty */
    return status;
}

/* The caller's; NULL: it cannot be opened. */
static char *read_maps(pid_t pid)
{
    char path[64];
    size_t room = 1 << 16, length = 0;
    ssize_t got = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = res_calloc(1, room);
    while (room <= MAPS_MOST &&
           ((got = read(fd, text + length, room - 1 - length)) > 0 || (got < 0 && errno == EINTR))) {
        length += got > 0 ? (size_t)got : 0;
        if (length + 1 == room)
            text = res_realloc(text, room *= 2, 1);
    }
    close(fd);
    text[length] = '\0';
    return text;
}

bool late_process_ended(const struct late_process *process)
{
    struct pollfd ended = {process->pidfd, POLLIN, 0};
    if (process->pidfd >= 0 && poll(&ended, 1, 0) > 0)
        return true;
    return rec_start_ticks(process->pid) != process->start_ticks;
}

bool late_is_stopped(pid_t pid)
{
    struct fp_proc_stat stat;
    return fp_proc_stat(pid, &stat) && stat.state == 'T';
}

bool late_process_is_late(const struct late_process *process)
{
    return process->deadline_ns != 0 && fp_now_ns() > process->deadline_ns;
}

bool late_process_read(const struct late_process *process, uint64_t address, void *ret_bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        if (late_process_is_late(process))
            return false;
        const struct iovec to = {(char *)ret_bytes + done, size - done};
        const struct iovec from = {(void *)(uintptr_t)(address + done), size - done};
        const ssize_t got = process_vm_readv(process->pid, &to, 1, &from, 1, 0);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

void late_rest(long ns)
{
    const struct timespec time = {0, ns};
    (void)nanosleep(&time, NULL);
}

/* ---- modules ----------------------------------------------------------------------------------- */

/* The entries of its dynamic section that are asked for later. The loader has made addresses of them. */
static void read_dynamic(const struct late_process *process, struct late_module *module)
{
    Elf64_Dyn entries[DYNAMIC_MOST];
    const size_t bytes = module->dynamic_bytes < sizeof entries ? module->dynamic_bytes : sizeof entries;
    if (module->dynamic == 0 || !late_process_read(process, module->dynamic, entries, bytes))
        return;
    for (size_t i = 0; i < bytes / sizeof entries[0] && entries[i].d_tag != DT_NULL; i++) {
        const uint64_t value = entries[i].d_un.d_ptr;
        const uint64_t address = value < module->bias ? value + module->bias : value;
        if (entries[i].d_tag == DT_SYMTAB)
            module->symbols = address;
        else if (entries[i].d_tag == DT_STRTAB)
            module->names = address;
        else if (entries[i].d_tag == DT_GNU_HASH)
            module->hash = address;
    }
}

/* Returns false where no ELF header of our machine stands there. */
static bool read_headers(const struct late_process *process, struct late_module *module,
                         Elf64_Phdr *ret_headers, size_t *ret_count)
{
    Elf64_Ehdr head;
    if (!late_process_read(process, module->first, &head, sizeof head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum == 0 || head.e_phnum > HEADERS_MOST ||
        head.e_phoff > (1u << 20) ||
        !late_process_read(process, module->first + head.e_phoff, ret_headers,
                           head.e_phnum * sizeof(Elf64_Phdr)))
        return false;
    *ret_count = head.e_phnum;
    return true;
}

static void read_module(const struct late_process *process, struct late_module *module)
{
    Elf64_Phdr headers[HEADERS_MOST];
    size_t count;
    if (!read_headers(process, module, headers, &count))
        return;
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr < lowest)
            lowest = headers[i].p_vaddr;
    module->bias = module->first - (lowest == UINT64_MAX ? 0 : lowest & ~UINT64_C(4095));
    for (size_t i = 0; i < count; i++) {
        const uint64_t begin = module->bias + headers[i].p_vaddr, past = begin + headers[i].p_memsz;
        if (headers[i].p_type == PT_LOAD && past > module->data_past)
            module->data_past = past;
        if (headers[i].p_type != PT_DYNAMIC)
            continue;
        module->dynamic = begin;
        module->dynamic_bytes = headers[i].p_memsz;
    }
    read_dynamic(process, module);
    if (late_symbol(process, module, LATE_REPORT_NAME) != 0)
        module->kind = LATE_RECORDER;
    else if (late_symbol(process, module, "gnu_get_libc_version") != 0)
        module->kind = LATE_LIBC;
    else if (late_symbol(process, module, "_dl_catch_exception") != 0 ||
             late_symbol(process, module, "__tls_get_addr") != 0 ||
             late_symbol(process, module, "malloc") != 0)
        module->kind = LATE_NEVER;
}

static void release_mappings(struct late_process *process)
{
    for (size_t i = 0; i < process->module_count; i++) {
        free(process->modules[i].path);
        free(process->modules[i].frames_copy);
    }
    free(process->modules);
    free(process->mappings);
}

/* One that was there before, at the same place and of the same name, is taken over. */
static struct late_module take_module(struct late_process *process, uint64_t first, uint64_t past,
                                      const char *path)
{
    for (size_t i = 0; i < process->module_count; i++) {
        struct late_module *former = &process->modules[i];
        if (former->path == NULL || former->first != first || former->past != past ||
            strcmp(former->path, path) != 0)
            continue;
        const struct late_module taken = *former;
        *former = (struct late_module){0};
        return taken;
    }
    struct late_module fresh = {.first = first, .past = past, .path = res_strdup(path)};
    read_module(process, &fresh);
    return fresh;
}

struct line {
    uint64_t first, past, offset;
    char rights[5];
    unsigned long inode;
    const char *path;
};

static bool read_line(char *text, struct line *ret)
{
    unsigned long long first, past, offset;
    int at = 0;
    if (sscanf(text, "%llx-%llx %4s %llx %*s %lu %n", &first, &past, ret->rights, &offset, &ret->inode, &at) <
            5 ||
        first >= past)
        return false;
    ret->first = first;
    ret->past = past;
    ret->offset = offset;
    ret->path = at > 0 ? text + at : "";
    return true;
}

static void add_mapping(struct late_process *fresh, const struct line *line, int module)
{
    if (!FP_GROW(fresh->mappings, fresh->mapping_room, fresh->mapping_count + 1))
        res_no_memory();
    fresh->mappings[fresh->mapping_count++] = (struct late_mapping){
        line->first, line->past, line->rights[1] == 'w', line->rights[2] == 'x', module};
}

static void add_module(struct late_process *fresh, struct late_module module)
{
    if (!FP_GROW(fresh->modules, fresh->module_room, fresh->module_count + 1))
        res_no_memory();
    fresh->modules[fresh->module_count++] = module;
}

/* First the extents, since a module is known by them; then what is read of each. */
static void take_lines(struct late_process *process, char *text, struct late_process *fresh)
{
    struct late_module open = {0}; /* its path is borrowed */
    size_t first_mapping = 0;
    char *next;
    for (char *at = text; *at != '\0' && fresh->mapping_count < MAPPINGS_MOST; at = next) {
        struct line line;
        next = strchr(at, '\n');
        if (next != NULL)
            *next++ = '\0';
        else
            next = at + strlen(at);
        if (!read_line(at, &line))
            continue;
        const bool same = open.path != NULL && line.inode != 0 && strcmp(line.path, open.path) == 0 &&
                          line.offset != 0;
        if (!same && open.path != NULL) {
            const int number = (int)fresh->module_count;
            add_module(fresh, take_module(process, open.first, open.past, open.path));
            for (size_t i = first_mapping; i < fresh->mapping_count; i++)
                fresh->mappings[i].module = number;
            open.path = NULL;
        }
        if (same) {
            open.past = line.past;
        } else if (line.inode != 0 && line.offset == 0 && line.rights[0] == 'r' && line.path[0] == '/' &&
                   fresh->module_count < MODULES_MOST) {
            open = (struct late_module){
                .first = line.first, .past = line.past, .path = (char *)(uintptr_t)line.path};
            first_mapping = fresh->mapping_count;
        }
        add_mapping(fresh, &line, -1);
    }
}

bool late_process_refresh(struct late_process *process)
{
    struct late_process fresh = *process;
    char *text = read_maps(process->pid);
    fresh.mappings = NULL;
    fresh.modules = NULL;
    fresh.mapping_count = fresh.mapping_room = fresh.module_count = fresh.module_room = 0;
    if (text == NULL || *text == '\0') {
        free(text);
        return false;
    }
    take_lines(process, text,
               &fresh); /* the last line is of a stack or the kernel, and ends the last module */
    free(text);
    release_mappings(process);
    *process = fresh;
    return true;
}

const struct late_mapping *late_mapping_of(const struct late_process *process, uint64_t address)
{
    size_t low = 0, high = process->mapping_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (address >= process->mappings[middle].past)
            low = middle + 1;
        else
            high = middle;
    }
    return low < process->mapping_count && address >= process->mappings[low].first ? &process->mappings[low]
                                                                                   : NULL;
}

struct late_module *late_module_of_kind(const struct late_process *process, enum late_kind kind)
{
    for (size_t i = 0; i < process->module_count; i++)
        if (process->modules[i].kind == kind && process->modules[i].symbols != 0)
            return &process->modules[i];
    return NULL;
}

/* ---- symbols ------------------------------------------------------------------------------------ */

static bool has_name(const struct late_process *process, const struct late_module *module, uint32_t index,
                     const char *name, uint64_t *ret_address)
{
    Elf64_Sym symbol;
    char found[NAME_MOST] = "";
    const size_t length = strlen(name) + 1;
    if (length > sizeof found ||
        !late_process_read(process, module->symbols + (uint64_t)index * sizeof symbol, &symbol,
                           sizeof symbol) ||
        symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 ||
        !late_process_read(process, module->names + symbol.st_name, found, length) ||
        memcmp(found, name, length) != 0)
        return false;
    *ret_address = module->bias + symbol.st_value;
    return *ret_address >=
           module->first; /* what lies past it, as zeroed data may, is not in its file's mappings */
}

uint64_t late_symbol(const struct late_process *process, const struct late_module *module, const char *name)
{
    uint32_t head[4], index, word, hash = 5381;
    uint64_t address = 0;
    if (module->symbols == 0 || module->names == 0 || module->hash == 0 ||
        !late_process_read(process, module->hash, head, sizeof head) || head[0] == 0)
        return 0;
    for (const char *letter = name; *letter != '\0'; letter++)
        hash = hash * 33 + (unsigned char)*letter;
    const uint64_t buckets = module->hash + 16 + (uint64_t)head[2] * 8,
                   chain = buckets + (uint64_t)head[0] * 4;
    if (!late_process_read(process, buckets + (uint64_t)(hash % head[0]) * 4, &index, sizeof index) ||
        index < head[1])
        return 0;
    for (unsigned steps = 0; steps < CHAIN_MOST; steps++, index++) {
        if (!late_process_read(process, chain + (uint64_t)(index - head[1]) * 4, &word, sizeof word))
            return 0;
        if ((word | 1) == (hash | 1) && has_name(process, module, index, name, &address))
            return address;
        if ((word & 1) != 0)
            return 0;
    }
    return 0;
}

uint64_t late_module_bytes(const struct late_process *process, const struct late_module *module, bool in_code,
                           const void *bytes, size_t size)
{
    uint64_t found = 0;
    for (size_t i = 0; found == 0 && i < process->mapping_count; i++) {
        const struct late_mapping *mapping = &process->mappings[i];
        const uint64_t length = mapping->past - mapping->first;
        if (mapping->module < 0 || &process->modules[mapping->module] != module ||
            !(in_code ? mapping->executable : mapping->writable) || length > BYTES_MOST)
            continue;
        char *copy = res_calloc(1, length);
        const char *at = late_process_read(process, mapping->first, copy, length)
                             ? memmem(copy, length, bytes, size)
                             : NULL;
        found = at != NULL ? mapping->first + (uint64_t)(at - copy) : 0;
        free(copy);
    }
    return found;
}

/* ---- frames' tables ----------------------------------------------------------------------------- */

/* The first of the tables: the one that is searched, or the frames it leads to; behind both the segment goes on for less than before
 * them. */
static uint64_t first_of_tables(const struct late_process *process, const struct late_module *module,
                                const Elf64_Phdr *segment, uint64_t table)
{
    enum { HEAD_BYTES = 8, DISTANCE_AT = 4, BY_DISTANCE = 0x1b };
    unsigned char head[HEAD_BYTES];
    int32_t distance;
    if (!late_process_read(process, module->bias + table, head, sizeof head) || head[1] != BY_DISTANCE)
        return segment->p_vaddr;
    memcpy(&distance, head + DISTANCE_AT, sizeof distance);
    const uint64_t frames = table + DISTANCE_AT + (uint64_t)(int64_t)distance;
    const uint64_t first = frames < table ? frames : table;
    return first > segment->p_vaddr ? first : segment->p_vaddr;
}

static void read_frames(struct late_process *process, struct late_module *module)
{
    Elf64_Phdr headers[HEADERS_MOST];
    size_t count;
    uint64_t table = 0;
    module->looked = true;
    if (!read_headers(process, module, headers, &count))
        return;
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_GNU_EH_FRAME)
            table = headers[i].p_vaddr;
    for (size_t i = 0; table != 0 && i < count; i++) {
        const Elf64_Phdr *segment = &headers[i];
        if (segment->p_type != PT_LOAD || table < segment->p_vaddr ||
            table - segment->p_vaddr >= segment->p_filesz)
            continue;
        const uint64_t first = first_of_tables(process, module, segment, table);
        const uint64_t size = segment->p_filesz - (first - segment->p_vaddr);
        if (size > FRAMES_MOST - process->frames_bytes)
            return;
        char *copy = res_calloc(1, size);
        if (!late_process_read(process, module->bias + first, copy, size)) {
            free(copy);
            return;
        }
        process->frames_bytes += size;
        module->frames_copy = copy;
        module->frames_at = module->bias + first;
        module->frames = (struct cfi_segment){(uintptr_t)copy, (uintptr_t)copy + size,
                                              (uintptr_t)copy + (table - first)};
        return;
    }
}

void late_frames_prepare(struct late_process *process)
{
    for (size_t i = 0; i < process->module_count && process->frames_bytes < PREPARED_MOST; i++)
        if (!process->modules[i].looked)
            read_frames(process, &process->modules[i]);
}

/* The table tells all by distances, so it holds for the copy as for the module. */
uint32_t late_frame_rule(struct late_process *process, int number, uint64_t address)
{
    if (number < 0 || (size_t)number >= process->module_count)
        return cfi_rule_make(CFI_NONE, 0);
    struct late_module *module = &process->modules[number];
    if (!module->looked)
        read_frames(process, module);
    if (module->frames.header == 0)
        return cfi_rule_make(CFI_NONE, 0);
    return cfi_find(&module->frames, (uintptr_t)(address - module->frames_at + module->frames.start));
}

/* ---- open and closed ---------------------------------------------------------------------------- */

void late_process_name(pid_t pid, char ret_name[LATE_NAME_BYTES])
{
    char name[64], *rest = NULL;
    (void)fp_proc_read(pid, "comm", name, sizeof name); /* else it is empty */
    const char *part = strtok_r(name, "/\n", &rest);
    char *plain = res_text_plain(part != NULL ? part : "");
    snprintf(ret_name, LATE_NAME_BYTES, "%s", plain[0] != '\0' ? plain : "program");
    free(plain);
}

bool late_process_open(pid_t pid, uint64_t within_ns, struct late_process *ret_process, char **ret_problem)
{
    *ret_process = (struct late_process){.pid = pid,
                                         .pidfd = fp_pidfd_open(pid),
                                         .start_ticks = rec_start_ticks(pid),
                                         .deadline_ns = fp_now_ns() + within_ns};
    late_process_name(pid, ret_process->name);
    *ret_problem = late_refuse(ret_process);
    return *ret_problem == NULL;
}

void late_process_close(struct late_process *process)
{
    release_mappings(process);
    fp_close(&process->pidfd);
}

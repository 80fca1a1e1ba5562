/* dwarf_frames.c - see names_child.h. */
#include "sites/names/names_child.h"

#include <dwarf.h>
#include <stdlib.h>

#include "footprint/base/arrays.h"

#define DEPTH_MAX 100u

/* A unit of DWARF. If it is split, `skeleton` has ranges and lines, `die` the functions; else both are the same. */
struct unit {
    Dwarf_Die skeleton, die;
    struct intervals functions;    /* what: the offset of its DIE */
    bool has_functions, has_local; /* they were read; also those within functions */
};

struct dwarf_frames {
    struct unit **units;
    size_t unit_count, unit_capacity;
    struct intervals ranges; /* what: the number of its unit */
};

/* ---- units ---------------------------------------------------------------------------------- */

static bool add_ranges(struct intervals *intervals, Dwarf_Die *die, const void *what)
{
    Dwarf_Addr base, start, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;)
        if (end > start && start > 0 && !intervals_add(intervals, start, end - start, 0, what))
            return false;
    return true;
}

static bool add_unit(struct dwarf_frames *frames, Dwarf_Die *skeleton, const Dwarf_Die *split)
{
    struct unit *unit = FP_GROW(frames->units, frames->unit_capacity, frames->unit_count + 1)
                            ? calloc(1, sizeof *unit)
                            : NULL;
    if (unit == NULL)
        return false;
    *unit = (struct unit){.skeleton = *skeleton, .die = split->addr != NULL ? *split : *skeleton};
    frames->units[frames->unit_count] = unit;
    return add_ranges(&frames->ranges, skeleton, (const void *)(uintptr_t)frames->unit_count++);
}

struct dwarf_frames *dwarf_frames_open(Dwarf *dwarf)
{
    struct dwarf_frames *frames = calloc(1, sizeof *frames);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t kind;
    while (frames != NULL && dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &die, &split) == 0)
        if ((kind == DW_UT_compile || kind == DW_UT_skeleton) && !add_unit(frames, &die, &split)) {
            dwarf_frames_close(frames);
            return NULL;
        }
    if (frames != NULL && frames->ranges.count == 0) {
        dwarf_frames_close(frames);
        return NULL;
    }
    if (frames != NULL)
        intervals_sort(&frames->ranges);
    return frames;
}

void dwarf_frames_close(struct dwarf_frames *frames)
{
    if (frames == NULL)
        return;
    for (size_t i = 0; i < frames->unit_count; i++) {
        intervals_release(&frames->units[i]->functions);
        free(frames->units[i]);
    }
    intervals_release(&frames->ranges);
    free(frames->units);
    free(frames);
}

/* ---- functions ------------------------------------------------------------------------------ */

static bool holds_functions(int tag, bool local)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        return true;
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
        return local;
    default:
        return false;
    }
}

static bool add_functions(struct intervals *functions, Dwarf_Die *parent, bool local, unsigned depth)
{
    Dwarf_Die die;
    if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return true;
    do {
        const int tag = dwarf_tag(&die);
        const uintptr_t offset = dwarf_dieoffset(&die);
        if (tag == DW_TAG_subprogram && !add_ranges(functions, &die, (const void *)offset))
            return false;
        if (holds_functions(tag, local) && !add_functions(functions, &die, local, depth + 1))
            return false;
    } while (dwarf_siblingof(&die, &die) == 0);
    return true;
}

static bool find_function(struct unit *unit, uint64_t address, bool local, Dwarf_Die *ret)
{
    if (local ? !unit->has_local : !unit->has_functions) {
        intervals_release(&unit->functions);
        (void)add_functions(&unit->functions, &unit->die, local, 0); /* without memory fewer are known */
        intervals_sort(&unit->functions);
        unit->has_functions = true;
        unit->has_local = local;
    }
    const struct interval *found = intervals_cover(&unit->functions, address, false);
    return found != NULL &&
           dwarf_offdie(dwarf_cu_getdwarf(unit->die.cu), (uintptr_t)found->what, ret) != NULL;
}

/* ---- one address ---------------------------------------------------------------------------- */

static const char *name_of(Dwarf_Die *die)
{
    static const unsigned linked[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
    Dwarf_Attribute memory;
    for (size_t i = 0; i < sizeof linked / sizeof linked[0]; i++) {
        const char *name = dwarf_formstring(dwarf_attr_integrate(die, linked[i], &memory));
        if (name != NULL)
            return name;
    }
    return dwarf_diename(die);
}

static uint32_t number_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute memory;
    Dwarf_Word number;
    return dwarf_formudata(dwarf_attr(die, attribute, &memory), &number) == 0 && number <= UINT32_MAX
               ? (uint32_t)number
               : 0;
}

/* Sets the place where the function that die is inlined into calls it. */
static void set_call(struct unit *unit, Dwarf_Die *die, struct dwarf_frame *caller)
{
    Dwarf_Files *files;
    size_t count;
    const uint32_t file = number_of(die, DW_AT_call_file);
    if (dwarf_getsrcfiles(&unit->die, &files, &count) == 0 && file < count)
        caller->file = dwarf_filesrc(files, file, NULL, NULL);
    caller->line = number_of(die, DW_AT_call_line);
}

static size_t add_inlined(struct unit *unit, Dwarf_Die *parent, uint64_t address, struct dwarf_frame *frames,
                          size_t count, unsigned depth)
{
    Dwarf_Die die;
    if (depth == DEPTH_MAX || count == NAMES_INLINED_MAX || dwarf_child(parent, &die) != 0)
        return count;
    do {
        const int tag = dwarf_tag(&die);
        if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
            dwarf_haspc(&die, address) != 1)
            continue;
        if (tag == DW_TAG_inlined_subroutine) {
            set_call(unit, &die, &frames[count - 1]);
            frames[count++] = (struct dwarf_frame){.name = name_of(&die)};
        }
        return add_inlined(unit, &die, address, frames, count, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
    return count;
}

size_t dwarf_frames_find(struct dwarf_frames *frames, uint64_t address,
                         struct dwarf_frame ret_frames[NAMES_INLINED_MAX])
{
    const struct interval *range = intervals_cover(&frames->ranges, address, false);
    struct unit *unit = range != NULL ? frames->units[(uintptr_t)range->what] : NULL;
    Dwarf_Addr start = 0;
    Dwarf_Die die;
    int line = 0;
    size_t count = 1;
    if (unit == NULL)
        return 0;
    ret_frames[0] = (struct dwarf_frame){0};
    if (find_function(unit, address, false, &die) || find_function(unit, address, true, &die)) {
        if (dwarf_entrypc(&die, &start) == 0)
            ret_frames[0].start = start;
        ret_frames[0].name = name_of(&die);
        count = add_inlined(unit, &die, address, ret_frames, count, 0);
    }
    Dwarf_Line *source = dwarf_getsrc_die(&unit->skeleton, address);
    if (source != NULL && dwarf_lineno(source, &line) == 0) {
        ret_frames[count - 1].line = line > 0 ? (uint32_t)line : 0;
        ret_frames[count - 1].file = dwarf_linesrc(source, NULL, NULL);
    }
    return ret_frames[0].name == NULL && ret_frames[0].file == NULL ? 0 : count;
}

/* cfi.c - .eh_frame_hdr searched, one FDE run up to an instruction.
 *
 * Laws: those of cfi.h. */
#include "shim/sites/cfi.h"

#include <string.h>

#define REMEMBERED_MOST 8u

/* Encodings of pointers, DW_EH_PE_*, as compilers have them in these sections. */
enum {
    PE_ABSOLUTE = 0x00,
    PE_U4 = 0x03,
    PE_U8 = 0x04,
    PE_S4 = 0x0b,
    PE_S8 = 0x0c,
    PE_PC_RELATIVE = 0x10,
    PE_DATA_RELATIVE = 0x30,
    PE_INDIRECT = 0x80,
    PE_OMIT = 0xff,
};

/* ---- bytes ---------------------------------------------------------------------------------------- */

struct bytes_at {
    uintptr_t at, end;
    bool bad; /* something ended outside; all reads are 0 from then on */
};

static uint64_t take(struct bytes_at *bytes, unsigned count)
{
    uint64_t value = 0;
    if (bytes->bad || bytes->end - bytes->at < count) {
        bytes->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)((const uint8_t *)bytes->at)[i] << 8 * i;
    bytes->at += count;
    return value;
}

static uint64_t take_leb(struct bytes_at *bytes, bool is_signed)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint64_t byte = take(bytes, 1);
        value |= (byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (is_signed && (byte & 0x40) && shift + 7 < 64)
            value |= ~UINT64_C(0) << (shift + 7);
        return value;
    }
    bytes->bad = true;
    return 0;
}

static uint64_t take_uleb(struct bytes_at *bytes)
{
    return take_leb(bytes, false);
}

static int64_t take_sleb(struct bytes_at *bytes)
{
    return (int64_t)take_leb(bytes, true);
}

static void skip(struct bytes_at *bytes, uint64_t count)
{
    if (count > bytes->end - bytes->at)
        bytes->bad = true;
    else
        bytes->at += count;
}

/* A pointer in its encoding; indirect ones are not needed here. */
static uint64_t take_pointer(struct bytes_at *bytes, unsigned encoding)
{
    const uintptr_t place = bytes->at;
    uint64_t value = 0;
    switch (encoding & 0x0f) {
    case PE_ABSOLUTE:
    case PE_U8:
    case PE_S8:
        value = take(bytes, 8);
        break;
    case PE_U4:
        value = take(bytes, 4);
        break;
    case PE_S4:
        value = (uint64_t)(int64_t)(int32_t)take(bytes, 4);
        break;
    default:
        bytes->bad = true;
        return 0;
    }
    switch (encoding & 0x70) {
    case 0:
        return value;
    case PE_PC_RELATIVE:
        return value + place;
    default:
        bytes->bad = true;
        return 0;
    }
}

/* ---- the table of .eh_frame_hdr --------------------------------------------------------------------- */

struct table_entry {
    int32_t address, fde; /* from .eh_frame_hdr's begin */
};

/* The FDE that may cover an address: that of the last function that begins at or before it. 0: none. */
static uintptr_t search_table(const struct cfi_segment *segment, uintptr_t address)
{
    struct bytes_at bytes = {segment->header, segment->end, false};
    const uint64_t version = take(&bytes, 1), frame_encoding = take(&bytes, 1),
                   count_encoding = take(&bytes, 1), table_encoding = take(&bytes, 1);
    if (version != 1 || table_encoding != (PE_DATA_RELATIVE | PE_S4) || count_encoding == PE_OMIT ||
        frame_encoding == PE_OMIT)
        return 0;
    (void)take_pointer(&bytes, (unsigned)frame_encoding); /* the table has what it leads to */
    uint64_t count = take_pointer(&bytes, (unsigned)count_encoding);
    if (bytes.bad || count == 0 || count > (bytes.end - bytes.at) / sizeof(struct table_entry) ||
        bytes.at % _Alignof(struct table_entry) != 0)
        return 0;
    const struct table_entry *first = (const struct table_entry *)bytes.at;
    const int64_t wanted = (int64_t)(address - segment->header);
    if (wanted < first->address)
        return 0;
    while (count > 1) {
        const uint64_t half = count / 2;
        first += first[half].address <= wanted ? half : 0;
        count -= half;
    }
    return segment->header + (uintptr_t)(intptr_t)first->fde;
}

/* ---- CIE and FDE -------------------------------------------------------------------------------------- */

struct function {
    struct bytes_at common, own;         /* instructions of the CIE and of the FDE */
    uint64_t code_unit, return_register; /* another one in another processor's code */
    int64_t data_unit;
    unsigned encoding; /* of addresses */
    uintptr_t begin;
    bool is_signal;
};

/* The bytes of a CIE or FDE that begins there, behind its length. */
static struct bytes_at enter(const struct cfi_segment *segment, uintptr_t at)
{
    struct bytes_at bytes = {at, segment->end, at < segment->start || at > segment->end};
    const uint64_t length = take(&bytes, 4);
    if (length == 0 || length == 0xffffffff || length > bytes.end - bytes.at) /* a terminator; 64 bits */
        bytes.bad = true;
    else
        bytes.end = bytes.at + length;
    return bytes;
}

/* The letters of an augmentation, of which 'z' stands first. Sets the encoding and whether it is a signal's. */
static bool read_augmentation(struct bytes_at *bytes, uintptr_t letters, size_t count,
                              struct function *function)
{
    const uint64_t length = take_uleb(bytes);
    if (bytes->bad || length > bytes->end - bytes->at)
        return false;
    struct bytes_at data = {bytes->at, bytes->at + length, false};
    bytes->at += length;
    for (size_t i = 1; i < count; i++) {
        switch (((const char *)letters)[i]) {
        case 'R':
            function->encoding = (unsigned)take(&data, 1);
            break;
        case 'L':
            (void)take(&data, 1);
            break;
        case 'P': {
            const unsigned encoding = (unsigned)take(&data, 1);
            (void)take_pointer(&data,
                               encoding & 0x7f & ~0x70u); /* only its bytes: where it leads is not asked */
            break;
        }
        case 'S':
            function->is_signal = true;
            break;
        case 'B': /* return addresses are signed by another key */
            if (!CODE_IS_SIGNED)
                return false;
            break;
        default:
            return false;
        }
    }
    return !data.bad;
}

static bool read_cie(const struct cfi_segment *segment, uintptr_t at, struct function *function)
{
    struct bytes_at bytes = enter(segment, at);
    const uint64_t id = take(&bytes, 4), version = take(&bytes, 1);
    if (bytes.bad || id != 0 || (version != 1 && version != 3))
        return false;
    const uintptr_t letters = bytes.at;
    const char *end = memchr((const void *)letters, 0, bytes.end - bytes.at);
    if (end == NULL)
        return false;
    const size_t count = (uintptr_t)end - letters;
    bytes.at += count + 1;
    function->code_unit = take_uleb(&bytes);
    function->data_unit = take_sleb(&bytes);
    function->return_register = version == 1 ? take(&bytes, 1) : take_uleb(&bytes);
    if (bytes.bad)
        return false;
    if (count > 0 && (*(const char *)letters != 'z' || !read_augmentation(&bytes, letters, count, function)))
        return false;
    function->common = bytes;
    return !bytes.bad;
}

enum found { FOUND_NOT, FOUND_DAMAGED, FOUND };

static enum found find_function(const struct cfi_segment *segment, uintptr_t address,
                                struct function *function)
{
    const uintptr_t at = search_table(segment, address);
    if (at == 0)
        return FOUND_NOT;
    struct bytes_at bytes = enter(segment, at);
    const uintptr_t place = bytes.at;
    const uint64_t back = take(&bytes, 4);
    if (bytes.bad || back == 0 || back > place - segment->start || !read_cie(segment, place - back, function))
        return FOUND_DAMAGED;
    function->begin = (uintptr_t)take_pointer(&bytes, function->encoding);
    const uint64_t length = take_pointer(&bytes, function->encoding & 0x0f);
    if (bytes.bad)
        return FOUND_DAMAGED;
    if (address < function->begin || address - function->begin >= length)
        return FOUND_NOT;
    skip(&bytes, take_uleb(&bytes)); /* its augmentation: where the exceptions' table is */
    function->own = bytes;
    return bytes.bad ? FOUND_DAMAGED : FOUND;
}

/* ---- instructions ----------------------------------------------------------------------------------------- */

enum cfa { CFA_REGISTER, CFA_AT_FRAME, CFA_OTHER };

struct row {
    enum cfa cfa;
    uint64_t cfa_register;
    int64_t cfa_offset;
    struct saved frame, returns; /* the frame register, the return address */
    bool sp_saved;               /* by a rule of its own, and not the CFA */
    bool ends;                   /* the return address is undefined */
};

struct machine {
    struct row row, first, remembered[REMEMBERED_MOST];
    unsigned depth;
    uintptr_t location;
};

static void save(struct row *row, uint64_t number, struct saved saved)
{
    if (number == REGISTER_FRAME) {
        row->frame = saved;
    } else if (number == REGISTER_RETURN) {
        row->ends = false;
        row->returns = saved;
    } else if (number == REGISTER_SP) {
        row->sp_saved = true;
    }
}

/* The rule of a register by an offset from the CFA. */
static void save_at(struct row *row, uint64_t number, int64_t offset)
{
    save(row, number, (struct saved){SAVED_AT_CFA, offset});
}

/* A rule of a kind that is followed for no register. */
static void save_otherwise(struct row *row, uint64_t number)
{
    save(row, number, (struct saved){SAVED_LOST, 0});
}

static void restore(struct row *row, const struct row *first, uint64_t number)
{
    if (number == REGISTER_FRAME) {
        row->frame = first->frame;
    } else if (number == REGISTER_RETURN) {
        row->ends = first->ends;
        row->returns = first->returns;
    } else if (number == REGISTER_SP) {
        row->sp_saved = first->sp_saved;
    }
}

static struct bytes_at take_block(struct bytes_at *bytes)
{
    const uint64_t length = take_uleb(bytes);
    struct bytes_at block = {bytes->at, bytes->at, false};
    skip(bytes, length);
    if (!bytes->bad)
        block.end = bytes->at;
    else
        block.bad = true;
    return block;
}

#define OP_BREG_FRAME (0x70u + REGISTER_FRAME)
#define OP_DEREF      0x06u

/* The two expressions that functions have which align their stack: CFA = *(frame register + n), and that is saved where it points
 * to. */
static void define_by_expression(struct bytes_at block, struct row *row)
{
    row->cfa = CFA_OTHER;
    if (take(&block, 1) != OP_BREG_FRAME)
        return;
    row->cfa_offset = take_sleb(&block);
    if (take(&block, 1) == OP_DEREF && !block.bad && block.at == block.end)
        row->cfa = CFA_AT_FRAME;
}

static void save_by_expression(struct bytes_at block, struct row *row, uint64_t number)
{
    if (number == REGISTER_FRAME && take(&block, 1) == OP_BREG_FRAME && take_sleb(&block) == 0 &&
        !block.bad && block.at == block.end)
        row->frame = (struct saved){SAVED_AT_FRAME, 0};
    else
        save_otherwise(row, number);
}

static void define(struct row *row, uint64_t number, int64_t offset)
{
    row->cfa = CFA_REGISTER;
    row->cfa_register = number;
    row->cfa_offset = offset;
}

/* One of the instructions that have a byte of their own. Returns false where it is none that is known. */
static bool run_extended(unsigned code, struct bytes_at *bytes, const struct function *function,
                         struct machine *machine)
{
    struct row *row = &machine->row;
    uint64_t number;
    switch (code) {
    case 0x00: /* nop */
        return true;
    case 0x01: /* set_loc */
        machine->location = (uintptr_t)take_pointer(bytes, function->encoding);
        return true;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        machine->location += (uintptr_t)(take(bytes, code == 4 ? 4 : code - 1) * function->code_unit);
        return true;
    case 0x05: /* offset_extended */
        number = take_uleb(bytes);
        save_at(row, number, (int64_t)take_uleb(bytes) * function->data_unit);
        return true;
    case 0x06: /* restore_extended */
        restore(row, &machine->first, take_uleb(bytes));
        return true;
    case 0x07: /* undefined */
        number = take_uleb(bytes);
        save_otherwise(row, number);
        row->ends |= number == REGISTER_RETURN;
        return true;
    case 0x08: /* same_value */
        number = take_uleb(bytes);
        if (number == REGISTER_FRAME || CODE_IS_LINKED)
            save(row, number, (struct saved){SAVED_NOT, 0});
        else
            save_otherwise(row, number);
        return true;
    case 0x09: /* register */
        save_otherwise(row, take_uleb(bytes));
        (void)take_uleb(bytes);
        return true;
    case 0x0a: /* remember_state */
        if (machine->depth == REMEMBERED_MOST)
            return false;
        machine->remembered[machine->depth++] = *row;
        return true;
    case 0x0b: /* restore_state */
        if (machine->depth == 0)
            return false;
        *row = machine->remembered[--machine->depth];
        return true;
    case 0x0c: /* def_cfa */
        number = take_uleb(bytes);
        define(row, number, (int64_t)take_uleb(bytes));
        return true;
    case 0x0d: /* def_cfa_register */
        define(row, take_uleb(bytes), row->cfa_offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        row->cfa_offset = (int64_t)take_uleb(bytes);
        return true;
    case 0x0f: /* def_cfa_expression */
        define_by_expression(take_block(bytes), row);
        return true;
    case 0x10: /* expression */
        number = take_uleb(bytes);
        save_by_expression(take_block(bytes), row, number);
        return true;
    case 0x11: /* offset_extended_sf */
        number = take_uleb(bytes);
        save_at(row, number, take_sleb(bytes) * function->data_unit);
        return true;
    case 0x12: /* def_cfa_sf */
        number = take_uleb(bytes);
        define(row, number, take_sleb(bytes) * function->data_unit);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        row->cfa_offset = take_sleb(bytes) * function->data_unit;
        return true;
    case 0x14: /* val_offset */
    case 0x15: /* val_offset_sf: the same number of bytes */
        save_otherwise(row, take_uleb(bytes));
        (void)take_uleb(bytes);
        return true;
    case 0x16: /* val_expression */
        number = take_uleb(bytes);
        (void)take_block(bytes);
        save_otherwise(row, number);
        return true;
    case 0x2d: /* AARCH64_negate_ra_state: each word is taken without the signature that it may have */
        return CODE_IS_SIGNED;
    case 0x2e: /* GNU_args_size */
        (void)take_uleb(bytes);
        return true;
    default:
        return false;
    }
}

/* Run instructions up to the first that is for addresses behind. Returns false where one is not known. */
static bool run(struct bytes_at bytes, const struct function *function, uintptr_t address,
                struct machine *machine)
{
    while (bytes.at < bytes.end && !bytes.bad) {
        const unsigned code = (unsigned)take(&bytes, 1), low = code & 0x3f;
        switch (code & 0xc0) {
        case 0x40: /* advance_loc */
            machine->location += (uintptr_t)(low * function->code_unit);
            break;
        case 0x80: /* offset */
            save_at(&machine->row, low, (int64_t)take_uleb(&bytes) * function->data_unit);
            break;
        case 0xc0: /* restore */
            restore(&machine->row, &machine->first, low);
            break;
        default:
            if (!run_extended(code, &bytes, function, machine))
                return false;
        }
        if (machine->location > address)
            return !bytes.bad;
    }
    return !bytes.bad;
}

/* ---- the rule -------------------------------------------------------------------------------------------------- */

static uint32_t rule_of(const struct row *row)
{
    enum cfi_kind kind = CFI_OTHER;
    uint32_t bits;
    if (row->ends)
        return cfi_rule_make(CFI_END, 0);
    if (row->cfa == CFA_AT_FRAME)
        kind = CFI_AT_FRAME;
    else if (row->cfa == CFA_REGISTER && row->cfa_register == REGISTER_SP)
        kind = CFI_SP;
    else if (row->cfa == CFA_REGISTER && row->cfa_register == REGISTER_FRAME)
        kind = CFI_FRAME;
    const bool indirect = kind == CFI_AT_FRAME;
    if (kind == CFI_OTHER || row->sp_saved ||
        !processor_rule(indirect, indirect ? -row->cfa_offset : row->cfa_offset, row->frame, row->returns,
                        &bits))
        return cfi_rule_make(CFI_OTHER, 0);
    return cfi_rule_make(kind, bits);
}

uint32_t cfi_find(const struct cfi_segment *segment, uintptr_t address)
{
    struct function function = {.encoding = PE_ABSOLUTE};
    struct machine machine = {.row = {.cfa = CFA_OTHER, .returns = RETURN_FIRST}};
    const enum found found = find_function(segment, address, &function);
    if (found != FOUND || function.return_register != REGISTER_RETURN)
        return cfi_rule_make(found == FOUND_NOT ? CFI_NONE : CFI_OTHER, 0);
    if (function.is_signal)
        return cfi_rule_make(CFI_SIGNAL, 0);
    machine.location = function.begin;
    if (!run(function.common, &function, address, &machine))
        return cfi_rule_make(CFI_OTHER, 0);
    machine.first = machine.row;
    if (!run(function.own, &function, address, &machine))
        return cfi_rule_make(CFI_OTHER, 0);
    return rule_of(&machine.row);
}

uintptr_t cfi_begin(const struct cfi_segment *segment, uintptr_t address)
{
    struct function function = {.encoding = PE_ABSOLUTE};
    return find_function(segment, address, &function) == FOUND ? function.begin : 0;
}

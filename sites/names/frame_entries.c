/* frame_entries.c - see names_child.h. The layout: Linux Standard Base 5.0, "Exception Frames". */
#include "sites/names/names_child.h"

#include <dwarf.h>
#include <gelf.h>

#include "footprint/base/bytes.h"

#define HEADER_BYTES 12u
#define PAIR_BYTES   8u

/* The bytes from an address to its segment's end. False: no segment of the file holds it. */
static bool place(const struct frame_entries *entries, uint64_t address, struct cursor *ret)
{
    for (size_t i = 0; i < entries->segment_count; i++) {
        const uint64_t into = address - entries->segments[i].address;
        if (address >= entries->segments[i].address && into < entries->segments[i].size) {
            const uint8_t *first = entries->bytes + entries->segments[i].offset;
            *ret = (struct cursor){.at = first + into, .end = first + entries->segments[i].size};
            return true;
        }
    }
    return false;
}

static const uint8_t *take(struct cursor *cursor, uint64_t count)
{
    static const uint8_t zeroes[8];
    const uint8_t *at = cursor->at;
    if (cursor->bad || count > (uint64_t)(cursor->end - cursor->at)) {
        cursor->bad = true;
        return zeroes;
    }
    cursor->at += count;
    return at;
}

/* The size of a pointer in this encoding; 0: another than linkers write. */
static unsigned encoded_bytes(uint8_t encoding)
{
    static const uint8_t bytes[16] = {8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8};
    return bytes[encoding & 0x0f];
}

static uint64_t get_encoded(struct cursor *cursor, uint8_t encoding)
{
    switch (encoded_bytes(encoding)) {
    case 2:
        return get_u16(take(cursor, 2));
    case 4:
        return get_u32(take(cursor, 4));
    case 8:
        return get_u64(take(cursor, 8));
    default:
        cursor->bad = true;
        return 0;
    }
}

/* The encoding of pointers in the entries of a common entry (CIE). */
static uint8_t encoding_of(struct cursor *cie)
{
    uint8_t encoding = DW_EH_PE_absptr;
    char augmentation[8] = "";
    (void)take(cie, 8); /* length and id */
    const uint8_t version = get_byte(cie);
    for (size_t i = 0; i < sizeof augmentation; i++)
        if ((augmentation[i] = (char)get_byte(cie)) == '\0')
            break;
    (void)get_varint(cie); /* code alignment */
    (void)get_varint(cie); /* data alignment, a signed one of the same bytes */
    (void)(version == 1 ? get_byte(cie) : get_varint(cie)); /* the register of the return address */
    if (augmentation[0] != 'z' || augmentation[sizeof augmentation - 1] != '\0')
        return augmentation[0] == '\0' ? encoding : DW_EH_PE_omit;
    (void)get_varint(cie);
    for (const char *letter = augmentation + 1; *letter != '\0'; letter++) {
        if (*letter == 'R')
            encoding = get_byte(cie);
        else if (*letter == 'L')
            (void)get_byte(cie);
        else if (*letter == 'P')
            (void)get_encoded(cie, get_byte(cie));
        else if (*letter != 'S' && *letter != 'B')
            cie->bad = true;
    }
    return encoding;
}

/* The bytes of the function of an entry (FDE); 0: it cannot be read. */
static uint64_t length_of(const struct frame_entries *entries, uint64_t entry_address)
{
    struct cursor entry, cie;
    if (!place(entries, entry_address, &entry))
        return 0;
    const uint32_t length = get_u32(take(&entry, 4));
    const uint32_t back = get_u32(take(&entry, 4));
    if (entry.bad || length == 0 || length == UINT32_MAX || back == 0 ||
        !place(entries, entry_address + 4 - back, &cie))
        return 0;
    const uint8_t encoding = encoding_of(&cie);
    (void)get_encoded(&entry, encoding); /* the begin, which the table has */
    const uint64_t bytes = get_encoded(&entry, encoding);
    return cie.bad || entry.bad ? 0 : bytes;
}

static void add_segment(struct frame_entries *entries, const GElf_Phdr *header, size_t file_bytes)
{
    if (entries->segment_count == FRAME_SEGMENTS_MAX || header->p_offset > file_bytes ||
        header->p_filesz > file_bytes - header->p_offset)
        return;
    entries->segments[entries->segment_count].address = header->p_vaddr;
    entries->segments[entries->segment_count].offset = header->p_offset;
    entries->segments[entries->segment_count].size = header->p_filesz;
    entries->segment_count++;
}

void frame_entries_open(Elf *elf, struct frame_entries *ret)
{
    size_t headers, file_bytes;
    GElf_Phdr header;
    GElf_Ehdr file;
    struct cursor table;
    *ret = (struct frame_entries){.bytes = (const uint8_t *)elf_rawfile(elf, &file_bytes)};
    if (ret->bytes == NULL || elf_getphdrnum(elf, &headers) != 0 || gelf_getehdr(elf, &file) == NULL ||
        file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_ident[EI_DATA] != ELFDATA2LSB)
        return;
    for (size_t i = 0; i < headers && gelf_getphdr(elf, (int)i, &header) != NULL; i++) {
        if (header.p_type == PT_LOAD)
            add_segment(ret, &header, file_bytes);
        if (header.p_type == PT_GNU_EH_FRAME)
            ret->header_address = header.p_vaddr;
    }
    if (ret->header_address == 0 || !place(ret, ret->header_address, &table))
        return;
    const uint8_t *first = take(
        &table, HEADER_BYTES); /* version, encodings: of .eh_frame's place, the count, the table */
    if (table.bad || first[0] != 1 || encoded_bytes(first[1]) != 4 || first[2] != DW_EH_PE_udata4 ||
        first[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
        return;
    const size_t most = (size_t)(table.end - table.at) / PAIR_BYTES, told = get_u32(first + 8);
    ret->table = table.at;
    ret->count = told < most ? told : most;
}

static uint64_t at(const struct frame_entries *entries, size_t pair, size_t word)
{
    const uint8_t *bytes = entries->table + pair * PAIR_BYTES + word * 4;
    return entries->header_address + (uint64_t)(int64_t)(int32_t)get_u32(bytes);
}

bool frame_entries_find(const struct frame_entries *entries, uint64_t address, uint64_t *ret_start)
{
    size_t low = 0, high = entries->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (at(entries, middle, 0) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - at(entries, low - 1, 0) >= length_of(entries, at(entries, low - 1, 1)))
        return false;
    *ret_start = at(entries, low - 1, 0);
    return true;
}

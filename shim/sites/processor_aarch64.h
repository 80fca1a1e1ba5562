/* processor_aarch64.h - see cfi.h. A call leaves the return address in x30; the function saves it where it likes, mostly
 * right above x29. Both may be anywhere in the frame, so a slot does not tell the caller's sp.
 *
 *   rule   15 bits: words from the base to the CFA; 12 bits: words from the base up to the saved x30, or PLACE_LINK;
 *          1 bit: x29 is saved right below x30, else it is the caller's */
#ifndef MALLAB_SHIM_SITES_PROCESSOR_AARCH64_H
#define MALLAB_SHIM_SITES_PROCESSOR_AARCH64_H

enum { REGISTER_FRAME = 29, REGISTER_SP = 31, REGISTER_RETURN = 30 }; /* DWARF's numbers */

#define PROCESSOR_IS_KNOWN true
#define CODE_BITS          48u
#define CODE_STEP          4u
#define CODE_LOW_BITS      2u
#define CODE_IS_LINKED     true
#define CODE_IS_SIGNED     true /* PAC: above the address' bits */
#define RECORD_ENDS_AT_SP  false

#define RETURN_FIRST ((struct saved){SAVED_NOT, 0})

/* Places in the frame of a signal: of the siginfo that sp points to and the ucontext behind it. */
#define CONTEXT_FRAME 544u
#define CONTEXT_LINK  552u
#define CONTEXT_SP    560u
#define CONTEXT_CODE  568u
#define CONTEXT_BYTES 576u

#define PLACE_LINK  4095u
#define PLACE_PAIR  (1u << 27)
#define OFFSET_MOST 32767

static inline uint64_t processor_code(uint64_t word)
{
    return word & ((UINT64_C(1) << CODE_BITS) - 1);
}

static inline bool processor_rule(bool indirect, int64_t offset, struct saved frame, struct saved link,
                                  uint32_t *ret_bits)
{
    if (indirect || offset < 0 || offset % 8 != 0 || offset / 8 > OFFSET_MOST)
        return false;
    *ret_bits = (uint32_t)(offset / 8);
    if (link.how == SAVED_NOT && frame.how == SAVED_NOT) {
        *ret_bits |= PLACE_LINK << 15;
        return true;
    }
    const int64_t place = offset + link.bytes;
    if (link.how != SAVED_AT_CFA || place < 0 || place % 8 != 0 || place / 8 >= PLACE_LINK)
        return false;
    *ret_bits |= (uint32_t)(place / 8) << 15;
    if (frame.how == SAVED_AT_CFA && frame.bytes == link.bytes - 8)
        *ret_bits |= PLACE_PAIR;
    else if (frame.how != SAVED_NOT)
        return false;
    return true;
}

static inline uint64_t processor_offset(uint32_t bits)
{
    return (uint64_t)(bits & OFFSET_MOST) * 8;
}

static inline uint64_t processor_slot(uint32_t bits, uint64_t base, uint64_t cfa)
{
    return base + (uint64_t)(bits >> 15 & PLACE_LINK) * 8;
}

static inline bool processor_is_linked(uint32_t bits)
{
    return (bits >> 15 & PLACE_LINK) == PLACE_LINK;
}

static inline bool processor_keeps_frame(uint32_t bits)
{
    return !(bits & PLACE_PAIR);
}

static inline bool processor_loses_frame(uint32_t bits)
{
    return false;
}

static inline bool processor_needs_frame(uint32_t bits)
{
    return false;
}

static inline uint64_t processor_frame_place(uint32_t bits, uint64_t slot, uint64_t frame)
{
    return slot - 8;
}

static inline bool processor_is_call(const uint8_t *end)
{
    uint32_t code;
    memcpy(&code, end - 4, sizeof code);
    return (code & 0xfc000000u) == 0x94000000u || (code & 0xfefff000u) == 0xd63f0000u; /* bl; blr, blraa */
}

static inline uint64_t processor_call_target(const uint8_t *end)
{
    uint32_t code;
    memcpy(&code, end - 4, sizeof code);
    if ((code & 0xfc000000u) != 0x94000000u)
        return 0;
    const int64_t words = (int64_t)((uint64_t)code << 38) >> 38;
    return (uint64_t)(uintptr_t)(end - 4) + (uint64_t)(words * 4);
}

/* CPython's have a frame record. */
#define PROCESSOR_THUNK_BEFORE 0u
#define PROCESSOR_THUNK_BYTES  1u

static inline uint32_t processor_thunk(const uint8_t *code)
{
    return 0;
}

static inline bool processor_is_signal_return(const uint8_t *code)
{
    static const uint32_t wanted[2] = {0xd2801168u, 0xd4000001u}; /* mov x8, 139; svc 0 */
    return memcmp(code, wanted, sizeof wanted) == 0;
}

static inline __attribute__((always_inline)) void processor_here(uint64_t *ret_code, uint64_t *ret_sp,
                                                                 uint64_t *ret_frame)
{
    __asm__ volatile("adr %0, .+4\n\tmov %1, sp\n\tmov %2, x29"
                     : "=&r"(*ret_code), "=&r"(*ret_sp), "=&r"(*ret_frame)
                     :
                     : "x30"); /* so that the function has saved it before */
}

struct walk_frame {
    uint64_t slot, address, fp, sp;
    uint32_t rule, node;
};

static inline struct walk_frame walk_frame_at(uint64_t slot, uint64_t sp, uint64_t address, uint64_t fp)
{
    return (struct walk_frame){slot, address, fp, sp, 0, 0};
}

static inline uint64_t walk_frame_sp(const struct walk_frame *frame)
{
    return frame->sp;
}

static inline bool walk_frame_has_sp(const struct walk_frame *frame, uint64_t sp)
{
    return frame->sp == sp;
}

#endif

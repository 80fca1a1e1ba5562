/* processor_x86_64.h - see cfi.h. A call pushes the return address: it stands right below the CFA.
 *
 *   rule   16 bits: words from the base to the CFA; 12 bits: words from the CFA down to the saved rbp, or PLACE_* */
#ifndef MALLAB_SHIM_SITES_PROCESSOR_X86_64_H
#define MALLAB_SHIM_SITES_PROCESSOR_X86_64_H

enum { REGISTER_FRAME = 6, REGISTER_SP = 7, REGISTER_RETURN = 16 }; /* DWARF's numbers */

#if defined(__x86_64__)
#define PROCESSOR_IS_KNOWN true
#else
#define PROCESSOR_IS_KNOWN false
#endif
#define CODE_BITS         47u   /* of an address of user space */
#define CODE_STEP         1u    /* added to the address of an instruction that a signal interrupted */
#define CODE_LOW_BITS     0u    /* that are 0 in each address of code */
#define CODE_IS_LINKED    false /* a register may have the return address */
#define CODE_IS_SIGNED    false /* return addresses have bits that are not the address' */
#define RECORD_ENDS_AT_SP true  /* a frame record is the frame's outermost part */

#define RETURN_FIRST ((struct saved){SAVED_AT_CFA, -8}) /* before any instruction */

/* Places in the ucontext that sp points to in the frame of a signal; its places are part of the kernel's interface. */
#define CONTEXT_FRAME 120u
#define CONTEXT_SP    160u
#define CONTEXT_CODE  168u
#define CONTEXT_BYTES 176u
#define CONTEXT_LINK  0u /* no register has the return address */

#define PLACE_AT_FRAME 4095u
#define PLACE_LOST     4094u
#define OFFSET_MOST    65535

static inline uint64_t processor_code(uint64_t word)
{
    return word;
}

/* processor_rule - the bits of a rule by which the CFA lies so many bytes above the base; indirect: is the word so many below it.
 * Returns false where they cannot tell that. */
static inline bool processor_rule(bool indirect, int64_t offset, struct saved frame, struct saved link,
                                  uint32_t *ret_bits)
{
    uint32_t place = PLACE_LOST;
    if (offset < 0 || offset % 8 != 0 || offset / 8 > OFFSET_MOST || link.how != SAVED_AT_CFA ||
        link.bytes != -8)
        return false;
    if (frame.how == SAVED_NOT)
        place = 0;
    else if (frame.how == SAVED_AT_FRAME)
        place = PLACE_AT_FRAME;
    else if (frame.how == SAVED_AT_CFA && frame.bytes < 0 && frame.bytes % 8 == 0 &&
             frame.bytes > -8 * (int64_t)PLACE_LOST)
        place = (uint32_t)(-frame.bytes / 8);
    *ret_bits = (uint32_t)(offset / 8) | place << 16;
    return true;
}

static inline uint64_t processor_offset(uint32_t bits)
{
    return (uint64_t)(bits & OFFSET_MOST) * 8;
}

static inline uint64_t processor_slot(uint32_t bits, uint64_t base, uint64_t cfa)
{
    return cfa - 8;
}

static inline bool processor_is_linked(uint32_t bits)
{
    return false;
}

static inline bool processor_keeps_frame(uint32_t bits)
{
    return bits >> 16 == 0;
}

static inline bool processor_loses_frame(uint32_t bits)
{
    return bits >> 16 == PLACE_LOST;
}

static inline bool processor_needs_frame(uint32_t bits) /* to find where it is saved */
{
    return bits >> 16 == PLACE_AT_FRAME;
}

/* processor_frame_place - where the caller's frame register is saved. */
static inline uint64_t processor_frame_place(uint32_t bits, uint64_t slot, uint64_t frame)
{
    return bits >> 16 == PLACE_AT_FRAME ? frame : slot + 8 - (uint64_t)(bits >> 16) * 8;
}

/* processor_is_call - whether the bytes before an address are a call; 8 of them are readable. */
static inline bool processor_is_call(const uint8_t *end)
{
    if (end[-5] == 0xe8) /* relative */
        return true;
    for (int bytes = 2; bytes <= 7; bytes++)
        if (end[-bytes] == 0xff && (end[1 - bytes] & 0x38) == 0x10) /* by register or memory */
            return true;
    return false;
}

/* processor_call_target - where the call before an address leads to, which processor_is_call tells of; 0: wherever a register or
 * memory says. */
static inline uint64_t processor_call_target(const uint8_t *end)
{
    int32_t far;
    memcpy(&far, end - 4, sizeof far);
    return end[-5] == 0xe8 ? (uint64_t)(uintptr_t)end + (uint64_t)(int64_t)far : 0;
}

/* processor_thunk - the rule of code that only calls on and returns, as the bytes around a return address into it say: sub rsp, 8; call
 * by a register; here; add rsp, 8; ret. So is what CPython writes for each function (-X perf).
 * code      PROCESSOR_THUNK_BYTES, of which PROCESSOR_THUNK_BEFORE are before the address.
 * Returns   the bits of its rule, of kind CFI_SP; 0: it is none. */
#define PROCESSOR_THUNK_BEFORE 6u
#define PROCESSOR_THUNK_BYTES  11u

static inline uint32_t processor_thunk(const uint8_t *code)
{
    static const uint8_t begins[] = {0x48, 0x83, 0xec, 0x08, 0xff}, ends[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
    const bool is_one = memcmp(code, begins, sizeof begins) == 0 && (code[5] & 0xf8) == 0xd0 &&
                        memcmp(code + PROCESSOR_THUNK_BEFORE, ends, sizeof ends) == 0;
    return is_one ? 16 / 8 : 0; /* the frame register is the caller's */
}

/* processor_is_signal_return - whether a handler returns to these 8 bytes, which no unwind table may tell of. */
static inline bool processor_is_signal_return(const uint8_t *code)
{
    return false;
}

/* processor_here - the three of one moment, which the unwind table of the very function that this stands in describes. */
static inline __attribute__((always_inline)) void processor_here(uint64_t *ret_code, uint64_t *ret_sp,
                                                                 uint64_t *ret_frame)
{
#if defined(__x86_64__)
    __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
                     : "=&a"(*ret_code), "=&c"(*ret_sp), "=&d"(*ret_frame));
#endif
}

/* walk.h has the words. */
struct walk_frame {
    uint64_t slot, address, fp;
    uint32_t rule; /* by which one comes to the next outer one, and WALK_NEEDS_FP */
    uint32_t node; /* of the kept ones */
};

static inline struct walk_frame walk_frame_at(uint64_t slot, uint64_t sp, uint64_t address, uint64_t fp)
{
    return (struct walk_frame){slot, address, fp, 0, 0};
}

static inline uint64_t walk_frame_sp(const struct walk_frame *frame)
{
    return frame->slot + 8;
}

/* walk_frame_has_sp - given that its slot was compared. */
static inline bool walk_frame_has_sp(const struct walk_frame *frame, uint64_t sp)
{
    return true;
}

#endif

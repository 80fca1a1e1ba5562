/* late_stack.c - a stack walked by the rules of the modules' own tables (shim/sites/cfi.h), from outside.
 *
 * Laws of this file: nothing is guessed. A frame that no rule leads out of makes the place unknown. */
#include "record/attach/late_process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "footprint/base/support.h"

#define FRAMES_MOST 1024u
#define STACK_MOST  (8u << 20)  /* bytes of it that are looked at */
#define STACK_LEAST (96u << 10) /* room that a call of the loader is to have */
#define GROWS_LEAST (24u << 10) /* of a main thread's, which grows by itself */

#if defined(__x86_64__)

struct walk {
    struct late_process *process;
    uint64_t high; /* above the stack's bytes, which begin at sp */
    unsigned char *bytes;
    uint64_t shift; /* from the stack to the bytes */
    uint64_t code, sp, fp;
};

struct stack {
    enum late_kind kinds[FRAMES_MOST]; /* innermost first */
    unsigned count;
    bool whole;
};

static bool begin(struct late_process *process, const struct user_regs_struct *registers, struct walk *ret)
{
    const struct late_mapping *mapping = late_mapping_of(process, registers->rsp);
    if (mapping == NULL || !mapping->writable || registers->rsp % 8 != 0)
        return false;
    const uint64_t most = mapping->past - registers->rsp, size = most < STACK_MOST ? most : STACK_MOST;
    *ret = (struct walk){.process = process,
                         .high = registers->rsp + size,
                         .code = registers->rip,
                         .sp = registers->rsp,
                         .fp = registers->rbp};
    if (size < 8)
        return false;
    ret->bytes = res_calloc(1, size);
    ret->shift = (uintptr_t)ret->bytes - ret->sp;
    if (late_process_read(process, ret->sp, ret->bytes, size))
        return true;
    free(ret->bytes);
    ret->bytes = NULL;
    return false;
}

/* One frame outwards. Returns 1; 0 where there is no caller; -1 where it is not known. */
static int step(struct walk *walk, int module, bool innermost)
{
    const uint32_t rule = late_frame_rule(walk->process, module, walk->code - !innermost);
    const enum cfi_kind kind = cfi_rule_kind(rule);
    uint64_t slot;
    if (kind != CFI_SP && kind != CFI_FRAME && kind != CFI_AT_FRAME)
        return kind == CFI_END ? 0 : -1;
    return cfi_step(rule, walk->shift, walk->high, &walk->sp, &walk->fp, &slot, &walk->code) ? 1 : -1;
}

static struct stack take(struct walk *walk)
{
    struct stack stack = {.count = 0};
    for (int more = 1; more > 0 && stack.count < FRAMES_MOST;) {
        const struct late_mapping *mapping = late_mapping_of(walk->process, walk->code);
        if (mapping == NULL || !mapping->executable || mapping->module < 0)
            break;
        stack.kinds[stack.count] = walk->process->modules[mapping->module].kind;
        more = step(walk, mapping->module, stack.count == 0);
        stack.count++;
        stack.whole = more == 0;
    }
    return stack;
}

/* ---- what a place is worth ---------------------------------------------------------------------- */

/* Counts the outermost frames that start a thread, or main: those of libc, at most two, and behind them the program's own start. 0: it does not begin so. */
static unsigned starting_frames(const struct stack *stack)
{
    unsigned at = stack->count, libc = 0;
    if (at > 0 && stack->kinds[at - 1] == LATE_PROGRAM)
        at--;
    const bool is_main = at < stack->count;
    while (at > 0 && stack->kinds[at - 1] == LATE_LIBC) {
        at--;
        libc++;
    }
    return libc > 2 || libc < (is_main ? 1u : 2u) ? 0 : stack->count - at;
}

static enum late_spot judge(const struct late_process *process, const struct stack *stack,
                            const struct user_regs_struct *registers)
{
    unsigned waiting = 0, at = 0;
    for (unsigned i = 0; i < stack->count; i++) {
        if (stack->kinds[i] == LATE_RECORDER)
            return LATE_PLACE_RECORDER;
        if (stack->kinds[i] == LATE_NEVER)
            return LATE_PLACE_LIBC;
    }
    const unsigned start = starting_frames(stack);
    if (!stack->whole || start == 0)
        return LATE_PLACE_UNKNOWN;
    while (at < stack->count - start && stack->kinds[at] == LATE_LIBC)
        at++;
    if (at > 0 && (!late_wait_may_call(process, registers, &waiting) || at > waiting))
        return LATE_PLACE_LIBC;
    for (unsigned i = at; i < stack->count - start; i++)
        if (stack->kinds[i] == LATE_LIBC)
            return LATE_PLACE_LIBC;
    return at < stack->count - start ? LATE_PLACE_SAFE : LATE_PLACE_LIBC;
}

static bool has_room(const struct late_process *process, uint64_t sp)
{
    const struct late_mapping *mapping = late_mapping_of(process, sp);
    const struct late_mapping *last = &process->mappings[process->mapping_count - 1];
    /* The first thread's stack is the highest of what is mapped for writing, and grows. */
    bool grows = true;
    for (const struct late_mapping *at = mapping + 1; at <= last; at++)
        grows = grows && !at->writable;
    return sp - mapping->first >= (grows ? GROWS_LEAST : STACK_LEAST);
}

enum late_spot late_stack_place(struct late_process *process, const struct user_regs_struct *registers)
{
    struct walk walk;
    if (!begin(process, registers, &walk))
        return LATE_PLACE_UNKNOWN;
    const struct stack stack = take(&walk);
    free(walk.bytes);
    const enum late_spot place = judge(process, &stack, registers);
    return place == LATE_PLACE_SAFE && !has_room(process, registers->rsp) ? LATE_PLACE_NARROW : place;
}

#endif

const char *late_place_words(enum late_spot place)
{
    switch (place) {
    case LATE_PLACE_LIBC:
        return "were all within libc, the loader or the allocator, or waited for a lock there";
    case LATE_PLACE_UNKNOWN:
        return "were all in code of which it is not known what called it, such as what a program makes while "
               "it "
               "runs";
    case LATE_PLACE_NARROW:
        return "had all too little room on their stacks";
    default:
        return "were all within the recorder";
    }
}

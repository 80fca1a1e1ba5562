/* kin.c - kin by number, and what is taken for used where nothing is known of any of them. */
#include "convert/ops/kin.h"

#define PAGE_BYTES      4096u
#define SIZES           (FP_LARGE_BYTES / PAGE_BYTES + 1) /* by whole pages; all large ones are one */
#define FIRST_PAGE_ONLY 1u /* of FP_SHARE_WHOLE: of a page and more some bytes */

enum made { MADE_PLAINLY, MADE_BY_RESIZE, MADE_BY_CALLOC, MADE_WAYS };
_Static_assert(MADE_WAYS *SIZES <= WL_KINS, "a number for each");

static enum made made_by(unsigned call)
{
    if (call == FP_CALL_CALLOC)
        return MADE_BY_CALLOC;
    return call == FP_CALL_REALLOC || call == FP_CALL_REALLOCARRAY ? MADE_BY_RESIZE : MADE_PLAINLY;
}

bool conv_has_kin(unsigned call, uint64_t bytes)
{
    if (call == FP_CALL_CALLOC)
        return bytes >= PAGE_BYTES;
    return bytes >= FP_MIDDLING_BYTES && bytes < FP_LARGE_BYTES;
}

/* Of an object from calloc nobody says that the program ever writes to it: its first page is a guess that is right for most. */
enum fp_status conv_tell_kin(struct wl_writer *writer, unsigned call, struct conv_object object)
{
    const enum made made = made_by(call);
    const uint32_t size = object.bytes < FP_LARGE_BYTES ? (uint32_t)object.bytes / PAGE_BYTES : SIZES - 1;
    return wl_writer_touched_as(writer, object.id, made * SIZES + size,
                                made == MADE_BY_CALLOC ? FIRST_PAGE_ONLY : FP_SHARE_WHOLE);
}

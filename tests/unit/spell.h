/* spell.h - a workload's ops as text, for comparing: call letter, id, size, thread when it is not the first. */
#ifndef MALLAB_TESTS_SPELL_H
#define MALLAB_TESTS_SPELL_H

#include "footprint/wl/workload.h"
#include "unit/harness.h"
#include "unit/readers.h"

/* "m1:100 r1:300 f1@2": static, valid until the next call. R is a realloc of NULL. */
static inline const char *spell_ops(const char *path)
{
    static char text[4096];
    struct wl_window window;
    size_t at = 0;
    WL_READER *reader = wl_opened(path);
    text[0] = '\0';
    while (wl_reader_next(reader, &window) == FP_OK) {
        uint32_t run = 0, left = window.run_count > 0 ? window.runs[0].op_count : 0;
        for (uint32_t i = 0; i < window.op_count && at < sizeof text; i++) {
            const struct wl_op *op = &window.ops[i];
            const bool fresh = (op->align_log2 & WL_OP_FRESH) != 0;
            while (left == 0)
                left = window.runs[++run].op_count;
            left--;
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%c%u", at > 0 ? " " : "",
                                   fresh ? 'R' : fp_call_name(op->call)[0], op->id);
            if (at < sizeof text &&
                (fp_call_kind_of(op->call) != FP_KIND_RELEASE || fp_call_tells_size(op->call)))
                at += (size_t)snprintf(text + at, sizeof text - at, ":%" PRIu64, op->size);
            if (at < sizeof text && window.runs[run].thread != 0)
                at += (size_t)snprintf(text + at, sizeof text - at, "@%u", window.runs[run].thread);
        }
    }
    return text;
}

#endif

/* export_text.c - a workload as text: an op a line, and all that its writer must know to make the same bytes again.
 *
 * docs/importing.md is the grammar, convert/text/workload_text.c reads it. What follows from the ops by the writer's rules (waits,
 * windows, figures of the summary) is not in it, or in comments only. */
#include <inttypes.h>
#include <string.h>

#include "convert/export/export.h"
#include "convert/text/workload_text.h"

#define ENTRY_BYTES_MAX  200u  /* of meta text on one line, before it is escaped */
#define WINDOW_OPS_USUAL 8192u /* footprint/wl/wl_writer.c's default */

struct texting {
    struct conv_export_job *job;
    struct conv_export_file *file;
    const struct wl_window *window;
    uint64_t window_ops;
    uint32_t next_touched; /* of the window's */
    uint64_t time_ns;      /* that the reader believes in by now */
};

/* Printable bytes as they are; others, and the escape itself, as \xHH. */
static void put_escaped(struct conv_export_file *file, const char *text, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte > ' ' && byte != 0x7f && byte != '\\') {
            conv_export_byte(file, (char)byte);
        } else if (byte == ' ' && i > 0 && i + 1 < size) {
            conv_export_byte(file, ' '); /* at a line's ends it would not be seen */
        } else {
            conv_export_put(file, "\\x", 2);
            conv_export_byte(file, digits[byte >> 4]);
            conv_export_byte(file, digits[byte & 15]);
        }
    }
}

static void put_entry(struct conv_export_file *file, const char *keyword, const struct fp_meta *meta)
{
    const char *const parts[] = {meta->key, "=", meta->value};
    size_t room = ENTRY_BYTES_MAX;
    conv_export_text_put(file, keyword);
    conv_export_byte(file, ' ');
    for (size_t i = 0; i < 3; i++) {
        const char *part = parts[i];
        for (size_t left = strlen(part); left > 0;) {
            const size_t size = left < room ? left : room;
            put_escaped(file, part, size);
            part += size;
            left -= size;
            room -= size;
            if (room == 0) {
                conv_export_text_put(file, "\nmore ");
                room = ENTRY_BYTES_MAX;
            }
        }
    }
    conv_export_byte(file, '\n');
}

/* Finds the number of ops that the writer put in a window. Where the last is the largest, and no two came before it, of which one would
 * have been full, only its end tells whether it was: a full one ends with its last op, one that the end cut goes on to
 * the end. */
static enum fp_status find_window_ops(struct conv_export_job *job, uint64_t *ret_window_ops)
{
    const struct wl_summary *summary = job->summary;
    struct wl_window window;
    enum fp_status status;
    *ret_window_ops = summary->window_ops_max;
    if (summary->windows == 0 || summary->windows > 2)
        return FP_OK;
    for (uint64_t i = 0; i < summary->windows; i++) {
        status = conv_export_next(job, &window);
        if (status != FP_OK)
            return status;
    }
    wl_reader_rewind(job->reader);
    if (window.op_count == summary->window_ops_max &&
        window.facts.end_ns / FP_TIME_UNIT_NS == summary->duration_ns / FP_TIME_UNIT_NS)
        *ret_window_ops = summary->window_ops_max < WINDOW_OPS_USUAL ? WINDOW_OPS_USUAL
                          : summary->window_ops_max < WL_WINDOW_OPS_MAX
                              ? (uint64_t)summary->window_ops_max + 1
                              : WL_WINDOW_OPS_MAX;
    return FP_OK;
}

static void put_threads(struct texting *texting)
{
    const struct wl_summary *summary = texting->job->summary;
    struct conv_export_file *file = texting->file;
    for (uint32_t i = 0; i < summary->thread_count; i++) {
        const struct wl_thread *thread = &summary->threads[i];
        conv_export_print(
            file, "thread %" PRIu32 " %" PRIu32 "%s%s  # %" PRIu64 " ops, windows %" PRIu64 "-%" PRIu64 "\n",
            i, thread->thread_id, thread->is_main ? " main" : "", thread->exited ? " exited" : "",
            thread->ops, thread->first_window, thread->last_window);
    }
}

static enum fp_status put_head(struct texting *texting)
{
    struct conv_export_job *job = texting->job;
    const struct wl_reader_info *info = wl_reader_info(job->reader);
    enum fp_status status = find_window_ops(job, &texting->window_ops);
    if (status != FP_OK)
        return status;
    conv_export_text_put(texting->file, CONV_TEXT_MAGIC "\n");
    conv_export_text_put(texting->file,
                         "# An op a line: THREAD CALL OBJECT [SIZE] [x COUNT] [align BYTES] [fresh]; in the\n"
                         "# order of all threads. 'mallab convert' makes the workload of it again.\n");
    if (info->site_end > 0)
        conv_export_text_put(texting->file, "# The workload has call sites, which are not in here.\n");
    if (texting->window_ops > 0)
        conv_export_print(texting->file, "window_ops %" PRIu64 "\n", texting->window_ops);
    for (size_t i = 0; i < info->meta_count; i++)
        put_entry(texting->file, i < info->meta_first ? "meta" : "note", &info->meta[i]);
    put_threads(texting);
    return FP_OK;
}

/* A time is stored for some ops, and one for a window's end: the last op is said to have that one, unless it has its
 * own, which then is the end (or the workload's end is). A noted one has its line even if time stands: that it does is
 * what it says. */
static void put_time(struct texting *texting, const struct conv_export_op *op)
{
    const bool stored = op->noted || op->index % WL_TIME_STRIDE == 0;
    uint64_t time_ns = texting->time_ns;
    if (stored)
        time_ns = op->time_ns;
    else if (op->index + 1 == texting->window->op_count)
        time_ns = texting->window->facts.end_ns;
    if (time_ns == texting->time_ns && !op->noted)
        return;
    texting->time_ns = time_ns;
    conv_export_text_put(texting->file, "time ");
    conv_export_number(texting->file, time_ns);
    conv_export_byte(texting->file, '\n');
}

static void put_call(struct conv_export_file *file, unsigned call)
{
    for (const char *name = fp_call_name(call); *name != '\0'; name++)
        conv_export_byte(file, *name == ' ' ? '_' : *name);
}

static void put_touched(struct texting *texting, uint64_t number)
{
    const struct wl_window *window = texting->window;
    const uint32_t next = texting->next_touched;
    if (next >= window->touched_count || window->touched[next].op != number)
        return;
    texting->next_touched++;
    conv_export_print(texting->file, "touched %" PRIu32 "\n", window->touched[next].share);
}

static enum fp_status take(void *data, const struct conv_export_op *export_op)
{
    struct texting *texting = data;
    struct conv_export_file *file = texting->file;
    const struct wl_op *op = export_op->op;
    const bool releases = fp_call_kind_of(op->call) == FP_KIND_RELEASE;
    put_time(texting, export_op);
    conv_export_number(file, export_op->thread);
    conv_export_byte(file, ' ');
    put_call(file, op->call);
    conv_export_byte(file, ' ');
    conv_export_number(file, op->id);
    if (!releases || fp_call_tells_size(op->call) || op->size != 0) {
        conv_export_byte(file, ' ');
        conv_export_number(file, op->size);
    }
    if (fp_call_extra_of(op->call) == FP_EXTRA_COUNT) {
        conv_export_text_put(file, " x ");
        conv_export_number(file, op->count);
    } else if (fp_call_extra_of(op->call) == FP_EXTRA_ALIGNMENT) {
        conv_export_text_put(file, " align ");
        conv_export_number(file, UINT64_C(1) << op->align_log2);
    }
    conv_export_text_put(file, (op->align_log2 & WL_OP_FRESH) != 0 ? " fresh\n" : "\n");
    put_touched(texting, export_op->number);
    return file->status;
}

enum fp_status conv_export_text(struct conv_export_job *job)
{
    struct texting texting = {.job = job, .file = job->file};
    struct wl_window window;
    uint64_t number = 0;
    enum fp_status status = put_head(&texting);
    texting.window = &window;
    while (status == FP_OK && (status = conv_export_next(job, &window)) == FP_OK) {
        conv_export_print(job->file,
                          "# window %" PRIu64 ", op %" PRIu64 "; live bytes at its end %" PRIu64 "\n",
                          number++, window.facts.first_op, window.facts.live_bytes);
        texting.next_touched = 0;
        status = conv_export_each(&window, take, &texting);
        if (window.op_count < texting.window_ops && number < job->summary->windows)
            conv_export_text_put(job->file, "cut\n");
    }
    if (status != FP_END)
        return status;
    conv_export_print(job->file, "end %" PRIu64 "\n", job->summary->duration_ns);
    return FP_OK;
}

/* export.c - the table of formats; a job from the opened workload to the finished file; a workload as text.
 *
 * docs/importing.md is the grammar of the text, convert/text/workload_text.c reads it: an op a line, and all that its writer must know
 * to make the same bytes again. What follows from the ops by the writer's rules (waits, windows, figures of the summary) is not in it, or
 * in comments only. */
#include "convert/export/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/text/text_input.h"
#include "footprint/wl/wl_file.h"

#define ENTRY_BYTES_MAX  200u  /* of meta text on one line, before it is escaped */
#define WINDOW_OPS_USUAL 8192u /* footprint/wl/wl_writer.c's default */
#define BUFFER_BYTES     65536u

/* One export under way: a workload opened at its first window, and an output that is whole under its final name or not there. The first
 * failure sticks; what is put after it goes nowhere. */
struct conv_export_job {
    struct wl_reader *reader; /* before its first window */
    const struct wl_summary *summary;
    struct wl_file file;
    enum fp_status status; /* FP_OK until something failed; file.error says what */
    FILE *out;             /* buffers what goes to the file */
    const char *in_path;   /* as the user named it */
    const struct conv_options *options;
    struct conv_error *error;
    /* of a text */
    struct wl_window window;
    uint64_t window_ops;
    uint32_t next_touched, next_noted; /* of the window's */
    uint64_t time_ns;                  /* that the reader believes in by now */
};

static enum fp_status export_workload(struct conv_export_job *job);
static enum fp_status export_text(struct conv_export_job *job);

/* The first is the default. docs/importing.md tells of each. */
static const struct conv_export_format FORMATS[] = {
    {"workload", ".wl", export_workload},
    {"text", ".txt", export_text},
};

const struct conv_export_format *conv_export_find(const char *name)
{
    if (name == NULL)
        return &FORMATS[0];
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++)
        if (strcmp(FORMATS[i].name, name) == 0)
            return &FORMATS[i];
    return NULL;
}

const struct conv_export_format *conv_export_at(size_t number)
{
    return number < sizeof FORMATS / sizeof FORMATS[0] ? &FORMATS[number] : NULL;
}

char *conv_export_names(char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++)
        fp_text_more(ret_text, size, ", ", "%s", FORMATS[i].name);
    return ret_text;
}

/* The next window. Returns FP_OK, FP_END, or a status with job->error filled. Shows progress. */
static enum fp_status next_window(struct conv_export_job *job)
{
    const enum fp_status status = wl_reader_next(job->reader, &job->window);
    if (status == FP_OK && job->options->progress != NULL)
        job->options->progress(job->options->progress_data, job->window.facts.first_op,
                               job->window.facts.first_op, job->summary->ops);
    if (status == FP_OK || status == FP_END)
        return status;
    return conv_fail_with(job->error, job->in_path, wl_reader_error(job->reader));
}

/* The same bytes, after all of them were read and checked. */
static enum fp_status export_workload(struct conv_export_job *job)
{
    const struct wl_reader_info *info = wl_reader_info(job->reader);
    enum fp_status status;
    while ((status = next_window(job)) == FP_OK)
        continue;
    if (status != FP_END)
        return status;
    (void)fwrite(info->file, 1, info->file_bytes, job->out); /* job->status tells */
    return FP_OK;
}

/* ---- a text: its head ------------------------------------------------------------------------------- */

/* Printable bytes as they are; others, and the escape itself, as \xHH. */
static void put_escaped(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const bool is_inside = i > 0 && i + 1 < size; /* a blank at a line's ends would not be seen */
        if ((byte > ' ' && byte != 0x7f && byte != '\\') || (byte == ' ' && is_inside))
            putc_unlocked(byte, out);
        else
            fprintf(out, "\\x%02x", byte);
    }
}

static void put_entry(FILE *out, const char *keyword, const struct fp_meta *meta)
{
    const char *const parts[] = {meta->key, "=", meta->value};
    size_t room = ENTRY_BYTES_MAX;
    fprintf(out, "%s ", keyword);
    for (size_t i = 0; i < 3; i++) {
        const char *part = parts[i];
        for (size_t left = strlen(part); left > 0;) {
            const size_t size = left < room ? left : room;
            put_escaped(out, part, size);
            part += size;
            left -= size;
            room -= size;
            if (room == 0) {
                fputs("\nmore ", out);
                room = ENTRY_BYTES_MAX;
            }
        }
    }
    putc_unlocked('\n', out);
}

/* Finds the number of ops that the writer put in a window. Where the last is the largest, and no two came before it, of which one would
 * have been full, only its end tells whether it was: a full one ends with its last op, one that the end cut goes on to
 * the end. */
static enum fp_status find_window_ops(struct conv_export_job *job)
{
    const struct wl_summary *summary = job->summary;
    const struct wl_window *window = &job->window;
    job->window_ops = summary->window_ops_max;
    if (summary->windows == 0 || summary->windows > 2)
        return FP_OK;
    for (uint64_t i = 0; i < summary->windows; i++) {
        const enum fp_status status = next_window(job);
        if (status != FP_OK)
            return status;
    }
    wl_reader_rewind(job->reader);
    if (window->op_count == summary->window_ops_max &&
        window->facts.end_ns / FP_TIME_UNIT_NS == summary->duration_ns / FP_TIME_UNIT_NS)
        job->window_ops = summary->window_ops_max < WINDOW_OPS_USUAL ? WINDOW_OPS_USUAL
                          : summary->window_ops_max < WL_WINDOW_OPS_MAX
                              ? (uint64_t)summary->window_ops_max + 1
                              : WL_WINDOW_OPS_MAX;
    return FP_OK;
}

static void put_head(struct conv_export_job *job)
{
    const struct wl_reader_info *info = wl_reader_info(job->reader);
    fputs(CONV_TEXT_MAGIC
          "\n# An op a line: THREAD CALL OBJECT [SIZE] [x COUNT] [align BYTES] [fresh]; in the\n"
          "# order of all threads. 'mallab convert' makes the workload of it again.\n",
          job->out);
    if (info->site_end > 0)
        fputs("# The workload has call sites, which are not in here.\n", job->out);
    if (job->window_ops > 0)
        fprintf(job->out, "window_ops %" PRIu64 "\n", job->window_ops);
    for (size_t i = 0; i < info->meta_count; i++)
        put_entry(job->out, i < info->meta_first ? "meta" : "note", &info->meta[i]);
    for (uint32_t i = 0; i < job->summary->thread_count; i++) {
        const struct wl_thread *thread = &job->summary->threads[i];
        fprintf(job->out,
                "thread %" PRIu32 " %" PRIu32 "%s%s  # %" PRIu64 " ops, windows %" PRIu64 "-%" PRIu64 "\n", i,
                thread->thread_id, thread->is_main ? " main" : "", thread->exited ? " exited" : "",
                thread->ops, thread->first_window, thread->last_window);
    }
}

/* ---- its ops ------------------------------------------------------------------------------------------ */

/* In decimal, behind a text: faster than printf, which these lines would be most of the time of. Returns the place behind it. */
static char *put_number(char *to, const char *before, uint64_t number)
{
    char digits[20];
    char *at = digits + sizeof digits;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (*before != '\0')
        *to++ = *before++;
    while (at < digits + sizeof digits)
        *to++ = *at++;
    return to;
}

/* A time is stored for some ops, and one for a window's end: the last op is said to have that one, unless it has its
 * own, which then is the end (or the workload's end is). A noted one has its line even if time stands: that it does is
 * what it says. */
static void put_time(struct conv_export_job *job, uint32_t op)
{
    const struct wl_window *window = &job->window;
    const bool is_noted = job->next_noted < window->noted_count && window->noted[job->next_noted].op == op;
    uint64_t time_ns = job->time_ns;
    if (is_noted)
        time_ns = window->noted[job->next_noted++].time_ns;
    else if (op % WL_TIME_STRIDE == 0)
        time_ns = window->times_ns[op / WL_TIME_STRIDE];
    else if (op + 1 == window->op_count)
        time_ns = window->facts.end_ns;
    if (time_ns == job->time_ns && !is_noted)
        return;
    job->time_ns = time_ns;
    fprintf(job->out, "time %" PRIu64 "\n", time_ns);
}

static void put_op(FILE *out, uint32_t thread, const struct wl_op *op)
{
    const bool releases = fp_call_kind_of(op->call) == FP_KIND_RELEASE;
    char line[200], *at = put_number(line, "", thread);
    *at++ = ' ';
    for (const char *name = fp_call_name(op->call); *name != '\0'; name++)
        *at++ = *name == ' ' ? '_' : *name;
    at = put_number(at, " ", op->id);
    if (!releases || fp_call_tells_size(op->call) || op->size != 0)
        at = put_number(at, " ", op->size);
    if (fp_call_extra_of(op->call) == FP_EXTRA_COUNT)
        at = put_number(at, " x ", op->count);
    else if (fp_call_extra_of(op->call) == FP_EXTRA_ALIGNMENT)
        at = put_number(at, " align ", UINT64_C(1) << op->align_log2);
    at = stpcpy(at, (op->align_log2 & WL_OP_FRESH) != 0 ? " fresh\n" : "\n");
    (void)fwrite_unlocked(line, 1, (size_t)(at - line), out); /* job->status tells */
}

static void put_window(struct conv_export_job *job)
{
    const struct wl_window *window = &job->window;
    uint32_t op = 0;
    job->next_touched = job->next_noted = 0;
    for (uint32_t run = 0; run < window->run_count; run++)
        for (const uint32_t end = op + window->runs[run].op_count; op < end; op++) {
            put_time(job, op);
            put_op(job->out, window->runs[run].thread, &window->ops[op]);
            if (job->next_touched < window->touched_count &&
                window->touched[job->next_touched].op == window->facts.first_op + op)
                fprintf(job->out, "touched %" PRIu32 "\n", window->touched[job->next_touched++].share);
        }
}

static enum fp_status export_text(struct conv_export_job *job)
{
    uint64_t number = 0;
    enum fp_status status = find_window_ops(job);
    if (status == FP_OK)
        put_head(job);
    while (status == FP_OK && (status = next_window(job)) == FP_OK) {
        fprintf(job->out, "# window %" PRIu64 ", op %" PRIu64 "; live bytes at its end %" PRIu64 "\n",
                number++, job->window.facts.first_op, job->window.facts.live_bytes);
        put_window(job);
        if (job->window.op_count < job->window_ops && number < job->summary->windows)
            fputs("cut\n", job->out);
        status = job->status;
    }
    if (status != FP_END)
        return status;
    fprintf(job->out, "end %" PRIu64 "\n", job->summary->duration_ns);
    return FP_OK;
}

/* ---- the job -------------------------------------------------------------------------------- */

/* Takes from stdio. */
static ssize_t append(void *data, const char *bytes, size_t size)
{
    struct conv_export_job *job = data;
    if (job->status == FP_OK)
        job->status = wl_file_append(&job->file, bytes, size);
    return job->status == FP_OK ? (ssize_t)size : 0;
}

/* Write, and give the file its name. */
static enum fp_status write_all(const struct conv_export_format *format, struct conv_export_job *job,
                                const char *out_path, struct conv_report *report)
{
    enum fp_status status = FP_OK;
    job->status = wl_file_create(&job->file, out_path, job->options->overwrite);
    if (job->status == FP_OK) {
        (void)setvbuf(job->out, NULL, _IOFBF, BUFFER_BYTES); /* else it has a smaller one */
        status = format->write(job);
        (void)fflush(job->out); /* job->status tells */
    }
    if (status == FP_OK && job->status == FP_OK)
        job->status = wl_file_finish(&job->file);
    if (job->status != FP_OK) {
        status = conv_fail_with(job->error, out_path, &job->file.error);
        job->error->output = true;
    }
    report->bytes_out = job->file.bytes;
    wl_file_abandon(&job->file); /* of a finished file only names are left */
    return status;
}

enum fp_status conv_export_run(const struct conv_export_format *format, const char *wl_path,
                               const char *in_path, const char *out_path, const struct conv_options *options,
                               struct conv_report *report, struct conv_error *error)
{
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for reading"};
    struct conv_export_job job = {.in_path = in_path, .options = options, .error = error};
    enum fp_status status = wl_reader_open(wl_path, &cause, &job.reader);
    if (status != FP_OK)
        return conv_fail_with(error, in_path, &cause);
    job.summary = wl_reader_summary(job.reader);
    job.out = fopencookie(&job, "w", (cookie_io_functions_t){.write = append});
    status = job.out != NULL ? write_all(format, &job, out_path, report)
                             : conv_fail_memory(error, in_path, "writing");
    if (status == FP_OK)
        snprintf(report->format, sizeof report->format, "%s", format->name);
    if (job.out != NULL)
        (void)fclose(job.out); /* nothing is left in it, or nothing of it is wanted */
    wl_reader_close(job.reader);
    return status;
}

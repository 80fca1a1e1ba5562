/* logalloc.c - the log of Mozilla's logalloc, as it was written or munged for its replay.
 *
 * `PID TID CALL(ARGUMENTS)=RESULT`, sizes decimal; older ones have no TID. Pointers are 0xHEX, or #N once munged: a
 * slot, 0 for NULL. The log may hold several processes: one is converted. */
#include <stdio.h>
#include <stdlib.h>

#include "convert/base/grow.h"
#include "convert/import/import.h"
#include "convert/import/scan.h"
#include "convert/recording/choose.h"

#define PROCESSES_MAX 1024u /* a bound on what a file can make us look through at every line */

struct logged_process {
    uint64_t process_id;
    uint64_t calls;
};

struct logalloc {
    struct logged_process *processes;
    size_t count, capacity, recent;
    bool without_threads;
};

enum arguments { SIZE, COUNT_SIZE, ALIGNMENT_SIZE, POINTER_SIZE, POINTER };

struct call_form {
    const char *name; /* with its bracket */
    uint8_t call;
    enum arguments arguments;
};

static const struct call_form FORMS[] = {
    {"malloc(", FP_CALL_MALLOC, SIZE},
    {"free(", FP_CALL_FREE, POINTER},
    {"realloc(", FP_CALL_REALLOC, POINTER_SIZE},
    {"calloc(", FP_CALL_CALLOC, COUNT_SIZE},
    {"posix_memalign(", FP_CALL_POSIX_MEMALIGN, ALIGNMENT_SIZE},
    {"memalign(", FP_CALL_MEMALIGN, ALIGNMENT_SIZE},
    {"aligned_alloc(", FP_CALL_ALIGNED_ALLOC, ALIGNMENT_SIZE},
    {"valloc(", FP_CALL_VALLOC, SIZE},
};

static bool take_pointer(struct conv_scan *scan, uint64_t *ret_address)
{
    if (conv_scan_char(scan, '#'))
        return conv_scan_decimal(scan, ret_address);
    if (conv_scan_text(scan, "(nil)")) {
        *ret_address = 0;
        return true;
    }
    return conv_scan_0x(scan, ret_address);
}

static bool take_arguments(struct conv_scan *scan, enum arguments arguments, struct conv_parsed *ret)
{
    switch (arguments) {
    case SIZE:
        return conv_scan_decimal(scan, &ret->size);
    case COUNT_SIZE:
    case ALIGNMENT_SIZE:
        return conv_scan_decimal(scan, &ret->extra) && conv_scan_comma(scan) &&
               conv_scan_decimal(scan, &ret->size);
    case POINTER_SIZE:
        return take_pointer(scan, &ret->old_address) && conv_scan_comma(scan) &&
               conv_scan_decimal(scan, &ret->size);
    default:
        return take_pointer(scan, &ret->address);
    }
}

static const char *take_call(struct conv_scan *scan, struct conv_parsed *ret)
{
    const struct call_form *form = NULL;
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0] && form == NULL; i++)
        if (conv_scan_text(scan, FORMS[i].name))
            form = &FORMS[i];
    if (form == NULL)
        return "not a call of this format";
    ret->call = form->call;
    if (!take_arguments(scan, form->arguments, ret) || !conv_scan_char(scan, ')'))
        return "not the arguments of its call";
    if (form->arguments != POINTER && (!conv_scan_char(scan, '=') || !take_pointer(scan, &ret->address)))
        return "no '=' and pointer, 0x... or #N, behind the call";
    return conv_scan_ended(scan) ? NULL : "something follows the call";
}

/* Count a call to its process. Returns NULL, or a complaint. */
static const char *count_process(struct logalloc *log, uint64_t process_id, struct conv_parsed *ret)
{
    struct logged_process *process = log->recent < log->count ? &log->processes[log->recent] : NULL;
    if (process == NULL || process->process_id != process_id) {
        for (log->recent = 0; log->recent < log->count; log->recent++)
            if (log->processes[log->recent].process_id == process_id)
                break;
        if (log->recent == PROCESSES_MAX)
            return "more than 1,024 processes";
        if (!CONV_RESERVE(log->processes, log->capacity, log->recent + 1)) {
            ret->refusal = FP_ERR_MEMORY;
            return "no memory for more processes";
        }
        if (log->recent == log->count)
            log->processes[log->count++] = (struct logged_process){.process_id = process_id};
        process = &log->processes[log->recent];
    }
    process->calls++;
    return NULL;
}

static const char *parse(void *state, const struct conv_options *options, const char *line, size_t length,
                         struct conv_parsed *ret)
{
    struct logalloc *log = state;
    struct conv_scan scan = conv_scan_of(line, length);
    uint64_t process_id, thread_id = 0;
    const char *wrong;
    bool has_thread;
    if (!conv_scan_decimal(&scan, &process_id) || process_id == 0 || process_id > UINT32_MAX ||
        !conv_scan_char(&scan, ' '))
        return "no process id at its beginning";
    conv_scan_blanks(&scan);
    has_thread = scan.at < scan.end && (unsigned char)(*scan.at - '0') <= 9;
    if (has_thread &&
        (!conv_scan_decimal(&scan, &thread_id) || thread_id > UINT32_MAX || !conv_scan_char(&scan, ' ')))
        return "no thread id behind the process id";
    conv_scan_blanks(&scan);
    if (conv_scan_text(&scan,
                       "jemalloc_")) /* asks for figures, or gives memory back: no object is concerned */
        return memchr(line, '\0', length) == NULL ? NULL : "holds a zero byte: this is no text";
    wrong = take_call(&scan, ret);
    if (wrong == NULL)
        wrong = count_process(log, process_id, ret);
    if (wrong != NULL)
        return wrong;
    if (process_id != (options->process_id != 0 ? options->process_id : log->processes[0].process_id)) {
        *ret = (struct conv_parsed){0};
        return NULL;
    }
    log->without_threads = log->without_threads || !has_thread;
    ret->thread_id = has_thread ? (uint32_t)thread_id : (uint32_t)process_id;
    return NULL;
}

static enum fp_status list_processes(struct conv_import *import, const struct logalloc *log)
{
    struct conv_survey *survey = import->survey;
    survey->processes = calloc(log->count, sizeof *survey->processes);
    if (survey->processes == NULL)
        return conv_fail_memory(import->error, import->path, "its processes");
    survey->process_count = log->count;
    for (size_t i = 0; i < log->count; i++) {
        survey->processes[i] = (struct conv_process){
            .process_id = (uint32_t)log->processes[i].process_id,
            .events = log->processes[i].calls,
            .complete = true,
            .chosen = log->processes[i].process_id == survey->process_id,
        };
    }
    return FP_OK;
}

/* The list is the survey's, which is released whatever the status. */
static enum fp_status fail_without(struct conv_import *import, const struct logalloc *log)
{
    char names[200];
    enum fp_status status = list_processes(import, log);
    if (status != FP_OK)
        return status;
    conv_processes_name(import->survey, names, sizeof names);
    return conv_fail(import->error, import->path, FP_ERR_ARGUMENT, 0, 0, "holds no process %u, only%s",
                     import->options.process_id, names);
}

static enum fp_status finish(struct conv_import *import)
{
    const struct logalloc *log = import->state;
    struct conv_survey *survey = import->survey;
    if (log->without_threads)
        conv_import_lacks(import, "threads");
    survey->process_id = import->options.process_id;
    if (import->options.process_id == 0 && log->count > 0)
        survey->process_id = (uint32_t)log->processes[0].process_id;
    if (import->options.process_id != 0 && survey->events == 0)
        return fail_without(import, log);
    return log->count > 1 ? list_processes(import, log) : FP_OK;
}

static void release(void *state)
{
    struct logalloc *log = state;
    free(log->processes);
}

const struct conv_format CONV_FORMAT_LOGALLOC = {
    .kind = CONV_KIND_LOGALLOC,
    .name = "logalloc",
    .title = "Mozilla's logalloc, munged or not",
    .lacks = "time, exact call",
    .has_processes = true,
    .state_bytes = sizeof(struct logalloc),
    .head_lines = 1,
    .parse = parse,
    .finish = finish,
    .release = release,
};

/* export_glibc.c - the workload format of glibc's trace_run: a stream of codes for each thread, and syncs between them.
 *
 * A sync is a flag that one thread sets (signal) and one other waits for; trace_run wakes a single waiter, so none is
 * shared. Each wait of a window becomes one. trace_run lets threads run freely, where windows do not overlap: so between
 * two windows the thread of the last op gathers all that were active in the first one, and lets those of the next go on.
 * With that, whatever order replay keeps, trace_run keeps.
 *
 * Threads' streams lie one after the other, while ops come interleaved: the first pass counts their bytes, the second
 * fills a mapped file without a name, which is then copied out. Memory is a window's. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/base/glibc_codes.h"
#include "convert/base/unnamed_file.h"
#include "convert/export/export.h"
#include "convert/ops/rewrite.h"

#define NUMBER_BYTES_MAX 10u /* of 64 bits, 7 a byte */
#define NO_WAIT          UINT32_MAX

struct streams {
    struct conv_export_job *job;
    uint64_t *bytes;  /* by thread: of its stream so far */
    uint64_t *starts; /* by thread: where it begins in `to` */
    uint8_t *to;      /* NULL: count only */
    uint64_t syncs;   /* numbers given so far; they begin with 1 */
    /* of a window */
    uint32_t *first_wait; /* by op: of the waits for it */
    uint32_t *next_wait;  /* by wait */
    uint64_t window_syncs;
    const struct wl_window *window;
    /* threads of this window and of the one before; marks hold a window's number plus 1 */
    uint32_t *active, *before;
    uint32_t active_count, before_count, last_thread;
    uint64_t *marks;
};

/* Most significant 7 bits first, bit 7 on all but the last. Returns the bytes used. */
static size_t encode_number(uint64_t number, uint8_t *ret)
{
    size_t bytes = 1, i;
    for (uint64_t rest = number >> 7; rest > 0; rest >>= 7)
        bytes++;
    for (i = bytes; i-- > 0; number >>= 7)
        ret[i] = (uint8_t)((number & 0x7f) | (i + 1 < bytes ? 0x80 : 0));
    return bytes;
}

static void emit(struct streams *streams, uint32_t thread, enum conv_glibc_code code, const uint64_t *numbers,
                 size_t count)
{
    uint8_t bytes[1 + 3 * NUMBER_BYTES_MAX];
    size_t size = 0;
    bytes[size++] = (uint8_t)code;
    for (size_t i = 0; i < count; i++)
        size += encode_number(numbers[i], bytes + size);
    if (streams->to != NULL)
        memcpy(streams->to + streams->starts[thread] + streams->bytes[thread], bytes, size);
    streams->bytes[thread] += size;
}

static void order(struct streams *streams, uint32_t first, uint32_t second, uint64_t sync)
{
    emit(streams, first, CODE_SIGNAL, &sync, 1);
    emit(streams, second, CODE_WAIT, &sync, 1);
}

static void put_op(struct streams *streams, uint32_t thread, const struct wl_op *op)
{
    const uint64_t id = op->id, bytes = conv_op_bytes(op);
    if (fp_call_kind_of(op->call) == FP_KIND_RELEASE)
        emit(streams, thread, CODE_FREE, &id, 1);
    else if (fp_call_kind_of(op->call) == FP_KIND_RESIZE)
        emit(streams, thread, CODE_REALLOC, (const uint64_t[]){id, conv_op_allocates(op) ? 0 : id, bytes}, 3);
    else if (fp_call_extra_of(op->call) == FP_EXTRA_ALIGNMENT)
        emit(streams, thread, CODE_MEMALIGN, (const uint64_t[]){id, UINT64_C(1) << op->align_log2, bytes}, 3);
    else if (op->call == FP_CALL_VALLOC || op->call == FP_CALL_PVALLOC)
        emit(streams, thread, op->call == FP_CALL_VALLOC ? CODE_VALLOC : CODE_PVALLOC,
             (const uint64_t[]){id, bytes}, 2);
    else
        emit(streams, thread, op->call == FP_CALL_CALLOC ? CODE_CALLOC : CODE_MALLOC,
             (const uint64_t[]){id, bytes}, 2);
}

static enum fp_status take(void *data, const struct conv_export_op *export_op)
{
    struct streams *streams = data;
    const struct wl_wait *waits = streams->window->waits;
    if (export_op->has_wait) {
        /* Waits come by rising op, so the one of this op is the first not yet passed. */
        while (waits[streams->window_syncs].op < export_op->index)
            streams->window_syncs++;
        emit(streams, export_op->thread, CODE_WAIT,
             (const uint64_t[]){streams->syncs + 1 + streams->window_syncs}, 1);
    }
    put_op(streams, export_op->thread, export_op->op);
    for (uint32_t i = streams->first_wait[export_op->index]; i != NO_WAIT; i = streams->next_wait[i])
        emit(streams, export_op->thread, CODE_SIGNAL, (const uint64_t[]){streams->syncs + 1 + i}, 1);
    return FP_OK;
}

static void find_active(struct streams *streams, uint64_t number)
{
    uint32_t *swapped = streams->before;
    streams->before = streams->active;
    streams->before_count = streams->active_count;
    streams->active = swapped;
    streams->active_count = 0;
    for (uint32_t i = 0; i < streams->window->run_count; i++) {
        const uint32_t thread = streams->window->runs[i].thread;
        if (streams->marks[thread] != number + 1)
            streams->active[streams->active_count++] = thread;
        streams->marks[thread] = number + 1;
    }
}

/* Nothing of this window before all of the one before it. */
static void put_barrier(struct streams *streams)
{
    const uint32_t middle = streams->last_thread;
    if (streams->before_count == 1 && streams->active_count == 1 && streams->active[0] == middle)
        return;
    for (uint32_t i = 0; i < streams->before_count; i++)
        if (streams->before[i] != middle)
            order(streams, streams->before[i], middle, ++streams->syncs);
    for (uint32_t i = 0; i < streams->active_count; i++)
        if (streams->active[i] != middle)
            order(streams, middle, streams->active[i], ++streams->syncs);
}

static void put_window(struct streams *streams, const struct wl_window *window, uint64_t number)
{
    streams->window = window;
    find_active(streams, number);
    if (number > 0)
        put_barrier(streams);
    streams->last_thread = window->runs[window->run_count - 1].thread;
    for (uint32_t i = 0; i < window->op_count; i++)
        streams->first_wait[i] = NO_WAIT;
    for (uint32_t i = 0; i < window->wait_count; i++) {
        streams->next_wait[i] = streams->first_wait[window->waits[i].on];
        streams->first_wait[window->waits[i].on] = i;
    }
    streams->window_syncs = 0;
    (void)conv_export_each(window, take, streams); /* take cannot fail */
    streams->syncs += window->wait_count;
}

/* All threads' streams once, counted or filled in. */
static enum fp_status put_streams(struct streams *streams)
{
    const uint32_t threads = streams->job->summary->thread_count;
    struct wl_window window;
    uint64_t number = 0;
    enum fp_status status;
    wl_reader_rewind(streams->job->reader);
    memset(streams->bytes, 0, threads * sizeof *streams->bytes);
    memset(streams->marks, 0, threads * sizeof *streams->marks);
    streams->active_count = 0;
    streams->syncs = 0;
    while ((status = conv_export_next(streams->job, &window)) == FP_OK)
        put_window(streams, &window, number++);
    for (uint32_t i = 0; i < threads; i++)
        emit(streams, i, CODE_DONE, NULL, 0);
    return status == FP_END ? FP_OK : status;
}

static size_t put_pair(uint8_t *to, enum conv_glibc_code code, uint64_t number)
{
    to[0] = (uint8_t)code;
    return 1 + encode_number(number, to + 1);
}

/* The header holds offsets, whose lengths decide where streams begin: try lengths until they fit. They only grow, and
 * are bounded, so this ends. Returns the header's size; ret must have room. */
static size_t put_header(struct streams *streams, uint64_t syncs, uint8_t *ret)
{
    const uint32_t threads = streams->job->summary->thread_count;
    size_t size = 0, tried;
    do {
        uint64_t at = size;
        tried = size;
        size = put_pair(ret, CODE_POINTERS, (uint64_t)streams->job->summary->id_max + 1);
        size += put_pair(ret + size, CODE_SYNCS, syncs + 1);
        size += put_pair(ret + size, CODE_THREADS, threads);
        for (uint32_t i = 0; i < threads; i++) {
            streams->starts[i] = at;
            size += put_pair(ret + size, CODE_START_THREAD, at);
            at += streams->bytes[i];
        }
        ret[size++] = CODE_DONE;
    } while (size != tried);
    return size;
}

static enum fp_status output_failed(struct conv_export_job *job, int sys_errno, const char *directory)
{
    job->error->output = true;
    return conv_fail(job->error, directory, FP_ERR_WRITE, sys_errno, 0, "no room for a temporary file");
}

/* The second pass, into a mapped file of known size; then all of it to the output. */
static enum fp_status fill(struct streams *streams, const uint8_t *header, size_t header_bytes)
{
    struct conv_export_job *job = streams->job;
    char directory[CONV_PATH_BYTES];
    uint64_t size = header_bytes;
    int descriptor, number;
    enum fp_status status;
    uint8_t *to;
    for (uint32_t i = 0; i < job->summary->thread_count; i++)
        size += streams->bytes[i];
    descriptor = conv_temporary_file(job->out_path, directory, sizeof directory);
    if (descriptor < 0)
        return output_failed(job, errno, directory);
    /* Room for all of it now: a mapped file that finds the disk full later kills with SIGBUS. */
    number = posix_fallocate(descriptor, 0, (off_t)size);
    to = number == 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
    if (to == MAP_FAILED) {
        status = output_failed(job, number != 0 ? number : errno, directory);
    } else {
        memcpy(to, header, header_bytes);
        streams->to = to;
        status = put_streams(streams);
        if (status == FP_OK)
            conv_export_put(job->file, to, size);
        (void)munmap(to, size); /* cannot fail for a whole mapping */
    }
    (void)close(descriptor); /* nothing is to be kept */
    return status;
}

static bool reserve(struct streams *streams, const struct wl_summary *summary, uint8_t **ret_header)
{
    const size_t threads = (size_t)summary->thread_count + 1, ops = (size_t)summary->window_ops_max + 1;
    streams->bytes = calloc(threads, sizeof *streams->bytes);
    streams->starts = calloc(threads, sizeof *streams->starts);
    streams->marks = calloc(threads, sizeof *streams->marks);
    streams->active = calloc(threads, sizeof *streams->active);
    streams->before = calloc(threads, sizeof *streams->before);
    streams->first_wait = malloc(ops * sizeof *streams->first_wait);
    streams->next_wait = malloc(ops * sizeof *streams->next_wait);
    *ret_header = malloc((threads + 4) * (1 + NUMBER_BYTES_MAX));
    return streams->bytes != NULL && streams->starts != NULL && streams->marks != NULL &&
           streams->active != NULL && streams->before != NULL && streams->first_wait != NULL &&
           streams->next_wait != NULL && *ret_header != NULL;
}

enum fp_status conv_export_glibc(struct conv_export_job *job)
{
    struct streams streams = {.job = job};
    uint8_t *header = NULL;
    enum fp_status status;
    if (!reserve(&streams, job->summary, &header)) {
        status = conv_export_memory(job);
    } else {
        status = put_streams(&streams);
        if (status == FP_OK)
            status = fill(&streams, header, put_header(&streams, streams.syncs, header));
    }
    free(streams.bytes);
    free(streams.starts);
    free(streams.marks);
    free(streams.active);
    free(streams.before);
    free(streams.first_wait);
    free(streams.next_wait);
    free(header);
    return status;
}

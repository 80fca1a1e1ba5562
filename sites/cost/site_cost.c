/* site_cost.c - what is live at the peak, found by reading the workload, and the runs that share its pages out. */
#include "sites/cost/site_cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "footprint/wl/workload.h"

#define HELD_UNIT         256 /* parts of a byte in the file of a run: replay/meters/held_pages.h */
#define HANGS_AFTER_TIMES 20u
#define HANGS_AFTER_NS    UINT64_C(60000000000)

/* ---- the workload ---------------------------------------------------------------------------- */

/* What follows from the ops, in their order. */
struct followed {
    uint64_t *sizes; /* by id: bytes requested plus one; 0: not live */
    uint32_t *sites; /* by id: number of the object's site */
    uint64_t bytes;
};

struct measuring {
    const struct res_experiment *experiment;
    const struct res_trial *trial;
    const struct site_cost_workload *workload;
    const struct conv_sites *sites;
    struct site_costs *costs;
    uint32_t *numbers; /* by site: its number in `sites` */
    struct wl_reader *reader;
    const struct wl_summary *summary;
    uint64_t inherited;
    struct followed now;
    size_t runs_done, runs_all;
};

static uint32_t number_of(const struct measuring *measuring, uint32_t site)
{
    return site < measuring->sites->stacks.node_end ? measuring->numbers[site]
                                                    : (uint32_t)measuring->sites->count;
}

static uint64_t bytes_of(const struct wl_op *op)
{
    const bool counted = op->call == FP_CALL_CALLOC || op->call == FP_CALL_REALLOCARRAY;
    return counted ? op->size * op->count : op->size;
}

/* Take an op into account. */
static void follow(struct measuring *measuring, const struct wl_window *window, uint32_t i)
{
    struct followed *now = &measuring->now;
    const struct wl_op *op = &window->ops[i];
    if (op->id == 0)
        return;
    now->bytes -= now->sizes[op->id] > 0 ? now->sizes[op->id] - 1 : 0;
    now->sizes[op->id] = 0;
    if (fp_call_kind_of(op->call) == FP_KIND_RELEASE)
        return;
    now->sites[op->id] = number_of(measuring, window->sites != NULL ? window->sites[i] : 0);
    now->sizes[op->id] = bytes_of(op) + 1;
    now->bytes += bytes_of(op);
}

static void begin_anew(struct measuring *measuring)
{
    const size_t ids = (size_t)measuring->summary->id_max + 1;
    memset(measuring->now.sizes, 0, ids * sizeof *measuring->now.sizes);
    memset(measuring->now.sites, 0, ids * sizeof *measuring->now.sites);
    measuring->now.bytes = 0;
    wl_reader_rewind(measuring->reader);
}

/* Follow up to an op, and tell the one after which most was live: of the whole, or where a moment is asked for of the windows
 * that it lies in, since a window's peak stands for all its time (as in the sum that the moment comes of); else the last before it.
 * What was there before the recording is the program's. */
static void follow_until(struct measuring *measuring, uint64_t end, uint64_t *ret_peak_op)
{
    const uint64_t moment_ns = measuring->workload->moment_ns;
    struct wl_window window;
    uint64_t most = 0;
    begin_anew(measuring);
    while (wl_reader_next(measuring->reader, &window) == FP_OK) {
        const struct wl_facts *facts = &window.facts;
        const bool is_before = moment_ns != SITE_AT_PEAK && facts->end_ns < moment_ns;
        if (moment_ns != SITE_AT_PEAK && facts->start_ns > moment_ns &&
            facts->first_op >= measuring->inherited)
            return;
        for (uint32_t i = 0; i < window.op_count; i++) {
            const uint64_t after = facts->first_op + i + 1;
            if (after > end)
                return;
            follow(measuring, &window, i);
            if (after >= measuring->inherited && (is_before || measuring->now.bytes > most)) {
                most = is_before ? 0 : measuring->now.bytes;
                *ret_peak_op = after;
            }
        }
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* A file that a run is to have: not closed on exec. Its memory is given back when it is unmapped and closed. */
struct shared_file {
    int fd;
    void *memory;
    size_t bytes;
};

static bool file_make(struct shared_file *file, size_t bytes)
{
    *file = (struct shared_file){.fd = memfd_create("mallab-sites", 0), .memory = MAP_FAILED, .bytes = bytes};
    if (file->fd >= 0 && ftruncate(file->fd, (off_t)bytes) == 0)
        file->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    return file->memory != MAP_FAILED;
}

static void file_drop(struct shared_file *file)
{
    if (file->memory != MAP_FAILED)
        (void)munmap(file->memory, file->bytes);
    if (file->fd >= 0)
        (void)close(file->fd);
}

/* One run of a candidate with an option more; false: it failed, or was stopped, which is told. */
static bool run(struct measuring *measuring, const struct res_entry *entry, const char *option,
                struct res_run *ret_run, char **ret_failed)
{
    const struct res_options *options = &measuring->experiment->options;
    const struct res_run_request request = {
        .candidate = entry->candidate,
        .workload = measuring->workload->path,
        .touch = options->touch,
        .timeout_ns = options->timeout_ns != 0 ? options->timeout_ns
                                               : entry->warmup_ns * HANGS_AFTER_TIMES + HANGS_AFTER_NS,
        .timeout_asked = options->timeout_ns != 0,
        .limit_bytes = options->limit_bytes,
        .place = options->group_place,
        .pass_option = option,
        .more = options->replay_options,
        .recorded_clock = measuring->trial->workload->duration_ns > 0,
        .stop = options->stop,
    };
    if (options->progress != NULL)
        options->progress(options->context, measuring->trial->workload, entry->candidate->name,
                          RES_ROUND_PASS, measuring->runs_done, measuring->runs_all);
    measuring->runs_done++;
    switch (res_run_once(&request, ret_run, ret_failed)) {
    case RES_RUN_OK:
        return true;
    case RES_RUN_STOPPED:
        measuring->costs->unavailable = res_strdup("stopped before it was measured");
        return false;
    case RES_RUN_FAILED:
        return false;
    }
    return false;
}

/* ---- held ------------------------------------------------------------------------------------ */

/* Each object's share goes to its site. */
static void add_held(const struct measuring *measuring, const uint64_t *file, double *held)
{
    for (size_t id = 1; id <= measuring->summary->id_max; id++)
        held[measuring->now.sites[id]] += (double)file[id] / HELD_UNIT;
}

static bool held_once(struct measuring *measuring, const struct res_entry *entry,
                      struct site_cost_entry *cost, unsigned number, struct shared_file *file)
{
    struct res_run done;
    char option[64];
    snprintf(option, sizeof option, "--held=%d:%llu", file->fd,
             (unsigned long long)measuring->costs->peak_op);
    memcpy(file->memory, measuring->now.sizes, file->bytes);
    if (!run(measuring, entry, option, &done, &cost->failed))
        return false;
    const json_t *told = json_object_get(done.json, "held");
    const bool is_told = json_is_object(told);
    cost->resident_bytes += json_number_value(json_object_get(told, "resident_bytes")) / SITE_HELD_RUNS;
    cost->pages_bytes += json_number_value(json_object_get(told, "pages_bytes")) / SITE_HELD_RUNS;
    cost->swapped_bytes += json_number_value(json_object_get(told, "swapped_bytes")) / SITE_HELD_RUNS;
    res_run_release(&done);
    if (!is_told) {
        cost->failed = res_strdup("its run did not come to the peak");
        return false;
    }
    add_held(measuring, file->memory, cost->run_held[number]);
    for (size_t i = 0; i <= measuring->sites->count; i++)
        cost->held[i] += cost->run_held[number][i] / SITE_HELD_RUNS;
    return true;
}

/* What is live at the peak stands in measuring->now. */
static void measure_held(struct measuring *measuring)
{
    struct site_costs *costs = measuring->costs;
    struct shared_file file;
    if (!file_make(&file, ((size_t)measuring->summary->id_max + 1) * sizeof *measuring->now.sizes))
        costs->unavailable = res_strdup("no memory for a number for each object");
    for (unsigned number = 0; number < SITE_HELD_RUNS; number++)
        for (size_t i = 0; i < costs->entry_count && costs->unavailable == NULL; i++)
            if (costs->entries[i].failed == NULL)
                (void)held_once(measuring, &measuring->trial->entries[i], &costs->entries[i], number, &file);
    file_drop(&file);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void entry_make(struct site_cost_entry *cost, const struct res_entry *entry, size_t count)
{
    cost->held = res_calloc(count + 1, sizeof *cost->held);
    for (unsigned i = 0; i < SITE_HELD_RUNS; i++)
        cost->run_held[i] = res_calloc(count + 1, sizeof *cost->run_held[i]);
    cost->failed = res_strdup(entry->failed);
}

static void make_costs(struct measuring *measuring)
{
    const struct conv_sites *sites = measuring->sites;
    struct site_costs *costs = measuring->costs;
    costs->live = res_calloc(sites->count + 1, sizeof *costs->live);
    costs->entry_count = measuring->trial->candidate_count;
    costs->entries = res_calloc(costs->entry_count + 1, sizeof *costs->entries);
    for (size_t i = 0; i < costs->entry_count; i++)
        entry_make(&costs->entries[i], &measuring->trial->entries[i], sites->count);
    measuring->numbers = res_calloc((size_t)sites->stacks.node_end + 1, sizeof *measuring->numbers);
    for (uint32_t site = 0; site <= sites->stacks.node_end; site++)
        measuring->numbers[site] = (uint32_t)sites->count;
    for (size_t i = 0; i < sites->count; i++)
        measuring->numbers[sites->counts[i].site] = (uint32_t)i;
}

/* Returns why it cannot be measured, the caller's; NULL: it can. */
static char *open_workload(struct measuring *measuring, const char *path)
{
    struct fp_error error;
    char words[4096 + 512];
    if (wl_reader_open_sites(path, &error, &measuring->reader) != FP_OK)
        return res_strdup(fp_error_text(&error, path, words, sizeof words));
    measuring->summary = wl_reader_summary(measuring->reader);
    measuring->inherited = wl_reader_meta_number(measuring->reader, "inherited_objects");
    if (measuring->inherited > measuring->summary->ops)
        measuring->inherited = measuring->summary->ops;
    const size_t ids = (size_t)measuring->summary->id_max + 1;
    measuring->now.sizes = calloc(ids, sizeof *measuring->now.sizes);
    measuring->now.sites = calloc(ids, sizeof *measuring->now.sites);
    return measuring->now.sizes == NULL || measuring->now.sites == NULL
               ? res_strdup("no memory for so many objects")
               : NULL;
}

void site_cost_measure(const struct res_experiment *experiment, const struct res_trial *trial,
                       const struct site_cost_workload *workload, const struct conv_sites *sites,
                       struct site_costs *ret_costs)
{
    struct measuring measuring = {
        .experiment = experiment, .trial = trial, .workload = workload, .sites = sites, .costs = ret_costs};
    uint64_t peak_op = 0;
    *ret_costs = (struct site_costs){0};
    make_costs(&measuring);
    measuring.runs_all = ret_costs->entry_count * SITE_HELD_RUNS;
    ret_costs->unavailable = open_workload(&measuring, workload->path);
    ret_costs->absent = ret_costs->unavailable == NULL && workload->moment_ns != SITE_AT_PEAK &&
                        workload->moment_ns > measuring.summary->duration_ns;
    if (ret_costs->unavailable == NULL && !ret_costs->absent) {
        follow_until(&measuring, UINT64_MAX, &peak_op);
        ret_costs->peak_op = peak_op;
        ret_costs->absent = workload->moment_ns != SITE_AT_PEAK && peak_op == 0; /* it had made no call */
    }
    if (ret_costs->unavailable == NULL && !ret_costs->absent) {
        follow_until(&measuring, peak_op, &peak_op);
        ret_costs->peak_bytes = measuring.now.bytes;
        for (size_t id = 1; id <= measuring.summary->id_max; id++)
            if (measuring.now.sizes[id] > 0)
                ret_costs->live[measuring.now.sites[id]] += (double)(measuring.now.sizes[id] - 1);
        measure_held(&measuring);
    }
    wl_reader_close(measuring.reader);
    free(measuring.now.sizes);
    free(measuring.now.sites);
    free(measuring.numbers);
}

void site_cost_release(struct site_costs *costs)
{
    for (size_t i = 0; i < costs->entry_count; i++) {
        struct site_cost_entry *cost = &costs->entries[i];
        free(cost->held);
        for (unsigned k = 0; k < SITE_HELD_RUNS; k++)
            free(cost->run_held[k]);
        free(cost->failed);
    }
    free(costs->entries);
    free(costs->live);
    free(costs->unavailable);
    *costs = (struct site_costs){0};
}

/* dump.c - read everything and write it as text. */
#include "golden/dump.h"

#include <inttypes.h>
#include <stdarg.h>

#include "footprint/fp/footprint.h"
#include "footprint/wl/workload.h"
#include "unit/site_module.h"

__attribute__((format(printf, 2, 3))) static void put(FILE *out, const char *format, ...)
{
    va_list arguments;
    if (out == NULL)
        return;
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
}

static void put_meta(FILE *out, const struct fp_meta *meta, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(out, "meta %s=%s\n", meta[i].key, meta[i].value);
}

static void put_block(FILE *out, size_t number, const struct fp_block *block)
{
    put(out, "block %zu lane %" PRIu32 " sequence %" PRIu64 " base epoch %" PRIu64 "\n", number, block->lane,
        block->sequence, block->base_epoch);
    for (uint32_t i = 0; i < block->shape_count; i++)
        put(out, "  shape %" PRIu32 " %s size %" PRIu64 " extra %" PRIu64 "\n", i,
            fp_call_name(block->shapes[i].call), block->shapes[i].size, block->shapes[i].extra);
    for (uint32_t i = 0; i < block->stamp_count; i++)
        put(out, "  stamp before %" PRIu32 " at %" PRIu64 " ns\n", block->stamps[i].mark,
            block->stamps[i].time_ns);
    for (uint32_t i = 0; i < block->mark_count; i++) {
        put(out, "  mark %" PRIu32 " shape %" PRIu32 " address %#" PRIx64 " epoch +%" PRIu32, i,
            block->marks[i].shape, block->marks[i].address, block->marks[i].epoch);
        if (block->sites != NULL && block->sites[i] != 0)
            put(out, " site %" PRIu32, block->sites[i]);
        put(out, "\n");
    }
}

static void put_trailer(FILE *out, const struct fp_trailer *trailer)
{
    put(out, "trailer end %" PRIu64 " ns\n", trailer->end_time_ns);
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        put(out, "  lost %s %" PRIu64 "\n", fp_loss_name(i), trailer->lost[i]);
    for (uint32_t i = 0; i < trailer->lane_count; i++)
        put(out, "  lane %" PRIu32 " thread %" PRIu32 "%s marks %" PRIu64 "\n", i,
            trailer->lanes[i].thread_id, trailer->lanes[i].is_main ? " main" : "", trailer->lanes[i].marks);
    if (trailer->ran_on)
        put(out, "  ran on%s\n", trailer->uncounted ? ", uncounted" : "");
}

static void put_sites(FILE *out, const struct fp_sites *sites)
{
    for (uint32_t i = 0; i < sites->module_count; i++) {
        const struct fp_module *module = &sites->modules[i];
        put(out, "module %#" PRIx64 "-%#" PRIx64 " base %#" PRIx64 " epoch %u '%s' build id ", module->start,
            module->end, module->base, module->epoch, module->path);
        for (unsigned byte = 0; byte < module->build_id_bytes; byte++)
            put(out, "%02x", module->build_id[byte]);
        put(out, "\n");
    }
    for (uint32_t site = FP_SITE_FIRST; site < sites->node_end; site++) {
        const struct fp_site_node node = fp_site_node_at(sites, site);
        const struct fp_module *module = fp_site_module(sites, &node);
        const char *cut = fp_cut_name(fp_site_cut(sites, site));
        put(out, "  node %" PRIu32 " address %#" PRIx64 " parent %" PRIu32 " epoch %u in '%s'%s%s\n", site,
            node.address, node.parent, node.epoch, module != NULL ? module->path : "?",
            cut != NULL ? " cut: " : "", cut != NULL ? cut : "");
    }
}

static void put_usage(FILE *out, const struct fp_usage *usage)
{
    struct fp_usage copy = *usage;
    put(out, "usage ended %s, runs on '%s' '%s' '%s' %s\n", fp_ended_name(usage->ended), usage->allocator,
        usage->version, usage->library, fp_runs_on_name(usage->runs_on));
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++)
        if (*fp_usage_at(&copy, &FP_USAGE_NUMBERS[i]) != FP_USAGE_UNKNOWN)
            put(out, "  %s %" PRIu64 "\n", FP_USAGE_NUMBERS[i].key,
                *fp_usage_at(&copy, &FP_USAGE_NUMBERS[i]));
    for (uint32_t i = 0; i < usage->point_count; i++)
        put(out, "  at %" PRIu64 " ns rss %" PRIu64 " anonymous %" PRIu64 " cpu %" PRIu64 " ns\n",
            usage->points[i].time_ns, usage->points[i].rss_bytes, usage->points[i].rss_anon_bytes,
            usage->points[i].cpu_ns);
}

struct dump_result dump_footprint(const char *path, FILE *out)
{
    struct dump_result result = {.stage = "open"};
    struct fp_reader *reader = NULL;
    struct fp_block_buffer buffer = {0};
    if (fp_reader_open(path, &result.error, &reader) != FP_OK)
        return result;
    const struct fp_reader_info *info = fp_reader_info(reader);
    put(out, "footprint version %" PRIu32 " process %" PRIu32 " start %" PRIu64 " ns\n", info->version,
        info->process_id, info->start_unix_ns);
    put_meta(out, info->meta, info->meta_count);
    put(out, "lanes %" PRIu32 " blocks %zu marks %" PRIu64 "\n", info->lane_count, info->block_count,
        info->mark_count);
    result.stage = "block";
    for (size_t i = 0; i < info->block_count && result.error.status == FP_OK; i++) {
        struct fp_block block;
        result.number = i;
        if (fp_reader_block(reader, i, &buffer, &block) == FP_OK)
            put_block(out, i, &block);
        else
            result.error = *fp_reader_error(reader);
    }
    if (result.error.status == FP_OK) {
        result = (struct dump_result){"tail", 0, info->tail_error};
        if (info->sites != NULL)
            put_sites(out, info->sites);
        if (info->usage != NULL)
            put_usage(out, info->usage);
        if (info->has_trailer)
            put_trailer(out, &info->trailer);
        if (result.error.status == FP_OK)
            result.stage = "end";
        else
            put(out, "tail %s, %" PRIu64 " bytes before the end: %s\n", fp_status_name(result.error.status),
                info->file_bytes - result.error.offset, result.error.what);
    }
    fp_block_buffer_release(&buffer);
    fp_reader_close(reader);
    return result;
}

static void put_summary(FILE *out, const struct wl_summary *summary)
{
    put(out, "ops %" PRIu64 " windows %" PRIu64 " duration %" PRIu64 " ns\n", summary->ops, summary->windows,
        summary->duration_ns);
    put(out, "requested %" PRIu64 " largest %" PRIu64 " highest id %" PRIu32 " ops of a window %" PRIu32 "\n",
        summary->requested_bytes, summary->largest_size, summary->id_max, summary->window_ops_max);
    put(out, "live peak %" PRIu64 " bytes %" PRIu64 " objects, end %" PRIu64 " bytes %" PRIu64 " objects\n",
        summary->live_bytes_peak, summary->live_objects_peak, summary->live_bytes_end,
        summary->live_objects_end);
    for (unsigned i = 0; i < FP_CALL_COUNT; i++)
        if (summary->ops_by_call[i] > 0)
            put(out, "  calls %s %" PRIu64 "\n", fp_call_name(i), summary->ops_by_call[i]);
    put(out, "threads %" PRIu32 " at once %" PRIu32 "\n", summary->thread_count,
        summary->threads_at_once_max);
    for (uint32_t i = 0; i < summary->thread_count; i++) {
        const struct wl_thread *thread = &summary->threads[i];
        put(out,
            "  thread %" PRIu32 " id %" PRIu32 "%s%s ops %" PRIu64 " windows %" PRIu64 " to %" PRIu64 "\n", i,
            thread->thread_id, thread->is_main ? " main" : "", thread->exited ? " exited" : "", thread->ops,
            thread->first_window, thread->last_window);
    }
}

static void put_op(FILE *out, uint32_t number, uint32_t thread, const struct wl_op *op, uint32_t site)
{
    put(out, "  op %" PRIu32 " thread %" PRIu32 " %s id %" PRIu32 " size %" PRIu64, number, thread,
        fp_call_name(op->call), op->id, op->size);
    if (op->count != 0)
        put(out, " count %u", op->count);
    if ((op->align_log2 & ~WL_OP_FRESH) != 0)
        put(out, " align 2^%u", op->align_log2 & ~WL_OP_FRESH);
    if (site != 0)
        put(out, " site %" PRIu32, site);
    put(out, "%s\n", (op->align_log2 & WL_OP_FRESH) != 0 ? " fresh" : "");
}

static void put_window(FILE *out, unsigned long number, const struct wl_window *window)
{
    const struct wl_facts *facts = &window->facts;
    uint32_t op = 0;
    put(out,
        "window %lu first op %" PRIu64 " from %" PRIu64 " to %" PRIu64 " ns, live %" PRIu64 " bytes %" PRIu64
        " objects, peak %" PRIu64 " bytes\n",
        number, facts->first_op, facts->start_ns, facts->end_ns, facts->live_bytes, facts->live_objects,
        facts->live_bytes_peak);
    for (uint32_t run = 0; run < window->run_count; run++)
        for (uint32_t i = 0; i < window->runs[run].op_count; i++, op++)
            put_op(out, op, window->runs[run].thread, &window->ops[op],
                   window->sites != NULL ? window->sites[op] : 0);
    for (uint32_t i = 0; i < window->wait_count; i++)
        put(out, "  wait of %" PRIu32 " for %" PRIu32 "\n", window->waits[i].op, window->waits[i].on);
    for (uint32_t i = 0; i < window->touched_count; i++)
        put(out, "  touched of %" PRIu64 " %" PRIu32 "\n", window->touched[i].op, window->touched[i].share);
    for (uint32_t i = 0; i < window->time_count; i++)
        put(out, "  time of %" PRIu32 " %" PRIu64 " ns\n", i * WL_TIME_STRIDE, window->times_ns[i]);
    for (uint32_t i = 0; i < window->noted_count; i++)
        put(out, "  noted of %" PRIu32 " %" PRIu64 " ns\n", window->noted[i].op, window->noted[i].time_ns);
}

static enum fp_status put_stacks(FILE *out, struct wl_reader *reader)
{
    struct fp_stacks stacks;
    const enum fp_status status = wl_reader_stacks(reader, &stacks);
    if (status != FP_OK)
        return status;
    put_sites(out, &stacks.sites);
    fp_stacks_release(&stacks);
    return FP_END;
}

struct dump_result dump_workload(const char *path, FILE *out)
{
    struct dump_result result = {.stage = "open"};
    struct wl_reader *reader = NULL;
    struct wl_window window;
    enum fp_status status;
    if (wl_reader_open_sites(path, &result.error, &reader) != FP_OK)
        return result;
    put(out, "workload\n");
    put_meta(out, wl_reader_info(reader)->meta, wl_reader_info(reader)->meta_count);
    put_summary(out, wl_reader_summary(reader));
    result.stage = "window";
    while ((status = wl_reader_next(reader, &window)) == FP_OK)
        put_window(out, result.number++, &window);
    if (status == FP_END) {
        result = (struct dump_result){.stage = "stacks"};
        status = put_stacks(out, reader);
    }
    if (status == FP_END)
        result = (struct dump_result){.stage = "end"};
    else
        result.error = *wl_reader_error(reader);
    wl_reader_close(reader);
    return result;
}

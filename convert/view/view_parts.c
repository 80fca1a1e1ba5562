/* view_parts.c - which footprints a recording has at the moment, whose they are, and what was appended to them. */
#include "convert/view/view_parts.h"

#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "convert/base/grow.h"
#include "convert/base/limits.h"
#include "convert/recording/parts.h"
#include "footprint/base/part_name.h"

void conv_view_part_free(struct conv_view_part *part)
{
    if (part == NULL)
        return;
    fp_reader_close(part->reader);
    free(part->turns);
    free(part->name);
    free(part);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Window 10000 comes after window 9999. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

/* ---- processes ------------------------------------------------------------------------------ */

static int by_stem(const void *a, const void *b)
{
    return strcmp(((const struct conv_view_process *)a)->stem, ((const struct conv_view_process *)b)->stem);
}

static struct conv_view_process *add_process(struct conv_view *view, const char *stem, bool in_windows)
{
    struct conv_view_process *process;
    if (!CONV_RESERVE(view->processes, view->process_capacity, view->process_count + 1))
        return NULL;
    process = calloc(1, sizeof *process);
    if (process == NULL || !conv_tally_init(&process->tally, &view->sum)) {
        free(process);
        return NULL;
    }
    process->in_windows = in_windows;
    snprintf(process->stem, sizeof process->stem, "%s", stem);
    view->processes[view->process_count++] = process;
    return in_windows && tsearch(process, &view->in_windows, by_stem) == NULL ? NULL : process;
}

/* The process of a part: its own, or that of the windows before. */
static bool find_process(struct conv_view *view, struct conv_view_part *part)
{
    struct conv_view_process sought = {0}, *const *found = NULL;
    uint32_t window = 0;
    /* conv_is_footprint has seen to the name */
    (void)fp_part_name(part->name, CONV_STEM_BYTES, sought.stem, &window);
    if (window != 0)
        found = tfind(&sought, &view->in_windows, by_stem);
    part->process = found != NULL ? *found : add_process(view, sought.stem, window != 0);
    return part->process != NULL;
}

static void describe_process(struct conv_view_process *process, const struct fp_reader *reader)
{
    const char *program = fp_reader_meta(reader, "program");
    if (process->process_id == 0 && fp_reader_meta_number(reader, "part") > 1)
        process->first_window = (uint32_t)fp_reader_meta_number(reader, "window");
    process->process_id = fp_reader_info(reader)->process_id;
    if (program != NULL)
        snprintf(process->name, sizeof process->name, "%s", program);
    if (fp_reader_meta(reader, "parent_pid") != NULL)
        process->parent_process_id = (uint32_t)fp_reader_meta_number(reader, "parent_pid");
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void part_path(const struct conv_view *view, const struct conv_view_part *part, char *ret_path,
                      size_t size)
{
    snprintf(ret_path, size, "%s/%s", view->directory, part->name);
}

enum fp_status conv_view_part_fail(const struct conv_view *view, const struct conv_view_part *part,
                                   const struct fp_error *cause, struct conv_error *error)
{
    char path[2 * CONV_PATH_BYTES];
    part_path(view, part, path, sizeof path);
    return conv_fail_with(error, path, cause);
}

enum fp_status conv_view_no_memory(const struct conv_view *view, struct conv_error *error)
{
    (void)conv_fail_memory(error, view->directory, "more live objects");
    return conv_bound_told(FP_ERR_MEMORY, view->directory, error);
}

/* Leaves the reader NULL for what cannot be read yet, or is not to be. */
static enum fp_status open_part(struct conv_view *view, struct conv_view_part *part, struct conv_error *error)
{
    char path[2 * CONV_PATH_BYTES];
    struct fp_error cause = {0};
    struct fp_reader *reader;
    enum fp_status status;
    part_path(view, part, path, sizeof path);
    status = fp_reader_open(path, &cause, &reader);
    if (status != FP_OK) {
        if (cause.no_header || (status == FP_ERR_OPEN && cause.sys_errno == ENOENT))
            return FP_OK;
        if (status != FP_ERR_FOREIGN && cause.sys_errno != EISDIR && cause.distrust != FP_DISTRUST_LINK)
            return conv_fail_with(error, path, &cause);
        part->done = true;
        view->foreign++;
        return FP_OK;
    }
    if (view->only != 0 && fp_reader_info(reader)->process_id != view->only) {
        part->done = true;
        fp_reader_close(reader);
        return FP_OK;
    }
    if (!find_process(view, part)) {
        fp_reader_close(reader);
        return conv_view_no_memory(view, error);
    }
    if (part->process->tally.ended) { /* a window that nobody told of while it counted */
        part->done = true;
        fp_reader_close(reader);
        return FP_OK;
    }
    part->reader = reader;
    part->process->parts_open++;
    describe_process(part->process, reader);
    return FP_OK;
}

static int by_turn(const void *a, const void *b)
{
    const struct turn *one = a, *two = b;
    if (one->epoch != two->epoch)
        return one->epoch < two->epoch ? -1 : 1;
    return (one->block > two->block) - (one->block < two->block);
}

/* Give turns to the blocks that were not there before; all others have been read. */
static bool give_turns(struct conv_view_part *part)
{
    const struct fp_reader_info *info = fp_reader_info(part->reader);
    const struct conv_tally *tally = &part->process->tally;
    const size_t count = info->block_count - part->blocks;
    struct turn *turns;
    uint64_t *epochs;
    if (count == 0)
        return true;
    turns = malloc(count * sizeof *turns);
    epochs = calloc(info->lane_count + 1, sizeof *epochs);
    if (turns == NULL || epochs == NULL) {
        free(turns);
        free(epochs);
        return false;
    }
    for (uint32_t i = 0; i < info->lane_count && i < tally->lane_count; i++)
        epochs[i] = tally->lanes[i].epoch;
    for (size_t i = 0; i < count; i++) {
        const struct fp_block_entry *block = &info->blocks[part->blocks + i];
        if (block->base_epoch > epochs[block->lane])
            epochs[block->lane] = block->base_epoch;
        turns[i] = (struct turn){.epoch = epochs[block->lane], .block = part->blocks + i};
    }
    free(epochs);
    qsort(turns, count, sizeof *turns, by_turn);
    free(part->turns);
    part->turns = turns;
    part->turn_count = count;
    part->turn_next = 0;
    part->blocks = info->block_count;
    return true;
}

/* See what was appended. A file may end within a block while it is written; it may not go on with something else, though
 * a writer that found the disk full may just have cut it back. */
enum fp_status conv_view_part_refresh(struct conv_view *view, struct conv_view_part *part,
                                      struct conv_error *error)
{
    const struct fp_reader_info *info;
    enum fp_status status = part->reader == NULL ? open_part(view, part, error) : FP_OK;
    if (status != FP_OK || part->reader == NULL)
        return status;
    info = fp_reader_info(part->reader);
    for (unsigned look = 0; look < 2; look++) {
        if (fp_reader_refresh(part->reader) != FP_OK)
            return conv_view_part_fail(view, part, fp_reader_error(part->reader), error);
        if (info->has_trailer || info->tail_error.status == FP_ERR_TRUNCATED)
            break;
    }
    if (!info->has_trailer && info->tail_error.status != FP_ERR_TRUNCATED)
        return conv_view_part_fail(view, part, &info->tail_error, error);
    part->bytes = info->file_bytes;
    return part->turn_next < part->turn_count || give_turns(part) ? FP_OK : conv_view_no_memory(view, error);
}

static enum fp_status new_part(const char *name, struct conv_view_part **ret_part)
{
    struct conv_view_part *part = calloc(1, sizeof *part);
    if (part == NULL)
        return FP_ERR_MEMORY;
    part->name = strdup(name);
    if (part->name == NULL) {
        free(part);
        return FP_ERR_MEMORY;
    }
    *ret_part = part;
    return FP_OK;
}

/* A file that is gone is read to its end, if it is open: what was written to it last is not known yet when it is missed
 * first. Returns whether the part is still of use. */
static bool keep_absent(struct conv_view *view, struct conv_view_part *part)
{
    const bool was_present = part->present;
    part->present = false;
    if (part->reader != NULL && (was_present || part->turn_next < part->turn_count))
        return true;
    view->bytes_dropped += part->bytes;
    return false;
}

static void drop_part(struct conv_view_part *part)
{
    if (part->reader != NULL && part->process != NULL)
        part->process->parts_open--;
    conv_view_part_free(part);
}

/* Parts and names of the directory, both sorted, become the new list of parts. */
static enum fp_status merge_names(struct conv_view *view, struct dirent **entries, size_t count)
{
    struct conv_view_part **parts = calloc(view->part_count + count + 1, sizeof(*parts));
    size_t old = 0, next = 0, made = 0;
    enum fp_status status = FP_OK;
    if (parts == NULL)
        return FP_ERR_MEMORY;
    while (old < view->part_count || next < count) {
        const int side = old == view->part_count ? 1
                         : next == count         ? -1
                                                 : strverscmp(view->parts[old]->name, entries[next]->d_name);
        if (side < 0) {
            struct conv_view_part *part = view->parts[old++];
            if (keep_absent(view, part))
                parts[made++] = part;
            else
                drop_part(part);
            continue;
        }
        if (side == 0)
            parts[made] = view->parts[old++];
        else if ((status = new_part(entries[next]->d_name, &parts[made])) != FP_OK)
            break;
        parts[made++]->present = true;
        next++;
    }
    for (; old < view->part_count; old++) /* after no memory */
        parts[made++] = view->parts[old];
    free(view->parts);
    view->parts = parts;
    view->part_count = made;
    return status;
}

enum fp_status conv_view_parts_list(struct conv_view *view, struct conv_error *error)
{
    struct dirent **entries = NULL;
    const int count = scandir(view->directory, &entries, conv_is_footprint, by_name);
    enum fp_status status;
    if (count < 0)
        return conv_fail(error, view->directory, FP_ERR_OPEN, errno, 0, "cannot open");
    status = merge_names(view, entries, (size_t)count);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return status == FP_OK ? FP_OK : conv_view_no_memory(view, error);
}

void conv_view_parts_count_bytes(struct conv_view *view)
{
    view->bytes = 0;
    view->bytes_written = view->bytes_dropped;
    for (size_t i = 0; i < view->part_count; i++) {
        const struct conv_view_part *part = view->parts[i];
        if (part->done && part->process == NULL)
            continue; /* not looked at */
        view->bytes_written += part->bytes;
        if (part->present)
            view->bytes += part->bytes;
    }
}

void conv_view_parts_measure(struct conv_view *view)
{
    for (size_t i = 0; i < view->part_count; i++) {
        struct conv_view_part *part = view->parts[i];
        char path[2 * CONV_PATH_BYTES];
        struct stat stat_;
        if (part->done)
            continue;
        part->looked = false;
        part_path(view, part, path, sizeof path);
        if (part->present && stat(path, &stat_) == 0 && S_ISREG(stat_.st_mode))
            part->bytes = (uint64_t)stat_.st_size;
    }
    conv_view_parts_count_bytes(view);
}

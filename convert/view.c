/* view.c - follow the footprints of a recording while they grow. */
#include "convert/view.h"
#include "footprint/part_name.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "convert/input.h"
#include "convert/recording.h"
#include "convert/stats.h"

#define FOOTPRINT_HEADER_BYTES 64   /* docs/format.md */
#define OPEN_MARKS             2000 /* marks that take as long as opening a file */

/* Blocks of all lanes are read by their lowest epoch, so that lanes stay together; those of a lane in their order, whose
 * epochs a signal handler may disturb. */
struct turn {
    uint64_t epoch; /* not below that of the lane's block before */
    size_t block;
};

struct conv_view_part {
    char *name;
    struct conv_view_process *process; /* NULL until it could be opened */
    struct fp_reader *reader;          /* NULL before, and when all was read */
    struct turn *turns;                /* of the blocks found, in the order in which they are to be read */
    size_t turn_count, turn_next;
    size_t blocks;              /* of the reader's, those that were given a turn */
    uint64_t bytes, bytes_read; /* when it was looked at; of that, what had been read before */
    bool looked;                /* since the last refresh */
    bool present;               /* in the directory */
    bool done;                  /* nothing more to be read: the end was read, or it is not looked at */
};

enum fp_status conv_view_open(const char *path, uint32_t process_id, struct conv_view **ret_view,
                              struct conv_error *ret_error)
{
    struct conv_view *view = calloc(1, sizeof *view);
    memset(ret_error, 0, sizeof *ret_error);
    if (view == NULL)
        return conv_fail(ret_error, path, FP_ERR_MEMORY, 0, 0, "no memory for a view");
    conv_recording_directory(path, view->directory);
    view->only = process_id;
    *ret_view = view;
    return FP_OK;
}

static void free_part(struct conv_view_part *part)
{
    if (part == NULL)
        return;
    fp_reader_close(part->reader);
    free(part->turns);
    free(part->name);
    free(part);
}

void conv_view_free(struct conv_view *view)
{
    if (view == NULL)
        return;
    for (size_t i = 0; i < view->part_count; i++)
        free_part(view->parts[i]);
    for (size_t i = 0; i < view->process_count; i++) {
        conv_tally_release(&view->processes[i]->tally);
        free(view->processes[i]);
    }
    json_decref(view->root);
    free(view->parts);
    free(view->processes);
    fp_block_buffer_release(&view->buffer);
    free(view);
}

/* ---- names ---------------------------------------------------------------------------------- */

static int is_footprint(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 3, ".fp") == 0;
}

/* Window 10000 comes after window 9999. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

/* ---- processes ------------------------------------------------------------------------------ */

static struct conv_view_process *add_process(struct conv_view *view, const char *stem)
{
    struct conv_view_process *process;
    if (view->process_count == view->process_capacity) {
        const size_t capacity = view->process_capacity * 2 + 16;
        struct conv_view_process **processes = realloc(view->processes, capacity * sizeof(*processes));
        if (processes == NULL)
            return NULL;
        view->processes = processes;
        view->process_capacity = capacity;
    }
    process = calloc(1, sizeof *process);
    if (process == NULL || !conv_tally_init(&process->tally, &view->sum)) {
        free(process);
        return NULL;
    }
    snprintf(process->stem, sizeof process->stem, "%s", stem);
    view->processes[view->process_count++] = process;
    return process;
}

/* The process of a part: its own, or that of the windows before. */
static bool find_process(struct conv_view *view, struct conv_view_part *part)
{
    char stem[CONV_STEM_BYTES] = "";
    uint32_t window = 0;
    struct conv_view_process *process = NULL;
    (void)fp_part_name(part->name, CONV_STEM_BYTES, stem, &window); /* is_footprint has seen to that */
    for (size_t i = 0; window != 0 && process == NULL && i < view->process_count; i++)
        if (view->processes[i]->in_windows && strcmp(view->processes[i]->stem, stem) == 0)
            process = view->processes[i];
    if (process == NULL)
        process = add_process(view, stem);
    if (process == NULL)
        return false;
    process->in_windows = window != 0;
    part->process = process;
    return true;
}

static void describe_process(struct conv_view_process *process, const struct fp_reader *reader)
{
    const char *program = fp_reader_meta(reader, "program"), *parent = fp_reader_meta(reader, "parent_pid");
    const char *part = fp_reader_meta(reader, "part"), *window = fp_reader_meta(reader, "window");
    if (process->process_id == 0 && part != NULL && window != NULL && strtoul(part, NULL, 10) > 1)
        process->first_window = (uint32_t)strtoul(window, NULL, 10);
    process->process_id = fp_reader_info(reader)->process_id;
    if (program != NULL)
        snprintf(process->name, sizeof process->name, "%s", program);
    if (parent != NULL)
        process->parent_process_id = (uint32_t)strtoul(parent, NULL, 10);
}

bool conv_view_is_running(const struct conv_view *view, const struct conv_view_process *process)
{
    return !process->tally.ended && !process->gone;
}

bool conv_view_goes_on(const struct conv_view *view)
{
    return view->status.state == CONV_RECORDING_GOING_ON || view->status.state == CONV_RECORDING_OUT_OF_SIGHT;
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void part_path(const struct conv_view *view, const struct conv_view_part *part, char *ret_path,
                      size_t size)
{
    snprintf(ret_path, size, "%s/%s", view->directory, part->name);
}

static enum fp_status fail_part(const struct conv_view *view, const struct conv_view_part *part,
                                const struct fp_error *cause, struct conv_error *error)
{
    char path[2 * CONV_PATH_BYTES];
    part_path(view, part, path, sizeof path);
    return conv_fail_with(error, path, cause);
}

static enum fp_status no_memory(const struct conv_view *view, struct conv_error *error)
{
    return conv_fail(error, view->directory, FP_ERR_MEMORY, 0, 0, "no memory for more live objects");
}

static bool holds_nothing(const char *path)
{
    struct stat stat_;
    return stat(path, &stat_) == 0 && S_ISREG(stat_.st_mode) && stat_.st_size < FOOTPRINT_HEADER_BYTES;
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
        if (holds_nothing(path) || (status == FP_ERR_OPEN && cause.sys_errno == ENOENT))
            return FP_OK;
        if (status != FP_ERR_FOREIGN && cause.sys_errno != EISDIR)
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
        return no_memory(view, error);
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
static enum fp_status refresh_part(struct conv_view *view, struct conv_view_part *part,
                                   struct conv_error *error)
{
    const struct fp_reader_info *info;
    enum fp_status status = part->reader == NULL ? open_part(view, part, error) : FP_OK;
    if (status != FP_OK || part->reader == NULL)
        return status;
    info = fp_reader_info(part->reader);
    for (unsigned look = 0; look < 2; look++) {
        if (fp_reader_refresh(part->reader) != FP_OK)
            return fail_part(view, part, fp_reader_error(part->reader), error);
        if (info->has_trailer || info->tail_error.status == FP_ERR_TRUNCATED)
            break;
    }
    if (!info->has_trailer && info->tail_error.status != FP_ERR_TRUNCATED)
        return fail_part(view, part, &info->tail_error, error);
    part->bytes = info->file_bytes;
    return part->turn_next < part->turn_count || give_turns(part) ? FP_OK : no_memory(view, error);
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
    free_part(part);
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

static enum fp_status list_parts(struct conv_view *view, struct conv_error *error)
{
    struct dirent **entries = NULL;
    const int count = scandir(view->directory, &entries, is_footprint, by_name);
    enum fp_status status;
    if (count < 0)
        return conv_fail(error, view->directory, FP_ERR_OPEN, errno, 0, "cannot open");
    status = merge_names(view, entries, (size_t)count);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return status == FP_OK ? FP_OK : no_memory(view, error);
}

static void count_bytes(struct conv_view *view)
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

/* How large the files are, for the progress. */
static void measure_parts(struct conv_view *view)
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
    count_bytes(view);
}

enum fp_status conv_view_refresh(struct conv_view *view, struct conv_error *ret_error)
{
    enum fp_status status;
    memset(ret_error, 0, sizeof *ret_error);
    /* In this order: after the last word of recording.json, nothing is written to a footprint. */
    status = conv_view_take_status(view, ret_error);
    if (status == FP_OK)
        status = list_parts(view, ret_error);
    if (status == FP_OK)
        measure_parts(view);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

static enum fp_status read_block(struct conv_view *view, struct conv_view_part *part, uint64_t *spent,
                                 struct conv_error *error)
{
    struct fp_block block;
    struct conv_tally *tally = &part->process->tally;
    enum fp_status status = fp_reader_block(part->reader, part->turns[part->turn_next].block, &view->buffer,
                                            &block);
    if (status != FP_OK)
        return fail_part(view, part, fp_reader_error(part->reader), error);
    tally->balance.alone = tally->lane_count <= 1 && fp_reader_info(part->reader)->lane_count <= 1;
    status = conv_tally_block(tally, &block);
    if (status != FP_OK)
        return no_memory(view, error);
    part->turn_next++;
    *spent += block.mark_count;
    conv_balance_settle(&tally->balance, part->turn_next < part->turn_count
                                             ? part->turns[part->turn_next].epoch
                                             : tally->lanes[block.lane].epoch);
    return FP_OK;
}

/* What only the end of a part says. */
static void finish_part(struct conv_view_part *part)
{
    const struct fp_trailer *trailer = &fp_reader_info(part->reader)->trailer;
    struct conv_view_process *process = part->process;
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        process->lost[cause] = conv_add_saturating(process->lost[cause], trailer->lost[cause]);
    for (uint32_t i = 0; i < trailer->lane_count && i < process->tally.lane_count; i++)
        process->tally.lanes[i].thread_id = trailer->lanes[i].thread_id;
    process->trailed = true;
    process->ran_on = trailer->ran_on;
    process->uncounted |= trailer->uncounted;
    process->parts_open--;
    fp_reader_close(part->reader);
    part->reader = NULL;
    part->done = true;
}

/* What is live in a process at its end moves from one sum to the other. */
static enum fp_status end_process(struct conv_view *view, struct conv_tally *tally)
{
    const struct conv_live_sum before = view->sum.live;
    const enum fp_status status = conv_tally_end(tally);
    const struct conv_live_sum *now = &view->sum.live;
    view->left.bytes += tally->balance.bytes;
    view->left.objects += tally->balance.objects;
    for (unsigned i = 0; i < CONV_SIZE_CLASSES; i++) {
        view->left.class_bytes[i] += before.class_bytes[i] - now->class_bytes[i];
        view->left.class_objects[i] += before.class_objects[i] - now->class_objects[i];
    }
    return status;
}

/* What a recording does not tell of when it breaks off is taken to have run. */
static bool ran_on(const struct conv_view *view, const struct conv_view_process *process)
{
    if (process->gone || view->status.state == CONV_RECORDING_FINISHED)
        return process->ran_on && !process->gone;
    return process->ran_on || !process->trailed || process->in_windows;
}

/* Conclude a process of which there will be no more; what is live in one that ran on stays so. */
static enum fp_status end_if_over(struct conv_view *view, struct conv_view_process *process, bool over,
                                  struct conv_error *error)
{
    if (over)
        process->ran_on = ran_on(view, process);
    if (process->parts_open == 0 && ((process->trailed && !process->in_windows) || process->gone))
        over = true;
    if (!over || process->ran_on || process->tally.ended)
        return FP_OK;
    conv_live_sum_peak(&view->sum.live);
    return end_process(view, &process->tally) == FP_OK ? FP_OK : no_memory(view, error);
}

/* Everything was read. */
static enum fp_status conclude(struct conv_view *view, struct conv_error *error)
{
    enum fp_status status = FP_OK;
    conv_view_take_ends(view);
    for (size_t i = 0; i < view->process_count && status == FP_OK; i++)
        status = end_if_over(view, view->processes[i], !conv_view_goes_on(view), error);
    count_bytes(view);
    if (status == FP_OK && view->status.state == CONV_RECORDING_UNKNOWN && view->process_count == 0 &&
        view->only == 0)
        return conv_fail(
            error, view->directory, FP_ERR_READ, 0, 0,
            "is a directory without a footprint (*.fp): name the one that 'mallab record' wrote");
    return status;
}

/* Until `most` is spent; then turns are left. */
static enum fp_status read_part(struct conv_view *view, struct conv_view_part *part, uint64_t most,
                                uint64_t *spent, struct conv_error *error)
{
    enum fp_status status = FP_OK;
    if (!part->looked) {
        status = refresh_part(view, part, error);
        part->looked = true;
        *spent += OPEN_MARKS;
    }
    if (status != FP_OK || part->reader == NULL)
        return status;
    while (part->turn_next < part->turn_count && *spent < most && status == FP_OK)
        status = read_block(view, part, spent, error);
    if (status != FP_OK || part->turn_next < part->turn_count)
        return status;
    part->bytes_read = part->bytes;
    if (!fp_reader_info(part->reader)->has_trailer)
        return FP_OK;
    finish_part(part);
    return end_if_over(view, part->process, false, error);
}

enum fp_status conv_view_read(struct conv_view *view, uint64_t marks_max, bool *ret_more,
                              struct conv_error *ret_error)
{
    uint64_t spent = 0;
    *ret_more = false;
    for (size_t i = 0; i < view->part_count; i++) {
        struct conv_view_part *part = view->parts[i];
        enum fp_status status;
        if (part->done)
            continue;
        if (spent >= marks_max) {
            *ret_more = true;
            break;
        }
        status = read_part(view, part, marks_max, &spent, ret_error);
        if (status != FP_OK)
            return status;
        if (part->reader != NULL && part->turn_next < part->turn_count)
            *ret_more = true; /* spent, as well */
    }
    conv_live_sum_peak(&view->sum.live);
    return *ret_more ? FP_OK : conclude(view, ret_error);
}

void conv_view_progress(const struct conv_view *view, uint64_t *ret_done, uint64_t *ret_total)
{
    *ret_done = *ret_total = 0;
    for (size_t i = 0; i < view->part_count; i++) {
        const struct conv_view_part *part = view->parts[i];
        const uint64_t rest = part->bytes > part->bytes_read ? part->bytes - part->bytes_read : 0;
        *ret_total += part->bytes;
        *ret_done += part->done ? part->bytes : part->bytes_read;
        if (!part->done && part->looked && part->turn_count > 0)
            *ret_done += (uint64_t)((double)rest * (double)part->turn_next / (double)part->turn_count);
    }
}

void conv_view_mark(struct conv_view *view)
{
    view->sum_before = view->sum;
    for (size_t i = 0; i < view->process_count; i++)
        conv_tally_mark(&view->processes[i]->tally);
}

bool conv_view_knows_losses(const struct conv_view *view)
{
    if (view->status.state != CONV_RECORDING_FINISHED && !conv_view_goes_on(view))
        return false;
    for (size_t i = 0; i < view->process_count; i++)
        if (view->processes[i]->uncounted)
            return false;
    return true;
}

uint64_t conv_view_lost(const struct conv_view *view, uint64_t *ret_lost)
{
    uint64_t total = 0, untold = 0;
    memset(ret_lost, 0, FP_LOSS_COUNT * sizeof *ret_lost);
    for (size_t i = 0; i < view->process_count; i++) {
        const struct conv_view_process *process = view->processes[i];
        for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
            ret_lost[cause] = conv_add_saturating(ret_lost[cause], process->lost[cause]);
        if (!process->trailed)
            untold = conv_add_saturating(untold, process->tally.lost_calls);
    }
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++) {
        if (view->status.lost[cause] > ret_lost[cause])
            ret_lost[cause] = view->status.lost[cause];
        total = conv_add_saturating(total, ret_lost[cause]);
    }
    if (total == 0) { /* the cause stands in the trailer, or is told by the collector */
        ret_lost[FP_LOSS_COLLECTOR] = untold;
        total = untold;
    }
    return total;
}

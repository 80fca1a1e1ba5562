/* json.c - recording.json made and written. */

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/steps.h"
#include "footprint/base/words.h"

#define TEMPORARY  "recording.json.new"
#define OVER_BYTES 4096

static json_t *number(uint64_t value)
{
    return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX); /* processes count too */
}

/* A name that is not UTF-8 is told as far as JSON can. */
static json_t *text(const char *value)
{
    char copy[COLLECT_WHY_BYTES];
    json_t *string = json_string(value);
    if (string != NULL)
        return string;
    (void)fp_text_plain(value, copy, sizeof copy);
    return json_string(copy);
}

static json_t *losses(const uint64_t *lost)
{
    json_t *object = json_object();
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        if (lost[cause] != 0)
            json_object_set_new(object, fp_loss_name(cause), number(lost[cause]));
    return object;
}

/* The footprints that are there, in the order of their windows; where none could be made, the name it would have. */
static void put_files(json_t *object, const struct collect_image *image)
{
    json_t *files = json_array();
    char none[SEG_FILE + 8];
    for (size_t i = 0; i < image->part_count; i++)
        if (!image->parts[i].removed)
            json_array_append_new(files, text(image->parts[i].file));
    if (json_array_size(files) == 0) {
        (void)snprintf(none, sizeof none, "%s.fp", image->stem); /* fits */
        json_object_set_new(object, "file", text(none));
    } else {
        json_object_set(object, "file", json_array_get(files, 0));
    }
    if (image->part_count > 0 && image->parts[0].window != 0)
        json_object_set(object, "files", files);
    json_decref(files);
}

static void put_known(json_t *object, const char *key, uint64_t value)
{
    if (value <= INT64_MAX)
        json_object_set_new(object, key, number(value));
}

/* Writes the figures of the process as a whole; the series is in its footprint. */
static void put_usage(json_t *object, const struct fp_usage *usage)
{
    struct fp_usage copy = *usage;
    json_t *all = json_object();
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++)
        put_known(all, FP_USAGE_NUMBERS[i].key, *fp_usage_at(&copy, &FP_USAGE_NUMBERS[i]));
    json_object_set_new(all, "ended", json_string(fp_ended_name(usage->ended)));
    if (usage->runs_on != FP_RUNS_ON_UNKNOWN) {
        json_object_set_new(all, "how", json_string(fp_runs_on_name(usage->runs_on)));
        json_object_set_new(all, "allocator", text(usage->allocator));
        json_object_set_new(all, "version", text(usage->version));
    }
    if (usage->machine.kernel[0] != '\0')
        json_object_set_new(all, "kernel", text(usage->machine.kernel));
    json_object_set_new(object, "usage", all);
}

static json_t *process(struct collector *collector, struct collect_image *image)
{
    static const char *const ENDS[] = {
        [IMAGE_RUNNING] = "running", [IMAGE_EXIT] = "exit", [IMAGE_EXEC] = "exec"};
    json_t *object = json_object();
    const struct fp_usage *usage = usage_present(collector, image);
    uint64_t removed = 0;
    put_files(object, image);
    json_object_set_new(object, "name", text(image->program));
    json_object_set_new(object, "pid", number(image->pid));
    json_object_set_new(object, "parent_pid", number(image->parent_pid));
    json_object_set_new(object, "events", number(image->events));
    json_object_set_new(object, "threads", number(image->lane_end));
    json_object_set_new(object, "bytes", number(image->bytes));
    json_object_set_new(object, "lost", losses(image->lost));
    for (size_t i = 0; i < image->part_count; i++)
        removed += image->parts[i].removed ? image->parts[i].events : 0;
    if (removed > 0)
        json_object_set_new(object, "events_removed", number(removed));
    json_object_set_new(object, "complete", json_boolean(complete_image(image)));
    json_object_set_new(object, "ended", json_string(ENDS[image->end]));
    if (usage != NULL)
        put_usage(object, usage);
    return object;
}

/* The collector that is writing, and its place: a reader needs them to find out whether that goes on (convert/recording/recording_json.c). */
static json_t *collector_object(const struct collector *collector)
{
    json_t *object = json_object();
    char boot[FP_BOOT_BYTES];
    struct stat directory;
    struct fp_proc_stat own = {0};
    (void)fp_proc_stat(getpid(), &own); /* stays zero */
    json_object_set_new(object, "pid", number((uint64_t)getpid()));
    json_object_set_new(object, "start_ticks", number(own.start_ticks));
    json_object_set_new(object, "boot_id", text(fp_proc_boot(boot)));
    json_object_set_new(object, "pid_namespace", number(collector->segments[0].view.fixed.pid_namespace));
    if (fstat(collector->place.fd, &directory) == 0)
        json_object_set_new(object, "directory_inode", number(directory.st_ino));
    return object;
}

/* Tell what recording took outside the program, for whoever decides whether to leave it on (docs/cost.md). */
static void put_cost(json_t *object, const struct collector *collector)
{
    uint64_t held = 0;
    unsigned long long pages = 0, shared = 0;
    char text[128];
    struct rusage usage;
    if (!fp_file_begin("/proc/self/statm", text, sizeof text) ||
        sscanf(text, "%*u %llu %llu", &pages, &shared) != 2)
        pages = shared = 0;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        json_object_set_new(
            object, "collector_cpu_ns",
            number(((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
                   ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u));
    if (pages > shared)
        json_object_set_new(object, "collector_bytes",
                            number((uint64_t)(pages - shared) * (uint64_t)sysconf(_SC_PAGESIZE)));
    FOR_EACH_SEGMENT (segment, (struct collector *)(uintptr_t)collector) {
        held += segment->view.chunks_offset + seg_held(&segment->view) * (uint64_t)SEG_CHUNK_BYTES;
    }
    json_object_set_new(object, "segments", number(collector->segment_count));
    json_object_set_new(object, "segment_bytes", number(held));
    json_object_set_new(object, "segment_used_bytes", number(held));
}

/* Tell the options and pauses that left something out, as asked. */
static void put_choices(json_t *object, const struct collector *collector)
{
    const struct seg_shared *shared = collector->segments[0].view.shared;
    const uint64_t others = get_relaxed(&shared->others);
    json_t *pauses = json_array(), *names = json_array();
    for (size_t i = 0; i < collector->pauses.count; i++) {
        const struct collect_pause *pause = &collector->pauses.items[i];
        const uint64_t to_ns = pause->to_ns != 0 ? pause->to_ns : collect_elapsed_ns(collector);
        json_array_append_new(
            pauses, json_pack("{s:o, s:o}", "from_ns", number(pause->from_ns), "to_ns", number(to_ns)));
    }
    if (collector->options.attached)
        json_object_set_new(object, "attached", json_true());
    if (collector->options.sites_bytes != 0)
        json_object_set_new(object, FP_SAMPLE_META, number(collector->options.sites_bytes));
    if (collector->pauses.count > 0)
        json_object_set(object, "pauses", pauses);
    json_decref(pauses);
    for (uint64_t i = 0; i < others && i < SEG_OTHERS; i++) {
        char name[SEG_PROGRAM];
        memcpy(name, shared->other_names[i], sizeof name);
        name[sizeof name - 1] = '\0';
        if (name[0] != '\0')
            json_array_append_new(names, text(name));
    }
    if (collector->options.only != NULL) {
        json_object_set_new(object, "only", text(collector->options.only));
        json_object_set_new(object, "processes_not_asked_for", number(others));
        json_object_set(object, "programs_not_asked_for", names);
    }
    json_decref(names);
    if (collector->options.max_size_bytes != 0)
        json_object_set_new(object, "max_size_bytes", number(collector->options.max_size_bytes));
    if (collector->windows.present != 0) {
        json_object_set_new(object, "window_ns", number(collector->options.window_ns));
        json_object_set_new(object, "windows", number(collector->windows.present));
        json_object_set_new(object, "windows_removed", number(collector->windows.removed));
        json_object_set_new(object, "events_removed", number(collector->windows.removed_events));
    }
}

/* Programs of the tree that could not be recorded. */
static void put_unrecorded(json_t *object, const struct collector *collector)
{
    const struct collect_notes *notes = &collector->notes;
    json_t *list = json_array();
    for (size_t i = 0; i < notes->named_count; i++) {
        const struct collect_unrecorded *named = &notes->named[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "name", text(named->name), "pid",
                                              number(named->pid), "why", text(named->why)));
    }
    if (notes->named_count > 0)
        json_object_set(object, "not_recorded", list);
    if (notes->more > 0)
        json_object_set_new(object, "not_recorded_more", number(notes->more));
    json_decref(list);
}

/* Tell why a program runs on unrecorded. */
static void put_stop(json_t *object, const struct collector *collector)
{
    const char *name = stop_name(collector->stop.by);
    if (name != NULL)
        json_object_set_new(
            object, "stopped",
            json_pack("{s:s, s:o}", "by", name, "after_ns", number(collector->stop.after_ns)));
}

/* The state of a recording that goes on, for whoever asked for something: by the answers he knows that it was heeded, whatever others
 * have asked for since. */
static void put_state(json_t *object, const struct collector *collector)
{
    const struct collect_segment *segment = &collector->segments[0];
    const uint64_t *answered = collector->control.answered;
    const uint64_t chunks = seg_held(&segment->view), free_most = seg_for_all((uint32_t)chunks),
                   used = free_most > segment->free_chunks ? free_most - segment->free_chunks : 0;
    json_object_set_new(object, "state", json_string(collector->pauses.now ? "paused" : "recording"));
    json_object_set_new(object, "answered",
                        json_pack("{s:o, s:o, s:o, s:o}", "pause", number(answered[COLLECT_PAUSE]), "resume",
                                  number(answered[COLLECT_RESUME]), "window",
                                  number(answered[COLLECT_WINDOW]), "status",
                                  number(answered[COLLECT_STATUS])));
    json_object_set_new(object, "ring",
                        json_pack("{s:o, s:o, s:o, s:o}", "chunks", number(chunks), "chunks_used",
                                  number(used), "chunks_most", number(segment->view.fixed.chunk_count),
                                  "chunks_held", number(chunks)));
    json_object_set_new(object, "segment_path", text(segment->path));
    json_object_set_new(object, "collector", collector_object(collector));
}

static void add_counts(struct collector *collector, struct collect_image *image, uint64_t *lost,
                       uint64_t *stalls, uint64_t *stall_ns)
{
    if (!image->ended)
        complete_take_counts(collector, image);
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        lost[cause] += complete_lost(image, cause);
    if (__builtin_add_overflow(*stalls, image->stalls, stalls))
        *stalls = UINT64_MAX;
    if (__builtin_add_overflow(*stall_ns, image->stall_ns, stall_ns))
        *stall_ns = UINT64_MAX;
}

static json_t *whole(struct collector *collector, bool final)
{
    uint64_t events = 0, bytes = 0, stalls = 0, stall_ns = 0, lost[FP_LOSS_COUNT] = {0};
    char why[COLLECT_WHY_BYTES];
    json_t *object = json_object(), *processes = json_array();

    for (size_t i = 0; i < collector->image_count; i++) {
        struct collect_image *image = collector->images[i];
        add_counts(collector, image, lost, &stalls, &stall_ns);
        json_array_append_new(processes, process(collector, image));
        events += image->events;
        bytes += image->bytes;
    }
    lost[FP_LOSS_SPOILED] += collector->spoiled; /* nobody knows whose */
    bool complete = complete_judge(collector, lost, final, why);
    json_object_set_new(object, "schema", json_string("mallab-recording/1"));
    json_object_set_new(object, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(object, "started_unix_ns", number(collector->clock.start_unix_ns));
    json_object_set_new(object, "duration_ns", number(collect_elapsed_ns(collector)));
    if (collector->options.label != NULL)
        json_object_set_new(object, FP_LABEL_META, json_string(collector->options.label));
    if (collector->options.command_pid != 0)
        json_object_set_new(object, "command_pid", number(collector->options.command_pid));
    json_object_set_new(object, "complete", json_boolean(complete));
    if (!complete)
        json_object_set_new(object, "incomplete_why", text(why));
    json_object_set_new(object, "events", number(events));
    json_object_set_new(object, "bytes", number(bytes));
    json_object_set_new(object, "lost", losses(lost));
    json_object_set_new(object, "stalls", number(stalls));
    json_object_set_new(object, "stall_ns", number(stall_ns));
    json_object_set_new(object, "processes_unattached", number(collect_unattached(collector)));
    put_unrecorded(object, collector);
    if (collector->options.recover)
        json_object_set_new(object, "recovered", json_true());
    put_stop(object, collector);
    put_choices(object, collector);
    put_cost(object, collector);
    if (!final)
        put_state(object, collector);
    json_object_set_new(object, "processes", processes);
    return object;
}

/* Writes in one piece: jansson would write each word and each comma by itself, with a system call for each. */
static bool dump(const json_t *object, int fd, size_t layout)
{
    char *text = json_dumps(object, layout);
    const size_t length = text != NULL ? strlen(text) : 0;
    bool written = text != NULL && lseek(fd, 0, SEEK_SET) == 0;
    if (written)
        text[length] = '\n'; /* in place of its end */
    written = written && fp_write_all(fd, text, length + 1);
    const int saved = errno; /* the reason of a failure */
    free(text);
    errno = saved;
    return written;
}

/* Write into blocks that are ours already: on a disk that is full by now, this is the only way. */
static bool write_held(struct collector *collector, const json_t *object)
{
    const int fd = reserve_take_list(collector);
    if (fd < 0)
        return false;
    bool written = (dump(object, fd, JSON_INDENT(2)) || dump(object, fd, JSON_COMPACT)) &&
                   reserve_name_list(collector, fd, TEMPORARY);
    return close(fd) == 0 && written;
}

/* Write a new file, with blocks for the next text behind its end: see write_over. */
static bool write_anew(const struct collector *collector, const json_t *object)
{
    const int fd = openat(collector->place.fd, TEMPORARY,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool written = dump(object, fd, JSON_INDENT(2));
    if (written)
        (void)fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 2 * lseek(fd, 0, SEEK_CUR) + OVER_BYTES); /* if it can */
    return close(fd) == 0 && written;
}

/* Answers whoever asks how the recording stands on a full disk: over the old text, in its own blocks, at once and
 * never longer than those. A reader may meet half of it, finds it is no JSON, and looks again; as does one of a damaged
 * file if we are killed right there. */
static bool write_over(const struct collector *collector, const json_t *object)
{
    const int fd = openat(collector->place.fd, "recording.json", O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    char *text = json_dumps(object, JSON_COMPACT), *padded = NULL;
    const size_t length = text != NULL ? strlen(text) : 0;
    bool written = false;
    struct stat file;
    if (fd >= 0 && text != NULL && fstat(fd, &file) == 0 && (uint64_t)file.st_blocks * 512 > length) {
        const size_t size = (size_t)file.st_size > length ? (size_t)file.st_size : length + 1;
        padded = malloc(size);
        if (padded != NULL) {
            memset(padded, ' ', size); /* shorter, it would give blocks back */
            memcpy(padded, text, length);
            padded[size - 1] = '\n';
            written = pwrite(fd, padded, size, 0) == (ssize_t)size;
        }
    }
    free(padded);
    free(text);
    return (fd < 0 || close(fd) == 0) && written;
}

bool json_write(struct collector *collector, bool final)
{
    json_t *object = whole(collector, final);
    bool written = (final && write_held(collector, object)) || write_anew(collector, object);
    if (written)
        written = renameat(collector->place.fd, TEMPORARY, collector->place.fd, "recording.json") == 0;
    if (!written) {
        const int saved = errno;
        (void)unlinkat(collector->place.fd, TEMPORARY, 0); /* half a file is of no use */
        written = !final && write_over(collector, object);
        errno = saved;
    }
    json_decref(object);
    return written;
}

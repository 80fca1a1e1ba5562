/* program_image.c - /proc/PID: names, statm, status, maps. */
#include "results/measure/watch/program_image.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/support.h"

/* The begin of a file of it into storage of the caller's, terminated. Returns false when it cannot be read. */
static bool read_small(pid_t pid, const char *name, char *ret_text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return res_file_begin("", path, ret_text, size);
}

/* ---- names ---------------------------------------------------------------------------------- */

static void base_name(const char *path, char *ret_name)
{
    const char *slash = strrchr(path, '/');
    snprintf(ret_name, RES_IMAGE_NAMES, "%.*s", (int)RES_IMAGE_NAMES - 1, slash != NULL ? slash + 1 : path);
}

void res_image_begin(struct res_image *image, pid_t pid, uint64_t now_ns)
{
    char text[PATH_MAX + 32];
    *image = (struct res_image){.pid = pid, .begin_ns = now_ns, .last_ns = now_ns, .series_every = 1};
    if (read_small(pid, "cmdline", text, sizeof text))
        base_name(text, image->called); /* the first word ends in a zero byte */
    snprintf(text, sizeof text, "/proc/%d/exe", (int)pid);
    char target[PATH_MAX];
    const ssize_t length = readlink(text, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    base_name(target, image->executable);
}

bool res_image_is(const struct res_image *image, const char *name)
{
    return strncmp(image->called, name, RES_IMAGE_NAMES - 1) == 0 ||
           strncmp(image->executable, name, RES_IMAGE_NAMES - 1) == 0;
}

/* ---- figures -------------------------------------------------------------------------------- */

static uint64_t above(uint64_t value, uint64_t base)
{
    return value > base ? value - base : 0;
}

static bool take_field(const char *text, const char *key, uint64_t *ret_bytes)
{
    const char *at = strstr(text, key);
    unsigned long long kilobytes;
    if (at == NULL || sscanf(at + strlen(key), "%llu kB", &kilobytes) != 1)
        return false;
    *ret_bytes = kilobytes * 1024;
    return true;
}

bool res_status_parse(const char *text, struct res_status *ret_status)
{
    struct res_status status;
    if (!take_field(text, "\nVmHWM:", &status.peak_bytes) ||
        !take_field(text, "\nVmRSS:", &status.resident_bytes) ||
        !take_field(text, "\nRssAnon:", &status.anonymous_bytes) ||
        !take_field(text, "\nRssFile:", &status.file_bytes) ||
        !take_field(text, "\nRssShmem:", &status.shared_bytes))
        return false;
    *ret_status = status;
    return true;
}

static void keep_moment(struct res_image *image, const struct res_moment *moment)
{
    if (image->series_skipped + 1 < image->series_every) {
        image->series_skipped++;
        return;
    }
    image->series_skipped = 0;
    if (image->series_count == RES_SAMPLED_MAX) {
        for (size_t i = 0; i < RES_SAMPLED_MAX / 2; i++)
            image->series[i] = image->series[2 * i];
        image->series_count = RES_SAMPLED_MAX / 2;
        image->series_every *= 2;
    }
    image->series[image->series_count++] = *moment;
}

static bool read_statm(pid_t pid, uint64_t *ret_anonymous, uint64_t *ret_others)
{
    char text[128];
    unsigned long long resident, shared;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (!read_small(pid, "statm", text, sizeof text) ||
        sscanf(text, "%*u %llu %llu", &resident, &shared) != 2 || resident == 0)
        return false; /* it ends: its memory is gone already */
    *ret_anonymous = above(resident, shared) * page;
    *ret_others = shared * page;
    return true;
}

static void take_sample(struct res_image *image, uint64_t now_ns, uint64_t anonymous, uint64_t others)
{
    struct res_moment moment = {.time_ns = now_ns - image->begin_ns,
                                .resident_bytes = anonymous + others,
                                .anonymous_bytes = anonymous};
    image->last_ns = now_ns;
    image->sample_peak_bytes = fmax(image->sample_peak_bytes, (double)anonymous);
    image->file_peak_bytes = fmax(image->file_peak_bytes, (double)others);
    keep_moment(image, &moment);
}

void res_image_sample(struct res_image *image, uint64_t now_ns)
{
    uint64_t anonymous, others;
    if (read_statm(image->pid, &anonymous, &others))
        take_sample(image, now_ns, anonymous, others);
}

static bool maps_file(pid_t pid, const char *library)
{
    char path[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    while (maps != NULL && !found && getline(&line, &room, maps) > 0)
        found = strstr(line, library) != NULL;
    if (maps != NULL)
        fclose(maps);
    free(line);
    return found;
}

void res_image_last(struct res_image *image, uint64_t now_ns, const char *const *libraries)
{
    char text[8192];
    struct res_status status;
    if (!read_small(image->pid, "status", text, sizeof text) || !res_status_parse(text, &status))
        return; /* another thread's end, when all is over */
    image->exact = true;
    take_sample(image, now_ns, status.anonymous_bytes, status.file_bytes + status.shared_bytes);
    image->peak_bytes = fmax(image->peak_bytes, (double)status.peak_bytes);
    for (; libraries != NULL && *libraries != NULL && image->library == NULL; libraries++)
        image->library = maps_file(image->pid, *libraries) ? *libraries : NULL;
}

void res_image_end(struct res_image *image, uint64_t now_ns)
{
    image->ended = true;
    image->last_ns = now_ns;
    if (!image->exact)
        image->peak_bytes = image->sample_peak_bytes + image->file_peak_bytes;
}

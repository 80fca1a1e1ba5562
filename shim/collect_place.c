/* collect_place.c - the directory that a recording goes into: the one named, one beside it, or that of a recording to join. */
#include "shim/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORIES_TRIED 100u

static bool is_empty(int directory_fd)
{
    const int copy = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    bool empty = true;
    if (directory == NULL) {
        if (copy >= 0)
            (void)close(copy);
        return false;
    }
    while (empty && (entry = readdir(directory)) != NULL)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    (void)closedir(directory); /* only read */
    return empty;
}

static enum place try_directory(struct collector *collector, const char *path)
{
    collector->made_directory = mkdir(path, 0700) == 0;
    if (!collector->made_directory && errno != EEXIST)
        return PLACE_FAILED;
    collector->directory_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (collector->directory_fd < 0)
        return PLACE_FAILED;
    if (is_empty(collector->directory_fd))
        return PLACE_OURS;
    if (collector->options.join && segment_path_of_recording(collector->directory_fd, collector->segment.path,
                                                             sizeof collector->segment.path))
        return PLACE_JOINED;
    (void)close(collector->directory_fd);
    collector->directory_fd = -1;
    return PLACE_TAKEN;
}

static void resolve(struct collector *collector, const char *path)
{
    if (realpath(path, collector->directory) == NULL)
        (void)snprintf(collector->directory, sizeof collector->directory, "%s", path);
}

/* The highest N of all OUT.N that there are, 0 without one. */
static uint32_t highest_number(const char *out)
{
    const char *slash = strrchr(out, '/');
    const char *name = slash != NULL ? slash + 1 : out;
    const size_t length = strlen(name);
    char folder[PATH_MAX];
    uint32_t highest = 0;
    const struct dirent *entry;
    DIR *entries;
    (void)snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - out) + 1 : 1,
                   slash != NULL ? out : "."); /* as long as out */
    entries = opendir(folder);
    while (entries != NULL && length > 0 && (entry = readdir(entries)) != NULL) {
        uint64_t number;
        if (strncmp(entry->d_name, name, length) == 0 && entry->d_name[length] == '.' &&
            collect_parse_number(entry->d_name + length + 1, UINT32_MAX - DIRECTORIES_TRIED, &number) &&
            number > highest)
            highest = (uint32_t)number;
    }
    if (entries != NULL)
        (void)closedir(entries); /* only read */
    return highest;
}

/* DIR, or where others may be taken the first of DIR.2, DIR.3 ... that is free. A service that is started anew every hour
 * comes to more than are looked at one by one: then what follows the highest. */
enum place place_find(struct collector *collector, uint32_t *ret_number)
{
    const char *out = collector->options.out;
    enum place place = try_directory(collector, out);
    int reason = errno;
    uint32_t number = 1;
    resolve(collector, out);
    for (uint32_t tries = 1; place == PLACE_TAKEN && tries < 2 * DIRECTORIES_TRIED &&
                             (collector->options.unique || collector->options.join);
         tries++) {
        char path[PATH_MAX];
        number = tries != DIRECTORIES_TRIED ? number + 1 : highest_number(out) + 1;
        (void)snprintf(path, sizeof path, "%s.%u", out,
                       number); /* a path cut short fails at mkdir or below */
        place = try_directory(collector, path);
        reason = errno;
        resolve(collector, path);
    }
    *ret_number = number;
    errno = reason;
    return place;
}

void place_forget(const struct collector *collector)
{
    if (collector->made_directory)
        (void)rmdir(collector->directory); /* what others have put there keeps it */
}

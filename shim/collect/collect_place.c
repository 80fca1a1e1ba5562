/* collect_place.c - an output directory chosen, made and locked. */
#include "shim/collect/collect_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shim/collect/collect_find.h"

#define DIRECTORIES_TRIED 100u
#define PREPARED_PAUSE_NS 2000000
#define PREPARED_TRIES    2000u /* 4 s and more: the program waits for our answer (spawn.c) */

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

/* Locks the directory, or waits until the one who prepares a recording in it has done so.
 * Returns false when it is somebody's: whom we may wait for only if we want to join him. */
static bool lock_directory(int directory_fd, bool wait)
{
    const struct timespec pause = {0, PREPARED_PAUSE_NS};
    for (unsigned tries = 0; flock(directory_fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK)
            return true; /* no locks here */
        if (flock(directory_fd, LOCK_SH | LOCK_NB) == 0)
            return false; /* it is recorded into */
        if (!wait || tries == PREPARED_TRIES)
            return false;
        (void)nanosleep(&pause, NULL); /* a signal only shortens it */
    }
    return true;
}

void place_share(const struct collector *collector)
{
    (void)flock(collector->directory_fd, LOCK_SH); /* fails only where there are no locks */
}

static void resolve(struct collector *collector, const char *path)
{
    if (realpath(path, collector->directory) == NULL)
        (void)snprintf(collector->directory, sizeof collector->directory, "%s", path);
}

static enum place try_directory(struct collector *collector, const char *path, struct fp_error *ret_error)
{
    collector->made_directory = mkdir(path, 0700) == 0;
    if (!collector->made_directory && errno != EEXIST)
        return PLACE_FAILED;
    collector->directory_fd = fp_trusted_open(AT_FDCWD, path, S_IFDIR, FP_TRUSTED_OWN, ret_error);
    if (collector->directory_fd < 0 && ret_error->status == FP_ERR_UNTRUSTED)
        return PLACE_UNTRUSTED;
    if (collector->directory_fd < 0) {
        errno = ret_error->sys_errno;
        return PLACE_FAILED;
    }
    resolve(collector, path);
    if (lock_directory(collector->directory_fd, collector->options.join) && is_empty(collector->directory_fd))
        return PLACE_OURS;
    if (collector->options.join &&
        segment_of_live_collector(collector->directory_fd, collector->directory, collector->segment.path,
                                  sizeof collector->segment.path))
        return PLACE_JOINED;
    (void)close(collector->directory_fd);
    collector->directory_fd = -1;
    return PLACE_TAKEN;
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
    (void)snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - out) + 1 : 1,
                   slash != NULL ? out : "."); /* as long as out */
    DIR *entries = opendir(folder);
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
enum place place_find(struct collector *collector, uint32_t *ret_number, struct fp_error *ret_error)
{
    const char *out = collector->options.out;
    enum place place = try_directory(collector, out, ret_error);
    int reason = errno;
    uint32_t number = 1;
    for (uint32_t tries = 1; place == PLACE_TAKEN && tries < 2 * DIRECTORIES_TRIED &&
                             (collector->options.unique || collector->options.join);
         tries++) {
        char path[PATH_MAX];
        number = tries != DIRECTORIES_TRIED ? number + 1 : highest_number(out) + 1;
        (void)snprintf(path, sizeof path, "%s.%u", out, number); /* a path cut short fails below */
        place = try_directory(collector, path, ret_error);
        reason = errno;
        if (place == PLACE_UNTRUSTED) /* another user's OUT.N is passed over like one that holds something */
            place = PLACE_TAKEN;
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

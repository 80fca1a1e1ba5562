/* group_counts.c - files of a control group. */
#include "replay/system/group_counts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/proc.h"

/* memory.stat of kernel 6.18 has 3 KiB. */
#define TEXT_MAX 16384

struct names {
    const char *limit, *usage, *peak, *cache, *at_limit, *at_limit_word, *kills;
};

static const struct names NAMES[] = {
    [1] = {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.max_usage_in_bytes", "cache",
           "memory.failcnt", NULL, "memory.oom_control"},
    [2] = {"memory.max", "memory.current", "memory.peak", "file", "memory.events", "max", "memory.events"},
};

/* Returns "" where the path is too long: no file has that name. */
static const char *path_of(const char *group, const char *name, char ret_path[PATH_MAX])
{
    return snprintf(ret_path, PATH_MAX, "%s/%s", group, name) < PATH_MAX ? ret_path : "";
}

static bool read_text(const char *group, const char *name, char *ret_text, size_t size)
{
    char path[PATH_MAX];
    return fp_file_begin(path_of(group, name, path), ret_text, size) && ret_text[0] != '\0';
}

static bool parse_number(const char *text, uint64_t *ret_number)
{
    errno = 0;
    const unsigned long long number = strtoull(text, NULL, 10);
    if (text[0] < '0' || text[0] > '9' || errno != 0)
        return false;
    *ret_number = number;
    return true;
}

bool rep_group_number(const char *text, const char *word, uint64_t *ret_number)
{
    const size_t length = word != NULL ? strlen(word) : 0;
    if (word == NULL)
        return parse_number(text, ret_number);
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, word, length) == 0 && line[length] == ' ')
            return parse_number(line + length + 1, ret_number);
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return false;
}

/* 0 when it cannot be had. */
static uint64_t number_of(const char *group, const char *name, const char *word)
{
    char text[4096];
    uint64_t number = 0;
    if (read_text(group, name, text, sizeof text))
        (void)rep_group_number(text, word, &number); /* 0 then */
    return number;
}

static uint64_t cache_of(const char *group, const char *word)
{
    char text[TEXT_MAX];
    uint64_t cache = 0, shared = 0;
    if (!read_text(group, "memory.stat", text, sizeof text))
        return 0;
    (void)rep_group_number(text, word, &cache); /* 0 where they are not told */
    (void)rep_group_number(text, "shmem", &shared);
    return cache > shared ? cache - shared : 0;
}

int rep_group_version(const char *group)
{
    char path[PATH_MAX];
    int version = 2;
    while (version > 0 && access(path_of(group, NAMES[version].limit, path), R_OK) != 0)
        version--;
    return version;
}

const char *rep_group_limit_name(int version)
{
    return NAMES[version].limit;
}

bool rep_group_read(const char *group, int version, struct rep_group_counts *ret_counts)
{
    const struct names *names = &NAMES[version];
    char text[64];
    struct rep_group_counts counts = {0};
    if (!read_text(group, names->usage, text, sizeof text) ||
        !rep_group_number(text, NULL, &counts.usage_bytes))
        return false;
    counts.cache_bytes = cache_of(group, names->cache);
    if (counts.cache_bytes > counts.usage_bytes)
        counts.cache_bytes = counts.usage_bytes;
    counts.peak_bytes = number_of(group, names->peak, NULL);
    counts.at_limit = number_of(group, names->at_limit, names->at_limit_word);
    if (version ==
        1) /* of memory and swap; with equal limits it is asked first, and the other never refuses */
        counts.at_limit += number_of(group, "memory.memsw.failcnt", NULL);
    counts.oom_kills = number_of(group, names->kills, "oom_kill");
    *ret_counts = counts;
    return true;
}

int rep_group_put(const char *group, const char *name, const char *text)
{
    const size_t length = strlen(text);
    char path[PATH_MAX];
    const int fd = open(path_of(group, name, path), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const int error = write(fd, text, length) == (ssize_t)length ? 0 : errno != 0 ? errno : EIO;
    (void)close(fd); /* the kernel acted in write */
    return error;
}

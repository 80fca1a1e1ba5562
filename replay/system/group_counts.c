/* group_counts.c - files of a control group. */
#include "replay/system/group_counts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static int open_file(const char *group, const char *name, int flags)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", group, name);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_CLOEXEC);
}

static bool read_text(const char *group, const char *name, char *ret_text, size_t size)
{
    const int fd = open_file(group, name, O_RDONLY);
    size_t length = 0;
    ssize_t count = 1;
    ret_text[0] = '\0';
    if (fd < 0)
        return false;
    while (count > 0 && length < size - 1) {
        count = read(fd, ret_text + length, size - 1 - length);
        length += count > 0 ? (size_t)count : 0;
    }
    ret_text[length] = '\0';
    (void)close(fd); /* it was only read */
    return length > 0;
}

static bool parse_number(const char *text, uint64_t *ret_number)
{
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(number, (uint64_t)10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
            return false;
    }
    if (at == text)
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
    for (int version = 2; version > 0; version--) {
        const int fd = open_file(group, NAMES[version].limit, O_RDONLY);
        if (fd < 0)
            continue;
        (void)close(fd); /* nothing was done with it */
        return version;
    }
    return 0;
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
    const int fd = open_file(group, name, O_WRONLY);
    if (fd < 0)
        return errno;
    const int error = write(fd, text, length) == (ssize_t)length ? 0 : errno != 0 ? errno : EIO;
    (void)close(fd); /* the kernel acted in write */
    return error;
}

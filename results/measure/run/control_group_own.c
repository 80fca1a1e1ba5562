/* control_group_own.c - /proc/self/cgroup and /proc/self/mountinfo. Formats: cgroups(7), proc(5). */
#include <stdio.h>
#include <string.h>

#include "results/measure/run/control_group_place.h"

/* A piece of the text, without copying. */
struct piece {
    const char *at;
    size_t length;
};

static bool is(struct piece piece, const char *word)
{
    return piece.length == strlen(word) && memcmp(piece.at, word, piece.length) == 0;
}

/* Up to a separator, which is passed too; a text that ends is passed as a whole. */
static struct piece next(const char **text, const char *end, char separator)
{
    const char *begin = *text;
    const char *stop = memchr(begin, separator, (size_t)(end - begin));
    const struct piece piece = {begin, (size_t)((stop != NULL ? stop : end) - begin)};
    *text = stop != NULL ? stop + 1 : end;
    return piece;
}

/* Whether a list "rw,memory" has the word. */
static bool has(struct piece list, const char *word)
{
    const char *at = list.at, *end = list.at + list.length;
    while (at < end) {
        if (is(next(&at, end, ','), word))
            return true;
    }
    return false;
}

/* The next whole line: one without its end was cut. */
static bool next_line(const char **text, struct piece *ret_line)
{
    const char *end = strchr(*text, '\n');
    if (end == NULL)
        return false;
    *ret_line = (struct piece){*text, (size_t)(end - *text)};
    *text = end + 1;
    return true;
}

/* "4:memory:/a/b" or "0::/a/b"; the path may hold colons. */
static bool own_path(const char *cgroup, int version, struct piece *ret_path)
{
    struct piece line;
    while (next_line(&cgroup, &line)) {
        const char *at = line.at, *end = line.at + line.length;
        const struct piece number = next(&at, end, ':');
        const struct piece controllers = next(&at, end, ':');
        const bool wanted = version == 2 ? is(number, "0") && controllers.length == 0
                                         : has(controllers, "memory");
        if (!wanted || at >= end || *at != '/')
            continue;
        *ret_path = (struct piece){at, (size_t)(end - at)};
        return true;
    }
    return false;
}

/* Space, tab, newline and backslash stand there as \040 and the like. False when it does not fit. */
static bool unescape(struct piece piece, char *ret_text)
{
    size_t length = 0;
    for (size_t i = 0; i < piece.length; i++) {
        const char *at = piece.at + i;
        char byte = *at;
        if (byte == '\\' && i + 3 < piece.length && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' &&
            at[2] <= '7' && at[3] >= '0' && at[3] <= '7') {
            byte = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            i += 3;
        }
        if (byte == '\0' || length + 1 >= RES_GROUP_PATH_MAX)
            return false;
        ret_text[length++] = byte;
    }
    ret_text[length] = '\0';
    return length > 0 && ret_text[0] == '/';
}

/* "31 23 0:28 ROOT MOUNTPOINT options [tags] - cgroup2 source options" */
static bool is_mount(struct piece line, int version, char *ret_root, char *ret_mount)
{
    const char *at = line.at, *end = line.at + line.length;
    for (int i = 0; i < 3; i++)
        (void)next(&at, end, ' ');
    const struct piece root = next(&at, end, ' '), mount = next(&at, end, ' ');
    while (at < end && !is(next(&at, end, ' '), "-"))
        continue;
    const struct piece type = next(&at, end, ' ');
    (void)next(&at, end, ' '); /* the source may be anything */
    const struct piece options = next(&at, end, ' ');
    if (!is(type, version == 2 ? "cgroup2" : "cgroup") || (version == 1 && !has(options, "memory")))
        return false;
    return unescape(root, ret_root) && unescape(mount, ret_mount);
}

static bool climbs(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")) != NULL; at += 2) {
        if ((at == path || at[-1] == '/') && (at[2] == '\0' || at[2] == '/'))
            return true;
    }
    return false;
}

bool res_group_own(const char *cgroup, const char *mounts, int version, char *ret_directory, char *ret_mount)
{
    char root[RES_GROUP_PATH_MAX], mount[RES_GROUP_PATH_MAX], path[RES_GROUP_PATH_MAX];
    struct piece line, own;
    if (!own_path(cgroup, version, &own) || own.length >= sizeof path)
        return false;
    memcpy(path, own.at, own.length);
    path[own.length] = '\0';
    while (next_line(&mounts, &line)) {
        if (!is_mount(line, version, root, mount))
            continue;
        const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
        if (strncmp(path, root, length) != 0 || (path[length] != '/' && path[length] != '\0'))
            continue; /* of another part of the tree */
        const char *below = strcmp(path + length, "/") == 0 ? "" : path + length;
        if (climbs(below) || climbs(mount) || strlen(mount) + strlen(below) >= RES_GROUP_PATH_MAX)
            continue;
        (void)sprintf(ret_directory, "%s%s", mount, below); /* it fits */
        (void)strcpy(ret_mount, mount);
        return true;
    }
    return false;
}

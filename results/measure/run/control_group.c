/* control_group.c - see control_group.c. */
#include "results/measure/run/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "replay/system/group_counts.h"
#include "replay/system/run_limit.h"

#define MOUNTS_MAX (1u << 20) /* bytes of mountinfo that are looked at */

static const char DELEGATE[] = "run mallab as root, or in a group of its own: systemd-run --user --scope -p "
                               "Delegate=yes mallab ...";

/* Tells whether a list has the word. The list is cut in pieces. */
static bool has(char *list, const char *separators, const char *word)
{
    for (char *one; (one = strsep(&list, separators)) != NULL;)
        if (strcmp(one, word) == 0)
            return true;
    return false;
}

/* Tells whether one of the words of a file is this one. */
static bool file_has(const char *root, const char *directory, const char *name, const char *word)
{
    char text[4096];
    RES_FREED char *path = res_path_join(directory, name);
    const bool read = res_file_begin(root, path, text, sizeof text);
    return read && has(text, " \n", word);
}

static bool file_is(const char *root, const char *directory, const char *name)
{
    RES_FREED char *path = res_printf("%s%s/%s", root, directory, name);
    return access(path, F_OK) == 0;
}

/* NULL when groups can be made below it; else why not, the caller's. */
static char *why_not(const char *root, const char *directory, int *ret_version)
{
    struct stat facts;
    RES_FREED char *full = res_printf("%s%s", root, directory);
    char *why = NULL;
    const bool second = file_is(root, directory, "cgroup.controllers");
    *ret_version = second ? 2 : 1;
    if (stat(full, &facts) != 0)
        why = res_printf("'%s': %s", directory, strerror(errno));
    else if (!second && !file_is(root, directory, "memory.limit_in_bytes"))
        why = res_printf("'%s' is no group of the memory controller: name a directory below /sys/fs/cgroup",
                         directory);
    else if (second && !file_has(root, directory, "cgroup.controllers", "memory"))
        why = res_printf(
            "'%s' has no memory controller: the group above does not hand it down, or the kernel "
            "has it off or in version 1",
            directory);
    else if (access(full, W_OK | X_OK) != 0)
        why = res_printf("groups cannot be made in '%s' (%s): %s", directory, strerror(errno), DELEGATE);
    else if (second && !file_has(root, directory, "cgroup.subtree_control", "memory"))
        why = res_printf("'%s' does not hand the memory controller down: echo +memory > "
                         "%s/cgroup.subtree_control, of a group that holds no processes itself",
                         directory, directory);
    return why;
}

/* Takes over directory. */
static bool try_one(const char *root, char *directory, struct res_group_place *place)
{
    int version;
    char *why = why_not(root, directory, &version);
    if (why == NULL) {
        free(place->why);
        *place = (struct res_group_place){.directory = directory, .version = version};
        return true;
    }
    free(directory);
    if (place->why == NULL) /* the first reason is that of the nearest place */
        place->why = why;
    else
        free(why);
    return false;
}

bool res_group_place_find(const char *root, const char *asked, struct res_group_place *ret_place)
{
    char directory[RES_GROUP_PATH_MAX], mount[RES_GROUP_PATH_MAX], cgroup[16384];
    *ret_place = (struct res_group_place){0};
    if (asked != NULL) {
        RES_FREED char *real = root[0] == '\0' ? realpath(asked, NULL) : NULL; /* the run may be elsewhere */
        return try_one(root, res_strdup(real != NULL ? real : asked), ret_place);
    }
    RES_FREED char *mounts = res_calloc(MOUNTS_MAX, 1);
    bool found = false;
    (void)res_file_begin(root, "/proc/self/cgroup", cgroup, sizeof cgroup); /* "" when there is none */
    (void)res_file_begin(root, "/proc/self/mountinfo", mounts, MOUNTS_MAX);
    for (int version = 1; version <= 2 && !found; version++) {
        if (!res_group_own(cgroup, mounts, version, directory, mount))
            continue;
        found = try_one(root, res_strdup(directory), ret_place);
        if (!found && version == 2 && strcmp(directory, mount) != 0) {
            *strrchr(directory, '/') = '\0'; /* there is one, as it is longer than the mount */
            found = try_one(root, res_strdup(directory), ret_place);
        }
    }
    if (!found && ret_place->why == NULL)
        ret_place->why = res_strdup(
            "no control group is to be seen here: /sys/fs/cgroup is not mounted, or this "
            "container does not show its own");
    return found;
}

void res_group_place_release(struct res_group_place *place)
{
    free(place->directory);
    free(place->why);
    *place = (struct res_group_place){0};
}

/* The next whole line: one without its end was cut. The caller's to free; NULL behind the last. */
static char *next_line(const char **text)
{
    const char *begin = *text, *end = strchr(begin, '\n');
    *text = end != NULL ? end + 1 : begin;
    return end != NULL ? res_strndup(begin, (size_t)(end - begin)) : NULL;
}

/* "4:memory:/a/b" or "0::/a/b"; the path may hold colons. */
static bool is_own(char *line, int version, char *ret_path)
{
    const char *number = strsep(&line, ":");
    char *controllers = strsep(&line, ":");
    if (line == NULL || *line != '/' || strlen(line) >= RES_GROUP_PATH_MAX)
        return false;
    (void)strcpy(ret_path, line);
    return version == 2 ? strcmp(number, "0") == 0 && *controllers == '\0' : has(controllers, ",", "memory");
}

/* Space, tab, newline and backslash stand there as \040 and the like. False when it does not fit, or is no path. */
static bool unescape(const char *at, char *ret_text)
{
    size_t length = 0;
    for (; at != NULL && *at != '\0'; at++) {
        char byte = *at;
        if (byte == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' && at[3] >= '0' &&
            at[3] <= '7') {
            byte = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            at += 3;
        }
        if (byte == '\0' || length + 1 >= RES_GROUP_PATH_MAX)
            return false;
        ret_text[length++] = byte;
    }
    ret_text[length] = '\0';
    return ret_text[0] == '/';
}

/* "31 23 0:28 ROOT MOUNTPOINT options [tags] - cgroup2 source options" */
static bool is_mount(char *line, int version, char *ret_root, char *ret_mount)
{
    for (int i = 0; i < 3; i++)
        (void)strsep(&line, " ");
    const char *root = strsep(&line, " "), *mount = strsep(&line, " ");
    while (line != NULL && strcmp(strsep(&line, " "), "-") != 0)
        continue;
    const char *type = strsep(&line, " ");
    (void)strsep(&line, " "); /* the source may be anything */
    char *options = strsep(&line, " ");
    if (type == NULL || strcmp(type, version == 2 ? "cgroup2" : "cgroup") != 0 ||
        (version == 1 && !has(options, ",", "memory")))
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

/* Finds the place of the own group below a mount; false: it is of another part of the tree. */
static bool is_below(const char *root, const char *mount, const char *path, char *ret_directory)
{
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(path, root, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return false;
    const char *below = strcmp(path + length, "/") == 0 ? "" : path + length;
    if (climbs(below) || climbs(mount) || strlen(mount) + strlen(below) >= RES_GROUP_PATH_MAX)
        return false;
    (void)sprintf(ret_directory, "%s%s", mount, below); /* it fits */
    return true;
}

bool res_group_own(const char *cgroup, const char *mounts, int version, char *ret_directory, char *ret_mount)
{
    char root[RES_GROUP_PATH_MAX], mount[RES_GROUP_PATH_MAX], path[RES_GROUP_PATH_MAX], *line;
    bool is_there = false, found = false;
    for (; !is_there && (line = next_line(&cgroup)) != NULL; free(line))
        is_there = is_own(line, version, path);
    for (; is_there && !found && (line = next_line(&mounts)) != NULL; free(line))
        found = is_mount(line, version, root, mount) && is_below(root, mount, path, ret_directory);
    if (found)
        (void)strcpy(ret_mount, mount);
    return found;
}

#define PREFIX    "mallab-limit-"
#define NAMES_MAX 1000 /* tries for a name that nobody has */
#define REMOVE_MAX                                                                                           \
    2000 /* tries, of a millisecond each: kernels let go of a process a moment after it was waited for */

/* Returns a descriptor that holds the lock, -1 when somebody else does or the directory is gone. */
static int lock(const char *directory)
{
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    (void)close(fd); /* nothing was done with it */
    return -1;
}

/* ---- one group ------------------------------------------------------------------------------- */

/* A container's group is like this. What a kernel does not have needs no setting. */
static void settle(const struct res_group *group)
{
    if (group->version == 2) {
        (void)rep_group_put(group->directory, "memory.swap.max", "0");
        (void)rep_group_put(group->directory, "memory.oom.group", "1");
    } else {
        (void)rep_group_put(group->directory, "memory.swappiness", "0");
        (void)rep_group_put(group->directory, "memory.oom_control", "0"); /* else runs would wait, not die */
    }
}

/* Returns 0 or an errno. A sweeper may take the directory for left over before it is locked: then another one. */
static int make_directory(const struct res_group_place *place, struct res_group *group)
{
    static unsigned number;
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        RES_FREED char *name = res_printf(PREFIX "%d-%u", (int)getpid(), number++);
        char *directory = res_path_join(place->directory, name);
        const int error = mkdir(directory, 0755) == 0 ? 0 : errno;
        group->lock_fd = error == 0 ? lock(directory) : -1;
        if (group->lock_fd >= 0) {
            group->directory = directory;
            return 0;
        }
        free(directory);
        if (error != 0 && error != EEXIST)
            return error;
    }
    return EEXIST;
}

bool res_group_make(const struct res_group_place *place, struct res_group *ret_group, char **ret_why)
{
    struct res_group group = {.version = place->version, .lock_fd = -1, .notes_fd = -1};
    const int error = make_directory(place, &group);
    if (error != 0) {
        *ret_why = res_printf("no control group can be made in '%s': %s", place->directory, strerror(error));
        return false;
    }
    settle(&group);
    group.notes_fd = memfd_create("mallab-limit", 0);
    void *page = MAP_FAILED;
    if (group.notes_fd >= 0 && ftruncate(group.notes_fd, sizeof *group.notes) == 0)
        page = mmap(NULL, sizeof *group.notes, PROT_READ | PROT_WRITE, MAP_SHARED, group.notes_fd, 0);
    if (page == MAP_FAILED) {
        *ret_why = res_printf("no page for the notes of a run: %s", strerror(errno));
        res_group_remove(&group);
        return false;
    }
    group.notes = page;
    *ret_group = group;
    return true;
}

void res_group_remove(struct res_group *group)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    if (group->directory != NULL) {
        for (int i = 0; i < REMOVE_MAX && rmdir(group->directory) != 0 && errno == EBUSY; i++)
            (void)nanosleep(&moment, NULL); /* a signal makes it shorter */
    }
    if (group->notes != NULL)
        (void)munmap(group->notes, sizeof *group->notes); /* mapped by us */
    if (group->notes_fd >= 0)
        (void)close(group->notes_fd); /* nothing is kept in it */
    if (group->lock_fd >= 0)
        (void)close(group->lock_fd); /* nor in this */
    free(group->directory);
    *group = (struct res_group){.lock_fd = -1, .notes_fd = -1};
}

static uint64_t noted(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* Numbers beyond what JSON's signed ones hold do not occur; a run that went wild could have written one. */
static void set_count(json_t *object, const char *key, uint64_t number)
{
    json_object_set_new(object, key, json_integer((json_int_t)(number & INT64_MAX)));
}

json_t *res_group_killed(const struct res_group *group, uint64_t limit_bytes)
{
    const struct rep_limit_notes *notes = group->notes;
    struct rep_group_counts counts;
    char limit[32], live[32], objects[32], first[32], last[32];
    if (!rep_group_read(group->directory, group->version, &counts) || counts.oom_kills == 0)
        return NULL;
    json_t *failure = json_object();
    json_object_set_new(failure, "cause", json_string("oom"));
    set_count(failure, "limit_bytes", limit_bytes);
    (void)fp_text_bytes((double)limit_bytes, limit);
    const uint64_t done = noted(&notes->ops_done), ops = noted(&notes->ops);
    const uint64_t width = noted(&notes->window_ops_max), base = noted(&notes->base_bytes);
    char *where;
    if (noted(&notes->begun) == 0) {
        where = res_strdup("before the first op");
    } else {
        const uint64_t left = ops > done ? ops - done : 0;
        const uint64_t to = done + (width < left ? width : left) - 1;
        set_count(failure, "live_bytes", noted(&notes->live_bytes));
        set_count(failure, "live_objects", noted(&notes->live_objects));
        if (counts.peak_bytes > base)
            set_count(failure, "peak_bytes", counts.peak_bytes - base + noted(&notes->early_bytes));
        if (left > 0 && width > 0) {
            set_count(failure, "op", done);
            set_count(failure, "op_last", to);
            where = res_printf("in one of the ops %s to %s, with %s in %s objects live before them",
                               fp_text_grouped(done, first), fp_text_grouped(to, last),
                               fp_text_bytes((double)noted(&notes->live_bytes), live),
                               fp_text_grouped(noted(&notes->live_objects), objects));
        } else {
            where = res_strdup("after the last op, at rest");
        }
    }
    RES_FREED char *text = res_printf("the kernel killed it for want of memory %s; the limit is %s", where,
                                      limit);
    free(where);
    json_object_set_new(failure, "text", json_string(text));
    return failure;
}

/* ---- whether it works ------------------------------------------------------------------------ */

static void sweep(const struct res_group_place *place)
{
    DIR *directory = opendir(place->directory);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        RES_FREED char *path = res_path_join(place->directory, entry->d_name);
        const int fd = lock(path);
        if (fd >= 0) {
            (void)rmdir(path); /* its run may still be ending: then the next one sweeps it */
            (void)close(fd);   /* nothing was done with it */
        }
    }
    if (directory != NULL)
        (void)closedir(directory); /* it was only read */
}

static int join(void *data)
{
    return rep_group_put(data, "cgroup.procs", "0");
}

/* A process of ours joins. Returns 0 or an errno. */
static int try_joining(const struct res_group *group)
{
    const struct fp_process_plan plan = {.body = join, .data = group->directory};
    int status = 0;
    const int error = fp_process_run(&plan, &status);
    return error != 0 ? error : WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

char *res_group_try(const struct res_group_place *place)
{
    struct res_group group;
    char *why = NULL;
    sweep(place);
    if (!res_group_make(place, &group, &why))
        return why;
    if (rep_group_version(group.directory) != place->version)
        why = res_printf("a group made in '%s' has no %s", place->directory,
                         rep_group_limit_name(place->version));
    const int error = why == NULL ? try_joining(&group) : 0;
    if (error != 0)
        why = res_printf(
            "no process can be moved into a group in '%s' (%s): run mallab as root, or in a group of "
            "its own: systemd-run --user --scope -p Delegate=yes mallab ...",
            place->directory, strerror(error));
    res_group_remove(&group);
    return why;
}

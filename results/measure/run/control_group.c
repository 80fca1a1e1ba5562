/* control_group.c - see control_group.h. */
#include "results/measure/run/control_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
#include "replay/system/run_limit_notes.h"

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
        char *name = res_printf(PREFIX "%d-%u", (int)getpid(), number++);
        char *directory = res_path_join(place->directory, name);
        free(name);
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
    char *text = res_printf("the kernel killed it for want of memory %s; the limit is %s", where, limit);
    free(where);
    json_object_set_new(failure, "text", json_string(text));
    free(text);
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
        char *path = res_path_join(place->directory, entry->d_name);
        const int fd = lock(path);
        if (fd >= 0) {
            (void)rmdir(path); /* its run may still be ending: then the next one sweeps it */
            (void)close(fd);   /* nothing was done with it */
        }
        free(path);
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

/* control_group_place.c - which of the directories will do. */
#include "results/measure/run/control_group_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/support.h"

#define MOUNTS_MAX (1u << 20) /* bytes of mountinfo that are looked at */

static const char DELEGATE[] = "run mallab as root, or in a group of its own: systemd-run --user --scope -p "
                               "Delegate=yes mallab ...";

/* Whether one of the words of a file is this one. */
static bool file_has(const char *root, const char *directory, const char *name, const char *word)
{
    char text[4096], *rest = text;
    char *path = res_path_join(directory, name);
    const bool read = res_file_begin(root, path, text, sizeof text);
    free(path);
    for (char *one = strtok_r(rest, " \n", &rest); read && one != NULL; one = strtok_r(NULL, " \n", &rest)) {
        if (strcmp(one, word) == 0)
            return true;
    }
    return false;
}

static bool file_is(const char *root, const char *directory, const char *name)
{
    char *path = res_printf("%s%s/%s", root, directory, name);
    const bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* NULL when groups can be made below it; else why not, the caller's. */
static char *why_not(const char *root, const char *directory, int *ret_version)
{
    struct stat facts;
    char *full = res_printf("%s%s", root, directory);
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
    free(full);
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
        char *real = root[0] == '\0' ? realpath(asked, NULL) : NULL; /* the run may be elsewhere */
        const bool found = try_one(root, res_strdup(real != NULL ? real : asked), ret_place);
        free(real);
        return found;
    }
    char *mounts = res_calloc(MOUNTS_MAX, 1);
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
    free(mounts);
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

/* fuzz_groups.c - any bytes as /proc/self/cgroup and, behind the first empty line, as /proc/self/mountinfo: no directory, or one
 * below where something is mounted; and as a file of counts. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "replay/system/group_counts.h"
#include "results/measure/run/run.h"

static void check_directory(const char *directory, const char *mount)
{
    FUZZ_CHECK(directory[0] == '/' && strlen(directory) < RES_GROUP_PATH_MAX);
    FUZZ_CHECK(strncmp(directory, mount, strlen(mount)) == 0);
    FUZZ_CHECK(strstr(directory, "/../") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char directory[RES_GROUP_PATH_MAX], mount[RES_GROUP_PATH_MAX];
    char *text = calloc(1, size + 1);
    FUZZ_CHECK(text != NULL);
    memcpy(text, bytes, size);
    char *empty = strstr(text, "\n\n");
    const char *mounts = empty != NULL ? empty + 2 : "";
    if (empty != NULL)
        empty[1] = '\0';
    for (int version = 1; version <= 2; version++) {
        if (res_group_own(text, mounts, version, directory, mount))
            check_directory(directory, mount);
    }
    uint64_t number = 1;
    if (!rep_group_number(text, "oom_kill", &number) && !rep_group_number(text, NULL, &number))
        FUZZ_CHECK(number == 1);
    free(text);
    return 0;
}

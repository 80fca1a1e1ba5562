/* test_results_group - which directory control groups are made in, on trees made of files; what the kernel's texts say, sound
 * and not; the counts of a group. */
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "harness.h"
#include "replay/system/group_counts.h"
#include "results/measure/run/run.h"
#include "unit/machine_files.h"

#define V1_MOUNT                                                                                             \
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - "     \
    "cgroup cgroup rw,memory\n"
#define V2_MOUNT                                                                                             \
    "22 27 0:21 / /proc rw - proc proc rw\n41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 master:1 - "     \
    "cgroup2 cgroup2 rw\n"

/* ---- texts ----------------------------------------------------------------------------------- */

/* The directory, or "". */
static const char *own(const char *cgroup, const char *mounts, int version)
{
    static char directory[RES_GROUP_PATH_MAX];
    char mount[RES_GROUP_PATH_MAX];
    return res_group_own(cgroup, mounts, version, directory, mount) ? directory : "";
}

TEST(the_own_group_is_found)
{
    CHECK_STR(own("4:memory:/a/b\n0::/x\n", V1_MOUNT, 1), "/sys/fs/cgroup/memory/a/b");
    CHECK_STR(own("4:cpu,memory:/\n", V1_MOUNT, 1), "/sys/fs/cgroup/memory");
    CHECK_STR(own("1:name=x:/y\n0::/a/b\n", V2_MOUNT, 2), "/sys/fs/cgroup/a/b");
    CHECK_STR(own("0::/\n", V2_MOUNT, 2), "/sys/fs/cgroup");
    CHECK_STR(own("0::/a:b\n", V2_MOUNT, 2), "/sys/fs/cgroup/a:b");
}

TEST(a_container_shows_a_part_of_the_tree)
{
    const char *part = "5 4 0:9 /docker/c1 /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
    CHECK_STR(own("0::/docker/c1\n", part, 2), "/sys/fs/cgroup");
    CHECK_STR(own("0::/docker/c1/sub\n", part, 2), "/sys/fs/cgroup/sub");
    CHECK_STR(own("0::/docker/c12\n", part, 2), "");
    CHECK_STR(own("0::/\n", part, 2), "");
    CHECK_STR(own("0::/../c2\n", V2_MOUNT, 2), ""); /* seen from a namespace of groups */
    CHECK_STR(own("0::/a/..\n", V2_MOUNT, 2), "");
    CHECK_STR(own("0::/a..b/..c\n", V2_MOUNT, 2), "/sys/fs/cgroup/a..b/..c");
}

TEST(spaces_in_mounts_are_escaped)
{
    CHECK_STR(own("0::/a\n", "5 4 0:9 / /my\\040groups\\134 rw - cgroup2 c rw\n", 2), "/my groups\\/a");
    CHECK_STR(own("0::/a\n", "5 4 0:9 / /zero\\000 rw - cgroup2 c rw\n", 2), "");
}

TEST(what_is_no_such_text_finds_nothing)
{
    static const char *const CGROUPS[] = {"",       "\n",    ":",           "0::",       "0::\n",
                                          "0::a\n", "0::/a", "memory:/a\n", "4:memory\n"};
    static const char *const MOUNTS[] = {"",
                                         "\n",
                                         "- cgroup2",
                                         " - cgroup2 a b\n",
                                         "1 2 3 / /m rw cgroup2 c rw\n",
                                         "1 2 3 x /m rw - cgroup2 c rw\n",
                                         "1 2 3 / m rw - cgroup2 c rw\n",
                                         "1 2 3 / /m rw - cgroup2 c rw"};
    for (size_t i = 0; i < COUNT_OF(CGROUPS); i++) {
        CHECK_STR(own(CGROUPS[i], V2_MOUNT, 2), "");
        CHECK_STR(own(CGROUPS[i], V1_MOUNT, 1), "");
    }
    for (size_t i = 0; i < COUNT_OF(MOUNTS); i++) {
        CHECK_STR(own("0::/a\n", MOUNTS[i], 2), "");
        CHECK_STR(own("4:memory:/a\n", MOUNTS[i], 1), "");
    }
    OWNED_TEXT *cgroup = res_printf("0::/%0*d\n", RES_GROUP_PATH_MAX - 10, 0);
    CHECK_STR(own(cgroup, V2_MOUNT, 2), ""); /* with the mount before it, it is too long */
}

TEST(numbers_are_read_strictly)
{
    uint64_t number = 7;
    CHECK(rep_group_number("12\n", NULL, &number) && number == 12);
    CHECK(rep_group_number("low 1\nmax 3\noom_kill 18446744073709551615\n", "oom_kill", &number) &&
          number == UINT64_MAX);
    CHECK(rep_group_number("oom_kill_disable 0\noom_kill 4", "oom_kill", &number) && number == 4);
    CHECK(!rep_group_number("18446744073709551616\n", NULL, &number));
    CHECK(!rep_group_number("max\n", NULL, &number) && !rep_group_number("", NULL, &number));
    CHECK(!rep_group_number("oom 1\nxmax 2\nmax\nmax x\n", "max", &number));
    CHECK(number == 4);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The place, or the reason in parentheses. */
static const char *place(const char *asked)
{
    static char words[2048];
    OWNED(res_group_place) found;
    if (res_group_place_find(root, asked, &found))
        snprintf(words, sizeof words, "%d %s", found.version, found.directory);
    else
        snprintf(words, sizeof words, "(%s)", found.why);
    return words;
}

static void put_group(const char *directory, const char *controllers, const char *subtree)
{
    char path[512];
    snprintf(path, sizeof path, "%s/cgroup.controllers", directory);
    put(path, controllers);
    snprintf(path, sizeof path, "%s/cgroup.subtree_control", directory);
    put(path, subtree);
}

TEST(version_1_takes_the_own_group)
{
    machine_begin();
    put("/proc/self/cgroup", "4:memory:/a\n0::/\n");
    put("/proc/self/mountinfo", V1_MOUNT V2_MOUNT);
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1\n");
    CHECK_STR(place(NULL), "1 /sys/fs/cgroup/memory/a");
}

TEST(version_2_takes_the_group_above_where_the_own_has_members)
{
    machine_begin();
    put("/proc/self/cgroup", "0::/slice/scope\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put_group("/sys/fs/cgroup", "cpu memory\n", "memory\n");
    put_group("/sys/fs/cgroup/slice", "cpu memory pids\n", "pids memory\n");
    put_group("/sys/fs/cgroup/slice/scope", "memory pids\n", "\n");
    CHECK_STR(place(NULL), "2 /sys/fs/cgroup/slice");
    put_group("/sys/fs/cgroup/slice/scope", "memory pids\n", "memory\n");
    CHECK_STR(place(NULL), "2 /sys/fs/cgroup/slice/scope");
    CHECK_STR(place("/sys/fs/cgroup"), "2 /sys/fs/cgroup");
}

TEST(reasons_name_the_remedy)
{
    machine_begin();
    CHECK(strstr(place(NULL), "/sys/fs/cgroup is not mounted") != NULL);
    put("/proc/self/cgroup", "0::/slice/scope\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    CHECK(strstr(place(NULL), "(no group") == NULL);
    put_group("/sys/fs/cgroup", "cpu\n", "\n");
    put_group("/sys/fs/cgroup/slice", "cpu\n", "\n");
    put_group("/sys/fs/cgroup/slice/scope", "cpu\n", "\n");
    CHECK(strstr(place(NULL), "has no memory controller") != NULL);
    put_group("/sys/fs/cgroup/slice", "memory\n", "\n");
    put_group("/sys/fs/cgroup/slice/scope", "memory\n", "\n");
    CHECK(strstr(place(NULL), "echo +memory > /sys/fs/cgroup/slice/scope/cgroup.subtree_control") != NULL);
    CHECK(strstr(place("/nowhere"), "'/nowhere': No such file") != NULL);
    put("/tmp/file", "");
    CHECK(strstr(place("/tmp"), "no group of the memory controller") != NULL);
    if (geteuid() != 0) { /* root may write anywhere */
        char path[8192];
        put_group("/sys/fs/cgroup/slice", "memory\n", "memory\n");
        snprintf(path, sizeof path, "%s/sys/fs/cgroup/slice", root);
        CHECK(chmod(path, 0500) == 0);
        CHECK(strstr(place("/sys/fs/cgroup/slice"), "systemd-run --user --scope") != NULL);
        CHECK(chmod(path, 0700) == 0);
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

TEST(both_versions_count_the_same)
{
    struct rep_group_counts counts;
    char path[8192];
    machine_begin();
    put("/one/memory.limit_in_bytes", "1\n");
    put("/one/memory.usage_in_bytes", "5000000\n");
    put("/one/memory.max_usage_in_bytes", "6000000\n");
    put("/one/memory.stat", "cache 400000\nrss 3\nshmem 100000\n");
    put("/one/memory.failcnt", "3\n");
    put("/one/memory.memsw.failcnt", "4\n");
    put("/one/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    put("/two/memory.max", "max\n");
    put("/two/memory.current", "5000000\n");
    put("/two/memory.peak", "6000000\n");
    put("/two/memory.stat", "anon 3\nfile 400000\nkernel 9\nshmem 100000\n");
    put("/two/memory.events", "low 0\nhigh 0\nmax 7\noom 2\noom_kill 1\n");
    for (int version = 1; version <= 2; version++) {
        snprintf(path, sizeof path, "%s/%s", root, version == 1 ? "one" : "two");
        CHECK(rep_group_version(path) == version);
        CHECK(rep_group_read(path, version, &counts));
        CHECK(counts.usage_bytes == 5000000 && counts.cache_bytes == 300000 && counts.peak_bytes == 6000000);
        CHECK(counts.at_limit == 7 && counts.oom_kills == 1);
    }
    snprintf(path, sizeof path, "%s/nothing", root);
    CHECK(rep_group_version(path) == 0 && !rep_group_read(path, 2, &counts));
    put("/two/memory.stat", "file 99999999999\n"); /* more than there is */
    put("/two/memory.events", "");
    snprintf(path, sizeof path, "%s/two", root);
    CHECK(rep_group_read(path, 2, &counts) && counts.cache_bytes == counts.usage_bytes &&
          counts.oom_kills == 0);
}

/* test_shim_quota.c - the processors that control groups leave a process: both versions, the groups above it, and words that are none. */
#include "collect/steps.h"
#include "unit/harness.h"
#include "unit/machine_files.h"

static uint64_t quota(const char *text)
{
    char groups[4096];
    snprintf(groups, sizeof groups, "%s", text);
    return proc_quota_milli(root, groups);
}

TEST(the_second_version)
{
    machine_begin();
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    CHECK_U64(quota("0::/a/b\n"), FP_USAGE_UNKNOWN);
    put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"); /* the group above has one */
    CHECK_U64(quota("0::/a/b\n"), 1500);
    CHECK_U64(quota("0::/a\n"), 1500);
    CHECK_U64(quota("0::/\n"), FP_USAGE_UNKNOWN);
    put("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    CHECK_U64(quota("1:name=systemd:/x\n0::/a/b\n"), 500);
}

TEST(the_first_version)
{
    static const char GROUPS[] = "12:cpuset:/wrong\n4:cpu,cpuacct:/docker/c1/sub\n3:memory:/wrong\n";
    machine_begin();
    put("/sys/fs/cgroup/cpu/wrong/cpu.cfs_quota_us", "10000\n");
    put("/sys/fs/cgroup/cpu/wrong/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu/docker/c1/sub/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/docker/c1/sub/cpu.cfs_period_us", "100000\n");
    CHECK_U64(quota(GROUPS), FP_USAGE_UNKNOWN);
    put("/sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us", "500000\n");
    put("/sys/fs/cgroup/cpu/docker/cpu.cfs_period_us", "250000\n");
    CHECK_U64(quota(GROUPS), 2000);
    CHECK_U64(quota("4:cpuacct,cpu:/docker\n"), 2000);
    CHECK_U64(quota("4:cpu:/docker\n"), 2000);
    CHECK_U64(quota("4:cpuacct:/docker\n5:cpuset:/,cpu,:/docker\n"), FP_USAGE_UNKNOWN);
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n"); /* a container's own group stands at the top */
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    CHECK_U64(quota(GROUPS), 1500);
}

TEST(the_least_of_both)
{
    machine_begin();
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/b/cpu.max", "200000 100000\n");
    CHECK_U64(quota("2:cpu,cpuacct:/a\n0::/b\n"), 2000);
    CHECK_U64(quota("2:cpu,cpuacct:/a\n0::/none\n"), 3000);
}

TEST(what_is_no_quota)
{
    static const char *const TEXTS[] = {
        "", "\n", "max", "0 100000", "100000 0", "100000", "-1 100000", "x y\n", "99999999999999999999 1"};
    static const char *const GROUPS[] = {"", "\n", "0", "0:", "0:/a", "::", "0::", "cpu:/a", "0::../a"};
    machine_begin();
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++) {
        put("/sys/fs/cgroup/a/cpu.max", TEXTS[i]);
        put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", TEXTS[i]);
        CHECK_U64(quota("1:cpu:/a\n0::/a\n"), FP_USAGE_UNKNOWN);
    }
    put("/sys/fs/cgroup/a/cpu.max", "100000 100000");
    for (size_t i = 0; i < COUNT_OF(GROUPS); i++)
        CHECK_U64(quota(GROUPS[i]), FP_USAGE_UNKNOWN);
    CHECK_U64(quota("0::/a"), 1000);
}

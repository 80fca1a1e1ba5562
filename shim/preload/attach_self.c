/* attach_self.c - who this process is: its id, its parent's, its pid namespace. Laws: those of attach.h. */
#include "shim/preload/attach_self.h"

#include <sys/stat.h>

#include "shim/preload/confine.h"
#include "shim/preload/lane_pool.h"
#include "shim/shared/raw.h"

struct attach_self attach_self;

static uint64_t namespace_at(const char *path)
{
    struct stat status = {0};
#if defined(SYS_newfstatat)
    if (raw_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&status, 0, 0, 0) == 0)
        return status.st_ino;
#endif
    (void)path;
    return 0;
}

void attach_make_ready(void)
{
    if (!confine_may_call())
        return;
    attach_self.of_children = namespace_at("/proc/self/ns/pid_for_children");
    confine_called();
}

/* A confined process's forked child. libc knows its id, but not that of one that was made by a raw clone. */
static bool identify_confined(void)
{
    const uint32_t id = confine_thread_id();
    if (id == 0 || id == lane_thread)
        return false;
    attach_self.parent_pid = attach_self.pid;
    attach_self.pid = id;
    attach_self.namespace = attach_self.of_children;
    return true;
}

/* A parent outside its child's namespace has the id 0 there. What a parent found holds for its children, who may have no
 * /proc to ask. */
static void find_namespace(void)
{
    if (attach_self.namespace != 0 && shim_segment.fixed.pid_namespace != 0)
        attach_self.foreign = attach_self.namespace != shim_segment.fixed.pid_namespace;
    else if (attach_self.parent_pid == 0)
        attach_self.foreign = true;
}

bool attach_identify(void)
{
    if (!confine_may_call()) {
        if (!identify_confined())
            return false;
        find_namespace();
        return true;
    }
    attach_self.pid = raw_getpid();
    attach_self.parent_pid = (uint32_t)raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
    attach_self.namespace = namespace_at("/proc/self/ns/pid");
    confine_called();
    find_namespace();
    return true;
}

/* limits.c - words for a file that asks for too much; RLIMIT_NOFILE, raised while somebody needs it. */
#include "convert/base/limits.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "footprint/base/memory_bound.h"

enum fp_status conv_bound_told(enum fp_status status, const char *path, struct conv_error *error)
{
    const bool refused = fp_memory_refused();
    fp_memory_forget();
    if (status != FP_ERR_MEMORY || !refused)
        return status;
    return conv_fail(error, path, FP_ERR_LIMIT, 0, 0,
                     "takes more memory than %llu MiB, %s; --max-memory SIZE (or " FP_MEMORY_VARIABLE
                     ", in bytes) sets another bound",
                     (unsigned long long)(fp_memory_bound() >> 20), fp_memory_reason());
}

static unsigned users;
static struct rlimit before; /* rlim_cur 0: nothing to put back */

void conv_descriptors_raise(void)
{
    struct rlimit raised;
    if (users++ > 0)
        return;
    if (getrlimit(RLIMIT_NOFILE, &before) != 0)
        before.rlim_cur = 0;
    raised = before;
    raised.rlim_cur = raised.rlim_max;
    if (before.rlim_cur != 0 && setrlimit(RLIMIT_NOFILE, &raised) != 0)
        before.rlim_cur = 0;
}

void conv_descriptors_lower(void)
{
    if (--users == 0 && before.rlim_cur != 0)
        (void)setrlimit(RLIMIT_NOFILE, &before); /* lowering it is always allowed */
}

enum fp_status conv_descriptors_failed(const char *path, struct conv_error *error)
{
    struct rlimit now = {0};
    (void)getrlimit(RLIMIT_NOFILE, &now); /* cannot fail with these arguments */
    return conv_fail(error, path, FP_ERR_LIMIT, 0, 0,
                     "more footprints have to be open at once than this process may open files (%llu): raise "
                     "'ulimit -Hn', or convert fewer processes or windows",
                     (unsigned long long)now.rlim_cur);
}

bool conv_reserve_counted(void **items, size_t *capacity, size_t wanted, size_t item_bytes)
{
    const size_t half_more = *capacity + *capacity / 2 + 1024, more = half_more > wanted ? half_more : wanted;
    void *grown;
    if (wanted <= *capacity)
        return true;
    if (!fp_memory_change(*capacity * item_bytes, more * item_bytes))
        return false;
    grown = realloc(*items, more * item_bytes);
    if (grown == NULL) {
        fp_memory_give((more - *capacity) * item_bytes);
        return false;
    }
    *items = grown;
    *capacity = more;
    return true;
}

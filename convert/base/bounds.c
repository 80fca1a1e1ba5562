/* bounds.c - words for a file that asks for too much memory. */
#include "convert/base/bounds.h"

#include "convert/open/input.h"
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

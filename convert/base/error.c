/* error.c - errors filled in, and put into words; the bounds that files meet. */
#include "convert/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "footprint/base/memory_bound.h"
#include "footprint/base/words.h"

enum fp_status conv_fail(struct conv_error *error, const char *path, enum fp_status status, int sys_errno,
                         uint64_t offset, const char *format, ...)
{
    va_list list;
    memset(error, 0, sizeof *error);
    snprintf(error->path, sizeof error->path, "%s", path);
    va_start(list, format);
    vsnprintf(error->what, sizeof error->what, format, list);
    va_end(list);
    error->cause = fp_error_make(status, sys_errno, offset, error->what);
    return status;
}

enum fp_status conv_fail_with(struct conv_error *error, const char *path, const struct fp_error *cause)
{
    if (cause->status == FP_ERR_VERSION)
        return conv_fail(error, path, cause->status, 0, cause->offset,
                         "is of format version %u, this mallab reads up to %u", cause->version_found,
                         cause->version_known);
    (void)conv_fail(error, path, cause->status, cause->sys_errno, cause->offset, "%s",
                    cause->what != NULL ? cause->what : fp_status_name(cause->status));
    error->cause.distrust = cause->distrust;
    error->cause.is_common = cause->is_common;
    memcpy(error->cause.owner, cause->owner, sizeof cause->owner);
    return cause->status;
}

enum fp_status conv_fail_memory(struct conv_error *error, const char *path, const char *what)
{
    return conv_fail(error, path, FP_ERR_MEMORY, 0, 0, "no memory for %s", what);
}

enum fp_status conv_no_remedy(struct conv_error *error)
{
    error->cause.no_remedy = true;
    return error->cause.status;
}

char *conv_error_text(const struct conv_error *error, char *ret_text, size_t size)
{
    char what[sizeof error->what + 64];
    struct fp_error cause = error->cause;
    if (error->line != 0) {
        snprintf(what, sizeof what, "line %llu: %s", (unsigned long long)error->line, error->what);
        cause.what = what;
    } else {
        cause.what = error->what;
    }
    (void)fp_error_text(&cause, error->path[0] != '\0' ? error->path : NULL, ret_text, size);
    if (error->salvageable && size > 0)
        fp_text_more(ret_text, size, ", ",
                     error->takes_salvage ? "else --salvage leaves out what is damaged"
                                          : "else 'mallab convert --salvage' leaves out what is damaged");
    return ret_text;
}

int conv_error_exit_code(const struct conv_error *error)
{
    if (error->output)
        return 1;
    switch (error->cause.status) {
    case FP_ERR_OPEN:
    case FP_ERR_READ:
    case FP_ERR_FOREIGN:
    case FP_ERR_VERSION:
    case FP_ERR_TRUNCATED:
    case FP_ERR_CORRUPT:
    case FP_ERR_CHECKSUM:
    case FP_ERR_LIMIT:
    case FP_ERR_UNTRUSTED:
        return 3;
    case FP_ERR_ARGUMENT:
        return 2;
    default:
        return 1;
    }
}

/* ---- limits ------------------------------------------------------------------------------------------ */

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

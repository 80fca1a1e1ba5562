/* status.h - the failures of libfootprint, as values with names.
 *
 * Libraries of mallab never print and never exit: they return one of these and, where there is a
 * file at fault, fill a struct fp_error. Programs turn both into one line with fp_error_text(). */
#ifndef MALLAB_FOOTPRINT_BASE_STATUS_H
#define MALLAB_FOOTPRINT_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values are part of the interface: new ones go to the end, old ones are never renumbered. */
enum fp_status {
    FP_OK = 0,
    FP_END = 1,            /* nothing more to read; the file is whole */
    FP_ERR_OPEN = 2,       /* sys_errno says why */
    FP_ERR_READ = 3,       /* sys_errno says why */
    FP_ERR_WRITE = 4,      /* sys_errno says why */
    FP_ERR_MEMORY = 5,     /* no memory, or more than the declared bound would be needed */
    FP_ERR_FOREIGN = 6,    /* not a file of this kind */
    FP_ERR_VERSION = 7,    /* written by a newer mallab */
    FP_ERR_TRUNCATED = 8,  /* the file ends inside a block, or before its trailer */
    FP_ERR_CORRUPT = 9,    /* a field or a column contradicts docs/format.md */
    FP_ERR_CHECKSUM = 10,  /* the bytes are not those that were written */
    FP_ERR_EXISTS = 11,    /* the output exists already */
    FP_ERR_LIMIT = 12,     /* a documented limit of the format is exceeded */
    FP_ERR_ARGUMENT = 13,  /* the caller broke the contract in a way that data can cause */
    FP_ERR_UNTRUSTED = 14, /* another user's, or others may write to it: see fp_error.distrust (trusted.h) */
};

/* Reasons not to believe what another process may have made (trusted.h). */
enum fp_distrust {
    FP_TRUSTED = 0,
    FP_DISTRUST_KIND,     /* not a regular file, or no directory, as it was wanted */
    FP_DISTRUST_OWNER,    /* another user's */
    FP_DISTRUST_WRITABLE, /* its group or others may write to it; an access list shows in the group's bits */
    FP_DISTRUST_NAMES,    /* a file with several names: one of them may lie where others write */
    FP_DISTRUST_LINK,     /* a symbolic link, which was not followed */
};

/* The place and the cause of an error. `what` is a static English phrase, lower case, no full stop; never freed. */
struct fp_error {
    enum fp_status status;
    int sys_errno;   /* errno of the failed call, 0 when none */
    uint64_t offset; /* first byte of the file that was not understood */
    const char *what;
    uint16_t version_found, version_known; /* FP_ERR_VERSION: the file's, and the newest that is read */
    bool no_header;            /* the file was shorter than its header when it was read; it may grow yet */
    bool no_remedy;            /* `what` is enough: fp_error_text() puts no remedy of the status behind it */
    enum fp_distrust distrust; /* FP_ERR_UNTRUSTED */
    bool is_common; /* likewise: a directory of others too, as /tmp, or of another user: its mode stays */
    char owner[36]; /* likewise: the user's name, else the number; cut where it is longer */
};

/* fp_error_make - an error without versions. */
static inline struct fp_error fp_error_make(enum fp_status status, int sys_errno, uint64_t offset,
                                            const char *what)
{
    return (struct fp_error){.status = status, .sys_errno = sys_errno, .offset = offset, .what = what};
}

/* fp_error_tell - hand an error to whoever asked. ret_error: may be NULL. Returns its status. */
static inline enum fp_status fp_error_tell(struct fp_error error, struct fp_error *ret_error)
{
    if (ret_error != NULL)
        *ret_error = error;
    return error.status;
}

/* fp_status_name - the constant's name without its prefix in lower case ("checksum").
 * Returns a static string for every int, "unknown" for values outside the enum. */
const char *fp_status_name(enum fp_status status);

/* fp_error_text - word an error for one line on stderr: cause, offset and remedy.
 * error     borrowed. path: the file's name as the user gave it, may be NULL.
 * ret_text  receives at most size bytes, always terminated when size > 0.
 * Returns   ret_text. */
char *fp_error_text(const struct fp_error *error, const char *path, char *ret_text, size_t size);

#endif

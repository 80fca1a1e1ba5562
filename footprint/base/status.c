/* status.c - names of statuses and the one-line wording of errors. */
#include "footprint/base/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct status_words {
    const char *name;
    const char *remedy; /* what the user can do; NULL when the cause says it */
};

static const struct status_words WORDS[] = {
    [FP_OK] = {"ok", NULL},
    [FP_END] = {"end", NULL},
    [FP_ERR_OPEN] = {"open", NULL},
    [FP_ERR_READ] = {"read", NULL},
    [FP_ERR_WRITE] = {"write", "free some space or choose another directory"},
    [FP_ERR_MEMORY] = {"memory", "give it more memory"},
    [FP_ERR_FOREIGN] = {"foreign",
                        "is it the right file? 'mallab convert --from FORMAT' takes other tools' traces"},
    [FP_ERR_VERSION] = {"version", "read it with the mallab that wrote it, or a newer one"},
    [FP_ERR_TRUNCATED] = {"truncated", "copy the file again, or make it anew"},
    [FP_ERR_CORRUPT] = {"corrupt", "copy the file again, or make it anew"},
    [FP_ERR_CHECKSUM] = {"checksum", "copy the file again, or make it anew"},
    [FP_ERR_EXISTS] = {"exists", "choose another name, or remove it first"},
    [FP_ERR_LIMIT] = {"limit", NULL},
    [FP_ERR_ARGUMENT] = {"argument", NULL},
    [FP_ERR_UNTRUSTED] = {"untrusted", NULL},
};

#define WORDS_LENGTH (sizeof WORDS / sizeof WORDS[0])

const char *fp_status_name(enum fp_status status)
{
    return (unsigned)status < WORDS_LENGTH ? WORDS[status].name : "unknown";
}

/* Say why the file is not trusted, and what to do about it. The owner's name makes these no constants. */
static const char *word_distrust(const struct fp_error *error, char *ret_what, size_t what_size,
                                 char *ret_remedy, size_t remedy_size)
{
    const char *remedy = NULL;
    snprintf(ret_what, what_size, "%s", error->what != NULL ? error->what : "is not trusted");
    switch (error->distrust) {
    case FP_DISTRUST_OWNER:
        snprintf(ret_what, what_size, "belongs to user %s", error->owner);
        snprintf(ret_remedy, remedy_size,
                 "read it as that user, or with --trust-owner %s, which only reads footprints", error->owner);
        return ret_remedy;
    case FP_DISTRUST_WRITABLE:
        remedy = error->is_common ? "copy what you trust of it into a directory of your own"
                                  : "if you trust what is in it, 'chmod go-w' it";
        break;
    case FP_DISTRUST_NAMES:
        remedy = "copy it, and name the copy";
        break;
    case FP_DISTRUST_LINK:
        remedy = "name what it points to";
        break;
    case FP_DISTRUST_KIND:
    case FP_TRUSTED:
        return NULL;
    }
    snprintf(ret_remedy, remedy_size, "%s", remedy);
    return ret_remedy;
}

/* A remedy for the usual cause helps nobody where it is known to be another. */
static const char *remedy_of(const struct fp_error *error)
{
    if (error->status == FP_ERR_WRITE && error->sys_errno == EPIPE)
        return NULL; /* whoever read it has had enough */
    if (error->no_remedy)
        return NULL;
    if (error->status == FP_ERR_OPEN && error->sys_errno == EACCES)
        return "read it as the user whose it is, or let others read it (chmod): recordings are private";
    return (unsigned)error->status < WORDS_LENGTH ? WORDS[error->status].remedy : NULL;
}

char *fp_error_text(const struct fp_error *error, const char *path, char *ret_text, size_t size)
{
    const unsigned status = (unsigned)error->status;
    const char *remedy = remedy_of(error);
    const char *what = error->what != NULL ? error->what : fp_status_name(error->status);
    char offset[48] = "";
    char versions[80], distrust[80], distrust_remedy[128];
    if (size == 0)
        return ret_text;
    if (error->status == FP_ERR_UNTRUSTED) {
        remedy = word_distrust(error, distrust, sizeof distrust, distrust_remedy, sizeof distrust_remedy);
        what = distrust;
    }
    if (error->version_known != 0) {
        snprintf(versions, sizeof versions, "is of format version %u, this mallab reads up to %u",
                 error->version_found, error->version_known);
        what = versions;
    }
    /* A file of another kind is so as a whole: no byte of it is at fault. */
    if (status >= FP_ERR_FOREIGN && status <= FP_ERR_CHECKSUM &&
        (status != FP_ERR_FOREIGN || error->offset != 0))
        snprintf(offset, sizeof offset, " at byte %llu", (unsigned long long)error->offset);
    snprintf(ret_text, size, "%s%s%s%s%s%s%s%s%s", path != NULL ? "'" : "", path != NULL ? path : "",
             path != NULL ? "': " : "", what, offset, error->sys_errno != 0 ? ": " : "",
             error->sys_errno != 0 ? strerror(error->sys_errno) : "", remedy != NULL ? "; " : "",
             remedy != NULL ? remedy : "");
    return ret_text;
}

/* status.c - names of statuses and the one-line wording of errors. */
#include "footprint/base/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "footprint/base/words.h"

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

/* A remedy for the usual cause helps nobody where it is known to be another. */
static const char *remedy_of(const struct fp_error *error)
{
    static const char *const of_distrust[] = {
        [FP_DISTRUST_WRITABLE] = "if you trust what is in it, 'chmod go-w' it",
        [FP_DISTRUST_NAMES] = "copy it, and name the copy",
        [FP_DISTRUST_LINK] = "name what it points to",
    };
    if (error->status == FP_ERR_WRITE && error->sys_errno == EPIPE)
        return NULL; /* whoever read it has had enough */
    if (error->no_remedy)
        return NULL;
    if (error->status == FP_ERR_UNTRUSTED && error->distrust == FP_DISTRUST_WRITABLE && error->is_common)
        return "copy what you trust of it into a directory of your own";
    if (error->status == FP_ERR_UNTRUSTED)
        return of_distrust[error->distrust];
    if (error->status == FP_ERR_OPEN && error->sys_errno == EACCES)
        return "read it as the user whose it is, or let others read it (chmod): recordings are private";
    return (unsigned)error->status < WORDS_LENGTH ? WORDS[error->status].remedy : NULL;
}

char *fp_error_text(const struct fp_error *error, const char *path, char *ret_text, size_t size)
{
    const unsigned status = (unsigned)error->status;
    const bool is_anothers = error->status == FP_ERR_UNTRUSTED && error->distrust == FP_DISTRUST_OWNER;
    const char *remedy = remedy_of(error);
    if (size == 0)
        return ret_text;
    ret_text[0] = '\0';
    if (path != NULL)
        fp_text_more(ret_text, size, "", "'%s': ", path);
    if (error->version_known != 0)
        fp_text_more(ret_text, size, "", "is of format version %u, this mallab reads up to %u",
                     error->version_found, error->version_known);
    else if (is_anothers)
        fp_text_more(ret_text, size, "", "belongs to user %s", error->owner);
    else
        fp_text_more(ret_text, size, "", "%s",
                     error->what != NULL ? error->what : fp_status_name(error->status));
    /* A file of another kind is so as a whole: no byte of it is at fault. */
    if (status >= FP_ERR_FOREIGN && status <= FP_ERR_CHECKSUM &&
        (status != FP_ERR_FOREIGN || error->offset != 0))
        fp_text_more(ret_text, size, "", " at byte %llu", (unsigned long long)error->offset);
    if (error->sys_errno != 0)
        fp_text_more(ret_text, size, "", ": %s", strerror(error->sys_errno));
    if (is_anothers)
        fp_text_more(ret_text, size, "",
                     "; read it as that user, or with --trust-owner %s, which only reads footprints",
                     error->owner);
    else if (remedy != NULL)
        fp_text_more(ret_text, size, "", "; %s", remedy);
    return ret_text;
}

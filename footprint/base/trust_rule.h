/* trust_rule.h - the rule by which a file is believed, by what fstat(2) says of the descriptor that is kept.
 *
 * One rule for everything that another process may have made: it is of the kind that is wanted, it belongs to our effective
 * user, nobody else may write to it, and a file has one name. What root owns may be read by everybody.
 * The shim asks it by its own system calls (shim/preload/attach_segment.c), all others through trusted.h. */
#ifndef MALLAB_FOOTPRINT_BASE_TRUST_RULE_H
#define MALLAB_FOOTPRINT_BASE_TRUST_RULE_H

#include <stdbool.h>
#include <sys/stat.h>

enum fp_distrust {
    FP_TRUSTED = 0,
    FP_DISTRUST_KIND,     /* not a regular file, or no directory, as it was wanted */
    FP_DISTRUST_OWNER,    /* another user's */
    FP_DISTRUST_WRITABLE, /* its group or others may write to it; an access list shows in the group's bits */
    FP_DISTRUST_NAMES,    /* a file with several names: one of them may lie where others write */
    FP_DISTRUST_LINK,     /* a symbolic link, which was not followed */
};

/* fp_distrust - what is against a file.
 * facts       of its open descriptor.
 * kind        S_IFREG or S_IFDIR.
 * user        whose it must be: our effective user.
 * only_read   root's is as good. */
static inline enum fp_distrust fp_distrust(const struct stat *facts, mode_t kind, uid_t user, bool only_read)
{
    if ((facts->st_mode & S_IFMT) != kind)
        return FP_DISTRUST_KIND;
    if (facts->st_uid != user && !(only_read && facts->st_uid == 0))
        return FP_DISTRUST_OWNER;
    if ((facts->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return FP_DISTRUST_WRITABLE;
    if (kind == S_IFREG && facts->st_nlink > 1)
        return FP_DISTRUST_NAMES;
    return FP_TRUSTED;
}

#endif

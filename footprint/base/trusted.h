/* trusted.h - the one door: opens what another process may have made, a recording's directory and the files in it.
 *
 * Looked at before it is opened (O_PATH), so that nothing happens to a pipe or a device; opened without following a link in the last
 * place and without waiting for anybody; judged by fp_distrust from the descriptor that is handed out, so what was checked is what is
 * read. And where an output goes.
 *
 * One rule for everything that another process may have made: it is of the kind that is wanted, it belongs to our effective
 * user, nobody else may write to it, and a file has one name. What root owns may be read by everybody.
 * The shim asks it by its own system calls (shim/preload/attach_segment.c). */
#ifndef MALLAB_FOOTPRINT_BASE_TRUSTED_H
#define MALLAB_FOOTPRINT_BASE_TRUSTED_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "footprint/base/status.h"

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

enum fp_trusted_use {
    FP_TRUSTED_READ, /* ours, root's, or of the user of fp_trusted_also_read */
    FP_TRUSTED_OWN, /* ours: to be read, and then acted upon: recovered, joined, its collector told something */
    FP_TRUSTED_SHARE /* likewise, opened to be written to as well */
};

/* fp_trusted_open - open a regular file or a directory that may be believed.
 * directory_fd  what path is relative to, AT_FDCWD among it.
 * kind          S_IFREG or S_IFDIR.
 * ret_error     filled on failure, may be NULL: FP_ERR_OPEN with the system's reason; FP_ERR_UNTRUSTED with distrust and
 *               owner; for what is of another kind FP_ERR_READ (a directory), FP_ERR_OPEN (no directory), FP_ERR_FOREIGN.
 * Returns       a descriptor, the caller's to close; -1. */
int fp_trusted_open(int directory_fd, const char *path, mode_t kind, enum fp_trusted_use use,
                    struct fp_error *ret_error);

/* fp_trusted_look - open what is of this kind, whoever's it is, and nothing else; what is judged is the caller's.
 * flags      as open(2) has them: access and O_NOFOLLOW.
 * ret_facts  of what was looked at.
 * Returns    a descriptor, the caller's to close; -1 with errno set, EINVAL: it is of another kind. */
int fp_trusted_look(int directory_fd, const char *path, mode_t kind, int flags, struct stat *ret_facts);

/* fp_trusted_also_read - from now on what this user owns may be read too, by FP_TRUSTED_READ. Before any thread is started. */
void fp_trusted_also_read(uid_t user);

/* fp_trusted_mark - root has made this directory for a user's recording: to root that is as fp_trusted_also_read of the user, once it
 * is opened by FP_TRUSTED_READ. An attribute that only root can give or see; where there are none it is not marked.
 * fp_trusted_is_marked - whether it is, for this user. */
bool fp_trusted_mark(int directory_fd, uid_t user);
bool fp_trusted_is_marked(int directory_fd, uid_t user);

/* fp_trusted_list - the listing of a directory that is held, whose position stays; the caller's to close. NULL: it cannot be read.
 * fp_trusted_is_empty - whether a directory that is held holds nothing. False where that cannot be seen. */
DIR *fp_trusted_list(int directory_fd);
bool fp_trusted_is_empty(int directory_fd);

/* fp_trusted_user - a user's name, else the number. Returns ret_name. */
char *fp_trusted_user(uid_t user, char *ret_name, size_t size);

/* fp_trusted_find_user - the number behind a user's name or number. False: there is no such user. */
bool fp_trusted_find_user(const char *text, uid_t *ret_user);

/* ---- the place of an output: the regular file of its name, through symbolic links, and nothing else ----
 *
 * Outputs are written beside their place and renamed into it, which would put a file where a device or a pipe was, and in
 * place of a link instead of its target. */

/* fp_place - find the file that a path means for writing; it may not exist.
 * ret_path   with FP_OK: to be renamed to, the caller's to free.
 * Returns    FP_OK; FP_ERR_FOREIGN: something stands there that is no regular file; FP_ERR_OPEN, with errno: a symbolic
 *            link leads nowhere, or cannot be followed; FP_ERR_MEMORY. */
enum fp_status fp_place(const char *path, char **ret_path);

/* fp_place_take - give a finished file its name. Without overwrite the rename must not replace what came to stand there meanwhile;
 * old kernels and some file systems know no RENAME_NOREPLACE, link does the same in two steps.
 * Returns  false with errno: EEXIST where the name is taken. */
bool fp_place_take(const char *temporary, const char *path, bool overwrite);

#endif

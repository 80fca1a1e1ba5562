/* trusted.h - the one door: opens what another process may have made, a recording's directory and the files in it.
 *
 * Looked at before it is opened (O_PATH), so that nothing happens to a pipe or a device; opened without following a link in the last
 * place and without waiting for anybody; judged by trust_rule.h from the descriptor that is handed out, so what was checked is what is
 * read. */
#ifndef MALLAB_FOOTPRINT_BASE_TRUSTED_H
#define MALLAB_FOOTPRINT_BASE_TRUSTED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "footprint/base/status.h"
#include "footprint/base/trust_rule.h"

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

/* fp_trusted_is_empty - whether a directory that is held holds nothing. False where that cannot be seen. */
bool fp_trusted_is_empty(int directory_fd);

/* fp_trusted_user - a user's name, else the number. Returns ret_name. */
char *fp_trusted_user(uid_t user, char *ret_name, size_t size);

/* fp_trusted_find_user - the number behind a user's name or number. False: there is no such user. */
bool fp_trusted_find_user(const char *text, uid_t *ret_user);

#endif

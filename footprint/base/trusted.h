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

/* ---- the file behind a recording's shared memory: what it is called, where it lies, whether its collector lives
 *
 *   name     mallab-UID-16 hexadecimal digits, as its collector made it
 *   folder   /dev/shm, or the recording's own directory where there is none
 *   lock     flock(2), held by the collector for as long as it lives; the kernel lets go of it when that is killed
 *
 * A recording's `segment_path` only chooses between the two folders and tells the name: no other file is ever opened, locked or
 * removed because of it. */

#define FP_SEGMENT_FOLDER     "/dev/shm"
#define FP_SEGMENT_NAME_BYTES 40u /* the longest name, and its end */

struct fp_segment_file {
    int folder_fd;
    int fd;
    char name[FP_SEGMENT_NAME_BYTES];
    bool shared; /* in FP_SEGMENT_FOLDER, not in the recording's directory */
};

/* fp_segment_name_is_ours - whether it is a name that a collector of our user gives. */
bool fp_segment_name_is_ours(const char *name);

/* fp_segment_name_make - such a name, by chance. False: no random numbers. */
bool fp_segment_name_make(char ret_name[FP_SEGMENT_NAME_BYTES]);

/* fp_segment_open - the segment of a recording, through the door (trusted.h).
 * recording_fd  the recording's directory; it must have come through the door.
 * path          recording.json's segment_path, of any content; NULL: none.
 * use           FP_TRUSTED_OWN or FP_TRUSTED_SHARE.
 * ret_error     filled on failure, may be NULL.
 * Returns       true with *ret_file to be closed by fp_segment_close; false: none that may be believed. */
bool fp_segment_open(int recording_fd, const char *path, enum fp_trusted_use use,
                     struct fp_segment_file *ret_file, struct fp_error *ret_error);
void fp_segment_close(struct fp_segment_file *file);

/* fp_segment_is_held - whether the lock of an opened segment is another's: its collector lives. Where the file system has no
 * locks that is not known, and taken to be so. */
bool fp_segment_is_held(int fd);

/* fp_segment_remove - unlink a segment, if the file of that name still is the one that is open, and has such a name.
 * Whoever has it mapped keeps it. Returns whether it was removed. */
bool fp_segment_remove(const struct fp_segment_file *file);

#endif

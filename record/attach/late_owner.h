/* late_owner.h - root records another user's program: the recording is that user's, and what touches it runs with that user's rights.
 *
 *   owner    user, group and groups of the program, which are ours from `become` on, without a way back. Of root's rights at most
 *            the one to trace is kept, where the user's own would not do; a program that we start then does not have it
 *   place    the recording's directory: made by root, without following a link, given to the owner, and marked
 *            (footprint/base/trusted.h), so that root reads it as its own
 *
 * Whoever records goes into the place, which is then ".": the owner may have no right to pass the directories above it. */
#ifndef MALLAB_RECORD_ATTACH_LATE_OWNER_H
#define MALLAB_RECORD_ATTACH_LATE_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rec_owner {
    uid_t user;
    gid_t group;
    gid_t *groups;
    size_t group_count;
};

/* rec_owner_find - whose a process is. Returns false where we are not root, it is root's too, has ended, or has rights of several
 * users. Release it in every case. */
bool rec_owner_find(pid_t pid, struct rec_owner *ret_owner);
void rec_owner_release(struct rec_owner *owner);

/* rec_owner_become - be the owner for good. Nobody else can trace us then, or read our memory.
 * pid          of the process that is to be traced; 0: none.
 * Returns      0 or an errno; then we may be half the owner, and are to end. */
int rec_owner_become(const struct rec_owner *owner, pid_t pid);

struct rec_place {
    int parent_fd, fd;
    char *name; /* below parent_fd */
    char *path; /* for people */
    bool marked;
};

/* rec_place_make - make DIRECTORY, or DIRECTORY.2, .3 ... where that is there, and give it to the owner.
 * ret_problem  why it could not be made; the caller's.
 * rec_place_forget - remove it again, if nothing is in it. */
bool rec_place_make(const struct rec_owner *owner, const char *directory, struct rec_place *ret_place,
                    char **ret_problem);
void rec_place_forget(const struct rec_place *place);
void rec_place_release(struct rec_place *place);

/* rec_owner_leave_root - in a child process: nothing of root's goes on with us but stderr and what stands in memory, which nobody
 * can read; go into the place, into a session of our own, so that no program that we start is in root's terminal, and become the
 * owner. Where the parent is killed we get SIGTERM, to leave the program as it was.
 * Returns  as rec_owner_become. */
int rec_owner_leave_root(const struct rec_owner *owner, pid_t pid, const struct rec_place *place,
                         pid_t parent);

/* rec_owner_by_root - whether root is who records: by itself, or as the owner that it has become. */
bool rec_owner_by_root(void);

/* rec_owner_enter - where root names a marked recording of another user's: become that user, and go into it.
 * Returns  what to call it from now on: "."; directory where it is none. */
const char *rec_owner_enter(const char *directory);

#endif

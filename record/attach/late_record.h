/* late_record.h - record a program that runs already: attach, wait, let go of it.
 *
 *   attach   libmallab-late.so is loaded by the program's own loader, joins a recording, and turns the slots by which the
 *            program's modules call the malloc family (shim/preload/late.c)
 *   let go   the slots are as they were; the recording ends; when no thread is in the library any more its shared memory goes.
 *            The library stays loaded, idle
 *
 * At any moment we may be killed: the program goes on, and the collector ends the recording, after which a call through the
 * library costs little. What is left undone then is done by the next one who attaches. */
#ifndef MALLAB_RECORD_ATTACH_LATE_RECORD_H
#define MALLAB_RECORD_ATTACH_LATE_RECORD_H

#include "record/recorder.h"

#define LATE_WITHIN_NS UINT64_C(5000000000) /* for so long a safe place is looked for, where nobody said */

struct late_told {
    uint64_t slots, slots_left, modules;
    char *left_in;            /* the modules of slots_left, and how many in each; the caller's */
    uint64_t longest_stop_ns; /* for which one thread, or at the end all, did nothing of its own */
    int asked_to_end;         /* the signal that ended the recording; 0: none */
    bool ended;               /* the program ended before we let go of it */
    bool executed;            /* of `ended`: it goes on as another program */
    bool idle;                /* the library is idle, and holds nothing; else problem says why not */
    char *problem;            /* the caller's; NULL: none */
};

/* late_record - record a process until its end, --duration, the recording's end, or a signal that ends us.
 * within_ns   for so long a safe place is looked for; 0: LATE_WITHIN_NS.
 * ret         as rec_run has it; code is REC_FAILED with problem set where nothing was begun.
 * ret_told    likewise the caller's. */
void late_record(const struct rec_settings *settings, pid_t pid, uint64_t within_ns, struct rec_recorded *ret,
                 struct late_told *ret_told);

/* late_default_directory - where it records to when nobody said. The caller's. */
char *late_default_directory(pid_t pid);

/* ---- root attaches to another user's program as that user (late_user.c) ----
 *
 *   user     the program's user and group are ours before we look at anything of the program's, and for good, and no other group
 *            is. Of root's rights the one to trace is kept, for programs that their own user may not trace (Yama,
 *            PR_SET_DUMPABLE); a program that we start does not have it
 *   place    the recording's directory: root makes it, follows no link, gives it to the user, and marks it
 *            (footprint/base/trusted.h), so that it reads it as its own. Whoever records goes into it, so that it is ".": the user
 *            may have no right to pass the directories above it
 *   parent   root's process, which only waits: it hands on the signal that asks it to end, and ends the other at a deadline */

struct late_user {
    pid_t pid; /* of the program; 0: none, and no right is kept */
    uid_t user;
    gid_t group;
};

/* late_user_find - whose a process is. Returns false where we are not root, it is root's too, has ended, or has rights of several
 * users. */
bool late_user_find(pid_t pid, struct late_user *ret_user);

/* late_user_enter - where root names a marked recording of another user's: become that user, and go into it.
 * Returns  what to call it from now on: "."; directory where it is none. */
const char *late_user_enter(const char *directory);

/* late_user_by_root - whether root is who records: by itself, or as the user that it has become. */
bool late_user_by_root(void);

struct late_place {
    int folder_fd, fd;
    char *path;       /* for people */
    const char *name; /* its last part */
    bool marked;
};

/* late_place_make - make DIRECTORY, or DIRECTORY.2, .3 ... where that is there, and give it to the user.
 * ret_place    released with late_place_release, whatever is returned.
 * ret_problem  why it could not be made; the caller's.
 * late_place_forget - remove it again, if nothing is in it and nobody has put another in its place. */
bool late_place_make(const struct late_user *user, const char *directory, struct late_place *ret_place,
                     char **ret_problem);
void late_place_forget(const struct late_place *place);
void late_place_release(struct late_place *place);

#define LATE_PHASES_FD                                                                                       \
    1 /* of the body: what a recording tells there (rec_settings.phases_fd) moves the deadline */

struct late_run {
    const struct late_user *user;
    const struct late_place *place;
    uint64_t within_ns, duration_ns; /* as late_record has them */
    int (*body)(void *data);         /* its exit code */
    void *data;
};

/* late_run_as_user - run the body in a process of its own, as the user, in the place, with nothing of root's but stderr and what stands
 * in memory, which nobody can read; in a session of its own, so that no program that it starts is in root's terminal. It gets SIGTERM
 * where we are killed, the first signal that asks us to end, and is killed at the second one, and at its deadline.
 * ret_ended_by  the signal that we were asked to end by; 0: none.
 * ret_problem   why there is no exit code; the caller's.
 * Returns       the exit code; -1: it was ended, the program goes on as it is. */
int late_run_as_user(const struct late_run *run, int *ret_ended_by, char **ret_problem);

#endif

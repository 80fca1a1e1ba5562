/* allocator_proof.h - proof that the allocator which served the calls is the one that was asked for.
 *
 * Two things must agree: the library that the addresses of malloc and free lie in (dladdr, links resolved),
 * and a call that only this allocator answers. A run whose proof fails prints no figures. */
#ifndef MALLAB_REPLAY_PROOF_ALLOCATOR_PROOF_H
#define MALLAB_REPLAY_PROOF_ALLOCATOR_PROOF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/exec/calls.h"

struct rep_proof {
    const char *kind;     /* one of rep_proof_kinds */
    const char *expected; /* file name or path of the library, NULL for any */
    char malloc_library[PATH_MAX];
    char free_library[PATH_MAX];
    char new_library[PATH_MAX]; /* of operator new(size_t) */
    char version[128];          /* "" where the allocator does not tell */
    uint64_t harness_calls;     /* of malloc's family by the harness between first and last op; `none` only */
    bool ok;
    char why[PATH_MAX + 512]; /* the first thing that failed, for one line on stderr */
};

/* rep_proof_init - what is to be proven.
 * allocator  the one this binary is linked for: supplies what the next two leave out.
 * expected   from the command line, NULL when absent; a name without '/' is compared with file names,
 *            a path with the resolved path.
 * kind       from the command line, NULL when absent. With expected alone: the address only.
 * Returns    false for an unknown kind. */
bool rep_proof_init(struct rep_proof *proof, const char *allocator, const char *expected, const char *kind);

/* rep_proof_check - before the first op; calls malloc and free once for some kinds. Returns   proof->ok. */
bool rep_proof_check(struct rep_proof *proof, const struct rep_calls *calls);

/* rep_proof_after - after the last op: what `none` counted. Returns proof->ok. */
bool rep_proof_after(struct rep_proof *proof, uint64_t harness_calls);

/* rep_proof_kinds - the known kinds, separated by ", ". */
extern const char rep_proof_kinds[];

#endif

/* give_up.h - what mallab-names gives up before it reads what a stranger may have made.
 *
 *   user      root's: it becomes the owner of the recording, without a right beyond; of root's own recordings user nobody, with the
 *             right to read files alone (CAP_DAC_READ_SEARCH), for programs in directories that others may not enter
 *   calls     everybody's: no network, no new program, no file to write to, no new code: its system calls are a list (seccomp)
 *
 * It opens files itself, after that: which ones belong to a module (.gnu_debuglink, split DWARF, what dwz shares) stands in the files,
 * and what another user's recording names is opened with that user's rights. */
#ifndef MALLAB_SITES_NAMES_GIVE_UP_H
#define MALLAB_SITES_NAMES_GIVE_UP_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether a sanitizer is built in: clang has no macro for it, so meson.build tells. */
#ifdef MALLAB_SANITIZED
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* names_give_up - give up what can be given up. may_fetch: servers are asked, so all calls are kept, and for root's own recordings root,
 * whose cache of downloads it is.
 * Returns  false: we are root, and neither the user nor the system calls can be given up here: nothing is to be read. */
bool names_give_up(uid_t owner, bool may_fetch);

#endif

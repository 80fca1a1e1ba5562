/* unnamed_file.h - files that are there only while a conversion runs.
 *
 * An output stands under a temporary name until it is whole, which a signal handler must know to remove it. What is needed
 * on the way only has no name at all. */
#ifndef MALLAB_CONVERT_BASE_UNNAMED_FILE_H
#define MALLAB_CONVERT_BASE_UNNAMED_FILE_H

#include <signal.h>

#include "convert/base/error.h"

/* conv_output_temporary - the temporary file of the conversion under way, NULL when none or standard
 * output: a signal handler that ends the process unlinks it. Async-signal-safe. */
const char *conv_output_temporary(void);

/* conv_announce_temporary - the name that conv_output_temporary tells from now on; NULL: none. */
void conv_announce_temporary(const char *name);

/* conv_hold_signals - from before a temporary file is made until it is announced no signal handler runs: it would leave
 * the file. conv_let_signals - they may again; held: what conv_hold_signals gave. */
void conv_hold_signals(sigset_t *ret_held);
void conv_let_signals(const sigset_t *held);

/* A workload, or a trace that was unpacked, in a file without a name. */
struct conv_temporary {
    int descriptor;
    char path[32];                   /* by which it can be opened as long as the descriptor is */
    char directory[CONV_PATH_BYTES]; /* whose room it takes */
};

/* conv_temporary_open - one in the directory of `beside` ("-": $TMPDIR, /var/tmp or /tmp), gone with its descriptor, which is to be
 * closed. Returns FP_OK, or a status with error filled.
 * conv_temporary_name - an error of writing to it names its directory, whose disk was full. */
enum fp_status conv_temporary_open(const char *beside, struct conv_temporary *ret_temporary,
                                   struct conv_error *error);
void conv_temporary_name(const struct conv_temporary *temporary, struct conv_error *error);

#endif

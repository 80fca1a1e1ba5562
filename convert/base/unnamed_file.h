/* unnamed_file.h - files that are there only while a conversion runs: they have no name at all. */
#ifndef MALLAB_CONVERT_BASE_UNNAMED_FILE_H
#define MALLAB_CONVERT_BASE_UNNAMED_FILE_H

#include "convert/base/error.h"

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

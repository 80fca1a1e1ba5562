/* program_output.h - what another program of this environment prints, without malloc.
 *
 * For settings that only a list printed at a process's start tells: the loader's tunables, mimalloc's options. */
#ifndef MALLAB_REPLAY_SYSTEM_PROGRAM_OUTPUT_H
#define MALLAB_REPLAY_SYSTEM_PROGRAM_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#define REP_LISTING_BYTES_MAX 32768u
#define REP_LISTING_SECONDS   10u /* a program that takes longer to print its list is ended */

/* rep_listing_read - run a program to its end and keep what it prints, standard output and error together.
 * path, argument  the program and its only argument.
 * variable        "NAME=VALUE" to add to this process's environment, or NULL.
 * Returns         the text, in static storage that the next call overwrites; what is beyond REP_LISTING_BYTES_MAX is
 *                 dropped. NULL when it could not be started or printed nothing. */
const char *rep_listing_read(const char *path, const char *argument, const char *variable);

#endif

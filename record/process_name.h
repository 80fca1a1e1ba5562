/* process_name.h - a recorded process by its program's name, where a user need not know its id. */
#ifndef MALLAB_RECORD_PROCESS_NAME_H
#define MALLAB_RECORD_PROCESS_NAME_H

#include <stdint.h>

enum rec_named {
    REC_NAMED,
    REC_NAMED_NONE,
    REC_NAMED_UNREADABLE, /* the recording */
};

/* rec_process_named - of the processes of that name, the one with most calls so far.
 * recording     its directory.
 * ret_file      NULL, or for whoever looks at a process up to its end: only one that executed no other program counts then,
 *               since that one goes on under the same id. Its footprint's name, the caller's to free; set with REC_NAMED.
 * ret_problem   else: why not, with the names there are; the caller's to free. */
enum rec_named rec_process_named(const char *recording, const char *name, uint32_t *ret_process_id,
                                 char **ret_file, char **ret_problem);

#endif

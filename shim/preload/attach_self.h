/* attach_self.h - who this process is, as far as it can tell. */
#ifndef MALLAB_SHIM_PRELOAD_ATTACH_SELF_H
#define MALLAB_SHIM_PRELOAD_ATTACH_SELF_H

#include <stdbool.h>
#include <stdint.h>

/* Ordinary memory: a child goes by it that cannot ask for itself. */
struct attach_self {
    uint32_t pid, parent_pid;
    uint64_t namespace, of_children; /* pid namespaces; 0: not known */
    bool foreign;                    /* in another one than the collector */
};

extern struct attach_self attach_self;

/* attach_identify - find out. Returns false where that cannot be told. */
bool attach_identify(void);

/* attach_make_ready - learn what the forked children of a process that is about to be confined cannot ask. */
void attach_make_ready(void);

#endif

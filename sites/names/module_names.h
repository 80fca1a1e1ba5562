/* module_names.h - answer the questions of one module. For the child: what is read may cost what the limits allow.
 *
 * First all functions by symbols, then, where lines are wanted, once more with DWARF: what the limits cut keeps the first. */
#ifndef MALLAB_SITES_NAMES_MODULE_NAMES_H
#define MALLAB_SITES_NAMES_MODULE_NAMES_H

#include "sites/names/name_messages.h"

/* Takes replies. Texts are borrowed for the call; function and file may be NULL. */
struct name_sink {
    void (*take)(void *data, const struct name_reply *reply, const char *function, const char *file);
    void *data;
};

/* module_names - from NAME_REPLY_BEGINS to NAME_REPLY_DONE. */
void module_names(const struct name_request *request, const struct name_sink *sink);

#endif

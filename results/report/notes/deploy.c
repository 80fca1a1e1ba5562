/* deploy.c - variables for a shell. */
#include "results/report/notes/deploy.h"

#include <stdlib.h>
#include <string.h>

#include "results/measure/base/shell_line.h"

/* A candidate that is the C library's malloc is linked, and its library is libc.so.6 wherever that lies. */
static bool is_c_library(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash != NULL ? slash + 1 : path, "libc.so", 7) == 0;
}

char *res_deploy_line(const struct res_result_entry *entry)
{
    struct res_text line = {0};
    if (entry->library != NULL && !is_c_library(entry->library))
        res_shell_variable(&line, "LD_PRELOAD", entry->library);
    for (size_t i = 0; i < entry->environment.count; i++) {
        const struct res_pair *pair = &entry->environment.items[i];
        if (res_shell_is_name(pair->name) && pair->value != NULL)
            res_shell_variable(&line, pair->name, pair->value);
    }
    char *plain = line.text != NULL ? res_text_plain(line.text) : NULL;
    free(line.text);
    return plain;
}

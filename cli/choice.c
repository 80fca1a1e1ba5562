/* choice.c - names on the command line to candidates. */
#include "cli/choice.h"

#include <stdlib.h>
#include <string.h>

#include "results/support.h"

int cli_registry_load(const struct cli_verb *verb, struct res_registry *registry)
{
    char *problem = NULL;
    char *directory = cli_allocators_directory();
    const bool loaded = res_registry_load(registry, directory, &problem);
    free(directory);
    if (!loaded) {
        cli_say(verb, "%s", problem);
        free(problem);
        return CLI_FAILED;
    }
    for (size_t i = 0; i < registry->warning_count; i++)
        cli_say(verb, "%s", registry->warnings[i]);
    return CLI_DONE;
}

struct res_candidate *cli_candidate_named(const struct cli_verb *verb, struct res_registry *registry,
                                          const char *name, int *ret_code)
{
    struct res_candidate *candidate = NULL;
    if (strchr(name, '/') != NULL) {
        char *problem = NULL;
        candidate = res_registry_add_path(registry, name, &problem);
        if (candidate == NULL) {
            *ret_code = CLI_FAILED;
            cli_say(verb, "%s", problem);
            free(problem);
        }
    } else {
        candidate = strcmp(name, "none") == 0 ? res_registry_add_none(registry)
                                              : res_registry_find(registry, name);
        if (candidate == NULL) {
            char *names = res_registry_names(registry);
            char *plain = res_text_plain(name);
            cli_say(verb, "unknown allocator '%s': known are %s, or the path of a library", plain, names);
            *ret_code = CLI_MISUSE;
            free(plain);
            free(names);
        }
    }
    if (candidate != NULL)
        (void)res_candidate_resolve(candidate, cli_program_directories()); /* callers look at ->found */
    return candidate;
}

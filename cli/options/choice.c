/* choice.c - names on the command line to candidates. */
#include "cli/options/options.h"

#include <string.h>

int cli_registry_load(const struct cli_verb *verb, struct res_registry *registry)
{
    char *problem = NULL;
    char *directory = res_allocators_directory();
    const bool loaded = res_registry_load(registry, directory, &problem);
    if (!loaded)
        cli_say(verb, "%s; MALLAB_ALLOCATORS names their directory", problem);
    else if (registry->candidate_count == 0)
        cli_say(verb, "no candidate (*.ini) is in '%s'; MALLAB_ALLOCATORS names their directory", directory);
    free(directory);
    free(problem);
    if (!loaded)
        return CLI_FAILED;
    for (size_t i = 0; i < registry->warning_count; i++)
        cli_say(verb, "%s", registry->warnings[i]);
    return CLI_DONE;
}

/* ---- settings ------------------------------------------------------------------------------- */

/* Settings of an inline candidate ("jemalloc+narenas=1") are asked of the allocator before any work: runs prove their settings too
 * (replay/proof/settings.h), but the first run may come after a recording and a conversion.
 * Returns CLI_DONE; CLI_MISUSE when a setting is wrong, CLI_FAILED when the allocator cannot be asked; told. */
static int check_settings(const struct cli_verb *verb, const struct res_candidate *candidate)
{
    char *wrong = NULL, *reason = NULL;
    const bool asked = res_run_settings(candidate, &wrong, &reason);
    if (!asked || wrong != NULL)
        cli_say(verb, "'%s': %s", candidate->name, asked ? wrong : reason);
    const int code = !asked ? CLI_FAILED : wrong != NULL ? CLI_MISUSE : CLI_DONE;
    free(wrong);
    free(reason);
    return code;
}

/* ---- one candidate -------------------------------------------------------------------------- */

/* BASE+SETTING=VALUE... */
static struct res_candidate *inline_candidate(const struct cli_verb *verb, struct res_registry *registry,
                                              const char *text, const char *settings, int *ret_code)
{
    char *problem = NULL;
    char *name = res_strndup(text, (size_t)(settings - text));
    struct res_candidate *candidate = cli_candidate_named(verb, registry, name, ret_code);
    free(name);
    if (candidate == NULL)
        return NULL;
    candidate = res_registry_add_inline(registry, candidate, text, &problem);
    if (candidate == NULL) {
        (void)cli_say_problem(verb, problem);
        *ret_code = CLI_MISUSE;
    }
    return candidate;
}

struct res_candidate *cli_candidate_named(const struct cli_verb *verb, struct res_registry *registry,
                                          const char *name, int *ret_code)
{
    struct res_candidate *candidate = NULL;
    const char *settings = res_setting_inline(name);
    if (settings != NULL) {
        candidate = inline_candidate(verb, registry, name, settings, ret_code);
    } else if (strchr(name, '/') != NULL) {
        char *problem = NULL;
        candidate = res_registry_add_path(registry, name, &problem);
        if (candidate == NULL) {
            *ret_code = cli_say_problem(verb, problem);
        }
    } else {
        candidate = strcmp(name, "none") == 0 ? res_registry_add_none(registry)
                                              : res_registry_find(registry, name);
        if (candidate == NULL) {
            const char *meant = NULL;
            char *plain = res_text_plain(name);
            for (size_t i = 0; i < registry->candidate_count && meant == NULL; i++)
                if (cli_is_near(name, registry->candidates[i]->name))
                    meant = registry->candidates[i]->name;
            if (meant != NULL)
                cli_say(verb, "unknown allocator '%s': did you mean '%s'? 'mallab allocators' lists all",
                        plain, meant);
            else
                cli_say(verb,
                        "unknown allocator '%s': 'mallab allocators' lists all; or the path of a library",
                        plain);
            *ret_code = CLI_MISUSE;
            free(plain);
        }
    }
    if (candidate == NULL || candidate->resolved)
        return candidate;
    if (!res_candidate_resolve(candidate, res_program_directories()) || settings == NULL)
        return candidate; /* callers look at ->found */
    const int code = check_settings(verb, candidate);
    if (code == CLI_DONE)
        return candidate;
    *ret_code = code;
    return NULL;
}

/* ---- a list --------------------------------------------------------------------------------- */

static bool is_chosen(const struct cli_choice *choice, const struct res_candidate *candidate)
{
    for (size_t i = 0; i < choice->candidate_count; i++) {
        if (choice->candidates[i] == candidate)
            return true;
    }
    return false;
}

static void add_missing(struct cli_choice *choice, const struct res_candidate *candidate)
{
    choice->missing = res_realloc(choice->missing, choice->missing_count + 1, sizeof *choice->missing);
    choice->missing[choice->missing_count++] = (struct res_missing){.name = candidate->name,
                                                                    .reason = candidate->missing};
}

/* Takes one name of the list. named: the user asked for it, so that it must be there. */
static int add_candidate(const struct cli_verb *verb, struct cli_choice *choice, const char *name, bool named)
{
    int code = CLI_DONE;
    if (!named && res_registry_find(&choice->registry, name) == NULL)
        return CLI_DONE; /* its file was taken away: nothing to report */
    struct res_candidate *candidate = cli_candidate_named(verb, &choice->registry, name, &code);
    if (candidate == NULL)
        return code;
    if (strcmp(candidate->name, "none") == 0)
        return cli_misuse(verb, "'none' takes part in every round, as the floor: it cannot be compared");
    if (is_chosen(choice, candidate))
        return CLI_DONE;
    if (candidate->found) {
        choice->candidates = res_realloc(choice->candidates, choice->candidate_count + 1,
                                         sizeof(struct res_candidate *));
        choice->candidates[choice->candidate_count++] = candidate;
    } else if (named) {
        cli_say(verb, "%s: %s", candidate->name, candidate->missing);
        return CLI_FAILED;
    } else {
        add_missing(choice, candidate);
    }
    return CLI_DONE;
}

static int add_list(const struct cli_verb *verb, struct cli_choice *choice, const char *list, bool named)
{
    char *copy = res_strdup(list);
    char *rest = copy;
    const char *name;
    int code = CLI_DONE;
    while (code == CLI_DONE && (name = strsep(&rest, ",")) != NULL) {
        if (*name != '\0')
            code = add_candidate(verb, choice, name, named);
    }
    free(copy);
    return code;
}

static void put_first(struct cli_choice *choice, const struct res_candidate *baseline)
{
    for (size_t place = 0; place < choice->candidate_count; place++) {
        if (choice->candidates[place] == baseline) {
            memmove(choice->candidates + 1, choice->candidates, place * sizeof(struct res_candidate *));
            choice->candidates[0] = baseline;
        }
    }
}

static int choose_baseline(const struct cli_verb *verb, struct cli_choice *choice, const char *name)
{
    int code = CLI_DONE;
    if (name == NULL) {
        put_first(choice, res_registry_find(&choice->registry, "glibc")); /* when it takes part */
        return CLI_DONE;
    }
    code = add_candidate(verb, choice, name, true);
    if (code == CLI_DONE)
        put_first(choice, cli_candidate_named(verb, &choice->registry, name, &code));
    return code;
}

int cli_choose(const struct cli_verb *verb, const char *list, const char *baseline,
               struct cli_choice *ret_choice)
{
    const bool named = list != NULL;
    *ret_choice = (struct cli_choice){0};
    int code = cli_registry_load(verb, &ret_choice->registry);
    if (code == CLI_DONE)
        code = add_list(verb, ret_choice, named ? list : CLI_DEFAULT_LIST, named);
    if (code == CLI_DONE)
        code = choose_baseline(verb, ret_choice, baseline);
    if (code != CLI_DONE)
        return code;
    if (ret_choice->candidate_count == 0) {
        for (size_t i = 0; i < ret_choice->missing_count; i++)
            cli_say(verb, "%s: %s", ret_choice->missing[i].name, ret_choice->missing[i].reason);
        if (named)
            return cli_misuse(verb, "no allocators in the list '%s'", list);
        cli_say(verb, "no allocator is here to compare");
        return CLI_FAILED;
    }
    struct res_candidate *none = res_registry_add_none(&ret_choice->registry);
    if (res_candidate_resolve(none, res_program_directories()))
        ret_choice->floor = none;
    else
        add_missing(ret_choice, none);
    return CLI_DONE;
}

const char *cli_choice_common(const struct res_workload *workloads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(workloads[i].runs_on.name, workloads[0].runs_on.name) != 0)
            return NULL;
    }
    return count > 0 && workloads[0].runs_on.name[0] != '\0' ? workloads[0].runs_on.name : NULL;
}

void cli_choice_runs_on(const struct cli_verb *verb, struct cli_choice *choice, const char *name)
{
    const char *before = choice->candidates[0]->name;
    if (name == NULL || strcmp(name, before) == 0)
        return;
    struct res_candidate *candidate = res_registry_find(&choice->registry, name);
    const bool found = candidate != NULL &&
                       (candidate->resolved ? candidate->found
                                            : res_candidate_resolve(candidate, res_program_directories()));
    if (!found) {
        char *plain = res_text_plain(name); /* a file's */
        cli_say(verb, "the program runs on %s: %s; the baseline is %s", plain,
                candidate != NULL ? candidate->missing : "no candidate has that name", before);
        free(plain);
        return;
    }
    (void)add_candidate(verb, choice, name, true);
    put_first(choice, candidate);
    cli_say(verb, "the program runs on %s: it is the baseline (-b NAME: another)", candidate->name);
}

void cli_choice_release(struct cli_choice *choice)
{
    free(choice->candidates);
    free(choice->missing);
    res_registry_release(&choice->registry);
    *choice = (struct cli_choice){0};
}

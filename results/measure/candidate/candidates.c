/* candidates.c - the registry of candidates. */
#include "results/measure/candidate/candidates.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/candidate/candidate_file.h"
#include "results/measure/candidate/library.h"
#include "results/measure/candidate/variables.h"

bool res_candidate_follows_clock(const struct res_candidate *candidate)
{
    return candidate->clock != NULL && strcmp(candidate->clock, "yes") == 0;
}

static void warn(struct res_registry *registry, char *text)
{
    registry->warnings = res_realloc(registry->warnings, registry->warning_count + 1,
                                     sizeof *registry->warnings);
    registry->warnings[registry->warning_count++] = text;
}

/* Takes over what the candidate holds. */
static struct res_candidate *insert(struct res_registry *registry, const struct res_candidate *candidate)
{
    struct res_candidate *inserted = res_calloc(1, sizeof *inserted);
    *inserted = *candidate;
    registry->candidates = res_realloc(registry->candidates, registry->candidate_count + 1,
                                       sizeof(struct res_candidate *));
    size_t place = registry->candidate_count++;
    while (place > 0 && strcmp(registry->candidates[place - 1]->name, candidate->name) > 0) {
        registry->candidates[place] = registry->candidates[place - 1];
        place--;
    }
    registry->candidates[place] = inserted;
    return inserted;
}

bool res_registry_parse(struct res_registry *registry, const char *origin, const char *text, size_t length)
{
    struct res_candidate candidate = {0};
    char *problem = res_candidate_parse(text, length, &candidate);
    if (problem == NULL && res_registry_find(registry, candidate.name) != NULL)
        problem = res_printf("the name '%s' is taken by '%s'", candidate.name,
                             res_registry_find(registry, candidate.name)->origin);
    if (problem == NULL && registry->candidate_count >= RES_CANDIDATES_MAX)
        problem = res_printf("more than %u candidates", RES_CANDIDATES_MAX);
    if (problem != NULL) {
        char *plain = res_text_plain(problem);
        warn(registry, res_printf("cannot use '%s': %s, leaving it out", origin, plain));
        free(plain);
        free(problem);
        res_candidate_release(&candidate);
        return false;
    }
    candidate.origin = res_strdup(origin);
    (void)insert(registry, &candidate); /* its place is of no interest here */
    return true;
}

static void load_file(struct res_registry *registry, const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        warn(registry, res_printf("cannot read '%s': %s, leaving it out", path, strerror(errno)));
        return;
    }
    char *text = res_calloc(RES_INI_BYTES_MAX + 1, 1);
    const size_t length = fread(text, 1, RES_INI_BYTES_MAX + 1, file);
    if (ferror(file))
        warn(registry, res_printf("cannot read '%s': %s, leaving it out", path, strerror(errno)));
    else
        (void)res_registry_parse(registry, path, text, length); /* a refusal has become a warning */
    free(text);
    fclose(file);
}

static int is_ini(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".ini") == 0;
}

static int by_bytes(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

bool res_registry_load(struct res_registry *registry, const char *directory, char **ret_problem)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, is_ini, by_bytes);
    if (count < 0) {
        *ret_problem = res_printf("cannot read the candidates in '%s': %s", directory, strerror(errno));
        return false;
    }
    for (int i = 0; i < count; i++) {
        char *path = res_path_join(directory, entries[i]->d_name);
        load_file(registry, path);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return true;
}

struct res_candidate *res_registry_find(const struct res_registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->candidate_count; i++) {
        if (strcmp(registry->candidates[i]->name, name) == 0)
            return registry->candidates[i];
    }
    return NULL;
}

struct res_candidate *res_registry_add_path(struct res_registry *registry, const char *path,
                                            char **ret_problem)
{
    const char *base = strrchr(path, '/');
    base = base != NULL ? base + 1 : path;
    const char *suffix = strstr(base, ".so");
    size_t length = suffix != NULL ? (size_t)(suffix - base) : strlen(base);
    length = length > RES_NAME_MAX ? RES_NAME_MAX : length;
    char *name = res_strndup(base, length);
    if (!res_candidate_name_is_valid(name)) {
        *ret_problem = res_printf(
            "cannot name a candidate after '%s': use letters, digits, '.', '_', '+', '-'", path);
        free(name);
        return NULL;
    }
    char *absolute = realpath(path, NULL);
    if (absolute == NULL)
        absolute = res_strdup(path);
    struct res_candidate *known = res_registry_find(registry, name);
    if (known != NULL) {
        const bool same = known->origin == NULL && known->preload != NULL &&
                          strcmp(known->preload, absolute) == 0;
        if (!same)
            *ret_problem = res_printf(
                "'%s' would be called '%s', which is another candidate: link it to another name", path, name);
        free(name);
        free(absolute);
        return same ? known : NULL;
    }
    const struct res_candidate candidate = {
        .name = name,
        .replay = res_strdup("glibc"),
        .preload = absolute,
        .library = res_strdup(absolute),
        .description = res_strdup("library given by its path"),
    };
    return insert(registry, &candidate);
}

static char *copy_of(const char *text)
{
    return text != NULL ? res_strdup(text) : NULL;
}

struct res_candidate *res_registry_copy(struct res_registry *registry, const struct res_candidate *base,
                                        const char *name, char **ret_problem)
{
    const struct res_candidate candidate = {
        .name = res_strdup(name),
        .replay = res_strdup(base->replay),
        .preload = copy_of(base->preload),
        .library = copy_of(base->library),
        .proof = copy_of(base->proof),
        .package = copy_of(base->package),
        .clock = copy_of(base->clock),
        .settings = copy_of(base->settings),
        .environment = res_variables_copy(base->environment, base->variable_count),
        .variable_count = base->variable_count,
        .expected = res_variables_copy(base->expected, base->expected_count),
        .expected_count = base->expected_count,
    };
    if (registry->candidate_count < RES_CANDIDATES_MAX)
        return insert(registry, &candidate);
    struct res_candidate dropped = candidate;
    res_candidate_release(&dropped);
    *ret_problem = res_printf("more than %u candidates", RES_CANDIDATES_MAX);
    return NULL;
}

struct res_candidate *res_registry_add_none(struct res_registry *registry)
{
    struct res_candidate *known = res_registry_find(registry, "none");
    if (known != NULL)
        return known;
    const struct res_candidate candidate = {
        .name = res_strdup("none"),
        .replay = res_strdup("none"),
        .description = res_strdup("no allocator: the harness alone"),
    };
    return insert(registry, &candidate);
}

char *res_registry_names(const struct res_registry *registry)
{
    struct res_text names = {0};
    for (size_t i = 0; i < registry->candidate_count; i++)
        res_text_printf(&names, "%s%s", i > 0 ? ", " : "", registry->candidates[i]->name);
    return names.text != NULL ? names.text : res_strdup("none");
}

void res_registry_release(struct res_registry *registry)
{
    for (size_t i = 0; i < registry->candidate_count; i++) {
        res_candidate_release(registry->candidates[i]);
        free(registry->candidates[i]);
    }
    for (size_t i = 0; i < registry->warning_count; i++)
        free(registry->warnings[i]);
    free(registry->candidates);
    free(registry->warnings);
    *registry = (struct res_registry){0};
}

bool res_candidate_resolve(struct res_candidate *candidate, const char *const *program_directories)
{
    if (candidate->resolved)
        return candidate->found;
    candidate->resolved = true;
    char *binary = res_printf("mallab-replay-%s", candidate->replay);
    candidate->program = res_find_program(program_directories, binary);
    struct res_library library = {0};
    if (candidate->library != NULL && !res_library_probe(candidate->library, &library)) {
        candidate->missing = candidate->package != NULL
                                 ? res_printf("%s not found: apt install %s", candidate->library,
                                              candidate->package)
                                 : res_printf("cannot be loaded: %s", library.problem); /* names it */
    } else if (candidate->program == NULL) {
        candidate->missing = res_printf(
            "the program %s is not there: build mallab again with the library installed", binary);
    } else {
        candidate->found = true;
    }
    candidate->path = library.path;
    candidate->version = library.version;
    free(library.problem);
    free(binary);
    return candidate->found;
}

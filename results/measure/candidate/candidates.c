/* candidates.c - the registry of candidates. */
#include "results/measure/candidate/candidates.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"

/* ---- one candidate's file --------------------------------------------------------------------- */

struct parse {
    struct res_candidate candidate;
    char *problem; /* the first one, without the file's name */
};

/* candidate_name_is_valid - whether a candidate, or a replay binary, can be called so. */
static bool candidate_name_is_valid(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length > RES_NAME_MAX || name[0] == '-' || name[0] == '.')
        return false;
    for (const char *byte = name; *byte != '\0'; byte++) {
        if (!isalnum((unsigned char)*byte) && strchr("._+-", *byte) == NULL)
            return false;
    }
    return true;
}

static void problem(struct parse *parse, char *text)
{
    if (parse->problem == NULL)
        parse->problem = text;
    else
        free(text);
}

#define OWNER struct res_candidate
/* The keys of [allocator], then the other sections, then what no file says. */
static const struct res_field ROWS[] = {
    RES_ROW(TEXT, "name", name, NULL),        RES_ROW(TEXT, "description", description, NULL),
    RES_ROW(TEXT, "replay", replay, NULL),    RES_ROW(TEXT, "preload", preload, NULL),
    RES_ROW(TEXT, "library", library, NULL),  RES_ROW(TEXT, "proof", proof, NULL),
    RES_ROW(TEXT, "package", package, NULL),  RES_ROW(TEXT, "settings", settings, NULL),
    RES_ROW(TEXT, "clock", clock, NULL),      RES_ROW(PAIRS, "environment", environment, NULL),
    RES_ROW(PAIRS, "expect", expected, NULL), RES_ROW(PAIRS, "ranges", ranges, NULL),
    RES_ROW(TEXT, "origin", origin, NULL),    RES_ROW(TEXT, "path", path, NULL),
    RES_ROW(TEXT, "version", version, NULL),  RES_ROW(TEXT, "build.digest", build.digest, NULL),
    RES_ROW(TEXT, "program", program, NULL),  RES_ROW(TEXT, "missing", missing, NULL),
};
static const struct res_described CANDIDATE = RES_DESCRIBE_WHOLLY("a candidate", ROWS);
#undef OWNER
#define ROWS_OF_FILES 12u

/* The member that a key of [allocator] or a section names; NULL: it is none of this kind. */
static void *named(struct res_candidate *candidate, const char *key, enum res_field_kind kind)
{
    for (size_t i = 0; i < ROWS_OF_FILES; i++)
        if (ROWS[i].kind == kind && strcmp(ROWS[i].key, key) == 0)
            return (char *)candidate + ROWS[i].offset;
    return NULL;
}

static void take_setting(struct parse *parse, const char *name, const char *value)
{
    char **field = named(&parse->candidate, name, RES_FIELD_TEXT);
    if (field == NULL)
        problem(parse, res_printf("unknown key '%.40s' in [allocator]", name));
    else if (*field != NULL)
        problem(parse, res_printf("'%s' is given twice, or goes on over two lines", name));
    else if (*value == '\0')
        problem(parse, res_printf("'%s' is empty", name));
    else
        *field = res_text_plain(value);
}

static void take_pair(struct parse *parse, const char *section, const char *name, const char *value)
{
    struct res_pairs *pairs = named(&parse->candidate, section, RES_FIELD_PAIRS);
    const bool is_environment = pairs == &parse->candidate.environment;
    char *plain = res_text_plain(value), *refused = NULL;
    if (pairs == NULL)
        refused = res_printf("unknown section [%.40s]", section);
    else if (!is_environment && *value == '\0')
        refused = res_printf("'%.40s' in [%s] has no value", name, section);
    else if (!is_environment || (refused = res_variable_problem(name)) == NULL)
        refused = res_variables_add(pairs, name, plain);
    free(plain);
    if (refused != NULL)
        problem(parse, refused);
}

static int on_line(void *user, const char *section, const char *name, const char *value)
{
    value = value != NULL ? value : "";
    if (strcmp(section, "allocator") == 0)
        take_setting(user, name, value);
    else
        take_pair(user, section, name, value);
    return 1;
}

/* inih would split a longer line in two and cut a text at a NUL, both without a word. */
static char *check_text(const char *text, size_t length)
{
    if (length > RES_INI_BYTES_MAX)
        return res_printf("larger than %u bytes", RES_INI_BYTES_MAX);
    size_t line = 1;
    size_t begin = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0')
            return res_printf("line %zu holds a NUL byte", line);
        if (text[i] == '\n') {
            line++;
            begin = i + 1;
        } else if (i - begin >= RES_INI_LINE_MAX) {
            return res_printf("line %zu is longer than %u bytes", line, RES_INI_LINE_MAX);
        }
    }
    return NULL;
}

static char *check_candidate(struct res_candidate *candidate)
{
    if (candidate->name == NULL)
        return res_strdup("no 'name' in [allocator]");
    if (!candidate_name_is_valid(candidate->name))
        return res_printf("'%.40s' is no name: use up to %u letters, digits, '.', '_', '+', '-'",
                          candidate->name, RES_NAME_MAX);
    if ((candidate->replay == NULL) == (candidate->preload == NULL))
        return res_strdup("exactly one of 'replay' and 'preload' must be given");
    if (candidate->replay != NULL && !candidate_name_is_valid(candidate->replay))
        return res_printf("'replay' must name a binary mallab-replay-NAME, not '%.40s'", candidate->replay);
    if (candidate->clock != NULL && strcmp(candidate->clock, "yes") != 0 &&
        strcmp(candidate->clock, "no") != 0)
        return res_printf("'clock' is 'yes' or 'no', not '%.40s'", candidate->clock);
    if (candidate->preload != NULL && candidate->library == NULL)
        candidate->library = res_strdup(candidate->preload);
    if (candidate->preload != NULL)
        candidate->replay = res_strdup("glibc");
    if (candidate->library == NULL && strcmp(candidate->replay, "none") != 0)
        return res_strdup("no 'library' in [allocator]: the proof needs it");
    if (candidate->settings != NULL && strcmp(candidate->settings, "unproven") != 0)
        return res_printf("'settings' can be 'unproven', not '%.40s'", candidate->settings);
    return res_ranges_problem(candidate);
}

/* candidate_parse - the text of a file to a candidate, without an origin.
 * ret_candidate  filled, released with its rows; untouched on failure.
 * Returns        NULL; else the first problem, without the file's name, the caller's to free. */
static char *candidate_parse(const char *text, size_t length, struct res_candidate *ret_candidate)
{
    struct parse parse = {.problem = check_text(text, length)};
    if (parse.problem == NULL) {
        RES_FREED char *terminated = res_strndup(text, length);
        const int line = ini_parse_string(terminated, on_line, &parse);
        if (parse.problem == NULL && line != 0)
            parse.problem = res_printf("line %d is neither '[section]' nor 'key = value'", line);
    }
    if (parse.problem == NULL)
        parse.problem = check_candidate(&parse.candidate);
    if (parse.problem == NULL)
        *ret_candidate = parse.candidate;
    else
        res_described_release(&CANDIDATE, &parse.candidate);
    return parse.problem;
}

/* ---- the registry ----------------------------------------------------------------------------- */

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
    char *problem = candidate_parse(text, length, &candidate);
    if (problem == NULL && res_registry_find(registry, candidate.name) != NULL)
        problem = res_printf("the name '%s' is taken by '%s'", candidate.name,
                             res_registry_find(registry, candidate.name)->origin);
    if (problem == NULL && registry->candidate_count >= RES_CANDIDATES_MAX)
        problem = res_printf("more than %u candidates", RES_CANDIDATES_MAX);
    if (problem != NULL) {
        RES_FREED char *plain = res_text_plain(problem);
        warn(registry, res_printf("cannot use '%s': %s, leaving it out", origin, plain));
        free(problem);
        res_described_release(&CANDIDATE, &candidate);
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
    RES_FREED char *text = res_calloc(RES_INI_BYTES_MAX + 1, 1);
    const size_t length = fread(text, 1, RES_INI_BYTES_MAX + 1, file);
    if (ferror(file))
        warn(registry, res_printf("cannot read '%s': %s, leaving it out", path, strerror(errno)));
    else
        (void)res_registry_parse(registry, path, text, length); /* a refusal has become a warning */
    fclose(file);
}

static int is_ini(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && fp_has_ending(entry->d_name, ".ini");
}

bool res_registry_load(struct res_registry *registry, const char *directory, char **ret_problem)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, is_ini, alphasort);
    if (count < 0) {
        *ret_problem = res_printf("cannot read the candidates in '%s': %s", directory, strerror(errno));
        return false;
    }
    for (int i = 0; i < count; i++) {
        RES_FREED char *path = res_path_join(directory, entries[i]->d_name);
        load_file(registry, path);
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
    if (!candidate_name_is_valid(name)) {
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

struct res_candidate *res_registry_copy(struct res_registry *registry, const struct res_candidate *base,
                                        const char *name, char **ret_problem)
{
    const struct res_candidate candidate = {
        .name = res_strdup(name),
        .replay = res_strdup(base->replay),
        .preload = res_strdup(base->preload),
        .library = res_strdup(base->library),
        .proof = res_strdup(base->proof),
        .package = res_strdup(base->package),
        .clock = res_strdup(base->clock),
        .settings = res_strdup(base->settings),
        .environment = res_pairs_copy(&base->environment),
        .expected = res_pairs_copy(&base->expected),
    };
    if (registry->candidate_count < RES_CANDIDATES_MAX)
        return insert(registry, &candidate);
    struct res_candidate dropped = candidate;
    res_described_release(&CANDIDATE, &dropped);
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

void res_registry_release(struct res_registry *registry)
{
    for (size_t i = 0; i < registry->candidate_count; i++) {
        res_described_release(&CANDIDATE, registry->candidates[i]);
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
    RES_FREED char *binary = res_printf("mallab-replay-%s", candidate->replay);
    candidate->program = res_find_program(program_directories, binary);
    struct res_library library = {0};
    if (candidate->library != NULL && !res_library_probe(candidate->library, &library)) {
        candidate->missing = candidate->package != NULL
                                 ? res_printf("%s not found: apt install %s", candidate->library,
                                              candidate->package)
                                 : res_printf("cannot be used: %s", library.problem); /* names it */
    } else if (candidate->program == NULL) {
        candidate->missing = res_printf(
            "the program %s is not there: build mallab again with the library installed", binary);
    } else {
        candidate->found = true;
    }
    candidate->path = library.path;
    candidate->version = library.version;
    if (candidate->found && library.path != NULL)
        candidate->build = res_build_of(library.path);
    free(library.problem);
    return candidate->found;
}

/* candidate_file.c - a candidate's INI file, read with suspicion. */
#include "results/measure/candidate/candidate_file.h"

#include <ctype.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/candidate/variables.h"

struct parse {
    struct res_candidate candidate;
    char *problem; /* the first one, without the file's name */
};

bool res_candidate_name_is_valid(const char *name)
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

static char **field_of(struct res_candidate *candidate, const char *name)
{
    const struct {
        const char *name;
        char **field;
    } fields[] = {
        {"name", &candidate->name},       {"description", &candidate->description},
        {"replay", &candidate->replay},   {"preload", &candidate->preload},
        {"library", &candidate->library}, {"proof", &candidate->proof},
        {"package", &candidate->package}, {"settings", &candidate->settings},
        {"clock", &candidate->clock},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].field;
    }
    return NULL;
}

static void take_setting(struct parse *parse, const char *name, const char *value)
{
    char **field = field_of(&parse->candidate, name);
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
    struct res_candidate *candidate = &parse->candidate;
    char *plain = res_text_plain(value);
    char *refused = NULL;
    if (strcmp(section, "environment") != 0 && *value == '\0')
        refused = res_printf("'%.40s' in [%s] has no value", name, section);
    else if (strcmp(section, "ranges") == 0)
        refused = res_ranges_add(&candidate->ranges, &candidate->range_count, name, plain);
    else if (strcmp(section, "expect") == 0)
        refused = res_variables_add(&candidate->expected, &candidate->expected_count, name, plain);
    else if ((refused = res_variable_problem(name)) == NULL)
        refused = res_variables_add(&candidate->environment, &candidate->variable_count, name, plain);
    free(plain);
    if (refused != NULL)
        problem(parse, refused);
}

static int on_line(void *user, const char *section, const char *name, const char *value)
{
    struct parse *parse = user;
    value = value != NULL ? value : "";
    if (strcmp(section, "allocator") == 0)
        take_setting(parse, name, value);
    else if (strcmp(section, "environment") == 0 || strcmp(section, "expect") == 0 ||
             strcmp(section, "ranges") == 0)
        take_pair(parse, section, name, value);
    else
        problem(parse, res_printf("unknown section [%.40s]", section));
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
    if (!res_candidate_name_is_valid(candidate->name))
        return res_printf("'%.40s' is no name: use up to %u letters, digits, '.', '_', '+', '-'",
                          candidate->name, RES_NAME_MAX);
    if ((candidate->replay == NULL) == (candidate->preload == NULL))
        return res_strdup("exactly one of 'replay' and 'preload' must be given");
    if (candidate->replay != NULL && !res_candidate_name_is_valid(candidate->replay))
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

char *res_candidate_parse(const char *text, size_t length, struct res_candidate *ret_candidate)
{
    struct parse parse = {.problem = check_text(text, length)};
    if (parse.problem == NULL) {
        char *terminated = res_strndup(text, length);
        const int line = ini_parse_string(terminated, on_line, &parse);
        free(terminated);
        if (parse.problem == NULL && line != 0)
            parse.problem = res_printf("line %d is neither '[section]' nor 'key = value'", line);
    }
    if (parse.problem == NULL)
        parse.problem = check_candidate(&parse.candidate);
    if (parse.problem == NULL)
        *ret_candidate = parse.candidate;
    else
        res_candidate_release(&parse.candidate);
    return parse.problem;
}

void res_candidate_release(struct res_candidate *candidate)
{
    res_variables_free(candidate->environment, candidate->variable_count);
    res_variables_free(candidate->expected, candidate->expected_count);
    res_ranges_free(candidate->ranges, candidate->range_count);
    free(candidate->settings);
    free(candidate->name);
    free(candidate->description);
    free(candidate->replay);
    free(candidate->preload);
    free(candidate->library);
    free(candidate->proof);
    free(candidate->package);
    free(candidate->clock);
    free(candidate->origin);
    free(candidate->path);
    free(candidate->version);
    free(candidate->program);
    free(candidate->missing);
}

/* variables.c - names of settings to variables. */
#include "results/measure/candidate/candidates.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

static bool is_name(const char *name, size_t length, const char *also)
{
    if (length == 0 || (!isalpha((unsigned char)name[0]) && name[0] != '_'))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)name[i]) && strchr(also, name[i]) == NULL)
            return false;
    }
    return true;
}

char *res_variable_problem(const char *name)
{
    if (!is_name(name, strlen(name), "_"))
        return res_printf("'%.40s' in [environment] is no name of a variable", name);
    if (strncmp(name, "LD_", 3) == 0)
        return res_printf("'%.40s' in [environment] is not allowed: libraries are named by 'preload'", name);
    return NULL;
}

char *res_variables_add(struct res_pairs *list, const char *name, const char *value)
{
    if (*name == '\0' || strpbrk(name, "= \t") != NULL)
        return res_printf("'%.40s' is no name of a setting", name);
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) == 0)
            return res_printf("'%.40s' is given twice, or goes on over two lines", name);
    }
    if (list->count >= RES_VARIABLES_MAX)
        return res_printf("more than %u variables", RES_VARIABLES_MAX);
    list->items = res_realloc(list->items, list->count + 1, sizeof *list->items);
    list->items[list->count++] = (struct res_pair){res_strdup(name), res_strdup(value)};
    return NULL;
}

/* ---- where a setting goes -------------------------------------------------------------------- */

/* Takes over value. */
static char *set_variable(struct res_candidate *candidate, const char *name, char *value)
{
    char *problem = res_variable_problem(name);
    if (problem != NULL) {
        free(value);
        return problem;
    }
    for (size_t i = 0; i < candidate->environment.count; i++) {
        if (strcmp(candidate->environment.items[i].name, name) == 0) {
            free(candidate->environment.items[i].value);
            candidate->environment.items[i].value = value;
            return NULL;
        }
    }
    problem = res_variables_add(&candidate->environment, name, value);
    free(value);
    return problem;
}

static const char *value_of(const struct res_candidate *candidate, const char *name)
{
    for (size_t i = 0; i < candidate->environment.count; i++) {
        if (strcmp(candidate->environment.items[i].name, name) == 0)
            return candidate->environment.items[i].value;
    }
    return "";
}

/* One variable that carries many settings. */
static char *append(struct res_candidate *candidate, const char *variable, const char *separator,
                    char *setting)
{
    const char *before = value_of(candidate, variable);
    char *value = res_printf("%s%s%s", before, before[0] != '\0' ? separator : "", setting);
    free(setting);
    return set_variable(candidate, variable, value);
}

static char *set_prefixed(struct res_candidate *candidate, const char *prefix, const char *setting,
                          const char *value)
{
    RES_FREED char *name = res_printf("%s%s", prefix, setting);
    for (char *letter = name; *letter != '\0'; letter++)
        *letter = (char)toupper((unsigned char)*letter);
    return set_variable(candidate, name, res_strdup(value));
}

static bool is_capital(const char *setting)
{
    for (; *setting != '\0'; setting++) {
        if (islower((unsigned char)*setting) || *setting == '.')
            return false;
    }
    return true;
}

char *res_setting_apply(struct res_candidate *candidate, const char *setting, const char *value)
{
    const char *kind = candidate->proof != NULL ? candidate->proof : "address";
    if (!is_name(setting, strlen(setting), "_."))
        return res_printf("'%.40s' is no name of a setting", setting);
    if (is_capital(setting))
        return set_variable(candidate, setting, res_strdup(value));
    if (strcmp(kind, "jemalloc") == 0)
        return append(candidate, "MALLOC_CONF", ",", res_printf("%s:%s", setting, value));
    if (strcmp(kind, "glibc") == 0)
        return append(
            candidate, "GLIBC_TUNABLES", ":",
            res_printf("%s%s=%s", strchr(setting, '.') != NULL ? "" : "glibc.malloc.", setting, value));
    if (strcmp(kind, "mimalloc") == 0)
        return set_prefixed(candidate, "MIMALLOC_", setting, value);
    if (strcmp(kind, "tcmalloc") == 0)
        return set_prefixed(candidate, "TCMALLOC_", setting, value);
    return res_printf(
        "nothing is known of how '%.60s' takes the setting '%.40s': name the variable of its environment, "
        "in capitals",
        candidate->name, setting);
}

char *res_range_value(const struct res_pair *range, size_t number)
{
    const char *at = range->value;
    for (; number > 0 && (at = strchr(at, ',')) != NULL; number--)
        at++;
    if (at == NULL)
        return NULL;
    at += strspn(at, " \t");
    size_t length = strcspn(at, ",");
    while (length > 0 && isspace((unsigned char)at[length - 1]))
        length--;
    return res_strndup(at, length);
}

char *res_ranges_problem(const struct res_candidate *candidate)
{
    char *refused = NULL;
    for (size_t i = 0; i < candidate->ranges.count && refused == NULL; i++) {
        struct res_candidate trial = {.name = candidate->name, .proof = candidate->proof};
        char *value;
        for (size_t k = 0;
             refused == NULL && (value = res_range_value(&candidate->ranges.items[i], k)) != NULL; k++) {
            if (*value == '\0' || strchr(value, '+') != NULL)
                refused = res_printf("'%.40s' in [ranges] has an empty value, or one with '+'",
                                     candidate->ranges.items[i].name);
            free(value);
        }
        if (refused == NULL)
            refused = res_setting_apply(&trial, candidate->ranges.items[i].name, "0");
        res_pairs_release(&trial.environment);
    }
    return refused;
}

/* ---- inline ---------------------------------------------------------------------------------- */

const char *res_setting_inline(const char *text)
{
    for (const char *plus = strchr(text, '+'); plus != NULL; plus = strchr(plus + 1, '+')) {
        const char *sign = plus + 1 + strcspn(plus + 1, "=+/");
        if (*sign == '=' && is_name(plus + 1, (size_t)(sign - plus - 1), "_."))
            return plus;
    }
    return NULL;
}

/* "+SETTING=VALUE+SETTING=VALUE" */
static char *apply_all(struct res_candidate *candidate, const char *settings)
{
    char *problem = NULL;
    while (*settings == '+' && problem == NULL) {
        const size_t length = strcspn(settings + 1, "+");
        RES_FREED char *setting = res_strndup(settings + 1, length);
        char *sign = strchr(setting, '=');
        if (sign == NULL || sign[1] == '\0') {
            problem = res_printf("'%.60s' is not SETTING=VALUE", setting);
        } else {
            *sign = '\0';
            RES_FREED char *value = res_text_plain(sign + 1);
            problem = res_setting_apply(candidate, setting, value);
        }
        settings += 1 + length;
    }
    return problem;
}

struct res_candidate *res_registry_add_inline(struct res_registry *registry, const struct res_candidate *base,
                                              const char *text, char **ret_problem)
{
    const char *settings = res_setting_inline(text);
    RES_FREED char *name = res_printf("%s%s", base->name, settings);
    struct res_candidate *candidate = res_registry_find(registry, name);
    if (candidate == NULL && strlen(name) > RES_INLINE_NAME_MAX)
        *ret_problem = res_printf("'%.60s...' is longer than %u bytes: write a file of settings instead",
                                  name, RES_INLINE_NAME_MAX);
    else if (candidate == NULL)
        candidate = res_registry_copy(registry, base, name, ret_problem);
    if (candidate != NULL && candidate->description == NULL) { /* as res_registry_copy leaves it */
        candidate->description = res_printf("%s with %s", base->name, settings + 1);
        char *problem = apply_all(candidate, settings);
        if (problem != NULL) {
            *ret_problem = res_printf("'%s': %s", name, problem);
            free(problem);
            candidate = NULL; /* nobody asks for it: the caller gives up */
        }
    }
    return candidate;
}

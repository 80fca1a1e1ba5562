/* deploy.c - variables for a shell. */
#include "results/report/notes/deploy.h"

#include <stdlib.h>
#include <string.h>

#include "results/report/grid/cells.h"
#include "results/report/table/table.h"

static const char SAFE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:=/+-@%";
static const char NAME[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

void res_deploy_variable(struct res_text *text, const char *name, const char *value)
{
    res_text_printf(text, "%s%s=", text->length > 0 ? " " : "", name);
    if (strspn(value, SAFE) == strlen(value)) {
        res_text_printf(text, "%s", value);
        return;
    }
    res_text_printf(text, "'");
    for (; *value != '\0'; value++)
        res_text_printf(text, *value == '\'' ? "'\\''" : "%c", *value);
    res_text_printf(text, "'");
}

/* A candidate that is the C library's malloc is linked, and its library is libc.so.6 wherever that lies. */
static bool is_c_library(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash != NULL ? slash + 1 : path, "libc.so", 7) == 0;
}

/* A result is a file from anywhere: a name that is none would be a command when the line is pasted. */
static bool is_variable(const char *name)
{
    return *name != '\0' && strchr("0123456789", *name) == NULL && strspn(name, NAME) == strlen(name);
}

/* Behind a value: safe bytes, what stands between apostrophes, and apostrophes after a backslash. NULL: it has no end. */
static const char *behind_value(const char *at)
{
    for (;;) {
        at += strspn(at, SAFE);
        if (*at == '\'') {
            at = strchr(at + 1, '\'');
            if (at == NULL)
                return NULL;
            at++;
        } else if (at[0] == '\\' && at[1] == '\'') {
            at += 2;
        } else {
            return at;
        }
    }
}

bool res_deploy_is_line(const char *line)
{
    if (*line == '\0')
        return true;
    for (const char *at = line;; at++) {
        const size_t length = strspn(at, NAME);
        if (length == 0 || strchr("0123456789", *at) != NULL || at[length] != '=' ||
            (at = behind_value(at + length + 1)) == NULL)
            return false;
        if (*at != ' ')
            return *at == '\0';
    }
}

char *res_deploy_line(const json_t *entry)
{
    const char *library = json_string_value(json_object_get(entry, "library"));
    struct res_text line = {0};
    const char *name;
    json_t *value;
    if (library != NULL && !is_c_library(library))
        res_deploy_variable(&line, "LD_PRELOAD", library);
    json_object_foreach(json_object_get(entry, "environment"), name, value)
    {
        if (is_variable(name) && json_is_string(value))
            res_deploy_variable(&line, name, json_string_value(value));
    }
    char *plain = line.text != NULL ? res_text_plain(line.text) : NULL;
    free(line.text);
    return plain;
}

void res_deploy_add(struct res_text *text, bool is_first, const char *name, const char *line)
{
    res_text_printf(text, "%-12s%s: %s\n", is_first ? "to paste" : "", name, line);
}

json_t *res_deploy_advised(const json_t *result, const json_t *workload)
{
    json_t *advised = json_array();
    const char *names[2];
    const size_t count = res_advice_names(result, workload, names);
    size_t index;
    json_t *entry;
    for (size_t i = 0; i < count; i++) {
        json_array_foreach(json_object_get(workload, "candidates"), index, entry)
        {
            const char *name = json_string_value(json_object_get(entry, "name"));
            char *line = name != NULL && strcmp(name, names[i]) == 0 ? res_deploy_line(entry) : NULL;
            if (line != NULL)
                json_array_append_new(advised, json_pack("{s:s, s:s}", "name", name, "line", line));
            free(line);
        }
    }
    return advised;
}

/* shell_line.c - see shell_line.h. */
#include "results/measure/base/shell_line.h"

#include <string.h>

static const char SAFE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:=/+-@%";
static const char NAME[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
static const char DIGITS[] = "0123456789";

void res_shell_variable(struct res_text *text, const char *name, const char *value)
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

bool res_shell_is_name(const char *name)
{
    return *name != '\0' && strchr(DIGITS, *name) == NULL && strspn(name, NAME) == strlen(name);
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

bool res_shell_is_line(const char *line)
{
    if (*line == '\0')
        return true;
    for (const char *at = line;; at++) {
        const size_t length = strspn(at, NAME);
        if (length == 0 || strchr(DIGITS, *at) != NULL || at[length] != '=' ||
            (at = behind_value(at + length + 1)) == NULL)
            return false;
        if (*at != ' ')
            return *at == '\0';
    }
}

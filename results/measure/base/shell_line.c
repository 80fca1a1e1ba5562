/* shell_line.c - see shell_line.h. */
#include "results/measure/base/shell_line.h"

#include <stdlib.h>
#include <string.h>

static const char SAFE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:=/+-@%";
static const char NAME[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
static const char DIGITS[] = "0123456789";

static void add_quoted(struct res_text *text, const char *word)
{
    if (strspn(word, SAFE) == strlen(word)) {
        res_text_printf(text, "%s", word);
        return;
    }
    res_text_printf(text, "'");
    for (; *word != '\0'; word++)
        res_text_printf(text, *word == '\'' ? "'\\''" : "%c", *word);
    res_text_printf(text, "'");
}

void res_shell_variable(struct res_text *text, const char *name, const char *value)
{
    res_text_printf(text, "%s%s=", text->length > 0 ? " " : "", name);
    add_quoted(text, value);
}

void res_shell_word(struct res_text *text, const char *word)
{
    res_text_printf(text, "%s%s", text->length > 0 ? " " : "", *word == '\0' ? "''" : "");
    add_quoted(text, word);
}

char *res_shell_command(char *const *words)
{
    struct res_text line = {0};
    for (; *words != NULL; words++) {
        char *plain = res_text_plain(*words);
        const bool fits = strcmp(plain, *words) == 0 && line.length + strlen(plain) < RES_COMMAND_BYTES;
        free(plain);
        if (!fits) {
            res_text_printf(&line, "%s...", line.length > 0 ? " " : "");
            break;
        }
        res_shell_word(&line, *words);
    }
    return line.text != NULL ? line.text : res_strdup("");
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

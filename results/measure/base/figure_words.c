/* figure_words.c - see figure_words.h. */
#include "results/measure/base/figure_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/fields.h"

const char *res_ns_words(double ns, char *room)
{
    snprintf(room, RES_WORDS, !isfinite(ns) ? "-" : ns < 9.995 ? "%.2f" : ns < 999.95 ? "%.1f" : "%.0f", ns);
    return room;
}

static const char *percent(double ratio, char *room)
{
    double difference = (ratio - 1) * 100;
    if (fabs(difference) < 0.05)
        difference = 0; /* no "-0.0" */
    snprintf(room, RES_WORDS / 2 - 2, fabs(difference) < 99.95 ? "%+.1f" : "%+.0f", difference);
    return room;
}

const char *res_percent_words(double ratio, char *room)
{
    snprintf(room, RES_WORDS, isfinite(ratio) ? "%s%%" : "-", percent(ratio, (char[RES_WORDS]){0}));
    return room;
}

const char *res_interval_words(double low, double high, char *room)
{
    room[0] = '\0';
    if (isfinite(low) && isfinite(high))
        snprintf(room, RES_WORDS, "[%s %s]", percent(low, (char[RES_WORDS]){0}),
                 percent(high, (char[RES_WORDS]){0}));
    return room;
}

const char *res_share_words(double share, bool about, char *room)
{
    const double percent = 100 * share, whole = about ? 0.95 : 9.95;
    if (percent < 0.05)
        snprintf(room, RES_WORDS, "less than 0.1 %%");
    else
        snprintf(room, RES_WORDS, "%.*f %%", percent < whole, percent);
    return room;
}

const char *res_factor_words(double factor, char *room)
{
    snprintf(room, RES_WORDS, !isfinite(factor) ? "-" : factor < 99.995 ? "%.2fx" : "%.0fx", factor);
    return room;
}

const char *res_number_words(double number, char *room)
{
    const bool shown = number >= 0 && number < 1e15;
    return shown ? fp_text_grouped((unsigned long long)llround(number), room) : strcpy(room, "-");
}

struct res_bytes_unit res_bytes_unit_of(double largest_bytes)
{
    return largest_bytes < 1e6    ? (struct res_bytes_unit){"kB", 1e3}
           : largest_bytes < 1e10 ? (struct res_bytes_unit){"MB", 1e6}
                                  : (struct res_bytes_unit){"GB", 1e9};
}

const char *res_bytes_words(double bytes, struct res_bytes_unit unit, char *room)
{
    const double value = bytes / unit.bytes, size = fabs(value);
    snprintf(room, RES_WORDS,
             !isfinite(value) ? "-"
             : size < 9.995   ? "%.2f"
             : size < 999.95  ? "%.1f"
                              : "%.0f",
             value);
    return room;
}

/* ---- shell line ---- */

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
        RES_FREED char *plain = res_text_plain(*words);
        const bool fits = strcmp(plain, *words) == 0 && line.length + strlen(plain) < RES_COMMAND_BYTES;
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

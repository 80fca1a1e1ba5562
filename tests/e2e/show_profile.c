/* show_profile.c - a profile from lines on standard input, shown: show_profile folded|pprof|html METRIC.
 *
 *     title NAME | note WORDS
 *     metric VALUE                    VALUE as a number of enum site_value
 *     before                          what follows is a profile that the one so far is compared with
 *     stack V,V:SAMPLES:VARIANCE,...<TAB>FRAME<TAB>... from the top; a FRAME is FUNCTION|MODULE|FILE|LINE, later parts may be absent
 *
 * METRIC counts from 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/show/site_profile.h"

static uint32_t frame_of(struct site_profile *profile, char *text)
{
    const char *parts[4] = {NULL};
    for (size_t i = 0; i < 4 && text != NULL; i++) {
        parts[i] = strsep(&text, "|");
        if (*parts[i] == '\0')
            parts[i] = NULL;
    }
    const struct site_frame_words words = {parts[0], parts[1], parts[2],
                                           parts[3] != NULL ? (uint32_t)strtoul(parts[3], NULL, 10) : 0};
    return site_profile_frame(profile, &words);
}

static void take_stack(struct site_profile *profile, char *text)
{
    char *values = strsep(&text, "\t");
    uint32_t node = SITE_TOP;
    while (text != NULL)
        node = site_profile_node(profile, node, frame_of(profile, strsep(&text, "\t")));
    for (uint32_t metric = 0; values != NULL; metric++) {
        struct site_basis basis;
        char *rest;
        site_profile_add(profile, node, metric, strtod(strsep(&values, ","), &rest));
        if (sscanf(rest, ":%lf:%lf", &basis.samples, &basis.variance) == 2)
            site_profile_rest(profile, node, metric, basis);
    }
}

static void take_line(struct site_profile *profile, char *line)
{
    const char *word = strsep(&line, " ");
    if (strcmp(word, "title") == 0)
        site_profile_title(profile, line);
    else if (strcmp(word, "note") == 0)
        site_profile_note(profile, line);
    else if (strcmp(word, "stack") == 0)
        take_stack(profile, line);
    else if (strcmp(word, "metric") == 0)
        site_profile_metric(profile, (enum site_value)atoi(line));
}

int main(int argc, char **argv)
{
    struct site_profile profiles[2] = {{0}}, *profile = &profiles[0];
    char *line = NULL;
    size_t size = 0, length;
    for (ssize_t got; (got = getline(&line, &size, stdin)) > 0;) {
        line[got - 1] = '\0';
        if (strcmp(line, "before") == 0)
            profile = &profiles[1];
        else
            take_line(profile, line);
    }
    free(line);
    profile = &profiles[0];
    site_profile_merge(profile, &profiles[1]);
    const uint32_t metric = (uint32_t)atoi(argv[2]);
    char *text = strcmp(argv[1], "folded") == 0  ? site_folded(profile, metric)
                 : strcmp(argv[1], "pprof") == 0 ? site_pprof(profile, metric, &length)
                                                 : site_flame_page(profile, metric);
    if (strcmp(argv[1], "pprof") != 0)
        length = strlen(text);
    const bool is_written = fwrite(text, 1, length, stdout) == length;
    free(text);
    site_profile_release(&profiles[0]);
    site_profile_release(&profiles[1]);
    return is_written && fflush(stdout) == 0 ? 0 : 1;
}

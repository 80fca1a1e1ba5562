/* options.c - the command line of mallab-collect. */
#include "collect/collect.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "footprint/fp/fp_sites.h"

#define MEMORY_DEFAULT (UINT64_C(128) << 20)

const char COLLECT_USAGE[] =
    "usage: mallab-collect --out DIR [OPTION]... | --recover --out DIR\n"
    "\n"
    "Drain the shared memory of recorded processes into footprints. Started by 'mallab record' and by\n"
    "libmallab.so; of no use by hand.\n";

enum kind { FLAG, TEXT, NUMBER, DESCRIPTOR, CHOICE, SAMPLE };

#define FIELD(name) offsetof(struct collect_options, name)

/* A number is at most `most`. A choice is one of two words, the second of which sets the field. */
static const struct row {
    const char *name;
    enum kind kind;
    size_t field;
    uint64_t most;
    const char *words[2];
} ROWS[] = {
    {"out", TEXT, FIELD(out), 0, {0}},
    {"memory", NUMBER, FIELD(memory_bytes), UINT64_MAX, {0}},
    {"max-size", NUMBER, FIELD(max_size_bytes), UINT64_MAX, {0}},
    {"duration", NUMBER, FIELD(duration_ns), UINT64_MAX, {0}},
    {"no-follow", FLAG, FIELD(no_follow), 0, {0}},
    {"on-full", CHOICE, FIELD(drop), 0, {"wait", "drop"}},
    {"ready-fd", DESCRIPTOR, FIELD(ready_fd), INT_MAX, {0}},
    {"control-fd", DESCRIPTOR, FIELD(control_fd), INT_MAX, {0}},
    {"attached", FLAG, FIELD(attached), 0, {0}},
    {"command-pid", NUMBER, FIELD(command_pid), INT_MAX, {0}},
    {"leader", NUMBER, FIELD(leader_pid), INT_MAX, {0}},
    {"unique", FLAG, FIELD(unique), 0, {0}},
    {"join", FLAG, FIELD(join), 0, {0}},
    {"clock", CHOICE, FIELD(no_tsc), 0, {"auto", "monotonic"}},
    {"recover", FLAG, FIELD(recover), 0, {0}},
    {"paused", FLAG, FIELD(paused), 0, {0}},
    {"window", NUMBER, FIELD(window_ns), UINT64_MAX, {0}},
    {"keep", NUMBER, FIELD(keep), UINT32_MAX, {0}},
    {"only", TEXT, FIELD(only), 0, {0}},
    {"label", TEXT, FIELD(label), 0, {0}},
    {"no-residency", FLAG, FIELD(no_residency), 0, {0}},
    {"sites", SAMPLE, FIELD(sites_bytes), 0, {0}},
};

#define ROW_COUNT (sizeof ROWS / sizeof ROWS[0])

bool collect_parse_number(const char *text, uint64_t most, uint64_t *ret_number)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || number > most)
        return false;
    *ret_number = number;
    return true;
}

static bool take_option(struct collect_options *options, const struct row *row, const char *value)
{
    void *field = (char *)options + row->field;
    uint64_t number = 0;
    switch (row->kind) {
    case FLAG:
        *(bool *)field = true;
        return true;
    case TEXT:
        *(const char **)field = value;
        return row->field != FIELD(label) || fp_label_is_valid(value);
    case CHOICE:
        *(bool *)field = strcmp(value, row->words[1]) == 0;
        return *(bool *)field || strcmp(value, row->words[0]) == 0;
    case SAMPLE:
        options->sites = true;
        return fp_sample_parse(value, field);
    case NUMBER:
    case DESCRIPTOR:
        break;
    }
    if (!collect_parse_number(value, row->most, &number))
        return false;
    if (row->kind == NUMBER)
        *(uint64_t *)field = number;
    else
        *(int *)field = (int)number;
    return true;
}

/* A number may follow the directory's name (OUT.2). The words of a command line may be changed in place. */
static void cut_slashes(char *path)
{
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
}

int collect_parse_options(int argc, char **argv, struct collect_options *ret_options)
{
    struct option longs[ROW_COUNT + 2] = {[ROW_COUNT] = {"help", no_argument, NULL, 'h'}};
    int which, option;
    for (size_t i = 0; i < ROW_COUNT; i++)
        longs[i] = (struct option){ROWS[i].name, ROWS[i].kind == FLAG ? no_argument : required_argument, NULL,
                                   0};
    *ret_options = (struct collect_options){.memory_bytes = MEMORY_DEFAULT, .ready_fd = -1, .control_fd = -1};
    while ((option = getopt_long(argc, argv, "h", longs, &which)) != -1) {
        if (option == 'h')
            return 1;
        if (option != 0 || !take_option(ret_options, &ROWS[which], optarg))
            return 2;
        if (ROWS[which].field == FIELD(out))
            cut_slashes(optarg);
    }
    return ret_options->out == NULL || ret_options->out[0] == '\0' || optind != argc ? 2 : 0;
}

/* collect_options.c - the command line of mallab-collect. */
#include "shim/collect/collect.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_DEFAULT (UINT64_C(128) << 20)

const char COLLECT_USAGE[] =
    "usage: mallab-collect --out DIR [--memory BYTES] [--max-size BYTES] [--duration NS] [--no-follow]\n"
    "                      [--on-full wait|drop] [--ready-fd N] [--leader PID] [--control-fd N]\n"
    "                      [--clock auto|monotonic] [--order epochs|stamps] [--unique | --join]\n"
    "                      [--paused] [--window NS [--keep N]] [--only NAMES] [--no-residency]\n"
    "                      [--library-fd N]\n"
    "       mallab-collect --recover --out DIR\n"
    "\n"
    "Drain the shared memory of recorded processes into footprints. Started by 'mallab record' and by\n"
    "libmallab.so; of no use by hand.\n";

bool collect_parse_number(const char *text, uint64_t most, uint64_t *ret_number)
{
    char *end;
    unsigned long long number;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || number > most)
        return false;
    *ret_number = number;
    return true;
}

/* At its end, so that a number may follow. In place, as the words of a command line may be. */
static char *without_slashes(char *path)
{
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    return path;
}

static bool parse_option(struct collect_options *options, int option, char *value)
{
    uint64_t number = 0;
    switch (option) {
    case 'o':
        options->out = without_slashes(value);
        return true;
    case 'm':
        return collect_parse_number(value, UINT64_MAX, &options->memory_bytes);
    case 's':
        return collect_parse_number(value, UINT64_MAX, &options->max_size_bytes);
    case 'd':
        return collect_parse_number(value, UINT64_MAX, &options->duration_ns);
    case 'n':
        options->no_follow = true;
        return true;
    case 'f':
        options->drop = strcmp(value, "drop") == 0;
        return options->drop || strcmp(value, "wait") == 0;
    case 'r':
        if (!collect_parse_number(value, INT_MAX, &number))
            return false;
        options->ready_fd = (int)number;
        return true;
    case 'c':
        if (!collect_parse_number(value, INT_MAX, &number))
            return false;
        options->control_fd = (int)number;
        return true;
    case 'L':
        if (!collect_parse_number(value, INT_MAX, &number))
            return false;
        options->library_fd = (int)number;
        return true;
    case 'l':
        if (!collect_parse_number(value, INT_MAX, &number))
            return false;
        options->leader_pid = (uint32_t)number;
        return true;
    case 't':
        options->no_tsc = strcmp(value, "monotonic") == 0;
        return options->no_tsc || strcmp(value, "auto") == 0;
    case 'e':
        options->stamps = strcmp(value, "stamps") == 0;
        return options->stamps || strcmp(value, "epochs") == 0;
    case 'x':
        options->no_residency = true;
        return true;
    case 'p':
        options->paused = true;
        return true;
    case 'w':
        return collect_parse_number(value, UINT64_MAX, &options->window_ns);
    case 'k':
        return collect_parse_number(value, UINT32_MAX, &options->keep);
    case 'y':
        options->only = value;
        return true;
    case 'R':
        options->recover = true;
        return true;
    case 'u':
        options->unique = true;
        return true;
    case 'j':
        options->join = true;
        return true;
    default:
        return false;
    }
}

int collect_parse_options(int argc, char **argv, struct collect_options *ret_options)
{
    static const struct option LONG[] = {
        {"out", required_argument, NULL, 'o'},      {"memory", required_argument, NULL, 'm'},
        {"max-size", required_argument, NULL, 's'}, {"duration", required_argument, NULL, 'd'},
        {"no-follow", no_argument, NULL, 'n'},      {"on-full", required_argument, NULL, 'f'},
        {"ready-fd", required_argument, NULL, 'r'}, {"control-fd", required_argument, NULL, 'c'},
        {"leader", required_argument, NULL, 'l'},   {"library-fd", required_argument, NULL, 'L'},
        {"unique", no_argument, NULL, 'u'},         {"join", no_argument, NULL, 'j'},
        {"clock", required_argument, NULL, 't'},    {"recover", no_argument, NULL, 'R'},
        {"order", required_argument, NULL, 'e'},    {"paused", no_argument, NULL, 'p'},
        {"window", required_argument, NULL, 'w'},   {"keep", required_argument, NULL, 'k'},
        {"only", required_argument, NULL, 'y'},     {"no-residency", no_argument, NULL, 'x'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    int option;
    *ret_options = (struct collect_options){
        .memory_bytes = MEMORY_DEFAULT, .ready_fd = -1, .control_fd = -1, .library_fd = -1};
    while ((option = getopt_long(argc, argv, "h", LONG, NULL)) != -1) {
        if (option == 'h')
            return 1;
        if (!parse_option(ret_options, option, optarg))
            return 2;
    }
    return ret_options->out == NULL || ret_options->out[0] == '\0' || optind != argc ? 2 : 0;
}

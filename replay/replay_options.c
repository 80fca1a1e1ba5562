/* replay_options.c - options of a run. */
#include "replay/replay_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/outcome/ending.h"
#include "replay/system/processors.h"

static const char HELP[] =
    "usage: mallab-replay-" REP_ALLOCATOR " [OPTION...] WORKLOAD\n"
    "\n"
    "Execute a workload's calls on one allocator and print what they cost. 'mallab\n"
    "replay' and 'mallab ab' run this program; it can be run by hand too.\n"
    "\n"
    "  --json                print one JSON object\n"
    "  --threads HOW         'recorded', or '1': all ops on one thread [recorded]\n"
    "  --expect-library LIB  fail unless malloc comes from this library: a path or\n"
    "                        a file name [what this program is linked against]\n"
    "  --proof KIND          which allocator must answer for itself: glibc, tbb,\n"
    "                        jemalloc, tcmalloc, mimalloc, scudo, none; or address:\n"
    "                        the library alone [by what is expected]\n"
    "  --setting VARIABLE    the candidate sets this variable: fail unless the\n"
    "                        allocator confirms what it says; may be repeated\n"
    "  --expect NAME=VALUE   fail unless the allocator says so of its setting NAME\n"
    "  --settings            take no WORKLOAD: exit with 2 when a setting that was\n"
    "                        given is wrong, else with 0\n"
    "  --unproven            let settings pass of which the allocator tells nothing\n"
    "  --limit BYTES         let the allocator map no more than this (RLIMIT_DATA)\n"
    "  --limit-group DIR     join this control group, made by whoever started us, and\n"
    "                        limit what is resident in it instead\n"
    "  --limit-notes FD      leave in this file how far the ops have come\n"
    "  --promises            look whether the allocator keeps its promises instead of\n"
    "                        measuring\n"
    "  --waste               split what is resident as far as the allocator tells,\n"
    "                        near the live peak and at the end\n"
    "  --latency             time every call by itself and print percentiles; the\n"
    "                        time per op is not measured then\n"
    "  --report-failure      print a run that failed as JSON too\n"
    "  --candidate NAME      the name to print [" REP_ALLOCATOR "]\n"
    "  --clock CLOCK         what the allocator is told when it asks for the time:\n"
    "                        real, or recorded, which moves with the ops [real]\n"
    "  --expect-clock        with --clock recorded, fail unless the allocator asked\n"
    "  --processors N        let the allocator size itself as where there are N [as\n"
    "                        where a workload of several threads was recorded]\n"
    "  --idle-ms N           rest for N milliseconds after the last op, then look\n"
    "                        at memory again [0]\n"
    "  --timeout S           give up after S seconds [0: never]\n"
    "  -h, --help            print this help\n"
    "\n"
    "example: LD_PRELOAD=libtbbmalloc_proxy.so.2 mallab-replay-glibc --proof tbb \\\n"
    "             --expect-library libtbbmalloc_proxy.so.2 web.wl\n"
    "exit codes: 0 done, 1 failed (also: another allocator served the calls),\n"
    "2 misuse, 3 WORKLOAD unreadable, damaged or too new\n";

static bool parse_number(const char *text, uint64_t max, uint64_t *ret_number)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || number > max)
        return false;
    *ret_number = number;
    return true;
}

static bool take_threads(const char *text, struct rep_options *options)
{
    options->serial = strcmp(text, "1") == 0;
    return options->serial || strcmp(text, "recorded") == 0;
}

#define TAKE(name, taken)                                                                                    \
    static bool take_##name(const char *text, struct rep_options *options)                                   \
    {                                                                                                        \
        return (taken);                                                                                      \
    }
TAKE(setting, rep_settings_name(options->settings, text))
TAKE(expect, rep_settings_expect(options->settings, text))
TAKE(limit, parse_number(text, UINT64_MAX, &options->limit.bytes) && options->limit.bytes > 0)
TAKE(clock, (options->recorded_clock = strcmp(text, "recorded") == 0) || strcmp(text, "real") == 0)

#define AT(where) .at = offsetof(struct rep_options, where)

/* One option each: what it is, and where it goes; of a VALUE take() says whether it is one. */
static const struct {
    const char *name;
    enum { FLAG, TEXT, NUMBER, VALUE } kind;
    size_t at;
    unsigned most; /* of a NUMBER */
    bool (*take)(const char *text, struct rep_options *options);
} ROWS[] = {
    {"json", FLAG, AT(json)},
    {"threads", VALUE, .take = take_threads},
    {"expect-library", TEXT, AT(expected_library)},
    {"proof", TEXT, AT(proof_kind)},
    {"setting", VALUE, .take = take_setting},
    {"expect", VALUE, .take = take_expect},
    {"settings", FLAG, AT(settings_only)},
    {"unproven", FLAG, AT(unproven)},
    {"limit", VALUE, .take = take_limit},
    {"limit-group", TEXT, AT(limit.group)},
    {"limit-notes", NUMBER, AT(limit.notes_fd), .most = INT_MAX},
    {"promises", FLAG, AT(check)},
    {"waste", FLAG, AT(waste)},
    {"latency", FLAG, AT(latency)},
    {"report-failure", FLAG, AT(report_failure)},
    {"candidate", TEXT, AT(candidate)},
    {"clock", VALUE, .take = take_clock},
    {"expect-clock", FLAG, AT(expects_clock)},
    {"idle-ms", NUMBER, AT(idle_ms), .most = 86400000},
    {"timeout", NUMBER, AT(timeout_s), .most = 1000000},
    {"processors", NUMBER, AT(processors), .most = FP_PROCESSORS_MAX},
};

#define ROW_COUNT (sizeof ROWS / sizeof ROWS[0])

#define MISUSE(...) (rep_complain(__VA_ARGS__), exit(EXIT_MISUSE))

static bool take_option(size_t row, const char *value, struct rep_options *options)
{
    void *place = (char *)options + ROWS[row].at;
    uint64_t number = 0;
    switch (ROWS[row].kind) {
    case FLAG:
        *(bool *)place = true;
        return true;
    case TEXT:
        *(const char **)place = value;
        return true;
    case NUMBER:
        if (!parse_number(value, ROWS[row].most, &number))
            return false;
        *(unsigned *)place = (unsigned)number;
        return true;
    case VALUE:
        return ROWS[row].take(value, options);
    }
    return false;
}

static void check_combination(const struct rep_options *options)
{
    if (options->check && options->latency)
        MISUSE("--promises and --latency are passes of their own: one at a time; see --help");
    if (options->check && strcmp(REP_ALLOCATOR, "none") == 0)
        MISUSE("'none' has no objects that could be checked; see --help");
}

void rep_options_parse(int argc, char **argv, struct rep_settings *settings, struct rep_options *ret_options)
{
    struct option long_options[ROW_COUNT + 2] = {[ROW_COUNT] = {"help", no_argument, NULL, 'h'}};
    int option, index = 0;
    struct rep_options options = {
        .candidate = REP_ALLOCATOR, .limit = {.notes_fd = -1}, .settings = settings};
    for (size_t i = 0; i < ROW_COUNT; i++)
        long_options[i] = (struct option){
            ROWS[i].name, ROWS[i].kind == FLAG ? no_argument : required_argument, NULL, 256 + (int)i};
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", long_options, &index)) != -1) {
        if (option == 'h') {
            (void)!write(STDOUT_FILENO, HELP, sizeof HELP - 1);
            exit(EXIT_DONE);
        }
        if (option == '?')
            MISUSE("unknown option or missing value at '%s'; see --help", argv[optind - 1]);
        if (!take_option((size_t)index, optarg, &options))
            MISUSE("'%s' is no value for --%s; see --help", optarg, ROWS[index].name);
    }
    settings->unproven = options.unproven;
    if (options.settings_only && optind != argc)
        MISUSE("--settings takes no workload; see --help");
    if (!options.settings_only && optind + 1 != argc)
        MISUSE("%s; see --help", optind == argc ? "a workload is missing" : "one workload at a time");
    check_combination(&options);
    options.workload = argv[optind]; /* NULL at the end */
    *ret_options = options;
}

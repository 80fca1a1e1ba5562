/* replay_options.c - options of a run. */
#include "replay/replay_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/outcome/ending.h"

static const char HELP[] =
    "usage: mallab-replay-" REP_ALLOCATOR " [OPTION...] WORKLOAD\n"
    "\n"
    "Execute a workload's calls on one allocator and print what they cost. 'mallab\n"
    "replay' and 'mallab ab' run this program; it can be run by hand too.\n"
    "\n"
    "  --json                print one JSON object\n"
    "  --touch WHAT          what is written into new memory: none, page (a byte per\n"
    "                        page) or full [page]\n"
    "  --threads HOW         'recorded', or '1': all ops on one thread [recorded]\n"
    "  --expect-library LIB  fail unless malloc comes from this library: a path or\n"
    "                        a file name [what this program is linked against]\n"
    "  --proof KIND          which allocator must answer for itself: glibc, tbb,\n"
    "                        jemalloc, tcmalloc, mimalloc, scudo, none; or address:\n"
    "                        the library alone [by what is expected]\n"
    "  --setting VARIABLE    the candidate sets this variable: fail unless the\n"
    "                        allocator confirms what it says; may be repeated\n"
    "  --expect NAME=VALUE   fail unless the allocator says so of its setting NAME\n"
    "  --settings            take no WORKLOAD: print the settings that the allocator\n"
    "                        knows, a line each, and exit with 2 when one that was\n"
    "                        given is wrong\n"
    "  --unproven            let settings pass of which the allocator tells nothing\n"
    "  --limit BYTES         let the allocator map no more than this (RLIMIT_DATA)\n"
    "  --limit-group DIR     join this control group, made by whoever started us, and\n"
    "                        limit what is resident in it instead\n"
    "  --limit-notes FD      leave in this file how far the ops have come\n"
    "  --check               look whether the allocator keeps its promises instead of\n"
    "                        measuring\n"
    "  --waste               split what is resident as far as the allocator tells,\n"
    "                        near the live peak and at the end\n"
    "  --latency             time every call by itself and print percentiles; the\n"
    "                        time per op is not measured then\n"
    "  --syscalls            count the system calls by kind; nothing is timed\n"
    "  --placement           look where live objects lie: misses of a simulated TLB,\n"
    "                        pages and lines held; nothing is timed\n"
    "  --pin HOW             'no', 'auto': a processor for each thread, or a list of\n"
    "                        processors to keep to: 0,2-3 [no]\n"
    "  --nice N              priority, -20 (high) to 19 [as it is]\n"
    "  --report-failure      print a run that failed as JSON too\n"
    "  --candidate NAME      the name to print [" REP_ALLOCATOR "]\n"
    "  --clock CLOCK         what the allocator is told when it asks for the time:\n"
    "                        real, or recorded, which moves with the ops [real]\n"
    "  --pace SPEED          max, real (each op at its recorded time), or Nx: N times\n"
    "                        as fast [max]\n"
    "  --expect-clock        with --clock recorded, fail unless the allocator asked\n"
    "  --idle-ms N           rest for N milliseconds after the last op, then look\n"
    "                        at memory again [0]\n"
    "  --idle-with WHAT      nothing, or calls: some in each tenth of a second\n"
    "                        [calls on the recorded clock, else nothing]\n"
    "  --timeout S           give up after S seconds [0: never]\n"
    "  -h, --help            print this help\n"
    "\n"
    "example: LD_PRELOAD=libtbbmalloc_proxy.so.2 mallab-replay-glibc --proof tbb \\\n"
    "             --expect-library libtbbmalloc_proxy.so.2 web.wl\n"
    "exit codes: 0 done, 1 failed (also: another allocator served the calls),\n"
    "2 misuse, 3 WORKLOAD unreadable, damaged or too new\n";

static bool parse_number(const char *text, unsigned max, unsigned *ret_number)
{
    char *end;
    errno = 0;
    const unsigned long number = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || number > max)
        return false;
    *ret_number = (unsigned)number;
    return true;
}

static bool parse_bytes(const char *text, uint64_t *ret_bytes)
{
    char *end;
    errno = 0;
    const unsigned long long bytes = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || bytes == 0)
        return false;
    *ret_bytes = bytes;
    return true;
}

static bool parse_touch(const char *text, struct rep_options *options)
{
    static const char *const NAMES[] = {"none", "page", "full"}; /* in the order of enum rep_touch */
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(text, NAMES[i]) == 0) {
            options->touch = (enum rep_touch)i;
            options->touch_name = NAMES[i];
            return true;
        }
    }
    return false;
}

static bool parse_nice(const char *text, struct rep_options *options)
{
    unsigned size;
    const bool negative = text[0] == '-';
    if (!parse_number(text + negative, negative ? 20 : 19, &size))
        return false;
    options->binding.nice = negative ? -(int)size : (int)size;
    options->binding.nice_asked = true;
    return true;
}

enum {
    OPTION_JSON = 256,
    OPTION_TOUCH,
    OPTION_THREADS,
    OPTION_EXPECT_LIBRARY,
    OPTION_PROOF,
    OPTION_SETTING,
    OPTION_EXPECT,
    OPTION_SETTINGS,
    OPTION_UNPROVEN,
    OPTION_LIMIT,
    OPTION_LIMIT_GROUP,
    OPTION_LIMIT_NOTES,
    OPTION_CHECK,
    OPTION_WASTE,
    OPTION_LATENCY,
    OPTION_SYSCALLS,
    OPTION_PLACEMENT,
    OPTION_PIN,
    OPTION_NICE,
    OPTION_REPORT_FAILURE,
    OPTION_CANDIDATE,
    OPTION_CLOCK,
    OPTION_PACE,
    OPTION_EXPECT_CLOCK,
    OPTION_IDLE_MS,
    OPTION_IDLE_WITH,
    OPTION_TIMEOUT,
};

static bool take_option(int option, const char *value, struct rep_options *options)
{
    unsigned number;
    switch (option) {
    case OPTION_JSON:
        options->json = true;
        return true;
    case OPTION_TOUCH:
        return parse_touch(value, options);
    case OPTION_THREADS:
        options->serial = strcmp(value, "1") == 0;
        return options->serial || strcmp(value, "recorded") == 0;
    case OPTION_EXPECT_LIBRARY:
        options->expected_library = value;
        return true;
    case OPTION_PROOF:
        options->proof_kind = value;
        return true;
    case OPTION_SETTING:
        return rep_settings_name(options->settings, value);
    case OPTION_EXPECT:
        return rep_settings_expect(options->settings, value);
    case OPTION_SETTINGS:
        options->settings_only = true;
        return true;
    case OPTION_UNPROVEN:
        options->settings->unproven = true;
        return true;
    case OPTION_LIMIT:
        return parse_bytes(value, &options->limit.bytes);
    case OPTION_LIMIT_GROUP:
        options->limit.group = value;
        return true;
    case OPTION_LIMIT_NOTES:
        if (!parse_number(value, INT_MAX, &number))
            return false;
        options->limit.notes_fd = (int)number;
        return true;
    case OPTION_CHECK:
        options->check = true;
        return true;
    case OPTION_WASTE:
        options->waste = true;
        return true;
    case OPTION_LATENCY:
        options->latency = true;
        return true;
    case OPTION_SYSCALLS:
        options->syscalls = true;
        return true;
    case OPTION_PLACEMENT:
        options->placement = true;
        return true;
    case OPTION_PIN:
        return rep_binding_parse(&options->binding, value);
    case OPTION_NICE:
        return parse_nice(value, options);
    case OPTION_REPORT_FAILURE:
        options->report_failure = true;
        return true;
    case OPTION_CANDIDATE:
        options->candidate = value;
        return true;
    case OPTION_CLOCK:
        return rep_pace_parse_clock(value, &options->pace);
    case OPTION_PACE:
        return rep_pace_parse_speed(value, &options->pace);
    case OPTION_EXPECT_CLOCK:
        options->expects_clock = true;
        return true;
    case OPTION_IDLE_MS:
        return parse_number(value, 86400000, &options->idle_ms);
    case OPTION_IDLE_WITH:
        options->idle_with = value;
        return strcmp(value, "calls") == 0 || strcmp(value, "nothing") == 0;
    default:
        return parse_number(value, 1000000, &options->timeout_s);
    }
}

__attribute__((noreturn)) static void misuse(const char *words)
{
    rep_complain("%s; see --help", words);
    exit(EXIT_MISUSE);
}

static void check_combination(const struct rep_options *options)
{
    if (options->check + options->latency + options->syscalls + options->placement > 1)
        misuse("--check, --latency, --syscalls and --placement are passes of their own: one at a time");
    if (options->check && strcmp(REP_ALLOCATOR, "none") == 0)
        misuse("'none' has no objects that could be checked");
    if (options->placement && strcmp(REP_ALLOCATOR, "none") == 0)
        misuse("'none' has no objects that could lie anywhere");
}

void rep_options_parse(int argc, char **argv, struct rep_settings *settings, struct rep_options *ret_options)
{
    static const struct option LONG[] = {
        {"json", no_argument, NULL, OPTION_JSON},
        {"touch", required_argument, NULL, OPTION_TOUCH},
        {"threads", required_argument, NULL, OPTION_THREADS},
        {"expect-library", required_argument, NULL, OPTION_EXPECT_LIBRARY},
        {"proof", required_argument, NULL, OPTION_PROOF},
        {"setting", required_argument, NULL, OPTION_SETTING},
        {"expect", required_argument, NULL, OPTION_EXPECT},
        {"settings", no_argument, NULL, OPTION_SETTINGS},
        {"unproven", no_argument, NULL, OPTION_UNPROVEN},
        {"limit", required_argument, NULL, OPTION_LIMIT},
        {"limit-group", required_argument, NULL, OPTION_LIMIT_GROUP},
        {"limit-notes", required_argument, NULL, OPTION_LIMIT_NOTES},
        {"check", no_argument, NULL, OPTION_CHECK},
        {"waste", no_argument, NULL, OPTION_WASTE},
        {"latency", no_argument, NULL, OPTION_LATENCY},
        {"syscalls", no_argument, NULL, OPTION_SYSCALLS},
        {"placement", no_argument, NULL, OPTION_PLACEMENT},
        {"pin", required_argument, NULL, OPTION_PIN},
        {"nice", required_argument, NULL, OPTION_NICE},
        {"report-failure", no_argument, NULL, OPTION_REPORT_FAILURE},
        {"candidate", required_argument, NULL, OPTION_CANDIDATE},
        {"clock", required_argument, NULL, OPTION_CLOCK},
        {"pace", required_argument, NULL, OPTION_PACE},
        {"expect-clock", no_argument, NULL, OPTION_EXPECT_CLOCK},
        {"idle-ms", required_argument, NULL, OPTION_IDLE_MS},
        {"idle-with", required_argument, NULL, OPTION_IDLE_WITH},
        {"timeout", required_argument, NULL, OPTION_TIMEOUT},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option, index = 0;
    struct rep_options options = {.candidate = REP_ALLOCATOR,
                                  .touch_name = "page",
                                  .touch = REP_TOUCH_PAGE,
                                  .limit = {.notes_fd = -1},
                                  .binding = {.how = "no"},
                                  .settings = settings};
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", LONG, &index)) != -1) {
        if (option == 'h') {
            (void)!write(STDOUT_FILENO, HELP, sizeof HELP - 1);
            exit(EXIT_DONE);
        }
        if (option == '?') {
            rep_complain("unknown option or missing value at '%s'; see --help", argv[optind - 1]);
            exit(EXIT_MISUSE);
        }
        if (!take_option(option, optarg, &options)) {
            rep_complain("'%s' is no value for --%s; see --help", optarg, LONG[index].name);
            exit(EXIT_MISUSE);
        }
    }
    if (options.settings_only && optind != argc)
        misuse("--settings takes no workload");
    if (!options.settings_only && optind + 1 != argc)
        misuse(optind == argc ? "a workload is missing" : "one workload at a time");
    check_combination(&options);
    options.workload = argv[optind]; /* NULL at the end */
    *ret_options = options;
}

/* retired.c - words that earlier versions took, and what to do instead. A row is deleted with the version after the one that deleted what it names. */
#include "cli/options/option_table.h"

#include <stdbool.h>
#include <string.h>

/* What is said: "mallab VERB: 'WORD' is gone: INSTEAD". */
struct retired {
    const char *verb; /* NULL: of any verb that does not have it */
    const char *word; /* a verb, or an option with its dashes */
    const char *instead;
};

#define SITE_COSTS                                                                                           \
    "what a replay saves is not what the program saves: 'mallab sites' tells calls and bytes of each site"

/* clang-format off */
static const struct retired ROWS[] = {
    {NULL, "plan", "'mallab ab -o results/ FILE' for each file, by any engine (scripts/fleet has four), and 'mallab report --together results/' is the verdict"},
    {NULL, "cell", "'mallab ab -o results/ FILE' measures one file on any node, and 'mallab report --together results/' is the verdict"},
    {NULL, "collect", "'mallab report --together results/' says what all results mean together"},
    {NULL, "pack", "'tar --zstd -cf FILE DIR' packs a recording, and 'mallab ab DIR' reads it where it is extracted"},
    {NULL, "validate", "'mallab ab --confirm -- COMMAND' runs the program itself beside the prediction"},

    {"record", "--sample", "'--sites=512K' takes the call stacks of a sample, and '--window 1h --keep-windows 24' bounds what a long recording takes on disk"},
    {"record", "--order", "threads are ordered by epochs"},
    {"record", "--attach-to", "'--control DIR' controls a recording that goes on, and 'mallab record --pid PID' attaches to a program"},
    {"tune", "--budget", "'--time-budget T' is what its replays may take, as of 'mallab ab'"},
    {"tune", "--memory", "half of the finalists are the best in time, half in peak memory ('--finalists N')"},
    {"top", "--sort", "the processes with the highest rate come first, and '--json' has their figures"},
    {"top", "--process", "the frame has a line for each process, and '--json' a list of them"},
    {NULL, "--baseline", "it is spelled '-b NAME' or '--base NAME'"},
    {NULL, "--label", "'--title TEXT' names the result; the label of a host is 'mallab record --label HOST'"},
    {NULL, "--check", "'--promises' looks whether allocators keep theirs"},
    {"record", "--keep", "'--keep-windows N' keeps the last ones"},
    {"record", "--stop", "'--control DIR --pause' pauses the recording, and '--control DIR --end' ends it"},
    {"record", "--start", "'--control DIR --resume' goes on with the recording"},
    {"record", "--timeout", "it is spelled '--attach-timeout T'"},
    {"leaks", "--mark", "'--since T' leaves out what was made before; how long it recorded stands in the first line of 'mallab leaks'"},
    {"leaks", "--no-mark", "there is no mark any more: '--since T' is told each time"},
    {"leaks", "--budget", "it is spelled '--tolerate SIZE'"},
    {NULL, "--pin", "'taskset -c 2,3 mallab ...' keeps to processors, replays included"},
    {NULL, "--nice", "'nice -n N mallab ...' or chrt(1) sets the priority, of replays too"},
    {NULL, "--progress", "progress is shown on a terminal"},
    {NULL, "--no-progress", "'-q' silences it"},
    {NULL, "--commit", "git's commit of the directory where mallab is run is kept; '--title TEXT' adds what you call it"},
    {NULL, "--touch", "a byte of each page is written, as programs do"},
    {NULL, "--idle", "each memory round ends with a rest of 60 s of recorded time"},
    {NULL, "--no-syscalls", "system calls are not counted any more"},
    {"ab", "--until", "'--decide time<=+2%' goes on until that is decided"},
    {"ab", "--resolve", "'--decide time<=+2%' goes on until that is decided"},
    {"ab", "--memory-rounds", "three rounds are for memory, where there are as many"},
    {"replay", "--syscalls", "'strace -fc mallab replay ...' counts them, those of the harness too"},
    {"replay", "--idle-with", "a rest is part of the memory rounds of 'mallab ab'"},
    {"sites", "--cost", SITE_COSTS},
    {"sites", "--without", SITE_COSTS},
    {"ab", "--cost", SITE_COSTS},
    {"ab", "--sites", "'mallab sites' and 'mallab leaks' tell what each call site holds of a recording"},
    {"flame", "--allocators", "'mallab flame RECORDING' draws what the program asked for, under any allocator"},
    {"check", "--benchmark", "'--json' has every finding with its interval"},
    {"check", "--github", "'--md FILE' for the job's summary and '--junit FILE' for its tests; exit code 4 fails the job"},
    {"convert", "--without-site", "'mallab sites' and 'mallab leaks' tell what a call site holds"},
};
/* clang-format on */

#define ROW_COUNT (sizeof ROWS / sizeof *ROWS)

static bool is_for(const struct retired *row, const struct cli_verb *verb)
{
    const bool option = row->word[0] == '-';
    return option == (verb != NULL) && (row->verb == NULL || strcmp(row->verb, verb->name) == 0);
}

const char *cli_retired(const struct cli_verb *verb, const char *word)
{
    const size_t length = strcspn(word, "=");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (is_for(&ROWS[i], verb) && strlen(ROWS[i].word) == length &&
            strncmp(ROWS[i].word, word, length) == 0)
            return ROWS[i].instead;
    }
    return NULL;
}

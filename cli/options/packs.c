/* packs.c - unpack, run ourselves once more, clean up. */
#include "cli/options/packs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "convert/pack/pack_open.h"
#include "footprint/base/process.h"
#include "footprint/base/signals.h"
#include "footprint/base/support.h"

/* Tells the child where we unpacked. */
#define VARIABLE "MALLAB_UNPACKED"

#define LOOK_NS UINT64_C(100000000) /* until a signal that came just before a wait is handed on */

/* The child's command line. */
struct line {
    char **words;
    size_t count;
};

static void add_word(struct line *line, const char *word)
{
    line->words = res_realloc(line->words, line->count + 2, sizeof *line->words);
    line->words[line->count++] = res_strdup(word);
    line->words[line->count] = NULL;
}

static bool go_on(void *data, uint64_t done, uint64_t total)
{
    cli_progress_show(data, "unpack", NULL, 0, done, total);
    return cli_stopped_by == 0;
}

int cli_pack_open(const struct cli_verb *verb, const char *path, const char *directory,
                  struct cli_progress *progress, struct conv_pack *ret_pack)
{
    struct conv_error *error = res_calloc(1, sizeof *error);
    const struct conv_pack_watch watch = {go_on, progress};
    char text[CONV_PATH_BYTES + 512];
    int code = CLI_DONE;
    if (mkdir(directory, 0700) != 0) {
        cli_say(verb, "cannot make directory '%s': %s", directory, strerror(errno));
        code = CLI_FAILED;
    } else if (conv_pack_open(path, directory, &watch, ret_pack, error) != FP_OK) {
        cli_progress_end(progress);
        code = conv_error_exit_code(error);
        if (cli_stopped_by == 0)
            cli_say(verb, "%s", conv_error_text(error, text, sizeof text));
    }
    free(error);
    return code;
}

/* A pack's items instead of it. Returns an exit code, the cause being told. */
static int unpack(const struct cli_verb *verb, const char *path, size_t number, struct line *line)
{
    const char *temporary = cli_temporary_directory(verb);
    struct conv_pack pack = {0};
    struct cli_progress progress;
    if (temporary == NULL)
        return CLI_FAILED;
    char *directory = res_printf("%s/%zu", temporary, number);
    cli_progress_begin(&progress, CLI_PROGRESS_AUTO);
    const int code = cli_pack_open(verb, path, directory, &progress, &pack);
    cli_progress_end(&progress);
    for (size_t i = 0; i < pack.count; i++)
        add_word(line, pack.items[i]);
    conv_pack_release(&pack);
    free(directory);
    return code;
}

/* Ours once more. Returns its exit code; ends as it ended where that was by a signal. */
static int run(const struct cli_verb *verb, const struct line *line)
{
    const struct fp_process_plan plan = {
        .program = "/proc/self/exe", .arguments = line->words, .dies_with_us = true};
    struct fp_process process;
    bool is_told = false;
    const int error = fp_process_start(&plan, &process);
    if (error != 0) {
        cli_say(verb, "cannot run with what was unpacked: %s", strerror(error));
        return CLI_FAILED;
    }
    while (!fp_process_ends_within(&process, LOOK_NS)) {
        if (cli_stopped_by != 0 && !is_told)
            fp_process_kill(&process, (int)cli_stopped_by);
        is_told = cli_stopped_by != 0;
    }
    const int status = process.status;
    fp_process_release(&process);
    if (WIFSIGNALED(status))
        cli_stopped_by = WTERMSIG(status);
    if (WIFSIGNALED(status))
        cli_stops_end();
    return fp_status_code(status);
}

static bool is_operand(const struct cli_operands *operands, char *const *word)
{
    return word >= operands->words && word < operands->words + operands->count;
}

int cli_packs_run(const struct cli_verb *verb, int argc, char **argv, const struct cli_operands *operands)
{
    struct line line = {0};
    bool any = false;
    int code = CLI_DONE;
    for (int i = 0; i < operands->count && !any; i++)
        any = conv_pack_detect(operands->words[i]);
    if (!any)
        return -1;
    cli_stops_take();
    add_word(&line, "mallab");
    for (int i = 0; i < argc && code == CLI_DONE; i++) {
        if (is_operand(operands, &argv[i]) && conv_pack_detect(argv[i]))
            code = unpack(verb, argv[i], (size_t)i, &line);
        else
            add_word(&line, argv[i]);
    }
    const char *directory = cli_temporary_directory(verb);
    if (code == CLI_DONE && directory != NULL && setenv(VARIABLE, directory, 1) == 0 && cli_stopped_by == 0)
        code = run(verb, &line);
    for (size_t i = 0; i < line.count; i++)
        free(line.words[i]);
    free(line.words);
    if (cli_stopped_by != 0 && code != CLI_DONE)
        cli_stops_end();
    return code;
}

const char *cli_packs_name(const char *path)
{
    const char *directory = getenv(VARIABLE);
    const size_t length = directory != NULL ? strlen(directory) : 0;
    if (length == 0 || strncmp(path, directory, length) != 0 || path[length] != '/')
        return path;
    return conv_path_name(path);
}

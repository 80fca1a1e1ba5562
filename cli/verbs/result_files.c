/* result_files.c - results read, kept and shown. */
#include "cli/verbs/verbs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/words.h"
#include "results/measure/figures/figures.h"
#include "results/measure/result/result.h"
#include "results/report/notes/notes.h"

#define NUMBER_MAX 10000u /* results of one workload, machine and second */

bool cli_is_directory(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Sees that files can be made in the directory, which is made if it is not there. */
static bool directory_check(const char *path, char **ret_problem)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        *ret_problem = res_printf("cannot make '%s': %s%s", path, strerror(errno), cli_write_remedy(errno));
    else if (!cli_is_directory(path))
        *ret_problem = res_printf("'%s' is no directory", path);
    else if (access(path, W_OK | X_OK) != 0)
        *ret_problem = res_printf("cannot write into '%s': %s%s", path, strerror(errno),
                                  cli_write_remedy(errno));
    return *ret_problem == NULL;
}

/* An -o that is one, or whose name ends in '/'. */
static bool keeps_in_directory(const char *path)
{
    const size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') || cli_is_directory(path);
}

/* Another mallab may take a name between the look and the writing: then the next one is tried. */
static bool keep_in(const char *directory, const struct res_result *result, const char *document,
                    char **ret_name, char **ret_problem)
{
    const size_t length = strlen(directory);
    for (unsigned number = 1; number <= NUMBER_MAX; number++) {
        char *name = res_history_name(result, number);
        char *path = res_printf("%s%s%s", directory, directory[length - 1] == '/' ? "" : "/", name);
        free(name);
        const bool taken = access(path, F_OK) == 0;
        if (!taken && cli_output_write(path, false, document, strlen(document), ret_problem)) {
            *ret_name = path;
            return true;
        }
        const bool lost = !taken && access(path, F_OK) != 0;
        free(path);
        if (lost)
            return false;
        free(*ret_problem);
        *ret_problem = NULL;
    }
    *ret_problem = res_printf("cannot write into '%s': too many results of one second", directory);
    return false;
}

/* ret_name: the file's in a directory, under a name of its own that is free; NULL where it is `path` itself. */
static bool keep(const char *path, bool force, const struct res_result *result, const char *document,
                 char **ret_name, char **ret_problem)
{
    *ret_name = NULL;
    if (keeps_in_directory(path))
        return keep_in(path, result, document, ret_name, ret_problem);
    return cli_output_write(path, force, document, strlen(document), ret_problem);
}

/* ---- the commit ------------------------------------------------------------------------------ */

#define COMMIT_SECONDS 5u /* beyond that, on a large tree and a slow disk, it is not known */

static char commit_here[80]; /* SHA-256 has 64 digits, "-dirty" behind them */

static bool take_commit(void *data, int stream, const char *bytes, size_t count)
{
    const size_t length = strlen(commit_here), room = sizeof commit_here - 1 - length;
    (void)data;
    (void)stream;
    memcpy(commit_here + length, bytes, count < room ? count : room);
    return true;
}

/* Finds the name that git has for the sources of this directory; "" where there is no git, or no repository. Its hooks are not run. */
static void find_commit(void)
{
    const char *const words[] = {"git",     "-c",          "core.fsmonitor=false", "describe", "--always",
                                 "--dirty", "--abbrev=64", "--exclude=*",          NULL};
    char *program = res_find_in_path("git", NULL);
    const struct fp_process_plan plan = {.program = program,
                                         .arguments = (char *const *)(uintptr_t)words,
                                         .streams = {FP_STREAM_NULL, FP_STREAM_PIPE, FP_STREAM_NULL},
                                         .dies_with_us = true};
    const struct fp_process_bounds bounds = {
        .deadline_ns = fp_now_ns() + COMMIT_SECONDS * UINT64_C(1000000000), .take = take_commit};
    struct fp_process process;
    if (program != NULL && fp_process_start(&plan, &process) == 0) {
        if (fp_process_wait(&process, &bounds) != FP_PROCESS_ENDED || process.status != 0)
            commit_here[0] = '\0';
        fp_process_release(&process);
    }
    free(program);
    commit_here[strcspn(commit_here, "\n")] = '\0';
}

/* ---- the result ------------------------------------------------------------------------------ */

int cli_result_check(const struct cli_verb *verb, struct cli_answer *answer)
{
    char *problem = NULL;
    find_commit();
    if (answer->output != NULL && strcmp(answer->output, "-") == 0) {
        answer->format = CLI_FORMAT_JSON;
        answer->output = NULL;
    }
    if (answer->output == NULL ||
        (keeps_in_directory(answer->output) ? directory_check(answer->output, &problem)
                                            : cli_output_check(answer->output, answer->force, &problem)))
        return CLI_DONE;
    return cli_say_problem(verb, problem);
}

/* ---- results that are read -------------------------------------------------------------------- */

struct res_style cli_answer_style(const struct cli_answer *answer)
{
    return (struct res_style){.form = answer->format == CLI_FORMAT_MARKDOWN ? RES_FORM_MARKDOWN
                                      : answer->format == CLI_FORMAT_HTML   ? RES_FORM_HTML
                                                                            : RES_FORM_TEXT,
                              .utf8 = cli_locale_is_utf8(),
                              .colour = answer->colour == CLI_COLOUR_ALWAYS ||
                                        (answer->colour == CLI_COLOUR_AUTO && cli_colour_by_default()),
                              .details = answer->details,
                              .is_kept = answer->output != NULL};
}

int cli_result_load(const struct cli_verb *verb, const char *path, struct res_result *ret_result)
{
    char *problem = NULL;
    if (res_result_load(path, ret_result, &problem)) {
        res_result_judge(ret_result);
        return CLI_DONE;
    }
    *ret_result = (struct res_result){0};
    cli_say(verb, "cannot read '%s': %s", path, problem);
    free(problem);
    return CLI_UNREADABLE;
}

/* Writes a new file, in the first of these places that takes it whole. Returns its path, the caller's to free; NULL: none of
 * them does. What took an hour to measure is not thrown away. */
static char *rescue_somewhere(const struct res_result *result, const char *document)
{
    const char *const directories[] = {cli_temporary_parent(), "/tmp", "/var/tmp", "/dev/shm"};
    char *path = NULL;
    for (size_t i = 0; path == NULL && i < sizeof directories / sizeof directories[0]; i++) {
        char *problem = NULL;
        (void)keep_in(directories[i], result, document, &path, &problem);
        free(problem);
    }
    return path;
}

/* Writes the answer elsewhere where -o cannot be written, or on stdout. Returns whether stdout is to have it. */
static bool rescue(const struct cli_verb *verb, const struct cli_answer *answer,
                   const struct res_result *result, const char *document, const char *problem)
{
    char *path = rescue_somewhere(result, document);
    /* Nobody wants some megabytes of samples on a terminal: what they tell is in the table. */
    const bool printed = path == NULL && (cli_is_json(answer) || !isatty(STDOUT_FILENO));
    if (path != NULL)
        cli_say(verb, "%s; the result is kept as '%s' instead", problem, path);
    else if (printed)
        cli_say(verb, "%s; nor can the result be kept elsewhere: standard output has its JSON", problem);
    else
        cli_say(verb, "%s; nor can the result be kept elsewhere: only the table is left", problem);
    free(path);
    return printed;
}

int cli_result_give(const struct cli_verb *verb, const struct cli_answer *answer, struct res_result *result,
                    char *(*show)(const struct res_result *result, const struct res_style *style))
{
    const struct res_style style = cli_answer_style(answer);
    char *problem = NULL, *kept = NULL;
    int code = CLI_DONE;
    bool printed = cli_is_json(answer);
    result->label = answer->label != NULL ? res_text_plain(answer->label) : NULL;
    result->commit = *commit_here != '\0' ? res_text_plain(commit_here) : NULL;
    res_notes_fill(result);
    char *document = cli_json_document(res_result_write(result));
    /* A limit of file sizes is an error as others. Nothing is started any more that would inherit it. */
    (void)signal(SIGXFSZ, SIG_IGN);
    /* Kept first: whoever reads our stdout may have gone. */
    if (answer->output != NULL && !keep(answer->output, answer->force, result, document, &kept, &problem)) {
        printed = rescue(verb, answer, result, document, problem) || cli_is_json(answer);
        free(problem);
        code = CLI_FAILED;
    }
    if (kept != NULL && !answer->quiet)
        cli_say(verb, "kept as '%s'", kept);
    free(kept);
    char *shown = printed ? document : show(result, &style);
    cli_put(shown, strlen(shown));
    if (shown != document)
        free(shown);
    free(document);
    return code;
}

int cli_work_directory(const struct cli_verb *verb, const char *keep, const char **ret_directory)
{
    char *problem = NULL;
    const char *directory = keep != NULL ? keep : cli_temporary_directory(verb);
    if (directory == NULL)
        return CLI_FAILED;
    if (!directory_check(directory, &problem))
        return cli_say_problem(verb, problem);
    *ret_directory = directory;
    return CLI_DONE;
}

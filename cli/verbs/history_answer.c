/* history_answer.c - results in directories. */
#include "cli/verbs/history_answer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/output.h"
#include "cli/base/say.h"
#include "results/measure/result/result_json.h"
#include "results/report/history/result_history.h"
#include "results/report/html/html.h"

#define NUMBER_MAX 10000u /* results of one workload, machine and second */

static bool is_directory(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* ---- keeping -------------------------------------------------------------------------------- */

bool cli_keeps_in_directory(const char *path)
{
    const size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') || is_directory(path);
}

bool cli_keep_check(const char *path, bool force, char **ret_problem)
{
    if (!cli_keeps_in_directory(path))
        return cli_output_check(path, force, ret_problem);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        *ret_problem = res_printf("cannot make '%s': %s", path, strerror(errno));
    else if (!is_directory(path))
        *ret_problem = res_printf("'%s' is no directory", path);
    else if (access(path, W_OK | X_OK) != 0)
        *ret_problem = res_printf("cannot write into '%s': %s", path, strerror(errno));
    return *ret_problem == NULL;
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

bool cli_keep(const char *path, bool force, const struct res_result *result, const char *document,
              char **ret_name, char **ret_problem)
{
    *ret_name = NULL;
    if (cli_keeps_in_directory(path))
        return keep_in(path, result, document, ret_name, ret_problem);
    return cli_output_write(path, force, document, strlen(document), ret_problem);
}

/* ---- showing -------------------------------------------------------------------------------- */

struct gathering {
    struct res_history history;
    bool damaged;
};

bool cli_history_asked(char **paths, int count)
{
    for (int i = 0; i < count; i++) {
        if (is_directory(paths[i]))
            return true;
    }
    return false;
}

/* Takes over why. */
static void leave_out(struct gathering *gathering, const char *path, char *why)
{
    res_history_leave_out(&gathering->history, path, why);
    free(why);
}

/* What is JSON of another schema may well lie beside results; what is no JSON, or a result that breaks its schema, is
 * damaged. */
static void add_file(struct gathering *gathering, const char *path, const char *name)
{
    struct stat facts;
    json_error_t error;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        leave_out(gathering, path, res_strdup("is no regular file"));
        gathering->damaged = true;
        return;
    }
    json_t *result = NULL;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const enum fp_status status = fd >= 0 ? res_json_parse(fd, &result, &error) : FP_ERR_OPEN;
    const int saved = errno;
    if (fd >= 0)
        (void)close(fd); /* only read from */
    const char *schema = json_string_value(json_object_get(result, "schema"));
    char *problem = result != NULL                                   ? res_json_check(result)
                    : status == FP_ERR_OPEN || status == FP_ERR_READ ? res_strdup(strerror(saved))
                                                                     : res_json_unread(path, status, &error);
    struct res_result typed = {0};
    if (problem == NULL && res_result_read(result, &typed, &problem)) {
        res_history_add(&gathering->history, name, &typed);
        res_result_release(&typed);
    } else {
        const bool other = result != NULL &&
                           (schema == NULL || strncmp(schema, RES_SCHEMA_NAME, strlen(RES_SCHEMA_NAME)) != 0);
        gathering->damaged |= !other;
        leave_out(gathering, path, other ? res_strdup("no result of 'mallab ab'") : res_strdup(problem));
    }
    free(problem);
    json_decref(result);
}

static int is_json(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static int add_path(const struct cli_verb *verb, struct gathering *gathering, const char *path)
{
    struct dirent **names;
    if (!is_directory(path)) {
        add_file(gathering, path, path);
        return CLI_DONE;
    }
    const int count = scandir(path, &names, is_json, alphasort);
    if (count < 0) {
        cli_say(verb, "cannot read '%s': %s", path, strerror(errno));
        return CLI_UNREADABLE;
    }
    for (int i = 0; i < count; i++) {
        char *file = res_path_join(path, names[i]->d_name);
        add_file(gathering, file, names[i]->d_name);
        free(file);
        free(names[i]);
    }
    free(names);
    return CLI_DONE;
}

static void say_none(const struct cli_verb *verb, const char *path)
{
    char *sign = res_path_join(path, "recording.json");
    if (access(sign, F_OK) == 0)
        cli_say(verb, "'%s' is a recording, it holds no results: 'mallab ab %s' measures it", path, path);
    else
        cli_say(verb, "no result in '%s': 'mallab ab -o %s ...' keeps them there", path, path);
    free(sign);
}

static char *show(const struct res_history *history, const char *format, const struct res_style *style)
{
    if (strcmp(format, "md") == 0)
        return res_history_markdown(history);
    if (strcmp(format, "csv") == 0)
        return res_history_csv(history);
    if (strcmp(format, "table") == 0)
        return res_history_text(history, style);
    json_t *document = res_described_write(&RES_HISTORY, history);
    const bool page = strcmp(format, "html") == 0;
    char *compact = page ? NULL : json_dumps(document, JSON_INDENT(1));
    char *text = page ? res_html_history(document) : res_printf("%s\n", compact != NULL ? compact : "{}");
    free(compact);
    json_decref(document);
    return text;
}

int cli_history_show(const struct cli_verb *verb, char **paths, int count, const char *format,
                     const struct res_style *style, struct res_text *text)
{
    struct gathering gathering = {0};
    int code = CLI_DONE;
    if (strcmp(format, "html") == 0 && res_html_missing() != NULL) {
        cli_say(verb, "no HTML: %s", res_html_missing());
        return CLI_FAILED;
    }
    for (int i = 0; i < count && code == CLI_DONE; i++)
        code = add_path(verb, &gathering, paths[i]);
    struct res_history *history = &gathering.history;
    res_history_finish(history);
    for (size_t i = 0; i < history->left_out_count; i++)
        cli_say(verb, "left out '%s': %s", history->left_out[i].file, history->left_out[i].why);
    if (code == CLI_DONE && history->results == 0) {
        say_none(verb, paths[0]);
        code = CLI_UNREADABLE;
    } else if (code == CLI_DONE) {
        char *shown = show(history, format, style);
        res_text_add(text, shown, strlen(shown));
        free(shown);
        code = gathering.damaged ? CLI_UNREADABLE : CLI_DONE;
    }
    res_described_release(&RES_HISTORY, history);
    return code;
}

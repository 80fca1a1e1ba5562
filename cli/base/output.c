/* output.c - files whole or not at all; stdout. */
#include "cli/base/cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/trusted.h"

static const char *remedy_of(int error)
{
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return full ? "; free some space or choose another directory" : "";
}

static char *cannot_write(const char *path, int error)
{
    return res_printf("cannot write '%s': %s%s", path, strerror(error), remedy_of(error));
}

static char *directory_of(const char *path)
{
    char *copy = res_strdup(path);
    char *directory = res_strdup(dirname(copy)); /* dirname may answer with static storage */
    free(copy);
    return directory;
}

/* The file that path means, or NULL with a problem. */
static char *place_of(const char *path, char **ret_problem)
{
    struct stat facts;
    char *place = NULL;
    const enum fp_status status = fp_place(path, &place);
    if (status == FP_ERR_FOREIGN && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
        *ret_problem = res_printf("cannot write '%s': it is a directory: name a file in it", path);
    else if (status == FP_ERR_FOREIGN)
        *ret_problem = res_printf(
            "cannot write '%s': it is no regular file, and would be replaced by one; '-o - >%s' writes to it",
            path, path);
    else if (status != FP_OK)
        *ret_problem = cannot_write(path, errno);
    return place;
}

bool cli_output_check(const char *path, bool force, char **ret_problem)
{
    struct stat facts;
    if (strcmp(path, "-") == 0)
        return true;
    char *place = place_of(path, ret_problem);
    if (place == NULL)
        return false;
    if (lstat(place, &facts) == 0) {
        if (!force)
            *ret_problem = res_printf("'%s' exists already: choose another name, or add --force", path);
    } else if (errno != ENOENT) {
        *ret_problem = cannot_write(path, errno);
    }
    char *directory = directory_of(place);
    free(place);
    if (*ret_problem == NULL && access(directory, F_OK) != 0 && errno == ENOENT)
        *ret_problem = res_printf("cannot write '%s': there is no directory '%s'; make it first", path,
                                  directory);
    else if (*ret_problem == NULL && access(directory, W_OK | X_OK) != 0)
        *ret_problem = cannot_write(path, errno);
    free(directory);
    return *ret_problem == NULL;
}

bool cli_output_write(const char *path, bool force, const char *text, size_t length, char **ret_problem)
{
    if (strcmp(path, "-") == 0) {
        cli_put(text, length);
        return true;
    }
    char *place = place_of(path, ret_problem);
    if (place == NULL)
        return false;
    char *temporary = res_printf("%s.XXXXXX", place);
    const mode_t mask = umask(0);
    umask(mask);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    bool written = fd >= 0 && fchmod(fd, 0666 & ~mask) == 0 && fp_write_all(fd, text, length) &&
                   fsync(fd) == 0;
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && written) {
        written = false;
        error = errno;
    }
    if (written && !fp_place_take(temporary, place, force)) {
        written = false;
        error = errno;
    }
    if (!written) {
        *ret_problem = error == EEXIST
                           ? res_printf("'%s' exists already: choose another name, or add --force", path)
                           : cannot_write(path, error);
        if (fd >= 0)
            unlink(temporary);
    }
    free(temporary);
    free(place);
    return written;
}

/* The errno of stdout's first failure: the stream remembers only that there was one. */
static int stdout_error;

void cli_put(const char *text, size_t length)
{
    errno = 0;
    if (fwrite(text, 1, length, stdout) != length && stdout_error == 0)
        stdout_error = errno;
}

void cli_put_own(char *text)
{
    cli_put(text, strlen(text));
    free(text);
}

bool cli_put_through(void)
{
    errno = 0;
    if (fflush(stdout) != 0 && stdout_error == 0)
        stdout_error = errno;
    return !ferror(stdout) && stdout_error == 0;
}

int cli_stdout_end(int code)
{
    const bool failed = !cli_put_through();
    if (!failed || stdout_error == EPIPE) /* who went has read what it wanted */
        return code;
    cli_say(NULL, "cannot write to standard output: %s%s",
            stdout_error != 0 ? strerror(stdout_error) : "an earlier write failed", remedy_of(stdout_error));
    return code == CLI_DONE ? CLI_FAILED : code;
}

/* Numbers of an array stand on one line: their own layout is most of a result. Only layout has raw line ends. */
static void join_numbers(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        const char *next = from + (*from == '\n' ? 1 + strspn(from + 1, " ") : 0);
        const bool in_numbers = to > text &&
                                (isdigit((unsigned char)to[-1]) != 0 || strchr("[,", to[-1]) != NULL);
        const bool joins = next > from && in_numbers &&
                           (isdigit((unsigned char)*next) != 0 || *next == '-' ||
                            (*next == ']' && isdigit((unsigned char)to[-1]) != 0));
        if (joins)
            from = next;
        else
            *to++ = *from++;
    }
    *to = '\0';
}

char *cli_json_pretty(const json_t *value)
{
    char *compact = json_dumps(value, JSON_INDENT(1));
    if (compact == NULL)
        return NULL;
    join_numbers(compact);
    char *text = res_printf("%s\n", compact);
    free(compact);
    return text;
}

char *cli_json_document(json_t *value)
{
    char *text = cli_json_pretty(value);
    json_decref(value);
    return text != NULL ? text : res_strdup("{}\n");
}

int cli_print_json(json_t *value)
{
    char *text = json_dumps(value, JSON_INDENT(2));
    json_decref(value);
    if (text == NULL) {
        cli_say(NULL, "no memory to print the answer");
        return CLI_FAILED;
    }
    cli_put_own(text);
    cli_put("\n", 1);
    return CLI_DONE;
}

bool cli_colour_by_default(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && (no_color == NULL || *no_color == '\0') && term != NULL &&
           strcmp(term, "dumb") != 0;
}

bool cli_locale_is_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* output.c - files whole or not at all; stdout; temporary directories, and the signals at which they go. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "footprint/base/process.h"
#include "footprint/base/trusted.h"

const char *cli_write_remedy(int error)
{
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    const bool refused = error == EACCES || error == EPERM || error == EROFS;
    return full      ? "; free some space or choose another directory"
           : refused ? "; choose another directory"
                     : "";
}

static char *cannot_write(const char *path, int error)
{
    return res_printf("cannot write '%s': %s%s", path, strerror(error), cli_write_remedy(error));
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
            stdout_error != 0 ? strerror(stdout_error) : "an earlier write failed",
            cli_write_remedy(stdout_error));
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

char *cli_json_document(json_t *value)
{
    char *text = json_dumps(value, JSON_INDENT(1));
    json_decref(value);
    if (text == NULL)
        return res_strdup("{}\n");
    join_numbers(text);
    char *document = res_printf("%s\n", text);
    free(text);
    return document;
}

int cli_print_json(json_t *value)
{
    char *text = json_dumps(value, JSON_INDENT(2));
    json_decref(value);
    cli_put_own(text != NULL ? text : res_strdup("{}"));
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

/* ---- temporary directories, and Ctrl-C in the midst of an experiment ---------------------------- */

/* ---- temporary files ------------------------------------------------------------------------ */

/* Nobody else's directory is called so: those of who was killed are found by the name. */
#define NAME_BEGIN "mallab-scratch."
#define NAME_BYTES (sizeof NAME_BEGIN - 1 + 6)
#define DEPTH_MOST 64
#define TRIES      16

static char *directory;
static pid_t maker; /* a child must not remove what its parent still needs */

static int open_below(int parent_fd, const char *name)
{
    return openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Removes by descriptors, and through no link: a part of it may be another user's, who exchanges what we are about to enter. */
static void remove_below(int parent_fd, const char *name, unsigned depth)
{
    if (unlinkat(parent_fd, name, 0) == 0 || depth == DEPTH_MOST)
        return;
    const int fd = open_below(parent_fd, name);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_below(fd, entry->d_name, depth + 1);
    if (entries != NULL)
        (void)closedir(entries); /* and fd */
    else if (fd >= 0)
        (void)close(fd);
    (void)unlinkat(parent_fd, name, AT_REMOVEDIR); /* what cannot be removed stays */
}

static void remove_temporary(void)
{
    if (directory != NULL && getpid() == maker)
        remove_below(AT_FDCWD, directory, 0);
    free(directory);
    directory = NULL;
}

/* Whoever works in one of ours holds a lock on it, which no death leaves behind: where there is none, it was left by SIGKILL. */
static void remove_left(const char *parent)
{
    DIR *entries = opendir(parent);
    const struct dirent *entry;
    struct stat facts;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (strncmp(entry->d_name, NAME_BEGIN, sizeof NAME_BEGIN - 1) != 0 ||
            strlen(entry->d_name) != NAME_BYTES)
            continue;
        const int fd = open_below(dirfd(entries), entry->d_name);
        if (fd < 0)
            continue;
        if (fstat(fd, &facts) == 0 && facts.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
            remove_below(dirfd(entries), entry->d_name, 0);
        (void)close(fd); /* and the lock */
    }
    if (entries != NULL)
        (void)closedir(entries); /* only read */
}

/* The lock is ours as long as we live. False: another start took the directory for one that was left. */
static bool hold(const char *path)
{
    struct stat facts;
    const int fd = open_below(AT_FDCWD, path);
    if (fd >= 0)
        (void)flock(fd, LOCK_EX); /* where there are no locks, nobody gets one and removes it */
    return fd >= 0 && fstat(fd, &facts) == 0 && facts.st_nlink > 0;
}

const char *cli_temporary_parent(void)
{
    const char *parent = getenv("TMPDIR");
    return parent != NULL && *parent == '/' ? parent : "/tmp";
}

const char *cli_temporary_directory(const struct cli_verb *verb)
{
    const char *parent = cli_temporary_parent();
    if (directory != NULL)
        return directory;
    remove_left(parent);
    for (unsigned i = 0; directory == NULL && i < TRIES; i++) {
        char *path = res_printf("%s/" NAME_BEGIN "XXXXXX", parent);
        if (mkdtemp(path) == NULL) {
            cli_say(verb,
                    "cannot make a temporary directory in '%s': %s; set TMPDIR to one that can be written",
                    parent, strerror(errno));
            free(path);
            return NULL;
        }
        if (hold(path))
            directory = path;
        else
            free(path);
    }
    maker = getpid();
    atexit(remove_temporary);
    return directory;
}

/* ---- signals --------------------------------------------------------------------------------- */

volatile sig_atomic_t cli_stopped_by;

static void on_stop(int signal_number)
{
    cli_stopped_by = signal_number;
}

void cli_stops_take(void)
{
    static const int NUMBERS[] = {FP_ENDING_SIGNALS};
    const struct sigaction action = {.sa_handler = on_stop};
    fp_signals_take(NUMBERS, FP_ENDING_COUNT, &action, NULL);
}

void cli_stops_end(void)
{
    const int number = (int)cli_stopped_by;
    if (number == 0)
        return;
    fflush(stdout);
    remove_temporary();
    fp_end_by_signal(number);
}

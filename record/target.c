/* target.c - read the head of a program: hostile bytes, every offset is checked. */
#include "record/recorder.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "shim/shared/program_file.h"

#define INTERPRETERS_MAX  5   /* as many scripts as the kernel follows (fs/exec.c, exec_binprm) */
#define SCRIPT_HEAD_BYTES 256 /* BINPRM_BUF_SIZE: what the kernel reads of a '#!' line */

static void refuse(struct rec_target *target, int code, char *problem)
{
    target->code = code;
    target->problem = problem;
}

static bool is_executable_file(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

static char *locate(const char *command, struct rec_target *target)
{
    bool denied = false;
    if (*command == '\0') {
        refuse(target, REC_NOT_FOUND, res_strdup("the command is an empty word"));
        return NULL;
    }
    if (strchr(command, '/') == NULL) {
        char *path = res_find_in_path(command, &denied);
        if (path == NULL && denied)
            refuse(target, REC_NOT_EXECUTABLE, res_printf("'%s' in PATH is not executable", command));
        else if (path == NULL)
            refuse(target, REC_NOT_FOUND, res_printf("'%s' is not in PATH", command));
        return path;
    }
    struct stat facts;
    if (stat(command, &facts) != 0) {
        const bool missing = errno == ENOENT || errno == ENOTDIR;
        refuse(target, missing ? REC_NOT_FOUND : REC_NOT_EXECUTABLE,
               res_printf("cannot run '%s': %s", command, strerror(errno)));
    } else if (S_ISDIR(facts.st_mode)) {
        refuse(target, REC_NOT_EXECUTABLE, res_printf("cannot run '%s': it is a directory", command));
    } else if (access(command, X_OK) != 0) {
        refuse(target, REC_NOT_EXECUTABLE, res_printf("cannot run '%s': %s", command, strerror(errno)));
    }
    return target->problem == NULL ? res_strdup(command) : NULL;
}

/* An obstacle's remedy, behind its words; NULL: a copy of the program has no such obstacle. */
static const char *const REMEDIES[] = {
    [PROGRAM_FOREIGN] = ": record it with a mallab built for that type",
    [PROGRAM_STATIC] = "; link it dynamically and record that",
    [PROGRAM_MUSL] = "; build it for glibc and record that",
    [PROGRAM_CAPABLE] = NULL,
};

static long read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX ? (long)pread(fd, bytes, size, (off_t)offset) : -1;
}

/* The obstacle to preloading the recorder, whoever runs the program. */
static enum program_obstacle find_obstacle(int fd, struct program_file *ret_file)
{
    struct stat facts = {0};
    (void)fstat(fd, &facts); /* it cannot fail: the file is open */
    return program_look(fd, read_at, &facts, UINT32_MAX, UINT32_MAX,
                        fgetxattr(fd, "security.capability", NULL, 0) > 0, ret_file);
}

static void check_elf(struct rec_target *target, const char *path, int fd, size_t length)
{
    struct program_file file;
    const enum program_obstacle obstacle = find_obstacle(fd, &file);
    if (length < sizeof file.head)
        refuse(target, REC_NOT_EXECUTABLE, res_printf("cannot run '%s': its ELF header is cut short", path));
    else if (obstacle != PROGRAM_FITS && REMEDIES[obstacle] != NULL)
        refuse(target, REC_FAILED,
               res_printf("'%s' %s%s", path, program_words(obstacle), REMEDIES[obstacle]));
    else if (obstacle != PROGRAM_FITS)
        refuse(
            target, REC_FAILED,
            res_printf("'%s' %s; record a copy of it: cp '%s' /tmp/", path, program_words(obstacle), path));
}

char *rec_target_sanitizer(const char *path)
{
    struct program_file file = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0)
        (void)find_obstacle(fd, &file); /* the caller has asked */
    const char *sanitizer = fd >= 0 ? sanitizer_of(&file) : NULL;
    if (fd >= 0)
        close(fd);
    return sanitizer != NULL ? res_printf("%s%s%s", SANITIZER_OBSTACLE, sanitizer, SANITIZER_OBSTACLE_REST)
                             : NULL;
}

const char *rec_target_obstacle(int fd, bool *ret_sure)
{
    struct program_file file;
    const enum program_obstacle obstacle = find_obstacle(fd, &file);
    *ret_sure = obstacle < PROGRAM_SETUID;
    return program_words(obstacle);
}

/* The interpreter of a '#!' line; NULL for none. */
static char *interpreter_of(const char *bytes, size_t length)
{
    size_t begin = 2;
    while (begin < length && (bytes[begin] == ' ' || bytes[begin] == '\t'))
        begin++;
    size_t end = begin;
    while (end < length && strchr(" \t\n", bytes[end]) == NULL) /* finds a NUL too */
        end++;
    return end > begin ? res_strndup(bytes + begin, end - begin) : NULL;
}

/* Checks one file. Returns its interpreter when it is a script, to be checked next; the caller's to free. */
static char *check_file(struct rec_target *target, const char *path)
{
    char bytes[SCRIPT_HEAD_BYTES];
    char *interpreter = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return NULL; /* executable but not readable: nothing to look at, the kernel may still run it */
    const ssize_t length = read(fd, bytes, sizeof bytes);
    if (length >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0) {
        check_elf(target, path, fd, (size_t)length);
    } else if (length >= 2 && memcmp(bytes, "#!", 2) == 0) {
        interpreter = interpreter_of(bytes,
                                     (size_t)length); /* a script's set-id bits mean nothing to the kernel */
    } else if (length >= 0) {
        interpreter = res_strdup("/bin/sh"); /* what execvp does with a file that the kernel does not know */
    }
    close(fd);
    return interpreter;
}

void rec_target_find(const char *command, struct rec_target *ret_target)
{
    struct rec_target target = {0};
    char *path = locate(command, &target);
    char *file = path != NULL ? res_strdup(path) : NULL;
    for (int depth = 0; file != NULL && target.problem == NULL; depth++) {
        char *interpreter = depth < INTERPRETERS_MAX ? check_file(&target, file) : NULL;
        if (interpreter != NULL && !is_executable_file(interpreter))
            refuse(&target, REC_NOT_EXECUTABLE,
                   res_printf("cannot run '%s': its interpreter '%s' is missing or not executable", file,
                              interpreter));
        free(file);
        file = interpreter;
    }
    free(file);
    if (target.problem == NULL)
        target.path = path;
    else
        free(path);
    *ret_target = target;
}

void rec_target_release(struct rec_target *target)
{
    free(target->path);
    free(target->problem);
    *target = (struct rec_target){0};
}

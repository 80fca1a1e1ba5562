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
#include "shim/shared/sanitizer.h"

#define INTERPRETERS_MAX  5   /* as many scripts as the kernel follows (fs/exec.c, exec_binprm) */
#define SCRIPT_HEAD_BYTES 256 /* BINPRM_BUF_SIZE: what the kernel reads of a '#!' line */

#define NATIVE_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

#if defined __x86_64__
#define NATIVE_MACHINE EM_X86_64
#elif defined __aarch64__
#define NATIVE_MACHINE EM_AARCH64
#elif defined __riscv
#define NATIVE_MACHINE EM_RISCV
#else
#define NATIVE_MACHINE EM_NONE /* unknown to us: not compared */
#endif

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

/* An obstacle to preloading the recorder into a program. */
struct obstacle {
    const char *words;  /* behind the program's name */
    const char *remedy; /* likewise; NULL: to record a copy of it */
    bool sure;          /* else to the user that it belongs to, the loader treats it as any other */
};

#define NOT_TAKEN "the loader takes no preloaded library into such programs"

static const struct obstacle OTHER_MACHINE = {"is built for another machine type than this mallab",
                                              ": record it with a mallab built for that type", true},
                             STATIC = {"is statically linked: no library can be preloaded into it",
                                       "; link it dynamically and record that", true},
                             MUSL = {LOADER_MUSL_OBSTACLE, "; build it for glibc and record that", true},
                             SETUID = {"is setuid: " NOT_TAKEN, NULL, false},
                             SETGID = {"is setgid: " NOT_TAKEN, NULL, false},
                             CAPABLE = {"has file capabilities: " NOT_TAKEN, NULL, false};

static long read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX ? (long)pread(fd, bytes, size, (off_t)offset) : -1;
}

static const struct obstacle *find_obstacle(int fd, const ElfW(Ehdr) * head)
{
    struct stat facts = {0};
    (void)fstat(fd, &facts); /* it cannot fail: the file is open */
    if (head->e_ident[EI_CLASS] != NATIVE_CLASS ||
        (NATIVE_MACHINE != EM_NONE && head->e_machine != NATIVE_MACHINE))
        return &OTHER_MACHINE;
    const enum loader loader = head->e_phentsize == sizeof(ElfW(Phdr)) ? loader_of(fd, head, read_at)
                                                                       : LOADER_NONE;
    if (loader != LOADER_OTHER)
        return loader == LOADER_MUSL ? &MUSL : &STATIC;
    if ((facts.st_mode & S_ISUID) != 0)
        return &SETUID;
    /* Without group execution the bit means mandatory locking, not a change of group. */
    if ((facts.st_mode & S_ISGID) != 0 && (facts.st_mode & S_IXGRP) != 0)
        return &SETGID;
    return fgetxattr(fd, "security.capability", NULL, 0) > 0 ? &CAPABLE : NULL;
}

static void check_elf(struct rec_target *target, const char *path, int fd, const char *bytes, size_t length)
{
    ElfW(Ehdr) head;
    if (length < sizeof head) {
        refuse(target, REC_NOT_EXECUTABLE, res_printf("cannot run '%s': its ELF header is cut short", path));
        return;
    }
    memcpy(&head, bytes, sizeof head);
    const struct obstacle *obstacle = find_obstacle(fd, &head);
    if (obstacle != NULL && obstacle->remedy != NULL)
        refuse(target, REC_FAILED, res_printf("'%s' %s%s", path, obstacle->words, obstacle->remedy));
    else if (obstacle != NULL)
        refuse(target, REC_FAILED,
               res_printf("'%s' %s; record a copy of it: cp '%s' /tmp/", path, obstacle->words, path));
}

char *rec_target_sanitizer(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const char *sanitizer = fd >= 0 ? sanitizer_of(fd, read_at) : NULL;
    if (fd >= 0)
        close(fd);
    return sanitizer != NULL ? res_printf("%s%s%s", SANITIZER_OBSTACLE, sanitizer, SANITIZER_OBSTACLE_REST)
                             : NULL;
}

const char *rec_target_obstacle(int fd, bool *ret_sure)
{
    ElfW(Ehdr) head;
    const bool is_elf = pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
                        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
    const struct obstacle *obstacle = is_elf ? find_obstacle(fd, &head) : NULL;
    *ret_sure = obstacle == NULL || obstacle->sure;
    return obstacle != NULL ? obstacle->words : NULL;
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
        check_elf(target, path, fd, bytes, (size_t)length);
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

/* target.c - read the head of a program: hostile bytes, every offset is checked. */
#include "record/target.h"

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

#include "cli/base/cli.h"
#include "footprint/base/sanitizer.h"
#include "results/measure/base/support.h"

#define INTERPRETERS_MAX    5   /* as many scripts as the kernel follows (fs/exec.c, exec_binprm) */
#define SCRIPT_HEAD_BYTES   256 /* BINPRM_BUF_SIZE: what the kernel reads of a '#!' line */
#define PROGRAM_HEADERS_MAX 4096

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

static void refuse(struct cli_target *target, int code, char *problem)
{
    if (target->problem == NULL) {
        target->code = code;
        target->problem = problem;
    } else {
        free(problem);
    }
}

static bool is_executable_file(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

/* As execvp: the first executable one; a file that is there but not executable is remembered. */
static char *search_path(const char *command, bool *ret_denied)
{
    const char *list = getenv("PATH");
    list = list != NULL ? list : "/bin:/usr/bin"; /* glibc's default, confstr(_CS_PATH) */
    while (true) {
        const size_t length = strcspn(list, ":");
        char *directory = res_strndup(list, length);
        char *path = res_path_join(length > 0 ? directory : ".", command);
        free(directory);
        if (is_executable_file(path))
            return path;
        struct stat facts;
        if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode))
            *ret_denied = true;
        free(path);
        if (list[length] == '\0')
            return NULL;
        list += length + 1;
    }
}

static char *locate(const char *command, struct cli_target *target)
{
    bool denied = false;
    if (*command == '\0') {
        refuse(target, CLI_RECORD_NOT_FOUND, res_strdup("the command is an empty word"));
        return NULL;
    }
    if (strchr(command, '/') == NULL) {
        char *path = search_path(command, &denied);
        if (path == NULL && denied)
            refuse(target, CLI_RECORD_NOT_EXECUTABLE, res_printf("'%s' in PATH is not executable", command));
        else if (path == NULL)
            refuse(target, CLI_RECORD_NOT_FOUND, res_printf("'%s' is not in PATH", command));
        return path;
    }
    struct stat facts;
    if (stat(command, &facts) != 0) {
        const bool missing = errno == ENOENT || errno == ENOTDIR;
        refuse(target, missing ? CLI_RECORD_NOT_FOUND : CLI_RECORD_NOT_EXECUTABLE,
               res_printf("cannot run '%s': %s", command, strerror(errno)));
    } else if (S_ISDIR(facts.st_mode)) {
        refuse(target, CLI_RECORD_NOT_EXECUTABLE, res_printf("cannot run '%s': it is a directory", command));
    } else if (access(command, X_OK) != 0) {
        refuse(target, CLI_RECORD_NOT_EXECUTABLE,
               res_printf("cannot run '%s': %s", command, strerror(errno)));
    }
    return target->problem == NULL ? res_strdup(command) : NULL;
}

static void check_rights(struct cli_target *target, const char *path, int fd)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return;
    const bool setuid = (facts.st_mode & S_ISUID) != 0;
    /* Without group execution the bit means mandatory locking, not a change of group. */
    const bool setgid = (facts.st_mode & S_ISGID) != 0 && (facts.st_mode & S_IXGRP) != 0;
    if (setuid || setgid)
        refuse(
            target, CLI_RECORD_FAILED,
            res_printf(
                "'%s' is %s: the loader takes no preloaded library into such programs; record a copy of it: "
                "cp '%s' /tmp/",
                path, setuid ? "setuid" : "setgid", path));
    else if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
        refuse(target, CLI_RECORD_FAILED,
               res_printf("'%s' has file capabilities: the loader takes no preloaded library into such "
                          "programs; record "
                          "a copy of it: cp '%s' /tmp/",
                          path, path));
}

/* Whether the program headers name an interpreter, which is the dynamic loader. */
static bool has_loader(int fd, const ElfW(Ehdr) * head)
{
    if (head->e_phentsize != sizeof(ElfW(Phdr)) || head->e_phnum > PROGRAM_HEADERS_MAX)
        return false;
    for (size_t i = 0; i < head->e_phnum; i++) {
        ElfW(Phdr) program;
        if (head->e_phoff > INT64_MAX - i * sizeof program)
            return false;
        if (pread(fd, &program, sizeof program, (off_t)(head->e_phoff + i * sizeof program)) !=
            (ssize_t)sizeof program)
            return false;
        if (program.p_type == PT_INTERP)
            return true;
    }
    return false;
}

static void check_elf(struct cli_target *target, const char *path, int fd, const char *bytes, size_t length)
{
    ElfW(Ehdr) head;
    memset(&head, 0, sizeof head);
    memcpy(&head, bytes, length < sizeof head ? length : sizeof head);
    if (length < sizeof head)
        refuse(target, CLI_RECORD_NOT_EXECUTABLE,
               res_printf("cannot run '%s': its ELF header is cut short", path));
    else if (head.e_ident[EI_CLASS] != NATIVE_CLASS ||
             (NATIVE_MACHINE != EM_NONE && head.e_machine != NATIVE_MACHINE))
        refuse(
            target, CLI_RECORD_FAILED,
            res_printf(
                "'%s' is built for another machine type than this mallab: record it with a mallab built for "
                "that type",
                path));
    else if (!has_loader(fd, &head))
        refuse(target, CLI_RECORD_FAILED,
               res_printf(
                   "'%s' is statically linked: no library can be preloaded into it; link it dynamically and "
                   "record that",
                   path));
}

static long read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX ? (long)pread(fd, bytes, size, (off_t)offset) : -1;
}

char *cli_target_sanitizer(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const char *sanitizer = fd >= 0 ? sanitizer_of(fd, read_at) : NULL;
    if (fd >= 0)
        close(fd);
    return sanitizer != NULL ? res_printf("%s%s%s", SANITIZER_OBSTACLE, sanitizer, SANITIZER_OBSTACLE_REST)
                             : NULL;
}

const char *cli_target_obstacle(int fd, bool *ret_sure)
{
    ElfW(Ehdr) head;
    struct stat facts;
    *ret_sure = true;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return NULL;
    if (head.e_ident[EI_CLASS] != NATIVE_CLASS ||
        (NATIVE_MACHINE != EM_NONE && head.e_machine != NATIVE_MACHINE))
        return "is built for another machine type than this mallab";
    if (!has_loader(fd, &head))
        return "is statically linked: no library can be preloaded into it";
    *ret_sure = false; /* to the user that it belongs to, the loader treats it as any other */
    if (fstat(fd, &facts) == 0 && (facts.st_mode & (S_ISUID | S_ISGID)) != 0)
        return "is setuid or setgid: the loader takes no preloaded library into it";
    if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
        return "has file capabilities: the loader takes no preloaded library into it";
    return NULL;
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
static char *check_file(struct cli_target *target, const char *path)
{
    char bytes[SCRIPT_HEAD_BYTES];
    char *interpreter = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return NULL; /* executable but not readable: nothing to look at, the kernel may still run it */
    const ssize_t length = read(fd, bytes, sizeof bytes);
    if (length >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0) {
        check_rights(target, path, fd);
        check_elf(target, path, fd, bytes, (size_t)length);
    } else if (length >= 2 && memcmp(bytes, "#!", 2) == 0) {
        interpreter = interpreter_of(bytes,
                                     (size_t)length); /* the kernel ignores the set-id bits of a script */
    } else if (length >= 0) {
        interpreter = res_strdup("/bin/sh"); /* what execvp does with a file that the kernel does not know */
    }
    close(fd);
    return interpreter;
}

void cli_target_find(const char *command, struct cli_target *ret_target)
{
    struct cli_target target = {0};
    char *path = locate(command, &target);
    char *file = path != NULL ? res_strdup(path) : NULL;
    for (int depth = 0; file != NULL && target.problem == NULL; depth++) {
        char *interpreter = depth < INTERPRETERS_MAX ? check_file(&target, file) : NULL;
        if (interpreter != NULL && !is_executable_file(interpreter))
            refuse(&target, CLI_RECORD_NOT_EXECUTABLE,
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

void cli_target_release(struct cli_target *target)
{
    free(target->path);
    free(target->problem);
    *target = (struct cli_target){0};
}

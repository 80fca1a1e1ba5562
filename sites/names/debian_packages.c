/* debian_packages.c - see debian_packages.h. */
#include "sites/names/debian_packages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/bytes.h"
#include "footprint/base/clock.h"
#include "footprint/base/process.h"

#define PROGRAM     "/usr/bin/dpkg-query"
#define PATHS_MAX   1000u
#define ANSWER_MAX  (1u << 20)
#define DEADLINE_NS UINT64_C(5000000000)

/* The path without links where it is one that dpkg takes literally; NULL. To be freed. */
static char *plain_path(const char *path)
{
    char *real = path != NULL && path[0] == '/' ? realpath(path, NULL) : NULL;
    if (real != NULL && strpbrk(real, "*?[\\\n") != NULL) {
        free(real);
        return NULL;
    }
    return real;
}

/* Packages may have a file from before /lib became a link to /usr/lib. */
static const char *without_usr(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
}

static bool take(void *data, int stream, const char *bytes, size_t count)
{
    struct bytes *answer = data;
    if (answer->size + count > ANSWER_MAX || !bytes_reserve(answer, answer->size + count + 1))
        return false;
    memcpy(answer->at + answer->size, bytes, count);
    answer->size += count;
    return true;
}

/* The answer, with a zero behind it. */
static void ask(char **arguments, struct bytes *ret)
{
    char locale[] = "LC_ALL=C";
    char *environment[] = {locale, NULL};
    struct fp_process process;
    const struct fp_process_plan plan = {.program = PROGRAM,
                                         .arguments = arguments,
                                         .environment = environment,
                                         .streams = {FP_STREAM_NULL, FP_STREAM_PIPE, FP_STREAM_NULL},
                                         .default_signals = true,
                                         .dies_with_us = true};
    const struct fp_process_bounds bounds = {
        .deadline_ns = fp_now_ns() + DEADLINE_NS, .take = take, .data = ret};
    if (!bytes_reserve(ret, 1))
        return;
    if (fp_process_start(&plan, &process) == 0) {
        (void)fp_process_wait(&process, &bounds); /* what came is of use, however it ended */
        fp_process_release(&process);
    }
    ret->at[ret->size] = '\0';
}

/* Debian has the symbols of glibc in a package of an older kind. */
static char *debug_package(const char *package)
{
    const size_t length = strcspn(package, ":,");
    char *name = malloc(length + sizeof "-dbgsym");
    if (name != NULL)
        sprintf(name, "%.*s%s", (int)length, package,
                strncmp(package, "libc6", length) == 0 ? "-dbg" : "-dbgsym");
    return name;
}

/* Lines "PACKAGE:ARCHITECTURE, PACKAGE: PATH". */
static void read_answer(char *text, char *const *real, size_t count, char **ret)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        const char *path = strstr(line, ": /");
        if (path == NULL || strncmp(line, "diversion by", 12) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            if (real[i] != NULL && ret[i] == NULL && strcmp(without_usr(real[i]), without_usr(path + 2)) == 0)
                ret[i] = debug_package(line);
    }
}

void debian_packages(const char *const *paths, size_t count, char **ret)
{
    char program[] = PROGRAM, search[] = "-S", end[] = "--";
    char **real = calloc(count + 1, sizeof *real), **arguments = calloc(2 * PATHS_MAX + 4, sizeof *arguments);
    struct bytes answer = {0};
    size_t asked = 0;
    memset(ret, 0, count * sizeof *ret);
    if (real != NULL && arguments != NULL) {
        arguments[asked++] = program;
        arguments[asked++] = search;
        arguments[asked++] = end;
        for (size_t i = 0; i < count && asked < 2 * PATHS_MAX; i++)
            if ((real[i] = plain_path(paths[i])) != NULL) {
                arguments[asked++] = real[i];
                if (without_usr(real[i]) != real[i])
                    arguments[asked++] = real[i] + (without_usr(real[i]) - real[i]);
            }
        if (asked > 3)
            ask(arguments, &answer);
        if (answer.at != NULL)
            read_answer((char *)answer.at, real, count, ret);
    }
    for (size_t i = 0; real != NULL && i < count; i++)
        free(real[i]);
    free(real);
    free(arguments);
    bytes_release(&answer);
}

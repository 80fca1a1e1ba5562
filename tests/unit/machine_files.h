/* machine_files.h - a machine made of files: what is looked up below /proc and /sys, below a root of the test's own. */
#ifndef MALLAB_TESTS_MACHINE_FILES_H
#define MALLAB_TESTS_MACHINE_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit/scratch.h"

static char root[512];

/* First of all: the root, with nothing in it; each time another. */
static inline void machine_begin(void)
{
    static int number;
    char name[32];
    snprintf(name, sizeof name, "machine.%d", number++);
    snprintf(root, sizeof root, "%s", scratch_path(name));
    if (mkdir(root, 0700) != 0) {
        perror(root);
        exit(1);
    }
}

/* Write a file below the root, with the directories above it. */
static inline void put(const char *path, const char *text)
{
    char full[1024];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(full);
        exit(1);
    }
}

#endif

/* names_fetched.c - stands in for debuginfod's library: says who was asked, and what its parent is, which reads what is fetched; hands out a file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *debuginfod_begin(void);
int debuginfod_find_debuginfo(void *client, const unsigned char *id, int bytes, char **path);
int debuginfod_find_executable(void *client, const unsigned char *id, int bytes, char **path);

void *debuginfod_begin(void)
{
    char line[256], path[64];
    FILE *asked = fopen(getenv("NAMES_ASKED"), "we");
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
    FILE *parent = fopen(path, "re");
    if (asked == NULL || parent == NULL)
        return NULL;
    (void)fprintf(asked, "user %d\n", (int)geteuid());
    while (fgets(line, sizeof line, parent) != NULL)
        if (strncmp(line, "Uid:", 4) == 0 || strncmp(line, "Seccomp:", 8) == 0)
            (void)fputs(line, asked);
    (void)fclose(parent);
    (void)fclose(asked);
    return getenv("NAMES_FETCHED");
}

int debuginfod_find_debuginfo(void *client, const unsigned char *id, int bytes, char **path)
{
    *path = strdup(client);
    return open(client, O_RDONLY | O_CLOEXEC);
}

int debuginfod_find_executable(void *client, const unsigned char *id, int bytes, char **path)
{
    *path = strdup(client);
    return open(client, O_RDONLY | O_CLOEXEC);
}

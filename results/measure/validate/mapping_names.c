/* mapping_names.c - a small table, searched from its start: a process has some ten names, and rarely a hundred. */
#include "results/measure/validate/mapping_names.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

uint64_t res_files_name(const char *name)
{
    return XXH3_64bits(name, strlen(name));
}

static struct res_file *find(struct res_files *files, uint64_t name)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->all[i].name == name)
            return &files->all[i];
    if (files->count == RES_FILES_MAX)
        return NULL;
    files->all[files->count] = (struct res_file){.name = name};
    return &files->all[files->count++];
}

void res_files_add(struct res_files *files, uint64_t name, uint64_t bytes)
{
    struct res_file *file = find(files, name);
    if (file != NULL)
        file->resident_bytes += bytes;
}

void res_files_raise(struct res_files *files, const struct res_files *sample)
{
    for (size_t i = 0; i < sample->count; i++) {
        struct res_file *file = find(files, sample->all[i].name);
        if (file != NULL && file->resident_bytes < sample->all[i].resident_bytes)
            file->resident_bytes = sample->all[i].resident_bytes;
    }
}

/* 0 of a name that is not there. */
static double resident(const struct res_files *files, uint64_t name)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->all[i].name == name)
            return (double)files->all[i].resident_bytes;
    return 0;
}

double res_files_brought(const struct res_files *startup, const struct res_files *base_startup,
                         const struct res_files *program)
{
    double brought = 0;
    for (size_t i = 0; i < startup->count; i++) {
        const uint64_t name = startup->all[i].name;
        const double there = fmax(resident(base_startup, name), resident(program, name));
        brought += fmax((double)startup->all[i].resident_bytes - there, 0);
    }
    for (size_t i = 0; i < base_startup->count; i++)
        if (resident(startup, base_startup->all[i].name) <= 0)
            brought -= (double)base_startup->all[i].resident_bytes;
    return brought;
}

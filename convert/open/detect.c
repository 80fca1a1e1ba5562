/* detect.c - what kind of file this is, by what it begins with. */
#include "convert/open/detect.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/import/formats.h"
#include "convert/import/import.h"
#include "convert/recording/parts.h"
#include "convert/text/workload_text.h"

#define HEAD_BYTES 65536u

static bool is_recording_directory(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool found = false;
    if (directory == NULL)
        return false;
    while (!found && (entry = readdir(directory)) != NULL)
        found = strcmp(entry->d_name, "recording.json") == 0 || conv_is_footprint(entry);
    (void)closedir(directory); /* only read from */
    return found;
}

/* JSON is told by its schema, which our writers put near the front. */
static enum conv_kind kind_of_json(const char *bytes, size_t size)
{
    return memmem(bytes, size, "\"mallab-recording/", 18) != NULL ? CONV_KIND_RECORDING : CONV_KIND_RESULT;
}

static enum conv_kind kind_of_trace(const char *path)
{
    static const struct conv_options options = {0};
    struct conv_survey survey = {0};
    struct conv_error error;
    struct conv_input input;
    if (conv_workload_text_detect(path))
        return CONV_KIND_TEXT;
    if (conv_import_open(path, CONV_KIND_UNKNOWN, &options, &survey, &error, &input) != FP_OK)
        return CONV_KIND_UNKNOWN;
    input.close(input.data);
    return survey.kind;
}

static enum conv_kind kind_of_file(const char *path)
{
    static const char blanks[] = " \t\r\n";
    char bytes[HEAD_BYTES];
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); /* a pipe by now, maybe */
    ssize_t size;
    size_t at = 0;
    if (fd < 0)
        return CONV_KIND_UNKNOWN;
    size = pread(fd, bytes, sizeof bytes, 0);
    (void)close(fd); /* only read from */
    if (size <= 0)
        return CONV_KIND_UNKNOWN;
    if (size >= 8 && memcmp(bytes, "MALLABFP", 8) == 0)
        return CONV_KIND_FOOTPRINT;
    if (size >= 8 && memcmp(bytes, "MALLABWL", 8) == 0)
        return CONV_KIND_WORKLOAD;
    while (at < (size_t)size && memchr(blanks, bytes[at], sizeof blanks - 1) != NULL)
        at++;
    if (at < (size_t)size && bytes[at] == '{')
        return kind_of_json(bytes, (size_t)size);
    return kind_of_trace(path);
}

enum conv_kind conv_detect(const char *path)
{
    struct stat stat_;
    if (strcmp(path, "-") == 0 || stat(path, &stat_) != 0)
        return CONV_KIND_UNKNOWN;
    if (S_ISDIR(stat_.st_mode))
        return is_recording_directory(path) ? CONV_KIND_RECORDING : CONV_KIND_UNKNOWN;
    return S_ISREG(stat_.st_mode) ? kind_of_file(path) : CONV_KIND_UNKNOWN;
}

enum fp_status conv_resolve(const char *path, const struct conv_options *options, enum conv_kind *ret_kind,
                            struct conv_error *error)
{
    char names[256];
    *ret_kind = options->from == NULL ? conv_detect(path) : conv_from_kind(options->from);
    if (options->from == NULL && strcmp(path, "-") == 0 && conv_workload_text_detect(path))
        *ret_kind = CONV_KIND_TEXT;
    if (options->from == NULL || *ret_kind != CONV_KIND_UNKNOWN)
        return FP_OK;
    return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0, "unknown format '%.60s'; known are %s",
                     options->from, conv_from_names(names, sizeof names));
}

/* export_file.c - buffering over wl_file; files without a name. */
#include "convert/export/export_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum fp_status conv_export_open(struct conv_export_file *file, const char *path, bool overwrite)
{
    file->used = 0;
    file->status = wl_file_create(&file->file, path, overwrite);
    return file->status;
}

static void flush(struct conv_export_file *file)
{
    if (file->status == FP_OK && file->used > 0)
        file->status = wl_file_append(&file->file, file->buffer, file->used);
    file->used = 0;
}

void conv_export_put(struct conv_export_file *file, const void *bytes, size_t size)
{
    if (size > sizeof file->buffer - file->used)
        flush(file);
    if (size <= sizeof file->buffer) {
        memcpy(file->buffer + file->used, bytes, size);
        file->used += size;
    } else if (file->status == FP_OK) {
        file->status = wl_file_append(&file->file, bytes, size);
    }
}

void conv_export_text_put(struct conv_export_file *file, const char *text)
{
    conv_export_put(file, text, strlen(text));
}

void conv_export_number(struct conv_export_file *file, uint64_t number)
{
    char digits[20];
    char *at = digits + sizeof digits;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    conv_export_put(file, at, (size_t)(digits + sizeof digits - at));
}

void conv_export_byte(struct conv_export_file *file, char byte)
{
    if (file->used == sizeof file->buffer)
        flush(file);
    file->buffer[file->used++] = byte;
}

enum fp_status conv_export_close(struct conv_export_file *file)
{
    flush(file);
    if (file->status == FP_OK)
        file->status = wl_file_finish(&file->file);
    return file->status;
}

void conv_export_abandon(struct conv_export_file *file)
{
    wl_file_abandon(&file->file);
}

static void name_directory(const char *beside, char *ret_directory, size_t size)
{
    const char *temporary = getenv("TMPDIR");
    char copy[PATH_MAX];
    if (strcmp(beside, "-") != 0 && strlen(beside) < sizeof copy) {
        strcpy(copy, beside);
        snprintf(ret_directory, size, "%s", dirname(copy));
    } else {
        snprintf(ret_directory, size, "%s", temporary != NULL && *temporary != '\0' ? temporary : "/tmp");
    }
}

int conv_temporary_file(const char *beside, char *ret_directory, size_t size)
{
    char name[PATH_MAX + 32];
    int descriptor;
    name_directory(beside, ret_directory, size);
    descriptor = open(ret_directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return descriptor;
    /* The file system knows no files without a name: take the name away at once. */
    if ((size_t)snprintf(name, sizeof name, "%s/.mallab-XXXXXX", ret_directory) >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    descriptor = mkostemp(name, O_CLOEXEC);
    if (descriptor >= 0)
        (void)unlink(name); /* a name that stays does no harm beside the space */
    return descriptor;
}

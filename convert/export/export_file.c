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

/* export_file.h - the output of an export: buffered, whole under its final name or not there.
 *
 * The first failure sticks and is returned by the end; what is put after it goes nowhere. Private to convert/. */
#ifndef MALLAB_CONVERT_EXPORT_EXPORT_FILE_H
#define MALLAB_CONVERT_EXPORT_EXPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/wl/wl_file.h"

#define CONV_EXPORT_BUFFER 65536u

struct conv_export_file {
    struct wl_file file;
    enum fp_status status; /* FP_OK until something failed; file.error says what */
    size_t used;
    char buffer[CONV_EXPORT_BUFFER];
};

/* conv_export_open - begin a file beside path, "-": standard output. Returns FP_OK; FP_ERR_EXISTS, FP_ERR_OPEN,
 * FP_ERR_MEMORY with file->file.error filled. */
enum fp_status conv_export_open(struct conv_export_file *file, const char *path, bool overwrite);

/* Put bytes, a text, a number in decimal, one byte. */
void conv_export_put(struct conv_export_file *file, const void *bytes, size_t size);
void conv_export_text_put(struct conv_export_file *file, const char *text);
void conv_export_number(struct conv_export_file *file, uint64_t number);
void conv_export_byte(struct conv_export_file *file, char byte);

/* conv_export_close - write the rest; sync, and give the file its name. Returns FP_OK, or the first failure. */
enum fp_status conv_export_close(struct conv_export_file *file);

/* conv_export_abandon - remove what is unfinished. To be called after a failure of any of the above. */
void conv_export_abandon(struct conv_export_file *file);

#endif

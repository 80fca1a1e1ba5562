/* usage_notes.c - notes of a usage written and read. */
#include "convert/open/usage_notes.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "usage_"

enum fp_status conv_usage_note(struct wl_writer *writer, const struct fp_usage *usage)
{
    struct fp_usage_texts texts = {.count = 0};
    enum fp_status status = FP_OK;
    if (usage != NULL)
        fp_usage_tell(usage, &texts);
    for (size_t i = 0; i < texts.count && status == FP_OK; i++) {
        char key[64];
        snprintf(key, sizeof key, PREFIX "%s", texts.items[i].key);
        status = wl_writer_note(writer, key, texts.items[i].value);
    }
    return status;
}

bool conv_usage_read(const struct wl_reader *reader, struct fp_usage *ret_usage)
{
    const struct fp_meta *meta;
    const size_t count = wl_reader_meta_all(reader, &meta);
    bool told = false;
    fp_usage_init(ret_usage);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(meta[i].key, PREFIX, strlen(PREFIX)) != 0)
            continue;
        (void)fp_usage_take(ret_usage, meta[i].key + strlen(PREFIX),
                            meta[i].value); /* what is no number tells nothing */
        told = true;
    }
    return told;
}

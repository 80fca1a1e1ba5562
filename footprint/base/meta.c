/* meta.c - meta text made and taken apart. */
#include "footprint/base/meta.h"

#include <string.h>

#include "footprint/base/bytes.h"

enum fp_status meta_encode(const struct fp_meta *meta, size_t count, struct bytes *out)
{
    out->size = 0;
    if (count > META_COUNT_MAX)
        return FP_ERR_LIMIT;
    for (size_t i = 0; i < count; i++) {
        const size_t key = strlen(meta[i].key);
        const size_t value = strlen(meta[i].value);
        if (strpbrk(meta[i].key, "=\n") != NULL || strchr(meta[i].value, '\n') != NULL)
            return FP_ERR_ARGUMENT;
        if (out->size + key + value + 2 > META_BYTES_MAX)
            return FP_ERR_LIMIT;
        if (!bytes_reserve(out, META_BYTES_MAX))
            return FP_ERR_MEMORY;
        memcpy(out->at + out->size, meta[i].key, key);
        out->at[out->size + key] = '=';
        memcpy(out->at + out->size + key + 1, meta[i].value, value);
        out->at[out->size + key + 1 + value] = '\n';
        out->size += key + value + 2;
    }
    return FP_OK;
}

bool meta_parse(char *text, size_t size, struct fp_meta *ret_meta, size_t *ret_count)
{
    size_t count = 0;
    char *end = text + size;
    if (memchr(text, '\0', size) != NULL)
        return false;
    while (text < end) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        char *equals = newline != NULL ? memchr(text, '=', (size_t)(newline - text)) : NULL;
        if (equals == NULL || count == META_COUNT_MAX)
            return false;
        *equals = '\0';
        *newline = '\0';
        ret_meta[count++] = (struct fp_meta){text, equals + 1};
        text = newline + 1;
    }
    *ret_count = count;
    return true;
}

const char *meta_find(const struct fp_meta *meta, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(meta[i].key, key) == 0)
            return meta[i].value;
    return NULL;
}

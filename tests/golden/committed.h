/* committed.h - golden files in the source tree, and texts that are held against one, or become it with MALLAB_GOLDEN_UPDATE=1. */
#ifndef MALLAB_TESTS_COMMITTED_H
#define MALLAB_TESTS_COMMITTED_H

#include <dirent.h>
#include <errno.h>

#include "golden/dump.h"
#include "golden/patch.h"
#include "unit/harness.h"

/* A file's path; valid for the next three calls. */
static inline const char *committed(const char *folder, const char *name, const char *ending)
{
    static char paths[4][2048];
    static unsigned turn;
    const char *source = getenv("MALLAB_SOURCE");
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/tests/golden/%s/%s%s", source != NULL ? source : ".", folder, name,
             ending);
    return path;
}

static inline bool is_update(void)
{
    return getenv("MALLAB_GOLDEN_UPDATE") != NULL;
}

static inline void load(struct image *image, const char *path)
{
    if (!image_load(image, path))
        HARNESS_FAIL("cannot read %s: %s", path, strerror(errno));
}

static inline bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), end_length = strlen(end);
    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

/* Call `check` with the name of each file of a folder that begins and ends so, in the order of names. Returns their number. */
static inline unsigned each_committed(const char *folder, const char *begin, const char *end,
                                      void (*check)(const char *name))
{
    struct dirent **entries = NULL;
    const int count = scandir(committed(folder, "", ""), &entries, NULL, alphasort);
    unsigned files = 0;
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && strncmp(name, begin, strlen(begin)) == 0 && ends_with(name, end)) {
            check(name);
            files++;
        }
        free(entries[i]);
    }
    free(entries);
    return files;
}

/* What a dump of a file says, as a string to be freed. */
static inline char *dump_text(struct dump_result (*dump)(const char *path, FILE *out), const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        abort();
    (void)dump(path, out); /* what it ends with is part of the text */
    if (fclose(out) != 0)
        abort();
    return text;
}

/* Name the first line that differs. */
static inline void check_text(const char *path, const char *text)
{
    struct image expected = {0};
    unsigned line = 1;
    if (is_update()) {
        const struct image image = {(uint8_t *)(uintptr_t)text, strlen(text), 0};
        CHECK(image_store(&image, path));
    }
    load(&expected, path);
    image_splice(&expected, expected.size, 0, "", 1);
    const char *wanted = (const char *)expected.bytes;
    for (; *text != '\0' && *text == *wanted; text++, wanted++)
        line += *text == '\n';
    if (*text != *wanted)
        HARNESS_FAIL("%s, line %u: '%.60s', expected '%.60s'", path, line, text, wanted);
    image_release(&expected);
}

#endif

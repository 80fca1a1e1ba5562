/* names_apart.c - sort by name and key, look at neighbours. */
#include "results/measure/base/names_apart.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

static int compare_words(const char *one, const char *other)
{
    return strcmp(one != NULL ? one : "", other != NULL ? other : "");
}

int res_key_compare(const char *label, const char *digest, const char *other_label, const char *other_digest)
{
    const int order = compare_words(label, other_label);
    return order != 0 ? order : compare_words(digest, other_digest);
}

static int compare_named(const void *left, const void *right)
{
    const struct res_named *one = left, *other = right;
    const int order = strcmp(*one->name, *other->name);
    return order != 0 ? order : res_key_compare(one->label, one->digest, other->label, other->digest);
}

static bool is_same_name(const struct res_named *one, const struct res_named *other)
{
    return strcmp(*one->name, *other->name) == 0;
}

static char *name_of(const struct res_named *named, bool is_label_shared)
{
    const size_t length = named->label != NULL ? strlen(named->label) : 0;
    const char *name = *named->name;
    const bool has_label = length > 0 && !(strncmp(name, named->label, length) == 0 && name[length] == '/');
    const bool has_digest = is_label_shared && named->digest != NULL && *named->digest != '\0';
    return res_printf("%s%s%s%s%.8s", has_label ? named->label : "", has_label ? "/" : "", name,
                      has_digest ? " " : "", has_digest ? named->digest : "");
}

/* All of one name. They are sorted by label, then digest. */
static void part(struct res_named *named, size_t count)
{
    char **names = res_calloc(count, sizeof *names);
    if (res_key_compare(named[0].label, named[0].digest, named[count - 1].label, named[count - 1].digest) !=
        0)
        for (size_t first = 0, end; first < count; first = end) {
            for (end = first + 1; end < count; end++)
                if (compare_words(named[first].label, named[end].label) != 0)
                    break;
            const bool is_shared = compare_words(named[first].digest, named[end - 1].digest) != 0;
            for (size_t i = first; i < end; i++)
                names[i] = name_of(&named[i], is_shared);
        }
    for (size_t i = 0; i < count; i++) {
        if (names[i] == NULL)
            continue;
        free(*named[i].name);
        *named[i].name = names[i];
    }
    free(names);
}

void res_names_apart(struct res_named *named, size_t count)
{
    if (count > 1)
        qsort(named, count, sizeof *named, compare_named);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && is_same_name(&named[first], &named[end]); end++)
            continue;
        part(named + first, end - first);
    }
}

/* shim_text.c - strings and the environment, before and without libc's comforts. */
#include "shim/preload/shim.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

void text_append(char *text, size_t size, const char *more)
{
    size_t length = strlen(text);
    while (*more != '\0' && length + 1 < size)
        text[length++] = *more++;
    text[length] = '\0';
}

void text_append_number(char *text, size_t size, uint64_t number)
{
    char digits[21];
    char *start = digits + sizeof digits - 1;
    *start = '\0';
    do
        *--start = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    text_append(text, size, start);
}

const char *text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

const char *text_next_library(const char **list, size_t *ret_length, const char **ret_base)
{
    const char *first = *list + strspn(*list, ": \t\n");
    const size_t length = strcspn(first, ": \t\n");
    const char *base = first + length;
    while (base > first && base[-1] != '/')
        base--;
    *list = first + length;
    *ret_length = length;
    *ret_base = base;
    return length > 0 ? first : NULL;
}

/* A file name may hold these unquoted: an argv[0] with anything else is a title, not a name. */
static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '.' || byte == '_' || byte == '-' || byte == '+';
}

static bool is_name(const char *name, size_t size)
{
    size_t length = 0;
    if (name[0] == '.')
        return false;
    while (length < size && is_name_byte(name[length]))
        length++;
    return length > 0 && length < size && name[length] == '\0';
}

void text_called_name(char *ret_name, size_t size, const char *called, const char *executable)
{
    const char *name = text_base_name(called);
    if (name[0] == '-') /* a login shell */
        name++;
    if (!is_name(name, size))
        name = text_base_name(executable);
    ret_name[0] = '\0';
    text_append(ret_name, size, name);
}

/* Iterative, because a pattern of many stars must not cost more than its length times the name's: on a mismatch the
 * last star takes one character more. */
static bool matches_one(const char *pattern, size_t length, const char *name)
{
    const char *end = pattern + length, *star = NULL, *retry = name;
    while (*name != '\0') {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

bool text_matches(const char *patterns, const char *name)
{
    for (;;) {
        const size_t length = strcspn(patterns, ",");
        if (length > 0 && matches_one(patterns, length, name))
            return true;
        if (patterns[length] == '\0')
            return false;
        patterns += length + 1;
    }
}

/* The loader itself allocates before libc's constructor sets environ. */
static char **environment_from_proc(void)
{
    enum { BYTES = 4 << 20, ENTRIES = BYTES / 16 };
    static char *none[1];
    size_t entries = 0;
    long area = raw_mmap(NULL, BYTES + ENTRIES * sizeof(char *), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (area < 0)
        return none;
    char **vector = (char **)area;
    char *text = (char *)(vector + ENTRIES);
    const size_t used = raw_file_begin("/proc/self/environ", text, BYTES);
    for (char *entry = text; entry < text + used && entries + 1 < ENTRIES; entry += strlen(entry) + 1)
        vector[entries++] = entry;
    return vector;
}

/* The environment of a library that is loaded late: what it was told, and nothing of the program's. */
static char *late_none[1];
static char **late_environment = late_none;

void text_take_environment(char **vector)
{
    late_environment = vector;
}

char **text_environment(void)
{
    static char **found;
    if (SHIM_IS_LATE)
        return late_environment;
    if (environ != NULL)
        return environ;
    if (found == NULL)
        found = environment_from_proc();
    return found;
}

bool text_environment_counts(void)
{
    return getauxval(AT_SECURE) == 0;
}

const char *text_getenv(const char *name)
{
    const size_t length = strlen(name);
    for (char **entry = text_environment(); *entry != NULL; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

const char *text_given(const char *name)
{
    const char *value = text_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

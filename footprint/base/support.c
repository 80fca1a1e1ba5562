/* support.c - memory, strings and words for the programs' rooms. */
#include "footprint/base/support.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/proc.h"
#include "footprint/base/words.h"

void res_no_memory(void)
{
    static const char message[] = "mallab: out of memory\n";
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written; /* nowhere left to tell it */
    exit(1);       /* not _exit: temporary files are removed by atexit */
}

void *res_calloc(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    if (memory == NULL)
        res_no_memory();
    return memory;
}

void *res_realloc(void *memory, size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size)
        res_no_memory();
    void *moved = realloc(memory, count * size > 0 ? count * size : 1);
    if (moved == NULL)
        res_no_memory();
    return moved;
}

char *res_strdup(const char *text)
{
    return text != NULL ? res_strndup(text, strlen(text)) : NULL;
}

char *res_strndup(const char *text, size_t length_max)
{
    const size_t length = strnlen(text, length_max);
    char *copy = res_calloc(length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *res_printf(const char *format, ...)
{
    char *text = NULL;
    va_list list;
    va_start(list, format);
    int length = vasprintf(&text, format, list);
    va_end(list);
    if (length < 0)
        res_no_memory();
    return text;
}

void res_say_list(const char *verb, const char *format, va_list list)
{
    char words[8192], plain[2 * sizeof words]; /* paths, names and reasons of files are among them */
    vsnprintf(words, sizeof words, format, list);
    (void)fp_text_plain(words, plain, sizeof plain); /* cut where it is too long */
    fflush(stdout);
    fprintf(stderr, "mallab%s%s: %s\n", verb != NULL ? " " : "", verb != NULL ? verb : "", plain);
}

void res_say(const char *verb, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    res_say_list(verb, format, list);
    va_end(list);
}

void res_text_add(struct res_text *text, const char *bytes, size_t length)
{
    if (length > SIZE_MAX / 4 || text->length > SIZE_MAX / 4)
        res_no_memory();
    if (text->length + length + 1 > text->capacity) {
        text->capacity = (text->length + length + 1) * 2;
        text->text = res_realloc(text->text, text->capacity, 1);
    }
    memcpy(text->text + text->length, bytes, length);
    text->length += length;
    text->text[text->length] = '\0';
}

void res_text_printf(struct res_text *text, const char *format, ...)
{
    char *more = NULL;
    va_list list;
    va_start(list, format);
    int length = vasprintf(&more, format, list);
    va_end(list);
    if (length < 0)
        res_no_memory();
    res_text_add(text, more, (size_t)length);
    free(more);
}

/* Characters that take two columns, and such that take none (combining marks), of Unicode 15: whole blocks, so that a few
 * unassigned ones are among them. */
static unsigned columns_of(uint32_t character)
{
    static const struct {
        uint32_t first, last;
        unsigned columns;
    } WIDTHS[] = {
        {0x300, 0x36f, 0},     {0x1100, 0x115f, 2},   {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},
        {0x3041, 0xa4cf, 2},   {0xa960, 0xa97f, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
        {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},
        {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2},
        {0x20000, 0x3fffd, 2},
    };
    for (size_t i = 0; i < sizeof WIDTHS / sizeof WIDTHS[0] && WIDTHS[i].first <= character; i++)
        if (character <= WIDTHS[i].last)
            return WIDTHS[i].columns;
    return 1;
}

size_t res_text_columns(const char *text)
{
    size_t columns = 0;
    while (*text != '\0') {
        const unsigned char lead = (unsigned char)*text++;
        uint32_t character = lead < 0xc0 ? lead : lead & (lead < 0xe0 ? 0x1fu : lead < 0xf0 ? 0xfu : 7u);
        for (; ((unsigned char)*text & 0xc0) == 0x80; text++)
            character = character << 6 | ((unsigned char)*text & 0x3fu);
        columns += columns_of(character);
    }
    return columns;
}

char *res_text_plain(const char *text)
{
    const size_t size = strlen(text) * FP_PLAIN_GROWTH + 1;
    char *plain = res_calloc(size, 1);
    (void)fp_text_plain(text, plain, size); /* it has room */
    return plain;
}

char *res_text_duration(double duration_ns, char *ret_text)
{
    const double seconds = duration_ns / 1e9;
    if (duration_ns < 1e3)
        snprintf(ret_text, 32, "%.0f ns", duration_ns);
    else if (duration_ns < 1e6)
        snprintf(ret_text, 32, "%.3g us", duration_ns / 1e3);
    else if (duration_ns < 1e9)
        snprintf(ret_text, 32, "%.3g ms", duration_ns / 1e6);
    else if (seconds < 100)
        snprintf(ret_text, 32, "%.3g s", seconds);
    else if (seconds < 5999.5)
        snprintf(ret_text, 32, "%.0f min %02.0f s", (double)((long)(seconds + 0.5) / 60),
                 (double)((long)(seconds + 0.5) % 60));
    else if (seconds < 1e12)
        snprintf(ret_text, 32, "%ld h %02ld min", (long)seconds / 3600, (long)seconds / 60 % 60);
    else
        snprintf(ret_text, 32, "%.3g s", seconds);
    return ret_text;
}

char *res_path_join(const char *directory, const char *name)
{
    return res_printf("%s/%s", directory, name);
}

/* The first directory that holds a regular file of this name that we may use so: R_OK or X_OK. */
static char *find_file(const char *const *directories, const char *name, int use)
{
    for (; *directories != NULL; directories++) {
        char *path = res_path_join(*directories, name);
        struct stat facts;
        if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, use) == 0)
            return path;
        free(path);
    }
    return NULL;
}

char *res_find_program(const char *const *directories, const char *name)
{
    return find_file(directories, name, X_OK);
}

char *res_find_in_path(const char *name, bool *ret_denied)
{
    const char *list = getenv("PATH");
    list = list != NULL ? list : "/bin:/usr/bin"; /* glibc's default, confstr(_CS_PATH) */
    for (;;) {
        struct stat facts;
        const size_t length = strcspn(list, ":");
        char *directory = res_strndup(length > 0 ? list : ".", length > 0 ? length : 1);
        char *path = res_path_join(directory, name);
        const bool is_file = stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
        free(directory);
        if (is_file && access(path, X_OK) == 0)
            return path;
        if (is_file && ret_denied != NULL)
            *ret_denied = true;
        free(path);
        if (list[length] == '\0')
            return NULL;
        list += length + 1;
    }
}

bool res_file_begin(const char *root, const char *path, char *ret_text, size_t size)
{
    char *full = res_printf("%s%s", root, path);
    const bool opened = fp_file_begin(full, ret_text, size);
    free(full);
    return opened;
}

/* ---- places ----------------------------------------------------------------------------------- */

/* The directory of this program, found once; without /proc by what the kernel was told to execute. NULL: neither tells,
 * and only the installed places count. */
static const char *own_directory(void)
{
    static char path[PATH_MAX];
    if (path[0] == '\0') {
        const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        const char *told = (const char *)getauxval(AT_EXECFN);
        if (length > 0)
            path[length] = '\0';
        else if (told == NULL || realpath(told, path) == NULL)
            return NULL;
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return NULL;
        *slash = '\0';
    }
    return path;
}

const char *const *res_program_directories(void)
{
    static const char *directories[3];
    size_t count = 0;
    if (own_directory() != NULL)
        directories[count++] = own_directory();
    directories[count++] = MALLAB_LIBEXECDIR;
    directories[count] = NULL;
    return directories;
}

char *res_own_program(const char *name)
{
    return res_find_program(res_program_directories(), name);
}

char *res_own_library(const char *name)
{
    const char *const own = own_directory() != NULL ? own_directory() : MALLAB_LIBDIR;
    return find_file((const char *const[]){own, MALLAB_LIBDIR, NULL}, name, R_OK);
}

char *res_allocators_directory(void)
{
    const char *named = getenv("MALLAB_ALLOCATORS");
    if (named != NULL && *named != '\0')
        return res_strdup(named);
    char *source = own_directory() != NULL ? res_path_join(own_directory(), "mallab-source") : NULL;
    char *path = source != NULL ? res_path_join(source, "allocators") : NULL;
    free(source);
    if (path != NULL && access(path, R_OK) == 0)
        return path;
    free(path);
    return res_path_join(MALLAB_DATADIR, "allocators");
}

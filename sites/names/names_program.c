/* names_program.c - mallab-names: reads ELF and DWARF in a process of its own, with limits, for names.c.
 *
 * A program and not a function in a child of mallab's: libdw loads debuginfod's library, and that libcurl, into every process
 * that links it. It has no options and prints nothing for people. */
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sites/names/module_names.h"

#define MEMORY_BYTES (UINT64_C(2) << 30) /* beside what the process begins with */

static void limit(void)
{
    unsigned long long pages[6] = {0};
    FILE *file = fopen("/proc/self/statm", "re");
    for (size_t i = 0; file != NULL && i < 6; i++)
        if (fscanf(file, "%llu", &pages[i]) != 1)
            break; /* 0 then */
    if (file != NULL)
        (void)fclose(file); /* only read from */
    const rlim_t bytes = pages[5] * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_BYTES;
    const struct rlimit data = {bytes, bytes}, core = {0, 0};
    if (setrlimit(RLIMIT_DATA, &data) != 0 || setrlimit(RLIMIT_CORE, &core) != 0)
        exit(1);
}

static void take(void *data, const struct name_reply *reply, const char *function, const char *file)
{
    struct name_reply told = *reply;
    const size_t function_bytes = function != NULL ? strnlen(function, NAMES_TEXT_MAX) : 0;
    const size_t file_bytes = file != NULL ? strnlen(file, NAMES_TEXT_MAX) : 0;
    told.function_bytes = (uint16_t)function_bytes;
    told.file_bytes = (uint16_t)file_bytes;
    (void)fwrite(&told, sizeof told, 1, stdout); /* failures: see main */
    if (function_bytes > 0)
        (void)fwrite(function, function_bytes, 1, stdout);
    if (file_bytes > 0)
        (void)fwrite(file, file_bytes, 1, stdout);
    if (reply->kind == NAME_REPLY_BEGINS || reply->kind == NAME_REPLY_DONE)
        (void)fflush(stdout);
}

int main(void)
{
    const struct name_sink sink = {.take = take};
    struct name_places places;
    struct name_request request;
    struct stat facts;
    if (fstat(STDIN_FILENO, &facts) != 0 || facts.st_size == 0)
        return 2;
    const uint8_t *bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    if (bytes == MAP_FAILED)
        return 1;
    struct cursor message = {.at = bytes, .end = bytes + facts.st_size};
    limit();
    if (!name_places_get(&message, &places))
        return 1;
    if (!places.may_fetch)
        (void)unsetenv("DEBUGINFOD_URLS"); /* of what libdw might ask */
    while (message.at < message.end) {
        request = (struct name_request){0};
        if (!name_request_get(&message, &request))
            return 1;
        request.places = &places;
        (void)alarm((unsigned)(NAMES_MODULE_LIMIT_NS / 1000000000)); /* its signal ends us */
        module_names(&request, &sink);
        free((void *)(uintptr_t)request.questions);
    }
    free((void *)(uintptr_t)places.directories);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

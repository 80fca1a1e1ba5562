/* names_program.c - mallab-names: reads ELF and DWARF in a process of its own, with limits, for names.c.
 *
 * A program and not a function in a child of mallab's: libdw loads debuginfod's library, and that libcurl, into every process
 * that links it. It prints nothing for people. */
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "sites/names/names_child.h"

#define MEMORY_BYTES (UINT64_C(2) << 30)

static void limit(void)
{
#if !SANITIZED /* such builds map far more for themselves */
    const struct rlimit data = {MEMORY_BYTES, MEMORY_BYTES}, core = {0, 0};
    if (setrlimit(RLIMIT_DATA, &data) != 0 || setrlimit(RLIMIT_CORE, &core) != 0)
        exit(1);
#endif
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

/* Answers for a module that we may not look at. */
static void tell_unread(uint32_t number)
{
    take(NULL, &(struct name_reply){.module = number, .kind = NAME_REPLY_BEGINS}, NULL, NULL);
    take(NULL, &(struct name_reply){.module = number, .kind = NAME_REPLY_DONE, .line = NAMES_UNREAD}, NULL,
         NULL);
}

int main(int argc, char **argv)
{
    const struct name_sink sink = {.take = take};
    const struct itimerval most = {.it_value = {.tv_sec = NAMES_MODULE_LIMIT_NS / 1000000000}};
    struct stat facts;
    if (argc < 3 || fstat(STDIN_FILENO, &facts) != 0 || facts.st_size == 0)
        return 2;
    const struct name_places places = {.directories = (const char *const *)argv + 3,
                                       .directory_count = (size_t)argc - 3,
                                       .may_fetch = strcmp(argv[2], "fetch") == 0,
                                       .owner = (uid_t)strtoul(argv[1], NULL, 10)};
    const uint8_t *at = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    if (at == MAP_FAILED)
        return 1;
    limit();
    if (!places.may_fetch)
        (void)unsetenv("DEBUGINFOD_URLS"); /* of what libdw might ask */
    const bool may_read = names_give_up(places.owner, places.may_fetch);
    for (const uint8_t *end = at + facts.st_size; at < end;) {
        const struct name_asked *asked = (const void *)at;
        const struct name_request request = {.places = &places,
                                             .module = {.kind = (enum names_kind)asked->kind,
                                                        .path = asked->path,
                                                        .build_id = asked->build_id,
                                                        .build_id_bytes = asked->build_id_bytes},
                                             .number = asked->number,
                                             .questions = (const void *)(asked + 1),
                                             .count = asked->count};
        at = (const uint8_t *)(request.questions + request.count);
        (void)setitimer(ITIMER_REAL, &most, NULL); /* its signal ends us */
        if (may_read)
            module_names(&request, &sink);
        else
            tell_unread(request.number);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

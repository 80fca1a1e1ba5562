/* names_of.c - names of addresses for sites_names.py, as JSON: one line for the module, then one for each address.
 *
 *   names_of PROGRAM [lines|fetch|jit|twice|id=HEX|symbols=DIR|owner=UID|limit=NS]... FILE ADDRESS... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/names/names.h"

static void put(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('"');
}

static size_t read_id(const char *hex, uint8_t *ret)
{
    size_t count = 0;
    for (unsigned byte; sscanf(hex + 2 * count, "%2x", &byte) == 1; count++)
        ret[count] = (uint8_t)byte;
    return count;
}

static void put_frames(struct names *names, uint32_t question)
{
    size_t count;
    const struct names_frame *frames = names_frames(names, question, &count);
    printf("[");
    for (size_t i = 0; i < count; i++) {
        printf("%s{\"function\": ", i > 0 ? ", " : "");
        put(frames[i].function);
        printf(", \"file\": ");
        put(frames[i].file != NULL ? frames[i].file : "");
        printf(", \"line\": %u, \"named\": %s, \"inlined\": %s, \"start\": %llu}", frames[i].line,
               frames[i].is_named ? "true" : "false", frames[i].is_inlined ? "true" : "false",
               (unsigned long long)frames[i].start);
    }
    printf("]\n");
}

int main(int argc, char **argv)
{
    const char *directories[8];
    uint8_t id[64];
    struct names_options options = {.program = argv[1], .directories = directories};
    struct names_module module = {.build_id = id};
    bool lines = false, twice = false;
    uint32_t number, question;
    int at = 2;
    for (; at < argc && argv[at][0] != '/' && argv[at][0] != '['; at++) {
        const char *value = strchr(argv[at], '=');
        lines |= strcmp(argv[at], "lines") == 0;
        twice |= strcmp(argv[at], "twice") == 0;
        options.may_fetch |= strcmp(argv[at], "fetch") == 0;
        if (strcmp(argv[at], "jit") == 0)
            module.kind = NAMES_JIT;
        if (strncmp(argv[at], "id=", 3) == 0)
            module.build_id_bytes = read_id(value + 1, id);
        if (strncmp(argv[at], "symbols=", 8) == 0)
            directories[options.directory_count++] = value + 1;
        if (strncmp(argv[at], "owner=", 6) == 0)
            options.owner = (uid_t)atoi(value + 1);
        if (strncmp(argv[at], "limit=", 6) == 0)
            options.limit_ns = strtoull(value + 1, NULL, 10);
    }
    module.path = argv[at++];
    struct names *names = names_new(&options);
    if (names == NULL || names_add_module(names, &module, &number) != FP_OK)
        return 1;
    for (int i = at; i < argc; i++)
        if (names_ask(names, number, strtoull(argv[i], NULL, 16), lines && !twice, &question) != FP_OK)
            return 1;
    if (names_resolve(names) != FP_OK)
        return 1;
    for (int i = at; twice && i < argc; i++)
        if (names_ask(names, number, strtoull(argv[i], NULL, 16), lines, &question) != FP_OK)
            return 1;
    if (twice && names_resolve(names) != FP_OK)
        return 1;
    const char *words = names_state_words(names_module_state(names, number));
    bool has_lines = false;
    for (int i = at; i < argc; i++) {
        size_t count;
        (void)names_ask(names, number, strtoull(argv[i], NULL, 16), lines, &question);
        has_lines |= names_frames(names, question, &count)->line != 0;
    }
    printf("{\"state\": %d, \"lines\": %s, \"name\": ", (int)names_module_state(names, number),
           has_lines ? "true" : "false");
    put(names_module_name(names, number));
    printf(", \"words\": ");
    put(words != NULL ? words : "");
    printf("}\n");
    for (int i = at; i < argc; i++) {
        (void)names_ask(names, number, strtoull(argv[i], NULL, 16), lines, &question);
        put_frames(names, question);
    }
    names_free(names);
    return 0;
}

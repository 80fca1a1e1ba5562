/* fuzz_names.c - any bytes as a module's file and as a perf map: each question is answered once, in order, between the module's
 * begin and its end. Without DWARF: what libdw makes of it is libdw's (mallab-names reads it with limits). Rust's names, too. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "sites/names/names_child.h"

#define QUESTIONS 64u

struct told {
    uint32_t answers;
    bool has_begun, is_done;
};

static void take(void *data, const struct name_reply *reply, const char *function, const char *file)
{
    struct told *told = data;
    FUZZ_CHECK(!told->is_done && reply->module == 3 && file == NULL);
    FUZZ_CHECK(told->has_begun == (reply->kind != NAME_REPLY_BEGINS));
    told->has_begun = true;
    told->is_done = reply->kind == NAME_REPLY_DONE;
    if (reply->kind == NAME_REPLY_FUNCTION)
        FUZZ_CHECK(reply->question == told->answers++ &&
                   (reply->flags == NAME_REPLY_NAMED) == (function != NULL));
    else
        FUZZ_CHECK(reply->kind != NAME_REPLY_INLINED);
}

static void check_file(const char *path, uint64_t seed)
{
    static const struct name_places none;
    struct name_question questions[QUESTIONS];
    struct told told = {0};
    const struct name_sink sink = {.take = take, .data = &told};
    const struct name_request request = {
        .places = &none, .module = {.path = path}, .number = 3, .questions = questions, .count = QUESTIONS};
    for (size_t i = 0; i < QUESTIONS; i++)
        questions[i] = (struct name_question){.address = i < QUESTIONS / 2 ? 0x1000 + i * 7
                                                                           : seed >> (i % 64)};
    module_names(&request, &sink);
    FUZZ_CHECK(told.is_done && told.answers == QUESTIONS);
}

static void check_map(const uint8_t *bytes, size_t size, uint64_t seed)
{
    struct intervals symbols = {0};
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    memcpy(text, bytes, size);
    text[size] = '\0';
    FUZZ_CHECK(symbols_of_perf_map(text, size + 1, &symbols));
    for (size_t i = 0; i < 64; i++) {
        const uint64_t address = i < symbols.count ? symbols.list[i].end - 1 : seed >> i;
        const struct interval *found = symbols_name(&symbols, address, 0, true);
        FUZZ_CHECK(found == NULL ? i >= symbols.count : found->start <= address && address < found->end);
        FUZZ_CHECK(found == NULL || ((const char *)found->what)[0] != '\0');
    }
    intervals_release(&symbols);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char symbol[256] = "_R";
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
    const size_t name_bytes = size < sizeof symbol - 3 ? size : sizeof symbol - 3;
    memcpy(&seed, bytes, size < sizeof seed ? size : sizeof seed);
    check_file(fuzz_input(bytes, size), seed);
    check_map(bytes, size, seed);
    memcpy(symbol + 2, bytes, name_bytes);
    symbol[2 + name_bytes] = '\0';
    char *name = demangle(symbol);
    FUZZ_CHECK(name != NULL && strlen(name) > 0);
    free(name);
    return 0;
}

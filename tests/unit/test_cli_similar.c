/* test_cli_similar - which word was meant by one that is nothing, and that far ones are not offered. */
#include "cli/base/cli.h"
#include "harness.h"

TEST(distances)
{
    static const struct {
        const char *word, *other;
        size_t distance;
    } cases[] = {
        {"", "", 0},
        {"a", "", 1},
        {"", "abc", 3},
        {"record", "record", 0},
        {"recrod", "record", 1},
        {"recod", "record", 1},
        {"reecord", "record", 1},
        {"rexord", "record", 1},
        {"abcd", "badc", 2},
        {"kitten", "sitting", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_U64(cli_similarity(cases[i].word, cases[i].other), cases[i].distance);
        CHECK_U64(cli_similarity(cases[i].other, cases[i].word), cases[i].distance);
    }
    char many[CLI_SIMILAR_MAX + 2];
    memset(many, 'a', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    CHECK(cli_similarity(many, "a") == SIZE_MAX && cli_similarity("a", many) == SIZE_MAX);
    many[CLI_SIMILAR_MAX] = '\0';
    CHECK_U64(cli_similarity(many, many), 0);
}

TEST(the_nearest_word)
{
    static const char *const verbs[] = {"record", "report", "replay", "ab"};
    static const struct {
        const char *typed, *meant;
    } cases[] = {{"recrod", "record"}, {"reprot", "report"}, {"replya", "replay"},
                 {"an", "ab"},         {"nosuch", ""},       {"x", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cli_similar similar = {0};
        for (size_t k = 0; k < sizeof verbs / sizeof verbs[0]; k++)
            cli_similar_offer(&similar, cases[i].typed, verbs[k]);
        CHECK_STR(similar.word != NULL ? similar.word : "", cases[i].meant);
    }
}

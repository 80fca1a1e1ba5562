/* harness.h - the smallest unit-test harness that says what was wrong.
 *
 * A test is TEST(name) { ... }, and is run because it stands there, in the order of the file. PREPARE { ... } is run before all of them, BEFORE_EACH
 * and AFTER_EACH { ... } before and after each of them. Checks print both operands and let the test go on; the program exits 1 when any failed. SKIP(reason) ends the whole program with 77. One argument
 * runs only the tests whose name contains it. */
#ifndef MALLAB_TESTS_HARNESS_H
#define MALLAB_TESTS_HARNESS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A variable whose content is released where its scope ends, by TYPE_release or, of a text, by free. It must be set before a return. */
#define OWNED(type) __attribute__((cleanup(type##_release))) struct type
#define OWNED_TEXT  __attribute__((cleanup(harness_free))) char

static inline void harness_free(char **text)
{
    free(*text);
}

struct harness_test {
    const char *name;
    void (*run)(void);
    int line;
    struct harness_test *next;
};

static struct harness_test *harness_tests; /* by their lines */
static void (*harness_prepare)(void), (*harness_before)(void), (*harness_after)(void);
static unsigned harness_failures;

static inline void harness_add(struct harness_test *test)
{
    struct harness_test **place = &harness_tests;
    while (*place != NULL && (*place)->line < test->line)
        place = &(*place)->next;
    test->next = *place;
    *place = test;
}

#define TEST(test_name)                                                                                      \
    static void test_name(void);                                                                             \
    __attribute__((constructor)) static void harness_add_##test_name(void)                                   \
    {                                                                                                        \
        static struct harness_test test = {#test_name, test_name, __LINE__, NULL};                           \
        harness_add(&test);                                                                                  \
    }                                                                                                        \
    static void test_name(void)

/* A function that is run at a certain time. */
#define HARNESS_HOOK(hook)                                                                                   \
    static void hook##_here(void);                                                                           \
    __attribute__((constructor)) static void hook##_is_set(void)                                             \
    {                                                                                                        \
        hook = hook##_here;                                                                                  \
    }                                                                                                        \
    static void hook##_here(void)
#define PREPARE     HARNESS_HOOK(harness_prepare)
#define BEFORE_EACH HARNESS_HOOK(harness_before)
#define AFTER_EACH  HARNESS_HOOK(harness_after)

#define HARNESS_FAIL(...)                                                                                    \
    do {                                                                                                     \
        harness_failures++;                                                                                  \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                                      \
        fprintf(stderr, __VA_ARGS__);                                                                        \
        fputc('\n', stderr);                                                                                 \
    } while (0)

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            HARNESS_FAIL("%s: not true: %s", __func__, #condition);                                          \
    } while (0)

/* Ends the test when it does not hold: what follows cannot be looked at. */
#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            HARNESS_FAIL("%s: not true: %s", __func__, #condition);                                          \
            return;                                                                                          \
        }                                                                                                    \
    } while (0)

#define CHECK_U64(actual, expected)                                                                          \
    do {                                                                                                     \
        const uint64_t actual_ = (uint64_t)(actual), expected_ = (uint64_t)(expected);                       \
        if (actual_ != expected_)                                                                            \
            HARNESS_FAIL("%s: %s is %" PRIu64 ", expected %" PRIu64, __func__, #actual, actual_, expected_); \
    } while (0)

#define CHECK_STR(actual, expected)                                                                          \
    do {                                                                                                     \
        const char *actual_ = (actual), *expected_ = (expected);                                             \
        if (actual_ == NULL || strcmp(actual_, expected_) != 0)                                              \
            HARNESS_FAIL("%s: %s is '%s', expected '%s'", __func__, #actual,                                 \
                         actual_ != NULL ? actual_ : "(null)", expected_);                                   \
    } while (0)

/* Of doubles; takes the header of fabs. */
#define CHECK_NEAR(actual, expected, tolerance)                                                              \
    do {                                                                                                     \
        const double near_actual = (actual), near_expected = (expected);                                     \
        if (!(fabs(near_actual - near_expected) <= (tolerance)))                                             \
            HARNESS_FAIL("%s: %s is %.12g, expected %.12g", __func__, #actual, near_actual, near_expected);  \
    } while (0)

#define SKIP(reason)                                                                                         \
    do {                                                                                                     \
        printf("skipped: %s\n", reason);                                                                     \
        exit(77);                                                                                            \
    } while (0)

int main(int argc, char **argv)
{
    if (harness_prepare != NULL)
        harness_prepare();
    for (const struct harness_test *test = harness_tests; test != NULL; test = test->next) {
        const unsigned before = harness_failures;
        if (argc > 1 && strstr(test->name, argv[1]) == NULL)
            continue;
        if (harness_before != NULL)
            harness_before();
        test->run();
        if (harness_after != NULL)
            harness_after();
        printf("%s %s\n", harness_failures == before ? "ok  " : "FAIL", test->name);
    }
    return harness_failures == 0 ? 0 : 1;
}

#endif

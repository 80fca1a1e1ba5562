/* harness.h - the smallest unit-test harness that says what was wrong.
 *
 * A test is TEST(name) { ... }; main is RUN_TESTS(T(name), T(name), ...). Checks print both operands and let the
 * test go on; the program exits 1 when any failed. SKIP(reason) ends the whole program with 77.
 * One argument runs only the tests whose name contains it. */
#ifndef MALLAB_TESTS_HARNESS_H
#define MALLAB_TESTS_HARNESS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct harness_test {
    const char *name;
    void (*run)(void);
};

static unsigned harness_failures;

#define TEST(test_name) static void test_name(void)

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

static int harness_run(const struct harness_test *tests, size_t count, int argc, char **argv)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned before = harness_failures;
        if (argc > 1 && strstr(tests[i].name, argv[1]) == NULL)
            continue;
        tests[i].run();
        printf("%s %s\n", harness_failures == before ? "ok  " : "FAIL", tests[i].name);
    }
    return harness_failures == 0 ? 0 : 1;
}

#define T(test_name)                                                                                         \
    {                                                                                                        \
#test_name, test_name                                                                                \
    }

#define RUN_TESTS(...)                                                                                       \
    int main(int argc, char **argv)                                                                          \
    {                                                                                                        \
        static const struct harness_test tests[] = {__VA_ARGS__};                                            \
        return harness_run(tests, sizeof tests / sizeof tests[0], argc, argv);                               \
    }

#endif

/* test_shim_text.c - the shim's strings and its memory of before the look-up. */
#include "shim/preload/boot.h"
#include "shim/preload/shim.h"
#include "unit/harness.h"

#include <unistd.h>

TEST(append)
{
    char text[8] = "ab";
    text_append(text, sizeof text, "cd");
    CHECK_STR(text, "abcd");
    text_append(text, sizeof text, "efghij");
    CHECK_STR(text, "abcdefg");
    text_append(text, sizeof text, "x");
    CHECK_STR(text, "abcdefg");
}

TEST(append_number)
{
    char text[32] = "";
    text_append_number(text, sizeof text, 0);
    text_append(text, sizeof text, " ");
    text_append_number(text, sizeof text, UINT64_MAX);
    CHECK_STR(text, "0 18446744073709551615");
}

TEST(base_name)
{
    CHECK_STR(text_base_name("/usr/bin/true"), "true");
    CHECK_STR(text_base_name("true"), "true");
    CHECK_STR(text_base_name("dir/"), "");
}

/* A link's or an applet's name, as long as it is one; the executable's otherwise. */
TEST(called_name)
{
    static const struct {
        const char *called, *executable, *name;
    } cases[] = {
        {"/usr/bin/redis-server", "/usr/bin/redis-check-rdb", "redis-server"},
        {"ls", "/bin/busybox", "ls"},
        {"-bash", "/usr/bin/bash", "bash"},
        {"", "/usr/bin/true", "true"},
        {"-", "/usr/bin/true", "true"},
        {"dir/", "/usr/bin/true", "true"},
        {"..", "/usr/bin/true", "true"},
        {".hidden", "/usr/bin/true", "true"},
        {"sshd: someone [priv]", "/usr/sbin/sshd", "sshd"},
        {"a\nb", "/usr/bin/true", "true"},
        {"far-too-long-a-name", "/usr/bin/true", "true"},
        {"true", "/opt/a-name-that-is-cut", "true"},
        {" ", "/opt/a-name-that-is-cut", "a-name-that-is-"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char name[16];
        text_called_name(name, sizeof name, cases[i].called, cases[i].executable);
        CHECK_STR(name, cases[i].name);
    }
}

TEST(matches)
{
    static const struct {
        const char *patterns, *name;
        bool answer;
    } cases[] = {
        {"nginx", "nginx", true},
        {"nginx", "nginx2", false},
        {"nginx", "ngin", false},
        {"nginx", "my-nginx", false},
        {"cat,nginx,ls", "nginx", true},
        {"cat,nginx,ls", "cat", true},
        {"cat,nginx,ls", "ls", true},
        {"cat,nginx,ls", "gin", false},
        {"python*", "python3.11", true},
        {"python*", "python", true},
        {"*", "anything", true},
        {"*server*", "redis-server", true},
        {"*-*-*", "a-b-c", true},
        {"*-*-*", "a-b", false},
        {"*aab", "aaaab", true},
        {"cc?", "cc1", true},
        {"cc?", "cc", false},
        {"cc?", "cc1plus", false},
        {"", "true", false},
        {"", "", false},
        {",", "true", false},
        {"a,,b", "b", true},
        {"a,,b", "", false},
        {"*,", "", true},
        {"a*b*,x", "axxbyy", true},
        {"?*?", "ab", true},
        {"?*?", "a", false},
        {"a,b", "a,b", false},
        {"x*", "y,x", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (text_matches(cases[i].patterns, cases[i].name) != cases[i].answer)
            CHECK_STR(cases[i].patterns, cases[i].name); /* says which */
}

/* The loader allocates before libc has set environ; /proc tells the same. */
TEST(environment_without_libc)
{
    char **before = environ;
    const char *path = getenv("PATH");
    CHECK_STR(text_getenv("PATH"), path);
    CHECK(text_getenv("PAT") == NULL);
    environ = NULL;
    CHECK_STR(text_getenv("PATH"), path);
    environ = before;
}

TEST(boot_memory)
{
    char *last = NULL;
    for (size_t i = 0; i < 100; i++) {
        const size_t size = i * 7 % 100 + 1, alignment = (size_t)16 << (i % 4);
        char *memory = boot_allocate(alignment, size);
        CHECK(memory != NULL);
        CHECK_U64((uintptr_t)memory % alignment, 0);
        CHECK(boot_owns(memory) && boot_owns(memory + size - 1));
        CHECK_U64(boot_usable_size(memory), size);
        CHECK(last == NULL || memory > last);
        for (size_t at = 0; at < size; at++)
            CHECK_U64(memory[at], 0);
        memset(memory, 1, size);
        last = memory;
    }
    CHECK(boot_allocate(16, BOOT_BUFFER_BYTES) == NULL);
    CHECK(boot_allocate(16, SIZE_MAX) == NULL);
    CHECK(boot_allocate(8192, 1) == NULL);
    while (boot_allocate(16, 1000) != NULL)
        ;
    CHECK(boot_allocate(16, 1000) == NULL);
    CHECK(!boot_owns(NULL));
    CHECK(!boot_owns(boot_buffer + BOOT_BUFFER_BYTES));
    CHECK(!boot_owns(boot_buffer - 1));
}

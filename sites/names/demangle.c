/* demangle.c - see demangle.h. */
#include "sites/names/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The strings of C++ by the name that everybody gives them. */
static void shorten_strings(char *name)
{
    static const char LONG[] =
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
    static const char SHORT[] = "std::string";
    char *to = name;
    for (const char *from = name, *next; *from != '\0'; from = next) {
        const bool is_string = strncmp(from, LONG, sizeof LONG - 1) == 0 &&
                               strncmp(from + sizeof LONG - 1, "::", 2) != 0;
        next = from + (is_string ? sizeof LONG - 1 : 1);
        if (is_string)
            to = (char *)memcpy(to, SHORT, sizeof SHORT - 1) + sizeof SHORT - 1;
        else
            *to++ = *from;
    }
    *to = '\0';
}

/* What compilers add for a part or a copy of a function: of one name, for a reader. */
static void cut_clones(char *name)
{
    static const char *const endings[] = {".cold",      ".part.", ".isra.",   ".constprop.",
                                          ".lto_priv.", ".llvm.", " [clone ", "@"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *found = strstr(name, endings[i]);
        if (found != NULL && found > name)
            *found = '\0';
    }
}

char *demangle(const char *symbol)
{
    const bool is_short = strlen(symbol) <= DEMANGLE_BYTES_MAX;
    char *name = is_short ? cplus_demangle(symbol, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO) : NULL;
    if (name != NULL)
        shorten_strings(name);
    else
        name = strdup(symbol);
    if (name != NULL)
        cut_clones(name);
    return name;
}

/* demangle.c - see demangle.h. */
#include "sites/names/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUST_HASH 19u /* ::h and 16 digits */

/* ---- C++ ------------------------------------------------------------------------------------ */

typedef char *cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

static cxa_demangle *find_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    static bool was_looked_for;
    static cxa_demangle *found;
    for (size_t i = 0; !was_looked_for && found == NULL && i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW);
        if (library != NULL)
            *(void **)&found = dlsym(library, "__cxa_demangle"); /* it stays as long as the process */
    }
    was_looked_for = true;
    return found;
}

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

/* Returns NULL where it is no name of C++. */
static char *demangle_cxx(const char *symbol)
{
    int status = 0;
    cxa_demangle *function = strncmp(symbol, "_Z", 2) == 0 ? find_demangler() : NULL;
    char *name = function != NULL ? function(symbol, NULL, NULL, &status) : NULL;
    if (name != NULL)
        shorten_strings(name);
    return name;
}

/* ---- Rust, the mangling of C++ with a hash -------------------------------------------------- */

static bool ends_with_hash(const char *name, size_t length)
{
    return length > RUST_HASH && strncmp(name + length - RUST_HASH, "::h", 3) == 0 &&
           strspn(name + length - RUST_HASH + 3, "0123456789abcdef") == RUST_HASH - 3;
}

/* $LT$ and the like become characters, `..` a `::`. In place: all become shorter. */
static void unescape_rust(char *name)
{
    static const struct {
        char escape[8], text[4];
    } ESCAPES[] = {{"$LT$", "<"},  {"$GT$", ">"},  {"$RF$", "&"},  {"$BP$", "*"},  {"$SP$", "@"},
                   {"$LP$", "("},  {"$RP$", ")"},  {"$C$", ","},   {"$u20$", " "}, {"$u7b$", "{"},
                   {"$u7d$", "}"}, {"$u5b$", "["}, {"$u5d$", "]"}, {"$u27$", "'"}, {"$u3b$", ";"},
                   {"$u2b$", "+"}, {"..", "::"},   {"_$", "$"}};
    char *to = name;
    for (const char *from = name; *from != '\0';) {
        size_t i = 0;
        while (i < sizeof ESCAPES / sizeof ESCAPES[0] &&
               strncmp(from, ESCAPES[i].escape, strlen(ESCAPES[i].escape)) != 0)
            i++;
        if (i == sizeof ESCAPES / sizeof ESCAPES[0]) {
            *to++ = *from++;
            continue;
        }
        const char *text = ESCAPES[i].text;
        from += strcmp(text, "$") == 0 ? 1 : strlen(ESCAPES[i].escape); /* an escape behind "_" comes next */
        if (strcmp(text, "$") != 0)
            to = (char *)memcpy(to, text, strlen(text)) + strlen(text);
    }
    *to = '\0';
}

/* ---- Rust, v0 (RFC 2603) -------------------------------------------------------------------- */

static bool skip_base_62(const char **at)
{
    const size_t digits = strspn(*at, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    *at += digits + 1;
    return (*at)[-1] == '_';
}

/* Read one and append it behind `before`; a closure has none. Returns false: it is none, or there is no room. */
static bool add_identifier(const char **at, const char *before, char *text, size_t size)
{
    const size_t length = strlen(text);
    char *end;
    if (**at == 's' && (++*at, !skip_base_62(at))) /* which of those that are called the same */
        return false;
    if (!isdigit((unsigned char)**at)) /* none, or in Punycode */
        return false;
    const unsigned long bytes = strtoul(*at, &end, 10);
    *at = **at == '0' ? *at + 1 : end + (*end == '_');
    if (bytes > strlen(*at) || bytes > size)
        return false;
    const int added = snprintf(text + length, size - length, "%s%.*s", before, (int)bytes, *at);
    *at += bytes;
    return added >= 0 && (size_t)added < size - length;
}

/* What is a function's path in a crate is read, `NvNtC5crate6module8function`, with arguments behind it or not. Paths through
 * types stay as they are. */
bool demangle_rust(const char *symbol, char *ret_text, size_t size)
{
    const char *at = symbol, *spaces;
    size_t depth = 0;
    if (strncmp(at, "_R", 2) != 0 || size == 0)
        return false;
    at += 2;
    const bool is_generic = *at == 'I';
    at += is_generic;
    for (spaces = at; at[0] == 'N' && isalpha((unsigned char)at[1]); at += 2)
        depth++;
    ret_text[0] = '\0';
    if (*at != 'C' || (at++, !add_identifier(&at, "", ret_text, size)))
        return false;
    for (; depth > 0; depth--) {
        const char *before = spaces[2 * depth - 1] == 'C' ? "::{closure}" : "::";
        if (!add_identifier(&at, before, ret_text, size))
            return false;
    }
    return is_generic || *at == '\0' || *at == 'C'; /* the crate that it is compiled for */
}

/* ---- all ------------------------------------------------------------------------------------ */

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
    char rust[DEMANGLE_BYTES_MAX];
    char *name = NULL;
    if (strlen(symbol) <= DEMANGLE_BYTES_MAX) {
        name = demangle_cxx(symbol);
        if (name == NULL && demangle_rust(symbol, rust, sizeof rust))
            return strdup(rust);
    }
    if (name == NULL)
        name = strdup(symbol);
    if (name == NULL)
        return NULL;
    cut_clones(name);
    const size_t length = strlen(name);
    if (ends_with_hash(name, length)) {
        name[length - RUST_HASH] = '\0';
        unescape_rust(name);
    }
    return name;
}

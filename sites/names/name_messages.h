/* name_messages.h - what mallab and mallab-names, the child that reads ELF and DWARF, tell each other.
 *
 *   request   by the child's standard input, a file: all modules with their questions
 *   reply     by its standard output: one for each frame, and for each module when it begins and when it is done
 *
 * Both are of one build, so replies are as in memory; the parent checks them like a file's. */
#ifndef MALLAB_SITES_NAMES_NAME_MESSAGES_H
#define MALLAB_SITES_NAMES_NAME_MESSAGES_H

#include "footprint/base/bytes.h"
#include "sites/names/names.h"

#define NAMES_BUILD_ID_MAX 64u
#define NAMES_PATH_MAX     4096u

struct name_question {
    uint64_t address;
    bool with_lines;
};

/* What all modules have in common. */
struct name_places {
    const char *const *directories;
    size_t directory_count;
    bool may_fetch;
    uid_t owner;
};

struct name_request {
    const struct name_places *places;
    struct names_module module;
    uint32_t number; /* of the module */
    const struct name_question *questions;
    size_t count;
};

enum name_reply_kind {
    NAME_REPLY_BEGINS,   /* of a module */
    NAME_REPLY_FUNCTION, /* the first frame of a question; what was told of it before does not hold */
    NAME_REPLY_INLINED,  /* a further one of the same question */
    NAME_REPLY_DONE,     /* of a module: line is its state */
};

#define NAME_REPLY_NAMED 1u /* flags of a frame */

/* Followed by the function's name and the file's, without zeroes. */
struct name_reply {
    uint32_t module, question; /* question: which of the module's */
    uint64_t start;
    uint32_t line;
    uint16_t function_bytes, file_bytes; /* at most NAMES_TEXT_MAX */
    uint8_t kind, flags;
};

/* name_places_put, name_request_put - append to a message; places once, before all requests.
 * Returns   false: no memory. */
bool name_places_put(struct bytes *message, const struct name_places *places);
bool name_request_put(struct bytes *message, const struct name_request *request);

/* name_places_get, name_request_get - read the next one. Texts and build ids are the message's; arrays are to be freed.
 * Returns   false: no memory, or no such message; at the end of the message, too. */
bool name_places_get(struct cursor *message, struct name_places *ret);
bool name_request_get(struct cursor *message, struct name_request *ret);

#endif

/* name_messages.c - see names.h. */
#include "sites/names/names.h"

#include <stdlib.h>

static bool add(struct bytes *message, const void *bytes, size_t count)
{
    const size_t needed = message->size + count;
    if (needed > message->capacity && !bytes_reserve(message, 2 * needed))
        return false;
    if (count > 0)
        memcpy(message->at + message->size, bytes, count);
    message->size = needed;
    return true;
}

static bool add_number(struct bytes *message, uint64_t number)
{
    uint8_t bytes[VARINT_BYTES_MAX];
    return add(message, bytes, (size_t)(put_varint(bytes, number) - bytes));
}

/* Adds a text with its zero, so that the reader need not copy it. */
static bool add_text(struct bytes *message, const char *text)
{
    return add_number(message, strlen(text) + 1) && add(message, text, strlen(text) + 1);
}

bool name_places_put(struct bytes *message, const struct name_places *places)
{
    bool is_added = add_number(message, places->may_fetch) && add_number(message, places->owner) &&
                    add_number(message, places->directory_count);
    for (size_t i = 0; is_added && i < places->directory_count; i++)
        is_added = add_text(message, places->directories[i]);
    return is_added;
}

bool name_request_put(struct bytes *message, const struct name_request *request)
{
    const struct names_module *module = &request->module;
    bool is_added = add_number(message, request->number) && add_number(message, module->kind) &&
                    add_text(message, module->path != NULL ? module->path : "") &&
                    add_number(message, module->build_id_bytes) &&
                    add(message, module->build_id, module->build_id_bytes) &&
                    add_number(message, request->count);
    for (size_t i = 0; is_added && i < request->count; i++)
        is_added = add_number(message, request->questions[i].address) &&
                   add_number(message, request->questions[i].with_lines);
    return is_added;
}

static const uint8_t *get_bytes(struct cursor *message, uint64_t count)
{
    const uint8_t *at = message->at;
    if (message->bad || count > (uint64_t)(message->end - message->at)) {
        message->bad = true;
        return NULL;
    }
    message->at += count;
    return at;
}

static const char *get_text(struct cursor *message)
{
    const uint64_t count = get_varint(message);
    const char *text = (const char *)get_bytes(message, count);
    if (count > 0 && text != NULL && text[count - 1] == '\0')
        return text;
    message->bad = true;
    return "";
}

bool name_places_get(struct cursor *message, struct name_places *ret)
{
    const bool may_fetch = get_varint(message) != 0;
    const uid_t owner = (uid_t)get_varint(message);
    const uint64_t count = get_varint(message);
    const char **directories = count <= (uint64_t)(message->end - message->at)
                                   ? calloc(count + 1, sizeof *directories)
                                   : NULL;
    for (uint64_t i = 0; directories != NULL && i < count; i++)
        directories[i] = get_text(message);
    if (directories == NULL || message->bad) {
        free(directories);
        return false;
    }
    *ret = (struct name_places){
        .directories = directories, .directory_count = count, .may_fetch = may_fetch, .owner = owner};
    return true;
}

bool name_request_get(struct cursor *message, struct name_request *ret)
{
    struct name_request request = {.number = (uint32_t)get_varint(message)};
    struct names_module *module = &request.module;
    module->kind = get_varint(message) == NAMES_JIT ? NAMES_JIT : NAMES_FILE;
    module->path = get_text(message);
    module->build_id_bytes = get_varint(message);
    module->build_id = get_bytes(message, module->build_id_bytes);
    request.count = get_varint(message);
    if (message->bad || module->build_id_bytes > NAMES_BUILD_ID_MAX ||
        request.count > (uint64_t)(message->end - message->at))
        return false;
    struct name_question *questions = calloc(request.count + 1, sizeof *questions);
    for (size_t i = 0; questions != NULL && i < request.count; i++) {
        questions[i].address = get_varint(message);
        questions[i].with_lines = get_varint(message) != 0;
    }
    request.questions = questions;
    if (questions == NULL || message->bad) {
        free(questions);
        return false;
    }
    *ret = request;
    return true;
}

/* list.c - parse lists of threads, and ask them. */
#include "convert/select/list.h"

#include <stdlib.h>
#include <string.h>

#include "convert/convert.h"

static bool take_number(const char **at, const char *end, uint32_t *ret_number)
{
    const char *begin = *at;
    uint64_t number = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        number = number * 10 + (uint64_t)(**at - '0');
        if (number > UINT32_MAX)
            return false;
    }
    *ret_number = (uint32_t)number;
    return *at > begin;
}

/* Returns NULL, or what is wrong. */
static const char *parse_item(const char *at, const char *end, struct conv_list_item *ret_item)
{
    const size_t length = (size_t)(end - at);
    *ret_item = (struct conv_list_item){0};
    if (length == 4 && memcmp(at, "main", 4) == 0) {
        ret_item->main = true;
        return NULL;
    }
    if (length == 0)
        return "an item of the list is empty";
    if (!take_number(&at, end, &ret_item->first))
        return "threads are ids, ranges FIRST-LAST of them, 'main' or 'all'";
    ret_item->last = ret_item->first;
    if (at < end && *at == '-') {
        at++;
        if (!take_number(&at, end, &ret_item->last) || at < end)
            return "a range of threads is FIRST-LAST";
        if (ret_item->last < ret_item->first)
            return "a range of threads ends before it begins";
    }
    return at == end ? NULL : "threads are ids, ranges FIRST-LAST of them, 'main' or 'all'";
}

const char *conv_list_parse(const char *text, struct conv_list *ret_list)
{
    struct conv_list list = {0};
    const char *wrong = NULL;
    bool all = false;
    size_t capacity = 1;
    for (const char *at = text; *at != '\0'; at++)
        capacity += *at == ',';
    if (capacity > CONV_LIST_MAX)
        return "too many items";
    list.items = calloc(capacity, sizeof *list.items);
    if (list.items == NULL)
        return "no memory for the list";
    for (const char *at = text; wrong == NULL; at++) {
        const char *end = at + strcspn(at, ",");
        if (end - at == 3 && memcmp(at, "all", 3) == 0)
            all = true;
        else
            wrong = parse_item(at, end, &list.items[list.count++]);
        at = end;
        if (*at == '\0')
            break;
    }
    if (wrong != NULL) {
        free(list.items);
        return wrong;
    }
    if (all)
        list.count = 0;
    *ret_list = list;
    return NULL;
}

void conv_list_release(struct conv_list *list)
{
    free(list->items);
    *list = (struct conv_list){0};
}

bool conv_list_takes(struct conv_list *list, uint32_t thread_id, bool is_main)
{
    bool taken = false;
    for (size_t i = 0; i < list->count; i++) {
        struct conv_list_item *item = &list->items[i];
        if (item->main ? !is_main : thread_id < item->first || thread_id > item->last)
            continue;
        item->met = true;
        taken = true;
    }
    return taken;
}

const char *conv_threads_check(const char *list)
{
    struct conv_list parsed;
    const char *wrong = conv_list_parse(list, &parsed);
    if (wrong == NULL)
        conv_list_release(&parsed);
    return wrong;
}

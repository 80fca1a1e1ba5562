/* list.c - parse lists of threads, and ask them. */
#include "convert/select/list.h"

#include <stdlib.h>
#include <string.h>

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

/* Check each item, and keep it where there is a list. Returns NULL, or what is wrong. */
static const char *parse_items(const char *text, struct conv_list *list, bool *ret_all)
{
    const char *wrong = NULL;
    *ret_all = false;
    for (const char *at = text; wrong == NULL; at++) {
        const char *end = at + strcspn(at, ",");
        struct conv_list_item item;
        if (end - at == 3 && memcmp(at, "all", 3) == 0)
            *ret_all = true;
        else if ((wrong = parse_item(at, end, &item)) == NULL && list != NULL)
            list->items[list->count++] = item;
        at = end;
        if (*at == '\0')
            break;
    }
    return wrong;
}

static size_t count_items(const char *text)
{
    size_t count = 1;
    for (const char *at = text; *at != '\0'; at++)
        count += *at == ',';
    return count;
}

const char *conv_list_parse(const char *text, struct conv_list *ret_list)
{
    struct conv_list list = {0};
    const char *wrong;
    bool all;
    if (count_items(text) > CONV_LIST_MAX)
        return "too many items";
    list.items = calloc(count_items(text), sizeof *list.items);
    if (list.items == NULL)
        return "no memory for the list";
    wrong = parse_items(text, &list, &all);
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

/* Without memory: what is wrong is always the list. */
const char *conv_threads_check(const char *list)
{
    bool all;
    return count_items(list) > CONV_LIST_MAX ? "too many items" : parse_items(list, NULL, &all);
}

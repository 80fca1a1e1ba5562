/* list.h - lists of threads as users write them: "main,4711,4720-4730". Private to select/. */
#ifndef MALLAB_CONVERT_SELECT_LIST_H
#define MALLAB_CONVERT_SELECT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONV_LIST_MAX 4096u /* items of a list */

/* Thread ids first..last, or the main thread. */
struct conv_list_item {
    uint32_t first, last;
    bool main;
    bool met; /* a thread of it was seen */
};

struct conv_list {
    struct conv_list_item *items;
    size_t count;
};

/* conv_list_parse - items between commas: ID, ID-ID, "main".
 * ret_list  the caller's: conv_list_release. "all" among them, alone or not, gives an empty list.
 * Returns   NULL, or what is wrong, static; nothing is to be released then. */
const char *conv_list_parse(const char *text, struct conv_list *ret_list);
void conv_list_release(struct conv_list *list);

/* conv_list_takes - whether a thread is meant; every item that means it counts as met. */
bool conv_list_takes(struct conv_list *list, uint32_t thread_id, bool is_main);

/* conv_threads_check - whether a list of threads can be meant. Returns NULL, or what is wrong with it. Static. */
const char *conv_threads_check(const char *list);

#endif

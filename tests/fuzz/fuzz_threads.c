/* fuzz_threads.c - any text as a list of threads: what is taken can be asked, what is refused says why. */
#include <stdlib.h>
#include <string.h>

#include "convert/convert.h"
#include "convert/select/list.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    struct conv_list list;
    const char *wrong;
    FUZZ_CHECK(text != NULL);
    memcpy(text, bytes, size);
    text[size] = '\0';
    wrong = conv_list_parse(text, &list);
    FUZZ_CHECK((wrong == NULL) == (conv_threads_check(text) == NULL));
    if (wrong == NULL) {
        bool any = list.count == 0;
        for (size_t i = 0; i < list.count; i++) {
            FUZZ_CHECK(list.items[i].main || list.items[i].first <= list.items[i].last);
            any = conv_list_takes(&list, list.items[i].last, list.items[i].main) || any;
            FUZZ_CHECK(list.items[i].met);
        }
        FUZZ_CHECK(any);
        conv_list_release(&list);
    } else {
        FUZZ_CHECK(wrong[0] != '\0');
    }
    free(text);
    return 0;
}

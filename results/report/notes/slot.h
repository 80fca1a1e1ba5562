/* slot.h - how slots are written: "{name}" of a sentence is SLOT(name). */
#ifndef MALLAB_RESULTS_REPORT_NOTES_SLOT_H
#define MALLAB_RESULTS_REPORT_NOTES_SLOT_H

#include "results/report/notes/sentences.h"

#define SLOT(name) static void say_##name(const struct res_about *about, struct res_text *words)
#define say(...)   res_text_printf(words, __VA_ARGS__)

/* SLOT_DO - a slot that is one statement. */
#define SLOT_DO(name, statement)                                                                             \
    SLOT(name)                                                                                               \
    {                                                                                                        \
        statement;                                                                                           \
    }

/* SLOT_WORD - a slot that is a text, or NULL: nothing. SLOT_IF - that is a format with its values, or nothing. */
#define SLOT_WORD(name, word)                                                                                \
    SLOT(name)                                                                                               \
    {                                                                                                        \
        const char *text = (word);                                                                           \
        if (text != NULL)                                                                                    \
            say("%s", text);                                                                                 \
    }
#define SLOT_IF(name, condition, ...)                                                                        \
    SLOT(name)                                                                                               \
    {                                                                                                        \
        if (condition)                                                                                       \
            say(__VA_ARGS__);                                                                                \
    }

#endif

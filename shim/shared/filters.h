/* filters.h - whether a system call that the program does not make itself may end it.
 *
 * seccomp(2) filters of sandboxes kill for calls that they do not know. Here are those that stand before the program begins;
 * confine.h has those that the program puts itself behind. */
#ifndef MALLAB_SHIM_SHARED_FILTERS_H
#define MALLAB_SHIM_SHARED_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* filters_let_pass - whether this process, as it began, is behind no filter, or behind the same ones as the collector. Looked at
 * once in an image.
 * tried  behind how many the collector made the call unharmed; 0: it is behind none, or did not. */
bool filters_let_pass(uint32_t tried);

/* filters_confine - whether it is known to be behind others. */
bool filters_confine(uint32_t tried);

#pragma GCC visibility pop

#endif

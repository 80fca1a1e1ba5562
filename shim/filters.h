/* filters.h - whether a system call that the program does not make itself may end it.
 *
 * seccomp(2) filters of sandboxes kill for calls that they do not know. Such a filter stands before the program begins, or
 * the program puts itself behind it; that takes prctl(PR_SET_NO_NEW_PRIVS) before, or prctl(PR_SET_SECCOMP), which is why
 * prctl is wrapped (filters.c). A program that makes these calls without libc is not seen. */
#ifndef MALLAB_SHIM_FILTERS_H
#define MALLAB_SHIM_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* filters_let_pass - whether this process, as it began, is behind no filter, or behind the same ones as the collector.
 * tried  behind how many the collector made the call unharmed; 0: it is behind none, or did not. */
bool filters_let_pass(uint32_t tried);

#pragma GCC visibility pop

#endif

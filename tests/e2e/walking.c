/* walking.c - preloaded beside glibc's malloc: whoever has it walk all that is free is ended. It takes tens of milliseconds behind a
 * workload that freed much, which no proof of a setting may cost. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

struct mallinfo2 mallinfo2(void)
{
    abort();
}

int malloc_info(int options, FILE *stream)
{
    (void)options;
    (void)stream;
    abort();
}

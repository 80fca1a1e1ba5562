/* still.c - allocates a little and says so; also linked statically, where no shim can be preloaded. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    for (int i = 1; i <= 100; i++) {
        char *volatile object = malloc((size_t)i);
        free(object);
    }
    puts("still here");
    return 0;
}

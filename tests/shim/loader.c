/* loader.c - a C program without libstdc++ that loads plugin.cc's library privately. Argument: its path. */
#include <dlfcn.h>
#include <stdio.h>

/* Twice, unloading in between: nothing may be called where it no longer is. */
static int load_and_run(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*run)(void);
    if (library == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    *(void **)&run = dlsym(library, "plugin_run");
    if (run == NULL || run() != 0)
        return 2;
    printf("dlerror %s\n", dlerror() == NULL ? "none" : "set");
    return dlclose(library);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "";
    return load_and_run(path) + load_and_run(path);
}

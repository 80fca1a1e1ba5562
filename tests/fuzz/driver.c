/* driver.c - run a target over files, with any compiler: the regression test of what fuzzing found.
 *
 * Arguments are files or folders; a folder's files are taken in the order of their names. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "fuzz/target.h"

#define MEMORY_BYTES ((rlim_t)512 << 20)

static unsigned run_file(const char *path)
{
    struct image image = {0};
    uint8_t *exact;
    if (!image_load(&image, path)) {
        fprintf(stderr, "cannot read '%s': %s\n", path, strerror(errno));
        exit(1);
    }
    /* A copy without a spare byte, so that AddressSanitizer sees reads beyond the end. */
    exact = malloc(image.size > 0 ? image.size : 1);
    FUZZ_CHECK(exact != NULL);
    memcpy(exact, image.bytes, image.size);
    printf("%s\n", path);
    (void)fflush(stdout); /* names the culprit when the next line ends the program */
    (void)LLVMFuzzerTestOneInput(exact, image.size);
    free(exact);
    image_release(&image);
    return 1;
}

static unsigned run_folder(const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    unsigned files = 0;
    FUZZ_CHECK(count >= 0);
    for (int i = 0; i < count; i++) {
        char path[4096];
        if (entries[i]->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            files += run_file(path);
        }
        free(entries[i]);
    }
    free(entries);
    return files;
}

/* What a small file asks for is refused long before. Sanitizers map far more for themselves. */
static void bound_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(MALLAB_SANITIZED)
    const struct rlimit limit = {MEMORY_BYTES, MEMORY_BYTES};
    FUZZ_CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
#endif
}

int main(int argc, char **argv)
{
    unsigned files = 0;
    bound_memory();
    fuzz_everything = true;
    for (int i = 1; i < argc; i++) {
        struct stat stat_;
        if (stat(argv[i], &stat_) == 0 && S_ISDIR(stat_.st_mode))
            files += run_folder(argv[i]);
        else
            files += run_file(argv[i]);
    }
    printf("%u files\n", files);
    return files > 0 ? 0 : 1;
}

/* fuzz_pack.c - any bytes as a pack, plain and behind zstd: what is unpacked stands in its directory, under names of packs. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "convert/pack/pack_open.h"
#include "fuzz/target.h"

/* Remove what was unpacked: at most LABEL/NAME/FILE. */
static void clear(const char *directory, unsigned depth)
{
    const struct dirent *entry;
    DIR *entries = opendir(directory);
    FUZZ_CHECK(entries != NULL);
    while ((entry = readdir(entries)) != NULL) {
        char path[4096];
        struct stat facts;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        FUZZ_CHECK(snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) < (int)sizeof path);
        FUZZ_CHECK(lstat(path, &facts) == 0 && (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)));
        FUZZ_CHECK((facts.st_mode & 0077) == 0 && facts.st_nlink <= (S_ISREG(facts.st_mode) ? 1 : 1u << 20));
        if (S_ISDIR(facts.st_mode)) {
            FUZZ_CHECK(depth < 2);
            clear(path, depth + 1);
        }
        FUZZ_CHECK(remove(path) == 0);
    }
    FUZZ_CHECK(closedir(entries) == 0);
}

static void unpack(const uint8_t *bytes, size_t size)
{
    static struct conv_error error;
    struct conv_pack pack = {0};
    const char *input = fuzz_input(bytes, size);
    char directory[256];
    FUZZ_CHECK(snprintf(directory, sizeof directory, "%s.pack", fuzz_output()) < (int)sizeof directory);
    FUZZ_CHECK(mkdir(directory, 0700) == 0);
    const bool detected = conv_pack_detect(input);
    const enum fp_status status = conv_pack_open(input, directory, NULL, &pack, &error);
    FUZZ_CHECK(status != FP_OK || (detected && pack.count > 0 && pack.count <= pack.files));
    FUZZ_CHECK(status == FP_OK || error.cause.status == status);
    for (size_t i = 0; i < pack.count; i++)
        FUZZ_CHECK(strncmp(pack.items[i], directory, strlen(directory)) == 0 &&
                   access(pack.items[i], F_OK) == 0);
    conv_pack_release(&pack);
    clear(directory, 0);
    FUZZ_CHECK(rmdir(directory) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const size_t room = ZSTD_compressBound(size);
    uint8_t *packed = malloc(room);
    FUZZ_CHECK(packed != NULL);
    const size_t length = ZSTD_compress(packed, room, bytes, size, 1);
    FUZZ_CHECK(!ZSTD_isError(length));
    unpack(bytes, size);
    unpack(packed, length); /* so that what is made up reaches the tar */
    free(packed);
    return 0;
}

/* unrecorded.c - not-recorded.json of a recording's directory. */
#include "cli/unrecorded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json.h"
#include "convert/recording.h"
#include "footprint/json_read.h"
#include "results/support.h"

#define NAME "not-recorded.json" /* some CLI_WATCH_MAX objects of less than 1 KiB each */

void cli_unrecorded_keep(const struct cli_watch *watch, const char *directory)
{
    char *path = res_path_join(directory, NAME), *temporary = res_path_join(directory, NAME ".new");
    json_t *array = json_array();
    for (size_t i = 0; i < watch->found_count; i++) {
        const struct cli_unrecorded *found = &watch->found[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", cli_json_text(found->name));
        json_object_set_new(object, "pid", json_integer(found->pid));
        json_object_set_new(object, "why", cli_json_text(found->obstacle));
        json_array_append_new(array, object);
    }
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        bool written = json_dumpfd(array, fd, JSON_INDENT(2)) == 0 && write(fd, "\n", 1) == 1;
        written = close(fd) == 0 && written;
        if (!written || rename(temporary, path) != 0)
            (void)unlink(temporary); /* half a file is of no use */
    }
    json_decref(array);
    free(temporary);
    free(path);
}

json_t *cli_unrecorded_load(const char *directory)
{
    const struct fp_json_bound bound = {.text_bytes = FP_JSON_SMALL_BYTES};
    char own[CONV_PATH_BYTES];
    struct stat facts;
    json_t *array = NULL;
    conv_recording_directory(directory, own);
    char *path = res_path_join(own, NAME);
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
        (void)fp_json_read(fd, &bound, &array, NULL); /* NULL stays */
    if (fd >= 0)
        (void)close(fd); /* only read from */
    free(path);
    for (size_t i = json_is_array(array) ? json_array_size(array) : 0; i-- > 0;) {
        const json_t *object = json_array_get(array, i);
        if (!json_is_string(json_object_get(object, "name")) ||
            !json_is_string(json_object_get(object, "why")) ||
            !json_is_integer(json_object_get(object, "pid")))
            json_array_remove(array, i);
    }
    if (json_is_array(array))
        return array;
    json_decref(array);
    return json_array();
}

char *cli_unrecorded_words(const json_t *object)
{
    char *name = res_text_plain(json_string_value(json_object_get(object, "name")));
    char *why = res_text_plain(json_string_value(json_object_get(object, "why")));
    const json_int_t pid = json_integer_value(json_object_get(object, "pid"));
    char *words = pid > 0 ? res_printf("'%s' (process %lld) %s", name, (long long)pid, why)
                          : res_printf("'%s' %s", name, why);
    free(name);
    free(why);
    return words;
}

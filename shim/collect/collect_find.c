/* collect_find.c - the segment of a recording that is there already.
 *
 * Directory, recording.json and segment are opened by fp_trusted_open, and what is found is handed on as the descriptor
 * that was checked. Whether a collector lives is told by its lock alone: the segment's own words were written where every
 * recorded process can write. */
#include "shim/collect/collect_find.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/json_read.h"

/* Returns whether an open file is a segment of this version. */
static bool read_header(int fd, struct seg_header *ret_header)
{
    return pread(fd, ret_header, sizeof *ret_header, 0) == (ssize_t)sizeof *ret_header &&
           ret_header->magic == SEG_MAGIC && ret_header->fixed.version == SEG_VERSION &&
           ret_header->fixed.collector_pid != 0;
}

json_t *segment_read_recording(int directory_fd)
{
    const int fd = fp_trusted_open(directory_fd, "recording.json", S_IFREG, FP_TRUSTED_OWN, NULL);
    const struct fp_json_bound bound = fp_json_directory_bound(directory_fd, fd);
    json_t *recording = NULL;
    if (fd < 0)
        return NULL;
    (void)fp_json_read(fd, &bound, &recording, NULL); /* NULL stays */
    (void)close(fd);                                  /* only read from */
    return recording;
}

/* A copy's shared memory is the original's, and so is what to recover. */
static bool is_copy(int directory_fd, const json_t *recording)
{
    const json_t *inode = json_object_get(json_object_get(recording, "collector"), "directory_inode");
    struct stat facts;
    return json_is_integer(inode) && fstat(directory_fd, &facts) == 0 &&
           (uint64_t)json_integer_value(inode) != facts.st_ino;
}

/* The segment that a recording.json names, and the header there; false: none, or none of ours. */
static bool find_named(int directory_fd, enum fp_trusted_use use, struct fp_segment_file *ret_file,
                       struct seg_header *ret_header)
{
    json_t *recording = segment_read_recording(directory_fd);
    const char *path = json_string_value(json_object_get(recording, "segment_path"));
    bool found = path != NULL && !is_copy(directory_fd, recording) &&
                 fp_segment_open(directory_fd, path, use, ret_file, NULL);
    if (found && !read_header(ret_file->fd, ret_header)) {
        fp_segment_close(ret_file);
        found = false;
    }
    json_decref(recording);
    return found;
}

bool segment_of_dead_collector(int directory_fd, struct fp_segment_file *ret_file,
                               struct seg_header *ret_header)
{
    if (!find_named(directory_fd, FP_TRUSTED_SHARE, ret_file, ret_header))
        return false;
    if (!fp_segment_is_held(ret_file->fd))
        return true;
    fp_segment_close(ret_file);
    return false;
}

bool segment_tell_path(const struct fp_segment_file *file, const char *directory, char *ret_path, size_t size)
{
    const int length = snprintf(ret_path, size, "%s/%s", file->shared ? FP_SEGMENT_FOLDER : directory,
                                file->name);
    return length > 0 && (size_t)length < size;
}

bool segment_of_live_collector(int directory_fd, const char *directory, char *ret_path, size_t size)
{
    struct fp_segment_file file;
    struct seg_header header;
    if (!find_named(directory_fd, FP_TRUSTED_OWN, &file, &header))
        return false;
    bool found = fp_segment_is_held(file.fd) && header.closing != SEG_CLOSED &&
                 segment_tell_path(&file, directory, ret_path, size);
    fp_segment_close(&file);
    return found;
}

/* Whether a recording still waits for what is in its dead collector's segment. */
static bool is_wanted(const struct seg_header *header, const char *name)
{
    struct fp_segment_file file;
    struct seg_header found;
    bool wanted = false;
    if (strnlen(header->directory, sizeof header->directory) == sizeof header->directory ||
        header->directory[0] != '/')
        return false;
    int directory_fd = fp_trusted_open(AT_FDCWD, header->directory, S_IFDIR, FP_TRUSTED_OWN, NULL);
    if (directory_fd < 0)
        return false;
    if (segment_of_dead_collector(directory_fd, &file, &found)) {
        wanted = strcmp(file.name, name) == 0;
        fp_segment_close(&file);
    }
    (void)close(directory_fd); /* only looked into */
    return wanted;
}

static void remove_if_stale(int folder_fd, const char *name)
{
    struct fp_segment_file file = {
        .folder_fd = folder_fd,
        .fd = fp_trusted_open(folder_fd, name, S_IFREG, FP_TRUSTED_OWN, NULL),
    };
    struct seg_header header;
    if (file.fd < 0)
        return;
    (void)snprintf(file.name, sizeof file.name, "%s", name); /* fits: it has the pattern */
    if (read_header(file.fd, &header) && !fp_segment_is_held(file.fd) && !is_wanted(&header, name))
        (void)fp_segment_remove(&file); /* another collector may have been faster */
    (void)close(file.fd);               /* only read from */
}

void segment_remove_stale(void)
{
    DIR *folder = opendir(FP_SEGMENT_FOLDER);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (fp_segment_name_is_ours(entry->d_name))
            remove_if_stale(dirfd(folder), entry->d_name);
    if (folder != NULL)
        (void)closedir(folder); /* only read */
}

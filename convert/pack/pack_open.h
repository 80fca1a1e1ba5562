/* pack_open.h - a pack unpacked: recordings and workloads of many hosts in one file, as `mallab pack` writes it.
 *
 *   pack   a tar, packed by zstd. Its first file is CONV_PACK_MARK with the version; all others are LABEL/NAME.wl,
 *          LABEL/NAME/FILE.wl, LABEL/NAME/FILE.fp and LABEL/NAME/recording.json: `tar --zstd -xf` unpacks it, too
 *   item   a recording (a directory), a workload (a file), or those of a group of processes (a directory): LABEL/NAME
 *   label  of the host, CONV_PACK_NO_LABEL where there is none. It is for people: what an item holds says whose it is
 *
 * A pack may come from anywhere. Only plain files of these names are made, by descriptors, within a directory that nobody
 * else writes to; their number, their bytes and what they unpack to are bounded (docs/notes/format.md). */
#ifndef MALLAB_CONVERT_PACK_PACK_OPEN_H
#define MALLAB_CONVERT_PACK_PACK_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/error.h"

#define CONV_PACK_ENDING   ".tar.zst"
#define CONV_PACK_MARK     "mallab-pack"
#define CONV_PACK_SCHEMA   "mallab-pack/"
#define CONV_PACK_VERSION  1
#define CONV_PACK_NO_LABEL "_"

#define CONV_PACK_FILES_MAX 65536u /* files of one pack; so many items at most */
#define CONV_PACK_PART_MAX  200u   /* bytes of each part of a name */

/* Who looks on: told how many bytes of how many are done, now and then. Returns false: stop. */
struct conv_pack_watch {
    bool (*go_on)(void *data, uint64_t done, uint64_t total); /* NULL: nobody does */
    void *data;
};

/* What was unpacked. */
struct conv_pack {
    char **items; /* paths, in the order of the pack */
    size_t count, capacity;
    uint64_t files, bytes; /* unpacked */
};

/* conv_pack_detect - whether what stands there is a pack, of any version. A pipe is not opened. */
bool conv_pack_detect(const char *path);

/* conv_pack_open - unpack all of it.
 * directory  exists, is empty and ours; "directory/LABEL/NAME" are the items. What stands there after a failure is the caller's
 *            to remove.
 * watch      may be NULL.
 * ret_pack   filled on FP_OK; end it with conv_pack_release, which accepts a zeroed one.
 * Returns    FP_OK; FP_ERR_OPEN, FP_ERR_READ (stopped by watch, too: sys_errno EINTR), FP_ERR_WRITE (error->output),
 *            FP_ERR_FOREIGN (no pack), FP_ERR_VERSION, FP_ERR_CORRUPT, FP_ERR_LIMIT, FP_ERR_MEMORY, in error. */
enum fp_status conv_pack_open(const char *path, const char *directory, const struct conv_pack_watch *watch,
                              struct conv_pack *ret_pack, struct conv_error *error);
void conv_pack_release(struct conv_pack *pack);

#endif

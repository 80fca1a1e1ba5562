/* pack_write.h - a pack written (pack_open.h says what one is): files in, one file out, whole or not at all.
 *
 * The same files under the same names give the same bytes: entries are sorted, and have no times, no owners, no modes of their
 * own. The file is of mode 0600, made exclusively and synced before it has its name. */
#ifndef MALLAB_CONVERT_PACK_PACK_WRITE_H
#define MALLAB_CONVERT_PACK_PACK_WRITE_H

#include "convert/pack/pack_open.h"

/* A file to put into a pack. Strings are borrowed. */
struct conv_pack_file {
    const char *path;  /* where it is read */
    const char *place; /* its name in the pack */
};

/* What was written. */
struct conv_packed {
    char *path;        /* of the pack, the caller's to free */
    uint64_t digest;   /* XXH64 of its bytes */
    uint64_t bytes;    /* of the pack */
    uint64_t bytes_in; /* of the files */
};

#define CONV_PACK_DIGEST '@' /* stands for the digest's first eight digits in a name */

/* conv_pack_write - write one.
 * files      are sorted by place. Regular files that are trusted (footprint/base/trusted.h) and stay as they are.
 * out_path   "-" for standard output. The last CONV_PACK_DIGEST in it is replaced where `named` says so.
 * overwrite  what stands there is replaced; else it is FP_ERR_EXISTS.
 * watch      may be NULL; total is the sum of the files' bytes.
 * Returns    FP_OK; FP_ERR_OPEN, FP_ERR_UNTRUSTED, FP_ERR_READ (stopped by watch, too: sys_errno EINTR), FP_ERR_EXISTS,
 *            FP_ERR_WRITE, FP_ERR_LIMIT, FP_ERR_MEMORY, in error. Nothing is left then. */
enum fp_status conv_pack_write(struct conv_pack_file *files, size_t count, const char *out_path, bool named,
                               bool overwrite, const struct conv_pack_watch *watch,
                               struct conv_packed *ret_packed, struct conv_error *error);

#endif

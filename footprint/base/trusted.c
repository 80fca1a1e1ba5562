/* trusted.c - open, look at what was opened, keep it or say what is against it; outputs follow links, and refuse what is no file. */
#include "footprint/base/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "footprint/base/process.h"

#define OPEN_TRIES   100u
#define OPEN_WAIT_NS 1000000
#define MARK         "trusted.mallab.owner"

static bool reads_others;
static uid_t other_user;

void fp_trusted_also_read(uid_t user)
{
    reads_others = true;
    other_user = user;
}

bool fp_trusted_mark(int directory_fd, uid_t user)
{
    return fsetxattr(directory_fd, MARK, &user, sizeof user, XATTR_CREATE) == 0;
}

bool fp_trusted_is_marked(int directory_fd, uid_t user)
{
    uid_t marked;
    return geteuid() == 0 &&
           fgetxattr(directory_fd, MARK, &marked, sizeof marked) == (ssize_t)sizeof marked && marked == user;
}

DIR *fp_trusted_list(int directory_fd)
{
    int copy = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    if (directory == NULL)
        fp_close(&copy);
    return directory;
}

bool fp_trusted_is_empty(int directory_fd)
{
    DIR *directory = fp_trusted_list(directory_fd);
    const struct dirent *entry;
    bool empty = directory != NULL;
    while (empty && (entry = readdir(directory)) != NULL)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (directory != NULL)
        (void)closedir(directory); /* only read */
    return empty;
}

char *fp_trusted_user(uid_t user, char *ret_name, size_t size)
{
    const struct passwd *entry = getpwuid(user);
    if (entry != NULL && entry->pw_name != NULL && entry->pw_name[0] != '\0')
        snprintf(ret_name, size, "%s", entry->pw_name);
    else
        snprintf(ret_name, size, "%lu", (unsigned long)user);
    return ret_name;
}

bool fp_trusted_find_user(const char *text, uid_t *ret_user)
{
    const struct passwd *entry = getpwnam(text);
    char *end;
    unsigned long long number;
    if (entry != NULL) {
        *ret_user = entry->pw_uid;
        return true;
    }
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || number >= (uid_t)-1)
        return false;
    *ret_user = (uid_t)number;
    return true;
}

static struct fp_error error_of_kind(const struct stat *facts, mode_t kind)
{
    if (kind == S_IFDIR)
        return fp_error_make(FP_ERR_OPEN, ENOTDIR, 0, "cannot open");
    if (S_ISDIR(facts->st_mode))
        return fp_error_make(FP_ERR_READ, EISDIR, 0, "cannot read");
    return fp_error_make(FP_ERR_FOREIGN, 0, 0, "not a regular file");
}

static struct fp_error error_of_distrust(enum fp_distrust distrust, const struct stat *facts)
{
    static const char *const words[] = {
        [FP_TRUSTED] = "is trusted",
        [FP_DISTRUST_KIND] = "is of another kind",
        [FP_DISTRUST_OWNER] = "belongs to another user",
        [FP_DISTRUST_WRITABLE] = "can be written to by its group or by others",
        [FP_DISTRUST_NAMES] = "has several names (hard links)",
        [FP_DISTRUST_LINK] = "is a symbolic link",
    };
    struct fp_error error = fp_error_make(FP_ERR_UNTRUSTED, 0, 0, words[distrust]);
    error.distrust = distrust;
    error.is_common = S_ISDIR(facts->st_mode) &&
                      ((facts->st_mode & S_ISVTX) != 0 || facts->st_uid != geteuid());
    (void)fp_trusted_user(facts->st_uid, error.owner, sizeof error.owner);
    return error;
}

static enum fp_distrust judge(int fd, const struct stat *facts, mode_t kind, enum fp_trusted_use use)
{
    const bool only_read = use == FP_TRUSTED_READ;
    const enum fp_distrust distrust = fp_distrust(facts, kind, geteuid(), only_read);
    if (distrust == FP_DISTRUST_OWNER && only_read && !reads_others &&
        fp_trusted_is_marked(fd, facts->st_uid))
        fp_trusted_also_read(facts->st_uid);
    if (distrust == FP_DISTRUST_OWNER && only_read && reads_others)
        return fp_distrust(facts, kind, other_user, true);
    return distrust;
}

/* Opens by the held descriptor: nobody can put another file in the place of that. While a collector looks whether anybody has its segment
 * (collect/processes.c: a lease, for a moment), the file cannot be opened without waiting. */
static int open_held(int held, int flags)
{
    const struct timespec moment = {0, OPEN_WAIT_NS};
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", held);
    int fd;
    for (unsigned tries = 0; (fd = open(name, flags)) < 0 && errno == EWOULDBLOCK && tries < OPEN_TRIES;
         tries++)
        (void)nanosleep(&moment, NULL); /* a signal only shortens it */
    return fd;
}

int fp_trusted_look(int directory_fd, const char *path, mode_t kind, int flags, struct stat *ret_facts)
{
    int fd = -1, held = openat(directory_fd, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
    if (held < 0)
        return -1;
    int error = fstat(held, ret_facts) != 0 ? errno : (ret_facts->st_mode & S_IFMT) != kind ? EINVAL : 0;
    if (error == 0) {
        fd = open_held(held, (flags & ~O_NOFOLLOW) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) /* no /proc: what is opened then is looked at again */
            fd = openat(directory_fd, path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        error = errno;
        if (fd >= 0 && (fstat(fd, ret_facts) != 0 || (ret_facts->st_mode & S_IFMT) != kind)) {
            (void)close(fd); /* only looked at */
            error = EINVAL;
            fd = -1;
        }
    }
    (void)close(held); /* only looked at */
    errno = error;
    return fd;
}

int fp_trusted_open(int directory_fd, const char *path, mode_t kind, enum fp_trusted_use use,
                    struct fp_error *ret_error)
{
    const int access = use == FP_TRUSTED_SHARE ? O_RDWR : O_RDONLY;
    struct stat facts = {0};
    const int fd = fp_trusted_look(directory_fd, path, kind, access | O_NOFOLLOW, &facts);
    struct fp_error error;
    if (fd >= 0) {
        const enum fp_distrust distrust = judge(fd, &facts, kind, use);
        if (distrust == FP_TRUSTED)
            return fd;
        error = error_of_distrust(distrust, &facts);
        (void)close(fd); /* nothing was done with it */
    } else if (errno != EINVAL) {
        error = fp_error_make(FP_ERR_OPEN, errno, 0, "cannot open");
    } else {
        error = S_ISLNK(facts.st_mode) ? error_of_distrust(FP_DISTRUST_LINK, &facts)
                                       : error_of_kind(&facts, kind);
    }
    if (ret_error != NULL)
        *ret_error = error;
    return -1;
}

/* ---- outputs --------------------------------------------------------------------------------------- */

enum fp_status fp_place(const char *path, char **ret_path)
{
    struct stat facts;
    const bool exists = lstat(path, &facts) == 0;
    if (exists && S_ISLNK(facts.st_mode)) {
        if (stat(path, &facts) != 0)
            return FP_ERR_OPEN;
        *ret_path = realpath(path, NULL);
        if (*ret_path == NULL)
            return errno == ENOMEM ? FP_ERR_MEMORY : FP_ERR_OPEN;
    } else {
        *ret_path = strdup(path);
        if (*ret_path == NULL)
            return FP_ERR_MEMORY;
    }
    if (!exists || S_ISREG(facts.st_mode))
        return FP_OK;
    free(*ret_path);
    *ret_path = NULL;
    return FP_ERR_FOREIGN;
}

bool fp_place_take(const char *temporary, const char *path, bool overwrite)
{
    if (overwrite)
        return rename(temporary, path) == 0;
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return true;
    if ((errno != EINVAL && errno != ENOSYS) || link(temporary, path) != 0)
        return false;
    (void)unlink(temporary); /* the file stands under its name; a left link does no harm */
    return true;
}

/* ---- segments --------------------------------------------------------------------------------------- */

#define PATTERN_DIGITS 16u

bool fp_segment_name_is_ours(const char *name)
{
    char begin[FP_SEGMENT_NAME_BYTES];
    const size_t length = (size_t)snprintf(begin, sizeof begin, "mallab-%u-", (unsigned)geteuid()); /* fits */
    return strncmp(name, begin, length) == 0 && strspn(name + length, "0123456789abcdef") == PATTERN_DIGITS &&
           strlen(name + length) == PATTERN_DIGITS;
}

bool fp_segment_name_make(char ret_name[FP_SEGMENT_NAME_BYTES])
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return false;
    return snprintf(ret_name, FP_SEGMENT_NAME_BYTES, "mallab-%u-%016llx", (unsigned)geteuid(),
                    (unsigned long long)number) < (int)FP_SEGMENT_NAME_BYTES;
}

/* Learn from a path which folder the segment is in and its name. False for a path that no collector of ours writes. */
static bool understand(const char *path, struct fp_segment_file *file)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    if (slash == NULL || !fp_segment_name_is_ours(slash + 1))
        return false;
    snprintf(file->name, sizeof file->name, "%s", slash + 1); /* fits: its length was checked */
    file->shared = (size_t)(slash - path) == strlen(FP_SEGMENT_FOLDER) &&
                   strncmp(path, FP_SEGMENT_FOLDER, strlen(FP_SEGMENT_FOLDER)) == 0;
    return true;
}

bool fp_segment_open(int recording_fd, const char *path, enum fp_trusted_use use,
                     struct fp_segment_file *ret_file, struct fp_error *ret_error)
{
    struct fp_segment_file file = {.folder_fd = -1, .fd = -1};
    struct fp_error error = fp_error_make(FP_ERR_FOREIGN, 0, 0, "is no segment of this user's");
    if (understand(path, &file)) {
        /* The system's folder may be reached through a link (/run/shm); ours is the directory at hand. */
        file.folder_fd = file.shared ? open(FP_SEGMENT_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                     : fcntl(recording_fd, F_DUPFD_CLOEXEC, 0);
        if (file.folder_fd < 0)
            error = fp_error_make(FP_ERR_OPEN, errno, 0, "cannot open");
        else
            file.fd = fp_trusted_open(file.folder_fd, file.name, S_IFREG, use, &error);
    }
    if (file.fd >= 0) {
        *ret_file = file;
        return true;
    }
    fp_segment_close(&file);
    if (ret_error != NULL)
        *ret_error = error;
    return false;
}

void fp_segment_close(struct fp_segment_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd); /* what was written is in memory */
    if (file->folder_fd >= 0)
        (void)close(file->folder_fd); /* only looked into */
    file->fd = file->folder_fd = -1;
}

bool fp_segment_is_held(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return true;
    (void)flock(fd, LOCK_UN); /* it was free, and is again */
    return false;
}

bool fp_segment_remove(const struct fp_segment_file *file)
{
    struct stat opened, named;
    return fp_segment_name_is_ours(file->name) && fstat(file->fd, &opened) == 0 &&
           fstatat(file->folder_fd, file->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino &&
           unlinkat(file->folder_fd, file->name, 0) == 0;
}

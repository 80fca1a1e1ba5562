/* Shows: the door lets in what is ours, of the kind wanted, nobody else's to write to, and of one name; says what is against
 * the rest; waits for nobody; and a segment is opened, and removed, only where a collector of ours puts one. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "footprint/base/trusted.h"
#include "footprint/fp/footprint.h"
#include "unit/harness.h"
#include "unit/scratch.h"

#define NOBODY 65534

static struct fp_error error;

static bool opens(const char *path, mode_t kind, enum fp_trusted_use use)
{
    const int fd = fp_trusted_open(AT_FDCWD, path, kind, use, &error);
    if (fd >= 0)
        CHECK(close(fd) == 0);
    return fd >= 0;
}

static const char *new_file(const char *name, mode_t mode)
{
    const char *path = scratch_path(name);
    scratch_write(path, "x", 1);
    CHECK(chmod(path, mode) == 0);
    return path;
}

static void check_words(const char *path, const char *expected)
{
    char text[300];
    fp_error_text(&error, path, text, sizeof text);
    if (strstr(text, expected) == NULL)
        CHECK_STR(text, expected);
}

TEST(what_is_ours_is_opened)
{
    const char *file = new_file("ours", 0600);
    CHECK(opens(file, S_IFREG, FP_TRUSTED_READ) && opens(file, S_IFREG, FP_TRUSTED_OWN));
    CHECK(opens(file, S_IFREG, FP_TRUSTED_SHARE));
    CHECK(opens(new_file("public", 0644), S_IFREG, FP_TRUSTED_OWN));
    CHECK(opens(scratch_directory, S_IFDIR, FP_TRUSTED_OWN));
    CHECK(opens("/usr", S_IFDIR, FP_TRUSTED_READ)); /* root's may be read by all */
    if (geteuid() != 0)
        CHECK(!opens("/usr", S_IFDIR, FP_TRUSTED_OWN) && error.distrust == FP_DISTRUST_OWNER);
}

TEST(what_others_may_write_to_is_refused)
{
    CHECK(!opens(new_file("group", 0660), S_IFREG, FP_TRUSTED_READ));
    CHECK_U64(error.status, FP_ERR_UNTRUSTED);
    check_words("group",
                "can be written to by its group or by others; if you trust what is in it, 'chmod go-w' it");
    CHECK(!opens(new_file("others", 0602), S_IFREG, FP_TRUSTED_READ));
    CHECK_U64(error.distrust, FP_DISTRUST_WRITABLE);
    CHECK(mkdir(scratch_path("open"), 0700) == 0 && chmod(scratch_path("open"), 01777) == 0);
    CHECK(!opens(scratch_path("open"), S_IFDIR, FP_TRUSTED_READ));
    CHECK_U64(error.distrust, FP_DISTRUST_WRITABLE);
}

/* Who writes to a pipe is let go on by whoever opens it to read, and ended when that one leaves. */
TEST(nothing_happens_to_a_pipe)
{
    const char *path = scratch_path("looked-at");
    CHECK(mkfifo(path, 0600) == 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    char event[512];
    CHECK(reader >= 0 && watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
    CHECK(!opens(path, S_IFREG, FP_TRUSTED_READ) && error.status == FP_ERR_FOREIGN);
    CHECK(!opens(path, S_IFDIR, FP_TRUSTED_READ) && !opens(path, S_IFREG, FP_TRUSTED_SHARE));
    CHECK(read(watch, event, sizeof event) < 0 && errno == EAGAIN);
    CHECK(close(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) == 0);
    CHECK(read(watch, event, sizeof event) > 0); /* so the watch works */
    CHECK(close(watch) == 0 && close(reader) == 0);
}

TEST(links_and_second_names_are_refused)
{
    const char *file = new_file("named", 0600);
    CHECK(symlink("named", scratch_path("link")) == 0);
    CHECK(!opens(scratch_path("link"), S_IFREG, FP_TRUSTED_READ));
    check_words("link", "is a symbolic link; name what it points to");
    CHECK(link(file, scratch_path("second")) == 0);
    CHECK(!opens(file, S_IFREG, FP_TRUSTED_READ));
    check_words("named", "has several names (hard links); copy it");
    CHECK(unlink(scratch_path("second")) == 0);
    CHECK(opens(file, S_IFREG, FP_TRUSTED_READ));
}

TEST(other_kinds_are_refused_at_once)
{
    CHECK(mkfifo(scratch_path("fifo"), 0600) == 0);
    CHECK(!opens(scratch_path("fifo"), S_IFREG, FP_TRUSTED_READ)); /* there is nobody at its other end */
    CHECK_U64(error.status, FP_ERR_FOREIGN);
    CHECK(!opens(scratch_path("fifo"), S_IFREG, FP_TRUSTED_SHARE));
    CHECK(!opens("/dev/null", S_IFREG, FP_TRUSTED_READ));
    CHECK(!opens(scratch_directory, S_IFREG, FP_TRUSTED_READ));
    CHECK(error.status == FP_ERR_READ && error.sys_errno == EISDIR);
    CHECK(!opens(new_file("file", 0600), S_IFDIR, FP_TRUSTED_READ));
    CHECK(error.status == FP_ERR_OPEN && error.sys_errno == ENOTDIR);
    CHECK(!opens(scratch_path("absent"), S_IFREG, FP_TRUSTED_READ));
    CHECK(error.status == FP_ERR_OPEN && error.sys_errno == ENOENT);
}

TEST(another_users_is_only_read_and_only_when_asked)
{
    const char *file = new_file("theirs", 0600);
    struct fp_reader *reader;
    char name[40], words[160];
    uid_t found;
    if (geteuid() != 0 || chown(file, NOBODY, NOBODY) != 0)
        return; /* nobody else's files can be made, or there is nobody else in this namespace */
    CHECK(!opens(file, S_IFREG, FP_TRUSTED_READ));
    CHECK_U64(error.distrust, FP_DISTRUST_OWNER);
    fp_trusted_user(NOBODY, name, sizeof name);
    snprintf(words, sizeof words, "belongs to user %s; read it as that user, or with --trust-owner %s", name,
             name);
    check_words("theirs", words);
    CHECK_U64(fp_reader_open(file, &error, &reader), FP_ERR_UNTRUSTED);
    CHECK(fp_trusted_find_user("65534", &found) && found == NOBODY);
    CHECK(fp_trusted_find_user("root", &found) && found == 0);
    CHECK(!fp_trusted_find_user("no such user", &found) && !fp_trusted_find_user("", &found));
    CHECK(!fp_trusted_find_user("12x", &found) && !fp_trusted_find_user("4294967295", &found));
    fp_trusted_also_read(NOBODY);
    CHECK(opens(file, S_IFREG, FP_TRUSTED_READ));
    CHECK(!opens(file, S_IFREG, FP_TRUSTED_OWN) && !opens(file, S_IFREG, FP_TRUSTED_SHARE));
    CHECK(chown(file, 12345, 0) == 0);
    CHECK(!opens(file, S_IFREG, FP_TRUSTED_READ)); /* a third one's */
    CHECK(chown(file, NOBODY, 0) == 0 && chmod(file, 0620) == 0);
    CHECK(!opens(file, S_IFREG, FP_TRUSTED_READ));
}

/* ---- segments ---------------------------------------------------------------------------------------- */

TEST(only_names_of_a_collector_of_ours_are_segments)
{
    char name[FP_SEGMENT_NAME_BYTES], other[80];
    CHECK(fp_segment_name_make(name) && fp_segment_name_is_ours(name));
    snprintf(other, sizeof other, "%s0", name);
    CHECK(!fp_segment_name_is_ours(other));
    snprintf(other, sizeof other, "mallab-%u-0123456789abcdef", (unsigned)geteuid() + 1);
    CHECK(!fp_segment_name_is_ours(other));
    snprintf(other, sizeof other, "mallab-%u-0123456789abcdeg", (unsigned)geteuid());
    CHECK(!fp_segment_name_is_ours(other));
    CHECK(!fp_segment_name_is_ours("") && !fp_segment_name_is_ours("passwd"));
}

/* A file of that name in the directory, and the name in full. */
static int new_segment(int directory_fd, const char *folder, char *ret_name, char *ret_path, size_t size)
{
    CHECK(fp_segment_name_make(ret_name));
    snprintf(ret_path, size, "%s/%s", folder, ret_name);
    int fd = openat(directory_fd, ret_name, O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0);
    return fd;
}

TEST(a_segment_is_looked_for_beside_its_recording)
{
    char name[FP_SEGMENT_NAME_BYTES], path[200], outside[300];
    struct fp_segment_file file;
    CHECK(mkdir(scratch_path("recording"), 0700) == 0);
    int directory = open(scratch_path("recording"), O_RDONLY | O_DIRECTORY);
    int fd = new_segment(directory, "/where/it/was/made", name, path, sizeof path);
    CHECK(fp_segment_open(directory, path, FP_TRUSTED_OWN, &file, &error));
    CHECK(!file.shared && !fp_segment_is_held(file.fd));
    CHECK(flock(fd, LOCK_EX) == 0);
    CHECK(fp_segment_is_held(file.fd));
    CHECK(flock(fd, LOCK_UN) == 0);
    /* Another file of that name now: it stays. */
    CHECK(renameat(directory, name, directory, "kept") == 0);
    scratch_write(scratch_path("recording/other"), "x", 1);
    CHECK(renameat(directory, "other", directory, name) == 0);
    CHECK(!fp_segment_remove(&file) && faccessat(directory, name, F_OK, 0) == 0);
    CHECK(renameat(directory, "kept", directory, name) == 0);
    CHECK(fp_segment_remove(&file) && faccessat(directory, name, F_OK, 0) != 0);
    fp_segment_close(&file);
    /* A path that leads elsewhere leads nowhere. */
    scratch_write(scratch_path(name), "x", 1);
    CHECK(realpath(scratch_path(name), outside) != NULL);
    CHECK(!fp_segment_open(directory, outside, FP_TRUSTED_OWN, &file, &error));
    CHECK(!fp_segment_open(directory, "/etc/passwd", FP_TRUSTED_OWN, &file, &error));
    CHECK(!fp_segment_open(directory, name, FP_TRUSTED_OWN, &file, &error));
    CHECK(!fp_segment_open(directory, NULL, FP_TRUSTED_OWN, &file, &error));
    CHECK(mkfifoat(directory, name, 0600) == 0);
    CHECK(!fp_segment_open(directory, path, FP_TRUSTED_SHARE, &file, &error));
    CHECK_U64(error.status, FP_ERR_FOREIGN);
    CHECK(unlinkat(directory, name, 0) == 0 && symlinkat(outside, directory, name) == 0);
    CHECK(!fp_segment_open(directory, path, FP_TRUSTED_SHARE, &file, &error));
    CHECK_U64(error.distrust, FP_DISTRUST_LINK);
    CHECK(close(fd) == 0 && close(directory) == 0);
}

/* test_convert_pack.c - packs: the same files give the same bytes and come back as they were; what hostile archives try (names
 * that lead out, links, devices, the same name twice, bombs, cuts) is refused and leaves nothing outside the directory. */
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "convert/open/input.h"
#include "convert/pack/pack_open.h"
#include "convert/pack/pack_write.h"
#include "unit/harness.h"
#include "unit/scratch.h"

static struct conv_error error;

/* ---- archives -------------------------------------------------------------------------------- */

struct entry {
    const char *name, *text, *link; /* text NULL: `size` zeroes */
    unsigned type;                  /* 0: a regular file */
    bool hard;
    int64_t size;
};

static void put(struct archive *archive, const struct entry *entry)
{
    struct archive_entry *made = archive_entry_new();
    const size_t length = entry->text != NULL ? strlen(entry->text) : 0;
    static char zeroes[65536];
    int64_t left = entry->text == NULL ? entry->size : 0;
    archive_entry_copy_pathname(made, entry->name);
    archive_entry_set_filetype(made, entry->type != 0 ? entry->type : AE_IFREG);
    archive_entry_set_perm(made, 0777);
    archive_entry_set_size(made, entry->text != NULL ? (int64_t)length : entry->size);
    if (entry->link != NULL && entry->hard)
        archive_entry_copy_hardlink(made, entry->link);
    else if (entry->link != NULL)
        archive_entry_copy_symlink(made, entry->link);
    if (archive_write_header(archive, made) < ARCHIVE_WARN)
        abort();
    if (length > 0 && archive_write_data(archive, entry->text, length) != (la_ssize_t)length)
        abort();
    while (left > 0) {
        const size_t some = left < (int64_t)sizeof zeroes ? (size_t)left : sizeof zeroes;
        if (archive_write_data(archive, zeroes, some) != (la_ssize_t)some)
            abort();
        left -= (int64_t)some;
    }
    archive_entry_free(made);
}

/* A pack of any content; mark NULL: the right one, "": none. */
static const char *packed(const char *mark, const struct entry *entries, size_t count)
{
    const char *path = scratch_path("any.tar.zst");
    struct archive *archive = archive_write_new();
    const struct entry first = {.name = CONV_PACK_MARK, .text = mark != NULL ? mark : "mallab-pack/1\n"};
    if (archive == NULL || archive_write_add_filter_zstd(archive) != ARCHIVE_OK ||
        archive_write_set_format_gnutar(archive) != ARCHIVE_OK ||
        archive_write_open_filename(archive, path) != ARCHIVE_OK)
        abort();
    if (mark == NULL || *mark != '\0')
        put(archive, &first);
    for (size_t i = 0; i < count; i++)
        put(archive, &entries[i]);
    if (archive_write_free(archive) != ARCHIVE_OK)
        abort();
    return path;
}

/* A new empty directory. */
static const char *room(void)
{
    static unsigned number;
    char name[32];
    snprintf(name, sizeof name, "room%u", number++);
    const char *path = scratch_path(name);
    if (mkdir(path, 0700) != 0)
        abort();
    return path;
}

static enum fp_status opened(const char *path)
{
    struct conv_pack pack = {0};
    const enum fp_status status = conv_pack_open(path, room(), NULL, &pack, &error);
    conv_pack_release(&pack);
    return status;
}

#define OPENED(...)                                                                                          \
    opened(packed(NULL, (const struct entry[]){__VA_ARGS__},                                                 \
                  sizeof((const struct entry[]){__VA_ARGS__}) / sizeof(struct entry)))

/* ---- there and back -------------------------------------------------------------------------- */

static void check_file(const char *directory, const char *name, mode_t mode, const char *text)
{
    char path[1024];
    struct stat facts;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    char *bytes = scratch_read(path, &size);
    CHECK_STR(bytes, text);
    CHECK(stat(path, &facts) == 0 && (facts.st_mode & 07777) == mode);
    free(bytes);
}

static struct conv_packed written(const char *name, bool named, bool overwrite, enum fp_status expected)
{
    static char paths[3][512];
    const char *const texts[] = {"{}", "first", "second"}, *const names[] = {"recording.json", "a.1.fp",
                                                                             "b.wl"};
    struct conv_pack_file files[] = {
        {paths[2], "web2/b.wl"}, {paths[1], "web1/rec/a.1.fp"}, {paths[0], "web1/rec/recording.json"}};
    struct conv_packed packed = {0};
    for (size_t i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s", scratch_path(names[i]));
        scratch_write(paths[i], texts[i], strlen(texts[i]));
    }
    CHECK_U64(conv_pack_write(files, 3, name, named, overwrite, NULL, &packed, &error), expected);
    return packed;
}

TEST(what_is_packed_comes_back)
{
    struct conv_packed one = written(scratch_path("x-@.tar.zst"), true, false, FP_OK);
    struct conv_packed other = written(scratch_path("other.tar.zst"), false, false, FP_OK);
    struct conv_pack pack = {0};
    struct stat facts;
    size_t size[2];
    char digest[16];
    CHECK_U64(one.digest, other.digest);
    snprintf(digest, sizeof digest, "x-%08llx.", (unsigned long long)(one.digest >> 32));
    CHECK(strstr(one.path, digest) != NULL);
    char *bytes = scratch_read(one.path, &size[0]), *again = scratch_read(other.path, &size[1]);
    CHECK(size[0] == size[1] && size[0] == one.bytes && memcmp(bytes, again, size[0]) == 0);
    CHECK(stat(one.path, &facts) == 0 && (facts.st_mode & 07777) == 0600);
    CHECK_U64(conv_detect(one.path), CONV_KIND_PACK);
    const char *directory = room();
    CHECK_U64(conv_pack_open(one.path, directory, NULL, &pack, &error), FP_OK);
    CHECK_U64(pack.count, 2);
    CHECK_U64(pack.files, 3);
    CHECK_U64(pack.bytes, strlen("{}firstsecond"));
    CHECK(pack.count == 2 && strstr(pack.items[0], "/web1/rec") != NULL &&
          strstr(pack.items[1], "/web2/b.wl") != NULL);
    check_file(directory, "web1/rec/recording.json", 0600, "{}");
    check_file(directory, "web1/rec/a.1.fp", 0600, "first");
    check_file(directory, "web2/b.wl", 0600, "second");
    conv_pack_release(&pack);
    free(bytes);
    free(again);
    free(one.path);
    free(other.path);
}

static bool stop(void *data, uint64_t done, uint64_t total)
{
    *(uint64_t *)data = total;
    return done == 0;
}

static size_t entries_of(const char *directory)
{
    size_t count = 0;
    DIR *entries = opendir(directory);
    while (entries != NULL && readdir(entries) != NULL)
        count++;
    if (entries != NULL)
        (void)closedir(entries);
    return count;
}

TEST(an_output_appears_whole_or_not_at_all)
{
    uint64_t total = 0;
    const struct conv_pack_watch watch = {stop, &total};
    char out[1024], input[512];
    struct conv_packed packed = {0};
    const char *directory = room();
    snprintf(out, sizeof out, "%s/a.tar.zst", directory);
    snprintf(input, sizeof input, "%s", scratch_path("b.wl"));
    scratch_write(input, "text", 4);
    struct conv_pack_file file = {input, "_/b.wl"};
    CHECK_U64(conv_pack_write(&file, 1, out, false, false, &watch, &packed, &error), FP_ERR_READ);
    CHECK_U64(error.cause.sys_errno, EINTR);
    CHECK_U64(total, 4);
    CHECK_U64(entries_of(directory), 2);
    CHECK(symlink(input, scratch_path("link.wl")) == 0);
    struct conv_pack_file link = {scratch_path("link.wl"), "_/b.wl"};
    CHECK_U64(conv_pack_write(&link, 1, out, false, false, NULL, &packed, &error), FP_ERR_UNTRUSTED);
    CHECK_U64(entries_of(directory), 2);
    scratch_write(out, "mine", 4);
    CHECK_U64(conv_pack_write(&file, 1, out, false, false, NULL, &packed, &error), FP_ERR_EXISTS);
    check_file(directory, "a.tar.zst", 0644, "mine");
}

/* ---- hostile ones ---------------------------------------------------------------------------- */

TEST(only_names_of_packs_are_taken)
{
    static const char *const BAD[] = {
        "../x.wl",
        "/x.wl",
        "a/../x.wl",
        "a/./x.wl",
        "a//x.wl",
        "a/x.wl/",
        "a/b/c/d.wl",
        "x.wl",
        "a/.x.wl",
        "a/b/.profile",
        "a/b/x.sh",
        "a/x.fp",
        "a/b/run.json",
        ".a/x.wl",
        "-a/b.wl",
        "a b/x.wl",
        "a/x\n.wl",
        "a/b/x\x1b.fp",
        "a/.wl",
        "a/b/.fp",
        "recording.json",
        "a/recording.json",
        "a/b/recording.json/x.wl",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        const enum fp_status status = OPENED({.name = BAD[i], .text = "x"});
        if (status != FP_ERR_CORRUPT)
            HARNESS_FAIL("'%s' gives status %d", BAD[i], status);
    }
    CHECK_U64(OPENED({.name = "_/x.wl", .text = "x"}), FP_OK);
    CHECK_U64(OPENED({.name = "a.b-c_D/\xc3\xa4 x/x 1.fp", .text = "x"}), FP_OK);
    char long_name[600] = "a/";
    memset(long_name + 2, 'x', 500);
    strcpy(long_name + 400, ".wl");
    CHECK_U64(OPENED({.name = long_name, .text = "x"}), FP_ERR_CORRUPT);
}

TEST(only_plain_files_are_made)
{
    CHECK_U64(OPENED({.name = "a/x.wl", .type = AE_IFLNK, .link = "/etc/passwd"}), FP_ERR_CORRUPT);
    CHECK_U64(OPENED({.name = "a/b", .type = AE_IFLNK, .link = "/tmp"}, {.name = "a/b/x.wl", .text = "x"}),
              FP_ERR_CORRUPT);
    CHECK_U64(OPENED({.name = "a/x.wl", .text = "x"}, {.name = "a/y.wl", .link = "a/x.wl", .hard = true}),
              FP_ERR_CORRUPT);
    CHECK_U64(OPENED({.name = "a/b", .type = AE_IFDIR}), FP_ERR_CORRUPT);
    CHECK_U64(OPENED({.name = "a/x.wl", .type = AE_IFIFO}), FP_ERR_CORRUPT);
    CHECK_U64(OPENED({.name = "a/x.wl", .type = AE_IFCHR}), FP_ERR_CORRUPT);
    CHECK_U64(OPENED({.name = "a/x.wl", .text = "x"}, {.name = "a/x.wl", .text = "y"}), FP_ERR_CORRUPT);
    CHECK_U64(OPENED({.name = "a/x.wl", .text = "x"}, {.name = "a/x.wl/y.wl", .text = "y"}), FP_ERR_CORRUPT);
    CHECK_U64(OPENED({.name = "a/b/x.wl", .text = "x"}, {.name = "a/b", .text = "y"}), FP_ERR_CORRUPT);
}

/* Somebody who is quicker than we are: what stands there already is not followed, and not written to. */
TEST(what_stands_there_is_left_alone)
{
    struct conv_pack pack = {0};
    char path[1024];
    const char *directory = room(), *elsewhere = room();
    const char *made = packed(NULL, (const struct entry[]){{.name = "a/b/x.wl", .text = "x"}}, 1);
    snprintf(path, sizeof path, "%s/a", directory);
    char *target = realpath(elsewhere, NULL);
    CHECK(symlink(target, path) == 0);
    CHECK(conv_pack_open(made, directory, NULL, &pack, &error) != FP_OK);
    CHECK_U64(entries_of(elsewhere), 2);
    free(target);
}

TEST(bombs_and_cuts_are_refused)
{
    const struct entry large = {.name = "a/x.wl", .size = (int64_t)400 << 20};
    CHECK_U64(opened(packed(NULL, &large, 1)), FP_ERR_LIMIT);
    size_t size;
    char *bytes = scratch_read(
        packed(NULL, (const struct entry[]){{.name = "a/x.wl", .text = "some text"}}, 1), &size);
    for (size_t cut = 0; cut + 1 < size; cut += 1 + cut / 16) {
        const char *path = scratch_path("cut.tar.zst");
        scratch_write(path, bytes, cut);
        CHECK(opened(path) != FP_OK);
    }
    free(bytes);
}

TEST(what_is_no_pack_is_told_apart)
{
    const struct entry file = {.name = "a/x.wl", .text = "x"};
    CHECK_U64(opened(packed("", &file, 1)), FP_ERR_FOREIGN);
    CHECK_U64(opened(packed("another/1\n", &file, 1)), FP_ERR_FOREIGN);
    const char *newer = packed("mallab-pack/2\n", &file, 1);
    CHECK_U64(opened(newer), FP_ERR_VERSION);
    CHECK_U64(conv_detect(newer), CONV_KIND_PACK);
    CHECK_U64(opened(packed("mallab-pack/1x\n", &file, 1)), FP_ERR_VERSION);
    CHECK_U64(opened(packed(NULL, NULL, 0)), FP_ERR_CORRUPT);
    CHECK_U64(opened(scratch_path("none.tar.zst")), FP_ERR_OPEN);
    CHECK_U64(opened("/dev/null"), FP_ERR_FOREIGN);
    scratch_write(scratch_path("text"), "mallab-pack", 11);
    CHECK_U64(opened(scratch_path("text")), FP_ERR_FOREIGN);
}

RUN_TESTS(T(what_is_packed_comes_back), T(an_output_appears_whole_or_not_at_all),
          T(only_names_of_packs_are_taken), T(only_plain_files_are_made), T(what_stands_there_is_left_alone),
          T(bombs_and_cuts_are_refused), T(what_is_no_pack_is_told_apart))

/* Shows: files that were committed once still read as exactly the text beside them; today's writers, given what was read,
 * still make the same bytes; every damaged file of invalid/ is refused with the status, place and words that
 * invalid/expected.txt lists, and is what its recipe makes of a valid one.
 *
 * MALLAB_GOLDEN_UPDATE=1 rewrites everything in the source tree. A change that this shows in the valid files is a
 * decision about the format: docs/contributing.md. */
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "footprint/base/bytes.h"
#include "fuzz/target.h"
#include "golden/committed.h"
#include "golden/defects.h"
#include "unit/scratch.h"

/* Compressed bytes may differ between versions of libzstd; these files were made with this one. */
#define GOLDEN_ZSTD 10504u

static bool is_workload(const char *name)
{
    return strcmp(strrchr(name, '.'), ".wl") == 0;
}

/* A footprint is read only by its owner, who need not be us here: the tree may be another user's, or its group's. */
static struct dump_result dump_copy(const char *path, FILE *out)
{
    const char *copy = scratch_path("copy.fp");
    struct dump_result result = {.stage = "copy"};
    OWNED(image) image = {0};
    if (image_load(&image, path) && image_store(&image, copy)) {
        result = dump_footprint(copy, out);
        (void)unlink(copy); /* it was there just now */
    }
    return result;
}

static struct dump_result dump(const char *path, FILE *out)
{
    return is_workload(path) ? dump_workload(path, out) : dump_copy(path, out);
}

static void check_read(const char *name)
{
    OWNED_TEXT *actual = dump_text(dump, committed("valid", name, ""));
    CHECK(strlen(actual) > 20 && strlen(actual) < 100000);
    check_text(committed("valid", name, ".txt"), actual);
}

/* Same blocks with the same columns, however these are compressed. */
static void check_same_structure(const char *name, const struct image *actual, const struct image *expected)
{
    size_t a = image_next_block(actual, 0);
    size_t e = image_next_block(expected, 0);
    struct image_columns columns[2] = {0};
    CHECK(memcmp(actual->bytes, expected->bytes, FILE_HEADER_BYTES) == 0);
    for (; a != 0 && e != 0; a = image_next_block(actual, a), e = image_next_block(expected, e)) {
        /* all of the header but the size of the payload, its hash, and the hash of both */
        CHECK(memcmp(actual->bytes + a, expected->bytes + e, 16) == 0);
        CHECK(memcmp(actual->bytes + a + 20, expected->bytes + e + 20, 28) == 0);
        CHECK(image_get_columns(actual, a, &columns[0]) && image_get_columns(expected, e, &columns[1]));
        CHECK_U64(columns[0].count, columns[1].count);
        for (unsigned i = 0; i < columns[0].count; i++)
            if (columns[0].columns[i].size != columns[1].columns[i].size ||
                memcmp(columns[0].columns[i].at, columns[1].columns[i].at, columns[0].columns[i].size) != 0)
                HARNESS_FAIL("%s: column %u of the block at byte %zu differs", name, i, e);
    }
    CHECK(a == 0 && e == 0);
    image_columns_release(&columns[0]);
    image_columns_release(&columns[1]);
}

/* What these tell twice, a copy tells once; sites-once.fp and usage-once.fp are such copies. */
static bool tells_twice(const char *name)
{
    return strcmp(name, "sites.fp") == 0 || strcmp(name, "usage.fp") == 0;
}

static void check_written(const char *name)
{
    OWNED(image) actual = {0};
    OWNED(image) expected = {0};
    load(&expected, committed("valid", name, ""));
    CHECK(expected.size > FILE_HEADER_BYTES && expected.size <= 20480);
    const char *made = is_workload(name) ? check_workload(expected.bytes, expected.size)
                                         : check_footprint(expected.bytes, expected.size);
    REQUIRE(made != NULL);
    if (tells_twice(name))
        return;
    load(&actual, made);
    if (is_update())
        CHECK(image_store(&actual, committed("valid", name, "")));
    else
        check_same_structure(name, &actual, &expected);
    if (!is_update() && ZSTD_versionNumber() == GOLDEN_ZSTD &&
        (actual.size != expected.size || memcmp(actual.bytes, expected.bytes, actual.size) != 0))
        HARNESS_FAIL("%s: the writer makes other bytes of the same columns", name);
}

/* Each committed file that is whole. */
static void each_valid(void (*check)(const char *name))
{
    CHECK(each_committed("valid", "", ".fp", check) >= 13);
    CHECK(each_committed("valid", "", ".wl", check) >= 8);
}

TEST(writers_make_the_committed_bytes)
{
    each_valid(check_written);
    if (ZSTD_versionNumber() != GOLDEN_ZSTD)
        printf("note: libzstd is %s, not 1.5.4: columns were compared decompressed\n", ZSTD_versionString());
}

TEST(committed_files_read_as_their_text)
{
    each_valid(check_read);
}

/* Read as whole to its end. */
static enum fp_status status_of(const char *name, const struct image *image)
{
    const char *path = scratch_path(is_workload(name) ? "damaged.wl" : "damaged.fp");
    CHECK(image_store(image, path));
    const struct dump_result result = is_workload(name) ? dump_workload(path, NULL)
                                                        : dump_footprint(path, NULL);
    CHECK(unlink(path) == 0);
    return result.error.status;
}

/* The file ends at each of its first and last bytes, and at some between; each 29th bit is another. */
static void check_damage(const char *name)
{
    OWNED(image) image = {0};
    load(&image, committed("valid", name, ""));
    if (status_of(name, &image) != FP_OK) /* as no-trailer.fp */
        return;
    for (size_t bit = 0; bit < image.size * 8; bit += 29) {
        image.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (status_of(name, &image) == FP_OK)
            HARNESS_FAIL("%s: bit %zu may be anything", name, bit);
        image.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    const size_t size = image.size;
    for (size_t cut = 0; cut < size; cut += cut < 200 || cut + 200 > size ? 1 : 97) {
        image.size = cut;
        const enum fp_status status = status_of(name, &image);
        if (status != FP_ERR_FOREIGN && status != FP_ERR_TRUNCATED)
            HARNESS_FAIL("%s, cut at byte %zu: %s", name, cut, fp_status_name(status));
    }
}

TEST(every_cut_and_every_flipped_bit_is_noticed)
{
    each_valid(check_damage);
}

static void put_result(const char *name, const struct dump_result *result, char *ret_line, size_t size)
{
    snprintf(ret_line, size, "%-32s %-6s %2lu %-9s %6" PRIu64 "  %s\n", name, result->stage, result->number,
             fp_status_name(result->error.status), result->error.offset,
             result->error.what != NULL ? result->error.what : "");
}

/* Make a damaged file anew from its recipe; it must be the committed one. What a reader says of it becomes a line. */
static void check_defect(const struct defect *defect, FILE *lines)
{
    OWNED(image) made = {0};
    OWNED(image) kept = {0};
    char line[256];
    load(&made, committed("valid", defect->base, ""));
    defect_apply(&made, defect);
    if (is_update())
        CHECK(image_store(&made, committed("invalid", defect->name, "")));
    load(&kept, committed("invalid", defect->name, ""));
    if (made.size != kept.size || memcmp(made.bytes, kept.bytes, made.size) != 0)
        HARNESS_FAIL("%s is not what its recipe makes", defect->name);
    const struct dump_result result = dump(committed("invalid", defect->name, ""), NULL);
    CHECK(result.error.status != FP_OK);
    put_result(defect->name, &result, line, sizeof line);
    fputs(line, lines);
}

TEST(damaged_files_are_refused_as_listed)
{
    static const struct defect *const tables[] = {FP_DEFECTS, WL_DEFECTS};
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    if (lines == NULL)
        abort();
    fputs("# file, where reading stopped (stage and number), status, byte, what\n", lines);
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        for (const struct defect *defect = tables[i]; defect->name != NULL; defect++)
            check_defect(defect, lines);
    if (fclose(lines) != 0)
        abort();
    check_text(committed("invalid", "expected.txt", ""), text);
    free(text);
}

/* test_record.c - a directory that root makes for another's recording: the first free name, and no other than it is removed; what a
 * recording comes to in a day. */
#include <fcntl.h>

#include "record/attach/late_record.h"
#include "record/recorder.h"
#include "unit/harness.h"
#include "unit/scratch.h"

/* Given to ourselves: whoever runs this may do that. */
static struct late_place place_at(const char *path)
{
    const struct late_user user = {0, geteuid(), getegid()};
    struct late_place place;
    char *problem = NULL;
    if (!late_place_make(&user, path, &place, &problem))
        HARNESS_FAIL("%s", problem);
    return place;
}

static char *path_of(const char *name)
{
    char *here = getcwd(NULL, 0), *path = NULL;
    CHECK(here != NULL && asprintf(&path, "%s/%s", here, scratch_path(name)) > 0);
    free(here);
    return path;
}

TEST(an_empty_one_is_forgotten)
{
    OWNED_TEXT *path = path_of("one");
    OWNED(late_place) place = place_at(path);
    CHECK_U64(access(path, F_OK), 0);
    late_place_forget(&place);
    CHECK(access(path, F_OK) != 0);
}

TEST(what_is_there_is_left_alone)
{
    OWNED_TEXT *path = path_of("two");
    CHECK_U64(symlink("/nowhere", path), 0);
    OWNED(late_place) place = place_at(path);
    CHECK_STR(place.name, "two.2");
    late_place_forget(&place);
    CHECK_U64(unlink(path), 0);
}

TEST(another_in_its_place_is_not_removed)
{
    OWNED_TEXT *path = path_of("three"), *away = path_of("away");
    OWNED(late_place) place = place_at(path);
    CHECK_U64(rename(path, away), 0);
    CHECK_U64(mkdir(path, 0700), 0);
    late_place_forget(&place);
    CHECK_U64(access(path, F_OK), 0);
}

TEST(what_a_day_comes_to_is_told_after_ten_seconds)
{
    const uint64_t second = UINT64_C(1000000000);
    char words[REC_FORECAST_BYTES];
    CHECK_STR(rec_forecast(1 << 20, 10 * second - 1, words), "");
    CHECK_STR(rec_forecast(1000000, 10 * second, words), ", at this rate 8.6 GB a day");
}

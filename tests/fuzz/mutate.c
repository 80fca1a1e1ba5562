/* mutate.c - mutations that know the frame: one column of one block at a time, stored as it is, sealed again.
 * Linked to libFuzzer's targets only. */
#include <string.h>

#include "footprint/base/bytes.h"
#include "fuzz/target.h"
#include "unit/random.h"

static size_t pick_block(const struct image *image, uint64_t *random)
{
    size_t picked = 0;
    uint32_t seen = 0;
    for (size_t at = image_next_block(image, 0); at != 0; at = image_next_block(image, at))
        if (test_random(random) % ++seen == 0)
            picked = at;
    return picked;
}

static bool mutate_column(struct image *image, size_t at, uint64_t *random)
{
    struct image_columns columns = {0};
    bool done = false;
    if (image_get_columns(image, at, &columns) && columns.count > 0) {
        struct bytes *column = &columns.columns[test_random(random) % columns.count];
        const size_t room = column->size + 1 + test_random(random) % 32;
        if (column->size <= 65536 && bytes_reserve(column, room)) {
            column->size = LLVMFuzzerMutate(column->at, column->size, room);
            image_set_columns(image, at, &columns);
            done = true;
        }
    }
    image_columns_release(&columns);
    return done;
}

/* Type, flags, columns, lane, count, sequence, base, base time: all of the header but sizes and hashes. */
static void mutate_header(struct image *image, size_t at, uint64_t *random)
{
    static const struct {
        uint8_t at, size;
    } fields[] = {{4, 2}, {6, 2}, {8, 4}, {12, 4}, {24, 8}, {32, 8}, {40, 8}};
    const unsigned field = test_random(random) % (sizeof fields / sizeof fields[0]);
    uint8_t bytes[8];
    memcpy(bytes, image->bytes + at + fields[field].at, fields[field].size);
    (void)LLVMFuzzerMutate(bytes, fields[field].size, fields[field].size);
    memcpy(image->bytes + at + fields[field].at, bytes, fields[field].size);
    image_seal_block(image, at);
}

/* Repeat, or take out, a whole block. */
static void mutate_blocks(struct image *image, size_t at, uint64_t *random)
{
    const size_t bytes = (size_t)BLOCK_HEADER_BYTES + get_u32(image->bytes + at + 16);
    if (test_random(random) % 2 == 0) {
        image_splice(image, at, bytes, NULL, 0);
    } else {
        struct image copy = {0};
        image_set(&copy, image->bytes + at, bytes);
        image_splice(image, at, 0, copy.bytes, bytes);
        image_release(&copy);
    }
    image_seal_footer(image);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed)
{
    uint64_t random = seed;
    const uint32_t choice = test_random(&random) % 16;
    struct image image = {0};
    bool done = false;
    image_set(&image, bytes, size);
    size_t at = pick_block(&image, &random);
    if (at != 0 && choice > 0) {
        done = true;
        if (choice == 1)
            mutate_blocks(&image, at, &random);
        else if (choice == 2)
            mutate_header(&image, at, &random);
        else
            done = mutate_column(&image, at, &random);
    }
    done = done && image.size <= size_max;
    if (done) {
        memcpy(bytes, image.bytes, image.size);
        size = image.size;
    }
    image_release(&image);
    return done ? size : LLVMFuzzerMutate(bytes, size, size_max);
}

/* stack_bounds.c - one mapping of this process. */
#include "shim/sites/walk.h"

#include <stddef.h>

#include "shim/shared/raw.h"

#define MAPS "/proc/self/maps"

/* The kernel's struct procmap_query, which headers before Linux 6.11 lack. */
struct query {
    uint64_t size, flags, address;
    uint64_t start, end;
    uint64_t told[4];
    uint32_t device[2], name_bytes, build_id_bytes;
    uint64_t name, build_id;
};

_Static_assert(sizeof(struct query) == 104, "as the kernel has it");

#define QUERY 0xc0686611 /* _IOWR('f', 17, struct query) */

/* Lines begin with START-END in hexadecimal digits. */
struct line {
    uintptr_t number, low;
    enum { LOW, HIGH, REST } part;
};

/* One byte of the list. Returns whether the line's bounds are known by now: line->low, line->number. */
static bool take(struct line *line, char byte)
{
    if (byte == '\n') {
        *line = (struct line){0};
        return false;
    }
    if (line->part == REST)
        return false;
    if (line->part == LOW && byte == '-') {
        line->low = line->number;
        line->number = 0;
        line->part = HIGH;
        return false;
    }
    if (line->part == HIGH && byte == ' ') {
        line->part = REST;
        return true;
    }
    line->number = line->number << 4 | (uintptr_t)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
    return false;
}

static bool find(int fd, uintptr_t address, uintptr_t *ret_low, uintptr_t *ret_high)
{
    struct line line = {0};
    char bytes[1024];
    for (long got; (got = raw_read(fd, bytes, sizeof bytes)) > 0;) {
        for (long i = 0; i < got; i++) {
            if (!take(&line, bytes[i]) || address < line.low || address >= line.number)
                continue;
            *ret_low = line.low;
            *ret_high = line.number;
            return true;
        }
    }
    return false;
}

bool stack_bounds_listed(uintptr_t address, uintptr_t *ret_low, uintptr_t *ret_high)
{
    const long fd = raw_open(MAPS, O_RDONLY | O_CLOEXEC);
    const bool found = fd >= 0 && find((int)fd, address, ret_low, ret_high);
    if (fd >= 0)
        raw_close((int)fd);
    return found;
}

bool stack_bounds_of(uintptr_t address, uintptr_t *ret_low, uintptr_t *ret_high)
{
    struct query query = {.size = sizeof query, .address = address};
    const long fd = raw_open(MAPS, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool told = raw_call(SYS_ioctl, fd, (long)QUERY, (long)&query, 0, 0, 0) == 0;
    raw_close((int)fd);
    if (!told)
        return stack_bounds_listed(address, ret_low, ret_high);
    *ret_low = (uintptr_t)query.start;
    *ret_high = (uintptr_t)query.end;
    return query.start <= address && address < query.end;
}

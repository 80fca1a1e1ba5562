/* gunzip.c - zlib over a descriptor. */
#include "convert/text/text_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES 65536u
#define GZIP_FIRST   0x1fu
#define GZIP_SECOND  0x8bu
#define GZIP_ONLY    (15 + 16) /* windowBits: the largest window, and gzip's frame */

enum state {
    BEGINNING, /* nothing was looked at */
    PLAIN,     /* it is not packed */
    IN_MEMBER,
    BETWEEN, /* behind a member */
    PADDING, /* zeroes follow, or the end */
    DAMAGED,
};

struct conv_gunzip {
    int fd;
    enum state state;
    z_stream stream; /* next_in, avail_in: what is in `in` and was not taken */
    uint64_t position;
    const char *damage;
    uint8_t in[BUFFER_BYTES], out[BUFFER_BYTES];
};

struct conv_gunzip *conv_gunzip_new(int fd)
{
    struct conv_gunzip *gunzip = calloc(1, sizeof *gunzip);
    if (gunzip == NULL)
        return NULL;
    gunzip->fd = fd;
    gunzip->stream.next_in = gunzip->in;
    if (inflateInit2(&gunzip->stream, GZIP_ONLY) == Z_OK)
        return gunzip;
    free(gunzip);
    return NULL;
}

void conv_gunzip_free(struct conv_gunzip *gunzip)
{
    if (gunzip != NULL)
        (void)inflateEnd(&gunzip->stream); /* only frees */
    free(gunzip);
}

/* More bytes behind those that were not taken, which are few. Returns their count; 0: the end; -1. */
static ssize_t read_more(struct conv_gunzip *gunzip)
{
    z_stream *stream = &gunzip->stream;
    ssize_t size;
    memmove(gunzip->in, stream->next_in, stream->avail_in);
    stream->next_in = gunzip->in;
    do
        size = read(gunzip->fd, gunzip->in + stream->avail_in, BUFFER_BYTES - stream->avail_in);
    while (size < 0 && errno == EINTR);
    if (size > 0) {
        gunzip->position += (uint64_t)size;
        stream->avail_in += (uInt)size;
    }
    return size;
}

static bool begin(struct conv_gunzip *gunzip)
{
    const z_stream *stream = &gunzip->stream;
    ssize_t size = 1;
    while (stream->avail_in < 2 && size > 0)
        size = read_more(gunzip);
    if (size < 0)
        return false;
    gunzip->state = stream->avail_in >= 2 && stream->next_in[0] == GZIP_FIRST &&
                            stream->next_in[1] == GZIP_SECOND
                        ? IN_MEMBER
                        : PLAIN;
    return true;
}

static void damaged(struct conv_gunzip *gunzip, const char *what)
{
    gunzip->state = DAMAGED;
    gunzip->damage = what;
}

static ssize_t hand_on(struct conv_gunzip *gunzip, const void **ret_bytes)
{
    z_stream *stream = &gunzip->stream;
    ssize_t size = 0;
    if (stream->avail_in == 0 && (size = read_more(gunzip)) < 0)
        return size;
    *ret_bytes = stream->next_in;
    size = (ssize_t)stream->avail_in;
    stream->next_in += stream->avail_in;
    stream->avail_in = 0;
    return size;
}

/* Look at the bytes behind a member, one by one. */
static void look_behind(struct conv_gunzip *gunzip)
{
    z_stream *stream = &gunzip->stream;
    while (stream->avail_in > 0 && *stream->next_in == 0) {
        gunzip->state = PADDING;
        stream->next_in++;
        stream->avail_in--;
    }
    if (stream->avail_in == 0)
        return;
    if (gunzip->state == BETWEEN && *stream->next_in == GZIP_FIRST && inflateReset(stream) == Z_OK)
        gunzip->state = IN_MEMBER;
    else
        damaged(gunzip, "bytes that are no gzip follow the compressed data");
}

/* Unpack what is there. Returns the bytes that came of it. */
static size_t unpack(struct conv_gunzip *gunzip)
{
    z_stream *stream = &gunzip->stream;
    int result;
    stream->next_out = gunzip->out;
    stream->avail_out = BUFFER_BYTES;
    result = inflate(stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END)
        gunzip->state = BETWEEN;
    else if (result != Z_OK && result != Z_BUF_ERROR) /* the latter: it wants more bytes */
        damaged(gunzip, stream->msg != NULL ? stream->msg : "damaged gzip data");
    return BUFFER_BYTES - stream->avail_out;
}

ssize_t conv_gunzip_read(struct conv_gunzip *gunzip, const void **ret_bytes)
{
    if (gunzip->state == BEGINNING && !begin(gunzip))
        return -1;
    if (gunzip->state == PLAIN)
        return hand_on(gunzip, ret_bytes);
    while (gunzip->state != DAMAGED) {
        ssize_t size;
        /* A full buffer may have left bytes within zlib: it is asked before more is read. */
        if (gunzip->state == IN_MEMBER) {
            const size_t made = unpack(gunzip);
            *ret_bytes = gunzip->out;
            if (made > 0)
                return (ssize_t)made;
        } else {
            look_behind(gunzip);
        }
        if (gunzip->state == DAMAGED || gunzip->stream.avail_in > 0)
            continue;
        size = read_more(gunzip);
        if (size < 0)
            return size;
        if (size == 0 && gunzip->state != IN_MEMBER)
            return 0;
        if (size == 0)
            damaged(gunzip, "the gzip data ends early");
    }
    return 0;
}

const char *conv_gunzip_damage(const struct conv_gunzip *gunzip)
{
    return gunzip->damage;
}

bool conv_gunzip_is_packed(const struct conv_gunzip *gunzip)
{
    return gunzip->state != BEGINNING && gunzip->state != PLAIN;
}

uint64_t conv_gunzip_position(const struct conv_gunzip *gunzip)
{
    return gunzip->position;
}

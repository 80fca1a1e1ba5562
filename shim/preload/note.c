/* note.c - tell the collector why a process of its tree could not be recorded.
 *
 * A process that cannot reach the recording's shared memory (another user's, in another root directory) cannot count
 * itself there either. A datagram to a socket without a place in any file system reaches the collector from wherever
 * the process is, and is in its queue although the process ends at once. The socket has the name of the segment's
 * file (collect_tell.c), so whoever knows the one knows the other. Its answer to nobody is silence. */
#include "shim/preload/note.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "shim/preload/confine.h"
#include "shim/preload/shim_text.h"
#include "shim/shared/raw.h"

#define FULL_WAIT_NS 2000000u /* the collector looks at its queue every 20 ms at least */
#define FULL_WAITS   250

/* The name is kept, because a program may clear its environment before it starts another. */
static char socket_name[64];

void note_take_name(const char *segment_path)
{
    const char *name = text_base_name(segment_path);
    if (socket_name[0] == '\0' && strlen(name) < sizeof socket_name)
        text_append(socket_name, sizeof socket_name, name);
}

void note_forget_name(void)
{
    socket_name[0] = '\0';
}

bool note_wanted(void)
{
    if (socket_name[0] == '\0' && text_environment_counts() && text_given("MALLAB_SEGMENT") != NULL)
        note_take_name(text_given("MALLAB_SEGMENT"));
    return socket_name[0] != '\0';
}

/* A full queue is waited for: a shell may start more programs than fit into it before the collector looks. */
static bool deliver(long fd, const char *text, size_t length, const struct sockaddr_un *address, size_t size)
{
    _Atomic uint32_t never_woken = 0;
    for (int waits = 0; waits < FULL_WAITS; waits++) {
        const long sent = raw_call(SYS_sendto, fd, (long)text, (long)length, MSG_NOSIGNAL | MSG_DONTWAIT,
                                   (long)address, (long)size);
        if (sent != -EAGAIN)
            return sent > 0;
        (void)raw_futex_wait(&never_woken, 0, FULL_WAIT_NS); /* a signal only shortens it */
    }
    return false;
}

bool note_send(const char *program, const char *reason, bool of_child)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char text[320] = "";
    if (!note_wanted())
        return true;
    text_append(address.sun_path + 1, sizeof address.sun_path - 1,
                socket_name); /* behind a zero: no file's path */
    text_append(text, 64, program);
    size_t length = strlen(text) + 1;
    text_append(text + length, sizeof text - length - 1, reason);
    length += strlen(text + length);
    if (of_child) /* then the zero behind the reason is sent too */
        length++;
    if (!confine_may_call())
        return false;
    long fd = raw_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);
    bool delivered = fd >= 0 && deliver(fd, text, length, &address,
                                        offsetof(struct sockaddr_un, sun_path) + 1 + strlen(socket_name));
    if (fd >= 0)
        raw_close((int)fd);
    confine_called();
    return delivered;
}

void note_say(const char *what, const char *more)
{
    char line[1536] = "mallab: ";
    if (text_getenv("MALLAB_QUIET") != NULL)
        return;
    text_append(line, sizeof line - 1, what);
    text_append(line, sizeof line - 1, more);
    text_append(line, sizeof line, "\n");
    (void)raw_write(2, line, strlen(line)); /* a closed stderr is the program's choice */
}

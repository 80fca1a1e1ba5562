/* note.c - tell `mallab record` why a process of its tree could not be recorded.
 *
 * A process that cannot reach the recording's shared memory (another user's, in another root directory) cannot count
 * itself there either. A datagram to a socket without a place in any file system reaches `mallab record` from
 * wherever the process is, and is in its queue although the process ends at once. Its answer to nobody is silence. */
#include "shim/confine.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "shim/raw.h"

/* Of this image; kept, because a program may clear its environment before it starts another. */
static char socket_name[64];

bool note_wanted(void)
{
    if (socket_name[0] == '\0') {
        const char *given = text_getenv("MALLAB_NOTES");
        if (given != NULL && strlen(given) < sizeof socket_name)
            text_append(socket_name, sizeof socket_name, given);
    }
    return socket_name[0] != '\0';
}

bool note_send(const char *program, const char *reason, bool of_child)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *name = socket_name;
    char text[320] = "";
    size_t length;
    long fd, sent;
    if (!note_wanted() || strlen(name) + 2 > sizeof address.sun_path)
        return false;
    text_append(address.sun_path + 1, sizeof address.sun_path - 1, name); /* behind a zero: no file's path */
    text_append(text, 64, program);
    length = strlen(text) + 1;
    text_append(text + length, sizeof text - length - 1, reason);
    length += strlen(text + length);
    if (of_child) /* then the zero behind the reason is sent too */
        length++;
    if (!confine_may_call())
        return false;
    fd = raw_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);
    if (fd < 0) {
        confine_called();
        return false;
    }
    sent = raw_call(SYS_sendto, fd, (long)text, (long)length, MSG_NOSIGNAL, (long)&address,
                    (long)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)));
    raw_close((int)fd);
    confine_called();
    return sent > 0;
}

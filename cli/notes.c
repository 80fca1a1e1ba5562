/* notes.c - receive notes: hostile bytes, anybody on the machine may send some. */
#include "cli/notes.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "results/support.h"

int cli_notes_open(char ret_name[CLI_NOTES_NAME])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int on = 1;
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return -1;
    snprintf(ret_name, CLI_NOTES_NAME, "mallab-notes-%016llx", (unsigned long long)number);
    /* Behind a zero: a name of the network namespace's, no path. */
    memcpy(address.sun_path + 1, ret_name, strlen(ret_name));
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
        bind(fd, (const struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(ret_name))) == 0)
        return fd;
    close(fd);
    return -1;
}

static void keep(char *ret, size_t size, const char *bytes)
{
    char *plain = res_text_plain(bytes);
    snprintf(ret, size, "%s", plain);
    free(plain);
}

bool cli_notes_take(int fd, struct cli_note *ret_note)
{
    char bytes[512];
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {bytes, sizeof bytes - 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t length;
    do {
        length = fd >= 0 ? recvmsg(fd, &message, MSG_CMSG_CLOEXEC) : -1;
    } while (length < 0 && fd >= 0 && errno == EINTR);
    if (length < 0)
        return false;
    bytes[length] = '\0';
    *ret_note = (struct cli_note){0};
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS &&
        head->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
        struct ucred sender;
        memcpy(&sender, CMSG_DATA(head), sizeof sender);
        ret_note->pid = sender.pid;
    }
    if (length > 0 && bytes[length - 1] == '\0')
        ret_note->pid = 0;                    /* it speaks of a child that it is about to have */
    const size_t program = strlen(bytes) + 1; /* of a text without a zero: all of it, and no reason */
    keep(ret_note->program, sizeof ret_note->program, bytes);
    keep(ret_note->reason, sizeof ret_note->reason,
         program <= (size_t)length ? bytes + program : "did not say why");
    return true;
}

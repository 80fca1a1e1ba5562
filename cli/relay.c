/* relay.c - hand signals on, once each.
 *
 * What a terminal sends to its foreground group has reached the command by itself, as has what one of our process group
 * sends to the group: handed on, it would come twice, and a second Ctrl-C means more than the first. What comes from
 * elsewhere, above all to the first process of a container, is sent to us alone. */
#include "cli/relay.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static const struct {
    int number;
    bool handed_on; /* else ignored */
} HANDLED[] = {{SIGPIPE, false}, {SIGINT, true},  {SIGQUIT, true}, {SIGTERM, true},
               {SIGHUP, true},   {SIGUSR1, true}, {SIGUSR2, true}, {SIGWINCH, true}};

#define HANDLED_COUNT (sizeof HANDLED / sizeof HANDLED[0])

static struct sigaction saved[HANDLED_COUNT];
static volatile sig_atomic_t command_pid; /* 0 while there is none */

static bool is_everybodys(int number, const siginfo_t *info)
{
    if (number != SIGINT && number != SIGQUIT && number != SIGWINCH)
        return false;
    /* 0: from outside our pid namespace, as a container is stopped. */
    return info->si_code > 0 || (info->si_pid != 0 && getpgid(info->si_pid) == getpgrp());
}

static void hand_on(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    if (command_pid > 0 && !is_everybodys(number, info))
        kill((pid_t)command_pid, number);
    errno = error;
}

void cli_relay_begin(pid_t command)
{
    command_pid = command;
    for (size_t i = 0; i < HANDLED_COUNT; i++) {
        struct sigaction action = {.sa_flags = HANDLED[i].handed_on ? SA_SIGINFO : 0};
        if (HANDLED[i].handed_on)
            action.sa_sigaction = hand_on;
        else
            action.sa_handler = SIG_IGN;
        sigaction(HANDLED[i].number, NULL, &saved[i]);
        if (saved[i].sa_handler != SIG_IGN)
            sigaction(HANDLED[i].number, &action, NULL);
    }
}

void cli_relay_pause(void)
{
    command_pid = 0;
}

void cli_relay_end(void)
{
    for (size_t i = 0; i < HANDLED_COUNT; i++)
        sigaction(HANDLED[i].number, &saved[i], NULL);
}

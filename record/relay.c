/* relay.c - hand signals on, once each.
 *
 * What is sent to a whole group, by a terminal, by kill(2) or by a service manager process by process, has reached the
 * command by itself: handed on, it would come twice, and a second Ctrl-C means more than the first. What comes from
 * elsewhere, above all to the first process of a container, is sent to us alone. */
#include "record/relay.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "record/witness.h"

static const struct {
    int number;
    bool handed_on; /* else ignored */
} HANDLED[] = {{SIGPIPE, false}, {SIGINT, true},  {SIGQUIT, true}, {SIGTERM, true},
               {SIGHUP, true},   {SIGUSR1, true}, {SIGUSR2, true}, {SIGWINCH, true}};

#define HANDLED_COUNT (sizeof HANDLED / sizeof HANDLED[0])

static struct sigaction saved[HANDLED_COUNT];
static bool begun;
static struct cli_witness witness = {.fd = -1};
static volatile sig_atomic_t command_pid;  /* 0 while there is none */
static volatile sig_atomic_t asked_to_end; /* the last signal of that meaning; 0 while none came */

/* The command may have left our group, as timeout(1) and interactive shells do; then what a terminal or kill(2) sends to
 * the group has not reached it, but would have if it had been started by the shell. */
static bool is_everybodys(int number, const siginfo_t *info)
{
    if (getpgid((pid_t)command_pid) != getpgrp())
        return false;
    if (info->si_code > 0)
        return true;
    return cli_witness_saw(&witness, number, info->si_pid);
}

static bool is_from_command(const siginfo_t *info)
{
    return command_pid > 0 && info->si_code <= 0 && info->si_pid == (pid_t)command_pid;
}

/* A command that signals its parent means whoever started it: us it knows nothing of. */
static pid_t receiver(const siginfo_t *info)
{
    if (is_from_command(info))
        return getppid(); /* 0: in another pid namespace */
    return (pid_t)command_pid;
}

static void hand_on(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    if ((number == SIGINT || number == SIGTERM || number == SIGHUP) && !is_from_command(info))
        asked_to_end = number;
    if (command_pid > 0 && !is_everybodys(number, info)) {
        const pid_t to = receiver(info);
        if (to > 0)
            kill(to, number);
    }
    errno = error;
}

static void fill(sigset_t *ret_set)
{
    sigemptyset(ret_set);
    for (size_t i = 0; i < HANDLED_COUNT; i++)
        if (HANDLED[i].handed_on)
            sigaddset(ret_set, HANDLED[i].number);
}

void cli_relay_prepare(char *const *arguments)
{
    sigset_t signals;
    asked_to_end = 0;
    fill(&signals);
    cli_witness_start(&witness, &signals, arguments);
}

void cli_relay_begin(pid_t command)
{
    command_pid = command;
    begun = true;
    for (size_t i = 0; i < HANDLED_COUNT; i++) {
        struct sigaction action = {.sa_flags = HANDLED[i].handed_on ? SA_SIGINFO : 0};
        if (HANDLED[i].handed_on)
            action.sa_sigaction = hand_on;
        else
            action.sa_handler = SIG_IGN;
        fill(&action.sa_mask); /* one question at a time */
        sigaction(HANDLED[i].number, NULL, &saved[i]);
        if (saved[i].sa_handler != SIG_IGN)
            sigaction(HANDLED[i].number, &action, NULL);
    }
}

void cli_relay_pause(void)
{
    command_pid = 0;
}

int cli_relay_asked_to_end(void)
{
    return (int)asked_to_end;
}

void cli_relay_end(void)
{
    for (size_t i = 0; begun && i < HANDLED_COUNT; i++)
        sigaction(HANDLED[i].number, &saved[i], NULL);
    begun = false;
    cli_witness_end(&witness);
}

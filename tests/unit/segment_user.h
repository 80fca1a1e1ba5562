/* segment_user.h - a recorded process without the shim: it maps a collector's segment as the shim does, attaches, and sends
 * chunks. Each word is under the test's control, also those that no process of ours would write. */
#ifndef MALLAB_TESTS_SEGMENT_USER_H
#define MALLAB_TESTS_SEGMENT_USER_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "footprint/fp/record.h"
#include "shim/shared/raw.h"
#include "shim/shared/segment.h"

#define USER_CHUNK_WORDS (SEG_CHUNK_BYTES / sizeof(uint64_t))
#define USER_CALLS_MOST  4000u

static inline void user_rest(void)
{
    const struct timespec rest = {0, 200000};
    (void)nanosleep(&rest, NULL); /* woken early: the caller looks again */
}

/* Exits when it cannot be mapped. */
static inline struct seg_view user_map(const char *path)
{
    struct seg_header header;
    const int fd = open(path, O_RDWR | O_CLOEXEC), told_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || told_fd < 0 || pread(told_fd, &header, sizeof header, 0) != (ssize_t)sizeof header)
        _exit(90);
    struct seg_view view = seg_view_at(NULL, header.fixed.chunk_count);
    char *area = mmap(NULL, view.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED ||
        mmap(area, view.shared_offset, PROT_READ, MAP_SHARED | MAP_FIXED, told_fd, 0) == MAP_FAILED ||
        mmap(area + view.shared_offset, view.bytes - view.shared_offset, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, fd, (off_t)view.shared_offset) == MAP_FAILED)
        _exit(91);
    (void)close(fd);
    (void)close(told_fd);
    view = seg_view_at(area, header.fixed.chunk_count);
    view.fixed = header.fixed;
    return view;
}

/* Waits for a free slot. Returns its index, ATTACHING. */
static inline uint32_t user_claim_slot(const struct seg_view *view)
{
    for (;; user_rest()) {
        for (uint32_t index = 0; index < SEG_SLOT_COUNT; index++) {
            uint64_t word = SEG_SLOT_FREE;
            if (atomic_compare_exchange_strong(&view->slots[index].state, &word,
                                               seg_slot_word(SEG_SLOT_ATTACHING, (uint32_t)getpid())))
                return index;
        }
    }
}

/* Returns the serial. */
static inline uint64_t user_attach(const struct seg_view *view, uint32_t index, const char *name)
{
    struct seg_slot *slot = &view->slots[index];
    struct stat status;
    const uint64_t serial = atomic_fetch_add(&view->shared->serials, 1) + 1;
    memset((char *)slot + sizeof slot->state, 0, sizeof *slot - sizeof slot->state);
    slot->serial = serial;
    slot->map_address = (uint64_t)(uintptr_t)view->header;
    slot->parent_pid = (uint32_t)getppid();
    slot->inner_pid = (uint32_t)getpid();
    slot->pid_namespace = stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
    atomic_store(&slot->lane_count, 1);
    (void)snprintf(slot->executable, sizeof slot->executable, "/test/%s", name);
    (void)snprintf(slot->program, sizeof slot->program, "%s", name);
    atomic_store(&slot->epoch, 1);
    atomic_store(&slot->state, seg_slot_word(SEG_SLOT_ATTACHED, (uint32_t)getpid()));
    atomic_fetch_add(&view->shared->doorbell, 1);
    raw_futex_wake(&view->shared->doorbell, 1);
    return serial;
}

/* Waits for a free chunk. Returns its index, OPEN. */
static inline uint32_t user_claim_chunk(const struct seg_view *view, uint32_t slot, uint32_t lane)
{
    for (;; user_rest()) {
        const uint32_t ready = seg_held(view);
        for (uint32_t index = 0; index < ready; index++) {
            uint64_t word = SEG_CHUNK_FREE;
            if (seg_may_have(index, slot) &&
                atomic_compare_exchange_strong(
                    &view->states[index], &word,
                    seg_chunk_word(SEG_CHUNK_OPEN, slot, lane, (uint32_t)getpid())))
                return index;
        }
    }
}

/* A chunk of so many calls, USER_CALLS_MOST at most, half of them releases; handed over when it is there. */
static inline void user_send(const struct seg_view *view, uint32_t slot, uint64_t serial, uint64_t sequence,
                             uint32_t calls)
{
    const uint32_t index = user_claim_chunk(view, slot, 0);
    struct seg_chunk_header *chunk = seg_chunk(view, index);
    uint64_t *word = (uint64_t *)(chunk + 1);
    chunk->sequence = sequence;
    chunk->serial = serial;
    chunk->lane = 0;
    chunk->thread_id = (uint32_t)getpid();
    atomic_store(&chunk->magic, SEG_CHUNK_MAGIC);
    *word++ = fp_record_epoch(FP_RECORD_STAMP, 1);
    *word++ = raw_now_ns();
    for (uint32_t i = 0; i < calls; i++)
        *word++ = i % 2 == 0 ? fp_record_short(fp_record_code(FP_CALL_MALLOC), 0x1000 + 16 * i, 24)
                             : fp_record_short(fp_record_code(FP_CALL_FREE), 0x1000 + 16 * (i - 1), 0);
    atomic_store(&view->states[index], seg_chunk_word(SEG_CHUNK_FULL, slot, 0, 0));
}

#endif

/* names.c - the questions, the child that answers them, and its answers. */
#include "sites/names/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "footprint/base/arrays.h"
#include "footprint/base/process.h"
#include "footprint/base/words.h"

#define ANSWERS_BYTES_MAX (UINT64_C(1) << 30) /* of all replies to one names_resolve */
#define TEXTS_BYTES       (UINT32_C(64) << 10)
#define NONE              UINT32_MAX

struct module {
    struct names_module told; /* owned */
    char *name;
    enum names_state state;
    uint32_t pending_first, pending_count; /* of the questions that are being asked */
};

struct question {
    uint64_t address;
    uint32_t module;
    uint32_t frame_first, frame_count; /* count 0: no answer yet */
    bool wants_lines, is_pending;
};

/* Memory for texts, which stay where they are. */
struct texts {
    struct texts *next;
    size_t used, size;
    char bytes[];
};

struct names {
    struct names_options options;
    struct module *modules;
    size_t module_count, module_capacity;
    struct question *questions;
    size_t question_count, question_capacity;
    struct fp_index by_path, by_place; /* modules; questions */
    struct names_frame *frames, unknown;
    size_t frame_count, frame_capacity;
    struct texts *texts;
    /* while it resolves: */
    uint32_t *pending;    /* questions, by module and address */
    struct bytes replies; /* not complete yet */
    uint64_t reply_bytes;
    uint32_t begun;     /* the module that the child is at; NONE */
    uint32_t answering; /* the question of the reply before; NONE */
    bool is_broken;     /* replies that are none, or no memory for them */
};

/* ---- texts ---------------------------------------------------------------------------------- */

/* A copy fit for a terminal. before: a kept text that may be the same, or NULL. NULL: no memory. */
static const char *keep_text(struct names *names, const char *text, const char *before)
{
    if (before != NULL && strcmp(text, before) == 0)
        return before;
    const size_t most = FP_PLAIN_GROWTH * strlen(text) + 1;
    if (names->texts == NULL || names->texts->size - names->texts->used < most) {
        const size_t size = most > TEXTS_BYTES ? most : TEXTS_BYTES;
        struct texts *texts = malloc(sizeof *texts + size);
        if (texts == NULL)
            return NULL;
        *texts = (struct texts){.next = names->texts, .size = size};
        names->texts = texts;
    }
    char *kept = names->texts->bytes + names->texts->used;
    names->texts->used += fp_text_plain(text, kept, names->texts->size - names->texts->used) + 1;
    return kept;
}

static const char *keep_unnamed(struct names *names, const struct question *question, uint64_t start)
{
    char text[NAMES_PATH_MAX + 32];
    const struct module *module = &names->modules[question->module];
    if (module->state == NAMES_UNMAPPED || module->told.kind == NAMES_JIT)
        return module->name;
    snprintf(text, sizeof text, "%s+0x%llx", module->name,
             (unsigned long long)(start != 0 ? start : question->address));
    return keep_text(names, text, NULL);
}

/* ---- modules -------------------------------------------------------------------------------- */

struct names *names_new(const struct names_options *options)
{
    struct names *names = calloc(1, sizeof *names);
    if (names == NULL)
        return NULL;
    names->options = *options;
    if (options->program != NULL)
        names->options.program = strdup(options->program); /* without memory nothing is named */
    return names;
}

static bool is_vdso(const struct names_module *module)
{
    return module->kind == NAMES_FILE && module->path != NULL &&
           (strcmp(module->path, "[vdso]") == 0 || strncmp(module->path, "linux-vdso.so", 13) == 0);
}

static bool is_same(const struct names_module *a, const struct names_module *b)
{
    return a->kind == b->kind && strcmp(a->path, b->path != NULL ? b->path : "") == 0 &&
           a->build_id_bytes == b->build_id_bytes && memcmp(a->build_id, b->build_id, b->build_id_bytes) == 0;
}

static void release_module(struct module *module)
{
    free((void *)(uintptr_t)module->told.path);
    free((void *)(uintptr_t)module->told.build_id);
    free(module->name);
}

static bool copy_module(const struct names_module *from, struct module *ret)
{
    const char *path = from->path != NULL ? from->path : "";
    const char *name = from->kind == NAMES_JIT ? "[jit]" : is_vdso(from) ? "[vdso]" : basename(path);
    const size_t bytes = from->build_id_bytes <= NAMES_BUILD_ID_MAX ? from->build_id_bytes
                                                                    : NAMES_BUILD_ID_MAX;
    const size_t size = FP_PLAIN_GROWTH * strlen(name) + 1;
    uint8_t *build_id = malloc(bytes + 1);
    *ret = (struct module){
        .told = {.kind = from->kind, .path = strdup(path), .build_id = build_id, .build_id_bytes = bytes},
        .name = malloc(size),
        .state = is_vdso(from) ? NAMES_UNMAPPED : NAMES_UNASKED};
    if (ret->told.path == NULL || build_id == NULL || ret->name == NULL) {
        release_module(ret);
        return false;
    }
    if (bytes > 0)
        memcpy(build_id, from->build_id, bytes);
    (void)fp_text_plain(name, ret->name, size);
    return true;
}

enum fp_status names_add_module(struct names *names, const struct names_module *module, uint32_t *ret_module)
{
    const char *path = module->path != NULL ? module->path : "";
    const uint64_t hash = fp_index_hash(module->build_id, module->build_id_bytes,
                                        fp_index_hash(path, strlen(path), 0));
    uint32_t number;
    size_t step = 0;
    while ((number = fp_index_next(&names->by_path, hash, &step)) != FP_INDEX_END)
        if (is_same(&names->modules[number].told, module))
            break;
    if (number == FP_INDEX_END) {
        number = (uint32_t)names->module_count;
        if (!FP_GROW(names->modules, names->module_capacity, names->module_count + 1) ||
            !copy_module(module, &names->modules[number]))
            return FP_ERR_MEMORY;
        names->module_count++; /* released with the others */
        if (!fp_index_add(&names->by_path, hash, number))
            return FP_ERR_MEMORY;
    }
    *ret_module = number;
    return FP_OK;
}

const char *names_module_name(const struct names *names, uint32_t module)
{
    return names->modules[module].name;
}

enum names_state names_module_state(const struct names *names, uint32_t module)
{
    return names->modules[module].state;
}

const char *names_state_words(enum names_state state)
{
    static const char *const words[] = {
        [NAMES_STRIPPED] = "has no symbols but those that it exports",
        [NAMES_UNPROVEN] = "has no build id: whether it was replaced since it was recorded cannot be told",
        [NAMES_REPLACED] = "was replaced since it was recorded",
        [NAMES_ABSENT] = "is not here",
        [NAMES_DAMAGED] = "cannot be read",
        [NAMES_LIMITED] = "takes more time or memory to read than the limits allow",
        [NAMES_UNREAD] = "is not read: here root can give up neither its user nor its system calls for it",
        [NAMES_UNMAPPED] = NULL,
    };
    return (size_t)state < sizeof words / sizeof words[0] ? words[state] : NULL;
}

void names_free(struct names *names)
{
    if (names == NULL)
        return;
    for (size_t i = 0; i < names->module_count; i++)
        release_module(&names->modules[i]);
    for (struct texts *texts = names->texts, *next; texts != NULL; texts = next) {
        next = texts->next;
        free(texts);
    }
    free((char *)(uintptr_t)names->options.program);
    free(names->modules);
    free(names->questions);
    fp_index_release(&names->by_path);
    fp_index_release(&names->by_place);
    free(names->frames);
    free(names);
}

/* ---- questions ------------------------------------------------------------------------------ */

enum fp_status names_ask(struct names *names, uint32_t module, uint64_t address, bool with_lines,
                         uint32_t *ret_question)
{
    const uint64_t place[] = {module, address}, hash = fp_index_hash(place, sizeof place, 0);
    uint32_t number;
    size_t step = 0;
    while ((number = fp_index_next(&names->by_place, hash, &step)) != FP_INDEX_END)
        if (names->questions[number].address == address && names->questions[number].module == module)
            break;
    if (number == FP_INDEX_END) {
        number = (uint32_t)names->question_count;
        if (!FP_GROW(names->questions, names->question_capacity, names->question_count + 1) ||
            !fp_index_add(&names->by_place, hash, number))
            return FP_ERR_MEMORY;
        names->questions[names->question_count++] = (struct question){
            .address = address, .module = module, .is_pending = true};
    }
    struct question *question = &names->questions[number];
    question->is_pending |= with_lines && !question->wants_lines;
    question->wants_lines |= with_lines;
    *ret_question = number;
    return FP_OK;
}

const struct names_frame *names_frames(struct names *names, uint32_t question, size_t *ret_count)
{
    const struct question *asked = &names->questions[question];
    *ret_count = asked->frame_count;
    if (asked->frame_count > 0)
        return &names->frames[asked->frame_first];
    const char *text = keep_unnamed(names, asked, 0);
    names->unknown = (struct names_frame){.function = text != NULL ? text : "?"};
    *ret_count = 1;
    return &names->unknown;
}

/* ---- answers -------------------------------------------------------------------------------- */

/* Returns whether it fits what was asked, and there is memory. texts: what follows the reply. */
static bool take_frame(struct names *names, const struct name_reply *reply, const uint8_t *texts)
{
    char function[NAMES_TEXT_MAX + 1], file[NAMES_TEXT_MAX + 1];
    const struct module *module = &names->modules[reply->module];
    if (reply->question >= module->pending_count)
        return false;
    const uint32_t asked = names->pending[module->pending_first + reply->question];
    struct question *question = &names->questions[asked];
    const bool is_inlined = reply->kind == NAME_REPLY_INLINED;
    if ((is_inlined && (names->answering != asked || question->frame_count >= NAMES_INLINED_MAX)) ||
        !FP_GROW(names->frames, names->frame_capacity, names->frame_count + 1))
        return false;
    memcpy(function, texts, reply->function_bytes);
    function[reply->function_bytes] = '\0';
    memcpy(file, texts + reply->function_bytes, reply->file_bytes);
    file[reply->file_bytes] = '\0';
    struct names_frame *frame = &names->frames[names->frame_count];
    const struct names_frame before = names->frame_count > 0 ? frame[-1] : (struct names_frame){0};
    *frame = (struct names_frame){.function = function[0] != '\0'
                                                  ? keep_text(names, function, before.function)
                                                  : keep_unnamed(names, question, reply->start),
                                  .file = file[0] != '\0' ? keep_text(names, file, before.file) : NULL,
                                  .line = reply->line,
                                  .is_named = function[0] != '\0',
                                  .is_inlined = is_inlined,
                                  .start = reply->start};
    if (frame->function == NULL)
        return false;
    if (!is_inlined) {
        question->frame_first = (uint32_t)names->frame_count;
        question->frame_count = 0;
    }
    question->frame_count++;
    names->frame_count++;
    names->answering = asked;
    return true;
}

static bool take_reply(struct names *names, const struct name_reply *reply, const uint8_t *texts)
{
    if (reply->module >= names->module_count)
        return false;
    struct module *module = &names->modules[reply->module];
    switch (reply->kind) {
    case NAME_REPLY_BEGINS:
        names->begun = reply->module;
        names->answering = NONE;
        return module->pending_count > 0;
    case NAME_REPLY_FUNCTION:
    case NAME_REPLY_INLINED:
        return reply->module == names->begun && take_frame(names, reply, texts);
    case NAME_REPLY_DONE:
        module->state = reply->line <= NAMES_UNMAPPED ? (enum names_state)reply->line : NAMES_DAMAGED;
        names->begun = NONE;
        return true;
    default:
        return false;
    }
}

/* Takes as many replies as are complete. */
static bool take_bytes(void *data, int stream, const char *bytes, size_t count)
{
    struct names *names = data;
    struct bytes *replies = &names->replies;
    struct name_reply reply;
    size_t used = 0;
    names->reply_bytes += count;
    names->is_broken |= names->reply_bytes > ANSWERS_BYTES_MAX ||
                        !bytes_reserve(replies, replies->size + count);
    if (names->is_broken)
        return false;
    memcpy(replies->at + replies->size, bytes, count);
    replies->size += count;
    while (!names->is_broken && replies->size - used >= sizeof reply) {
        memcpy(&reply, replies->at + used, sizeof reply);
        if (reply.function_bytes > NAMES_TEXT_MAX || reply.file_bytes > NAMES_TEXT_MAX) {
            names->is_broken = true;
            break;
        }
        const size_t whole = sizeof reply + reply.function_bytes + reply.file_bytes;
        if (replies->size - used < whole)
            break;
        names->is_broken = !take_reply(names, &reply, replies->at + used + sizeof reply);
        used += whole;
    }
    memmove(replies->at, replies->at + used, replies->size - used);
    replies->size -= used;
    return !names->is_broken;
}

/* ---- the child ------------------------------------------------------------------------------ */

static bool write_module(const struct names *names, int fd, size_t number)
{
    const struct module *module = &names->modules[number];
    struct name_question *questions = calloc(module->pending_count + 1u, sizeof *questions);
    struct name_asked asked = {.count = module->pending_count,
                               .number = (uint32_t)number,
                               .kind = module->told.kind,
                               .build_id_bytes = (uint32_t)module->told.build_id_bytes};
    memcpy(asked.build_id, module->told.build_id, module->told.build_id_bytes);
    if (strlen(module->told.path) < sizeof asked.path)
        strcpy(asked.path, module->told.path);
    for (uint32_t i = 0; questions != NULL && i < module->pending_count; i++) {
        const struct question *one = &names->questions[names->pending[module->pending_first + i]];
        questions[i] = (struct name_question){.address = one->address, .with_lines = one->wants_lines};
    }
    const bool is_written = questions != NULL && fp_write_all(fd, &asked, sizeof asked) &&
                            fp_write_all(fd, questions, module->pending_count * sizeof *questions);
    free(questions);
    return is_written;
}

/* The questions of all modules from this one on. Returns a descriptor of a file with them; -1. */
static int write_requests(const struct names *names, size_t first)
{
    int fd = memfd_create("mallab-names", MFD_CLOEXEC);
    for (size_t i = first; fd >= 0 && i < names->module_count; i++)
        if (names->modules[i].pending_count > 0 && !write_module(names, fd, i))
            fp_close(&fd);
    return fp_above_standard(fd);
}

/* Starts it; its streams are ours. Returns false where it cannot be. */
static bool start_child(const struct names *names, int requests, struct fp_process *process)
{
    const struct names_options *options = &names->options;
    const char **arguments = calloc(options->directory_count + 4, sizeof *arguments);
    char owner[16];
    const struct fp_process_plan plan = {.program = options->program,
                                         .arguments = (char *const *)(uintptr_t)arguments,
                                         .streams = {requests, FP_STREAM_PIPE, FP_STREAM_NULL},
                                         .default_signals = true,
                                         .dies_with_us = true};
    if (arguments == NULL)
        return false;
    snprintf(owner, sizeof owner, "%u", (unsigned)options->owner);
    arguments[0] = "mallab-names";
    arguments[1] = owner;
    arguments[2] = options->may_fetch ? "fetch" : "here";
    for (size_t i = 0; i < options->directory_count; i++)
        arguments[3 + i] = options->directories[i];
    const bool is_started = fp_process_start(&plan, process) == 0;
    free(arguments);
    return is_started;
}

/* Returns what became of the module at which it ended; NAMES_UNASKED: it answered all. */
static enum names_state run_child(struct names *names, size_t first, uint64_t deadline_ns)
{
    struct fp_process process;
    int fd = write_requests(names, first);
    const struct fp_process_bounds bounds = {.deadline_ns = deadline_ns, .take = take_bytes, .data = names};
    names->begun = names->answering = NONE;
    names->replies.size = 0;
    names->is_broken = false;
    if (fd < 0 || !start_child(names, fd, &process)) {
        fp_close(&fd);
        return NAMES_LIMITED;
    }
    const enum fp_process_end end = fp_process_wait(&process, &bounds);
    fp_process_release(&process);
    fp_close(&fd);
    if (end == FP_PROCESS_LATE)
        return NAMES_LIMITED;
    if (end == FP_PROCESS_ENDED && process.status == 0)
        return NAMES_UNASKED;
    return WIFSIGNALED(process.status) && WTERMSIG(process.status) != SIGALRM ? NAMES_DAMAGED : NAMES_LIMITED;
}

static int compare_pending(const void *left, const void *right, void *data)
{
    const struct names *names = data;
    const struct question *a = &names->questions[*(const uint32_t *)left];
    const struct question *b = &names->questions[*(const uint32_t *)right];
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* Returns how many there are. */
static uint32_t gather(struct names *names)
{
    uint32_t count = 0;
    for (size_t i = 0; i < names->module_count; i++)
        names->modules[i].pending_count = 0;
    for (uint32_t i = 0; i < names->question_count; i++) {
        struct question *question = &names->questions[i];
        if (question->is_pending && !is_vdso(&names->modules[question->module].told))
            names->pending[count++] = i;
        question->is_pending = false;
    }
    qsort_r(names->pending, count, sizeof *names->pending, compare_pending, names);
    for (uint32_t i = 0; i < count; i++) {
        struct module *module = &names->modules[names->questions[names->pending[i]].module];
        if (module->pending_count++ == 0)
            module->pending_first = i;
    }
    return count;
}

/* A question without an answer has a frame of its own, too: frames of several questions are looked at together. Returns false: no memory. */
static bool settle(struct names *names)
{
    for (size_t i = 0; i < names->question_count; i++) {
        struct question *question = &names->questions[i];
        if (question->frame_count > 0)
            continue;
        if (!FP_GROW(names->frames, names->frame_capacity, names->frame_count + 1))
            return false;
        const char *text = keep_unnamed(names, question, 0);
        question->frame_first = (uint32_t)names->frame_count;
        question->frame_count = 1;
        names->frames[names->frame_count++] = (struct names_frame){.function = text != NULL ? text : "?"};
    }
    return true;
}

enum fp_status names_resolve(struct names *names)
{
    const uint64_t limit_ns = names->options.limit_ns != 0 ? names->options.limit_ns : NAMES_LIMIT_NS;
    const uint64_t deadline_ns = fp_now_ns() + limit_ns;
    names->pending = calloc(names->question_count + 1, sizeof *names->pending);
    if (names->pending == NULL)
        return FP_ERR_MEMORY;
    names->reply_bytes = 0;
    for (size_t first = gather(names) > 0 ? 0 : names->module_count; first < names->module_count;) {
        const enum names_state state = run_child(names, first, deadline_ns);
        /* It ended at no module: there is no use in going on. */
        if (state == NAMES_UNASKED || names->begun == NONE || names->begun < first)
            break;
        names->modules[names->begun].state = state;
        first = (size_t)names->begun + 1;
    }
    for (size_t i = 0; i < names->module_count; i++)
        if (names->modules[i].pending_count > 0 && names->modules[i].state == NAMES_UNASKED)
            names->modules[i].state = NAMES_LIMITED;
    free(names->pending);
    names->pending = NULL;
    bytes_release(&names->replies);
    return settle(names) ? FP_OK : FP_ERR_MEMORY;
}

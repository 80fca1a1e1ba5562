/* names.h - names of code addresses, offline: functions, what is inlined into them, files and lines.
 *
 *   module    a file that was mapped into a program, by path and build id; or code without a file
 *   address   in a module: the program's less what the loader added to the file's (struct fp_module.base), so one of the
 *             file's own. Of a return address the byte before it: that is in the call
 *   question  an address of a module, as a number; asked twice it is the same question
 *   frame     what a question is answered with: the function that is there (the physical one), then what is inlined
 *             into it, from the outermost to the innermost
 *
 * First all questions, then names_resolve answers them at once: a child process (mallab-names), with limits of memory and
 * time, reads ELF and DWARF, which are hostile. Its answers are checked. A module that ends it or takes too long costs that
 * module's names, as far as they had not come.
 *
 * A file counts only where its build id is the recorded one. A function has a symbol's name only where the symbol covers
 * the address, or begins where the function's entry of .eh_frame begins; else it is `libruby-3.1.so+0x1a2b40`, with the
 * entry's begin, so one function has one name without symbols, too; without an entry, with the address itself.
 * Nothing is fetched from anywhere unless asked for. One thread at a time. Texts are fit for a terminal (words.h). */
#ifndef MALLAB_SITES_NAMES_NAMES_H
#define MALLAB_SITES_NAMES_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "footprint/base/bytes.h"
#include "footprint/base/status.h"

#define NAMES_INLINED_MAX 64u   /* frames of a question: what is inlined deeper is left out */
#define NAMES_TEXT_MAX    2000u /* bytes of a function's or file's name; longer ones are cut */

struct names;

struct names_options {
    const char *program; /* mallab-names: res_own_program("mallab-names"). Without it nothing is named */
    const char *const
        *directories; /* searched for files and debug files, before the system's; borrowed until names_free */
    size_t directory_count;
    bool may_fetch;    /* ask the servers of DEBUGINFOD_URLS (debuginfod) for what is not here. Else never */
    uid_t owner;       /* whose recording it is: root reads what it names as that user */
    uint64_t limit_ns; /* of names_resolve as a whole; 0: NAMES_LIMIT_NS */
};

#define NAMES_LIMIT_NS        UINT64_C(120000000000)
#define NAMES_MODULE_LIMIT_NS UINT64_C(30000000000) /* of one module, at most */

enum names_kind {
    NAMES_FILE = 0, /* path is the file's as recorded; "linux-vdso.so.1" and "[vdso]" are the kernel's code */
    NAMES_JIT,      /* code compiled at run time: path is a perf map (/tmp/perf-PID.map or a copy), or NULL */
};

struct names_module {
    enum names_kind kind;
    const char *path;
    const uint8_t *build_id;
    size_t build_id_bytes; /* 0: the file has none, or nobody knows it */
};

/* The fate of a module. From NAMES_REPLACED on it says why functions have no names; words: names_state_words. */
enum names_state {
    NAMES_UNASKED = 0, /* not looked at yet */
    NAMES_NAMED,       /* by .symtab, of the file or its debug file, or by a perf map */
    NAMES_STRIPPED,    /* by what it exports only: the other functions have no names */
    NAMES_UNPROVEN, /* as NAMES_NAMED, but without a build id: whether the file was replaced cannot be told */
    NAMES_REPLACED, /* the file at its path has another build id, and the right one is not found */
    NAMES_ABSENT,   /* no such file */
    NAMES_DAMAGED,  /* no ELF file, or its reader ended by a signal; a perf map that is not to be trusted */
    NAMES_LIMITED,  /* it took more time or memory than the limits allow */
    NAMES_UNREAD,   /* we are root, and here root can give up neither its user nor its system calls first */
    NAMES_UNMAPPED, /* no file by its nature: the kernel's, or compiled at run time without a map */
};

struct names_frame {
    const char
        *function;    /* demangled; "libx.so+0x1a2b40", "[vdso]", "[jit]" where it has no name. Never NULL */
    const char *file; /* the source file; NULL: not known, or no lines were asked for */
    uint32_t line;    /* 0: not known */
    bool is_named;    /* function is the name of a symbol, or DWARF's */
    bool is_inlined;  /* false of the first frame, true of all others */
    uint64_t start;   /* where the physical function begins, an address of the module; 0: not known */
};

/* names_new - options are copied, but for the directories.
 * Returns   NULL: no memory. */
struct names *names_new(const struct names_options *options);
void names_free(struct names *names); /* NULL is accepted */

/* names_add_module - what it points at is copied. The same module added twice (kind, path and build id) is one.
 * ret_module  its number, from 0 up.
 * Returns     FP_OK; FP_ERR_MEMORY. */
enum fp_status names_add_module(struct names *names, const struct names_module *module, uint32_t *ret_module);

/* names_ask - ask for the functions at an address, with_lines: also what is inlined there, files and lines (thousands of
 * times as slow: for what is shown). Asking again with lines asks for more.
 * module        as names_add_module told it.
 * ret_question  a number from 0 up; the same for the same module and address, also after names_resolve.
 * Returns       FP_OK; FP_ERR_MEMORY. */
enum fp_status names_ask(struct names *names, uint32_t module, uint64_t address, bool with_lines,
                         uint32_t *ret_question);

/* names_resolve - answer all questions asked since the last time.
 * Returns   FP_OK, also where little was found: see names_module_state; FP_ERR_MEMORY. */
enum fp_status names_resolve(struct names *names);

/* names_frames - the answer: the physical function first, then what is inlined into it. Valid until the next call of
 * names_resolve or names_free. Before names_resolve, and of what it did not reach, one frame without a name.
 * ret_count  1 to NAMES_INLINED_MAX. */
const struct names_frame *names_frames(struct names *names, uint32_t question, size_t *ret_count);

/* names_module_name - the module's name for tables: the path's last part; "[vdso]", "[jit]". */
const char *names_module_name(const struct names *names, uint32_t module);

enum names_state names_module_state(const struct names *names, uint32_t module);

/* names_state_words - words for a module, in a sentence: "was replaced since it was recorded". NULL: there is nothing to say. */
const char *names_state_words(enum names_state state);

/* ---- what mallab and mallab-names, the child that reads ELF and DWARF, tell each other.
 *
 *   arguments  OWNER fetch|here DIRECTORY...: the common places of all modules
 *   request    by the child's standard input, a file: each module, and its questions behind it
 *   reply      by its standard output: one for each frame, and for each module when it begins and when it is done
 *
 * Private to names/. Both are of one build, so all is as in memory; the parent checks replies like a file's. */

#define NAMES_BUILD_ID_MAX 64u
#define NAMES_PATH_MAX     4096u

struct name_question {
    uint64_t address;
    bool with_lines;
};

struct name_asked {
    uint64_t count;  /* of the questions that follow */
    uint32_t number; /* of the module */
    uint32_t kind, build_id_bytes;
    uint8_t build_id[NAMES_BUILD_ID_MAX];
    char path[NAMES_PATH_MAX]; /* "": also where it is longer */
};

enum name_reply_kind {
    NAME_REPLY_BEGINS,   /* of a module */
    NAME_REPLY_FUNCTION, /* the first frame of a question; what was told of it before does not hold */
    NAME_REPLY_INLINED,  /* a further one of the same question */
    NAME_REPLY_DONE,     /* of a module: line is its state */
};

#define NAME_REPLY_NAMED 1u /* flags of a frame */

/* Followed by the function's name and the file's, without zeroes. */
struct name_reply {
    uint32_t module, question; /* question: which of the module's */
    uint64_t start;
    uint32_t line;
    uint16_t function_bytes, file_bytes; /* at most NAMES_TEXT_MAX */
    uint8_t kind, flags;
};

#endif

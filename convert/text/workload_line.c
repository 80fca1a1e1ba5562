/* workload_line.c - words, numbers, ops of a line. */
#include "convert/text/workload_line.h"

#include <string.h>

#include "convert/base/source.h"
#include "convert/ops/rewrite.h"

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

bool conv_next_word(struct conv_words *words, struct conv_word *ret)
{
    while (words->at < words->end && is_blank(*words->at))
        words->at++;
    if (words->at == words->end || *words->at == '#')
        return false;
    ret->at = words->at;
    while (words->at < words->end && !is_blank(*words->at))
        words->at++;
    ret->length = (size_t)(words->at - ret->at);
    return true;
}

bool conv_word_is(const struct conv_word *word, const char *text)
{
    return strlen(text) == word->length && memcmp(word->at, text, word->length) == 0;
}

bool conv_number_of(const struct conv_word *word, uint64_t most, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < word->length; i++)
        if (word->at[i] < '0' || word->at[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(word->at[i] - '0'), &value))
            return false;
    *ret = value;
    return word->length > 0 && value <= most;
}

bool conv_next_number(struct conv_words *words, uint64_t most, uint64_t *ret)
{
    struct conv_word word;
    return conv_next_word(words, &word) && conv_number_of(&word, most, ret);
}

bool conv_at_end(struct conv_words *words)
{
    struct conv_word word;
    return !conv_next_word(words, &word);
}

static enum fp_call call_of(const struct conv_word *word)
{
    char name[48];
    if (word->length >= sizeof name)
        return FP_CALL_NONE;
    for (size_t i = 0; i < word->length; i++)
        name[i] = word->at[i];
    name[word->length] = '\0';
    if (strncmp(name, "operator_", 9) == 0)
        name[8] = ' ';
    return fp_call_from_name(name);
}

/* The words behind the size: `x COUNT` or `align BYTES`, as the call has it, and `fresh`. Returns NULL, or what is wrong. */
static const char *parse_extra(struct conv_words *words, struct wl_op *op)
{
    const enum fp_extra extra = fp_call_extra_of(op->call);
    struct conv_word word;
    uint64_t number;
    if (extra == FP_EXTRA_COUNT) {
        if (!conv_next_word(words, &word) || !conv_word_is(&word, "x") ||
            !conv_next_number(words, UINT16_MAX, &number))
            return "after the size of this call comes 'x' and a count up to 65535";
        op->count = (uint16_t)number;
    } else if (extra == FP_EXTRA_ALIGNMENT) {
        if (!conv_next_word(words, &word) || !conv_word_is(&word, "align") ||
            !conv_next_number(words, CONV_ADDRESS_LIMIT - 1, &number) || number == 0 ||
            (number & (number - 1)) != 0)
            return "after the size of this call comes 'align' and a power of two below 2^48";
        op->align_log2 = (uint8_t)__builtin_ctzll(number);
    }
    if (!conv_next_word(words, &word))
        return NULL;
    if (fp_call_kind_of(op->call) != FP_KIND_RESIZE || !conv_word_is(&word, "fresh") || !conv_at_end(words))
        return "something follows the op";
    op->align_log2 |= WL_OP_FRESH;
    return NULL;
}

const char *conv_parse_op(struct conv_words *words, struct wl_op *ret)
{
    struct conv_words before;
    struct conv_word word;
    uint64_t number;
    const char *wrong;
    *ret = (struct wl_op){0};
    if (!conv_next_word(words, &word) || (ret->call = (uint8_t)call_of(&word)) == FP_CALL_NONE ||
        fp_call_kind_of(ret->call) == FP_KIND_NONE)
        return "no call of the malloc family after the thread";
    if (!conv_next_number(words, WL_IDS_MAX - 1, &number))
        return "no number of an object below 2^31";
    ret->id = (uint32_t)number;
    before = *words;
    if (conv_next_number(words, CONV_ADDRESS_LIMIT - 1, &number))
        ret->size = number;
    else if (fp_call_kind_of(ret->call) == FP_KIND_RELEASE && !fp_call_tells_size(ret->call))
        *words = before; /* most releases state none */
    else
        return "no size below 2^48 after the object";
    wrong = parse_extra(words, ret);
    if (wrong == NULL && conv_op_bytes(ret) >= CONV_ADDRESS_LIMIT)
        wrong = "count times size is 2^48 or more";
    return wrong;
}

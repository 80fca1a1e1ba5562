/* words.h - numbers as people read them, in messages of a run. */
#ifndef MALLAB_REPLAY_WORDS_H
#define MALLAB_REPLAY_WORDS_H

#define REP_BYTES_TEXT 32 /* room that rep_bytes_text needs */

/* rep_bytes_text - decimal units, as in every table of mallab: "850 B", "61.2 MB". No malloc. Returns ret_text. */
const char *rep_bytes_text(double bytes, char *ret_text);

#endif

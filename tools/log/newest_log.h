/*
 * The log that somebody means who names none.
 */
#ifndef WHICHCUDNN_TOOLS_NEWEST_LOG_H
#define WHICHCUDNN_TOOLS_NEWEST_LOG_H

/* The newest log of this user in the places where the shim and `run` put them: $WHICHCUDNN_LOG, the
 * working directory, $TMPDIR, /tmp. NULL: there is none, and *looked says where it was looked for.
 * The caller frees both. */
char *newest_log(char **looked);

#endif

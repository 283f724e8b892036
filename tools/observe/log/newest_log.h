/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log to read if none is named.
 */
#pragma once

/* The newest log of this user in the places where `run` and the shim put them: $WHICHCUDNN_LOG, the
 * working directory, $TMPDIR, /tmp, and directories of the user's own in those two. NULL: there is
 * none, and *looked says where it was looked for. The caller frees both. */
char *newest_log(char **looked);

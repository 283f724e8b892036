/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a file a library that processes of this computer can have preloaded?
 */
#pragma once

/* By its header alone: of this processor, whole. NULL: yes; else why not, as a sentence without its
 * full stop, which the caller frees. */
char *shim_file_trouble(const char *path);

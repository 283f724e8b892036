/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `probe` tries, in the process that is there to try it: it may crash or hang, and says before
 * each step which one comes. Lines on standard output: a word, a space, the rest.
 *   step WHAT         about to be tried
 *   name NAME         the library is loaded, by this name
 *   version NUMBER    what cudnnGetVersion returned
 *   gpu NAME          there is one to try on;  nogpu WHY: there is none
 *   failed WORDS      the step came to nothing
 *   works             the convolution gave the right values
 */
#pragma once

/* path: the library; NULL: the first of libcudnn.so.9, .8, .7, libcudnn.so that is found. */
int probe_child(const char *path);

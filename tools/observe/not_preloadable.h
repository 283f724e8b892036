/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a preloaded library cannot wake in a program, as far as its file shows.
 */
#pragma once

/* command: as given to exec. NULL: nothing in the file speaks against it. *program: the file that
 * is run, for a script its interpreter; NULL: there is none. The caller frees both. */
char *unobserved_reason(const char *command, char **program);
/* The part of that which is for rights that the program itself has. The caller frees. */
char *unobserved_rights(const char *path);
/* The program of that name in a list as PATH has it, as execvp finds it; one with a slash is where
 * it says. Relative ones begin in the directory; NULL: here. NULL: there is none. The caller frees.
 */
char *find_program(const char *name, const char *list, const char *directory);

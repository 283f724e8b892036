/*
 * Files in question: not loaded, and the reason may lie in what they are. Each is looked at where
 * it lies and told once. The shim's lock is held in all functions.
 */
#ifndef SHIM_QUESTION_H
#define SHIM_QUESTION_H

#include "requests.h"

/* The file that the loader's words name (text, NULL: nobody asked for them), or that stands where
 * the request's own path leads, or beside that. */
void question_failed(const struct request *r, const char *text);
/* A file that the request's name leads to. False: it is not there, and nothing is told of it. */
bool question_file(const struct request *r, const char *path);
/* Files of the library that was asked for in this directory, under other names. */
void question_beside(const struct request *r, const char *directory, size_t length);

#endif

/*
 * Where the loader looked for a library of cuDNN or CUDA, and what else stands there: replayed by
 * its rules (whichcudnn/search.h) and written down. The shim's lock is held in all functions.
 */
#ifndef SHIM_SEARCHES_H
#define SHIM_SEARCHES_H

#include "objects.h"
#include "requests.h"

/* A new object that somebody asked for or needs, by a bare name. */
void searches_tell_object(const struct object *o);
/* What a new host needs of cuDNN was there before it came. e: its image. */
void searches_tell_needed(const struct object *host, const struct wc_elf_image *e);
/* A request that brought nothing new: what answers to it was there before. */
void searches_tell_answered(const struct request *r);
/* A request that failed. */
void searches_tell_failed(const struct request *r);

/* Is a library of that name worth a replay? */
bool searches_matter(const char *name);

#endif

/*
 * A first look at a file: can it have to do with cuDNN? Of most files the ELF header, the dynamic
 * section and the names in .dynstr are read, and nothing else: a tree has thousands of libraries,
 * and what is read of them is what a scan costs. look.h tells all of the few that remain.
 */
#ifndef WHICHCUDNN_TOOLS_GLANCE_H
#define WHICHCUDNN_TOOLS_GLANCE_H

#include "tools/util/disk.h"

enum glance_answer {
    GLANCE_NOTHING, /* it has nothing to do with cuDNN, or is no ELF object of 64 bits */
    GLANCE_NAMES,   /* a symbol begins with "cudnn", or it needs a "libcudnn" */
    GLANCE_OPENS,   /* it calls dlopen and has a name of cuDNN's libraries in its constants */
    GLANCE_DAMAGED
};

#define GLANCE_CONSTANTS_MOST ((uint64_t)8 << 20) /* a file whose constants are searched */
#define GLANCE_NAME_MOST 32

struct glance {
    unsigned char *room;
    const char *why; /* DAMAGED: a literal */
    /* Of cuDNN's libraries: "libcudnn.so.9", "libcudnn_graph.so"; until the next glance. */
    char name[GLANCE_NAME_MOST][64];
    size_t names;
};

void glance_begin(struct glance *g);
void glance_end(struct glance *g);
/* all: look for constants even in a file so large that it would cost much. */
enum glance_answer glance_at(struct glance *g, int fd, uint64_t size, bool all);
/* Fills in the names of cuDNN's libraries that are constants of the file, of at most `most` bytes
 * of them. Nothing of a damaged file. */
void glance_constants(struct glance *g, int fd, uint64_t size, uint64_t most);

#endif

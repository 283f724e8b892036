/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A first look at a file: can it have to do with cuDNN? Of most files the headers, the dynamic
 * section and the names in .dynstr are read, and nothing else: a tree has thousands of libraries,
 * and what is read of them is what a scan costs.
 */
#pragma once

#include "elf_file.h"

enum elf_prescan_answer {
    ELF_PRESCAN_NOTHING, /* it has nothing to do with cuDNN, or is not an ELF object of 64 bits */
    ELF_PRESCAN_NAMES,   /* a symbol begins with "cudnn", or it needs a "libcudnn" */
    ELF_PRESCAN_OPENS,   /* it calls dlopen and has a name of cuDNN's libraries in its constants, or
                          * declares in a .note.dlopen that it opens one */
    ELF_PRESCAN_DAMAGED
};

#define ELF_PRESCAN_CONSTANTS_MOST ((uint64_t)8 << 20) /* a file whose constants are searched */
#define ELF_PRESCAN_NAME_MOST 32
/* `doctor` asks for it. No library has the name, so the file that holds it is the command. */
#define ELF_PRESCAN_OF_COMMAND "libcudnn.so.of-doctor"

struct elf_prescan { /* all zero: nothing was looked at yet */
    const char *why; /* DAMAGED: a literal */
    /* Of cuDNN's libraries: "libcudnn.so.9", "libcudnn_graph.so"; until the next prescan. Those
     * that a .note.dlopen declares come first. */
    struct elf_prescan_name {
        char text[64];
        enum wc_priority priority; /* UNKNOWN: a constant */
        bool or_else;              /* serves in place of the name before it */
    } name[ELF_PRESCAN_NAME_MOST];
    size_t names;
    int32_t cuda; /* major by which a constant names one of its libraries; 0: none, -1: several */
    bool opens;   /* one of them is declared, or a facade */
    bool knows_declared; /* a constant is a declared name: all constants are its alternatives */
    bool damaged_note;   /* a .note.dlopen that names cuDNN cannot be read, and none is used */
    bool is_command;     /* whichcudnn: it knows all names and opens none */
};

/* all: look for constants even in a file so large that it would cost much. */
enum elf_prescan_answer elf_prescan_at(struct elf_prescan *g, const struct elf_file *l, bool all);
/* Fills in the names of cuDNN's libraries that are constants of the file, of at most `most` bytes
 * of them, and the CUDA that they name. Nothing of a damaged file. */
void elf_prescan_constants(struct elf_prescan *g, const struct elf_file *l, uint64_t most);

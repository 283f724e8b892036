/* SPDX-License-Identifier: Apache-2.0 */
#include "programs.h"

enum end { PREFIX, WHOLE };

static const struct {
    const char *name;
    enum wc_program_kind kind;
    enum end end;
} programs[] = {
#define PROGRAM(kind, name, end) {name, WC_PROGRAM_##kind, end},
#include "programs.def"
};

bool wc_program_is(const char *path, unsigned kinds) {
    const char *name = path ? wc_base_name(path) : "";

    return WC_ANY(program, WC_ROWS(programs),
                  program->kind & kinds &&
                      (program->end == WHOLE ? wc_str_same(name, program->name)
                                             : wc_str_starts(name, program->name)));
}

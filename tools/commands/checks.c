/* SPDX-License-Identifier: Apache-2.0 */
/* See checks.h. */
#include "checks.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/log/record_json.h"
#include "tools/util/memory.h"
#include "tools/util/terminal.h"

static const char *const words[CHECK_STATES] = {"ok", "warning", "error"};
static const char *const verdicts[CHECK_STATES] = {"ok", "warnings", "errors"};

void checks_add(struct checks *c, const char *name, enum check_state state, char *text, char *fix) {
    c->p = must_grow(c->p, (c->n + 1) * sizeof(*c->p));
    c->p[c->n++] = (struct check){state, name, text, fix};
}

enum check_state checks_worst(const struct checks *c) {
    enum check_state worst = CHECK_OK;

    for (size_t i = 0; i < c->n; i++)
        if (c->p[i].state > worst)
            worst = c->p[i].state;
    return worst;
}

void checks_print(const struct checks *c, bool colour) {
    static const enum paint paints[CHECK_STATES] = {PAINT_OK, PAINT_WARNING, PAINT_ERROR};

    for (size_t i = 0; i < c->n; i++) {
        const struct check *k = &c->p[i];
        printf("%s%-7s%s  %-12s  ", paint_begin(colour, paints[k->state]), words[k->state],
               paint_end(colour), k->name);
        print_format(stdout, "%s\n", k->text);
        if (k->fix) {
            printf("%23s", "");
            print_format(stdout, "%s\n", k->fix);
        }
    }
}

json_t *checks_json(const struct checks *c) {
    json_t *list = json_array();

    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o, s:o}", "name", c->p[i].name, "state",
                                        words[c->p[i].state], "text", text_to_json(c->p[i].text),
                                        "fix", text_to_json(c->p[i].fix)));
    return json_pack("{s:s, s:o}", "verdict", verdicts[checks_worst(c)], "checks", list);
}

void checks_end(struct checks *c) {
    for (size_t i = 0; i < c->n; i++) {
        free(c->p[i].text);
        free(c->p[i].fix);
    }
    free(c->p);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "explain.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/demand/diagnose.h"
#include "core/demand/questions.h"
#include "core/model/status.h"
#include "core/names/names.h"
#include "tools/util/memory.h"
#include "tools/util/program.h"
#include "tools/util/terminal.h"

/* Asked of the match, not written in the table. */
static const char by_library[] = "by library", by_cudnn[] = "by cudnn",
                  by_versions[] = "by versions";
#define BY_LIBRARY by_library
#define BY_CUDNN by_cudnn
#define BY_VERSIONS by_versions

static const struct message table[] = {
#define MESSAGE(name, what, words, meaning, fits, ...)                                             \
    {.id = name,                                                                                   \
     .effect = EFFECT_##what,                                                                      \
     .pattern = words,                                                                             \
     .means = meaning,                                                                             \
     .findings = fits,                                                                             \
     .next = __VA_ARGS__},
#include "tools/knowledge/messages.def"
};
static const char *const versions[][2] = {
#define VERSION_FINDINGS(fit, older, newer) [fit] = {older, newer},
#include "tools/knowledge/messages.def"
};
static const struct {
    enum wc_name_kind kind;
    const char *of_loader, *of_cudnn;
} libraries[] = {
#define LIBRARY_FINDINGS(kind, of_loader, of_cudnn) {kind, of_loader, of_cudnn},
#include "tools/knowledge/messages.def"
};
static const struct {
    const char *word;
    int is;
} roles[] = {
#define ROLE(word, is) {word, is},
#include "tools/knowledge/messages.def"
};
#define GROUPS 16
#define NAME_MOST 16  /* characters of "cudnn version = " */
#define WORD_MOST 256 /* longer words are broken: a search costs the square of a word's length */
#define DISTINCT_MOST                                                                              \
    1000 /* texts of one message: to compare them costs the square of their number */

/* ---- the text as the patterns require it ---- */

struct flat {
    char *text;
    unsigned *line; /* of each character */
    char *taken;    /* characters that a row has recognized */
    size_t n;
};

static void flatten(struct flat *flat, const char *text, size_t n) {
    unsigned line = 1;
    size_t word = 0;

    flat->text = must_allocate(n + 1);
    flat->line = must_allocate((n + 1) * sizeof(*flat->line));
    flat->taken = must_allocate(n + 1);
    for (size_t i = 0; i < n; i++) {
        bool blank = (unsigned char)text[i] <= ' ' || word == WORD_MOST;
        if (n - i >= 2 && text[i] == 0x1B && text[i + 1] == '[') {
            /* "ESC [ ... letter", the orders that colour a terminal. */
            for (i += 2; i < n && (text[i] < '@' || text[i] > '~');)
                i++;
            continue;
        }
        if (!blank || (flat->n > 0 && flat->text[flat->n - 1] != ' ')) {
            flat->text[flat->n] = blank ? ' ' : text[i];
            flat->line[flat->n++] = line;
        }
        word = blank ? 0 : word + 1;
        line += text[i] == '\n';
    }
}

/* ---- what a match says ---- */

/* NULL: that group is not in the match. */
static char *copy_group(struct messages *found, const struct flat *flat, const regmatch_t *group) {
    if (group->rm_so < 0)
        return NULL;
    return wc_arena_string_n(&found->memory.arena, flat->text + group->rm_so,
                             (size_t)(group->rm_eo - group->rm_so));
}

/* "8.3.2", "(8, 3, 2)", 8302. */
static struct wc_version version_of(const char *s) {
    char plain[WC_VERSION_TEXT];
    size_t n = 0;

    for (; s && *s && n + 1 < sizeof(plain); s++)
        if (*s == ',')
            plain[n++] = '.';
        else if (*s != ' ' && *s != '(' && *s != ')')
            plain[n++] = *s;
    plain[n] = 0;
    if (n > 2 && !strchr(plain, '.'))
        return wc_version_from_number(strtoull(plain, NULL, 10));
    return wc_version_of(plain);
}

/* Frameworks changed their rules, and most texts stayed: the rule that refuses the two decides. */
static void judge(struct message_match *m) {
    const struct message *message = m->message;
    bool ends = message->effect == EFFECT_FATAL;

    m->fit = WC_FIT_UNKNOWN;
    if (!wc_version_known(m->wanted_version) || !wc_version_known(m->found_version))
        return;
    for (size_t i = 0; i < 3 && (i == 0 || message->rules[i]); i++) {
        enum wc_rule rule = message->rules[i] ?: WC_RULE_NVIDIA;
        enum wc_fit fit = wc_rule_check(rule, m->wanted_version, m->found_version);
        /* The last major version of cuDNN that releases with that rule were built with, but for
         * the newest rule of each. */
        const int32_t last = rule == WC_RULE_PADDLE_MINOR || rule == WC_RULE_OPENCV_EXACT ? 8 : 7;
        if (i > 0 && (wc_refuses(m->fit) || !wc_refuses(fit) || m->wanted_version.major > last))
            continue;
        m->rule = rule;
        m->fit = fit;
    }
    if (m->fit == WC_FITS && message->by_words &&
        (strstr(m->text, ".x") || strstr(m->text, ".*"))) {
        m->rule = WC_RULE_SERIES;
        m->fit = wc_rule_check(m->rule, m->wanted_version, m->found_version);
    }
    /* It ended for these two: by another rule, of which no more is sure. */
    ends = ends || (message->by_words &&
                    WC_ANY(row, WC_ROWS(roles), row->is == 0 && strcasestr(m->text, row->word)));
    if (m->fit == WC_FITS && ends) {
        m->rule = WC_RULE_EXACT;
        m->fit = wc_rule_check(m->rule, m->wanted_version, m->found_version);
    }
}

static const char *findings_of(const struct message_match *m) {
    const struct wc_version wanted = m->wanted_version, found = m->found_version;
    const char *listed = m->message->findings;
    const bool by_name = listed == by_library || listed == by_cudnn;

    if (listed == by_versions) {
        const bool newer = wc_version_compare(found, wanted) > 0;
        const enum wc_fit fit = !wc_version_known(wanted) || !wc_version_known(found)
                                    ? WC_FIT_UNKNOWN
                                : found.major != wanted.major ? WC_OTHER_MAJOR
                                : m->fit == WC_FIT_UNKNOWN    ? (newer ? WC_TOO_NEW : WC_TOO_OLD)
                                                              : m->fit;
        return versions[fit][newer];
    }
    WC_EACH_ROW(row, libraries)
        if (by_name && row->kind == wc_name_kind_of(m->library))
            return listed == by_cudnn ? row->of_cudnn : row->of_loader;
    return by_name ? "" : listed;
}

/* ---- two numbers ---- */

/* The last of the words that are surest. */
static int role_in(const struct flat *flat, regoff_t from, regoff_t to) {
    int is = 0;

    for (regoff_t at = from; at < to; at++)
        WC_EACH_ROW(row, roles)
            if (strncasecmp(flat->text + at, row->word, strlen(row->word)) == 0 &&
                abs(row->is) >= abs(is))
                is = row->is;
    return is;
}

/* Puts the wanted number and the found one into their groups. False: no word says which is which.
 */
static bool put_by_words(const struct message *message, const struct flat *flat,
                         regmatch_t *groups) {
    const regmatch_t all = groups[0], one = groups[message->wanted], two = groups[message->found];
    const int behind = role_in(flat, two.rm_eo, all.rm_eo);
    int of_one = role_in(flat, all.rm_so, one.rm_so), of_two = role_in(flat, one.rm_eo, two.rm_so);

    if (of_one == 0 && behind != 0) { /* "8902 (compiled), 8700 (runtime)" */
        of_one = of_two;
        of_two = behind;
    }
    /* A number without a word is a version right behind "cudnn", and after the wanted one. */
    if (of_one == of_two || (of_one < 0 && of_two == 0) ||
        (of_one == 0 && one.rm_so - all.rm_so > NAME_MOST))
        return false;
    groups[message->wanted] = of_one > of_two ? one : two;
    groups[message->found] = of_one > of_two ? two : one;
    return true;
}

/* ---- finding them ---- */

static void add(struct messages *found, const struct message *message, const struct flat *flat,
                const regmatch_t *groups) {
    struct message_match *m = MUST_ADD(found->p, found->n);
    m->message = message;
    m->at = (size_t)groups[0].rm_so;
    m->line = flat->line[m->at];
    m->times = 1;
    m->text = copy_group(found, flat, &groups[0]);
    m->library = message->library ? copy_group(found, flat, &groups[message->library]) : NULL;
    m->wanted = message->wanted ? copy_group(found, flat, &groups[message->wanted]) : NULL;
    m->found = message->found ? copy_group(found, flat, &groups[message->found]) : NULL;
    m->wanted_version = version_of(m->wanted);
    m->found_version = version_of(m->found);
    m->rule = WC_RULE_NONE;
    judge(m);
    m->findings = findings_of(m);
}

static void find_one(const struct message *message, struct flat *flat, struct messages *found) {
    regex_t compiled;
    regmatch_t groups[GROUPS];
    size_t at = 0, first = found->n;

    if (regcomp(&compiled, message->pattern, REG_EXTENDED | REG_ICASE) != 0)
        abort(); /* a row of our own: tests/unit/test_messages.c compiles each */
    while (at < flat->n && found->n - first < DISTINCT_MOST) {
        groups[0] = (regmatch_t){(regoff_t)at, (regoff_t)flat->n};
        if (regexec(&compiled, flat->text, GROUPS, groups, REG_STARTEND) != 0)
            break;
        const char *words = flat->text + groups[0].rm_so;
        const size_t n = (size_t)(groups[0].rm_eo - groups[0].rm_so);
        const char *taken = memrchr(flat->taken + groups[0].rm_so, 1, n);
        if (taken) { /* "CUDNN_STATUS_BAD_PARAM (cuDNN 90100, built with 90800)" */
            at = (size_t)(taken + 1 - flat->taken);
            continue;
        }
        if (!message->by_words || put_by_words(message, flat, groups)) {
            size_t i = first;
            memset(flat->taken + groups[0].rm_so, 1, n);
            /* The same words again print nothing new; other words of the same row do. */
            while (i < found->n &&
                   (strlen(found->p[i].text) != n || strncmp(found->p[i].text, words, n) != 0))
                i++;
            if (i < found->n)
                found->p[i].times++;
            else
                add(found, message, flat, groups);
        }
        at = (size_t)groups[0].rm_eo + (groups[0].rm_eo == groups[0].rm_so);
    }
    regfree(&compiled);
}

/* ---- which is the likeliest ---- */

/* What a message counts for: what ends the program most, a name or a version twice a status. */
static unsigned weight(const struct message_match *m) {
    static const unsigned effects[] = {
        [EFFECT_FATAL] = 4, [EFFECT_FALLBACK] = 2, [EFFECT_DEPENDS] = 1, [EFFECT_ELSEWHERE] = 0};

    return effects[m->message->effect] * (m->library || m->found ? 2 : 1);
}

/* The first finding of a row counts 1, its second a half, its third a third. */
static unsigned says(const struct message_match *m, const char *id) {
    unsigned place = 0;

    WC_EACH_ELEMENT(word, m->findings, " ") {
        place++;
        if (strlen(id) == word.n && memcmp(id, word.p, word.n) == 0)
            return 60 * weight(m) / place;
    }
    return 0;
}

static void rank(struct messages *m) {
    size_t n;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);
    unsigned most = 0;

    WC_EACH(match, *m)
        if (match->message->effect == EFFECT_ELSEWHERE && !WC_ANY(other, *m, other->library)) {
            m->main = (size_t)(match - m->p);
            return;
        }
    for (size_t i = 0; i < n; i++) {
        struct message_finding f = {kind[i].id, kind[i].title, 0};
        size_t at = m->ranked.n;
        WC_EACH(match, *m)
            f.score += says(match, f.id);
        if (f.score == 0)
            continue;
        MUST_ADD(m->ranked.p, m->ranked.n);
        for (; at > 0 && m->ranked.p[at - 1].score < f.score; at--)
            m->ranked.p[at] = m->ranked.p[at - 1];
        m->ranked.p[at] = f;
    }
    WC_EACH(match, *m) {
        unsigned value = m->ranked.n > 0 ? says(match, m->ranked.p[0].id) : weight(match);
        m->main = value > most ? (size_t)(match - m->p) : m->main;
        most = value > most ? value : most;
    }
}

WC_COMPARE(earlier_first, struct message_match, WC_ORDER(x->at, y->at));

void messages_find(const char *text, size_t n, struct messages *found) {
    struct flat flat = {NULL, NULL, NULL, 0};

    *found = (struct messages){.memory = HEAP_ARENA(found->memory)};
    flatten(&flat, text, n);
    WC_EACH_ROW(message, table)
        find_one(message, &flat, found);
    free(flat.text);
    free(flat.line);
    free(flat.taken);
    SORT(*found, earlier_first);
    rank(found);
}

void messages_end(struct messages *m) {
    heap_arena_end(&m->memory);
    free(m->p);
    free(m->ranked.p);
}

/* ---- which process the numbers are of ---- */

/* The only one that asked cuDNN for its version, as a host that compares it does, of no framework:
 * XLA asks by another function, which is not watched. NULL: not known. */
static const struct wc_object *asker_of(const struct wc_stack *s) {
    const struct wc_object *asker = NULL;

    WC_EACH(call, s->calls) {
        const struct wc_object *host = wc_str_same(call->r.function, "cudnnGetVersion")
                                           ? wc_object_of(s, call->r.host, call->r.host_path)
                                           : NULL;
        bool is_known = host && (host->r.framework ||
                                 WC_ANY(d, s->demands, wc_is_demand_by(d, host) && d->r.framework));
        if (is_known || (host && asker && host != asker))
            return NULL;
        asker = host ?: asker;
    }
    return asker;
}

/* That of the framework; else the only one, or the only one that asked. NULL: not known. */
static const struct wc_object *host_of(const struct wc_stack *s, const char *framework) {
    const struct wc_object *first = WC_FIRST(o, s->objects, wc_wants_cudnn(o));
    const struct wc_object *own =
        WC_FIRST(o, s->objects,
                 framework && wc_wants_cudnn(o) &&
                     (WC_ANY(d, s->demands,
                             wc_is_demand_by(d, o) && wc_str_same(d->r.framework, framework)) ||
                      (o->r.installation && wc_str_starts(o->r.installation, framework))));

    if (own)
        return own;
    return WC_ANY(o, s->objects, wc_wants_cudnn(o) && o != first) ? asker_of(s) : first;
}

/* What that host is bound to; else the only facade. */
static const struct wc_object *facade_of(const struct wc_stack *s, const struct wc_object *host) {
    const struct wc_object *first = wc_first_facade(s);

    WC_EACH(b, s->bindings)
        if (host && wc_is_binding_of(b, host)) {
            const struct wc_object *o = wc_object_of(s, b->r.target, b->r.target_path);
            if (o && o->r.role == WC_role_FACADE)
                return o;
        }
    return WC_ANY(o, s->objects, o->r.role == WC_role_FACADE && o->r.mapped && o != first) ? NULL
                                                                                           : first;
}

/* ---- the two numbers, or the status of a call ---- */

#define STATUS_PREFIX "CUDNN_STATUS_"
#define STATUS_MOST 8192 /* above the last of core/model/status.c */

/* where: "what it printed, line 3 of FILE" */
static void add_match(const struct wc_stack *s, const struct message_match *m, const char *where,
                      const struct wc_sink *to) {
    const bool compares = m->rule != WC_RULE_NONE;
    const struct wc_object *host = host_of(s, m->message->framework), *facade = facade_of(s, host);
    const char *at = compares ? NULL : strstr(m->text, STATUS_PREFIX), *listed;
    const size_t n = at ? strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") : 0;
    char built[WC_VERSION_TEXT];
    struct wc_library l;
    struct wc_record call, r;

    wc_record_begin(&call, WC_KIND_call);
    call.u.call.phase = WC_phase_AFTER;
    call.u.call.host = host ? host->r.object : WC_NULL;
    call.u.call.host_path = host ? host->r.path : NULL;
    call.u.call.target = facade ? facade->r.object : WC_NULL;
    call.u.call.target_path = facade ? facade->r.path : NULL;
    call.u.call.source = where;
    for (int64_t status = 1; facade && n > 0 && status < STATUS_MOST; status++) {
        listed = wc_status_name(status, wc_major_of(facade));
        if (!listed || strlen(listed) != n || memcmp(listed, at, n) != 0 ||
            WC_ANY(c, s->calls, c->r.status == status)) /* it was watched, and has its own record */
            continue;
        r = call;
        r.u.call.status = status;
        r.u.call.status_name = listed;
        to->add(to->ctx, &r);
    }
    if (facade && compares && m->found_version.patch >= 0) {
        r = call;
        r.u.call.function = "cudnnGetVersion";
        r.u.call.returned_version = (int64_t)wc_version_to_number(m->found_version);
        to->add(to->ctx, &r);
    }
    if (!compares || !wc_version_known(m->wanted_version))
        return;
    wc_version_format(m->wanted_version, built);
    if (!host) {
        wc_emit_expectation(to, where, NULL, built);
    } else {
        wc_library_begin(&l, host->r.path);
        l.number = host->r.object;
        wc_emit_printed(to, &l, where, m->message->framework, wc_rule_name(m->rule), built);
    }
}

/* A scan does not know whether another module loads a missing library first; the loader's words in
 * the text say that none did, so what needs it could not be loaded. */
static void add_missing(const struct wc_stack *s, const char *library, const struct wc_sink *to) {
    const struct wc_failure *f =
        library ? WC_FIRST(f, s->failures,
                           f->r.operation == WC_operation_NEEDED && f->r.inferred && f->r.caller &&
                               wc_str_same(f->r.name, library))
                : NULL;
    struct wc_record r;

    if (!f)
        return;
    OWNED char *words =
        must_format("%s: cannot open shared object file: No such file or directory", library);
    wc_record_begin(&r, WC_KIND_failure);
    r.u.failure.request = WC_NULL;
    r.u.failure.operation = WC_operation_DLOPEN;
    r.u.failure.name = f->r.caller;
    r.u.failure.text = words;
    to->add(to->ctx, &r);
}

void text_into_log(const struct messages *m, const struct text_view *view, struct source *s,
                   const struct wc_sink *to) {
    char version[WC_VERSION_TEXT];

    WC_EACH(match, *m)
        add_missing(&s->stack, match->library, to);
    if (!WC_ANY(o, s->stack.objects, wc_is_cudnn(o)))
        return;
    WC_EACH(match, *m) {
        OWNED char *where = must_format("%s, line %zu%s", view->name, match->line, view->of);
        const struct wc_version found =
            match->rule == WC_RULE_NONE ? WC_VERSION_NONE : match->found_version;
        struct wc_range said = wc_exactly(found);
        enum message_effect effect = match->message->effect;
        const bool refuses = effect == EFFECT_FATAL && !s->stack.has_outcome &&
                             wc_version_known(found) && wc_version_known(match->wanted_version);
        if (effect == EFFECT_NOISE || (view->fallbacks && effect != EFFECT_FALLBACK && !refuses))
            continue;
        if (found.patch < 0) /* "9.10": any of these */
            said.high.patch = INT32_MAX;
        if (!wc_version_known(found) ||
            WC_ANY(o, s->stack.objects, wc_is_cudnn(o) && wc_ranges_meet(wc_own_range(o), said)))
            add_match(&s->stack, match, where, to);
        else if (!view->quiet)
            complain("%s, is not of %s: no cuDNN there can be %s", where, s->path,
                     wc_version_format(found, version));
    }
}

/* ---- the pages ---- */

static const struct page {
    const char *id, *text, *filled;
} pages[] = {
#define PAGE(id, text, filled) {id, text, filled},
#include "findings_pages.inc"
};

const char *page_of(const char *id, bool filled) {
    const struct page *page = WC_FIRST(one, WC_ROWS(pages), strcmp(one->id, id) == 0);

    return !page ? NULL : filled ? page->filled : page->text;
}

/* What is marked stands between one of 1 to 4, which says how it is painted, and 5. */
void page_print(FILE *to, const char *filled, bool colour) {
    static const enum paint paints[] = {PAINT_BOLD, PAINT_ERROR, PAINT_WARNING, PAINT_NOTE};

    for (const char *s = filled; *s; s++)
        if (*s < '\1' || *s > '\5')
            putc(*s, to);
        else
            fputs(*s == '\5' ? paint_end(colour) : paint_begin(colour, paints[*s - '\1']), to);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A finding as text: see core/findings/finding_text.h. Its facts become rows; those that say least
 * go where there is no room. */
#include "finding_text.h"

#include "core/base/shown.h"
#include "finding.h"

enum {
    INDENT = 2,
    KEYS = 12, /* columns before a row's value */
    VALUE = WC_FINDING_COLUMNS - KEYS,
    VALUE_MOST = 1200, /* bytes */
    FIXES = 3,
    COMMAND_LINES = 4,
    BRIEF = 8,      /* lines, below which there is a finding alone */
    FIRST = 4,      /* lines, in which a fix begins */
    WORD_LEAST = 24 /* columns that are left of a path */
};

/* In this order they are printed, and the last of them left out first. */
enum rank {
    RANK_GOT,
    RANK_WANTED,
    RANK_FIX,
    RANK_BEHIND, /* got and wanted, for which there was no room in the first lines */
    RANK_FOUND,
    RANK_NOT_TAKEN,
    RANK_HOST,
    RANK_SAID,
    RANK_OTHER,
    RANK_MIND
};

/* ---- which facts make which rows ---- */

enum how {
    PLAIN,
    LIBRARY, /* version and installation behind it belong to it */
    SOURCED, /* with its source */
    DEMAND,  /* the same, without "requires" */
    ONCE,    /* the first of them says what all do */
    NOWHERE
};

static const struct fact_row {
    const char *name, *key;
    enum rank rank;
    enum how how;
    unsigned char most;
} fact_rows[] = {
#define ROW(name, key, rank, how, most) {name, key, RANK_##rank, how, most},
#include "finding_rows.def"
};

static struct fact_row row_of(const struct wc_fact *fact) {
    WC_EACH_ROW(row, fact_rows)
        if (wc_str_same(row->name, fact->name))
            return *row;
    return (struct fact_row){fact->name, fact->name, RANK_OTHER, PLAIN, 1};
}

/* ---- the page ---- */

/* Harmless, on the page; NULL: there is no room for it. */
static const char *keep(struct wc_finding_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *keep(struct wc_finding_page *page, const char *format, ...) {
    struct wc_text raw, shown;
    va_list list;

    wc_text_begin(&raw, page->raw, sizeof page->raw);
    va_start(list, format);
    wc_text_format_list(&raw, format, list);
    va_end(list);
    wc_text_begin(&shown, page->shown, sizeof page->shown - 3);
    wc_text_add_shown(&shown, page->raw);
    shown.cap += 3;
    if (raw.cut || shown.cut)
        wc_text_add(&shown, "...");
    return wc_arena_string(&page->arena.arena, page->shown);
}

static struct wc_finding_row *add_row(struct wc_finding_page *page, const char *key, enum rank rank,
                                      const char *value) {
    struct wc_finding_row *row = &page->row[page->rows];

    if (!key || !value || page->rows == WC_FINDING_ROWS)
        return NULL;
    page->rows++;
    *row = (struct wc_finding_row){
        .key = key, .value = value, .rank = rank, .weight = rank, .most = 1};
    return row;
}

/* ---- rows of facts ---- */

static bool of_path(char c) {
    return wc_is_alphanumeric(c) || (c && wc_str_find_char("/._-+@~$%", c)) || (c & 0x80);
}

/* As a word of its own? */
static bool holds(const char *text, const char *word) {
    size_t n = wc_str_length(word);

    for (const char *p = text; (p = wc_str_find(p, word)); p++)
        if ((p == text || !of_path(p[-1])) && !of_path(p[n]))
            return true;
    return false;
}

/* By the title or another row; a host's path by who asked. */
static bool is_told(const struct wc_finding_page *page, enum rank rank, const char *value) {
    bool told = holds(page->title, value);

    for (size_t i = 0; i < page->rows && !told; i++)
        told = rank == RANK_HOST && page->row[i].rank == rank
                   ? holds(page->row[i].value, value)
                   : rank != RANK_GOT && wc_str_same(page->row[i].value, value);
    return told;
}

/* Several of one kind share a line where they are short. */
static bool join(struct wc_finding_page *page, const char *key, const char *value) {
    for (size_t i = 0; i < page->rows; i++) {
        struct wc_finding_row *row = &page->row[i];
        const char *both = NULL;
        if (!wc_str_same(row->key, key))
            continue;
        if (holds(row->value, value))
            return true;
        if (wc_columns(row->value) + 2 + wc_columns(value) <= VALUE)
            both = wc_arena_format(&page->arena.arena, "%s, %s", row->value, value);
        if (both) {
            row->value = both;
            return true;
        }
    }
    return false;
}

static bool in_no_package(const struct wc_stack *s, int64_t object) {
    const struct wc_object *o = s ? wc_stack_object(s, object) : NULL;

    return o && !o->r.installation && o->r.installation_kind == WC_installation_kind_DIRECTORY;
}

/* A file, with the facts behind it that are about it: "PATH  9.1.0, nvidia-cudnn-cu12 9.1.0.70". */
static const char *format_library(struct wc_finding_page *page, const struct wc_finding_record *f,
                                  const struct wc_stack *s, size_t *i) {
    const char *path = f->facts.p[*i].value, *real = NULL, *soname = NULL, *version = NULL,
               *whose = NULL;

    for (; *i + 1 < f->facts.n; (*i)++) {
        const struct wc_fact *next = &f->facts.p[*i + 1];
        const char **to = wc_str_same(next->name, "real path")      ? &real
                          : wc_str_same(next->name, "leads to")     ? &real
                          : wc_str_same(next->name, "SONAME")       ? &soname
                          : wc_str_same(next->name, "version")      ? &version
                          : wc_str_same(next->name, "installation") ? &whose
                                                                    : NULL;
        if (!to)
            break;
        *to = next->value;
    }
    if (wc_str_same(version, "unknown"))
        version = NULL;
    if (version && !whose && in_no_package(s, f->object))
        whose = "in no package";
    if (real && wc_str_same(wc_base_name(real), wc_base_name(path))) {
        path = real;
        real = NULL;
    }
    if (wc_str_same(soname, wc_base_name(path)))
        soname = NULL;
    return keep(page, "%s%s%s%s%s%s%s%s%s", path, real ? " -> " : "", real,
                soname ? "  SONAME " : "", soname, version || whose ? "  " : "", version,
                version && whose ? ", " : "", whose);
}

static const char *format_fact(struct wc_finding_page *page, const struct fact_row *row,
                               const struct wc_fact *fact) {
    const char *value = fact->value ? fact->value : "not known", *source = fact->source;
    const char *file = source ? wc_str_find(source, ", /") : NULL;
    bool sourced = source && (row->how == SOURCED || row->how == DEMAND);

    if (row->how == DEMAND && wc_str_starts(value, "requires "))
        value += sizeof "requires " - 1;
    if (wc_str_same(row->name, "LD_LIBRARY_PATH"))
        return keep(page, "LD_LIBRARY_PATH: %s", value);
    if (!sourced)
        return keep(page, "%s", value);
    return keep(page, "%s  (%.*s)", value, file ? (int)(file - source) : (int)wc_str_length(source),
                source);
}

static bool has_row(const struct wc_finding_page *page, const char *key) {
    for (size_t i = 0; i < page->rows; i++)
        if (wc_str_same(page->row[i].key, key))
            return true;
    return false;
}

static void add_facts(struct wc_finding_page *page, const struct wc_finding_record *f,
                      const struct wc_stack *s) {
    for (size_t i = 0; i < f->facts.n; i++) {
        const struct wc_fact *fact = &f->facts.p[i];
        struct fact_row of = row_of(fact);
        const char *key = of.key == fact->name ? keep(page, "%s", fact->name) : of.key;
        const char *value;
        struct wc_finding_row *row;

        if (of.how == NOWHERE || (of.how == ONCE && has_row(page, key)))
            continue;
        value = of.how == LIBRARY ? format_library(page, f, s, &i) : format_fact(page, &of, fact);
        if (!value || (of.how != LIBRARY && is_told(page, of.rank, value)) ||
            join(page, key, value))
            continue;
        row = add_row(page, key, of.rank, value);
        if (row)
            row->most = of.most;
    }
}

/* ---- rows of fixes ---- */

static const char *without_or(const char *text) {
    return wc_str_starts(text, "or ") ? text + 3 : text;
}

/* "install NAME" below "pip install NAME" says nothing. */
static bool says_more(const char *text) {
    return wc_str_find_char(text, ';') ||
           (!wc_str_starts(text, "install ") && !wc_str_starts(text, "reinstall "));
}

static size_t lines_of(const char *value) {
    return (wc_columns(value) + VALUE - 1) / VALUE;
}

static void add_fix(struct wc_finding_page *page, const struct wc_fix *fix, bool first) {
    const char *key = first ? "fix" : " or",
               *text = without_or(fix->text ? fix->text : fix->action);
    const char *command = fix->command ? keep(page, "%s", fix->command) : NULL;
    bool whole = command && wc_str_length(command) < sizeof page->raw - 1 &&
                 lines_of(command) < COMMAND_LINES;
    struct wc_finding_row *row = add_row(
        page, key, RANK_FIX,
        whole ? command : keep(page, "%s%s", text, command ? " (its command: report -v)" : ""));

    if (!row)
        return;
    row->command = whole;
    row->most = whole ? COMMAND_LINES : 2;
    row->weight = first ? RANK_FIX : RANK_FOUND;
    row = whole && says_more(text) ? add_row(page, "", RANK_FIX, keep(page, "%s", text)) : NULL;
    if (row) {
        row->most = 2;
        row->weight = RANK_MIND;
    }
}

/* ---- what is loaded ---- */

static const char *rule_of(struct wc_finding_page *page, const struct wc_stack *s,
                           const struct wc_object *o) {
    const struct wc_searched *f = wc_search_of(s, o);
    const char *word = f ? wc_enum_word(WC_ENUM_search_rule, f->r.rule) : NULL;

    if (!word)
        return "";
    return keep(page, ", %s%s%s", word, f->r.of ? " of " : "",
                f->r.of ? wc_base_name(f->r.of) : "");
}

#define PARTS 16

/* "facade 9.1.0, DT_RPATH of host; graph, ops 9.1.0, DT_RUNPATH of libcudnn.so.9": those with one
 * version and rule together. */
static const char *format_loaded(struct wc_finding_page *page, const struct wc_stack *s,
                                 const struct wc_object *facade) {
    const char *list = "", *before = NULL;
    size_t n = 0;

    WC_EACH(o, s->objects) {
        bool part = o->r.role == WC_role_PART && o->r.mapped && wc_in_set(s, o, facade);
        const char *what;
        if ((o != facade && !part) || ++n > PARTS)
            continue;
        what = keep(page, "%s%s", o->r.version ? o->r.version : "of unknown version",
                    rule_of(page, s, o));
        if (part && before && wc_str_same(what, before))
            list = keep(page, "%s, %s", list, o->r.part);
        else
            list = keep(page, "%s%s%s%s%s", list, before ? " " : "", before, before ? "; " : "",
                        part ? o->r.part : "facade");
        before = what;
        if (!list || !before)
            return NULL;
    }
    return keep(page, "%s %s%s", list, before, n > PARTS ? "; ..." : "");
}

static bool names_a_part(const struct wc_finding_record *f) {
    return WC_ANY(fact, f->facts,
                  wc_str_same(fact->name, "graph") || wc_str_same(fact->name, "ops"));
}

/* ---- what has room ---- */

static size_t lines_for(const struct wc_finding_row *row) {
    size_t n = lines_of(row->value);

    return n < row->most ? n : row->most;
}

/* By weight; in the order of the rows where that is the same. */
static void choose(struct wc_finding_page *page, size_t lines) {
    for (int weight = 0; weight <= RANK_MIND; weight++)
        for (size_t i = 0; i < page->rows; i++) {
            struct wc_finding_row *row = &page->row[i];
            if (row->weight != weight || lines_for(row) > lines)
                continue;
            row->chosen = true;
            lines -= lines_for(row);
        }
}

/* ---- paths, shortened by a legend ---- */

/* The next path in a text from `from` on; NULL: there is none. */
static const char *next_path(const char *text, const char *from) {
    for (const char *p = from; *p; p++)
        if (*p == '/' && (p == text || !of_path(p[-1])))
            return p;
    return NULL;
}

static size_t path_length(const char *path) {
    size_t n = 0;

    while (of_path(path[n]))
        n++;
    return n;
}

static bool begins_with(const char *path, const char *prefix, size_t n) {
    return wc_str_length(path) >= n && wc_mem_compare(path, prefix, n) == 0 &&
           (path[n] == '/' || !of_path(path[n]));
}

/* What is to be done is said in full. */
static bool may_shorten(const struct wc_finding_row *row) {
    return row->chosen && row->rank != RANK_FIX;
}

/* Calls look() for each path on the page that may be shortened. */
static void each_path(struct wc_finding_page *page, void (*look)(void *ctx, const char *path),
                      void *ctx) {
    for (size_t i = 0; i <= page->rows; i++) {
        const struct wc_finding_row *row = i < page->rows ? &page->row[i] : NULL;
        const char *text = row ? row->value : page->title;
        if (row && !may_shorten(row))
            continue;
        for (const char *p = text; (p = next_path(text, p)); p += path_length(p))
            look(ctx, p);
    }
}

struct prefix {
    const char *p;
    size_t n, count;
};

static void count_prefix(void *ctx, const char *path) {
    struct prefix *prefix = ctx;

    prefix->count += begins_with(path, prefix->p, prefix->n);
}

struct best {
    struct wc_finding_page *page;
    struct prefix packages, other;
};

#define LEGEND_LEAST 12 /* bytes of a directory that is worth a letter */

static size_t saved(const struct prefix *p) {
    return p->count > 1 && p->n >= LEGEND_LEAST ? (p->count - 1) * p->n : 0;
}

static void consider(struct best *best, struct prefix *to, const char *path, size_t n) {
    struct prefix prefix = {path, n, 0};

    each_path(best->page, count_prefix, &prefix);
    if (saved(&prefix) > saved(to))
        *to = prefix;
}

#define ANCESTORS 12

/* Where Python's packages lie is known to all; else a directory above. */
static void look_at_path(void *ctx, const char *path) {
    static const char *const known[] = {"/site-packages", "/dist-packages"};
    struct best *best = ctx;
    size_t n = path_length(path);

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *at = wc_str_find(path, known[i]);
        size_t end = at ? (size_t)(at - path) + wc_str_length(known[i]) : n + 1;
        if (end <= n && begins_with(path, path, end))
            consider(best, &best->packages, path, end);
    }
    for (int i = 0; i < ANCESTORS && (n = wc_dir_above(path, n)) >= LEGEND_LEAST; i++)
        consider(best, &best->other, path, n);
}

static const char *with_letter(struct wc_finding_page *page, const char *text,
                               const char *directory, char letter) {
    size_t n = wc_str_length(directory);
    const char *from = text;
    struct wc_text t;

    wc_text_begin(&t, page->shown, sizeof page->shown);
    for (const char *p = text; (p = next_path(text, p)); p += path_length(p)) {
        if (!begins_with(p, directory, n))
            continue;
        wc_text_add_n(&t, from, (size_t)(p - from));
        wc_text_add_char(&t, letter);
        from = p + n;
    }
    if (from == text)
        return text;
    wc_text_add(&t, from);
    return t.cut ? text : wc_arena_string(&page->arena.arena, t.p) ?: text;
}

static void put_letter(struct wc_finding_page *page, int which, const struct prefix *prefix) {
    const char *directory = wc_arena_string_n(&page->arena.arena, prefix->p, prefix->n);

    if (!directory || saved(prefix) == 0)
        return;
    page->letter[which] = directory;
    page->title = with_letter(page, page->title, directory, "VW"[which]);
    for (size_t i = 0; i < page->rows; i++)
        if (may_shorten(&page->row[i]))
            page->row[i].value = with_letter(page, page->row[i].value, directory, "VW"[which]);
}

static bool overflows(const struct wc_finding_page *page) {
    for (size_t i = 0; i < page->rows; i++)
        if (may_shorten(&page->row[i]) && lines_of(page->row[i].value) > page->row[i].most)
            return true;
    return false;
}

static void make_legend(struct wc_finding_page *page) {
    struct best best = {.page = page};

    each_path(page, look_at_path, &best);
    put_letter(page, 0, &best.packages);
    if (!overflows(page))
        return;
    best = (struct best){.page = page};
    each_path(page, look_at_path, &best);
    put_letter(page, page->letter[0] != NULL, &best.other);
}

/* ---- lines ---- */

/* The longest path of a text loses directories in its middle, by `over` columns if that can be. */
static const char *without_middle(struct wc_finding_page *page, const char *text, size_t over) {
    const char *longest = NULL;
    size_t most = WORD_LEAST, width;
    struct wc_text t, path;

    for (const char *p = text; *p;) {
        size_t n = 0;
        while (p[n] && p[n] != ' ' && p[n] != ',')
            n++;
        if (wc_columns_n(p, n) > most && n < sizeof page->raw) {
            most = wc_columns_n(p, n);
            longest = p;
        }
        p += n + (p[n] != '\0');
    }
    if (!longest)
        return text;
    width = most > over + WORD_LEAST ? most - over : WORD_LEAST;
    wc_text_begin(&path, page->raw, sizeof page->raw);
    for (size_t n = 0; longest[n] && longest[n] != ' ' && longest[n] != ','; n++)
        wc_text_add_char(&path, longest[n]);
    wc_text_begin(&t, page->shown, sizeof page->shown);
    wc_text_add_n(&t, text, (size_t)(longest - text));
    wc_text_add_shortened(&t, page->raw, width);
    wc_text_add(&t, longest + path.n);
    return t.cut ? text : wc_arena_string(&page->arena.arena, t.p) ?: text;
}

static const char *fitted(struct wc_finding_page *page, const char *text, size_t width) {
    const char *shorter;

    while (wc_columns(text) > width) {
        shorter = without_middle(page, text, wc_columns(text) - width);
        if (shorter == text || wc_columns(shorter) >= wc_columns(text))
            break;
        text = shorter;
    }
    return text;
}

/* Bytes of s for a line of so many columns: up to a blank, which in a command is within no quotes.
 * A word that is longer is not broken. */
static size_t line_length(const char *s, size_t width, bool command) {
    size_t best = 0, columns = 0, n = 0;
    char quote = '\0';

    for (; s[n]; n++) {
        if (command && (s[n] == '\'' || s[n] == '"') && (!quote || quote == s[n]))
            quote = quote ? '\0' : s[n];
        if (s[n] == ' ' && !quote) {
            if (best > 0 && columns > width)
                return best;
            best = n;
        }
        columns += wc_columns_n(s + n, 1);
    }
    return columns <= width || best == 0 ? n : best;
}

static void put_cut(struct wc_text *out, const char *s, size_t width) {
    size_t n = 0, columns = 0;

    for (; s[n] && columns + wc_columns_n(s + n, 1) <= width; n++)
        columns += wc_columns_n(s + n, 1);
    wc_text_add_n(out, s, n);
}

/* The rest of a line from `column` on, and more of them. */
static void put_value(struct wc_finding_page *page, const char *text, size_t column, size_t most,
                      bool command, size_t hang) {
    size_t width = WC_FINDING_COLUMNS - column, more = WC_FINDING_COLUMNS - hang;
    const char *s = command ? text : fitted(page, text, width + (most - 1) * more);

    for (size_t line = 1;; line++) {
        size_t n = wc_columns(s) <= width ? wc_str_length(s)
                                          : line_length(s, width - 2 * command, command);
        if (!command && (wc_columns_n(s, n) > width || (line == most && s[n]))) {
            put_cut(&page->out, s, width - 3);
            wc_text_add(&page->out, "...");
            break;
        }
        wc_text_add_n(&page->out, s, n - (n > 0 && s[n] && s[n - 1] == ' '));
        for (s += n; *s == ' ';)
            s++;
        if (!*s)
            break;
        wc_text_add(&page->out, command ? " \\\n" : "\n");
        for (size_t i = 0; i < hang; i++)
            wc_text_add_char(&page->out, ' ');
        width = more;
    }
    wc_text_add_char(&page->out, '\n');
}

static void put_key(struct wc_text *out, size_t indent, const char *key) {
    size_t n = indent + wc_columns(key);

    wc_text_format(out, "%.*s%s ", (int)indent, "  ", key);
    for (n++; n < KEYS; n++)
        wc_text_add_char(out, ' ');
}

static void put_row(struct wc_finding_page *page, const struct wc_finding_row *row,
                    const char *before) {
    bool again = row->rank != RANK_FIX && wc_str_same(row->key, before);
    const char *key = again ? "" : row->key;
    size_t column = INDENT + wc_columns(key) + 1;

    put_key(&page->out, INDENT, key);
    put_value(page, row->value, column > KEYS ? column : KEYS, row->most, row->command, KEYS);
}

static size_t lines_so_far(const struct wc_finding_page *page) {
    size_t n = 0;

    for (const char *p = page->out.p; (p = wc_str_find_char(p, '\n')); p++)
        n++;
    return n;
}

/* One row of each rank before the fix, more where there is room: it begins in the first lines. */
static void order_rows(struct wc_finding_page *page, size_t title_lines) {
    size_t room = FIRST - 1 - title_lines;
    bool taken[WC_FINDING_ROWS] = {false};

    for (int round = 0; round < 2; round++)
        for (int rank = RANK_GOT; rank <= RANK_WANTED; rank++)
            for (size_t i = 0; i < page->rows && room > 0; i++) {
                struct wc_finding_row *row = &page->row[i];
                if (!row->chosen || taken[i] || row->rank != rank || lines_for(row) > room)
                    continue;
                taken[i] = true;
                room -= lines_for(row);
                if (round == 0)
                    break;
            }
    for (size_t i = 0; i < page->rows; i++)
        if (page->row[i].rank <= RANK_WANTED && !taken[i])
            page->row[i].rank = RANK_BEHIND;
}

static void put_rows(struct wc_finding_page *page) {
    const char *before = NULL;

    for (int rank = 0; rank <= RANK_MIND; rank++)
        for (size_t i = 0; i < page->rows; i++)
            if (page->row[i].chosen && page->row[i].rank == rank) {
                put_row(page, &page->row[i], before);
                before = page->row[i].key;
            }
}

static void put_title(struct wc_finding_page *page, const struct wc_finding_record *f,
                      const struct wc_finding_view *view) {
    const char *word = wc_enum_word(WC_ENUM_severity, f->severity);
    size_t column;

    wc_text_format(&page->out, "%s%s%s[%s]%s: ", view->before, view->paint, word ? word : "?",
                   keep(page, "%s", f->id), view->unpaint);
    column = wc_columns(page->out.p);
    column -= view->paint ? wc_columns(view->paint) : 0;
    column -= view->unpaint ? wc_columns(view->unpaint) : 0;
    put_value(page, page->title, column < WC_FINDING_COLUMNS / 2 ? column : 0, 2, false,
              2 * INDENT);
}

/* A line of the finding's process. */
static void put_tail(struct wc_finding_page *page, const char *key, const char *value,
                     size_t most) {
    if (!value)
        return;
    put_key(&page->out, 0, key);
    put_value(page, value, KEYS, most, false, KEYS);
}

/* A path to be opened is whole. */
static void put_log(struct wc_finding_page *page, const char *log) {
    if (!log)
        return;
    put_key(&page->out, 0, "log");
    wc_text_add_shown(&page->out, log);
    wc_text_add_char(&page->out, '\n');
}

static void put_legend(struct wc_finding_page *page) {
    for (size_t i = 0; i < 2; i++) {
        if (!page->letter[i])
            continue;
        wc_text_format(&page->out, "%c = ", "VW"[i]);
        wc_text_add_shortened(&page->out, page->letter[i], WC_FINDING_COLUMNS - 4);
        wc_text_add_char(&page->out, '\n');
    }
}

/* ---- the whole ---- */

static void begin(struct wc_finding_page *page, const struct wc_finding_record *f,
                  const struct wc_stack *s) {
    page->rows = 0;
    page->letter[0] = page->letter[1] = NULL;
    wc_buffer_arena_begin(&page->arena, page->memory, sizeof page->memory);
    wc_text_begin(&page->out, page->text, sizeof page->text);
    page->title =
        keep(page, "%s%s", f->title ? f->title : f->id, f->predicted ? " (predicted)" : "");
    add_facts(page, f, s);
    if (f->explained_by)
        add_row(page, "cause", RANK_GOT, keep(page, "%s", f->explained_by));
    for (size_t i = 0; i < f->fix.n && i < FIXES; i++)
        add_fix(page, &f->fix.p[i], i == 0);
}

static const char *loaded(struct wc_finding_page *page, const struct wc_finding_record *f,
                          const struct wc_stack *s) {
    const struct wc_object *o = s ? wc_stack_object(s, f->object) : NULL;
    const struct wc_object *facade = o && wc_is_cudnn(o) ? wc_facade_of(s, o) : NULL;

    return facade && !names_a_part(f) ? format_loaded(page, s, facade) : NULL;
}

const char *wc_finding_text(struct wc_finding_page *page, const struct wc_finding_record *f,
                            const struct wc_finding_view *view) {
    size_t lines = view->lines ? view->lines : WC_FINDING_LINES, others = 1;
    bool brief = lines < BRIEF;
    const char *libraries;

    begin(page, f, view->stack);
    libraries = brief ? NULL : loaded(page, f, view->stack);
    if (!brief) /* the title may take two lines, the legend, too; `more` has one */
        others = 4 + (libraries ? lines_of(libraries) : 0) + (view->process != NULL) +
                 (view->processes != NULL) + (view->log || view->no_log) +
                 (wc_columns(page->title) > VALUE - KEYS);
    choose(page, lines > others ? lines - others : 0);
    if (!brief)
        make_legend(page);
    put_title(page, f, view);
    order_rows(page, lines_so_far(page));
    put_rows(page);
    if (brief)
        return page->text;
    put_tail(page, "loaded", libraries, 2);
    put_tail(page, "process", view->process ? keep(page, "%s", view->process) : NULL, 1);
    put_tail(page, "processes", view->processes ? keep(page, "%s", view->processes) : NULL, 1);
    put_legend(page);
    put_log(page, view->log);
    put_tail(page, "no log", view->no_log ? keep(page, "%s", view->no_log) : NULL, 1);
    put_tail(page, "more", keep(page, "whichcudnn explain %s; report -v", f->id), 1);
    return page->text;
}

void wc_finding_process(struct wc_text *t, int64_t pid, const struct wc_process_record *p,
                        const char *ending) {
    const char *separator = "";

    if (pid > 0)
        wc_text_format(t, "%jd", pid);
    if (p->node)
        wc_text_format(t, "%s%s", t->n ? " on " : "on ", p->node);
    if (p->arguments.n || p->executable)
        separator = t->n ? ": " : "";
    WC_EACH(argument, p->arguments) {
        wc_text_format(t, "%s%s", separator,
                       argument == p->arguments.p ? wc_base_name(*argument) : *argument);
        separator = " ";
    }
    if (p->arguments.n == 0 && p->executable)
        wc_text_format(t, "%s%s", separator, wc_base_name(p->executable));
    if (ending)
        wc_text_format(t, "%s%s", t->n ? ", " : "", ending);
}

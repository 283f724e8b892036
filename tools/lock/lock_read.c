/* SPDX-License-Identifier: Apache-2.0 */
/* A lock into the model: see lock.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/records/library.h"
#include "lock.h"
#include "tools/log/record_json.h"
#include "tools/report/compare.h"
#include "tools/report/library.h"
#include "tools/util/disk.h"
#include "tools/util/terminal.h"

#define SIZE_MOST ((size_t)16 << 20) /* hundreds of times the lock of a large stack */
#define VARIABLES_MOST 1024
#define DEPTH_MOST 4 /* objects, NAME, search, rule */
#define BLANKS " \t\r\n"
#define OLDER_FORMAT                                                                               \
    "a lock in the format of an older whichcudnn, which is read no longer; `whichcudnn lock -o "   \
    "FILE LOG` makes a new one"
#define AN_OBJECT "an object is expected: {\"key\": value, ...}"
#define BEGIN_MOST 4096 /* within which the first key stands */

struct reading;
typedef bool take_entry(struct reading *in, const char *key, const json_t *value);

struct reading {
    const char *text;
    const char *place[DEPTH_MOST]; /* the keys that lead to what is being read */
    size_t depth;
    char *trouble;          /* NULL: none yet */
    json_t *numbers;        /* of objects, by their names in the lock */
    take_entry *of_group;   /* what takes the entries of a group */
    struct wc_record *into; /* what facts become fields of */
    struct heap_arena texts;
    struct source *source;
    int64_t searches;
    const char *variables[VARIABLES_MOST]; /* NAME=value */
    size_t variable_count;
};

/* ---- what is wrong, and where ---- */

static const char *string_end(const char *p) {
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

/* Of the fact at in->place. The text is JSON. */
static size_t line_of_place(const struct reading *in) {
    size_t line = 1, depth = 0, found = 0, n;

    for (const char *p = in->text, *end; *p && found < in->depth; p = end) {
        end = *p == '"' ? string_end(p) : p + 1;
        line += *p == '\n';
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        n = strlen(in->place[found]);
        if (*p == '"' && depth == found + 1 && end[strspn(end, BLANKS)] == ':' &&
            (size_t)(end - p) == n + 2 && memcmp(p + 1, in->place[found], n) == 0)
            found++;
    }
    return line;
}

static bool fail(struct reading *in, const char *what) {
    struct sink trouble;
    FILE *to = sink_begin(&trouble);

    fprintf(to, "line %zu: ", line_of_place(in));
    for (size_t i = 0; i < in->depth; i++)
        fprintf(to, "%s: ", in->place[i]);
    fputs(what, to);
    in->trouble = sink_end(&trouble);
    return false;
}

/* Takes what. */
static bool fail_freeing(struct reading *in, char *what) {
    fail(in, what);
    free(what);
    return false;
}

static bool fail_word(struct reading *in, enum wc_enumeration e) {
    struct sink words;
    FILE *to = sink_begin(&words);

    for (unsigned v = 1; v < wc_enum_count(e); v++)
        fprintf(to, "%s%s", v > 1 ? ", " : "one of these is expected: ", wc_enum_word(e, v));
    return fail_freeing(in, sink_end(&words));
}

static const struct locked {
    enum wc_kind kind;
    const char *field;
} locked[] = {
#define LOCKED(kind, field) {WC_KIND_##kind, #field},
#include "lock.def"
};

static bool fail_field(struct reading *in, enum wc_kind kind) {
    const char *comma = "";
    struct sink names;
    FILE *to = sink_begin(&names);

    fputs("no fact of that name is known; there are", to);
    WC_EACH_ROW(row, locked)
        if (row->kind == kind) {
            fprintf(to, "%s %s", comma, row->field);
            comma = ",";
        }
    return fail_freeing(in, sink_end(&names));
}

/* ---- facts ---- */

/* Hands each entry of an object to `take`, with its key as the last of in->place. */
static bool each(struct reading *in, const json_t *object, const char *expected, take_entry *take) {
    const char *key;
    json_t *value;

    if (!json_is_object(object))
        return fail(in, expected);
    json_object_foreach((json_t *)object, key, value) {
        in->place[in->depth++] = key;
        if (!take(in, key, value))
            return false;
        in->depth--;
    }
    return true;
}

size_t lock_name_length(const char *key) {
    const char *open = strrchr(key, '(');
    size_t digits = open ? strspn(open + 1, "0123456789") : 0;
    bool has_number =
        digits > 0 && open > key && open[-1] == ' ' && strcmp(open + 1 + digits, ")") == 0;

    return has_number ? (size_t)(open - 1 - key) : strlen(key);
}

static const char *name_of_key(struct reading *in, const char *key) {
    size_t n = lock_name_length(key);

    return key[n] ? wc_arena_string_n(&in->texts.arena, key, n) : key;
}

static struct wc_strings split_list(struct reading *in, const char *text) {
    size_t most = strlen(text) / strlen(COMPARE_SEPARATOR) + 1;
    const char **p = wc_arena_take(&in->texts.arena, most * sizeof(*p)), *end;
    struct wc_strings list = {p, 0};

    for (; (end = strstr(text, COMPARE_SEPARATOR)); text = end + strlen(COMPARE_SEPARATOR))
        p[list.n++] = wc_arena_string_n(&in->texts.arena, text, (size_t)(end - text));
    p[list.n++] = wc_arena_string(&in->texts.arena, text);
    return list;
}

static bool take_fact(struct reading *in, const char *key, const json_t *value) {
    struct wc_record *r = in->into;
    const struct wc_field *f;
    bool is_known = false;
    size_t n;
    void *to;

    if (r->kind == WC_KIND_object && strcmp(key, "search") == 0)
        return true; /* an object of its own: take_search */
    WC_EACH_ROW(row, locked)
        is_known = is_known || (row->kind == r->kind && strcmp(row->field, key) == 0);
    if (!is_known)
        return fail_field(in, r->kind);
    for (f = wc_kind_fields(r->kind, &n); strcmp(f->name, key) != 0; f++)
        ;
    to = (char *)&r->u + f->offset;
    if (f->type == WC_FIELD_BOOL) {
        *(bool *)to = json_is_true(value);
        return json_is_boolean(value) || fail(in, "true or false is expected");
    }
    if (!json_is_string(value))
        return fail(in, "a text is expected");
    if (f->type == WC_FIELD_STRS)
        *(struct wc_strings *)to = split_list(in, json_string_value(value));
    else if (!record_field_from_json(value, f, &in->texts.arena, to))
        return fail_word(in, f->enumeration);
    return true;
}

static bool take_facts(struct reading *in, struct wc_record *r, const json_t *facts) {
    in->into = r;
    return each(in, facts, "an object is expected: {\"fact\": \"text\", ...}", take_fact);
}

/* Of no time: a lock is the same whenever it is read. */
static bool add_record(struct reading *in, struct wc_record *r) {
    r->seq = in->source->last_seq + 1;
    source_take(in->source, r);
    return in->source->stack.dropped == 0 || fail(in, "more than a process can have");
}

/* ---- objects ---- */

static int64_t number_of(const struct reading *in, const char *key) {
    const json_t *number = key ? json_object_get(in->numbers, key) : NULL;

    return number ? (int64_t)json_integer_value(number) : WC_NULL;
}

static bool number_object(struct reading *in, const char *key, const json_t *value) {
    (void)value;
    if (number_of(in, key) != WC_NULL)
        return fail(in, "stands among the objects and among those that were unloaded");
    json_object_set_new(in->numbers, key,
                        json_integer((json_int_t)json_object_size(in->numbers) + 1));
    return true;
}

void lock_identity_of(const char *name, enum wc_role *role, char part[LOCK_PART]) {
    struct wc_library l;

    wc_library_begin(&l, name);
    l.name = wc_name_read(name);
    *role = wc_library_role(&l);
    snprintf(part, LOCK_PART, "%s", l.name.part);
}

static void complete_object(struct reading *in, struct wc_object_record *o, const char *name) {
    char part[LOCK_PART];
    enum wc_role role;

    lock_identity_of(name, &role, part);
    if (!o->role && !o->is_host)
        o->role = role;
    if (!o->part && !o->is_host && o->role == role && *part)
        o->part = wc_arena_string(&in->texts.arena, part);
    o->path = o->path ? o->path : name;
    o->soname = o->role == WC_role_HOST ? NULL : name;
    if (strcmp(library_name(o), name) != 0)
        o->path = o->real_path = name;
    o->asked_by_object = number_of(in, o->asked_by);
}

static bool take_search(struct reading *in, const json_t *facts, int64_t object, const char *name) {
    struct wc_record r;

    if (!facts)
        return true;
    wc_record_begin(&r, WC_KIND_search);
    in->place[in->depth++] = "search";
    if (!take_facts(in, &r, facts))
        return false;
    in->depth--;
    r.u.search.search = ++in->searches;
    r.u.search.name = name;
    r.u.search.object = object;
    return add_record(in, &r);
}

static bool take_object(struct reading *in, const char *key, const json_t *facts) {
    const char *name = name_of_key(in, key);
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_object);
    if (!take_facts(in, &r, facts))
        return false;
    r.u.object.object = number_of(in, key);
    r.u.object.mapped = strcmp(in->place[0], "unloaded") != 0;
    complete_object(in, &r.u.object, name);
    return add_record(in, &r) &&
           take_search(in, json_object_get(facts, "search"), r.u.object.object, name);
}

/* ---- what else there is ---- */

static bool take_package(struct reading *in, const char *key, const json_t *facts) {
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_package);
    r.u.package.package = name_of_key(in, key);
    if (r.u.package.package != key)
        r.u.package.prefix = key; /* a second one: the model asks where it is */
    return take_facts(in, &r, facts) && add_record(in, &r);
}

/* Below the key of its host. */
static bool take_demand(struct reading *in, const char *key, const json_t *facts) {
    const char *kind = name_of_key(in, key), *host = in->place[1];
    struct wc_record r;
    struct wc_demand_record *d = &r.u.demand;

    wc_record_begin(&r, WC_KIND_demand);
    d->demand_kind = wc_enum_value(WC_ENUM_demand_kind, kind);
    if (!d->demand_kind && *kind)
        return fail_word(in, WC_ENUM_demand_kind);
    d->host = number_of(in, host);
    d->host_path = *host ? name_of_key(in, host) : NULL;
    if (d->host == WC_NULL && d->host_path && d->host_path != host)
        /* a second one: the model asks where it is */
        d->host_path = wc_arena_format(&in->texts.arena, "%s/%s", host, d->host_path);
    if (!take_facts(in, &r, facts))
        return false;
    if (!d->source && kind != key)
        d->source = key; /* a second one: the model asks where it is written */
    return add_record(in, &r);
}

/* Below the key of its host. */
static bool take_binding(struct reading *in, const char *target, const json_t *value) {
    const char *host = in->place[1];
    struct wc_record r;

    if (!json_is_true(value))
        return fail(in, "true is expected");
    wc_record_begin(&r, WC_KIND_binding);
    r.u.binding.host = number_of(in, host);
    r.u.binding.host_path = *host ? name_of_key(in, host) : NULL;
    r.u.binding.target = number_of(in, target);
    r.u.binding.target_path = name_of_key(in, target);
    return add_record(in, &r);
}

static bool take_variable(struct reading *in, const char *name, const json_t *value) {
    const char *text = json_string_value(value);

    if (!text)
        return fail(in, "a text is expected");
    if (in->variable_count == VARIABLES_MOST)
        return fail(in, "more variables than a lock has");
    in->variables[in->variable_count++] = wc_arena_format(&in->texts.arena, "%s=%s", name, text);
    return true;
}

static bool take_count(struct reading *in, const char *section, const json_t *value) {
    struct source *s = in->source;
    const struct {
        const char *section;
        size_t there;
        bool *in_part;
    } counts[] = {{"environment", in->variable_count, &s->in_part.environment},
                  {"packages", s->stack.packages.n, &s->in_part.packages},
                  {"objects", s->stack.objects.n, &s->in_part.objects},
                  {"demands", s->stack.demands.n, &s->in_part.demands},
                  {"bindings", s->stack.bindings.n, &s->in_part.bindings}};

    if (!json_is_integer(value))
        return fail(in, "a number is expected");
    WC_EACH_ROW(row, counts)
        if (strcmp(row->section, section) == 0) {
            *row->in_part = (size_t)json_integer_value(value) != row->there;
            return true;
        }
    return fail(in, "nothing of that name is counted");
}

/* ---- the whole ---- */

static bool take_machine(struct reading *in, const json_t *section) {
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_machine);
    return take_facts(in, &r, section) && add_record(in, &r);
}

static bool take_environment(struct reading *in, const json_t *section) {
    struct wc_record r;

    if (!each(in, section, AN_OBJECT, take_variable))
        return false;
    wc_record_begin(&r, WC_KIND_process);
    r.u.process.environment = (struct wc_strings){in->variables, in->variable_count};
    return add_record(in, &r);
}

static bool take_format(struct reading *in, const json_t *value) {
    if (!json_is_integer(value) || json_integer_value(value) < 1)
        return fail(in, "a number is expected");
    return json_integer_value(value) == LOCK_FORMAT ||
           fail(in, json_integer_value(value) < LOCK_FORMAT
                        ? OLDER_FORMAT
                        : "a newer format than this whichcudnn reads");
}

static bool take_group(struct reading *in, const char *key, const json_t *group) {
    (void)key;
    return each(in, group, AN_OBJECT, in->of_group);
}

/* In this order: objects are numbered before they are referred to, and all is there when it is
 * counted. A section is handed over whole, entry by entry, or entry by entry of its groups. */
static const struct section {
    const char *name;
    bool (*whole)(struct reading *in, const json_t *section);
    take_entry *entry, *of_group;
} sections[] = {
    {LOCK_FORMAT_KEY, .whole = take_format},    {"machine", .whole = take_machine},
    {"environment", .whole = take_environment}, {"packages", .entry = take_package},
    {"objects", .entry = number_object},        {"unloaded", .entry = number_object},
    {"objects", .entry = take_object},          {"unloaded", .entry = take_object},
    {"demands", .of_group = take_demand},       {"bindings", .of_group = take_binding},
    {"complete", .entry = take_count},
};

static bool take_section(struct reading *in, const struct section *section, const json_t *value) {
    if (section->whole)
        return section->whole(in, value);
    in->of_group = section->of_group;
    return each(in, value, AN_OBJECT, section->entry ? section->entry : take_group);
}

static bool is_section(const char *name, size_t n) {
    WC_EACH_ROW(section, sections)
        if (strlen(section->name) == n && memcmp(section->name, name, n) == 0)
            return true;
    return false;
}

static bool check_section(struct reading *in, const char *name, const json_t *value) {
    (void)value;
    return is_section(name, strlen(name)) ||
           fail(in, "a lock has bindings, complete, demands, environment, machine, objects, "
                    "packages, unloaded and " LOCK_FORMAT_KEY);
}

static bool take_all(struct reading *in, const json_t *lock) {
    if (!each(in, lock, AN_OBJECT, check_section))
        return false;
    if (!json_object_get(lock, LOCK_FORMAT_KEY))
        return fail(in, "\"" LOCK_FORMAT_KEY "\": 2 is missing");
    WC_EACH_ROW(section, sections) {
        const json_t *value = json_object_get(lock, section->name);
        in->place[in->depth++] = section->name;
        if (value && !take_section(in, section, value))
            return false;
        in->depth--;
    }
    return true;
}

static struct source *read_json(const char *text, const json_t *lock, const char *path,
                                char **trouble) {
    struct reading in = {
        .text = text, .numbers = json_object(), .source = source_new(SOURCE_LOCK, path)};

    in.source->in_part = (struct source_in_part){true, true, true, true, true};
    heap_arena_begin(&in.texts);
    if (!take_all(&in, lock)) {
        *trouble = in.trouble;
        source_free(in.source);
        in.source = NULL;
    }
    heap_arena_end(&in.texts);
    json_decref(in.numbers);
    return in.source;
}

/* ---- the file ---- */

/* The format by what comes first, a comment aside; 0: it is no lock. */
static int format_of(const char *text) {
    size_t n;

    while (*text == '#' || (*text && strchr(BLANKS, *text)))
        text += *text == '#' ? strcspn(text, "\n") : 1;
    if (strncmp(text, LOCK_FORMAT_KEY, strlen(LOCK_FORMAT_KEY)) == 0)
        return 1;
    if (*text != '{')
        return 0;
    text += 1 + strspn(text + 1, BLANKS);
    n = *text == '"' ? strcspn(text + 1, "\"") : 0;
    return is_section(text + 1, n) ? LOCK_FORMAT : 0;
}

bool lock_begins(const char *path) {
    size_t n;
    OWNED char *text = disk_text(path, BEGIN_MOST, &n);

    return text && format_of(text) > 0;
}

static struct source *read_text(const char *text, size_t n, const char *path, char **trouble) {
    int format = format_of(text);
    json_error_t error;
    json_t *lock;
    struct source *s;

    if (format != LOCK_FORMAT) {
        *trouble = must_copy(format ? OLDER_FORMAT : "not a lock of whichcudnn");
        return NULL;
    }
    lock = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
    if (!lock) {
        *trouble = must_format("line %d: %s", error.line, error.text);
        return NULL;
    }
    s = read_json(text, lock, path, trouble);
    json_decref(lock);
    return s;
}

struct source *lock_read(const char *path, char **trouble) {
    size_t n;
    OWNED char *text = disk_text(path, SIZE_MOST + 1, &n);
    struct source *s = NULL;

    if (!text)
        *trouble = must_copy(strerror(errno));
    else if (n > SIZE_MOST)
        *trouble = must_copy("too large for a lock");
    else
        s = read_text(text, n, path, trouble);
    return s;
}

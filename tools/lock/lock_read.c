/* A lock into the model: see lock.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "lock.h"
#include "tools/log/record_json.h"

#define SIZE_MOST ((size_t)16 << 20) /* hundreds of times the lock of a large stack */
#define THINGS_MOST ((size_t)5 * WC_STACK_MOST)
#define VARIABLES_MOST 1024
#define BEGIN_MOST 4096 /* within which the version line stands */

struct thing { /* what several lines in a row are about */
    char *key; /* kind and name */
    enum wc_kind kind;
    const char *name;
    struct wc_record r;
    uint64_t seen; /* fields, by their place in record.def */
    struct thing *next;
    UT_hash_handle hh;
};

struct reading {
    const char *p; /* what is left of the line */
    size_t line;   /* from 1 */
    char *trouble; /* NULL: none yet */
    bool has_version, has_end;
    json_t *values;                      /* texts of records point into them */
    struct thing *things, *first, *last; /* by key, and in their order */
    size_t thing_count;
    const char **variables; /* NAME=value; the values' own */
    size_t variable_count;
    bool is_newer;
    struct heap_arena lists;
};

static bool fail(struct reading *in, const char *what) {
    if (!in->trouble)
        in->trouble = must_format("line %zu: %s", in->line, what);
    return false;
}

/* ---- one line ---- */

static void skip_blanks(struct reading *in) {
    in->p += strspn(in->p, " \t");
}

/* New reference, kept by in->values. NULL: none. */
static json_t *take_value(struct reading *in) {
    json_error_t error;
    json_t *value = json_loads(in->p, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);

    if (!value)
        return NULL;
    in->p += error.position;
    json_array_append_new(in->values, value);
    return value;
}

/* A bare or quoted part of a key. */
static const char *take_name(struct reading *in) {
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t n = strspn(in->p, bare);
    json_t *value;

    if (*in->p == '"')
        return json_string_value(take_value(in));
    if (n == 0)
        return NULL;
    value = json_stringn(in->p, n);
    json_array_append_new(in->values, value);
    in->p += n;
    return json_string_value(value);
}

#define KEY_PARTS 3

/* "object", "libcudnn.so.9", "version"; how many. 0: no key. */
static size_t take_key(struct reading *in, const char *part[KEY_PARTS]) {
    for (size_t n = 0; n < KEY_PARTS; n++) {
        part[n] = take_name(in);
        if (!part[n])
            return 0;
        if (*in->p != '.')
            return n + 1;
        in->p++;
    }
    return 0;
}

static json_t *take_fact(struct reading *in, const char *part[KEY_PARTS], size_t *n) {
    json_t *value = NULL;

    *n = take_key(in, part);
    skip_blanks(in);
    if (*n > 0 && *in->p == '=') {
        in->p++;
        skip_blanks(in);
        value = take_value(in);
        skip_blanks(in);
    }
    if (!value || (*in->p && *in->p != '#')) {
        fail(in, "no fact; `key = value` is expected, with a value of one line");
        return NULL;
    }
    return value;
}

/* ---- what it says ---- */

static bool take_version(struct reading *in, const char *key, const json_t *value) {
    if (strcmp(key, LOCK_VERSION_KEY) != 0)
        return fail(in, LOCK_VERSION_KEY " is expected first");
    if (!json_is_integer(value) || json_integer_value(value) < 1)
        return fail(in, LOCK_VERSION_KEY ": a number is expected");
    in->is_newer = json_integer_value(value) > LOCK_FORMAT;
    if (in->is_newer)
        return fail(in, "a newer format than this whichcudnn reads");
    in->has_version = true;
    return true;
}

static bool take_variable(struct reading *in, const char *name, const json_t *value) {
    char *text;
    json_t *kept;

    if (!json_is_string(value))
        return fail(in, "a text is expected");
    text = must_format("%s=%s", name, json_string_value(value));
    kept = json_string(text);
    free(text);
    json_array_append_new(in->values, kept);
    for (size_t i = 0; i < in->variable_count; i++)
        if (strncmp(in->variables[i], name, strlen(name)) == 0 &&
            in->variables[i][strlen(name)] == '=')
            return fail(in, "told a second time");
    if (in->variable_count == VARIABLES_MOST)
        return fail(in, "more variables than a lock has");
    in->variables = must_grow(in->variables, (in->variable_count + 1) * sizeof(*in->variables));
    in->variables[in->variable_count++] = json_string_value(kept);
    return true;
}

static struct thing *add_thing(struct reading *in, enum wc_kind kind, const char *name, char *key) {
    struct thing *t = must_allocate(sizeof(*t));

    t->key = key;
    t->kind = kind;
    t->name = name;
    wc_record_begin(&t->r, kind);
    if (kind == WC_KIND_object)
        t->r.u.object.mapped = true;
    HASH_ADD_KEYPTR(hh, in->things, t->key, strlen(t->key), t);
    *(in->last ? &in->last->next : &in->first) = t;
    in->last = t;
    return t;
}

static struct thing *find_thing(const struct reading *in, enum wc_kind kind, const char *name) {
    char *key = must_format("%d %s", (int)kind, name);
    struct thing *t;

    HASH_FIND_STR(in->things, key, t);
    free(key);
    return t;
}

/* NULL: no more of them. */
static struct thing *thing_of(struct reading *in, enum wc_kind kind, const char *name) {
    struct thing *t = find_thing(in, kind, name);

    if (t || in->thing_count == THINGS_MOST)
        return t;
    in->thing_count++;
    return add_thing(in, kind, name, must_format("%d %s", (int)kind, name));
}

static bool is_locked(enum wc_kind kind, const char *field) {
#define LOCKED(k, f)                                                                               \
    if (kind == WC_KIND_##k && strcmp(field, #f) == 0)                                             \
        return true;
#include "lock.def"
    return false;
}

static bool take_field(struct reading *in, enum wc_kind kind, const char *name, const char *field,
                       const json_t *value) {
    size_t n, i = 0;
    const struct wc_field *f = wc_kind_fields(kind, &n);
    struct thing *t;

    if (!is_locked(kind, field))
        return fail(in, "a fact of that name is not known");
    while (strcmp(f[i].name, field) != 0)
        i++;
    t = thing_of(in, kind, name);
    if (!t)
        return fail(in, "more than a process can have");
    if (t->seen & (uint64_t)1 << i)
        return fail(in, "told a second time");
    t->seen |= (uint64_t)1 << i;
    if (json_is_null(value) ||
        !record_field_from_json(value, &f[i], &in->lists.arena, (char *)&t->r.u + f[i].offset))
        return fail(in, "not what belongs there");
    return true;
}

static bool take_end(struct reading *in, const json_t *value) {
    in->has_end = json_is_true(value);
    return in->has_end || fail(in, "not what belongs there");
}

static bool take_known(struct reading *in, const char *part[KEY_PARTS], size_t n,
                       const json_t *value) {
    enum wc_kind kind = wc_kind_from_name(part[0]);

    if (n == 1 && strcmp(part[0], LOCK_END_KEY) == 0)
        return take_end(in, value);
    if (n == 2 && strcmp(part[0], "environment") == 0)
        return take_variable(in, part[1], value);
    if (n == 2 && kind == WC_KIND_machine)
        return take_field(in, kind, "", part[1], value);
    if (n == 3 && kind != WC_KIND_machine && kind != WC_KIND_NONE)
        return take_field(in, kind, part[1], part[2], value);
    return fail(in, "a fact of that name is not known");
}

static bool take_line(struct reading *in) {
    const char *part[KEY_PARTS];
    json_t *value;
    size_t n;

    skip_blanks(in);
    if (!*in->p || *in->p == '#')
        return true;
    if (in->has_end)
        return fail(in, "behind the end");
    value = take_fact(in, part, &n);
    if (!value)
        return false;
    if (!in->has_version)
        return take_version(in, part[0], value);
    return take_known(in, part, n, value);
}

/* Cuts the line off. */
static bool begin_line(struct reading *in, char *at, char *end) {
    if (end > at && end[-1] == '\r')
        end--;
    *end = '\0';
    in->line++;
    in->p = at;
    return strlen(at) == (size_t)(end - at) || fail(in, "a NUL in it");
}

/* The text has n bytes and a NUL. */
static bool take_lines(struct reading *in, char *text, size_t n) {
    char *newline;

    for (char *at = text; at < text + n; at = newline + 1) {
        newline = memchr(at, '\n', (size_t)(text + n - at));
        if (!newline)
            newline = text + n;
        if (!begin_line(in, at, newline) || !take_line(in))
            return false;
    }
    if (!in->has_version)
        return fail(in, LOCK_VERSION_KEY " is expected");
    return in->has_end || fail(in, "cut off here: the last line is " LOCK_END_KEY " = true");
}

/* ---- into the model ---- */

static int64_t number_of(const struct reading *in, const char *name) {
    const struct thing *t = name ? find_thing(in, WC_KIND_object, name) : NULL;

    return t ? t->r.u.object.object : WC_NULL;
}

static void number_objects(const struct reading *in) {
    int64_t n = 0;

    for (struct thing *t = in->first; t; t = t->next)
        if (t->kind == WC_KIND_object) {
            t->r.u.object.object = ++n;
            if (!t->r.u.object.path)
                t->r.u.object.path = t->name;
        }
}

/* What is named becomes what is numbered. */
static void complete(const struct reading *in, struct thing *t, int64_t place) {
    struct wc_record *r = &t->r;

    switch (t->kind) {
    case WC_KIND_object:
        r->u.object.asked_by_object = number_of(in, r->u.object.asked_by);
        break;
    case WC_KIND_package:
        if (!r->u.package.package)
            r->u.package.package = t->name;
        else if (strcmp(r->u.package.package, t->name) != 0)
            r->u.package.prefix = t->name; /* a second one: the model asks where it is */
        break;
    case WC_KIND_search:
        r->u.search.search = place;
        r->u.search.name = t->name;
        r->u.search.object = number_of(in, t->name);
        break;
    case WC_KIND_demand:
        r->u.demand.host = number_of(in, r->u.demand.host_path);
        break;
    case WC_KIND_binding:
        r->u.binding.host = number_of(in, r->u.binding.host_path);
        r->u.binding.target = number_of(in, r->u.binding.target_path);
        break;
    default:
        break;
    }
}

/* Of no time: a lock is the same whenever it is read. */
static void add_record(struct source *s, struct wc_record *r) {
    r->seq = s->last_seq + 1;
    source_take(s, r);
}

static struct source *make_source(const struct reading *in, const char *path) {
    struct source *s = source_new(SOURCE_LOCK, path);
    struct wc_record r;
    int64_t place = 0;

    wc_record_begin(&r, WC_KIND_process);
    r.u.process.environment = (struct wc_strings){in->variables, in->variable_count};
    if (in->variable_count > 0)
        add_record(s, &r);
    number_objects(in);
    for (struct thing *t = in->first; t; t = t->next) {
        complete(in, t, ++place);
        add_record(s, &t->r);
    }
    return s;
}

/* ---- the file ---- */

static void reading_end(struct reading *in) {
    for (struct thing *t = in->first, *next; t; t = next) {
        next = t->next;
        free(t->key);
    }
    HASH_CLEAR(hh, in->things);
    for (struct thing *t = in->first, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    free(in->variables);
    json_decref(in->values);
    heap_arena_end(&in->lists);
}

static struct source *read_text(char *text, size_t n, const char *path, char **trouble) {
    struct reading in = {.values = json_array()};
    struct source *s = NULL;

    heap_arena_begin(&in.lists);
    if (take_lines(&in, text, n)) {
        s = make_source(&in, path);
        if (s->stack.dropped > 0) {
            in.trouble = must_copy("more than a process can have");
            source_free(s);
            s = NULL;
        }
    }
    *trouble = in.trouble;
    if (in.trouble && !in.has_version && !in.is_newer) {
        *trouble = must_format("not a lock of whichcudnn (%s)", in.trouble);
        free(in.trouble);
    }
    reading_end(&in);
    return s;
}

/* At most `most` bytes and a NUL. NULL: errno. The caller frees. */
static char *read_file(const char *path, size_t most, size_t *n) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat facts;
    char *text = NULL;
    ssize_t got = -1;

    *n = 0;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        errno = S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
    } else {
        if (facts.st_size < (off_t)most)
            most = (size_t)facts.st_size;
        text = must_allocate(most + 1);
        while (*n < most && (got = read(fd, text + *n, most - *n)) > 0)
            *n += (size_t)got;
    }
    if (text && got < 0 && most > 0) {
        free(text);
        text = NULL;
    }
    close(fd);
    return text;
}

bool lock_begins(const char *path) {
    size_t n, key = strlen(LOCK_VERSION_KEY);
    char *text = read_file(path, BEGIN_MOST, &n), *at = text;
    bool begins;

    while (at && (*at == '#' || (*at && strchr(" \t\r\n", *at)))) {
        at += *at == '#' ? strcspn(at, "\n") : 1;
    }
    begins = at && strncmp(at, LOCK_VERSION_KEY, key) == 0;
    free(text);
    return begins;
}

struct source *lock_read(const char *path, char **trouble) {
    size_t n;
    char *text = read_file(path, SIZE_MOST + 1, &n);
    struct source *s = NULL;

    if (!text)
        *trouble = must_copy(strerror(errno));
    else if (n > SIZE_MOST)
        *trouble = must_copy("too large for a lock");
    else
        s = read_text(text, n, path, trouble);
    free(text);
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "redact.h"

#include <ctype.h>
#include <pwd.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <uthash.h>

#include "core/names/names.h"
#include "tools/util/terminal.h"

struct name {
    UT_hash_handle hh;
    char *text, *placeholder; /* the text in lower case: user names are typed as people like */
    size_t n;
    bool node;    /* else a user */
    bool guarded; /* a word that means something else, too: only where it must be the name */
};

struct redaction {
    struct name *names; /* by text */
    size_t longest, users, nodes;
};

#define NAME_MOST 255 /* bytes */

static void lower(char *to, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = (char)tolower((unsigned char)text[i]);
    to[n] = '\0';
}

static struct name *find(const struct redaction *r, const char *text, size_t n) {
    char key[NAME_MOST + 1];
    struct name *one;

    if (n > NAME_MOST)
        return NULL;
    lower(key, text, n);
    HASH_FIND(hh, r->names, key, n, one);
    return one;
}

/* ---- where names stand ---- */

#define LOG_START "whichcudnn-"

static bool ends_name(char c) {
    return !c || strchr("/:;,\"'`()[]{}<>|=\\ \t\n\r", c);
}

static bool in_word(char c) {
    return isalnum((unsigned char)c);
}

static bool is_slash(char c) {
    return c == '/' || c == '\\';
}

/* Does text, which begins at start, end with s before p? */
static bool stands_behind(const char *start, const char *p, const char *s) {
    size_t n = strlen(s);

    return (size_t)(p - start) >= n && memcmp(p - n, s, n) == 0;
}

static bool is_word(const char *word, const char *s, size_t n) {
    return strlen(word) == n && strncasecmp(word, s, n) == 0;
}

/* Directories that hold homes: /home, /Users, /export/home2, /nethome, C:\Users. */
static bool holds_homes(const char *s, size_t n) {
    static const char *const words[] = {"homes",    "users", "people",  "scratch",
                                        "students", "staff", "members", "homedirs"};

    while (n > 0 && isdigit((unsigned char)s[n - 1]))
        n--;
    return WC_ANY(word, WC_ROWS(words), is_word(*word, s, n)) ||
           (n >= 4 && is_word("home", s + n - 4, 4));
}

/* Does p begin the name of a directory in one that holds homes? So it does in /home/students,
 * /home/j, /home/2023 and /user/j, too. */
static bool behind_home(const char *start, const char *p) {
    bool letters = false;

    while (p > start && is_slash(p[-1])) {
        const char *end = p - 1, *s = end;
        while (s > start && !is_slash(s[-1]) && !ends_name(s[-1]))
            s--;
        size_t n = (size_t)(end - s);
        if (holds_homes(s, n) || (letters && is_word("user", s, n)))
            return true;
        letters = n > 0 && (n <= 2 || (n <= 4 && strspn(s, "0123456789") == n));
        if (!letters)
            return false;
        p = s;
    }
    return false;
}

/* A letter or a number is a user's name only as a whole name of a directory. */
static bool is_weak(const char *name, size_t n) {
    return n < 2 || strspn(name, "0123456789") == n;
}

static bool stands_here(const struct name *name, const char *start, const char *p) {
    if (!name->guarded)
        return true;
    if (name->node)
        return stands_behind(start, p, LOG_START) || stands_behind(start, p, " on ") ||
               stands_behind(start, p, "\"node\": \"") || (p == start && !p[name->n]);
    return (behind_home(start, p) && ends_name(p[name->n])) ||
           (is_weak(name->text, name->n) && p > start && is_slash(p[-1]) &&
            (is_slash(p[name->n]) || !p[name->n]));
}

/* The longest that is there: node-70 before node-7. */
static const struct name *name_at(const struct redaction *r, const char *start, const char *p) {
    for (size_t n = strnlen(p, r->longest); n > 0; n--) {
        const struct name *name = in_word(p[n]) ? NULL : find(r, p, n);
        if (name && stands_here(name, start, p))
            return name;
    }
    return NULL;
}

/* ---- learning ---- */

/* A user called nvidia or a node called cuda must not change what paths mean. Only
 * whole words stay: the names liborfdcy and torchia begin like one. */
static bool is_common(const char *name, size_t n) {
    static const char *const words[] = {
        "lib", "lib64", "libs", "usr", "bin", "opt", "etc", "var", "tmp", "home", "root", "user",
        "users", "local", "share", "data", "python", "venv", "env", "envs", "app", "work", "src",
        "site-packages", "localhost", "node", "conda", "shared", "public", "guest", "admin", "test",
        "groups", "project", "projects", "models", "model", "miniconda3", "anaconda3", "mamba",
        /* systems and what images call their user */
        "ubuntu", "debian", "fedora", "centos", "rocky", "suse", "alpine", "arch", "docker",
        "podman", "kubernetes", "vagrant", "runner", "jenkins", "vscode", "jovyan", "nobody",
        /* of reports about cuDNN: parts, own terms */
        "graph", "ops", "adv", "cnn", "infer", "train", "engines", "runtime", "compiled", "ext",
        "heuristic", "precompiled", "tensor", "host", "facade", "part", "driver", "wheel", "debug",
        "error", "warning", "note", "notes", "errors", "warnings", "found", "fix", "got", "built",
        "required", "system", "process", "library", "version", "object", "request", "call",
        /* of two letters: English, and parts of file names, variables, commands */
        "am", "an", "as", "at", "be", "by", "do", "go", "he", "if", "in", "is", "it", "me", "my",
        "no", "of", "ok", "on", "or", "so", "to", "up", "us", "we", "cc", "cd", "cp", "cu", "dt",
        "gz", "hf", "id", "ip", "ld", "ln", "ml", "mv", "nv", "os", "py", "rm", "sh", "tf"};

    if (WC_ANY(word, WC_ROWS(words), is_word(*word, name, n)) || is_weak(name, n))
        return true;
    /* python3.11, cuda-12, libcudnn; but of the user torchia a hint is only a part */
    while (n > 0 && strchr("0123456789.-_", name[n - 1]))
        n--;
    OWNED char *word = must_format("%.*s", (int)n, name),
               *less = must_format("%.*s", (int)n - 1, name);
    return n == 0 || strcmp(word, "python") == 0 ||
           (wc_name_hints(word) && !wc_name_hints(less) && !wc_name_hints(word + 1));
}

/* Returns what means it; NULL: it is none. */
static const char *learn(struct redaction *r, const char *text, size_t n, bool node,
                         const char *placeholder) {
    struct name *one = n > 0 && n <= NAME_MOST ? find(r, text, n) : NULL;

    if (one || n == 0 || n > NAME_MOST ||
        (strspn(text, "0123456789.") >= n && (node || memchr(text, '.', n)))) /* a version */
        return one ? one->placeholder : NULL;
    one = must_allocate(sizeof(*one));
    *one = (struct name){.text = must_format("%.*s", (int)n, text), .n = n, .node = node};
    lower(one->text, text, n);
    one->placeholder = placeholder ? must_copy(placeholder)
                       : node      ? must_format("node%zu", ++r->nodes)
                                   : must_format("user%zu", ++r->users);
    one->guarded = is_common(one->text, n);
    HASH_ADD_KEYPTR(hh, r->names, one->text, n, one);
    r->longest = n > r->longest ? n : r->longest;
    return one->placeholder;
}

/* John Doe is john.doe elsewhere, and John, and doe. */
static void learn_parts(struct redaction *r, const char *text, size_t n, const char *placeholder) {
    static const char parting[] = " ._-", *const joints[] = {" ", ".", "_", "-", "", "%20", "+"};
    OWNED char *name = must_format("%.*s", (int)n, text);

    if (!strpbrk(name, parting))
        return;
    WC_EACH_ROW(joint, joints) {
        OWNED char *copy = must_copy(name), *other = must_copy("");
        char *rest = copy, *part;
        while ((part = strsep(&rest, parting))) {
            char *longer = must_format("%s%s%s", other, *other && *part ? *joint : "", part);
            free(other);
            other = longer;
        }
        learn(r, other, strlen(other), false, placeholder);
    }
    for (size_t at = 0; strchr(name, ' ') && at < n;) {
        size_t length = strcspn(name + at, parting);
        if (length > 2)
            learn(r, name + at, length, false, placeholder);
        at += length + 1;
    }
}

static void learn_user_n(struct redaction *r, const char *name, size_t n) {
    const char *placeholder = learn(r, name, n, false, NULL);

    if (placeholder && n > 2)
        learn_parts(r, name, n, placeholder);
}

static void learn_user(struct redaction *r, const char *name) {
    if (name && *name && strcmp(name, "root") != 0)
        learn_user_n(r, name, strlen(name));
}

/* With and without its domain it is one machine. */
static void learn_node(struct redaction *r, const char *node) {
    size_t n = strcspn(node, ".");
    const char *placeholder = learn(r, node, n, true, NULL);

    if (node[n] && placeholder)
        learn(r, node, strlen(node), true, placeholder);
}

#define WORDS_MOST 3 /* of a name */

/* The name of a directory at p, which may have blanks where something follows it. */
static size_t name_length(const char *p) {
    size_t n = 0, words = 1, first;

    while (!ends_name(p[n]))
        n++;
    first = n;
    while (p[n] == ' ' && words++ < WORDS_MOST)
        for (n++; !ends_name(p[n]);)
            n++;
    return n > first && is_slash(p[n]) && p[n - 1] != ' ' ? n : first;
}

void redaction_learn_text(struct redaction *r, const char *text) {
    for (const char *p = text; p && *p; p++)
        if (p > text && is_slash(p[-1]) && !is_slash(*p) && behind_home(text, p)) {
            size_t n = name_length(p);
            if (!holds_homes(p, n))
                learn_user_n(r, p, n);
        }
}

/* whichcudnn-NODE-PID-TICKS.jsonl */
static void learn_log_name(struct redaction *r, const char *path) {
    const char *name = wc_base_name(path);
    regmatch_t m[2];
    regex_t form;

    if (regcomp(&form, "^" LOG_START "(.+)-[0-9]+-[0-9]+\\.jsonl", REG_EXTENDED) != 0)
        return;
    if (regexec(&form, name, 2, m, 0) == 0) {
        OWNED char *node = must_format("%.*s", (int)(m[1].rm_eo - m[1].rm_so), name + m[1].rm_so);
        learn_node(r, node);
    }
    regfree(&form);
}

/* The last directory of a home that has another place. */
static void learn_home(struct redaction *r, const char *home) {
    if (home && strchr(home, '/'))
        learn_user(r, wc_base_name(home));
}

struct redaction *redaction_of_nobody(void) {
    return must_allocate(sizeof(struct redaction));
}

void redaction_learn_own(struct redaction *r) {
    OWNED_FILE FILE *from = fopen("/etc/passwd", "re");
    const struct passwd *user = getpwuid(getuid());
    struct utsname here;

    learn_user(r, user ? user->pw_name : NULL);
    learn_user(r, getenv("USER"));
    learn_user(r, getenv("LOGNAME"));
    learn_user(r, getenv("SUDO_USER"));
    learn_home(r, user ? user->pw_dir : NULL);
    learn_home(r, getenv("HOME"));
    while (from && (user = fgetpwent(from)))
        if (user->pw_uid >= 1000 && user->pw_uid < 65534) { /* people */
            learn_user(r, user->pw_name);
            learn_home(r, user->pw_dir);
        }
    if (uname(&here) == 0)
        learn_node(r, here.nodename);
}

void redaction_free(struct redaction *r) {
    struct name *one, *next;

    HASH_ITER(hh, r->names, one, next) {
        HASH_DEL(r->names, one);
        free(one->text);
        free(one->placeholder);
        free(one);
    }
    free(r);
}

/* ---- changing ---- */

/* NULL: there is nothing to change. */
static char *changed(const struct redaction *r, const char *text) {
    const char *plain = text;
    struct sink sink;
    FILE *to = NULL;

    for (const char *p = text; *p;) {
        const struct name *name = (p == text || !in_word(p[-1])) ? name_at(r, text, p) : NULL;
        if (!name) {
            p++;
            continue;
        }
        to = to ? to : sink_begin(&sink);
        fprintf(to, "%.*s%s", (int)(p - plain), plain, name->placeholder);
        plain = p += name->n;
    }
    if (!to)
        return NULL;
    fputs(plain, to);
    return sink_end(&sink);
}

char *redaction_text(const struct redaction *r, const char *text) {
    return changed(r, text) ?: must_copy(text);
}

static void replace(const void *redaction, char **text) {
    char *other = *text ? changed(redaction, *text) : NULL;

    if (other) {
        free(*text);
        *text = other;
    }
}

json_t *redaction_json(const struct redaction *r, json_t *value) {
    json_t *other, *one;
    const char *key;
    size_t i;

    if (json_is_string(value)) {
        OWNED char *text = redaction_text(r, json_string_value(value));
        return json_string(text);
    }
    if (json_is_object(value)) {
        other = json_object();
        json_object_foreach(value, key, one)
            json_object_set_new(other, key, redaction_json(r, one));
        return other;
    }
    if (!json_is_array(value))
        return json_incref(value);
    other = json_array();
    json_array_foreach(value, i, one)
        json_array_append_new(other, redaction_json(r, one));
    return other;
}

/* ---- all texts of a source ---- */

struct visit { /* of each text: its names are taken up, or changed */
    struct redaction *r;
    struct wc_arena *arena;
    bool changes;
};

static const char *visit_text(const struct visit *v, const char *text) {
    OWNED char *other = text && v->changes ? changed(v->r, text) : NULL;

    if (!v->changes)
        redaction_learn_text(v->r, text);
    return other ? wc_arena_string(v->arena, other) : text;
}

static const void *visit_list(const struct visit *v, const void *list, size_t n) {
    const char *const *from = list;
    const char **to = n > 0 ? wc_arena_take(v->arena, n * sizeof(*to)) : NULL;

    for (size_t i = 0; i < n; i++)
        to[i] = visit_text(v, from[i]);
    return to;
}

static void visit_record(void *visit, enum wc_kind kind, void *record) {
    const struct visit *v = visit;
    size_t n;
    const struct wc_field *f = wc_kind_fields(kind, &n);

    for (; n > 0; n--, f++) {
        void *value = (char *)record + f->offset;
        struct wc_strings *strings = value;
        struct wc_facts *facts = value;

        if (f->type == WC_FIELD_STR)
            *(const char **)value = visit_text(v, *(const char **)value);
        else if (f->type == WC_FIELD_STRS)
            strings->p = visit_list(v, strings->p, strings->n);
        else if (f->type == WC_FIELD_FACTS)
            facts->p = visit_list(v, facts->p, facts->n * 3);
    }
}

static void visit_source(struct visit *v, struct source *s) {
    wc_stack_each(&s->stack, visit_record, v);
    for (size_t i = 0; i < s->stack.failures.n; i++) { /* what was read of the loader's words */
        struct wc_failure *f = &s->stack.failures.p[i];
        const char **const texts[] = {&f->said.file, &f->said.library, &f->said.version,
                                      &f->said.symbol, &f->needs};
        WC_EACH_ROW(text, texts)
            **text = visit_text(v, **text);
    }
    s->how = visit_text(v, s->how);
    for (size_t i = 0; i < s->events.n; i++)
        visit_record(v, s->events.p[i].kind, &s->events.p[i].u);
}

void redaction_learn(struct redaction *r, struct source *s) {
    if (s->stack.has_process && s->stack.process.node)
        learn_node(r, s->stack.process.node);
    learn_log_name(r, s->path);
    redaction_learn_text(r, s->path);
    visit_source(&(struct visit){r, &s->memory.arena, false}, s);
}

struct redaction *redaction_of_logs(const struct logs *logs) {
    struct redaction *r = redaction_of_nobody();

    for (size_t i = 0; i < logs->process_count; i++)
        redaction_learn(r, logs->processes[i]);
    redaction_learn_own(r);
    return r;
}

void redaction_apply_all(struct redaction *r, struct logs *logs) {
    EACH_POINTER(s, logs->processes, logs->process_count) {
        visit_source(&(struct visit){r, &s->memory.arena, true}, s);
        in_flight_rewrite(&s->in_flight, replace, r);
        replace(r, &s->path);
    }
    EACH_POINTER(file, logs->files, logs->file_count) {
        replace(r, &file->path);
        for (size_t k = 0; k < file->damaged.n; k++)
            replace(r, &file->damaged.p[k].reason);
    }
}

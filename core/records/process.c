/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include "core/base/reading.h"

#define TEXTS_MOST 64 /* of a list */

/* ---- its command line ---- */

/* A row of core/knowledge/interpreters.def. */
struct interpreter {
    const char *names, *flags, *joined, *valued, *apart, *module, *script, *code, *mark;
    const char *words, *valued_words, *script_words;
};

static const struct interpreter interpreters[] = {
#define INTERPRETER(...) {__VA_ARGS__},
#include "core/knowledge/interpreters.def"
#undef INTERPRETER
};

/* Is text[0..n) one of the words, which blanks separate? */
static bool in_words(const char *words, const char *text, size_t n) {
    WC_EACH_ELEMENT(word, words, " ")
        if (word.n == n && wc_mem_compare(word.p, text, n) == 0)
            return true;
    return false;
}

/* By the name before the version in python3.11, bash-5.2. */
static const struct interpreter *find_interpreter(const char *program) {
    const char *base = wc_base_name(program);
    size_t n = 0;
    while (base[n] && !wc_is_digit(base[n]))
        n++;
    n -= n && base[n - 1] == '-' && base[n];
    return WC_FIRST(i, WC_ROWS(interpreters), n && in_words(i->names, base, n));
}

struct kept {
    const char **out;
    size_t n, most;
};

struct line {
    const char *at, *end;
};

static const char *next_argument(struct line *l) {
    const char *s = l->at;
    if (s >= l->end)
        return NULL;
    l->at += wc_str_length(s) + 1;
    return s;
}

/* A value that looks like an option is probably none. */
static const char *next_value(struct line *l) {
    const char *s = next_argument(l);
    return s && s[0] != '-' && s[0] != '+' ? s : NULL;
}

/* module: "-m" or NULL, kept before the text. text NULL: keeps nothing. True: that was all. */
static bool keep(struct kept *k, const char *module, const char *text) {
    if (text && module && k->n < k->most)
        k->out[k->n++] = module;
    if (text && k->n < k->most)
        k->out[k->n++] = text;
    return true;
}

/* -uW ignore, -uWignore: the letter before a value has it in the rest, or else in the next
 * argument. True: what follows is not an option any more, or not known. */
static bool read_letters(const struct interpreter *i, const char *s, struct line *l,
                         struct kept *k) {
    size_t values = 0; /* that the next arguments are */
    for (; *s && !wc_str_find_char(i->joined, *s); s++) {
        if (wc_str_find_char(i->code, *s))
            return keep(k, NULL, i->mark);
        if (wc_str_find_char(i->module, *s))
            return keep(k, "-m", s[1] ? s + 1 : next_argument(l));
        if (wc_str_find_char(i->script, *s))
            return keep(k, NULL, s[1] ? s + 1 : next_value(l));
        if (wc_str_find_char(i->valued, *s)) {
            values += !s[1];
            break;
        }
        if (wc_str_find_char(i->apart, *s))
            values++;
        else if (!wc_str_find_char(i->flags, *s))
            return true;
    }
    while (values && next_value(l))
        values--;
    return values > 0;
}

/* The script or module, or the mark of code; nothing where an argument is not understood. */
static void keep_script(const struct interpreter *i, struct line *l, struct kept *k) {
    bool over = false;
    const char *s;
    while (!over && (s = next_argument(l))) {
        size_t n = 0; /* of a long option, before its value */
        while (s[n] && s[n] != '=' && s[n] != ':')
            n++;
        if (s[0] == '+' && *i->apart)
            over = read_letters(i, s + 1, l, k);
        else if (s[0] != '-')
            over = keep(k, NULL, wc_str_or_null(s));
        else if (wc_str_same(s, "--"))
            over = keep(k, NULL, next_argument(l));
        else if (in_words(i->script_words, s, n))
            over = keep(k, NULL, s[n] ? s + n + 1 : next_value(l));
        else if (in_words(i->valued_words, s, n))
            over = !s[n] && !next_value(l);
        else if (!in_words(i->words, s, n)) /* "-": the script comes from standard input */
            over = !s[1] || s[1] == '-' || read_letters(i, s + 1, l, k);
    }
}

size_t wc_arguments_keep(const struct wc_process *from, const char **out, size_t most) {
    struct kept k = {out, 0, most};
    struct line l = {from->arguments, from->arguments + from->arguments_size};
    const char *first = next_argument(&l);
    /* A process that writes a title over its arguments puts all of it into the first. */
    if (first && !from->all_arguments && wc_str_find_char(first, ' ') &&
        !(from->r.executable &&
          wc_str_starts(wc_base_name(from->r.executable), wc_base_name(first)))) {
        keep(&k, NULL, from->r.executable);
        return k.n;
    }
    keep(&k, NULL, first);
    const struct interpreter *i = first ? find_interpreter(first) : NULL;
    if (from->all_arguments)
        for (const char *s; (s = next_argument(&l));)
            keep(&k, NULL, s);
    else if (i)
        keep_script(i, &l, &k);
    return k.n;
}

/* ---- the process ---- */

bool wc_variable_is_logged(const char *variable) {
#define LOGGED(name)                                                                               \
    if (variable[0] == (name)[0] && wc_str_starts(variable, name "="))                             \
        return true;
#define LOGGED_ALL(prefix)                                                                         \
    if (variable[0] == (prefix)[0] && wc_str_starts(variable, prefix))                             \
        return true;
#include "logged_variables.def"
#undef LOGGED
#undef LOGGED_ALL
    return false;
}

void wc_emit_process(const struct wc_sink *to, const struct wc_process *p) {
    const char *arguments[TEXTS_MOST], *variables[TEXTS_MOST];
    size_t n = 0;
    struct wc_record r;
    for (const char *const *v = p->environment; v && *v && n < TEXTS_MOST; v++)
        if (wc_variable_is_logged(*v))
            variables[n++] = *v;
    wc_record_begin(&r, WC_KIND_process);
    r.u.process = p->r;
    r.u.process.arguments =
        (struct wc_strings){arguments, wc_arguments_keep(p, arguments, TEXTS_MOST)};
    r.u.process.environment = (struct wc_strings){variables, n};
    to->add(to->ctx, &r);
}

/* The second field, the command, may hold blanks and brackets. */
const char *wc_stat_field(const char *stat, int n) {
    const char *s = wc_str_find_last_char(stat, ')');
    for (int field = 2; s && field < n; field++)
        s = wc_str_find_char(s + 1, ' ');
    return s ? s + 1 : "";
}

int64_t wc_start_ticks(const char *stat) {
    uint64_t value;
    const char *s = wc_stat_field(stat, 22);
    return wc_parse_number(s, wc_str_length(s), &value) ? (int64_t)value : WC_NULL;
}

bool wc_is_forked(const char *stat) {
    const uint64_t forked_without_exec = 0x40; /* PF_FORKNOEXEC, linux/sched.h */
    uint64_t flags;
    const char *s = wc_stat_field(stat, 9);
    return wc_parse_number(s, wc_str_length(s), &flags) && flags & forked_without_exec;
}

/* libc.so.6 defines a node for each release that changed it; the greatest number wins. */
const char *wc_glibc_release(const struct wc_elf_image *libc, char out[16]) {
    const uint64_t end = libc->strtab + libc->strsz;
    uint64_t best = 0, at = libc->strtab, found;
    out[0] = 0;
    while (at < end && (found = wc_elf_find_bytes(libc, "GLIBC_2.", 8, &at, end - at))) {
        const char *s = wc_elf_string(libc, found - libc->strtab);
        if (!s)
            break;
        uint64_t minor = 0;
        size_t digits = wc_parse_number(s + 8, wc_str_length(s + 8), &minor);
        if (digits && minor >= best && !s[8 + digits]) {
            best = minor;
            wc_str_copy(out, 16, s + 6);
        }
    }
    return out[0] ? out : NULL;
}

unsigned wc_glibc_minor(const char *release) {
    uint64_t minor = 0;
    if (release && wc_str_starts(release, "2."))
        wc_parse_number(release + 2, wc_str_length(release + 2), &minor);
    return (unsigned)minor;
}

/* ---- the machine ---- */

/* The value of KEY="value" or KEY=value in os-release. */
static const char *operating_system(const struct wc_files *files, struct wc_machine *m) {
    char value[sizeof m->operating_system + 2], *s = value;
    struct wc_reading r;
    wc_reading_begin(&r, files, m->read, sizeof m->read);
    if (!wc_reading_value(&r, "/etc/os-release", 0, "PRETTY_NAME=", true, value, sizeof value))
        return NULL;
    struct wc_element e = wc_element_at(*s == '"' ? s + 1 : s, *s == '"' ? "\"" : "\n");
    wc_str_format(m->operating_system, sizeof m->operating_system, "%.*s", (int)e.n, e.p);
    return m->operating_system;
}

/* A file that identifies a kind of machine; the last one of a table is {NULL, NULL}. */
struct mark {
    const char *path, *kind;
};
static const struct mark containers[] = {{"/.dockerenv", "docker"},
                                         {"/run/.containerenv", "podman"},
                                         {"/var/run/secrets/kubernetes.io", "kubernetes"},
                                         {"/.singularity.d", "apptainer"},
                                         {NULL, NULL}};
static const struct mark other_drivers[] = {
    {"/dev/dxg", "WSL"}, {"/dev/nvmap", "Tegra"}, {NULL, NULL}};

static const char *kind_by_marks(const struct wc_files *files, const struct mark *mark) {
    struct wc_file_stat facts;
    while (mark->path && !files->facts(files->ctx, mark->path, &facts))
        mark++;
    return mark->kind;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu ...": the first word that is a
 * dotted number. */
static const char *driver_release(const struct wc_files *files, struct wc_machine *m) {
    size_t size = 0;
    if (!files->read(files->ctx, "/proc/driver/nvidia/version", 0, m->read, sizeof m->read - 1,
                     &size) ||
        !size)
        return kind_by_marks(files, other_drivers);
    m->read[size] = 0;
    for (const char *s = m->read; *s; s++) {
        size_t n = 0, dots = 0;
        while (wc_is_digit(s[n]) || s[n] == '.')
            dots += s[n++] == '.';
        if (n && dots && (s == m->read || s[-1] == ' ')) {
            wc_str_format(m->driver, sizeof m->driver, "%.*s", (int)n, s);
            return m->driver;
        }
    }
    return NULL;
}

static bool count_gpu(void *count, const char *name) {
    uint64_t number;
    size_t n = wc_str_length(name);
    if (wc_str_starts(name, "nvidia") && n > 6 &&
        wc_parse_number(name + 6, n - 6, &number) == n - 6)
        ++*(int64_t *)count;
    return true;
}

void wc_machine_read(const struct wc_files *files, struct wc_machine *m) {
    m->r.operating_system = operating_system(files, m);
    m->r.container = kind_by_marks(files, containers);
    m->r.driver = driver_release(files, m);
    m->r.gpu_devices = 0;
    if (!files->list(files->ctx, "/dev", count_gpu, &m->r.gpu_devices))
        m->r.gpu_devices = WC_NULL;
}

void wc_emit_machine(const struct wc_sink *to, const struct wc_files *files, struct wc_machine *m) {
    struct wc_record r;
    wc_machine_read(files, m);
    wc_record_begin(&r, WC_KIND_machine);
    r.u.machine = m->r;
    to->add(to->ctx, &r);
}

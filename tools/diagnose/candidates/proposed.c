/* SPDX-License-Identifier: Apache-2.0 */
/* A command that a user was given, as edits. It is read and never run. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#include "making.h"
#include "tools/diagnose/manager.h"

static void fail(struct making *m, const char *why) {
    m->proposal->why = m->proposal->why ?: why;
}

static void add(struct making *m, struct edit e) {
    struct candidate *c = &m->proposal->edits;

    if (c->n < CANDIDATE_EDITS)
        c->p[c->n++] = e;
    else
        fail(m, "it changes more than is played at once");
}

/* Of what the makers made; NULL: none. value: NULL: any. */
static const struct edit *find_made(struct making *m, enum edit_kind kind, const char *name,
                                    const char *value) {
    WC_EACH(c, *m->out)
        if (c->p[0].kind == kind && wc_str_same(c->p[0].name, name) &&
            (!value || wc_str_same(c->p[0].value, value)))
            return c->p;
    return NULL;
}

/* For later words; of two the first counts. */
static void assign(struct making *m, const char *variable) {
    size_t n = 0;

    while (environ[n])
        n++;
    char **list = wc_arena_take(m->view.memory, (n + 2) * sizeof(*list));
    memcpy(list + 1, environ, (n + 1) * sizeof(*list));
    list[0] = make_format(m, "%s", variable);
    environ = list;
}

/* word: "NAME=value", or NAME to unset it. environ has the variables of the process. */
static void set(struct making *m, const char *word) {
    const char *name = make_format(m, "%.*s", (int)strcspn(word, "="), word), *old = getenv(name);
    const char *value = word[strlen(name)] ? word + strlen(name) + 1 : "";
    const bool unsets_ours = !*value && wc_str_starts(name, "WHICHCUDNN_");
    const struct edit e = {*value ? EDIT_SET : EDIT_UNSET, .name = name,
                           .value = wc_str_or_null(value)};

    if (strcmp(name, "LD_LIBRARY_PATH") != 0 && !unsets_ours &&
        (strcmp(name, "LD_PRELOAD") != 0 || (*value && !find_made(m, EDIT_SET, name, value))))
        fail(m, make_format(m, "the files do not show what a program does with %s", name));
    else if (!*value && !unsets_ours && (!old || !*old))
        m->proposal->idle = "that variable is not set";
    else
        add(m, e);
    if (!m->proposal->why)
        assign(m, make_format(m, "%s=%s", name, value));
}

/* ---- files ---- */

/* Of the path itself, after the edits so far; 0: nothing is there. */
static mode_t mode_of(const struct making *m, const char *path) {
    const struct candidate *c = &m->proposal->edits;
    struct stat facts;

    for (size_t i = c->n; i-- > 0;)
        if (c->p[i].path && wc_is_below(path, c->p[i].path, strlen(c->p[i].path)))
            return c->p[i].kind == EDIT_LINK ? S_IFLNK : 0;
    return lstat(path, &facts) == 0 ? facts.st_mode : 0;
}

/* After `cd`; not for the target of a link. */
static char *path_of(struct making *m, const char *word) {
    const char *directory = m->proposal->directory;

    return directory && *word != '/' ? make_format(m, "%s/%s", directory, word)
                                     : make_format(m, "%s", word);
}

/* What the makers would change, too. */
static void change_modes(struct making *m, char **w) {
    bool any = false;

    while (*++w) /* the mode matches no file */
        WC_EACH(c, *m->out)
            if (c->p[0].kind == EDIT_MODE &&
                wc_is_same_file(m->view.files, c->p[0].path, path_of(m, *w))) {
                add(m, c->p[0]);
                any = true;
                break;
            }
    if (!any)
        fail(m, "whether the loader needs these permissions is unknown");
}

/* ln, rm, and cp, which is played as a link: they differ only if the loader loads both. */
static void change_files(struct making *m, const char *program, char **w) {
    const bool removes = *program == 'r', copies = *program == 'c';
    const char *options = "", *path, *real;
    char **paths = w;
    size_t n = 0, ours = 0;

    while (*++w)
        if (copies && strcmp(*w, "--remove-destination") == 0)
            continue;
        else if (**w == '-')
            options = make_format(m, "%s%s", options, *w + 1);
        else
            paths[n++] = *program == 'l' && w[1] ? *w : path_of(m, *w);
    if (options[strspn(options, removes ? "rRfv" : copies ? "aPdpfv" : "sfnv")] || n + removes < 2)
        fail(m, make_format(m, "%s -%s is not read", program, options));
    while (copies && ours + 1 < n && wc_name_is_cudnn(paths[ours]) &&
           wc_same_directory(paths[ours], paths[0]))
        ours++;
    if (ours > 1 && ours + 1 == n && paths[0][0] == '/' && paths[n - 1][0] == '/' &&
        strpbrk(options, "aPd") && wc_is_directory(m->view.files, paths[n - 1])) {
        add(m, (struct edit){.kind = EDIT_COPY,
                             .name = "cudnn",
                             .path = paths[n - 1],
                             .target = make_directory_of(m, paths[0])});
        return;
    }
    for (size_t i = 0; !m->proposal->why && i + !removes < n; i++) {
        path = paths[removes ? i : n - 1];
        if (!removes && wc_is_directory(m->view.files, path) &&
            !(strchr(options, 'n') && S_ISLNK(mode_of(m, path))))
            path = make_format(m, "%s/%s", path, wc_base_name(paths[i]));
        const mode_t there = mode_of(m, path);
        const bool is_refused = S_ISDIR(there) && !(removes && strpbrk(options, "rR"));
        real = make_real_path(m, paths[i]);
        if (path[0] != '/' ||
            (copies && (real[0] != '/' || wc_is_directory(m->view.files, real) ||
                        WC_ANY(o, m->s->objects, wc_str_same(wc_real_path_of(o), real)))))
            fail(m, "a relative path, or a copy of what the process loads, is not played");
        else if (is_refused || (removes ? !there : there && !copies && !strchr(options, 'f')) ||
                 (copies && !make_is_there(m, real)))
            m->proposal->idle = "the file does not exist, or the link exists already";
        else if (removes || (there && !S_ISLNK(there)))
            add(m, (struct edit){.kind = EDIT_DELETE, .path = path});
        if (!removes && !m->proposal->idle)
            add(m, (struct edit){.kind = EDIT_LINK, .path = path, .target = paths[i]});
    }
}

/* ---- packages ---- */

enum how { ALONE = 1, NEWEST = 2, ANEW = 4 };

static const struct typed {
    unsigned whose;
    const char *program, *install, *remove, *plain, *alone, *newest, *anew, *into, *valued;
} typed[] = {
#define TYPED(whose, ...) {OF_##whose, __VA_ARGS__},
#include "tools/knowledge/typed.def"
};

/* into: an interpreter, or conda's prefix or its name; NULL: that of the process, if it has one. */
static const char *find_environment(struct making *m, bool of_conda, const char *into) {
    const char *python = into ?: m->s->process.executable, *found = NULL;
    const char *root = of_conda || !into ? into : make_directory_of(m, make_directory_of(m, into));
    char site[PATH_MAX];

    if (!of_conda &&
        wc_process_site(m->view.files, python, into ? NULL : wc_variable(m->s, "VIRTUAL_ENV"), site,
                        sizeof(site)))
        return make_environment_of(m, make_format(m, "%s", site));
    WC_EACH(c, *m->out) {
        const char *one = c->p[0].environment;
        if (!one || !one[1] || make_is_conda(m, one) != of_conda || wc_str_same(one, found) ||
            (root && !fits(make_format(m, "?(*/)%s?(/*)", root), one)))
            continue;
        if (found)
            return NULL;
        found = one;
    }
    return found;
}

/* Of a wheel a release that the index has, or that a package of the process requires. */
static void install(struct making *m, struct edit e, unsigned whose, unsigned how) {
    const bool goes =
        WC_ANY(b, m->proposal->edits, b->kind == EDIT_REMOVE && wc_str_same(b->name, e.name));
    const struct edit *made = find_made(m, EDIT_REINSTALL, e.name, NULL);
    const char *newest = wheel_newest(e.name, e.value), *there = made && !goes ? made->value : NULL;

    if (newest && how & (NEWEST | ANEW))
        e.value = make_format(m, "==%s", newest);
    const bool is_pin = strstr(e.value, "=="),
               is_known = newest || find_made(m, EDIT_INSTALL, e.name, e.value);
    const bool is_same = there && (wc_str_same(e.value, make_format(m, "==%s", there)) ||
                                   (whose != OF_PYTHON && !*e.value));
    if (!is_same && ((how & (NEWEST | ANEW) && !is_pin) || (how & ALONE && !there) ||
                     (whose == OF_PYTHON && !is_known && (is_pin || wheel_newest(e.name, "")))))
        fail(m,
             make_format(m, "it is unknown which release of %s this installs, or whether it exists",
                         e.name));
    add(m, is_same && how & ANEW ? *made : e);
}

static void change_package(struct making *m, const char *word, unsigned whose, struct edit e,
                           unsigned how) {
    const char *spec = word + strcspn(word, "=<>!~");
    char name[96];
    struct wc_spec set;

    wc_distribution_normalise(word, (size_t)(spec - word), name, sizeof(name));
    for (char *at = name; (at = strchr(at, '_'));)
        *at = '-';
    e.name = make_format(m, "%s", name);
    e.value = whose == OF_SYSTEM && *spec ? spec + 1
              : whose == OF_CONDA && spec[0] == '=' && spec[1] != '='
                  ? make_format(m, "=%s.*", spec)
                  : spec;
    if (!*name || word[strcspn(word, " [;@/:")] ||
        (whose != OF_SYSTEM && *spec && !wc_spec_read(e.value, &set)) ||
        (whose == OF_CONDA && !wc_is_cudnn_package(WC_installation_kind_CONDA, e.name)))
        fail(m, make_format(m, "the content of %s is unknown", word));
    else if (e.kind == EDIT_INSTALL)
        install(m, e, whose, how);
    else
        add(m, e);
}

static void change_packages(struct making *m, char **w, bool as_root) {
    const char *program = wc_base_name(*w), *command = "", *into = NULL, *folder = NULL;
    const struct typed *t = NULL;
    struct edit e = {.environment = "/"};
    char **packages = w;
    unsigned how = 0;
    size_t n = 0;

    if (*w != program && fits("p*", program))
        into = make_format(m, "%s/python", make_directory_of(m, *w));
    if (fits("python*([0-9.])", program) && wc_str_same(w[1], "-m") && w[2])
        program = *(w += 2);
    if (strcmp(program, "uv") == 0 && wc_str_same(w[1], "pip"))
        program = *++w;
    WC_EACH_ROW(row, typed)
        t = fits(row->program, program) ? row : t;
    while (t && *++w)
        if (**w != '-' && *command)
            packages[n++] = *w;
        else if (fits("@(-t|--target)", *w) && fits(t->into, *w) && w[1])
            folder = *++w;
        else if (fits(t->into, *w) && w[1])
            into = *++w;
        else if (fits(t->valued, *w) && w[1])
            w++;
        else if (fits(t->alone, *w) || fits(t->newest, *w) || fits(t->anew, *w))
            how |= fits(t->alone, *w) ? ALONE : fits(t->anew, *w) ? ANEW : NEWEST;
        else if (!fits(t->plain, *w))
            command = *w;
    if (!t || !(fits(t->install, command) || fits(t->remove, command)))
        fail(m,
             make_format(m, *command ? "%s %s is not read" : "%s is not read", program, command));
    else if (folder)
        e.environment = e.path =
            *folder == '/' ? folder : make_format(m, "%s/%s", m->s->process.directory, folder);
    else if (t->whose != OF_SYSTEM) /* root's PATH is another one */
        e.environment = as_root && !into ? NULL : find_environment(m, t->whose == OF_CONDA, into);
    if (!e.environment || (folder && make_is_there(m, e.path)))
        fail(m, "the environment that it changes is unknown");
    for (size_t i = 0; !m->proposal->why && i < n; i++) {
        e.kind = fits(t->remove, command) ? EDIT_REMOVE : EDIT_INSTALL;
        change_package(m, packages[i], t->whose, e, how);
    }
}

/* ---- all of it ---- */

static void read_words(struct making *m, char **w) {
    static const char assigned[] = "[A-Za-z_]*([A-Za-z_0-9])=*";
    const char *own = wc_base_name(m->s->process.executable ?: "");
    const char *process = make_format(m, "%.*s*([0-9.])", (int)strcspn(own, "0123456789"), own);
    const bool as_root = strcmp(*w, "sudo") == 0, unsets = strcmp(*w, "unset") == 0;

    w += as_root;
    w += *w && strcmp(*w, "env") == 0;
    if (*w && !w[1] && fits(assigned, *w) && !wc_str_starts(*w, "LD_")) {
        assign(m, *w); /* a variable of the shell only */
    } else if (*w && (fits(assigned, *w) || strcmp(*w, "-u") == 0)) {
        for (; *w && (fits(assigned, *w) || (strcmp(*w, "-u") == 0 && w[1])); w++)
            set(m, **w == '-' ? *++w : *w);
        if (!*w || !fits(process, wc_base_name(*w)))
            fail(m, "the process does not get this variable");
    } else if (*w && (unsets || strcmp(*w, "export") == 0)) {
        while (*++w)
            set(m, unsets || strchr(*w, '=') ? *w : make_format(m, "%s=%s", *w, getenv(*w)));
    } else if (*w && strcmp(*w, "cd") == 0 && w[1] && !w[2] && *w[1] == '/') {
        m->proposal->directory = make_format(m, "%s", w[1]);
    } else if (*w && strcmp(wc_base_name(*w), "chmod") == 0) {
        change_modes(m, w);
    } else if (*w && fits("@(ln|cp|rm)", wc_base_name(*w))) {
        change_files(m, wc_base_name(*w), w);
    } else if (*w && strcmp(wc_base_name(*w), "ldconfig") == 0 && !w[1]) {
        add(m, (struct edit){.kind = EDIT_CACHE, .path = "/etc"});
    } else if (*w && strcmp(*w, "import") == 0 && w[1]) {
        const struct edit *made =
            find_made(m, EDIT_IMPORT_FIRST, w[1], wc_str_same(w[2], "before") ? w[3] : NULL);
        add(m, made ? *made : (struct edit){.kind = EDIT_HOST});
    } else if (*w) {
        change_packages(m, w, as_root);
    }
}

void make_proposed(struct making *m) {
    const struct wc_strings *own = &m->s->process.environment;
    char **real = environ, *text = make_format(m, "%s", m->proposal->command), *one;
    wordexp_t words;
    /* Where the output goes changes nothing. */
    static const char *const unseen[] = {"&>/dev/null", "2>/dev/null", ">/dev/null", "2>&1"};

    environ = wc_arena_take(m->view.memory, (own->n + 3) * sizeof(*environ));
    for (size_t i = 0; i < own->n; i++)
        environ[i] = make_format(m, "%s", own->p[i]);
    environ[own->n] = make_format(m, "LD_LIBRARY_PATH=");
    environ[own->n + 1] = make_format(m, "LD_PRELOAD=");
    for (char *at; (at = strstr(text, "&&"));)
        at[0] = at[1] = ';';
    WC_EACH_ROW(nowhere, unseen)
        while ((one = strstr(text, *nowhere)))
            memset(one, ' ', strlen(*nowhere));
    while (!m->proposal->why && (one = strsep(&text, ";\n"))) {
        /* glibc before 2.21 runs what stands within $(( )) in spite of WRDE_NOCMD. */
        const int error = strchr(one, '`') || strstr(one, "$(") ? WRDE_CMDSUB
                          : strstr(one, " ~/") && !getenv("HOME")
                              ? WRDE_BADVAL
                              : wordexp(one, &words, WRDE_NOCMD | WRDE_UNDEF);
        if (error) {
            fail(m, error == WRDE_BADVAL ? "it uses a variable whose value the log does not have"
                                         : "only a shell can read this");
            break;
        }
        char **w = wc_arena_take(m->view.memory, (words.we_wordc + 2) * sizeof(*w));
        for (size_t i = 0; i < words.we_wordc; i++)
            w[i] = make_format(m, "%s", words.we_wordv[i]);
        if (*w)
            read_words(m, w);
        wordfree(&words);
    }
    environ = real;
}

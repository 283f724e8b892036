/* SPDX-License-Identifier: Apache-2.0 */
/* Files next to an environment that say which packages of cuDNN it should have: see scan.h. */
#include <errno.h>
#include <glob.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "scan_inside.h"
#include "tools/util/disk.h"

#define TEXT_MOST ((size_t)8 << 20)
#define LINES_MOST 64 /* about cuDNN, of one kind and file */

/* NULL: the package is not installed. A dist-info has '_' in the name; its version ends before the
 * suffix, that of conda's record at a dash. */
static const char *version_installed(struct scan *s, const char *site, const char *where,
                                     const char *package) {
    char name[64];

    wc_distribution_normalise(package, strlen(package), name, sizeof(name));
    OWNED char *pattern = must_format(where, name);
    OWNED_GLOB glob_t found = glob_below(s->library_cache.disk.root, site, pattern, 0);
    if (found.gl_pathc == 0)
        return NULL;
    const char *version = wc_base_name(found.gl_pathv[0]) + strlen(package) + 1;
    const char *end = strstr(version, ".dist-info");
    return KEEP(s, "%.*s", end ? (int)(end - version) : (int)strcspn(version, "-"), version);
}

/* A file for several platforms may have several versions of a package: one of them is enough. */
static void note_locked(struct scan *s, const struct scan_locked *new) {
    for (size_t i = 0; i < s->locked.n; i++) {
        struct scan_locked *known = &s->locked.p[i];
        if (strcmp(known->site, new->site) == 0 && strcmp(known->file, new->file) == 0 &&
            strcmp(known->package, new->package) == 0) {
            known->as_locked |= new->as_locked;
            return;
        }
    }
    *MUST_ADD(s->locked.p, s->locked.n) = *new;
}

/* ---- lines with a condition (PEP 508) ---- */

struct marker {
    const char *at;
    struct wc_version python;
    const char *machine; /* NULL: not known */
};

static bool is_next(struct marker *m, const char *word) {
    m->at += strspn(m->at, " ");
    const size_t n = wc_str_starts(m->at, word) ? strlen(word) : 0;
    m->at += n;
    return n > 0;
}

/* False: it surely does not hold, with this Python on this system. */
static bool may_hold(struct marker *m);

static bool may_compare(struct marker *m) {
    const char *const known[][2] = {{"os_name", "posix"},
                                    {"sys_platform", "linux"},
                                    {"platform_system", "Linux"},
                                    {"platform_machine", m->machine}};
    char name[32], sign[4], value[64];
    int n = 0;

    if (is_next(m, "(")) {
        const bool within = may_hold(m);
        return is_next(m, ")") && within;
    }
    if (sscanf(m->at, "%31[a-z_] %3[<>=!~] '%63[^']'%n", name, sign, value, &n) < 3 || n == 0) {
        while (*m->at && *m->at != ')' && !wc_str_starts(m->at, " and ") &&
               !wc_str_starts(m->at, " or "))
            m->at++;
        return true;
    }
    m->at += n;
    if (wc_str_starts(name, "python_")) {
        OWNED char *text = must_format("%s%s", sign, value);
        struct wc_version python = m->python;
        python.patch = strcmp(name, "python_version") == 0 ? 0 : -1;
        return wc_text_accepts(text, python) != WC_NO;
    }
    WC_EACH_ROW(row, known)
        if (strcmp((*row)[0], name) == 0 && (*row)[1] && sign[1] == '=')
            return (strcmp((*row)[1], value) == 0) == (sign[0] == '=');
    return true;
}

static bool may_hold(struct marker *m) {
    bool any = false;

    do {
        bool all = true;
        do
            all = may_compare(m) && all;
        while (is_next(m, "and "));
        any = any || all;
    } while (is_next(m, "or "));
    return any;
}

/* behind: the version of a package. In TOML the condition is a key of the same table. */
static bool is_for_environment(const struct scan *s, const char *site, const char *behind) {
    const bool is_toml = *behind == '"';
    const char *key = is_toml ? strstr(behind, "\nmarker") : strpbrk(behind, ";\n");
    const char *end = is_toml ? strstr(behind, "\n[") : NULL, *python = strstr(site, "/python");
    struct utsname here;
    struct marker m = {.python = WC_VERSION_NONE};

    if (!key || *key != (is_toml ? '\n' : ';') || (end && end < key))
        return true;
    key += is_toml ? strcspn(key, "\"{") : 0;
    OWNED char *text = must_format("%.*s", (int)strcspn(key + 1, "\n"), key + 1);
    for (char *c = text, *from = text; (*c = *from == '"' ? '\'' : *from); from++)
        c += *c != '\\';
    m.at = text;
    m.machine = !s->library_cache.disk.root[0] && uname(&here) == 0 ? here.machine : NULL;
    if (python)
        wc_version_parse_start(python + 7, strcspn(python + 7, "/"), &m.python);
    return *key == '{' || may_hold(&m);
}

static void read_lock_file(struct scan *s, const char *site, const char *path) {
    static const struct lock_line {
        const char *expression, *installed;
    } lines[] = {
#define LOCK_LINE(expression, installed) {expression, installed},
#include "tools/knowledge/lock_files.def"
    };
    OWNED char *content = disk_text(path, TEXT_MOST, NULL);
    OWNED char *text = must_format("\n%s", content);

    if (!content && errno != EISDIR && errno != ENOENT)
        scan_note_passed(s, path + strlen(s->library_cache.disk.root), strerror(errno));
    for (char *c = text, *from = text; (*c = *from); from++) /* as Windows ends lines */
        c += *c != '\r';

    WC_EACH_ROW(line, lines) {
        regmatch_t m[4]; /* the whole, the name, a part of that, the version */
        regex_t expression;
        if (regcomp(&expression, line->expression, REG_EXTENDED) != 0)
            continue;
        const char *at = text;
        for (int i = 0; i < LINES_MOST && regexec(&expression, at, 4, m, 0) == 0; i++) {
            struct scan_locked new = {.site = site};
            new.file = KEEP(s, "%s", path + strlen(s->library_cache.disk.root));
            new.package = KEEP(s, "%.*s", (int)(m[1].rm_eo - m[1].rm_so), at + m[1].rm_so);
            new.version = KEEP(s, "%.*s", (int)(m[3].rm_eo - m[3].rm_so), at + m[3].rm_so);
            new.installed = version_installed(s, site, line->installed, new.package);
            new.as_locked = /* 9.10.2 is 9.10.2.0, and of 9.10.* */
                wc_text_accepts(KEEP(s, "==%s", new.version), wc_version_of(new.installed)) ==
                WC_YES;
            at += m[3].rm_eo;
            if (is_for_environment(s, site, at))
                note_locked(s, &new);
        }
        regfree(&expression);
    }
}

void scan_read_lock_files(struct scan *s, const char *site) {
    static const struct lock_file {
        int up;
        const char *files;
    } files[] = {
#define LOCK_FILE(up, files) {up, files},
#include "tools/knowledge/lock_files.def"
    };

    WC_EACH_ROW(row, files) {
        size_t n = strlen(site);
        for (int i = 0; i < 3 + row->up; i++) /* lib/python3.12/site-packages, and on */
            n = wc_dir_above(site, n);
        OWNED char *above = must_format("%.*s/", (int)n, site);
        OWNED_GLOB glob_t found = glob_below(s->library_cache.disk.root, above, row->files, 0);
        for (size_t i = 0; i < found.gl_pathc; i++)
            read_lock_file(s, site, found.gl_pathv[i]);
    }
}

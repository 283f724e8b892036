/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#define TEXTS_MOST 64 /* of a list */

void wc_emit_process(const struct wc_sink *to, const struct wc_process *p) {
    const char *arguments[TEXTS_MOST], *variables[TEXTS_MOST];
    const struct wc_arguments line = {p->arguments, p->arguments_size, p->executable,
                                      p->all_arguments};
    size_t n = 0;
    struct wc_record r;
    struct wc_process_record *out = &r.u.process;
    for (const char *const *v = p->environment; v && *v && n < TEXTS_MOST; v++)
        if (wc_variable_is_logged(*v))
            variables[n++] = *v;
    wc_record_begin(&r, WC_KIND_process);
    out->node = p->node;
    out->start_ticks = p->start_ticks;
    out->parent_pid = p->parent_pid;
    out->parent_name = p->parent_name;
    out->parent_log = p->parent_log;
    out->forked = p->forked;
    out->executable = p->executable;
    out->arguments =
        (struct wc_strings){arguments, wc_arguments_keep(&line, arguments, TEXTS_MOST)};
    out->directory = p->directory;
    out->environment = (struct wc_strings){variables, n};
    out->shim_version = p->shim_version;
    out->shim_path = p->shim_path;
    out->eager = p->eager;
    out->run_pid = p->run_pid;
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

static bool read_text(const struct wc_files *files, struct wc_machine *m, const char *path) {
    size_t n = 0;
    bool good = files->read(files->ctx, path, 0, m->read, sizeof m->read - 1, &n);
    m->read[n] = 0;
    return good && n;
}

/* The value of KEY="value" or KEY=value in os-release. */
static const char *operating_system(const struct wc_files *files, struct wc_machine *m) {
    static const char key[] = "PRETTY_NAME=";
    const char *s = read_text(files, m, "/etc/os-release") ? m->read : NULL;
    while (s && !wc_str_starts(s, key)) {
        s = wc_str_find_char(s, '\n');
        s = s ? s + 1 : NULL;
    }
    if (!s)
        return NULL;
    s += sizeof key - 1;
    const char quote = *s == '"' ? '"' : '\n';
    s += *s == '"';
    size_t n = 0;
    while (s[n] && s[n] != quote && s[n] != '\n')
        n++;
    wc_str_format(m->operating_system, sizeof m->operating_system, "%.*s", (int)n, s);
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
    if (!read_text(files, m, "/proc/driver/nvidia/version"))
        return kind_by_marks(files, other_drivers);
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

void wc_machine_read(const struct wc_files *files, struct wc_machine *m,
                     struct wc_machine_record *out) {
    out->kernel = m->kernel;
    out->architecture = m->architecture;
    out->glibc = m->glibc;
    out->operating_system = operating_system(files, m);
    out->container = kind_by_marks(files, containers);
    out->driver = driver_release(files, m);
    out->gpu_devices = 0;
    if (!files->list(files->ctx, "/dev", count_gpu, &out->gpu_devices))
        out->gpu_devices = WC_NULL;
}

void wc_emit_machine(const struct wc_sink *to, const struct wc_files *files, struct wc_machine *m) {
    struct wc_record r;
    wc_record_begin(&r, WC_KIND_machine);
    wc_machine_read(files, m, &r.u.machine);
    to->add(to->ctx, &r);
}

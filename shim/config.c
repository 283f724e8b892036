/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "auxv.h"
#include "core/records/process.h"
#include "files.h"
#include "memory.h"
#include "sys.h"

struct config config;

/* The variables at process start. They are copied at once, because setenv and unsetenv change the
 * list that the constructor gets. If there is no room, the pointer points to the original. */
#define MOST_VARIABLES 64
#define LOGGED_BYTES (8 << 10)
static const char *logged[MOST_VARIABLES + 1];

/* Value of NAME in "NAME=value", NULL if it is another variable. */
static const char *value_of(const char *variable, const char *name) {
    size_t n = wc_str_length(name);
    return wc_str_starts(variable, name) && variable[n] == '=' ? variable + n + 1 : NULL;
}

static void copy_value(char *to, size_t cap, const char *value) {
    if (!wc_str_copy(to, cap, value))
        to[0] = 0; /* half a path is not a path */
}

static void take_setting(const char *variable) {
    const char *v;
    if ((v = value_of(variable, "WHICHCUDNN_LOG")))
        copy_value(config.log, sizeof config.log, v);
    else if ((v = value_of(variable, "WHICHCUDNN_EXPECT")))
        copy_value(config.expect, sizeof config.expect, v);
    else if ((v = value_of(variable, "WHICHCUDNN_STDERR")))
        config.standard_error = wc_str_same(v, "off")   ? STDERR_OFF
                                : wc_str_same(v, "all") ? STDERR_ALL
                                                        : STDERR_FINDING;
    else if ((v = value_of(variable, "WHICHCUDNN_CALLS")))
        config.calls = !wc_str_same(v, "off");
    else if ((v = value_of(variable, "WHICHCUDNN_ARGV")))
        config.whole_arguments = wc_str_same(v, "1");
    else if ((v = value_of(variable, "WHICHCUDNN_DISABLE")))
        config.off = config.off || wc_str_same(v, "1");
    else if ((v = value_of(variable, "WHICHCUDNN_RUN_PID"))) {
        uint64_t pid;
        if (wc_parse_number(v, wc_str_length(v), &pid))
            config.run_pid = (int64_t)pid;
    }
}

struct kept {
    size_t n, bytes;
};

/* Copies a variable: a daemon may write its title over the original. */
static const char *copy_text(const char *variable, struct kept *k) {
    static char texts[LOGGED_BYTES];
    size_t n = wc_str_length(variable) + 1;
    if (n > sizeof texts - k->bytes)
        return variable;
    char *copy = texts + k->bytes;
    wc_mem_copy(copy, variable, n);
    k->bytes += n;
    return copy;
}

/* Two threads may do this at once, with the same result. */
static void keep_variable(const char *variable, struct kept *k) {
    if (value_of(variable, "TMPDIR"))
        config.temporary_directory = value_of(copy_text(variable, k), "TMPDIR");
    if (k->n < MOST_VARIABLES && wc_variable_is_logged(variable))
        logged[k->n++] = copy_text(variable, k);
    if (!config.secure && wc_str_starts(variable, "WHICHCUDNN_"))
        take_setting(variable);
}

/* Most environments fit into the static buffer; shells that export functions make large ones. */
static const char *copy_environment(size_t *size) {
    static char usual[64 << 10];
    enum { MOST = 8 << 20 }; /* the kernel takes 6 MiB at most; untouched pages cost nothing */
    if (!shim_files.read(NULL, "/proc/self/environ", 0, usual, sizeof usual - 1, size))
        return NULL;
    char *large = *size == sizeof usual - 1 ? memory_map(MOST) : NULL;
    if (large)
        shim_files.read(NULL, "/proc/self/environ", 0, large, MOST - 1, size);
    return large ? large : usual;
}

void config_load(const char *const *envp) {
    const char *copied = NULL;
    struct kept kept = {0, 0};
    size_t size = 0;
    if (config.loaded)
        return;
    if (!envp && !(copied = copy_environment(&size))) {
        config.off = true;
        return;
    }
    config.off = false;
    config.calls = true;
    config.standard_error = STDERR_FINDING;
    if (envp)
        auxv_note_environment(envp);
    /* A process that may not read its own auxiliary vector has changed its rights. */
    config.secure = auxv_value(AT_PAGESZ) ? auxv_value(AT_SECURE) != 0 : sys_has_other_rights();
    for (size_t i = 0; envp && envp[i]; i++)
        keep_variable(envp[i], &kept);
    for (size_t at = 0; at < size; at += wc_str_length(copied + at) + 1)
        keep_variable(copied + at, &kept);
    logged[kept.n] = NULL;
    config.off = config.off || config.secure;
    __atomic_store_n(&config.loaded, true, __ATOMIC_RELEASE);
}

const char *config_variable(const char *name) {
    const char *value = NULL;
    for (size_t i = 0; logged[i] && !value; i++)
        value = value_of(logged[i], name);
    return value;
}

const char *const *config_logged(void) {
    return logged;
}

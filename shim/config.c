/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "auxv.h"
#include "core/records/process.h"
#include "files.h"
#include "memory.h"
#include "sys.h"

struct config config;

/* The environment as at process start: pointers into the stack that execve made (given to the
 * constructor), or a copy of /proc/self/environ. */
static const char *const *environment;
static const char *copied;
static size_t copied_size;

/* Value of NAME in "NAME=value", NULL if it is another variable. */
static const char *value_of(const char *variable, const char *name) {
    size_t n = wc_str_length(name);
    return wc_str_starts(variable, name) && variable[n] == '=' ? variable + n + 1 : NULL;
}

static void copy_value(char *to, size_t cap, const char *value) {
    if (!wc_str_copy(to, cap, value))
        to[0] = 0; /* half a path is no path */
}

static void take(void *arg, const char *variable) {
    const char *v;
    (void)arg;
    if (!wc_str_starts(variable, "WHICHCUDNN_"))
        return;
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

static void each_variable(void (*each)(void *arg, const char *variable), void *arg) {
    for (size_t i = 0; environment && environment[i]; i++)
        each(arg, environment[i]);
    for (size_t at = 0; !environment && at < copied_size; at += wc_str_length(copied + at) + 1)
        each(arg, copied + at);
}

/* Most fit into what comes with the library; a shell that exports functions makes large ones. */
static bool copy_environment(void) {
    static char usual[64 << 10];
    enum {
        MOST = 8 << 20
    }; /* the kernel takes 6 MiB at most; pages that nobody writes cost nothing */
    size_t n = 0;
    if (!shim_files.read(NULL, "/proc/self/environ", 0, usual, sizeof usual - 1, &n))
        return false;
    copied = usual;
    char *large = n == sizeof usual - 1 ? memory_map(MOST) : NULL;
    if (large) {
        copied = large;
        shim_files.read(NULL, "/proc/self/environ", 0, large, MOST - 1, &n);
    }
    copied_size = n;
    return true;
}

/* What the vector says; where a process may not read its own, it has changed its rights. */
static bool is_secure(void) {
    if (auxv_value(6 /* AT_PAGESZ */))
        return auxv_value(23 /* AT_SECURE */) != 0;
    return sys_has_other_rights();
}

void config_load(const char *const *envp) {
    if (config.loaded)
        return;
    if (!envp && !copy_environment()) {
        config.off = true;
        return;
    }
    config.off = false;
    config.calls = true;
    config.standard_error = STDERR_FINDING;
    environment = envp;
    if (envp)
        auxv_note_environment(envp);
    config.secure = is_secure();
    if (!config.secure)
        each_variable(take, NULL);
    config.off = config.off || config.secure;
    __atomic_store_n(&config.loaded, true, __ATOMIC_RELEASE);
}

struct asked {
    const char *name, *value;
};

static void note_value(void *arg, const char *variable) {
    struct asked *a = arg;
    const char *value = value_of(variable, a->name);
    a->value = value ? value : a->value;
}

const char *config_variable(const char *name) {
    struct asked a = {name, NULL};
    each_variable(note_value, &a);
    return a.value;
}

struct logged {
    void (*each)(void *arg, const char *variable);
    void *arg;
};

static void if_logged(void *arg, const char *variable) {
    const struct logged *l = arg;
    if (wc_variable_is_logged(variable))
        l->each(l->arg, variable);
}

void config_each_logged(void (*each)(void *arg, const char *variable), void *arg) {
    struct logged l = {each, arg};
    each_variable(if_logged, &l);
}

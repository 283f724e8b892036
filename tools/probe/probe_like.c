/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_like.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/model/names.h"
#include "core/records/process.h"

/* Of several processes the one that came first: what it started may have ended early. */
static void choose(struct like *l) {
    for (size_t i = 0; i < l->in.logs.process_count; i++) {
        const struct source *process = l->in.logs.processes[i];
        const struct wc_object *facade =
            WC_FIRST(o, process->stack.objects, o->r.role == WC_role_FACADE && o->r.path);
        if (facade && (!l->process || process->first_time < l->process->first_time)) {
            l->process = process;
            l->facade = facade;
        }
    }
}

bool like_read(struct like *l, const char *place) {
    OWNED char *argument = must_copy(place);

    memset(l, 0, sizeof(*l));
    l->in.may_be_empty = true;
    input_read_files(&l->in, &argument, 1);
    choose(l);
    return l->in.trouble_count == 0 || l->in.logs.process_count > 0;
}

void like_end(struct like *l) {
    inputs_end(&l->in);
}

/* LD_PRELOAD is the caller's to set: the shim of this command, not that of the log. cuDNN would
 * write to the files that CUDNN_LOGDEST_* name. */
static bool is_taken_over(const char *variable) {
    return wc_variable_is_logged(variable) && strncmp(variable, "LD_PRELOAD=", 11) != 0 &&
           strncmp(variable, "WHICHCUDNN_", 11) != 0 && strncmp(variable, "CUDNN_LOG", 9) != 0;
}

/* The child's working directory is where relative elements begin. cuDNN's parts come from its own
 * directory. */
void like_trust(const struct like *l, struct trust *t) {
    const struct wc_process_record *p = &l->process->stack.process;
    const char *path = l->facade->r.path;
    OWNED char *directory = must_format("%.*s", (int)wc_dir_length(path), path);
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    trust_logs(t, &l->in.logs);
    if (p->directory && chdir(p->directory) != 0)
        t->why = t->why ? t->why : must_format("%s: %s", p->directory, strerror(errno));
    WC_EACH(variable, p->environment)
        if (strncmp(*variable, "LD_LIBRARY_PATH=", 16) == 0)
            trust_list(t, *variable + 16, ":;", NULL);
        else if (is_taken_over(*variable) && strchr(*variable, '/'))
            trust_path(t, strchr(*variable, '=') + 1);
    WC_EACH(o, l->process->stack.objects)
        if (o->r.role != WC_role_HOST)
            trust_path(t, o->r.path);
    trust_directory(t, directory, ".so");
    if (here < 0 || fchdir(here) != 0)
        t->why = t->why ? t->why : must_format("the working directory: %s", strerror(errno));
    close(here);
}

static void unset(const char *variable) {
    OWNED char *name = must_copy(variable);

    name[strcspn(name, "=")] = '\0';
    unsetenv(name);
}

void like_set_environment(const struct like *l) {
    const struct wc_process_record *p = &l->process->stack.process;

    for (size_t i = 0; environ[i];) {
        if (is_taken_over(environ[i]))
            unset(environ[i]); /* the next one is in its place */
        else
            i++;
    }
    for (size_t i = 0; i < p->environment.n; i++)
        if (is_taken_over(p->environment.p[i]))
            putenv(must_copy(p->environment.p[i]));
    if (p->directory && chdir(p->directory) != 0)
        return; /* relative paths of the variables lead elsewhere; the files are compared */
}

static char *file_difference(const struct wc_object_record *o) {
    const char *path = o->real_path ? o->real_path : o->path;
    struct stat facts;

    if (!path)
        return NULL;
    if (stat(path, &facts) != 0)
        return must_format("%s: %s", path, strerror(errno));
    if ((o->size > 0 && facts.st_size != o->size) || (o->mtime > 0 && facts.st_mtime != o->mtime))
        return must_format("%s is another file than it was", path);
    return NULL;
}

static bool is_same_library(const struct wc_object_record *a, const struct wc_object_record *b) {
    return a->role == b->role && a->mapped == b->mapped && a->role != WC_role_HOST &&
           (a->part ? b->part && strcmp(a->part, b->part) == 0 : !b->part);
}

static char *place_difference(const struct wc_object_record *o, const struct wc_stack *now) {
    const char *was = o->real_path ? o->real_path : o->path, *is;

    for (size_t i = 0; now && i < now->objects.n; i++) {
        const struct wc_object_record *other = &now->objects.p[i].r;
        is = other->real_path ? other->real_path : other->path;
        if (is_same_library(o, other) && was && is && strcmp(was, is) != 0)
            return must_format("%s is %s now, was %s", wc_base_name(o->path ? o->path : was), is,
                               was);
    }
    return NULL;
}

size_t like_differences(const struct like *l, const struct wc_stack *now, char **out, size_t most) {
    const struct wc_stack *s = &l->process->stack;
    size_t n = 0;

    for (size_t i = 0; i < s->objects.n && n < most; i++) {
        const struct wc_object_record *o = &s->objects.p[i].r;
        if (o->role != WC_role_FACADE && o->role != WC_role_PART)
            continue;
        out[n] = file_difference(o);
        if (!out[n])
            out[n] = place_difference(o, now);
        if (out[n])
            n++;
    }
    return n;
}

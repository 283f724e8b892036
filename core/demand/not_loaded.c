/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bad-file, wrong-name, library-not-found, dependency-missing: a library that was requested was not
 * loaded, or another one under its name.
 */
#include "core/knowledge/programs.h"
#include "finding.h"

/* ---- bad-file ---- */

/* A file has the name of the library that was requested, but not one that this process
 * can load. The loader says so, or passes it over without a word: another machine's, a link that
 * leads nowhere. What the file is was looked at when the request failed. */
void wc_find_bad_file(struct wc_diagnosis *d) {
    WC_EACH(f, d->s->failures) {
        if (!wc_is_unreported(d, f, WC_REASON_BAD_FILE) ||
            !(wc_file_matters(f->culprit) || wc_file_matters(f->r.name) || wc_was_the_end(d->s, f)))
            continue;
        const struct wc_file_record *file = f->file;
        struct wc_object o = wc_file_as_object(file, f->culprit);
        bool needed = f->r.operation == WC_operation_NEEDED;
        struct wc_case *c = wc_case_begin(d, NULL, NULL);
        const char *wanted = wc_format_wanted(c, f, f->culprit);

        c->r.title = file && file->fault && file->content
                         ? wc_format(c, "%s, which is %s", wanted, file->content)
                         : wc_format(c, "%s, a file that the loader refuses", wanted);
        wc_case_about(c, wc_caller_of(d->s, f));
        wc_case_fact_from(c, WC_FACT_FILE, f->culprit,
                          f->said.what == WC_SAID_REFUSED ? "dlerror"
                          : needed                        ? "the loader's rules for DT_NEEDED"
                                                          : "loader request");
        if (file) {
            wc_case_fact(c, WC_FACT_LEADS_TO, file->link);
            if (!wc_str_same(file->real_path, file->path))
                wc_case_fact(c, WC_FACT_REAL_PATH, file->real_path);
            wc_case_fact(c, WC_FACT_IS, file->content);
            if (file->size != WC_NULL)
                wc_case_fact(c, WC_FACT_SIZE, wc_format(c, "%jd bytes", file->size));
            wc_case_fact(c, WC_FACT_INSTALLATION, wc_format_installation(c, &o));
        }
        if (needed)
            wc_case_fact(c, WC_FACT_NEEDED_BY, f->r.caller);
        else
            wc_case_request(c, f);
        /* Of another class the loader says so if it finds no other; a whole path is not
         * searched. */
        if (f->said.what != WC_SAID_REFUSED && wc_base_name(f->r.name) == f->r.name &&
            !(file && file->fault == WC_file_fault_OTHER_CLASS))
            wc_case_fact(
                c, WC_FACT_MIND,
                file && (file->fault == WC_file_fault_CUT || file->fault == WC_file_fault_MALFORMED)
                    ? "the loader refuses it, or a process that reads the missing bytes is "
                      "killed by SIGBUS"
                    : "the loader skips such a file without a message");
        if (!needed)
            wc_case_asked_by(c, f);
        wc_case_variable(c, "LD_LIBRARY_PATH");
        wc_case_end(c);
    }
}

/* ---- wrong-name ---- */

/* The name of a file says one library, what it is (its SONAME) another. Either it was loaded under
 * a name that is not its own, as through a forged link, or it was not found for it: the right one
 * is where the loader looked, under another name. */

/* The name under which it was taken for what it is not; NULL: none. */
static const char *false_name(const struct wc_object *o) {
    const char *names[] = {o->r.asked_name, o->r.path};
    /* One of another maker may be called as it likes, as long as it has cuDNN's functions. */
    bool stands_in = wc_name_kind_of(o->r.soname) == WC_NAME_OTHER &&
                     (wc_version_known(o->floor) || wc_version_known(o->version));

    WC_EACH_ROW(name, names)
        if (o->r.soname && *name && wc_is_false_name(*name, o->r.soname) && !stands_in)
            return *name;
    return NULL;
}

/* Found by its name, and refused for what it really is. */
static void report_refused(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_object *by = wc_caller_of(d->s, f);
    struct wc_case *c = wc_case_begin(d, NULL, by && !wc_is_cudnn(by) ? by : NULL);

    c->r.title =
        wc_format(c, "%s needs %s and found %s under that name", wc_format_name(c, f->said.file),
                  wc_format_name(c, f->culprit), wc_format_name(c, f->file->soname));
    wc_case_file(c, WC_FACT_FOUND, f->file, "dlerror");
    wc_case_request(c, f);
    wc_case_asked_by(c, f);
    wc_case_end(c);
}

/* Not found for its name. */
static void report_missing(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_file_record *file = f->file;
    const struct wc_object *by = wc_caller_of(d->s, f);
    const char *asked = wc_base_name(wc_missing_of(f));
    const int directory = (int)(wc_base_name(file->path) - file->path);
    struct wc_case *c = wc_case_begin(d, NULL, NULL);
    const char *other = wc_format(c, "%.*s%s", directory, file->path, asked);
    bool driver = wc_name_kind_of(asked) == WC_NAME_DRIVER;
    bool of_others = !f->needs && !(by && (wc_is_cudnn(by) || wc_wants_cudnn(by)));

    c->r.title = wc_format(c, "%s, which is there under the name %s", wc_format_wanted(c, f, asked),
                           wc_format_name(c, file->path));
    if (!driver || !wc_is_cudnn(by))
        wc_case_about(c, by);
    /* Others may ask whether there is a GPU, and continue without; or, as cuSPARSELt does, for a
     * compiler that they may never need, and then the loader was not asked why there is none. */
    if (driver && of_others)
        c->effect = WC_EFFECT_DOUBTED;
    else if (wc_name_kind_of(asked) == WC_NAME_CUDA_DEPENDENCY && of_others && !f->r.text)
        c->effect = WC_EFFECT_NONE;
    wc_case_file(c, WC_FACT_FILE, file,
                 wc_enum_word(WC_ENUM_search_rule, file->rule) ?: "directory asked for");
    wc_case_request(c, f);
    wc_case_asked_by(c, f);
    /* A cache lists a file that is not a link only by its SONAME, whatever is there. */
    if (WC_ANY(one, d->s->files, !one->r.fault && wc_str_same(one->r.path, other)))
        wc_case_fact_from(
            c, WC_FACT_MIND,
            wc_format(c,
                      "%s exists, too, but is not a link: the loader's cache lists it "
                      "only by its SONAME",
                      other),
            "file");
    wc_case_end(c);
}

void wc_find_wrong_name(struct wc_diagnosis *d) {
    WC_EACH(o, d->s->objects) {
        const char *name = false_name(o);
        if (!name)
            continue;
        const struct wc_object *by = wc_object_of(d->s, o->r.asked_by_object, o->r.asked_by);
        struct wc_case *c = wc_case_begin(d, o, by && !wc_is_cudnn(by) ? by : NULL);
        const char *who = o->r.asked_by ? wc_format_name(c, o->r.asked_by) : "the program";
        c->r.title = wc_format(c,
                               o->r.asked_how == WC_operation_NEEDED
                                   ? "%s needs %s and got %s under that name"
                                   : "%s asked for %s and got %s under that name",
                               who, wc_format_name(c, name), wc_format_name(c, o->r.soname));
        wc_case_library(c, WC_FACT_GOT, o);
        wc_case_fact(c, WC_FACT_SONAME, o->r.soname);
        if (o->r.role == WC_role_FACADE && !wc_version_known(o->floor) &&
            !wc_version_known(o->version))
            wc_case_fact(c, WC_FACT_FUNCTIONS_OF_CUDNN, "none");
        wc_case_end(c);
    }
    WC_EACH(f, d->s->failures)
        if (wc_is_unreported(d, f, WC_REASON_WRONG_NAME))
            (f->said.what == WC_SAID_UNMET ? report_refused : report_missing)(d, f);
}

/* ---- library-not-found ---- */

/* Frameworks try several names and copies; a miss before the name that worked is not a finding. */

static const char *missing_of(const struct wc_failure *f) {
    return wc_base_name(wc_missing_of(f));
}

/* A library of cuDNN was not loaded. A host may ask for parts by itself, many of which are
 * optional: it needs them where no facade is loaded, where the process failed, or where it declares
 * how much. */
static bool cudnn_not_loaded(const struct wc_stack *s, const struct wc_failure *f) {
    const char *missing = missing_of(f);
    struct wc_name n = wc_name_read(missing);

    if (!wc_is_load(f) || wc_asked_by_cudnn(s, f) || f->fate == WC_FATE_MADE_GOOD)
        return false;
    if (n.kind != WC_NAME_PART || f->needs)
        return n.kind == WC_NAME_FACADE;
    return !WC_ANY(o, s->objects, o->r.role == WC_role_PART && wc_str_same(o->r.part, n.part)) &&
           (f->r.priority || wc_ended_badly(s) || !wc_first_facade(s));
}

/* Another request of the same caller for one: by another name, or for a file that needs the same.
 * Python opens the files of all packages, and each may need another major. */
static bool is_like(const struct wc_stack *s, const struct wc_failure *a,
                    const struct wc_failure *b) {
    return a->r.caller_object == b->r.caller_object && wc_str_same(a->r.caller, b->r.caller) &&
           a->r.priority == b->r.priority && cudnn_not_loaded(s, a) &&
           ((!a->needs && !b->needs) || wc_str_same(missing_of(a), missing_of(b)) ||
            (a->r.name && b->r.name && wc_is_alternative(a->r.name, b->r.name)));
}

/* The process went on and failed with another request, or by a process that it started; or it was a
 * worker, and the process that started it continued without. A host of CUDA goes on inside its
 * worker, and may have lost the GPU there. */
static bool was_survived(const struct wc_stack *s, const struct wc_failure *f) {
    if (s->is_kept && !f->needs &&
        !WC_ANY(o, s->objects, o->r.role != WC_role_OTHER || o->r.framework))
        return true;
    return f->fate == WC_FATE_WENT_ON && wc_ended_badly(s) &&
           (f->time < s->failed_child ||
            WC_ANY(g, s->failures,
                   g->fate == WC_FATE_LAST && !is_like(s, g, f) &&
                       (cudnn_not_loaded(s, g) ||
                        (wc_program_is(f->r.caller, WC_PROGRAM_LIBRARY) && wc_was_the_end(s, g)))));
}

const struct wc_searched *wc_search_in_vain(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_searched *last = NULL;

    /* What is added after the shim's looks through all that the file needs. */
    WC_EACH(a, s->searches)
        if (f->r.request != WC_NULL && a->r.request == f->r.request && a->r.object == WC_NULL)
            last = a;
    return last;
}

static const char *not_found_title(struct wc_case *c, const struct wc_failure *f,
                                   const char *name) {
    return wc_format(c, "%s, which %s", wc_format_wanted(c, f, name),
                     wc_is_asked_for(f, name) && !wc_was_not_found(f) ? "could not be loaded"
                                                                      : "was not found");
}

/* The cuDNN that is there, in the process or where the host looked, is of a major without such a
 * part. */
static void major_of_part_fact(struct wc_case *c, const char *name, const struct wc_object *there) {
    const struct wc_name n = wc_name_read(name);
    /* The parts of 8 are halves, to infer and to train. */
    const bool half = wc_str_find(name, "_infer") || wc_str_find(name, "_train");
    const int32_t wants = half ? 8 : 9, has = there ? wc_major_of(there) : -1;

    if (n.kind != WC_NAME_PART || has < 0 || wants == has)
        return;
    wc_case_fact(c, WC_FACT_MAJOR_OF_PART,
                 wc_format(c,
                           wants < has ? "%s is a part of cuDNN %d, the last that has one of that "
                                         "name; %s is cuDNN %s"
                                       : "%s is a part of cuDNN %d; %s is cuDNN %s",
                           wc_format_name(c, name), wants, wc_format_name(c, wc_name_of(there)),
                           wc_format_own(c, there)));
}

/* A process had another facade: of the same caller, which tries several majors, or of any where
 * one that opens for all asked (Python's ctypes), and cuDNN was used after that. */
static bool has_another(const struct wc_stack *s, const struct wc_failure *f) {
    bool for_all = f->fate == WC_FATE_WENT_ON && wc_program_is(f->r.caller, WC_PROGRAM_LIBRARY);

    return (for_all || !wc_failed_itself(s)) &&
           WC_ANY(o, s->objects,
                  o->r.role == WC_role_FACADE && o->r.mapped && !wc_came_after(o, f) &&
                      (for_all || (f->r.caller && wc_str_same(o->r.asked_by, f->r.caller))));
}

/* It had one of the major of which a release was looked for, or, where one that opens for all did,
 * came to it (cupy 13.6 before and after its first use). */
static bool has_its_major(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_name asked = wc_name_read(missing_of(f));
    const bool for_all = wc_program_is(f->r.caller, WC_PROGRAM_LIBRARY);

    return asked.kind == WC_NAME_FACADE && asked.version.minor >= 0 && !f->needs &&
           !wc_was_fatal(s, f) && (for_all || !wc_failed_itself(s)) &&
           WC_ANY(o, s->objects,
                  o->r.role == WC_role_FACADE && o->r.mapped && (for_all || !wc_came_after(o, f)) &&
                      wc_major_of(o) == asked.version.major);
}

/* Another host of the environment loads this library. If that host comes first, the library is in
 * the process; no file says which of the two comes first. */
static bool may_be_brought(const struct wc_stack *s, const struct wc_object *host,
                           const char *name) {
    return s->replayed && host && host->r.asked_how == WC_operation_DLOPEN &&
           WC_ANY(o, s->objects, o->r.mapped && wc_str_same(o->r.soname, name));
}

static void report_not_found(struct wc_diagnosis *d, const struct wc_failure *f, const char *name) {
    static const enum wc_effect effects[] = {[WC_priority_REQUIRED] = WC_EFFECT_FELT,
                                             [WC_priority_RECOMMENDED] = WC_EFFECT_DOUBTED,
                                             [WC_priority_SUGGESTED] = WC_EFFECT_NONE};
    const struct wc_stack *s = d->s;
    const struct wc_object *host = wc_caller_of(s, f);
    /* A directory that was searched has the library, but not this major of it. */
    const struct wc_file_record *other = wc_file_like(s, f, "libcudnn.so");
    const struct wc_object beside = wc_file_as_object(other, NULL);
    struct wc_case *c = wc_case_begin(d, NULL, host);

    c->r.title = not_found_title(c, f, name);
    if (f->r.priority)
        c->effect = effects[f->r.priority];
    else if (has_another(s, f) || was_survived(s, f) || may_be_brought(s, host, name))
        c->effect = WC_EFFECT_DOUBTED;
    /* A script's look, and others had one. */
    if (f->fate == WC_FATE_WENT_ON && !f->needs && wc_ended_well(s) && wc_first_facade(s) &&
        wc_program_is(f->r.caller, WC_PROGRAM_LIBRARY))
        c->effect = WC_EFFECT_NONE;
    c->r.explained_by = wc_found_before(d, WC_NULL, "installation-incomplete", NULL);
    wc_case_request(c, f);
    WC_EACH(like, s->failures) {
        if (!is_like(s, like, f))
            continue;
        if (like != f)
            wc_case_request(c, like);
        if (like->needs)
            wc_case_fact(c, WC_FACT_WHICH_NEEDS, wc_format_name(c, like->needs));
    }
    wc_case_searched(c, wc_search_in_vain(s, f));
    if (other && other->soname)
        wc_case_file(c, WC_FACT_ANOTHER_MAJOR_IS_THERE, other,
                     wc_enum_word(WC_ENUM_search_rule, other->rule) ?: "directory asked for");
    wc_case_asked_by(c, f);
    WC_EACH(demand, s->demands)
        if (wc_is_demand_of(&demand->r, f->needs ? f->r.name : f->r.caller))
            wc_case_demand(c, WC_FACT_WANTED, &demand->r);
    if (!wc_variable(s, "WHICHCUDNN_RUN_UNSURE"))
        wc_case_fact(c, WC_FACT_LD_LIBRARY_PATH, wc_variable(s, "LD_LIBRARY_PATH") ?: "not set");
    WC_EACH(o, s->objects)
        if (o->r.role == WC_role_FACADE)
            wc_case_library(c, WC_FACT_IN_THE_PROCESS_BY_ANOTHER_WAY, o);
    if (wc_was_not_found(f))
        major_of_part_fact(c, name, wc_first_facade(s) ?: other ? &beside : NULL);
    wc_case_end(c);
}

bool wc_is_probe(const struct wc_stack *s, const struct wc_failure *f) {
    return has_its_major(s, f) || (!wc_failed_itself(s) && s->has_outcome && has_another(s, f));
}

void wc_find_library_not_found(struct wc_diagnosis *d) {
    const struct wc_stack *s = d->s;

    WC_EACH(f, s->failures) {
        const struct wc_failure *last = NULL;
        WC_EACH(like, s->failures)
            if (like->fate == WC_FATE_LAST && is_like(s, like, f) &&
                wc_name_kind_of(missing_of(like)) == wc_name_kind_of(missing_of(f)))
                last = like;
        /* A file was there for this caller, by this request or another: that finding reports it. */
        const bool by_file =
            (f->reason != WC_REASON_UNKNOWN && f->reason < WC_REASON_NEEDS) ||
            WC_ANY(g, s->failures,
                   (g->reason == WC_REASON_BAD_FILE || g->reason == WC_REASON_WRONG_NAME) &&
                       g->fate != WC_FATE_MADE_GOOD && wc_caller_of(s, g) == wc_caller_of(s, f) &&
                       wc_name_kind_of(g->culprit) == WC_NAME_FACADE);
        if (cudnn_not_loaded(s, f) && !wc_is_probe(s, f) &&
            WC_FIRST(like, s->failures, is_like(s, like, f)) == f && !by_file)
            report_not_found(d, last ?: f, missing_of(last ?: f));
    }
}

/* ---- dependency-missing ---- */

bool wc_is_printed(const struct wc_stack *s, const char *missing) {
    const size_t n = wc_str_length(missing);
    const char *at; /* libcufft.so.1 is not in libcufft.so.11, nor in libcufft.so.1.2 */

    return WC_ANY(words, s->outcome.printed,
                  *words && (at = wc_str_find(*words, missing)) && !wc_is_alphanumeric(at[n]) &&
                      !(at[n] == '.' && wc_is_digit(at[n + 1])));
}

/* The driver and, outside of cuDNN, the facade have findings of their own; what has nothing to do
 * with cuDNN has none, but of a program that could not be started, which is its own caller, or that
 * ended with it. */
static bool dependency_not_found(const struct wc_stack *s, const struct wc_failure *f) {
    const char *out = missing_of(f);

    if ((f->reason != WC_REASON_NEEDS && f->reason != WC_REASON_NOT_FOUND) || !f->r.name ||
        f->said.what != WC_SAID_NOT_FOUND)
        return false;
    /* It came to a failure with it, the last thing that any object requested. For what is NVIDIA's
     * many only look whether it is there, and say nothing. */
    if (!f->needs)
        return wc_name_kind_of(out) == WC_NAME_OTHER && f->fate == WC_FATE_LAST &&
               wc_was_the_end(s, f) &&
               (!(wc_str_starts(out, "libnv") || wc_str_starts(out, "libcuda")) ||
                wc_is_printed(s, out));
    enum wc_name_kind missing = wc_name_kind_of(out);
    enum wc_name_kind asked = wc_name_kind_of(f->r.name);
    if (missing == WC_NAME_DRIVER || asked == WC_NAME_DRIVER ||
        (missing == WC_NAME_FACADE && !wc_asked_by_cudnn(s, f)))
        return false;
    if (missing == WC_NAME_OTHER && !wc_kind_is_cudnn(asked) && !wc_asked_by_cudnn(s, f) &&
        !wc_str_same(f->r.name, f->r.caller) && !wc_was_the_end(s, f) &&
        /* What was refused is a host of cuDNN, as its file says. */
        !WC_ANY(o, s->objects,
                !o->r.mapped && wc_wants_cudnn(o) && wc_str_same(o->r.asked_name, f->r.name)))
        return false;
    return f->fate != WC_FATE_MADE_GOOD;
}

void wc_find_dependency_missing(struct wc_diagnosis *d) {
    WC_EACH(f, d->s->failures) {
        const char *missing = missing_of(f);
        if (!dependency_not_found(d->s, f) ||
            WC_FIRST(a, d->s->failures,
                     wc_is_asked_for(a, wc_base_name(f->r.name)) && dependency_not_found(d->s, a) &&
                         wc_str_same(missing_of(a), missing)) != f)
            continue;
        const struct wc_object *caller = wc_caller_of(d->s, f),
                               *facade = wc_facade_of(d->s, caller);
        const struct wc_object *cudnn = wc_is_cudnn(caller) ? caller : NULL;
        const struct wc_searched *searched = wc_search_in_vain(d->s, f);
        struct wc_case *c = wc_case_begin(d, NULL, NULL);

        c->r.title = wc_is_asked_for(f, missing)
                         ? not_found_title(c, f, missing)
                         : wc_format(c, "%s could not be loaded: %s needs %s, which was not found",
                                     wc_format_name(c, f->r.name),
                                     searched && !wc_str_same(wc_base_name(searched->r.caller),
                                                              wc_base_name(f->r.name))
                                         ? wc_format_name(c, searched->r.caller)
                                         : "it",
                                     wc_format_name(c, missing));
        if ((!cudnn && (was_survived(d->s, f) || may_be_brought(d->s, caller, missing))) ||
            (!f->needs && !wc_is_printed(d->s, missing)))
            c->effect = WC_EFFECT_DOUBTED; /* or it got further, to end for something else */
        wc_case_about(c, cudnn && facade ? facade : caller);
        c->r.explained_by = wc_found_before(d, c->r.object, "cuda-major-differs", NULL);
        wc_case_request(c, f);
        wc_case_fact(c, WC_FACT_MISSING, wc_format(c, "%s", missing));
        if (searched && wc_str_same(searched->r.name, missing))
            wc_case_fact(c, WC_FACT_NEEDED_BY, searched->r.caller);
        wc_case_asked_by(c, f);
        wc_case_searched(c, searched);
        wc_case_library(c, WC_FACT_CUDNN, cudnn);
        wc_case_end(c);
    }
}

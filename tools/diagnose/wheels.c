/* SPDX-License-Identifier: Apache-2.0 */
#include "wheels.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/demand/questions.h"
#include "core/knowledge/programs.h"
#include "core/names/compat.h"
#include "core/names/names.h"
#include "core/names/symbols.h"
#include "core/packages/identify.h"
#include "core/records/emit.h"
#include "tools/observe/elf/elf_file.h"
#include "tools/util/memory.h"
#include "tools/util/terminal.h"

enum { FIRST_CUDA = 11, CUDAS = 3 };

static const struct {
    const char *release;
    bool has[CUDAS];
} releases[] = {
#define CUDNN_RELEASE(release, cu11, cu12, cu13) {release, {cu11, cu12, cu13}},
#include "tools/knowledge/wheel_files.def"
};

/* Of which releases of which package a row speaks. */
struct range {
    const char *package, *from, *to;
};

static const struct file_row {
    struct range of;
    const char *file, *needs;
} files[] = {
#define WHEEL_FILE(package, from, to, file, needs) {{package, from, to}, file, needs},
#include "tools/knowledge/wheel_files.def"
};

enum { RUNPATH, RPATH };
static const struct {
    struct range of;
    const char *file;
    int tag;
    const char *path;
} paths[] = {
#define WHEEL_PATH(package, from, to, file, tag, path) {{package, from, to}, file, tag, path},
#include "tools/knowledge/wheel_files.def"
};

static const struct {
    struct range of;
    const char *other;
} requires[] = {
#define WHEEL_REQUIRES(package, from, to, other) {{package, from, to}, other},
#include "tools/knowledge/wheel_files.def"
};

static const struct {
    struct range of;
    const char *wheel, *releases;
} pins[] = {
#define BUILT_WITH(package, from, to, cuda, cudnn, what, source) {{package, from, to}, cuda, cudnn},
#define PINS(package, extra, from, to, wheel, releases) {{package, from, to}, wheel, releases},
#include "core/knowledge/built_with.def"
};

static bool speaks_of(const struct range *row, const char *package, struct wc_version release) {
    return wc_str_same(row->package, package) &&
           (!*row->from || wc_version_compare(release, wc_version_of(row->from)) >= 0) &&
           (!*row->to || wc_version_compare(release, wc_version_of(row->to)) < 0);
}

/* ---- what a wheel holds ---- */

struct wc_version wheel_version(const char *text) {
    struct wc_version version;

    wc_version_parse_start(text, wc_str_length(text), &version);
    return version;
}

struct wheel_list wheel_list(struct wc_arena *memory, const char *package,
                             struct wc_version version) {
    struct wheel_file *p = wc_arena_take(memory, sizeof(files) / sizeof(files[0]) * sizeof(*p));
    size_t n = 0;

    WC_EACH_ROW(row, files) {
        if (!wc_version_known(version) || !speaks_of(&row->of, package, version))
            continue;
        const char *minor = strstr(row->file, "%m"); /* "libnvrtc-builtins.so.12.%m" of 12.4.127 */
        struct wheel_file *file = &p[n++];
        *file = (struct wheel_file){.file = row->file, .needed = row->needs};
        if (minor)
            file->file = wc_arena_format(memory, "%.*s%d", (int)(minor - row->file), row->file,
                                         version.minor < 0 ? 0 : version.minor);
        WC_EACH_ROW(path, paths)
            if (!file->path && speaks_of(&path->of, package, version) &&
                (!*path->file || wc_str_same(path->file, wc_base_name(file->file)))) {
                file->path = path->path;
                file->is_rpath = path->tag == RPATH;
            }
    }
    return (struct wheel_list){p, n};
}

bool wheel_cudnn_needs(const char *library) {
    const char *end = library && wc_str_starts(library, "lib") ? strstr(library, ".so") : NULL;

    return end &&
           WC_ANY(row, WC_ROWS(files),
                  wc_str_starts(row->of.package, "nvidia-cudnn-") &&
                      memmem(row->needs, strlen(row->needs), library, (size_t)(end - library) + 3));
}

struct entries wheel_required(struct wc_arena *memory, const char *package,
                              struct wc_version version) {
    struct entries all = {NULL, 0};

    WC_EACH_ROW(row, requires)
        if (speaks_of(&row->of, package, version))
            entries_add(memory, &all, row->other);
    return all;
}

/* ---- which wheel ---- */

/* "nvidia-cudnn-cu12": 12; "nvidia-cublas": 13. */
static int32_t cuda_of(const char *package) {
    const int32_t cuda = wc_cuda_in_package(package);

    return cuda > 0 ? cuda : FIRST_CUDA + CUDAS - 1;
}

const char *wheel_newest(const char *package, const char *spec) {
    const char *newest = NULL;
    struct wc_spec set = {.n = 0};
    const int32_t column = cuda_of(package) - FIRST_CUDA;

    if (!wc_str_starts(package, "nvidia-cudnn-cu") || column < 0 || column >= CUDAS ||
        (*spec && !wc_spec_read(spec, &set)))
        return NULL;
    WC_EACH_ROW(row, releases)
        if (row->has[column] && wc_spec_accepts(&set, wc_version_of(row->release)) == WC_YES)
            newest = row->release;
    return newest;
}

const char *wheel_oldest(const char *package) {
    const int32_t column = cuda_of(package) - FIRST_CUDA;

    WC_EACH_ROW(row, releases)
        if (column > 0 && column < CUDAS && row->has[column])
            return row->release;
    return column == 0 ? "8.0.1" : NULL; /* archives for 11 are older than its wheels */
}

/* Also by a name without a number, which means whatever number is there. */
static bool is_named(const struct file_row *row, const char *soname) {
    const char *name = wc_base_name(row->file), *minor = wc_str_find(name, "%m");
    size_t n = minor ? (size_t)(minor - name) : 0, plain = wc_str_length(soname);

    if (wc_str_ends(soname, ".so"))
        return wc_str_starts(name, soname) && name[plain] == '.';
    return minor ? wc_str_length(soname) > n && wc_mem_compare(soname, name, n) == 0
                 : wc_str_same(soname, name);
}

const char *wheel_with(struct wc_arena *memory, const char *soname, int32_t cuda,
                       const char **spec) {
    struct range all = {.package = NULL};
    bool by_minor = false;

    cuda = cuda < 0 ? wc_name_cuda(soname) : cuda;
    WC_EACH_ROW(row, files)
        if (cuda_of(row->of.package) == cuda && is_named(row, soname) &&
            (!all.package || wc_str_same(all.package, row->of.package))) {
            by_minor = wc_str_find(row->file, "%m") != NULL;
            all = (struct range){row->of.package, all.from ?: row->of.from, row->of.to};
        }
    const struct wc_version number = wc_name_read(soname).version;
    if (!all.package)
        *spec = "";
    else if (by_minor)
        *spec = wc_arena_format(memory, "==%d.%d.*", number.major, number.minor);
    else if (!wc_str_find(all.package, "-cu1") && number.major >= 10)
        /* The wheels for CUDA 13 are numbered as their libraries are, where not by 0 or 1. */
        *spec = wc_arena_format(memory, "==%d.*", number.major);
    else
        *spec = wc_arena_format(memory, "%s%s%s%s%s", *all.from ? ">=" : "", all.from,
                                *all.from && *all.to ? "," : "", *all.to ? "<" : "", all.to);
    return all.package;
}

/* ---- which host ---- */

const char *host_releases(struct wc_arena *memory, const char *package, const char *wheel,
                          struct wc_version release) {
    const char *newest = NULL;

    WC_EACH_ROW(row, pins) /* without a pin: as NVIDIA promises */
        if (wc_str_same(row->of.package, package) &&
            (*row->wheel
                 ? wc_str_same(row->wheel, wheel) &&
                       wc_text_accepts(row->releases, release) == WC_YES
                 : wc_rule_check(WC_RULE_NVIDIA, wc_version_of(row->releases), release) == WC_FITS))
            newest = wc_arena_format(memory, ">=%s,<%s", row->of.from, row->of.to);
    return newest;
}

/* ---- which release, and what its libraries state ---- */

static bool is_cudnn(const char *package) {
    return wc_str_starts(package, "nvidia-cudnn-cu");
}

struct wc_version wheel_release(const char *package, const char *spec) {
    const char *newest = wheel_newest(package, spec);
    int32_t cuda = wc_cuda_in_package(package);
    struct wc_version pinned;

    if (wc_spec_pins(spec, &pinned) && pinned.build >= 0)
        return pinned;
    if (newest || is_cudnn(package))
        return newest ? wc_version_of(newest) : WC_VERSION_NONE;
    if (wc_version_known(wc_text_floor(spec)))
        return wc_text_floor(spec);
    if (cuda < 0 && wc_str_starts(package, "nvidia-"))
        cuda = 13; /* the first whose wheels go by the bare name */
    return (struct wc_version){cuda, -1, -1, -1};
}

/* A facade of 8 has its parts' names with the number, one of 9 without. */
static struct entries parts_of(struct wc_arena *memory, const struct wheel_list *files,
                               struct wc_version release) {
    struct entries parts = {NULL, 0};

    WC_EACH(file, *files) {
        const char *name = wc_base_name(file->file), *end = strstr(name, ".so");
        if (end && wc_name_kind_of(name) == WC_NAME_PART)
            entries_add(memory, &parts,
                        release.major < 9
                            ? name
                            : wc_arena_string_n(memory, name, (size_t)(end - name) + 3));
    }
    return parts;
}

bool wheel_image(struct wc_arena *memory, const char *package, const char *file,
                 struct wc_version release, struct image *out) {
    struct wc_name name = wc_name_read(file);
    const char *own = wc_base_name(file);
    const bool known = wc_kind_is_cudnn(name.kind) ? is_cudnn(package) : *package != '\0';
    const int32_t cuda = is_cudnn(package) ? wc_cuda_in_package(package) : -1;

    *out = (struct image){.soname = own, .version = WC_VERSION_NONE};
    if (name.kind == WC_NAME_DRIVER || !strstr(own, ".so"))
        return false;
    if (wc_kind_is_cudnn(name.kind)) {
        /* "libcudnn-a2b758a6.so.9.19.0", "libcudnn_graph-3fc2d8ff.so.9": of a wheel that bundles
         * cuDNN under a name of its own, which is its SONAME, too. */
        const size_t n =
            strlen("libcudnn") + (name.kind == WC_NAME_PART ? 1 + strlen(name.part) : 0);
        const char *renamed = strncmp(own + n, ".so", 3) != 0 ? own : NULL;
        if (wc_version_known(name.version) && (renamed || (*package && !is_cudnn(package))))
            release = name.version; /* not that of the package */
        if (release.major < 0)
            return false;
        if (release.minor >= 0)
            out->version = wc_version_filled(release, 0, 0);
        release = wc_version_filled(release, 0, 0);
        own = name.kind == WC_NAME_FACADE
                  ? wc_arena_format(memory, "libcudnn.so.%d", release.major)
                  : wc_arena_format(memory, "libcudnn_%s.so.%d", name.part, release.major);
        out->soname = renamed ?: own;
        out->version_symbol = wc_arena_format(memory, "cudnn_%s_version",
                                              name.kind == WC_NAME_FACADE ? "facade" : name.part);
        out->runpath = "$ORIGIN";
        for (int f = 0; name.kind == WC_NAME_FACADE && f < wc_function_count(); f++) {
            struct wc_version last = wc_function_last(f);
            if (wc_version_compare(wc_function_first(f), release) <= 0 &&
                (!wc_version_known(last) || wc_version_agree(last, release) ||
                 wc_version_compare(last, release) >= 0))
                entries_add(memory, &out->functions, wc_function_name(f));
        }
        if (!is_cudnn(package)) /* of another package manager: the same libraries */
            package = "nvidia-cudnn-cu12";
    }
    struct wheel_list files = wheel_list(memory, package, release);
    if (wc_kind_is_cudnn(name.kind) && release.major >= 8) { /* before there was one library */
        out->constants = parts_of(memory, &files, release);
        if (cuda > 0)
            entries_add(memory, &out->constants,
                        wc_arena_format(memory, "libcublasLt.so.%d", cuda));
    }
    const struct wheel_file *found = WC_FIRST(f, files, strcmp(wc_base_name(f->file), own) == 0);
    if (found) {
        /* Without the driver's, which no package has; of a package that is not known also without
         * CUDA's, which may be of any release. */
        WC_EACH_ELEMENT(e, found->needed, " ") {
            const char *one = wc_arena_string_n(memory, e.p, e.n);
            if (e.n && wc_name_kind_of(one) != WC_NAME_DRIVER &&
                (known || wc_name_kind_of(one) != WC_NAME_CUDA_DEPENDENCY))
                entries_add(memory, &out->needed, one);
        }
        out->rpath = found->is_rpath ? found->path : NULL;
        out->runpath = found->is_rpath ? NULL : found->path;
    }
    return true;
}

struct wc_version library_release(struct library_cache *libraries, const char *path) {
    struct library *l = library_cache_get(libraries, path, NULL);
    struct wc_library about = l ? l->about : (struct wc_library){.path = NULL};

    return l && library_identify(libraries, l, &about) ? about.identity->version : WC_VERSION_NONE;
}

int32_t library_cuda(struct library_cache *libraries, const char *path) {
    struct library *l = library_cache_get(libraries, path, NULL);

    return l ? library_cuda_named(libraries, l) : -1;
}

const char *library_soname(struct library_cache *libraries, const char *path) {
    const struct library *l = library_cache_get(libraries, path, NULL);

    return l ? l->search.soname : NULL;
}

/* ---- what is installed ---- */

bool wheel_is_name(const char *name, size_t n, const char *package) {
    char one[96], other[96];

    wc_distribution_normalise(name, n, one, sizeof(one));
    wc_distribution_normalise(package, strlen(package), other, sizeof(other));
    return strcmp(one, other) == 0;
}

/* Names of dist-info folders, and of conda's records, below the path. */
static struct entries installed_in(struct view view, const char *path) {
    static const char *const kinds[][2] = {{"", ".dist-info"}, {"conda-meta/", ".json"}};
    struct entries found = {NULL, 0};

    WC_EACH_ROW(kind, kinds)
        EACH_ENTRY(entry, view_entries(view, view_format(view, "%s/%s", path, (*kind)[0])))
            if (wc_str_ends(*entry, (*kind)[1]))
                entries_add(view.memory, &found, view_format(view, "%s%s", (*kind)[0], *entry));
    return found;
}

void wheel_take(struct wc_distribution *d, const char *path, const char *info) {
    *d = (struct wc_distribution){.name = ""};
    if (wc_str_ends(info, ".json"))
        wc_conda_take(d, path, info);
    else
        wc_distribution_take(d, path, info, "");
}

const char *wheel_installed(struct view view, const char *site, const char *package,
                            const char **info) {
    struct wc_distribution d;

    EACH_ENTRY(entry, installed_in(view, site)) {
        wheel_take(&d, site, *entry);
        if (!wheel_is_name(d.name, strlen(d.name), package))
            continue;
        if (info)
            *info = *entry;
        return wc_arena_string(view.memory, d.version);
    }
    return NULL;
}

/* ---- what a site has ---- */

const char *without_blanks(struct wc_arena *memory, const char *text, size_t n) {
    char *to = wc_arena_string_n(memory, text, n), *end = to;

    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ')
            *end++ = text[i];
    *end = '\0';
    return to;
}

/* Its headers end with an empty line. */
void requirements_add(struct requirements *to, struct wc_arena *memory, char *metadata) {
    struct wc_requirement q;

    while (metadata && *metadata && *metadata != '\n') {
        const char *line = strsep(&metadata, "\n");
        if (wc_requirement_read(line, &q))
            *MUST_ADD(to->p, to->n) =
                (struct requirement){.package = wc_arena_string_n(memory, q.name, q.name_length),
                                     .spec = without_blanks(memory, q.spec, q.spec_length),
                                     .extra = q.marker && strstr(q.marker, "extra ")};
    }
}

/* As a record of conda's says it ("cudatoolkit >=10.2,<10.3", "python_abi 3.8.* *_cp38"), without
 * the build. */
static void add_of_conda(struct requirements *to, struct view view, const char *file) {
    const char *at = strstr(view_text(view, file) ?: "", "\"depends\""),
               *list = at ? strchr(at, '[') : NULL;
    /* Without its list of files, which may have megabytes. */
    json_auto_t *depends = json_loads(list ?: "", JSON_DISABLE_EOF_CHECK, NULL);
    json_t *one;
    size_t i;

    json_array_foreach(depends, i, one) {
        char *text = wc_arena_string(view.memory, json_string_value(one) ?: "");
        const char *name = strsep(&text, " "), *spec = text ? strsep(&text, " ") : "";
        *MUST_ADD(to->p, to->n) = (struct requirement){
            .package = name,
            .spec = view_format(view, "%s%s", wc_is_digit(*spec) ? "==" : "", spec)};
    }
}

struct site *site_of(struct sites *sites, const struct wc_files *files, const char *path) {
    const struct view view = {&sites->memory.arena, files};

    for (struct site *s = sites->first; s; s = s->next)
        if (wc_str_same(s->path, path))
            return s;
    if (!sites->first)
        heap_arena_begin(&sites->memory);
    struct site *s = must_allocate(sizeof(*s));
    *s = (struct site){.next = sites->first, .path = wc_arena_string(view.memory, path)};
    s->infos = installed_in(view, path);
    WC_EACH(info, s->infos) {
        const char *file = view_format(view, "%s/%s", path, *info);
        struct wc_distribution d;
        size_t n = s->requires.n;
        if (wc_str_ends(file, ".json"))
            add_of_conda(&s->requires, view, file);
        else
            requirements_add(&s->requires, view.memory,
                             view_text(view, view_format(view, "%s/METADATA", file)));
        wheel_take(&d, path, *info);
        for (const char *by = view_format(view, "%s %s", d.name, d.version); n < s->requires.n; n++)
        s->requires.p[n].by = by, s->requires.p[n].info = *info;
    }
    return sites->first = s;
}

/* By "paths_data", which older records do not have. */
static struct listed list_of_conda(struct view view, const char *record) {
    const char *text = view_text(view, record);
    json_auto_t *all = json_loads(text ?: "", 0, NULL);
    const json_t *paths = json_object_get(json_object_get(all, "paths_data"), "paths");
    struct listed list = {NULL, 0};
    json_t *one;
    size_t i;

    paths = json_array_size(paths) ? paths : json_object_get(all, "files");
    if (all)
        list.p = wc_arena_take(view.memory, json_array_size(paths) * sizeof(*list.p));
    json_array_foreach(paths, i, one) {
        const char *path = json_string_value(one), *type = NULL;
        json_int_t size = 0;
        json_unpack(one, "{s?s,s?s,s?I}", "_path", &path, "path_type", &type, "size_in_bytes",
                    &size);
        if (list.p && path && strstr(wc_base_name(path), ".so"))
            list.p[list.n++] = (struct listed_file){.path = wc_arena_string(view.memory, path),
                                                    .size = (uint64_t)size,
                                                    .link = wc_str_same(type, "softlink")};
    }
    return list;
}

/* RECORD: a path, perhaps in quotes, and after the last comma the size. dpkg's list: a path. */
struct listed list_of(struct view view, const char *record) {
    const bool of_wheel = wc_str_ends(record, ".dist-info");
    struct listed list = {NULL, 0};
    struct wc_distribution d;
    size_t most = 1;

    if (wc_str_ends(record, ".json"))
        return list_of_conda(view, record);
    char *rest = view_text(view, of_wheel ? view_format(view, "%s/RECORD", record) : record);
    if (!rest && wc_distribution_take(&d, "", wc_base_name(record), "")) {
        const struct wheel_list all = wheel_list(view.memory, d.name, wheel_version(d.version));
        WC_EACH(known, all)
            rest = view_format(view, "%s%s\n", rest, known->file);
    }
    for (const char *c = rest; c && *c; c++)
        most += *c == '\n';
    list.p = rest ? wc_arena_take(view.memory, most * sizeof(*list.p)) : NULL;
    for (char *line; (line = strsep(&rest, "\n"));) {
        const char *comma = strrchr(line, ',');
        const bool quoted = line[0] == '"';
        line += quoted;
        line[strcspn(line, quoted ? "\"" : ",")] = '\0';
        if (strstr(wc_base_name(line), ".so"))
            list.p[list.n++] = (struct listed_file){
                .path = line, .size = comma ? strtoull(comma + 1, NULL, 10) : 0};
    }
    return list;
}

const struct site *site_libraries(struct sites *sites, const struct wc_files *files,
                                  const char *path) {
    const struct view view = {&sites->memory.arena, files};
    struct site *site = site_of(sites, files, path);

    WC_EACH(info, site->infos) {
        const struct listed list = list_of(view, view_format(view, "%s/%s", path, *info));
        WC_EACH(file, list) {
            *MUST_ADD(site->libraries.p, site->libraries.n) = *file;
            site->libraries.p[site->libraries.n - 1].info = *info;
        }
    }
    site->infos.n = 0; /* each is read once */
    return site;
}

bool requirement_is_known(const struct requirement *q) {
    return !q->extra &&
           (wc_str_starts(q->package, "nvidia-") || wc_str_starts(q->package, "cuda-"));
}

void sites_end(struct sites *sites) {
    if (sites->first)
        heap_arena_end(&sites->memory);
    for (struct site *s; (s = sites->first);) {
        sites->first = s->next;
        free(s->libraries.p);
        free(s->requires.p);
        free(s);
    }
}

void wheels_emit(const char *program, struct disk *disk, const struct wc_sink *to) {
    OWNED char *bin = must_format("%.*s/..", (int)wc_dir_length(program), program);
    OWNED char *prefix = realpath(bin, NULL); /* the program itself may be a link to another's */
    OWNED_GLOB glob_t sites =
        glob_below(prefix ?: "", "/", "lib*/python3*/{site,dist}-packages/", GLOB_BRACE);
    struct wc_environments told = {.cuda = true};
    struct elf_reader reader;

    elf_reader_begin(&reader, disk);
    for (size_t i = 0; wc_program_is(program, WC_PROGRAM_PYTHON) && i < sites.gl_pathc; i++)
        wc_emit_packages(to, &told, sites.gl_pathv[i], &reader.reader);
}

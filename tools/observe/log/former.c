/* SPDX-License-Identifier: Apache-2.0 */
#include "former.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "tools/util/memory.h"
#include "whichcudnn/record.h"

/* What a key means that does not exist: another key of the line, or its file name, or a JSON value.
 * Each is made of those above it. */
static const struct {
    const char *kind, *key, *other, *value;
    bool file_name;
} usual[] = {
    {.kind = "request", .key = "operation", .value = "\"dlopen\""},
    {.kind = "request", .key = "flags", .value = "2"},
    {.kind = "failure", .key = "operation", .value = "\"dlopen\""},
    {.kind = "search", .key = "of", .other = "caller"},
    {.kind = "candidate", .key = "real_path", .other = "path"},
    {.kind = "file", .key = "real_path", .other = "path"},
    {.kind = "object", .key = "real_path", .other = "path"},
    {.kind = "object", .key = "soname", .other = "path", .file_name = true},
    {.kind = "object", .key = "symbol_version", .other = "soname"},
    {.kind = "object", .key = "asked_name", .other = "path"},
    {.kind = "object", .key = "asked_how", .value = "\"dlopen\""},
    {.kind = "object", .key = "mapped", .value = "true"},
    {.kind = "demand", .key = "source_path", .other = "host_path"},
};

/* Which keys are paths. The first text of them that begins with a slash is the record's path. */
static const struct {
    const char *kind, *keys[6];
} paths[] = {
    {"process", {"executable"}},
    {"request", {"name", "caller"}},
    {"failure", {"name", "caller"}},
    {"search", {"caller", "of", "takes", "later_takes", "searched"}},
    {"candidate", {"path", "real_path", "of", "installation_path"}},
    {"file", {"path", "real_path", "installation_path"}},
    {"object", {"path", "real_path", "asked_name", "installation_path", "asked_by", "gpu_library"}},
    {"package", {"installation_path", "prefix", "list"}},
    {"demand", {"host_path", "source_path"}},
    {"binding", {"host_path", "target_path"}},
    {"call", {"host_path", "target_path"}},
    {"unobserved", {"path"}},
};

/* These were always whole, but for those of a CUDA dependency. */
static bool is_whole(const char *key, const json_t *line) {
    const char *role = json_string_value(json_object_get(line, "role"));

    if (strcmp(json_string_value(json_object_get(line, "kind")), "object") != 0)
        return strcmp(key, "executable") == 0;
    return (strcmp(key, "path") == 0 || strcmp(key, "real_path") == 0) &&
           !(role && strcmp(role, "cuda-dependency") == 0);
}

/* ---- paths ---- */

/* Bytes up to a slash, counted from behind; 0: all. */
static size_t without(const char *path, json_int_t parts) {
    size_t n = strlen(path);

    for (json_int_t i = 0; i < parts && n > 0; i++)
        for (n -= i > 0; n > 0 && path[n - 1] != '/';)
            n--;
    return n;
}

#define WORD_MOST 32 /* bytes: the writer left only a path after more */

/* N/K/REST: the path of line N up to its K-th slash from behind, and REST; 0/0/REST: REST. In a
 * list it stands after a word. NULL: it is something else. */
static json_t *whole_path(const struct former *before, const json_t *value, bool listed) {
    const char *text = json_string_value(value), *slash = text ? strchr(text, '/') : NULL;
    size_t word = slash && listed ? (size_t)(slash - text) : 0;
    char seq[19], parts[19];
    int n = 0;

    while (word > 0 && text[word - 1] != ' ')
        word--;
    if (!slash || word > WORD_MOST ||
        sscanf(text + word, "%18[0-9]/%18[0-9]/%n", seq, parts, &n) < 2 || n == 0)
        return NULL;
    const char *of =
        strtoll(seq, NULL, 10) == 0 ? "" : json_string_value(json_object_get(before->paths, seq));
    OWNED char *start = of ? must_format("%.*s", (int)without(of, strtoll(parts, NULL, 10)), of)
                           : must_copy("/?/"); /* that line does not exist */
    OWNED char *whole = must_format("%.*s%s%s", (int)word, text, start, text + word + n);
    return json_string(whole);
}

/* The writer referred to the first path of each directory. */
static void note_path(struct former *before, json_int_t seq, json_t *value) {
    OWNED char *key = must_format("%jd", (intmax_t)seq);
    const char *known;
    json_t *path;

    json_object_foreach(before->paths, known, path)
        if (wc_same_directory(json_string_value(path), json_string_value(value)))
            return;
    if (json_object_size(before->paths) < FORMER_PATHS)
        json_object_set(before->paths, key, value);
}

static void complete_paths(struct former *before, json_t *line, const char *const keys[6]) {
    json_t *own = NULL;

    for (int i = 0; i < 6 && keys[i]; i++) {
        json_t *value = json_object_get(line, keys[i]), *other, *one;
        size_t n;
        if (json_is_array(value)) {
            json_array_foreach(value, n, one)
                if ((other = whole_path(before, one, true)))
                    json_array_set_new(value, n, other);
            continue;
        }
        if (!is_whole(keys[i], line) && (other = whole_path(before, value, false)))
            json_object_set_new(line, keys[i], other);
        value = json_object_get(line, keys[i]);
        if (!own && json_is_string(value) && json_string_value(value)[0] == '/')
            own = value;
    }
    if (own && json_integer_value(json_object_get(line, "cut")) == 0)
        note_path(before, json_integer_value(json_object_get(line, "seq")), own);
}

/* ---- lines ---- */

void former_end(struct former *before) {
    json_decref(before->paths);
    *before = (struct former){.paths = NULL};
}

/* A number that may be left out. */
static json_int_t complete_number(json_t *line, const char *key, json_int_t otherwise) {
    const json_t *value = json_object_get(line, key);

    if (!value && otherwise)
        json_object_set_new(line, key, json_integer(otherwise));
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

void former_complete(struct former *before, json_t *line) {
    const char *kind = json_string_value(json_object_get(line, "kind"));

    if (!kind || json_integer_value(json_object_get(line, "v")) != FORMER_VERSION)
        return;
    json_object_set_new(line, "v", json_integer(WC_LOG_VERSION));
    if (strcmp(kind, "process") == 0)
        former_end(before);
    before->paths = before->paths ?: json_object();
    before->pid = complete_number(line, "pid", before->pid);
    before->time = complete_number(line, "time", before->time);
    complete_number(line, "tid", before->pid);
    WC_EACH_ROW(row, paths)
        if (strcmp(kind, row->kind) == 0)
            complete_paths(before, line, row->keys);
    WC_EACH_ROW(row, usual) {
        if (strcmp(kind, row->kind) != 0 || json_object_get(line, row->key))
            continue;
        json_t *value = row->value ? json_loads(row->value, JSON_DECODE_ANY, NULL)
                                   : json_incref(json_object_get(line, row->other));
        if (row->file_name && json_is_string(value)) {
            json_t *name = json_string(wc_base_name(json_string_value(value)));
            json_decref(value);
            value = name;
        }
        if (value)
            json_object_set_new(line, row->key, value);
    }
}

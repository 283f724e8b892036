/* SPDX-License-Identifier: Apache-2.0 */
#include "setter.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/demand/questions.h"
#include "core/knowledge/programs.h"
#include "entries.h"
#include "tools/util/disk.h"
#include "tools/util/memory.h"
#include "wheels.h"

enum { FILES_MOST = 32, TEXT_MOST = 64 << 10 };

struct reading {
    struct wc_arena *memory;
    const char *directory, *name, *value, *given;
    const struct wc_strings *variables; /* of the process, which a line may name */
    struct entries assigned;            /* "NAME=value", by the lines so far; the last one counts */
    const char *pin; /* the release of package `name`, which is looked for in place of a variable */
    const char *program, *first; /* the same: its script, or itself, and the first word of both */
    const char *others;          /* the script that starts another one; NULL: none does */
    struct entries files;
    bool is_named;   /* in any line */
    bool is_used;    /* the same, and its value does more than to be printed, or handed on */
    bool only_value; /* a line counts by the value that the process has */
    bool at_start;   /* where a file is named and not read otherwise */
    bool of_make;    /* the file at hand */
    struct lines {   /* the last one, and how many there are */
        struct setter last;
        int n;
    } with_value, with_name;
};

static void add_file(struct reading *r, const char *path) {
    OWNED char *real = r->files.n < FILES_MOST ? realpath(path, NULL) : NULL;

    entries_add_new(r->memory, &r->files, wc_arena_string(r->memory, real));
}

/* The next word of a line that may be a path, after the signs that languages put there; NULL: none.
 * The caller frees. */
static char *next_word(const char **line) {
    static const char ends[] = " \t\"'`()[]{}<>,;=|&$:";
    const char *word = *line + strspn(*line, ends);

    *line = word + strcspn(word, ends);
    return *word ? must_format("%.*s", (int)(*line - word), word) : NULL;
}

/* With the values of variables of the lines so far, or of the process: "$CONDA_PREFIX/lib". */
static const char *expanded(const struct reading *r, const char *text) {
    const struct wc_strings none = {NULL, 0}, *of_process = r->variables ?: &none;
    int most = 8; /* a value may name its own variable */

    for (size_t i = r->assigned.n + of_process->n; i-- > 0;) {
        const char *variable =
            i < of_process->n ? of_process->p[i] : r->assigned.p[i - of_process->n]; /* NOLINT */
        const int n = (int)strcspn(variable, "=");
        if (strncmp(variable, r->name, (size_t)n) == 0 && !r->name[n])
            continue; /* its value does not show that the line sets it */
        OWNED char *plain = must_format("$%.*s/", n, variable),
                   *braced = must_format("${%.*s}", n, variable);
        for (const char *at; (at = strstr(text, plain) ?: strstr(text, braced)) && most-- > 0;)
            text = wc_arena_format(r->memory, "%.*s%s%s", (int)(at - text), text,
                                   variable + n + (variable[n] == '='),
                                   at + (at[1] == '{' ? strlen(braced) : strlen(plain) - 1));
    }
    return text;
}

/* A line that assigns a path, or "$OTHER/path", and does nothing else. */
static void note_assigned(struct reading *r, const char *line) {
    line += wc_str_starts(line, "export ") ? strlen("export ") : 0;
    OWNED char *word = must_format("%.*s", (int)strcspn(line, " ;&|"), line);
    char *value = strchr(word, '='), *to = value;

    if (!value || !fits("[A-Za-z_]*([A-Za-z_0-9])=?([\"'])[/$]*", word))
        return;
    for (char *from = value; *from; from++)
        if (!strchr("\"'", *from))
            *to++ = *from;
    *to = '\0';
    const char *text = expanded(r, value);
    if (!strpbrk(text, "$`("))
        entries_add(r->memory, &r->assigned,
                    wc_arena_format(r->memory, "%.*s%s", (int)(value - word), word, text));
}

static char *path_of(const struct reading *r, const char *word) {
    return must_format("%s/%s", *word == '/' ? "" : r->directory, word);
}

/* By its path, or below the folder of the file that names it: of "$(dirname "$0")/conf/gpu.sh"
 * the word is "/conf/gpu.sh", of "$HERE/conf/gpu.sh" it has a name before that. */
static void add_named(struct reading *r, const char *file, const char *line) {
    line = expanded(r, line);
    for (char *word; (word = next_word(&line)); free(word)) {
        OWNED char *path = path_of(r, word);
        /* What programs write, or people read, sets nothing. */
        if (!strpbrk(word, "./") || fits("*.@(log|out|md|rst)", word))
            continue;
        add_file(r, path);
        for (const char *rest = word; rest && rest[strspn(rest, "/")]; rest = strchr(rest, '/')) {
            rest += *rest == '/';
            OWNED char *below = must_format("%.*s/%s", (int)wc_dir_length(file), file, rest);
            add_file(r, below);
        }
    }
}

/* Whole: ":/opt/cuda-12:" does not have "/opt/cuda". text: not the beginning of the line. NULL: it
 * does not occur. */
static const char *find_path(const char *text, const char *path, size_t n) {
    static const char parts[] = "._-~+%@";
    const char *const begin = text;

    for (; (text = memmem(text, strlen(text), path, n)); text++) {
        const char before = text[-1], *after = text + n + (text[n] == '/');
        const bool is_default = before == '-' && text - 1 > begin && text[-2] == ':';
        if (!isalnum((unsigned char)before) && (is_default || !strchr(parts, before)) &&
            before != '/' && !isalnum((unsigned char)*after) && !(*after && strchr(parts, *after)))
            return text;
    }
    return NULL;
}

/* The process has no such variable, which the line removes: for sed, "" where it cannot. NULL: the
 * line does not remove it. */
static const char *dropped(const struct reading *r, const char *line) {
    static const struct {
        const char *line, *change;
    } ways[] = {
        {"?(*[ ;&|{])unset ?(* )%s*( +([A-Za-z_0-9]))*( )?(#*)", "a export %s=\n"},
        {"?(*[ ;&|{])unset ?(* )%s?([!A-Za-z_0-9]*)", NULL},
        {"?(*[ ;&|{])env ?(* )@(-u*( )|--unset=)%s+( )[!- ]*", "s#env -[-A-Za-z_ =]*%s#& %s=\n#"},
        {"?(*[ ;&|{])env ?(* )@(-u*( )|--unset=)%s *", NULL},
        {"?(*[ ;&|{])env @(-|-i|--ignore-environment)+( )[!- ]*", "s#env -[-a-z]*#& %s=\n#"},
        {"?(*[ ;&|{])env @(-|-i|--ignore-environment) *", NULL},
    };

    WC_EACH_ROW(way, ways) {
        OWNED char *pattern = must_format(way->line, r->name);
        if (!r->value && fits(pattern, line))
            return wc_arena_format(r->memory, way->change ?: "", r->name, r->name);
    }
    return NULL;
}

/* The value as one text, in quotes or as the last word: of Python, JSON, YAML. */
static bool is_text(const char *line, const char *value) {
    const size_t n = value ? strlen(value) : 0;
    const char *at = n ? strstr(line + 1, value) : NULL;

    return at && !strstr(at + 1, value) && !strpbrk(value, "#'\\*[^$") &&
           (strchr("\"'", at[-1]) ? at[n] == at[-1] : at[-1] == ' ' && !at[n]);
}

/* change: for sed; NULL: it is its owner's. */
static void take(struct reading *r, struct lines *to, const char *file, int n, const char *change) {
    to->n++;
    to->last = (struct setter){wc_arena_format(r->memory, "line %d of %s", n, file), file, NULL};
    OWNED char *in =
        must_format("%.*s", (int)wc_dir_length(file), file); /* where sed makes another */
    if (change && access(file, W_OK) == 0 && access(in, W_OK) == 0)
        to->last.change = wc_arena_format(r->memory, "%d%s", n, change);
}

/* "nvidia_cudnn_cu12 == 9.1.0.70" is of that package, too. */
static void read_pin(struct reading *r, const char *file, int n, const char *line) {
    OWNED char *text = must_format(" %s", line);

    for (const char *at = text + 1; *line != '#' && *at; at++) {
        const size_t name = strcspn(at, " =");
        const char *sign = at + name + strspn(at + name, " "), *release = sign + strspn(sign, "= ");
        const size_t length = (size_t)(release - at) + strlen(r->pin);
        if (wc_str_starts(sign, "==") && wc_str_starts(release, r->pin) &&
            wheel_is_name(at, name, r->name) && find_path(at, at, length) == at) {
            /* To a shell "<9" is a file. What is bound to its bytes (--hash) its owner knows. */
            const bool is_plain =
                fits("*.@(txt|in|toml|cfg|y?(a)ml|lock)", file) || strchr("\"'", at[-1]);
            const char *quote = is_plain ? "" : "\"";
            OWNED char *change =
                must_format("s#%.*s#%s%s\n%s#", (int)length, at, quote, r->name, quote);
            const bool may = !strstr(line, "--hash") && (is_plain || !strpbrk(line, "\"'"));
            take(r, &r->with_value, file, n, may ? change : NULL);
        }
    }
}

/* sed replaces `word`, the first that is assigned, and of make all. NULL: it is not all there. */
static char *replaced_word(const struct reading *r, const char *assigned, const char *word,
                           bool is_make) {
    const size_t end = strlen(word);
    OWNED char *again = must_format("%s=", r->name);
    const char closes = assigned[1] == '`' ? '`' : strncmp(assigned + 1, "$(", 2) == 0 ? ')' : '\0';
    const char *last = assigned + strlen(assigned) - 1;
    /* NAME=`command`, and nothing else */
    const bool is_output = closes && *last == closes && strchr(assigned + 2, closes) == last;
    const bool is_word = !strpbrk(word, "\t`(<>'") && word[end - 1] != '\\' &&
                         !strstr(assigned, again) && !strchr(word, '{') == !strchr(word, '}') &&
                         (assigned[1] == '"') == (end > 2 && assigned[end - 1] == '"');

    return *last == '\\'          ? NULL /* it goes on in the next line */
           : is_make || is_output ? must_format("s#%s.*#%s=\n#", r->name, r->name)
           : is_word              ? must_format("s#%s=[^ ;&|]*#%s=\n#", r->name, r->name)
                                  : NULL;
}

/* Does a line need the value, and not only print it, or hand it on? What assigns it again may ask
 * for it before: a guard that starts the program again as long as there is no value. */
static bool uses(const char *line, const char *name, bool is_shell) {
    OWNED char *pattern = must_format("*$?({)%s@([!A-Za-z_0-9]*|)", name);
    OWNED char *assigned = must_format("%s=", name);
    OWNED char *gets = must_format("*environ.get([\"']%s[\"']*", name);
    const char *sets = strstr(line, assigned);
    OWNED char *before = must_format("%.*s", sets ? (int)(sets - line) : INT_MAX, line);

    if (!is_shell)
        return fits(gets, line);
    return fits(pattern, before) && !fits("@(#|echo|printf)*", line) &&
           !(line[0] == ':' && !strstr(line, ":?"));
}

static void read_line(struct reading *r, const char *file, int n, const char *line, bool is_shell) {
    const char *at = strstr(line, r->name), *drop = dropped(r, line);

    r->is_named = r->is_named || (*line != '#' && at);
    r->is_used = r->is_used || (at && uses(line, r->name, is_shell));
    if (*line != '#' && drop)
        take(r, &r->with_value, file, n, wc_str_or_null(drop));
    if (*line == '#' || drop || !at)
        return;
    const char *assigned = at + strlen(r->name);
    const size_t sign = r->of_make ? strspn(assigned, " \t:?+") : 0;
    const bool is_make = sign > 0 && assigned[sign] == '=';
    assigned += is_make ? sign : 0;
    /* What was there stays in "NAME=value:$NAME". */
    const bool assigns = *assigned == '=' && (at == line || strchr(" \t;&@", at[-1])) &&
                         (is_shell || !strchr("/$", assigned[1])) && /* no text of Python's */
                         (r->value || !r->at_start || !strstr(assigned, r->name));
    OWNED char *word = must_format("%.*s", (int)strcspn(assigned, " ;&|"), assigned);
    bool is_other = false;
    size_t found = 0; /* elements of the value */
    const char *text = expanded(r, assigned), *element = NULL;

    WC_EACH_ELEMENT(e, r->value, ":") {
        const size_t length = e.n - (e.n > 1 && e.p[e.n - 1] == '/');
        if (!e.n || path_has_element(r->given, e.p, e.n) || !find_path(text, e.p, length))
            continue;
        element = wc_arena_format(r->memory, "%.*s", (int)length, e.p);
        found++;
    }
    const bool has_value = found > 0;
    WC_EACH_ELEMENT(e, assigns && r->value ? word + 1 : NULL, ":\"")
        is_other = is_other || (e.p[0] == '/' && !memchr(e.p, '$', e.n) &&
                                !path_has_element(r->value, e.p, e.n));
    /* Whether it was reached is not known: [ -n "$x" ] && LD_LIBRARY_PATH=$x */
    const bool is_doubtful =
        memmem(line, (size_t)(at - line), "&& ", 3) || memmem(line, (size_t)(at - line), "|| ", 3);
    if (!has_value && (!assigns || is_other || is_doubtful))
        return;
    OWNED char *change =
        is_shell && assigns && !is_other ? replaced_word(r, assigned, word, is_make) : NULL;
    /* What else the line preloads stays: "/x.so:$LD_PRELOAD". */
    if (has_value && wc_str_same(r->name, "LD_PRELOAD")) {
        free(change);
        change = found == 1 && element && strstr(line, element) ? must_format("s#%s#\n#", element)
                                                                : NULL;
    } else if (!change && has_value && is_text(line, r->value)) {
        OWNED char *plain = must_format(": %s", r->value); /* YAML's: nothing there is none */
        change = must_format(strstr(line, plain) ? "s#%s#\"\n\"#" : "s#%s#\n#", r->value);
    }
    take(r, has_value ? &r->with_value : &r->with_name, file, n, change);
}

/* Does a line start something that may use cuDNN? */
static bool starts_program(const struct reading *r, const char *line) {
    bool starts = false;

    for (char *word; !starts && (word = next_word(&line)); free(word)) {
        OWNED char *path = path_of(r, word);
        starts = line[-(ptrdiff_t)strlen(word) - 1] != '=' &&
                 (wc_program_is(word, WC_PROGRAM_PYTHON | WC_PROGRAM_SCRIPTED) ||
                  (strchr(word, '/') && !strstr(word, ".so") && !fits("+(/)@(bin|usr)/*", path) &&
                   access(path, X_OK) == 0 && !wc_is_directory(&disk_files, path)));
    }
    return starts;
}

/* Is the next word that of a program that is started? text: of its line, up to there, with the
 * lines that it continues. */
static bool starts_here(char *text) {
    static const char *const launchers[] = {
#define LAUNCHER(pattern) pattern,
#include "tools/knowledge/launchers.def"
    };
    char *rest = text, *word;

    for (char *at; (at = strpbrk(rest, ";&|(`"));)
        rest = at + 1;
    if (text[strlen(text) - 1] != ' ' && *rest)
        return false; /* NAME=program */
    while ((word = strsep(&rest, " \t"))) {
        if (!*word ||
            fits("@(if|elif|while|until|then|do|else|!|{|[A-Za-z_]*([A-Za-z_0-9])=*)", word))
            continue;
        WC_EACH_ROW(launcher, launchers)
            if (fits(*launcher, wc_base_name(word)))
                return true;
        return false;
    }
    return true;
}

/* The word of a line that is that path: in quotes, or with a variable. None: the path. */
static const char *as_written(const struct reading *r, const char *text, const char *path) {
    OWNED char *words = must_copy(text);
    char *rest = words, *word;

    while ((word = strsep(&rest, " "))) {
        const size_t n = strlen(word), quoted = n > 2 && *word == '"' && word[n - 1] == '"';
        OWNED char *inside = must_format("%.*s", (int)(n - 2 * quoted), word + quoted);
        if ((quoted || strchr(word, '$')) && wc_str_same(expanded(r, inside), path))
            return wc_arena_string(r->memory, word);
    }
    return path;
}

/* Only that program gets what is assigned before the first word of its command. before: the lines
 * that this one continues. */
static void read_start(struct reading *r, const char *file, int n, const char *before,
                       const char *line) {
    OWNED char *text = must_format(" %s", line);

    for (char *c = text + 1; *c; c++)
        if (*c == '\t')
            *c = ' ';
    char *comment = strstr(text, " #");
    if (comment)
        *comment = '\0';
    if (fits("@(.|echo|printf|source) *", line) || !*text)
        return;
    const char *program = as_written(r, text, r->program), *first = as_written(r, text, r->first),
               *pattern = "";
    /* "./bin/tool" is "bin/tool" as well. */
    const bool is_plain = wc_str_starts(program, "./") && strchr(program + 2, '/') &&
                          !find_path(text + 1, program, strlen(program));
    program += is_plain ? 2 : 0;
    first += is_plain && wc_str_starts(first, "./") ? 2 : 0;
    const char *at = find_path(text + 1, program, strlen(program));
    const char *word = at ? find_path(text + 1, first, strlen(first)) : NULL;
    if (!at && starts_program(r, text))
        r->others = file;
    if (!at)
        return;
    if (at == text + 1 || (!word && strcspn(text + 1, "$") < strcspn(text + 1, " ;&|")))
        word = text + 1; /* a script, or "${PYTHON:-python3} SCRIPT" */
    const size_t length = word ? strcspn(word, " \t;&|<>()") : 0;
    for (size_t i = 0; i < length; i++)
        pattern = wc_arena_format(r->memory, "%s%s%c", pattern,
                                  strchr(".[*^$", word[i]) ? "\\" : "", word[i]);
    const bool may = *pattern && word <= at && word + strcspn(word, ";&|") >= at &&
                     !strpbrk(pattern, "#'`") && !strchr(pattern + 1, '"') == (*pattern != '"') &&
                     memmem(text, strlen(text), word, length) == word && !strstr(at + 1, program);
    OWNED char *up_to = must_format("%s%.*s", before, word ? (int)(word - text) : 0, text);
    OWNED char *change = may && word[length] != ')' && starts_here(up_to)
                             ? must_format("s#%s#env %s=\n &#", pattern, r->name)
                             : NULL;
    take(r, &r->with_value, file, n, change);
}

/* The line that ends the text which a line begins (<<EOF, <<-'EOF'); NULL: it begins none. A
 * command that reads it may be a shell: "ssh host <<EOF". */
static const char *here_document(struct reading *r, const char *line) {
    static const char quotes[] = "\"'\\-";
    const char *at = strstr(line, "<<");

    if (!at || at[2] == '<' || (at > line && at[-1] == '<') || !fits("?(*[ ;&|])@(cat|:) *", line))
        return NULL;
    at += 2;
    at += strspn(at, quotes);
    return wc_arena_format(r->memory, "%.*s", (int)strcspn(at, "\"' ;&|>"), at);
}

/* files: a list with ":". */
static struct setter read_from(struct reading *r, const char *files) {
    WC_EACH_ELEMENT(e, files, ":") {
        OWNED char *file = must_format("%.*s", (int)e.n, e.p), *path = path_of(r, file);
        add_file(r, path);
    }
    for (size_t i = 0; i < r->files.n; i++) {
        size_t size;
        OWNED char *text = disk_text(r->files.p[i], TEXT_MOST, &size);
        char *rest = text, *line;
        const char *before = "";
        bool is_shell = !wc_str_ends(r->files.p[i], ".py"), is_script = false;
        const char *text_until = NULL; /* of a here-document */
        r->of_make = wc_str_ends(r->files.p[i], "akefile") || wc_str_ends(r->files.p[i], ".mk");
        for (int n = 1; (line = strsep(&rest, "\n")); n++) {
            is_shell = is_shell && (n > 1 || !fits("#!*python*", line));
            is_script =
                n > 1 ? is_script : wc_str_ends(r->files.p[i], "sh") || fits("#!*sh*", line);
            if (text_until) { /* no line of it runs */
                text_until = strcmp(line + strspn(line, "\t"), text_until) == 0 ? NULL : text_until;
                continue;
            }
            text_until = is_script ? here_document(r, line) : NULL;
            if (is_script)
                note_assigned(r, line + strspn(line, " \t"));
            if (r->pin)
                read_pin(r, r->files.p[i], n, line);
            else if (r->program && is_script)
                read_start(r, r->files.p[i], n, before, line + strspn(line, " \t"));
            else if (!r->program)
                read_line(r, r->files.p[i], n, line + strspn(line, " \t"), is_shell);
            if (!r->at_start || wc_str_starts(line, ". ") || wc_str_starts(line, "source "))
                add_named(r, r->files.p[i], line);
            const int all = (int)strlen(line);
            before = all && line[all - 1] == '\\'
                         ? wc_arena_format(r->memory, "%s%.*s ", before, all - 1, line)
                         : "";
        }
    }
    struct lines *of =
        r->with_value.n || r->at_start || r->only_value ? &r->with_value : &r->with_name;
    if (r->is_used)
        of->last.change = NULL;
    return of->n == 1 ? of->last : (struct setter){NULL, NULL, NULL};
}

struct setter setter_in(struct wc_arena *memory, const char *files, const char *directory,
                        const char *name) {
    struct reading r = {.memory = memory, .directory = directory, .name = name};

    return read_from(&r, files);
}

bool setter_is_named(struct wc_arena *memory, const struct wc_stack *s, const char *name) {
    struct reading r = {.memory = memory, .directory = s->process.directory, .name = name};

    read_from(&r, wc_variable(s, "WHICHCUDNN_RUN_SCRIPT"));
    return r.is_named;
}

struct setter setter_of_pin(struct wc_arena *memory, const struct wc_stack *s, const char *name,
                            const char *release) {
    struct reading r = {
        .memory = memory, .directory = s->process.directory, .name = name, .pin = release};

    read_from(&r, wc_variable(s, "WHICHCUDNN_RUN_SCRIPT"));
    if (r.with_value.n > 1) /* the others would undo it */
        r.with_value.last.change = NULL;
    return r.with_value.last;
}

struct setter setter_of_program(struct wc_arena *memory, const struct wc_stack *s, const char *name,
                                const char **others) {
    const struct wc_strings *words = &s->process.arguments;
    const char *first = words->n ? words->p[0] : s->process.executable,
               *script = words->n > 1 ? words->p[1] : "-";
    const bool has_script =
        *script != '-' && wc_program_is(first, WC_PROGRAM_PYTHON | WC_PROGRAM_SCRIPTED);
    const char *here = s->process.directory ?: "";

    /* Without the words of what never ran: as a script in the same folder would name it. */
    if (!words->n && first && wc_is_below(first, here, strlen(here)))
        first = wc_arena_format(memory, ".%s", first + strlen(here));
    struct reading r = {.memory = memory,
                        .directory = here,
                        .name = name,
                        .first = first,
                        .program = has_script ? script : first};
    struct setter setter = {NULL, NULL, NULL};

    if (first)
        setter = read_from(&r, wc_variable(s, "WHICHCUDNN_RUN_SCRIPT"));
    if (others)
        *others = r.others;
    if (!setter.change || wc_str_same(name, "LD_PRELOAD")) /* which has our library */
        setter = (struct setter){NULL, NULL, NULL};
    return setter;
}

struct setter setter_of_start(struct wc_arena *memory, const struct wc_stack *s, const char *name) {
    const char *others;
    const struct setter setter = setter_of_program(memory, s, name, &others);

    return others && setter.by ? setter : (struct setter){NULL, others, NULL};
}

enum { START_FILES = 5 };

/* They are looked for once, as long as they are of the same environment. */
static const glob_t *start_files(const struct wc_stack *s) {
    static glob_t found[START_FILES];
    static char *of;
    const char *first = s->process.arguments.n ? s->process.arguments.p[0] : "";
    /* Of a kernel of Jupyter's, which is started by its whole path: PREFIX/bin/python. */
    OWNED char *prefix = must_format("%.*s", (int)wc_dir_above(first, wc_dir_length(first)), first);
    const struct {
        const char *root, *files;
    } usual[START_FILES] = {
        {getenv("HOME"), "{.bashrc,.bash_profile,.profile,.zshrc,.zshenv,"
                         ".local/share/jupyter/kernels/*/kernel.json}"},
        {prefix, "share/jupyter/kernels/*/kernel.json"},
        {"/etc", "{environment,profile,bash.bashrc,profile.d/*.sh}"},
        {wc_variable(s, "CONDA_PREFIX"), "{etc/conda/activate.d/*.sh,conda-meta/state}"},
        {wc_variable(s, "VIRTUAL_ENV"), "bin/activate"}};
    char *now = must_format("%s:%s:%s:%s", usual[0].root, prefix, usual[3].root, usual[4].root);
    const bool known = of && strcmp(of, now) == 0;

    free(known ? now : of);
    of = known ? of : now;
    for (int i = 0; !known && i < START_FILES; i++) {
        globfree(&found[i]);
        found[i] = usual[i].root ? glob_below(usual[i].root, "/", usual[i].files, GLOB_BRACE)
                                 : (glob_t){.gl_pathc = 0};
    }
    return found;
}

struct setter setter_at_start(struct wc_arena *memory, const struct wc_stack *s, const char *name,
                              const char *value, const char *given) {
    struct reading r = {.memory = memory,
                        .name = name,
                        .value = value,
                        .given = given,
                        .variables = &s->process.environment,
                        .at_start = true};
    const glob_t *found = start_files(s);

    for (int i = 0; i < START_FILES; i++)
        for (size_t k = 0; k < found[i].gl_pathc; k++)
            add_file(&r, found[i].gl_pathv[k]);
    return read_from(&r, NULL);
}

bool setter_is_itself(const struct wc_stack *s, const char *value) {
    static const char *const folders[] = {
#define BOOTLOADER(folder) folder,
#include "tools/knowledge/launchers.def"
    };
    const char *program = s->process.executable ?: "";
    OWNED char *own = must_format("%.*s", (int)wc_dir_length(program), program);
    const size_t n = strlen(own), first = strcspn(value, ":");

    return s->process.run_pid != WC_NULL && n > 0 && strncmp(value, own, n) == 0 &&
           WC_ANY(folder, WC_ROWS(folders),
                  first == n + strlen(*folder) && strncmp(value + n, *folder, first - n) == 0);
}

struct setter setter_of(struct wc_arena *memory, const struct wc_stack *s, int64_t pid,
                        const char *name) {
    const struct wc_process_record *process = &s->process;
    const bool is_preload = wc_str_same(name, "LD_PRELOAD");
    const char *given =
        wc_variable(s, is_preload ? "WHICHCUDNN_RUN_LD_PRELOAD" : "WHICHCUDNN_RUN_LD_LIBRARY_PATH");
    const char *value = wc_variable(s, name), *script = wc_variable(s, "WHICHCUDNN_RUN_SCRIPT");
    /* Of what never ran only what it was started from is known. */
    const bool is_seen = !(s->has_outcome && !s->outcome.observed);
    /* The user's, too: only a line that sets this very value, or removes it, is another one's. */
    const bool may_be_users = !wc_str_starts(name, "LD_") || (wc_str_same(given, value) && is_seen);
    struct setter setter = {NULL, NULL, NULL};

    if (process->run_pid == WC_NULL)
        return setter;
    const struct reading reading = {.memory = memory,
                                    .directory = process->directory,
                                    .name = name,
                                    .value = value,
                                    .given = may_be_users ? NULL : given,
                                    .variables = &process->environment,
                                    /* Another LD_PRELOAD starts no process with ours. */
                                    .only_value = may_be_users || is_preload};
    struct reading of_script = reading, of_make = reading;
    if (script)
        setter = read_from(&of_script, script);
    /* A recipe with more than a command is run by a shell. */
    if (!setter.by && process->parent_name &&
        (wc_str_same(process->parent_name, "make") ||
         wc_program_is(process->parent_name, WC_PROGRAM_SHELL)))
        setter = read_from(&of_make, "GNUmakefile:makefile:Makefile");
    if (!setter.by && !may_be_users)
        setter = setter_at_start(memory, s, name, value, given);
    const struct setter own = setter.by ? setter_of_start(memory, s, name) : setter;
    if (own.by && !wc_str_same(own.by, setter.by)) /* from that line other programs get it, too */
        setter = own;
    const bool differs = !may_be_users && !wc_str_same(given, value);
    const bool by_itself = !setter.by && differs && setter_is_itself(s, value ?: "");
    /* What a launcher starts (mpirun), or where no other line can be changed. */
    const struct setter start =
        setter.change || by_itself ||
                !(setter.by || differs || (!is_seen && value && !may_be_users))
            ? (struct setter){NULL, NULL, NULL}
            : setter_of_program(memory, s, name, NULL);
    setter = start.by ? start : setter;
    if (by_itself)
        setter.by = wc_base_name(process->executable);
    else if (!setter.by && differs)
        setter.by =
            pid != process->run_pid && process->parent_name ? process->parent_name : "the command";
    return setter;
}

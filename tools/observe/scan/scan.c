/* SPDX-License-Identifier: Apache-2.0 */
/* What there is: see scan.h. */
#include "scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/knowledge/frameworks.h"
#include "core/records/emit.h"
#include "scan_inside.h"

/* Which file systems hold no files of this machine's. From the kernel's documentation of them. */
static const char *const elsewhere[] = {
    "proc",        "sysfs",      "devtmpfs",   "devpts",       "cgroup",
    "cgroup2",     "securityfs", "debugfs",    "tracefs",      "bpf",
    "mqueue",      "hugetlbfs",  "pstore",     "configfs",     "efivarfs",
    "binfmt_misc", "autofs",     "rpc_pipefs", "nsfs",         "fusectl",
    "nfs",         "nfs4",       "cifs",       "smb3",         "ceph",
    "lustre",      "gpfs",       "beegfs",     "afs",          "9p",
    "glusterfs",   "fuse.sshfs", "fuse.s3fs",  "fuse.gcsfuse", "fuse.glusterfs",
};

/* ---- copies, and hosts ---- */

static bool is_program(const struct library *b) {
    return b->interpreter && !strstr(wc_base_name(wc_library_file(&b->about)), ".so");
}

/* A host that was named counts whatever it is. */
static void list(struct scan *s, struct library *b, const char *path, bool is_named) {
    if (b->damaged_note)
        scan_note_passed(s, path,
                         "its .note.dlopen, which names cuDNN, is damaged and was not used");
    b->damaged_note = false;
    if (!wc_library_is_cudnn(&b->about)) {
        if (is_named || (b->is_elf && (b->about.role == WC_role_HOST || b->about.framework)))
            scan_host_add(s, b, path, is_program(b));
        return;
    }
    if (!b->listed && b->is_elf)
        *MUST_ADD(s->found.p, s->found.n) = (struct scan_copy){KEEP(s, "%s", path), b};
    else if (!b->listed)
        scan_note_passed(s, path, "named like a library of cuDNN, but is not a valid ELF file");
    b->listed = true;
}

static void consider(struct scan *s, const char *path, enum elf_prescan_answer answer) {
    struct library *b = library_cache_get(&s->library_cache, path, &answer);

    if (!b) {
        scan_note_passed(s, path, strerror(errno));
        return;
    }
    if (b->is_elf && wc_framework_opening(path))
        b->about.role = WC_role_HOST;
    list(s, b, path, false);
}

/* ---- a file of a tree ---- */

static void add_file(struct scan *s, const char *path, bool program) {
    *MUST_ADD(s->seen.p, s->seen.n) = (struct scan_file){KEEP(s, "%s", path), program};
}

static void prescan(struct scan *s, const char *path, bool is_link, bool is_library) {
    struct library_cache *w = &s->library_cache;
    struct elf_file *l = elf_file_open(&w->disk, path, true);

    if (!l) {
        /* A link leads nowhere, or to a directory; a program need not be one that may be read. */
        if (is_library && !is_link)
            scan_note_passed(s, path, strerror(errno));
        return;
    }
    s->libraries++;
    const enum elf_prescan_answer answer = elf_prescan_at(&w->prescan, l, false);
    if (!is_library && l->image.interpreter_size)
        add_file(s, path, true);
    elf_file_close(l);
    if (answer == ELF_PRESCAN_DAMAGED && is_library)
        scan_note_passed(s, path, w->prescan.why);
    else if (answer != ELF_PRESCAN_DAMAGED &&
             (answer != ELF_PRESCAN_NOTHING || w->prescan.damaged_note ||
              wc_framework_of(wc_base_name(path)) || wc_framework_opening(path)))
        consider(s, path, answer);
}

/* "libx.so", "libx.so.1.2", "_C.cpython-313-x86_64-linux-gnu.so". */
static bool is_library_name(const char *name) {
    for (const char *s = name; (s = strstr(s, ".so")); s += 3)
        if (s[3] == '\0' || s[3] == '.')
            return s != name;
    return false;
}

static unsigned char type_of(int at, const struct dirent *entry) {
    struct stat facts;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(at, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(facts.st_mode);
}

/* ---- a tree ---- */

/* Links to directories are not followed, so that the walk ends; nor does it go into file systems
 * that are not on disk: /proc, /sys, what is on other machines. */
struct walk {
    struct scan *s;
    bool names;     /* only names of libraries are noted, and no trouble */
    char **waiting; /* to be read: the newest first, so that few wait at a time */
    size_t waiting_count;
};

static char *join(const char *directory, const char *name) {
    return must_format("%s%s%s", directory, wc_str_ends(directory, "/") ? "" : "/", name);
}

static void see(struct walk *w, const char *directory, int at, const struct dirent *entry) {
    const char *name = entry->d_name, *root = w->s->library_cache.disk.root;
    const unsigned char type = type_of(at, entry);
    const bool is_library = is_library_name(name) && (type == DT_REG || type == DT_LNK);
    struct stat facts;

    w->s->files += !w->names;
    if (type == DT_DIR) {
        OWNED char *path = join(directory, name);
        if (strlen(path) + strlen(root) + NAME_MAX + 2 < PATH_MAX) {
            const char *mount = disk_mount(&w->s->library_cache.disk, path);
            if (!mount || !WC_ANY(type, WC_ROWS(elsewhere), strcmp(mount, *type) == 0))
                *MUST_ADD(w->waiting, w->waiting_count) = must_copy(path);
        } else if (!w->names) {
            scan_note_passed(w->s, path, "its path is too long");
        }
    } else if (is_library ||
               (!w->names && type == DT_REG &&
                fstatat(at, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && (facts.st_mode & 0111))) {
        OWNED char *path = join(directory, name);
        if (is_library)
            add_file(w->s, path, false);
        /* Not CUDA's other libraries: a library that needs one finds it. */
        if (!w->names && wc_name_kind_of(name) == WC_NAME_OTHER)
            prescan(w->s, path, type == DT_LNK, is_library);
        if (!w->names && wc_name_is_cudnn(name)) {
            w->s->libraries++;
            consider(w->s, path, ELF_PRESCAN_NAMES);
        }
    }
}

/* False: the directory itself cannot be read (errno). */
static bool walk_tree(struct scan *s, const char *directory, bool names) {
    const struct disk *disk = &s->library_cache.disk;
    struct walk w = {.s = s, .names = names};
    bool good = true;

    *MUST_ADD(w.waiting, w.waiting_count) = must_copy(directory);
    for (size_t done = 0; w.waiting_count > 0; done++) {
        OWNED char *path = w.waiting[--w.waiting_count];
        OWNED char *outside = must_format("%s%s", disk->root, path);
        OWNED_DIR DIR *d = below_list(&disk->below, outside);
        if (!d && done == 0)
            good = false;
        else if (!d && !names)
            scan_note_passed(s, path, strerror(errno));
        for (struct dirent *e; d && (e = readdir(d));)
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                see(&w, path, dirfd(d), e);
        if (d && !names && scan_is_site(path))
            *MUST_ADD(s->sites.p, s->sites.n) = (struct scan_site){KEEP(s, "%s", path)};
        if (!names && s->progress)
            s->progress(done + 1, done + 1 + w.waiting_count);
    }
    free(w.waiting);
    return good;
}

/* ---- what was named ---- */

static bool add_named(struct scan *s, const char *path, char **trouble) {
    s->library_cache.named = true;
    struct library *b = library_cache_get(&s->library_cache, path, NULL);
    s->library_cache.named = false;
    if (!b || !b->is_elf) {
        *trouble =
            b ? scan_why_not(s, path, "neither a directory nor a program or library (ELF, 64 bits)")
              : must_copy(strerror(errno));
        return false;
    }
    s->libraries++;
    list(s, b, path, true);
    /* A library of Python's is loaded by others of its package. */
    OWNED char *environment = must_format("%.*s", (int)wc_environment_length(path), path);
    if (!is_program(b) && scan_is_site(environment)) {
        OWNED char *package = scan_package(path, environment);
        OWNED char *grafted = must_format("%s.libs", package);
        walk_tree(s, grafted, true);
        if (!walk_tree(s, package, true))
            walk_tree(s, environment, true);
    }
    return true;
}

bool scan_add(struct scan *s, const char *path, char **trouble) {
    const struct wc_files *files = &s->library_cache.disk.files;
    char real_path[PATH_MAX];
    struct wc_file_stat facts;

    if (files->real_path(files->ctx, path, real_path, sizeof(real_path)) &&
        files->facts(files->ctx, real_path, &facts)) {
        if (!facts.directory)
            return add_named(s, real_path, trouble);
        if (walk_tree(s, real_path, false))
            return true;
    }
    *trouble = must_copy(strerror(errno));
    return false;
}

/* A directory gives its files in no order. */
WC_COMPARE(by_path, char *const, strcmp(*x, *y));

void scan_make(struct scan *s) {
    SORT(s->found, by_path);
    SORT(s->hosts, by_path);
    SORT(s->notes, by_path);
    SORT(s->sites, by_path);
    WC_EACH(c, s->found) {
        const struct wc_sink to = source_sink(s->copies);
        struct wc_library l = c->library->about;
        if (!library_identify(&s->library_cache, c->library, &l))
            continue;
        l.path = c->path;
        l.number = (int64_t)s->copies->stack.objects.n + 1;
        wc_emit_object(&to, &l, NULL);
    }
    scan_make_processes(s);
}

void scan_begin(struct scan *s, const char *root, const char *path, char *const *environment) {
    memset(s, 0, sizeof(*s));
    library_cache_begin(&s->library_cache, root);
    s->environment = environment;
    s->copies = source_new(SOURCE_SCAN, path);
}

void scan_end(struct scan *s) {
    for (size_t i = 0; i < s->process_count; i++)
        source_free(s->processes[i]);
    free(s->found.p);
    free(s->sites.p);
    free(s->loadings.p);
    free(s->locked.p);
    free(s->seen.p);
    free(s->processes);
    free(s->hosts.p);
    free(s->notes.p);
    source_free(s->copies);
    library_cache_end(&s->library_cache);
}

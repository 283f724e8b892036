#include "question.h"

#include "arch.h"
#include "files.h"
#include "journal.h"
#include "memory.h"
#include "sys.h"
#include "view.h"
#include "whichcudnn/file_look.h"
#include "whichcudnn/identify.h"
#include "whichcudnn/loader_words.h"
#include "whichcudnn/names.h"

#define BESIDE_MOST 8 /* files told of one directory */

static char refused[SYS_PATH], link_of_file[SYS_PATH], real_path[SYS_PATH];

static bool is_told(const struct request *r, const char *path) {
    const struct wc_stack *s = journal_stack();
    for (size_t i = 0; i < s->files.n; i++)
        if (s->files.p[i].r.request == r->number && wc_str_same(s->files.p[i].r.path, path))
            return true;
    return false;
}

static const char *or_null(const char *s) {
    return s[0] ? s : NULL;
}

static void add_installation(const struct wc_identity *id, struct wc_file_record *f) {
    f->installation_kind = id->installation_kind;
    f->installation = or_null(id->installation);
    f->installation_version = or_null(id->installation_version);
    f->installation_path = or_null(id->installation_path);
}

static void add_version(const struct wc_identity *id, char text[WC_VERSION_TEXT],
                        struct wc_file_record *f) {
    if (!wc_version_known(id->version))
        return;
    f->version = wc_version_format(id->version, text);
    f->version_source = id->version_source;
}

/* What is no library has an installation all the same: its package puts it back. */
static void add_identity(const char *path, const struct wc_elf_image *e, struct wc_file_record *f) {
    static struct wc_identity id;
    static char version[WC_VERSION_TEXT];
    struct wc_name name;
    void *scratch = memory_scratch_file();
    if (!scratch)
        return;
    wc_name_read(path, &name);
    wc_identify(&shim_files, path, e, name.kind == WC_NAME_FACADE, scratch, SCRATCH_FILE, &id);
    add_installation(&id, f);
    if (e)
        add_version(&id, version, f);
}

/* Written while the file is in view: its SONAME points into that. */
static void tell_contents(struct wc_record *r) {
    static struct wc_elf_image image;
    struct wc_file_record *f = &r->u.file;
    const char *path = f->real_path ? f->real_path : f->path;
    struct view v;
    if (f->fault || !view_open(&v, path)) {
        add_identity(path, NULL, f);
        journal_add(r);
        return;
    }
    bool good = wc_elf_from_pieces(&image, v.bytes, v.size, 0, view_fetch, &v) == WC_ELF_OK;
    f->soname = good ? wc_elf_soname(&image) : NULL;
    add_identity(path, good && !v.damaged ? &image : NULL, f);
    journal_add(r);
    view_close(&v);
}

bool question_file(const struct request *r, const char *path) {
    static struct wc_file_look look;
    struct wc_record record;
    struct wc_file_record *f = &record.u.file;
    if (is_told(r, path))
        return true;
    if (!wc_file_look(&shim_files, path, ARCH_MACHINE, &look))
        return false;
    wc_record_begin(&record, WC_KIND_file);
    f->path = path;
    if (shim_files.real_path(NULL, path, real_path, sizeof real_path))
        f->real_path = real_path;
    if (files_read_link(path, link_of_file, sizeof link_of_file))
        f->link = link_of_file;
    f->request = r->number;
    f->fault = look.fault;
    f->what = or_null(look.what);
    f->size = look.size;
    f->needs = look.needs;
    tell_contents(&record);
    return true;
}

/* ---- other names of the same library, in a directory that was searched ---- */

struct beside {
    const struct request *request;
    struct wc_name wanted;
    const char *directory;
    size_t length, told;
};

static bool look_beside(void *arg, const char *entry) {
    static char path[SYS_PATH];
    struct beside *b = arg;
    struct wc_name name;
    struct wc_text t;
    wc_name_read(entry, &name);
    if (name.kind != b->wanted.kind || !wc_str_same(name.part, b->wanted.part) ||
        wc_str_same(entry, wc_base_name(b->request->name)))
        return true;
    wc_text_begin(&t, path, sizeof path);
    wc_text_add_n(&t, b->directory, b->length);
    wc_text_join(&t, "/", entry, NULL);
    if (!t.cut)
        question_file(b->request, path);
    return ++b->told < BESIDE_MOST;
}

void question_beside(const struct request *r, const char *directory, size_t length) {
    static char text[SYS_PATH];
    struct beside b = {.request = r, .directory = text, .length = length};
    struct wc_text t;
    wc_name_read(r->name, &b.wanted);
    wc_text_begin(&t, text, sizeof text);
    wc_text_add_n(&t, directory, length);
    /* cuDNN tries names with whole versions before the one that its parts have. */
    if (b.wanted.kind != WC_NAME_OTHER && b.wanted.version.minor < 0 && !t.cut)
        shim_files.list(NULL, text, look_beside, &b);
}

void question_failed(const struct request *r, const char *text) {
    static struct wc_unmet unmet;
    if (wc_text_refuses(text, refused, sizeof refused)) {
        if (wc_str_find_char(refused, '/'))
            question_file(r, refused);
    } else if (wc_text_unmet(text, &unmet)) {
        if (wc_str_find_char(unmet.library, '/'))
            question_file(r, unmet.library);
    } else if (wc_str_find_char(r->name, '/')) {
        if (!question_file(r, r->name))
            question_beside(r, r->name, wc_dir_length(r->name));
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "saved.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tools/commands/probe/trial.h"
#include "tools/diagnose/command.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/memory.h"
#include "tools/util/program.h"

#define FILES_OPEN 32
#define ROOM_LEAST ((fsblkcnt_t)16 << 20)

/* nftw hands nothing on. */
static struct {
    size_t from;
    const char *to; /* what is there of the same name, or will be */
    char *trouble;
} now;

static char *trouble_of(const char *path) {
    return must_format("%s: %s", path, strerror(errno));
}

char *directory_of(const char *path) {
    return strchr(path, '/') ? must_format("%.*s", (int)wc_dir_length(path), path) : must_copy(".");
}

/* Not closed on exec: a pip that outlives us holds it. False: something else does. Some file
 * systems have no locks. */
static bool lock(struct saved *s, int how) {
    OWNED char *directory = directory_of(s->folder);

    if (s->lock >= 0)
        close(s->lock);
    s->lock = open(directory, O_RDONLY | O_DIRECTORY); /* NOLINT(android-cloexec-open) */
    return s->lock < 0 || flock(s->lock, how) == 0 || errno != EWOULDBLOCK;
}

void saved_forget(struct saved *s) {
    if (s->lock >= 0)
        close(s->lock);
    free(s->folder);
    free(s->journal);
    free(s->link);
    json_decref(s->paths);
    *s = (struct saved){.lock = -1};
}

/* ---- the same files in two places ---- */

/* What is there already stays. A project's files, which are only named, are written in place: they
 * are copied. So is all where a file system has no hard links, or none of what others own. Pipes,
 * sockets and devices are of a process, and not a part of what a package installs. */
static int link_one(const char *path, const struct stat *facts, int what, struct FTW *at) {
    OWNED char *to = must_format("%s%s", now.to, path + now.from);

    if (strcmp(path + at->base, COMMAND_UNDO) == 0)
        return FTW_SKIP_SUBTREE;
    if (what == FTW_DNR || what == FTW_NS)
        now.trouble = must_format("%s: %s", path, strerror(EACCES));
    else if (what == FTW_D && mkdir(to, (facts->st_mode & 07777) | S_IRWXU) != 0 && errno != EEXIST)
        now.trouble = trouble_of(to);
    else if ((S_ISREG(facts->st_mode) || S_ISLNK(facts->st_mode)) &&
             (at->level == 0 || (link(path, to) != 0 && errno != EEXIST)))
        now.trouble = copy_tree(path, to);
    return now.trouble ? FTW_STOP : FTW_CONTINUE;
}

/* NULL: done. */
static char *link_tree(const char *from, const char *to) {
    now.from = strlen(from);
    now.to = to;
    now.trouble = NULL;
    if (nftw(from, link_one, FILES_OPEN, FTW_PHYS | FTW_ACTIONRETVAL) != 0 && !now.trouble)
        now.trouble = trouble_of(from);
    return now.trouble;
}

/* ---- saving ---- */

static char *trouble_of_room(const char *path) {
    struct statvfs facts;

    return statvfs(path, &facts) != 0 ? trouble_of(path)
           : facts.f_bavail * facts.f_frsize >= ROOM_LEAST
               ? NULL
               : must_format("%s: less than %d MiB are free", path, (int)(ROOM_LEAST >> 20));
}

static bool write_journal(const struct saved *s, const json_t *steps) {
    OWNED char *fresh = must_format("%s.new", s->journal);
    json_t *journal = json_pack("{s:i, s:O, s:O, s:o}", "version", 1, "paths", s->paths, "steps",
                                steps, "link", text_to_json(s->link));
    bool good = json_dump_file(journal, fresh, JSON_INDENT(1)) == 0;

    json_decref(journal);
    /* All of it is on the disk before the name is, and that is before anything changes. */
    good = good && syncfs(s->lock) == 0 && rename(fresh, s->journal) == 0;
    return good && syncfs(s->lock) == 0;
}

static char *save_all(struct saved *s, const json_t *steps) {
    const char *path;
    json_t *unused;
    int n = 0;

    if (!lock(s, LOCK_EX | LOCK_NB))
        return must_format("%s: another repair is still at work there", s->folder);
    if (access(s->journal, F_OK) == 0)
        return must_format("an earlier repair was cut off: whichcudnn fix --undo %s", s->journal);
    remove_tree(s->folder); /* of one that was cut off before it changed anything */
    if (mkdir(s->folder, S_IRWXU) != 0)
        return trouble_of(s->folder);
    json_object_foreach(s->paths, path, unused) {
        OWNED char *to = must_format("%s/%d", s->folder, n++);
        char *trouble = access(path, W_OK) == 0 ? trouble_of_room(path) : trouble_of(path);
        trouble = trouble ? trouble : link_tree(path, to);
        if (trouble)
            return trouble;
    }
    return write_journal(s, steps) ? NULL : trouble_of(s->journal);
}

char *saved_begin(struct saved *s, json_t *paths, const json_t *steps, const char *near) {
    const char *temporary = getenv("TMPDIR");
    const char *first = json_object_iter_key(json_object_iter(paths));
    char *trouble = trouble_of_room(temporary && *temporary ? temporary : "/tmp");

    *s = (struct saved){.paths = paths, .lock = -1};
    if (first && !trouble) {
        s->folder = must_format("%s/" COMMAND_UNDO, first);
        s->journal = must_format("%s/journal.json", s->folder);
        s->link = must_format("%s/whichcudnn-undo-%d.json", near, (int)getpid());
        trouble = save_all(s, steps);
        if (trouble && access(s->journal, F_OK) != 0)
            remove_tree(s->folder);
        else if (!trouble && symlink(s->journal, s->link) != 0)
            complain("no link to the journal: %s: %s", s->link, strerror(errno));
    }
    if (trouble)
        saved_forget(s);
    return trouble;
}

/* ---- putting back ---- */

/* Everything but the saved file itself goes. */
static int remove_new(const char *path, const struct stat *facts, int what, struct FTW *at) {
    OWNED char *saved = must_format("%s%s", now.to, path + now.from);
    struct stat was;

    (void)what;
    if (strcmp(path + at->base, COMMAND_UNDO) == 0)
        return FTW_SKIP_SUBTREE;
    if (lstat(saved, &was) == 0 && ((S_ISDIR(was.st_mode) && S_ISDIR(facts->st_mode)) ||
                                    (was.st_ino == facts->st_ino && was.st_dev == facts->st_dev)))
        return FTW_CONTINUE;
    remove_tree(path);
    return FTW_SKIP_SUBTREE;
}

char *saved_put_back(struct saved *s) {
    const char *path;
    json_t *unused;
    int n = 0;

    lock(s, LOCK_EX); /* what a step has left running is waited for */
    for (int i = 0; i < (int)json_object_size(s->paths); i++) {
        OWNED char *saved = must_format("%s/%d", s->folder, i);
        if (access(saved, F_OK) != 0)
            return trouble_of(saved);
    }
    json_object_foreach(s->paths, path, unused) {
        OWNED char *saved = must_format("%s/%d", s->folder, n++);
        char *trouble;
        now.to = saved;
        now.from = strlen(path);
        nftw(path, remove_new, FILES_OPEN, FTW_PHYS | FTW_ACTIONRETVAL);
        trouble = link_tree(saved, path);
        if (trouble)
            return trouble;
    }
    syncfs(s->lock);
    return NULL;
}

void saved_end(struct saved *s) {
    OWNED char *journal = s->link ? realpath(s->link, NULL) : NULL;

    if (journal && strcmp(journal, s->journal) == 0)
        unlink(s->link);
    if (s->folder && unlink(s->journal) == 0)
        remove_tree(s->folder);
    saved_forget(s);
}

char *saved_journal_in(const char *directory) {
    char *found = must_format("%s/" COMMAND_UNDO "/journal.json", directory);
    OWNED_DIR DIR *d = opendir(directory);
    const struct dirent *e = NULL;

    while (found && access(found, F_OK) != 0) {
        free(found);
        while (d && (e = readdir(d)) && !wc_str_starts(e->d_name, "whichcudnn-undo-"))
            ;
        found = d && e ? must_format("%s/%s", directory, e->d_name) : NULL;
    }
    return found;
}

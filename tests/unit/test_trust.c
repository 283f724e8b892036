/* SPDX-License-Identifier: Apache-2.0 */
/* Whose code may be run: owners and rights of a path, of all on the way up, and behind links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support_own_tree.h"
#include "tools/commands/run/trust.h"
#include "tools/util/memory.h"

#define OTHER 65534

static char *in_tree(const char *path) {
    return must_format("%s/%s", tree.root, path);
}

static void make(const char *path, mode_t mode, uid_t owner, gid_t group) {
    OWNED char *whole = in_tree(path);

    if (path[strlen(path) - 1] == '/')
        assert_int_equal(mkdir(whole, S_IRWXU), 0);
    else
        close(open(whole, O_WRONLY | O_CREAT | O_CLOEXEC, S_IRWXU));
    assert_int_equal(chown(whole, owner, group), 0);
    assert_int_equal(chmod(whole, mode), 0);
}

static void make_link(const char *target, const char *path) {
    OWNED char *whole = in_tree(path);

    assert_int_equal(symlink(target, whole), 0);
}

/* how: "" it is trusted; else why not, with %s for the path `which`. */
static void expect_with(void (*ask)(struct trust *, const char *), const char *path,
                        const char *which, const char *how) {
    OWNED char *whole = in_tree(path), *of = in_tree(which);
    const size_t before = strcspn(how, "@");
    OWNED char *wanted = *how ? must_format("%.*s%s%s", (int)before, how, of, how + before + 1)
                              : must_copy("trusted");
    struct trust t = {.why = NULL};

    ask(&t, whole);
    assert_string_equal(t.why ? t.why : "trusted", wanted);
    assert_int_equal(t.owner, strstr(how, "belongs") ? OTHER : 0);
    free(t.why);
}

static void expect(const char *path, const char *which, const char *how) {
    expect_with(trust_path, path, which, how);
}

static char *belongs(void) {
    const struct passwd *p = getpwuid(OTHER);

    return must_format("@ belongs to user %s%s(uid %d), not to you or root", p ? p->pw_name : "",
                       p ? " " : "", OTHER);
}

static void is_foreign(const char *path, const char *which) {
    OWNED char *how = belongs();

    expect(path, which, how);
}

static void need_root(void) {
    if (geteuid() != 0 || chown(tree.root, OTHER, OTHER) != 0 || chown(tree.root, 0, 0) != 0)
        skip();
}

static void the_callers_and_roots_files_are_trusted(void **state) {
    (void)state;
    make("own/", 0755, geteuid(), getegid());
    make("own/file", 0644, geteuid(), getegid());
    expect("own/file", "", "");
    expect("own/../own/./file", "", "");
    expect("own", "", "");
}

static void files_and_directories_of_others_are_not(void **state) {
    (void)state;
    need_root();
    make("own/", 0755, 0, 0);
    make("own/file", 0644, OTHER, 0);
    make("theirs/", 0755, OTHER, 0);
    make("theirs/file", 0644, 0, 0);
    is_foreign("own/file", "own/file");
    is_foreign("theirs/file", "theirs");
    is_foreign("own/../theirs/file", "own/../theirs");
}

static void what_others_may_write_to_is_not(void **state) {
    (void)state;
    make("open/", 0777, geteuid(), getegid());
    make("open/file", 0644, geteuid(), getegid());
    make("own/", 0755, geteuid(), getegid());
    make("own/file", 0646, geteuid(), getegid());
    expect("open/file", "open", "all users may write to @");
    expect("own/file", "own/file", "all users may write to @");
}

static void with_the_sticky_bit_what_is_there_stays(void **state) {
    (void)state;
    make("tmp/", 01777, geteuid(), getegid());
    make("tmp/file", 0644, geteuid(), getegid());
    expect("tmp/file", "", "");
    expect("tmp/new", "tmp", "all users may write to @"); /* who makes it? */
    expect("tmp/new/file", "tmp", "all users may write to @");
    expect("tmp", "tmp", "all users may write to @");
    make_link("nowhere", "tmp/link");
    expect("tmp/link", "tmp", "all users may write to @");
}

static void what_is_missing_is_who_could_make_it(void **state) {
    (void)state;
    expect("missing/file", "", "");
    make("open/", 0777, geteuid(), getegid());
    expect("open/missing", "open", "all users may write to @");
}

static void links_are_followed_a_directory_at_a_time(void **state) {
    OWNED char *absolute = in_tree("theirs/python");

    (void)state;
    need_root();
    make("theirs/", 0755, OTHER, 0);
    make("theirs/python", 0755, OTHER, 0);
    make("own/", 0755, 0, 0);
    make_link(absolute, "own/python");
    make_link("../theirs/python", "own/python3");
    make_link("python3", "own/python3.11");
    make_link("../theirs", "own/bin");
    is_foreign("own/python", "theirs");
    is_foreign("own/python3.11", "own/../theirs");
    is_foreign("own/bin/python", "own/../theirs");
    make_link("around", "own/around");
    expect("own/around", "own/around", "@: Too many levels of symbolic links");
}

static void whose_link_it_is_counts(void **state) {
    OWNED char *link = in_tree("tmp/link");

    (void)state;
    need_root();
    make("tmp/", 01777, 0, 0);
    make("file", 0644, 0, 0);
    make_link("../file", "tmp/link");
    expect("tmp/link", "", "");
    assert_int_equal(lchown(link, OTHER, 0), 0);
    is_foreign("tmp/link", "tmp/link");
}

static void a_group_of_others_may_not_write(void **state) {
    (void)state;
    need_root();
    make("group", 0664, 0, OTHER);
    make("roots", 0664, 0, 0);
    expect("group", "group", "other users may write to @");
    expect("roots", "", "");
}

static void an_access_list_may_give_more(void **state) {
    /* version 2; user:: rw-, user:65534 rw-, group:: r--, mask:: rw-, other:: r-- */
    static const struct {
        uint32_t version;
        struct {
            uint16_t tag, rights;
            uint32_t id;
        } entries[5];
    } list = {2, {{1, 6, -1U}, {2, 6, OTHER}, {4, 4, -1U}, {16, 6, -1U}, {32, 4, -1U}}};
    OWNED char *path = in_tree("file");

    (void)state;
    need_root();
    make("file", 0644, 0, 0);
    expect("file", "", "");
    if (setxattr(path, "system.posix_acl_access", &list, sizeof(list), 0) != 0)
        skip(); /* not on this file system */
    expect("file", "file", "other users may write to @");
}

static void libraries_in(struct trust *t, const char *path) {
    trust_directory(t, path, ".so");
}

static void libraries_in_a_directory_count(void **state) {
    OWNED char *how = belongs();

    (void)state;
    need_root();
    make("lib/", 0755, 0, 0);
    make("lib/a.so.1", 0644, 0, 0);
    expect_with(libraries_in, "lib", "", "");
    make("lib/b", 0644, OTHER, 0);
    expect_with(libraries_in, "lib", "", "");
    make("lib/b.so.1", 0644, OTHER, 0);
    expect("lib", "", "");
    expect_with(libraries_in, "lib", "lib/b.so.1", how);
}

static void ask_list(const char *list, const char *separators, const char *but, const char *why) {
    struct trust t = {.why = NULL};

    trust_list(&t, list, separators, but);
    assert_string_equal(t.why ? t.why : "trusted", why);
    free(t.why);
}

/* The tree is the working directory, where relative ones begin. */
static void each_element_of_a_list_counts(void **state) {
    OWNED char *open = in_tree("open"), *list = must_format("/usr/include:%s", open), *why;

    (void)state;
    assert_int_equal(chdir(tree.root), 0);
    ask_list("own:/no/such:", ":;", NULL, "trusted");
    make("open/", 0777, geteuid(), getegid());
    why = must_format("all users may write to %s", open);
    ask_list(list, ":;", NULL, why);
    ask_list("own;open", ":;", NULL, why);
    ask_list("own open", ": ", NULL, why);
    ask_list("own open", ":;", NULL, "trusted"); /* one name */
    ask_list("own:open:own", ":;", "x:open", "trusted");
    ask_list("own:open:own", ":;", "x:open2", why);
    ask_list("$ORIGIN/lib", ":;", NULL, "$ORIGIN/lib depends on the program that searches it");
    assert_int_equal(chmod(tree.root, 0777), 0);
    free(why);
    why = must_format("all users may write to %s", tree.root);
    ask_list("/no/such:", ":;", NULL, why); /* an empty one is the working directory */
    assert_int_equal(chdir("/"), 0);
}

/* The first of them is what is told. */
static void one_answer_for_all(void **state) {
    OWNED char *open = in_tree("open"), *again = in_tree("again");
    struct trust t = {.why = NULL};

    (void)state;
    make("open", 0666, geteuid(), getegid());
    make("again", 0666, geteuid(), getegid());
    trust_path(&t, open);
    trust_path(&t, again);
    trust_path(&t, NULL);
    assert_non_null(strstr(t.why, open));
    free(t.why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TREE(the_callers_and_roots_files_are_trusted),
        WITH_TREE(files_and_directories_of_others_are_not),
        WITH_TREE(what_others_may_write_to_is_not),
        WITH_TREE(with_the_sticky_bit_what_is_there_stays),
        WITH_TREE(what_is_missing_is_who_could_make_it),
        WITH_TREE(links_are_followed_a_directory_at_a_time),
        WITH_TREE(whose_link_it_is_counts),
        WITH_TREE(a_group_of_others_may_not_write),
        WITH_TREE(an_access_list_may_give_more),
        WITH_TREE(libraries_in_a_directory_count),
        WITH_TREE(each_element_of_a_list_counts),
        WITH_TREE(one_answer_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in texts: the table's rows are sound, and what is found does not depend on how a text
 * was pasted. That each row knows what programs print: tests/messages. */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/demand/diagnose.h"
#include "tools/report/explain/explain.h"

#define BY_LIBRARY "by library"
#define BY_CUDNN "by cudnn"
#define BY_VERSIONS "by versions"
static const struct message table[] = {
#define MESSAGE(name, what, words, meaning, fits, ...)                                             \
    {.id = name, .pattern = words, .means = meaning, .findings = fits, .next = __VA_ARGS__},
#include "tools/knowledge/messages.def"
};

static void is_finding(const char *id, size_t n) {
    size_t kinds;
    const struct wc_finding_kind *kind = wc_finding_kinds(&kinds);

    for (size_t i = 0; i < kinds; i++)
        if (strlen(kind[i].id) == n && strncmp(kind[i].id, id, n) == 0)
            return;
    fail_msg("no finding is called %.*s", (int)n, id);
}

static void are_findings(const char *words) {
    for (size_t n; *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        is_finding(words, n);
    }
}

static void each_row_is_sound(void **state) {
    regex_t compiled;

    (void)state;
    assert_true(sizeof(table) / sizeof(table[0]) > 50);
    WC_EACH_ROW(m, table) {
        print_message("%s\n", m->id);
        assert_int_equal(regcomp(&compiled, m->pattern, REG_EXTENDED | REG_ICASE), 0);
        assert_true(m->library <= compiled.re_nsub && m->wanted <= compiled.re_nsub &&
                    m->found <= compiled.re_nsub && compiled.re_nsub < 16);
        regfree(&compiled);
        assert_true(*m->means);
        if (strncmp(m->findings, "by ", 3) != 0)
            are_findings(m->findings);
        for (const struct message *other = table; other < m; other++)
            assert_string_not_equal(m->id, other->id);
    }
}

/* One match of the text, to be ended by the caller. */
static struct messages only(const char *text, const char *id) {
    struct messages m;

    messages_find(text, strlen(text), &m);
    assert_int_equal(m.n, 1);
    assert_string_equal(m.p[0].message->id, id);
    are_findings(m.p[0].findings);
    return m;
}

static void versions_decide(void **state) {
    static const struct {
        const char *found, *wanted, *first, *without;
    } rows[] = {
        {"8.0.5", "8.1.0", "runtime-too-old", "runtime-too-new"},
        {"7101", "7004", "runtime-too-new", "runtime-too-old"},
        {"5005", "5103", "runtime-too-old", "runtime-too-new"},
        {"9.1.0", "8.9.7", "runtime-too-new", "runtime-too-old"},
        {"8907", "91002", "major-differs", "runtime-too-new"},
    };
    struct messages m;
    char text[200];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(text, sizeof(text),
                 "Loaded runtime CuDNN library: %s but source was compiled with: %s", rows[i].found,
                 rows[i].wanted);
        m = only(text, "xla-versions");
        assert_string_equal(m.p[0].found, rows[i].found);
        assert_string_equal(m.p[0].wanted, rows[i].wanted);
        assert_non_null(strstr(m.p[0].findings, rows[i].first));
        assert_null(strstr(m.p[0].findings, rows[i].without));
        messages_end(&m);
    }
}

/* By the rule of who prints them: what suits one framework does not suit the other. */
static void who_prints_it_decides(void **state) {
    static const struct {
        const char *text, *id, *rule;
        enum wc_fit fit;
        const char *finding;
    } rows[] = {
        {"PyTorch was compiled against (9, 1, 0) but found runtime version (8, 9, 7)",
         "pytorch-versions", "torch", WC_OTHER_MAJOR, "major-differs"},
        {"PyTorch was compiled against 7102 but linked against 7605", "pytorch-versions",
         "torch-same-minor", WC_TOO_NEW, "runtime-too-new"},
        {"Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0", "xla-versions",
         "xla", WC_TOO_OLD, "runtime-too-old"},
        {"Loaded runtime CuDNN library: 7101 (compatibility version 7100) but source was compiled "
         "with 7004",
         "xla-versions", "tensorflow-compatibility-number", WC_TOO_NEW, "runtime-too-new"},
        {"Loaded runtime CuDNN library: 9.3.0 but source was compiled with: 9.1.0", "xla-versions",
         "exact", WC_TOO_NEW, "runtime-too-new"},
        {"The header is from one version, but we link with a different version (6021, 5005)",
         "theano-versions", "exact", WC_OTHER_MAJOR, "major-differs"},
        {"compiled with CUDNN 7.6, but CUDNN version in your machine is 7.3", "paddle-versions",
         "paddle", WC_TOO_OLD, "runtime-too-old"},
        {"cuDNN lib mismatch: linked-against version 7605 != compiled-against version 7600",
         "mxnet-versions", "exact", WC_TOO_NEW, "runtime-too-new"},
        {"TensorRT was linked against cuDNN 8.6.0 but loaded cuDNN 8.9.0", "tensorrt-versions",
         "nvidia", WC_FITS, "already-loaded-by-soname"},
        {"Found cuDNN version 8600, but JAX was built against version 8906, which is newer",
         "jax-older-found", "xla", WC_TOO_OLD, "runtime-too-old"},
        {"These bindings are for CUDNN 5.x (5005 <= cudnn.version > 6000) , while the loaded CuDNN "
         "is version: 7004",
         "torch7-versions", "nvidia", WC_OTHER_MAJOR, "major-differs"},
    };
    static const char *const before[] = {"cuDNN version mismatch: ", "Mixed dnn version. ", ""};
    struct messages m;
    char text[300];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(text, sizeof(text), "%s%s", before[i < 2 ? 0 : i == 5 ? 1 : 2], rows[i].text);
        m = only(text, rows[i].id);
        assert_string_equal(wc_rule_name(m.p[0].rule), rows[i].rule);
        assert_int_equal(m.p[0].fit, rows[i].fit);
        assert_non_null(strstr(m.p[0].findings, rows[i].finding));
        messages_end(&m);
    }
}

static void library_decides(void **state) {
    static const struct {
        const char *name, *finding;
    } rows[] = {
        {"libcudnn.so.9", "library-not-found"},
        {"libcudnn_adv.so.9", "part-missing"},
        {"libcublasLt.so.12", "cuda-major-differs"},
        {"libcuda.so", "driver-missing"},
    };
    struct messages m;
    char text[200];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(text, sizeof(text), "ImportError: /a/%s: cannot open shared object file",
                 rows[i].name);
        m = only(text, "library-not-found");
        assert_string_equal(m.p[0].library, rows[i].name);
        assert_non_null(strstr(m.p[0].findings, rows[i].finding));
        messages_end(&m);
    }
    m = only("libz.so.1: cannot open shared object file", "library-not-found");
    assert_string_equal(m.p[0].findings, ""); /* of neither cuDNN nor CUDA */
    messages_end(&m);
}

static void pasted_as_it_may_be(void **state) {
    static const char *const texts[] = {
        "first\nCUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH\n",
        "\n  \x1b[1;31mcudnn_status_SUBLIBRARY_VERSION_MISMATCH\x1b[0m",
        "x\r\n\"CUDNN_STATUS_VERSION_MISMATCH\"\xff\xfe",
    };
    static const char wrapped[] =
        "cuDNN version mismatch: PyTorch\n    was compiled\n against 7102\n"
        "\tbut linked \x1b[0magainst 7605";
    struct messages m;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        m = only(texts[i], "status-versions");
        assert_int_equal(m.p[0].line, 2);
        messages_end(&m);
    }
    m = only(wrapped, "pytorch-versions");
    assert_string_equal(m.p[0].text,
                        "cuDNN version mismatch: PyTorch was compiled against 7102 but "
                        "linked against 7605");
    assert_int_equal(m.p[0].found_version.minor, 6);
    messages_end(&m);
}

static void the_more_special_row_has_it(void **state) {
    static const char text[] =
        "Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared "
        "object file\nfine\nlibcudnn.so.9: cannot open shared object file\nlibcudnn.so.9: cannot "
        "open shared object file\nlibcudnn.so.8: cannot open shared object file";
    struct messages m;

    (void)state;
    messages_find(text, strlen(text), &m);
    assert_int_equal(m.n, 3);
    assert_string_equal(m.p[0].message->id, "part-blamed");
    assert_string_equal(m.p[0].library, "libcuda.so");
    assert_string_equal(m.p[1].library, "libcudnn.so.9");
    assert_int_equal(m.p[1].times, 2);
    assert_int_equal(m.p[1].line, 3);
    assert_string_equal(m.p[2].library, "libcudnn.so.8");
    messages_end(&m);
    /* What is left of a line that another row has a part of. */
    static const char status[] = "CUDNN_STATUS_BAD_PARAM (cuDNN 90100, built with 90800)";
    messages_find(status, strlen(status), &m);
    assert_int_equal(m.n, 2);
    assert_string_equal(m.p[1].found, "90100");
    assert_string_equal(m.p[1].wanted, "90800");
    messages_end(&m);
}

static void nothing_is_found_in_nothing(void **state) {
    static const char nulls[] = "\0\0\x1b[\0libcudnn\0.so: cannot open shared object file";
    static const char of_cuda[] = "wants cuDNN >= 8.9, but CUDA 11.8 is installed";
    struct messages m;
    char *longest = malloc(300000);

    (void)state;
    messages_find("", 0, &m);
    assert_int_equal(m.n, 0);
    messages_end(&m);
    messages_find(nulls, sizeof(nulls) - 1, &m);
    assert_int_equal(m.n, 0);
    messages_end(&m);
    messages_find(of_cuda, sizeof(of_cuda) - 1, &m);
    assert_int_equal(m.n, 0);
    messages_end(&m);
    memset(longest, 'l', 300000);
    messages_find(longest, 300000, &m);
    assert_int_equal(m.n, 0);
    messages_end(&m);
    free(longest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_sound),
        cmocka_unit_test(versions_decide),
        cmocka_unit_test(who_prints_it_decides),
        cmocka_unit_test(library_decides),
        cmocka_unit_test(pasted_as_it_may_be),
        cmocka_unit_test(the_more_special_row_has_it),
        cmocka_unit_test(nothing_is_found_in_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

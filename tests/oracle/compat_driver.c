/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks core/ what an oracle asks it: one question a line on stdin, fields separated by tabs, one
 * word a line on stdout.
 *
 *   check RULE BUILT RUNTIME     fits, too-old, too-new, other-major, unknown
 *   rule FRAMEWORK VERSION       the rule's name
 *   accepts SPEC VERSION         yes, no, unknown; "refused" if SPEC is not understood
 *
 * A version is a number as cudnnGetVersion gives it ("91002"), a text ("9.10.2") or empty.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names/compat.h"

static struct wc_version version_of(const char *text) {
    struct wc_version v;
    size_t n = strlen(text);
    if (n > 3 && !strchr(text, '.'))
        return wc_version_from_number(strtoull(text, NULL, 10));
    wc_version_parse(text, n, &v);
    return v;
}

static const char *check(const char *rule, const char *built, const char *runtime) {
    static const char *const words[] = {[WC_FITS] = "fits",
                                        [WC_TOO_OLD] = "too-old",
                                        [WC_TOO_NEW] = "too-new",
                                        [WC_OTHER_MAJOR] = "other-major",
                                        [WC_FIT_UNKNOWN] = "unknown"};
    enum wc_rule r = wc_rule_from_name(rule);
    if (r == WC_RULE_NONE)
        return "no such rule";
    return words[wc_rule_check(r, version_of(built), version_of(runtime))];
}

static const char *accepts(const char *text, const char *version) {
    static const char *const words[] = {[WC_NO] = "no", [WC_YES] = "yes", [WC_UNKNOWN] = "unknown"};
    struct wc_spec spec;
    if (!wc_spec_read(text, &spec))
        return "refused";
    return words[wc_spec_accepts(&spec, version_of(version))];
}

int main(void) {
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        char *field[4] = {"", "", "", ""}, *rest = line;
        line[strcspn(line, "\n")] = '\0';
        for (int i = 0; i < 4 && rest; i++)
            field[i] = strsep(&rest, "\t");
        if (strcmp(field[0], "check") == 0)
            puts(check(field[1], field[2], field[3]));
        else if (strcmp(field[0], "rule") == 0)
            puts(wc_rule_name(wc_rule_of_framework(field[1], version_of(field[2]))));
        else if (strcmp(field[0], "accepts") == 0)
            puts(accepts(field[1], field[2]));
        else
            puts("no such question");
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opens FILE...: opens each host and calls it. "deep:FILE": with RTLD_DEEPBIND; "close:FILE":
 * closes it again; "only:FILE": does not call it, "and-close:FILE": and closes it again. Without a
 * FILE it is the program itself.
 */
#include <string.h>

#include "support.h"

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *colon = strchr(argv[i], ':');
        const char *name = colon ? colon + 1 : argv[i];
        int deep = argv[i][0] == 'd' ? RTLD_DEEPBIND : 0;
        void *library = need(dlopen(*name ? name : NULL, RTLD_LAZY | deep), name);
        if (argv[i][0] == 'o' || argv[i][0] == 'a') {
            puts(name);
        } else {
            printf("%s %ld\n", name, runner(library)());
            tell_counts(library);
        }
        if (argv[i][0] == 'c' || argv[i][0] == 'a')
            dlclose(library);
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

bool wc_variable_is_logged(const char *variable) {
#define LOGGED(name)                                                                               \
    if (variable[0] == (name)[0] && wc_str_starts(variable, name "="))                             \
        return true;
#define LOGGED_ALL(prefix)                                                                         \
    if (variable[0] == (prefix)[0] && wc_str_starts(variable, prefix))                             \
        return true;
#include "logged_variables.def"
#undef LOGGED
#undef LOGGED_ALL
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "json_make.h"

#include <stdarg.h>

static json_t *text(const char *s) {
    return s ? json_string(s) : json_null();
}

json_t *json_make(const char *values, ...) {
    json_t *object = json_object();
    va_list args;

    va_start(args, values);
    for (; *values; values++) {
        const char *key = va_arg(args, const char *);

        json_object_set_new(object, key,
                            *values == 's'   ? text(va_arg(args, const char *))
                            : *values == 'i' ? json_integer(va_arg(args, int))
                            : *values == 'I' ? json_integer(va_arg(args, json_int_t))
                            : *values == 'b' ? json_boolean(va_arg(args, int))
                            : *values == 'o' ? va_arg(args, json_t *)
                            : *values == 'O' ? json_incref(va_arg(args, json_t *))
                                             : json_null());
    }
    va_end(args);
    return object;
}

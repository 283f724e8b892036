/* SPDX-License-Identifier: Apache-2.0 */
/* The least that an LD_AUDIT library can be: it says which interface it speaks and looks at
 * nothing. */
#include <link.h>

unsigned la_version(unsigned version) {
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

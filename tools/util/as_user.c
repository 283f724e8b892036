/* SPDX-License-Identifier: Apache-2.0 */
#include "as_user.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <sys/fsuid.h>
#include <unistd.h>

static gid_t own_groups[NGROUPS_MAX];
static int own_count = -1; /* these are our own rights */

void as_user(uid_t user) {
    const bool differs = geteuid() == 0 && user != 0 && own_count < 0;
    const struct passwd *known = differs ? getpwuid(user) : NULL;
    const gid_t group = known ? known->pw_gid : (gid_t)user;

    if (!differs || (own_count = getgroups(NGROUPS_MAX, own_groups)) < 0)
        return;
    if (known ? initgroups(known->pw_name, group) : setgroups(1, &group)) {
        own_count = -1;
        return;
    }
    setfsgid(group);
    setfsuid(user); /* the kernel takes from root what lets it read all */
}

void as_self(void) {
    if (own_count < 0)
        return;
    setfsuid(geteuid());
    setfsgid(getegid());
    setgroups((size_t)own_count, own_groups);
    own_count = -1;
}

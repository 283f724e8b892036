/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same as taskprolog.sh, as a plugin of Slurm's: of the tasks alone, not of the shells around.
 *   gcc -shared -fPIC -o /usr/lib/slurm/whichcudnn_spank.so whichcudnn_spank.c
 * plugstack.conf, on each node (`optional`: a job runs also where it is not there):
 *   optional whichcudnn_spank.so /usr/local/lib/libwhichcudnn.so /var/log/whichcudnn
 * Error: in slurm-JOB.out. Exit status: the task's. Logs: in that directory, which users may write
 * to.
 */
#include <slurm/spank.h>
#include <stdio.h>
#include <unistd.h>

SPANK_PLUGIN(whichcudnn, 1)

int slurm_spank_task_init(spank_t task, int count, char **words) {
    char preload[4096] = "", both[8192];

    if (count != 2 || access(words[0], R_OK) != 0)
        return ESPANK_SUCCESS;
    if (spank_getenv(task, "LD_PRELOAD", preload, sizeof preload) == ESPANK_NOSPACE)
        return ESPANK_SUCCESS;
    snprintf(both, sizeof both, "%s%s%s", preload, *preload ? ":" : "", words[0]);
    spank_setenv(task, "LD_PRELOAD", both, 1);
    spank_setenv(task, "WHICHCUDNN_LOG", words[1], 0);
    return ESPANK_SUCCESS;
}

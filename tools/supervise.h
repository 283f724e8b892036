/*
 * A child run to its end, in our own process group and on our terminal, with signals handed on.
 */
#ifndef WHICHCUDNN_TOOLS_SUPERVISE_H
#define WHICHCUDNN_TOOLS_SUPERVISE_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    int status;     /* as waitpid gives it */
    int exec_error; /* errno of exec; 0: it was started */
};

/* Called in the child before exec. */
typedef void prepare_child(void *arg);

/* False: no child could be made (errno). argv is searched for in PATH. */
bool supervise(char **argv, prepare_child *prepare, void *arg, struct child *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
// C++ exceptions out of a call of cuDNN, and through several; destructors run on the way.
#include <stdexcept>

#include "answers.h"
#include "see.h"

namespace {

int throws_left;

struct told {
    const char *name;
    ~told() {
        see("destroyed", "%s", name);
    }
};

void throw_some(const char *function) {
    if (throws_left-- > 0)
        throw std::runtime_error(function);
}

void nest(const char *function) {
    told here{function};
    answers_inside = throw_some;
    throws_left = 1;
    cudnnGetErrorString(0);
}

int create() {
    told here{"caller"};
    void *handle = nullptr;
    return cudnnCreate(&handle);
}

void attempt(int i) {
    try {
        see("call", "%d came back with %d", i, create());
    } catch (const std::exception &e) {
        see("caught", "%d from %s", i, e.what());
    }
}

} // namespace

int main() {
    answers_inside = throw_some;
    throws_left = 2;
    for (int i = 0; i < 4; i++)
        attempt(i);
    answers_inside = nest;
    attempt(4);
    answers_inside = nullptr;
    attempt(5);
    see("version", "%zu", cudnnGetVersion());
    void *host = see_open("answers/layout.so", RTLD_NOW);
    long (*run)() = reinterpret_cast<long (*)()>(see_sym(host, "host_run"));
    if (run)
        run();
    see_close("host", host);
    return 0;
}

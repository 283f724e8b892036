/* SPDX-License-Identifier: Apache-2.0 */
// A library whose static object throws and catches in its constructor and destructor: its own
// exceptions, and those of another library (FAR: that library). STARTS in the environment:
// "uncaught" throws out of the constructor; "opens" opens another library of this kind within the
// try block. starts_use() makes a thread-local object, whose destructor calls cuDNN.
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "see.h"

#ifdef FAR

void throws_far(const char *what) {
    throw std::runtime_error(what);
}

#else

extern "C" size_t cudnnGetVersion(void);
void throws_far(const char *what);

namespace {

struct told {
    const char *name;
    ~told() {
        see("destroyed", "%s", name);
    }
};

[[gnu::noinline]] void throw_number(int n) {
    told here{"thrower"};
    throw n;
}

bool is(const char *what) {
    const char *starts = getenv("STARTS");
    return starts && !strcmp(starts, what);
}

void attempt(const char *when, bool opens) {
    try {
        throw_number(7);
    } catch (int n) {
        see("caught", "%d, %s", n, when);
    }
    try {
        told here{"caller"};
        see("version", "%zu", cudnnGetVersion());
        if (opens)
            see_open("init/starts-inner.so", RTLD_NOW);
        throws_far(when);
    } catch (const std::exception &e) {
        see("caught", "%s", e.what());
    }
}

struct at_start {
    at_start() {
        attempt(NAME " begins", is("opens"));
        if (is("uncaught"))
            throw std::runtime_error("uncaught");
    }
    ~at_start() {
        attempt(NAME " ends", false);
    }
} object;

struct of_thread {
    int number = 5;
    ~of_thread() {
        see("thread ends", "%zu", cudnnGetVersion());
    }
};
thread_local of_thread mine;

} // namespace

extern "C" long host_run(void);
extern "C" long host_run(void) {
    return mine.number;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs here share. What a host has to print goes into a file that was mapped at its
 * start (REPORT in the environment), since descriptors, disks and limits are what the tests take
 * away; without REPORT, to standard output at the end.
 */
#ifndef FAULTS_REPORT_H
#define FAULTS_REPORT_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REPORT_MOST (256 << 10)

static char report_own[REPORT_MOST], *report_text = report_own;
static size_t report_length;

static void report_begin(void) {
    const char *name = getenv("REPORT");
    int fd = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    void *p = ftruncate(fd, REPORT_MOST)
                  ? MAP_FAILED
                  : mmap(NULL, REPORT_MOST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        abort();
    report_text = p;
    /* The pages are there from now on: a full disk or a limit cannot take them. */
    memset(report_text, 0, REPORT_MOST);
}

static __attribute__((format(printf, 1, 2))) void report(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(report_text + report_length, REPORT_MOST - report_length, format, arguments);
    va_end(arguments);
    report_length += n > 0 ? (size_t)n : 0;
}

static inline void report_end(void) {
    if (report_text == report_own)
        fwrite(report_text, 1, report_length, stdout);
}

#endif

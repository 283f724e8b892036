/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tools/util/memory.h"

#define PACKED (64 << 10)

/* A user of zstd has its library, which is as large as half of ours: it is opened when it
 * is wanted. The functions and structs are those of zstd.h, since its 1.0. */
struct zstd_buffer {
    void *data; /* const in a ZSTD_inBuffer */
    size_t size, pos;
};
static struct {
    void *(*createDStream)(void);
    size_t (*freeDStream)(void *stream);
    size_t (*decompressStream)(void *stream, struct zstd_buffer *to, struct zstd_buffer *from);
    unsigned (*isError)(size_t answer);
    const char *(*getErrorName)(size_t answer);
} zstd;

static bool open_zstd(void) {
    void *library = zstd.createDStream ? NULL : dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library) {
        zstd.freeDStream = (size_t(*)(void *))dlsym(library, "ZSTD_freeDStream");
        zstd.decompressStream =
            (size_t(*)(void *, struct zstd_buffer *, struct zstd_buffer *))dlsym(
                library, "ZSTD_decompressStream");
        zstd.isError = (unsigned (*)(size_t))dlsym(library, "ZSTD_isError");
        zstd.getErrorName = (const char *(*)(size_t))dlsym(library, "ZSTD_getErrorName");
        if (zstd.freeDStream && zstd.decompressStream && zstd.isError && zstd.getErrorName)
            zstd.createDStream = (void *(*)(void))dlsym(library, "ZSTD_createDStream");
    }
    return zstd.createDStream != NULL;
}

struct unpack {
    gzFile file; /* what is not packed with gzip it gives as it is; NULL: there is no memory */
    bool begun;
    bool whole; /* what was unpacked last ended as it should */
    char *trouble;
    void *stream;          /* of zstd; NULL: not packed with it */
    struct zstd_buffer in; /* of packed: what was read, and how much of it is taken */
    unsigned char packed[PACKED];
};

struct unpack *unpack_begin(int fd) {
    struct unpack *u = must_allocate(sizeof(*u));

    fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    u->file = fd < 0 ? NULL : gzdopen(fd, "r");
    u->in.data = u->packed;
    u->whole = true;
    if (u->file)
        gzbuffer(u->file, PACKED);
    return u;
}

void unpack_end(struct unpack *u) {
    if (u->file)
        gzclose_r(u->file);
    if (u->stream)
        zstd.freeDStream(u->stream);
    free(u->trouble);
    free(u);
}

const char *unpack_trouble(const struct unpack *u) {
    return u->trouble;
}

bool unpack_is_packed(const struct unpack *u) {
    return u->stream || (u->file && !gzdirect(u->file));
}

static ssize_t fail(struct unpack *u, const char *what, const char *detail) {
    if (!u->trouble)
        u->trouble = must_format("%s%s", what, detail);
    return -1;
}

/* zlib puts the name of the file before its words, for which a descriptor has a number. */
static ssize_t read_some(struct unpack *u, void *to, size_t n) {
    int got = gzread(u->file, to, (unsigned)n), error;
    const char *words = gzerror(u->file, &error), *colon = strstr(words, ": ");

    if (got < 0)
        return fail(
            u, error == Z_ERRNO ? "" : "its gzip data is damaged: ", colon ? colon + 2 : words);
    return got == 0 && error == Z_BUF_ERROR ? fail(u, "it is packed, and cut off", "") : got;
}

static bool fill(struct unpack *u) {
    ssize_t n = read_some(u, u->packed, PACKED);

    u->in.size = n > 0 ? (size_t)n : 0;
    u->in.pos = 0;
    return n >= 0;
}

static bool begin(struct unpack *u) {
    u->begun = true;
    if (!u->file)
        return fail(u, "there is no memory to unpack it", "") == 0;
    if (!fill(u))
        return false;
    if (u->in.size < 4 || memcmp(u->packed, "\x28\xb5\x2f\xfd", 4) != 0)
        return true;
    if (!open_zstd())
        return fail(u,
                    "it is packed with zstd, and there is no libzstd.so.1 here: unpack it by `zstd "
                    "-d`",
                    "") == 0;
    u->stream = zstd.createDStream();
    return u->stream || fail(u, "there is no memory to unpack it", "") == 0;
}

/* Archives may stand one after the other. Returns what was unpacked; -1: it is damaged. */
static ssize_t decompress_some(struct unpack *u, void *to, size_t n) {
    struct zstd_buffer out = {to, n, 0};
    size_t answer = zstd.decompressStream(u->stream, &out, &u->in);

    u->whole = answer == 0;
    if (zstd.isError(answer))
        return fail(u, "its zstd data is damaged: ", zstd.getErrorName(answer));
    return (ssize_t)out.pos;
}

ssize_t unpack_read(struct unpack *u, void *to, size_t n) {
    ssize_t got = 0;

    if (u->trouble || (!u->begun && !begin(u)))
        return -1;
    if (!u->stream && u->in.pos == u->in.size)
        return read_some(u, to, n);
    if (!u->stream) { /* what was read to see how it is packed */
        n = n < u->in.size - u->in.pos ? n : u->in.size - u->in.pos;
        memcpy(to, u->packed + u->in.pos, n);
        u->in.pos += n;
        return (ssize_t)n;
    }
    while (got == 0) {
        if (u->in.pos == u->in.size && !fill(u))
            return -1;
        if (u->in.size == 0 && u->whole)
            return 0;
        got = decompress_some(u, to, n);
        if (got == 0 && u->in.size == 0 && !u->whole)
            return fail(u, "it is packed, and cut off", "");
    }
    return got;
}

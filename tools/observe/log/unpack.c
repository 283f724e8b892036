/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/util/memory.h"

#define PACKED ((size_t)64 << 10)
#define GZIP_ALONE (16 + MAX_WBITS)

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
    int fd;
    bool begun, at_end;
    bool whole; /* what was unpacked last ended as it should */
    char *trouble;
    size_t from, to; /* of packed, what is not taken yet */
    bool gzip;
    z_stream z;
    void *stream; /* of zstd; NULL: not packed with it */
    unsigned char packed[PACKED];
};

struct unpack *unpack_begin(int fd) {
    struct unpack *u = must_allocate(sizeof(*u));

    u->fd = fd;
    u->whole = true;
    return u;
}

void unpack_end(struct unpack *u) {
    if (u->gzip)
        inflateEnd(&u->z);
    if (u->stream)
        zstd.freeDStream(u->stream);
    free(u->trouble);
    free(u);
}

const char *unpack_trouble(const struct unpack *u) {
    return u->trouble;
}

bool unpack_is_packed(const struct unpack *u) {
    return u->gzip || u->stream;
}

static ssize_t fail(struct unpack *u, const char *format, const char *detail) {
    if (!u->trouble)
        u->trouble = must_format("%s%s", format, detail);
    return -1;
}

/* More of the file after what is not taken yet. False: it cannot be read. */
static bool fill(struct unpack *u) {
    ssize_t n;

    memmove(u->packed, u->packed + u->from, u->to - u->from);
    u->to -= u->from;
    u->from = 0;
    do
        n = read(u->fd, u->packed + u->to, sizeof(u->packed) - u->to);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        fail(u, "", strerror(errno));
    u->at_end = n <= 0;
    u->to += n > 0 ? (size_t)n : 0;
    return n >= 0;
}

static bool begins_with(const struct unpack *u, const char *magic, size_t n) {
    return u->to - u->from >= n && memcmp(u->packed + u->from, magic, n) == 0;
}

/* A pipe may give one byte at a time. */
static bool begin(struct unpack *u) {
    u->begun = true;
    while (!u->at_end && u->to < 4)
        if (!fill(u))
            return false;
    if (begins_with(u, "\x1f\x8b", 2)) {
        u->gzip = inflateInit2(&u->z, GZIP_ALONE) == Z_OK;
        return u->gzip || fail(u, "there is no memory to unpack it", "") == 0;
    }
    if (!begins_with(u, "\x28\xb5\x2f\xfd", 4))
        return true;
    if (!open_zstd())
        return fail(u,
                    "it is packed with zstd, and there is no libzstd.so.1 here: unpack it by `zstd "
                    "-d`",
                    "") == 0;
    u->stream = zstd.createDStream();
    return u->stream || fail(u, "there is no memory to unpack it", "") == 0;
}

/* What was read before is given, then the rest of the file by itself. */
static ssize_t read_plain(struct unpack *u, void *to, size_t n) {
    if (u->from == u->to && !u->at_end && !fill(u))
        return -1;
    if (n > u->to - u->from)
        n = u->to - u->from;
    memcpy(to, u->packed + u->from, n);
    u->from += n;
    return (ssize_t)n;
}

/* Archives may stand one after the other. Returns what was unpacked; -1: it is damaged. */
static ssize_t inflate_some(struct unpack *u, void *to, size_t n) {
    int answer;

    if (u->whole && inflateReset(&u->z) != Z_OK)
        return fail(u, "it cannot be unpacked", "");
    u->z.next_in = u->packed + u->from;
    u->z.avail_in = (uInt)(u->to - u->from);
    u->z.next_out = to;
    u->z.avail_out = (uInt)n;
    answer = inflate(&u->z, Z_NO_FLUSH);
    u->from = u->to - u->z.avail_in;
    u->whole = answer == Z_STREAM_END;
    if (answer != Z_OK && answer != Z_STREAM_END && answer != Z_BUF_ERROR)
        return fail(u, "its gzip data is damaged: ", u->z.msg ? u->z.msg : "no more is known");
    return (ssize_t)(n - u->z.avail_out);
}

static ssize_t decompress_some(struct unpack *u, void *to, size_t n) {
    struct zstd_buffer in = {u->packed, u->to, u->from}, out = {to, n, 0};
    size_t answer = zstd.decompressStream(u->stream, &out, &in);

    u->from = in.pos;
    u->whole = answer == 0;
    if (zstd.isError(answer))
        return fail(u, "its zstd data is damaged: ", zstd.getErrorName(answer));
    return (ssize_t)out.pos;
}

ssize_t unpack_read(struct unpack *u, void *to, size_t n) {
    ssize_t got = 0;

    if (u->trouble || (!u->begun && !begin(u)))
        return -1;
    if (!unpack_is_packed(u))
        return read_plain(u, to, n);
    if (n > PACKED * 16)
        n = PACKED * 16;
    while (got == 0) {
        if (u->from == u->to && !u->at_end && !fill(u))
            return -1;
        if (u->from == u->to && u->whole)
            return 0;
        got = u->gzip ? inflate_some(u, to, n) : decompress_some(u, to, n);
        if (got == 0 && !u->whole && u->from == u->to && u->at_end)
            return fail(u, "it is packed, and cut off", "");
    }
    return got;
}

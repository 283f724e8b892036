/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file is: its version without calling it, the installation it belongs to, what its host's
 * package metadata demands. Pure; reads through struct wc_files.
 */
#pragma once

#include "core/base/files.h"
#include "core/elf/elf_image.h"
#include "core/names/symbols.h"
#include "whichcudnn/record.h"

struct wc_identity {
    struct wc_version version, floor, ceiling;
    struct wc_version header; /* of the header next to it, where that is another one; else NONE */
    enum wc_version_source version_source;
    enum wc_installation_kind installation_kind;
    char installation[128]; /* "nvidia-cudnn-cu12", "cuda-13.0"; "" unknown */
    char installation_version[WC_VERSION_TEXT];
    char installation_path[1024]; /* identifies the installation; "" unknown */
    char mount[256]; /* mount point that shows the file from elsewhere; "" none, or a wheel's */
};

/*
 * path: the real path. image: of the mapped object or of the file's bytes; NULL: not readable.
 * facade: whether it is the facade. Sources in the order of core/packages/file_version.c, first
 * that answers wins. Uses at most 4 KiB of stack; `scratch` (at least 16 KiB) is for file contents.
 * floor and ceiling are left unknown.
 */
void wc_identify(const struct wc_files *files, const char *path, const struct wc_elf_image *image,
                 bool facade, void *scratch, size_t scratch_size, struct wc_identity *out);
/* Does another file say so, which may describe one that was replaced since: a package, a header? */
bool wc_version_is_claim(enum wc_version_source source);
/* Could a file of this version export what one of these bounds does? */
bool wc_version_in_bounds(const struct wc_release_range *r, struct wc_version v);
/* floor and ceiling, by the whole list of what a facade exports; a part exports its share. */
void wc_identify_bounds(const struct wc_elf_image *facade, struct wc_identity *out);

/* header, of a facade that was identified. What programs are compiled with is that one, what they
 * find is the library. */
void wc_identify_header(const struct wc_files *files, const char *facade, void *scratch,
                        size_t scratch_size, struct wc_identity *out);

/*
 * The packages of cuDNN in the environment of a file (site-packages, conda prefix, dpkg's), each
 * compared with its own list of files: what is missing, what another one put there, what is on no
 * list, as records. Only names and sizes of cuDNN's own libraries are looked at. Stack and scratch
 * as for wc_identify; 64 KiB of scratch hold what is usual. *dpkg_told: whether those of dpkg,
 * which has one list for all directories, were reported before. of_cuda: the wheels of CUDA
 * instead, of which those count that lack a library.
 */
void wc_packages_near(const struct wc_files *files, const char *path, bool of_cuda, bool *dpkg_told,
                      void *scratch, size_t scratch_size, const struct wc_sink *to);
/*
 * Another distribution next to the file's own that requires it, whatever extras were asked for:
 * "faster-whisper 1.1.1". False: none is seen.
 */
bool wc_required_by(const struct wc_files *files, const char *path, const char *distribution,
                    void *scratch, size_t scratch_size, char *to, size_t cap);
/* site-packages of the virtual environment that a Python works in, with '/' behind: by the path
 * that it was started by (NULL: not known), else by VIRTUAL_ENV (NULL: not set). False: in none. */
bool wc_process_site(const struct wc_files *files, const char *program, const char *virtual_env,
                     char *to, size_t cap);
/* Length of the part of a path that names the environment: files that have it in common are near
 * the same packages. */
size_t wc_environment_length(const char *path);

/* A line of mountinfo: its mount point goes to `point`. False: it is longer than that. */
struct wc_mount_line {
    bool of_root;      /* it shows the whole of its file system */
    bool no_execution; /* mounted noexec */
    const char *type;  /* of that, up to a blank; in the line */
};
bool wc_mount_read(const char *line, char *point, size_t cap, struct wc_mount_line *out);

/* One demand found in a host's package metadata. */
struct wc_metadata_demand {
    enum wc_demand_kind kind; /* BUILT or REQUIRED */
    char spec[160];           /* PEP 440; "" unknown */
    char built[WC_VERSION_TEXT];
    bool by_file;     /* built is "": it is the version of the library at source_path */
    char package[48]; /* distribution that is required; "" if none is named */
    /* Is it required only with an extra of the host's package, and is it installed? */
    enum { WC_NO_EXTRA, WC_EXTRA_ABSENT, WC_EXTRA_REFUSED, WC_EXTRA_ACCEPTED } extra;
    char framework[32], framework_version[WC_VERSION_TEXT];
    char source[160]; /* "METADATA of jaxlib 0.10.2" */
    char source_path[1024];
};
/*
 * All that the packages around a host's file say (core/packages/metadata.c; tables:
 * core/knowledge/frameworks.def and built_with.def): the dist-info of the distribution that owns
 * the file (RECORD names it, or its top-level directory), files of the package, conda's record.
 * Of what asks for scripts (_ctypes): of the packages in `site`, the process's (NULL: not known),
 * that have no library and require a cuDNN. Returns how many were written (at most most).
 */
size_t wc_metadata_demands(const struct wc_files *files, const char *host_path, const char *site,
                           void *scratch, size_t scratch_size, struct wc_metadata_demand *out,
                           size_t most);

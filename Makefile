# SPDX-License-Identifier: Apache-2.0
# whichcudnn: two products from three folders.
#   libwhichcudnn.so  = shim/ + core/   compiled freestanding, to be preloaded into any process
#   whichcudnn        = tools/ + core/  compiled as an ordinary program
# `make help` lists targets and settings. Plain `make` never uses the network.

VERSION := 0.1.0
O       ?= build
OPT     ?= -O2
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
DATADIR ?= $(PREFIX)/share
CACHE   ?= $(O)/cache
PYTHON  ?= python3
ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar

ifeq ($(V),1)
Q :=
say := @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all help headers demo install clean distclean FORCE \
        test test-unit test-e2e test-real test-measured test-cases test-agreement test-neutral \
        test-faults test-sanitizers test-worlds test-repairs test-places test-gpu test-all fuzz mutants coverage confusion lint bench refresh schema readme tour \
        compare frameworks matrix man

# ---- sources: a new file needs no change here -----------------------------------------------

ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
core_sources  := $(sort $(shell find core -name '*.c' -not -path 'core/data/*'))
tools_sources := $(sort $(shell find tools -name '*.c'))
shim_sources  := $(sort $(shell find shim -name '*.c' -not -path 'shim/arch/*')) \
                 $(sort $(wildcard shim/arch/$(ARCH)/*.c shim/arch/$(ARCH)/*.S))
unit_sources  := $(sort $(wildcard tests/unit/test_*.c))
generated     := $(patsubst core/data/generate_%.py,$(O)/gen/cudnn_%.inc,\
                   $(wildcard core/data/generate_*.py))
pages         := $(O)/gen/findings_pages.inc $(O)/gen/report_page.inc
objects = $(patsubst %,$(O)/obj/$(1)/%.o,$(basename $(2)))

# ---- NVIDIA's headers: what was asked for, a toolkit, or what `make headers` fetched ----------

multiarch := $(shell $(CC) -print-multiarch 2>/dev/null)
header_dirs := $(wildcard /usr/local/cuda/include /usr/include $(addprefix /usr/include/,$(multiarch)) \
                 $(O)/headers)
having = $(firstword $(foreach d,$(header_dirs),$(if $(wildcard $(d)/$(1)),$(d))))
CUDNN_INCLUDE ?= $(call having,cudnn.h)
CUDA_INCLUDE  ?= $(call having,cuda_runtime_api.h)
have_headers := $(and $(wildcard $(CUDNN_INCLUDE)/cudnn.h),\
                      $(wildcard $(CUDA_INCLUDE)/cuda_runtime_api.h))
shim_includes := -Ishim/arch/$(ARCH) $(addprefix -isystem ,\
                   $(sort $(filter-out /usr/include,$(CUDNN_INCLUDE) $(CUDA_INCLUDE))))

# ---- flags ------------------------------------------------------------------------------------

WARN := -Wall -Wextra -Werror
base_flags := -std=gnu11 -g $(OPT) $(WARN) -D_GNU_SOURCE= -Iinclude -I. -I$(O)/gen \
              -DWHICHCUDNN_VERSION='"$(VERSION)"'

# The shim calls nothing that another library could interpose, so the compiler may not invent calls:
# no builtin that becomes memcpy@plt, no stack protector, no fortify, no lazy binding, and
# thread-local storage that needs no __tls_get_addr. These come after CFLAGS, to win over a
# distribution's hardening flags. A signal handler may unwind through any function, so all have
# tables. -Os, because the library has 368 KiB at -O2, above its bound of 352, and 304 KiB so.
shim_flags := -fPIC -ffreestanding -fno-builtin -fno-stack-protector -U_FORTIFY_SOURCE -fno-lto \
              -fvisibility=hidden -ftls-model=initial-exec -fasynchronous-unwind-tables \
              -ffunction-sections -fdata-sections $(filter -Os,$(patsubst -O2,-Os,$(OPT)))
compiler_takes = $(shell $(CC) -Werror $(1) -S -x c /dev/null -o /dev/null 2>/dev/null && echo $(1))
ifeq ($(ARCH),x86_64)
shim_flags += -fno-plt -fcf-protection=full
else ifeq ($(ARCH),aarch64)
# There, calls by way of an address stay what they are, and these have to work before the shim is
# relocated. Atomics out of line would bring a constructor of the compiler's, which asks libc. Return
# addresses stay plain: unwinders older than such signing lose their way in a wrapper's frame.
shim_flags += -mbranch-protection=bti $(call compiler_takes,-mno-outline-atomics)
endif

# Marks that only some linkers know; without them a process would lose its shadow stack to us.
linker_takes = $(shell printf 'void f(void);void f(void){}' | $(CC) $(LDFLAGS) -shared -fPIC \
                 -nostdlib -Wl,--fatal-warnings -Wl,$(1) -x c - -o /dev/null 2>/dev/null && echo -Wl,$(1))
marks = $(foreach f,-z$(comma)shstk -z$(comma)ibt,$(call linker_takes,$(f)))
comma := ,
# Slots of hosts lead to us: a program that opened us itself must not unmap us. What is read-only after
# relocation would take a system call, a segment more another mapping.
shim_link = -shared -Wl,-soname,libwhichcudnn.so -Wl,--version-script=shim/exports.map \
            -Wl,-z,norelro -Wl,-z,noseparate-code -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,defs \
            -Wl,-z,nodelete -Wl,--gc-sections $(marks)
# No start files, which would import names and lie at the far end of the shim's code. gcov's run-time
# needs them, and libc: a coverage build is for tests only.
command_flags := -fPIE
command_link  := -pie
# Where archives of its libraries are installed, the command has them in it: it then starts even if
# LD_LIBRARY_PATH has a broken one.
command_libraries := $(foreach name,jansson z,$(or $(filter /%,$(shell $(CC) -print-file-name=lib$(name).a)),-l$(name)))
ifneq ($(SAN),)
command_flags += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
command_link  += -fsanitize=$(SAN)
endif
# A command for every glibc from 2.17 on, with its libraries in it: what `make dist` packs.
ifeq ($(PORTABLE),1)
include packaging/portable.mk
endif
ifeq ($(COVERAGE),1)
base_flags    += --coverage -fprofile-update=atomic
command_link  += --coverage
shim_flags    += -DSHIM_IN_ARRAYS
shim_ends     := --coverage
else
shim_ends     := -nostdlib -Wl,-init=shim_begin -Wl,-fini=shim_end -Wl,--no-as-needed -lc \
                 -Wl,--as-needed -lgcc
endif

# ---- the two products -------------------------------------------------------------------------

all: $(O)/libwhichcudnn.so $(O)/whichcudnn

# What runs asleep comes first, and so lies together.
asleep_objects  := $(call objects,shim,shim/asleep.c shim/start.c shim/arch/$(ARCH)/entry.S \
                     core/names/hints.c shim/thread.c)
shim_objects    := $(asleep_objects) $(filter-out $(asleep_objects),\
                     $(call objects,shim,$(shim_sources) $(core_sources)))
command_objects := $(call objects,command,$(tools_sources) $(core_sources) $(portable_sources))

$(O)/libwhichcudnn.so: $(shim_objects) shim/exports.map shim/defer_relocations.py
	$(say) LINK $@
	$(Q)$(if $(COVERAGE),,$(PYTHON) shim/defer_relocations.py )$(CC) $(LDFLAGS) $(shim_link) -o $@.new \
	    $(shim_objects) $(shim_ends)
	$(Q)mv $@.new $@

$(O)/whichcudnn: $(command_objects) $(portable_needs)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) $(command_link) -o $@.new $(command_objects) $(command_libraries) -ldl
	$(Q)mv $@.new $@

$(O)/obj/shim/%.o: %.c
	$(say) SHIM $<
	$(Q)mkdir -p $(@D) && $(CC) $(base_flags) $(CFLAGS) $(shim_flags) $(shim_includes) -MMD -MP -c $< -o $@
$(O)/obj/shim/%.o: %.S
	$(say) SHIM $<
	$(Q)mkdir -p $(@D) && $(CC) $(base_flags) $(CFLAGS) $(shim_flags) $(shim_includes) -MMD -MP -c $< -o $@
$(O)/obj/command/%.o: %.c
	$(say) CC $<
	$(Q)mkdir -p $(@D) && $(CC) $(base_flags) $(CFLAGS) $(command_flags) -MMD -MP -c $< -o $@

# What is copied or compared may be none of nothing, which the C library's functions forbid.
ifeq ($(SAN),)
$(filter $(O)/obj/command/core/% $(O)/obj/command/tools/%,$(command_objects)): \
    command_flags += -DWC_WITH_LIBC -fno-delete-null-pointer-checks
endif
$(filter $(O)/obj/shim/shim/%,$(shim_objects)): | nvidia-headers
$(filter $(O)/obj/command/tools/%,$(command_objects)): | $(O)/libraries

# Asked once, and again with other flags.
$(O)/libraries: $(O)/flags
	$(Q)for header in jansson.h uthash.h zlib.h; do \
	    echo "#include <$$header>" | $(CC) $(base_flags) $(CFLAGS) -E -x c - >/dev/null 2>&1 || { \
	        echo "$$header was not found, which the command whichcudnn is built with. Debian, Ubuntu:"; \
	        echo "apt install libjansson-dev uthash-dev zlib1g-dev; Fedora: dnf install"; \
	        echo "jansson-devel uthash-devel zlib-devel;"; \
	        echo "elsewhere: CFLAGS=-I and LDFLAGS=-L with its directories."; exit 1; }; done >&2
	$(Q)touch $@

.PHONY: nvidia-headers
nvidia-headers:
	$(if $(have_headers),,$(error cudnn.h or cuda_runtime_api.h not found; \
	  run `make headers` to fetch them, or set CUDNN_INCLUDE= and CUDA_INCLUDE=))

headers: $(O)/venv/.ready
	$(Q)$(O)/venv/bin/python tests/setup/fetch_headers.py --into $(O)/headers

$(O)/gen/cudnn_%.inc: core/data/generate_%.py core/data/cudnn_%.tsv
	$(say) GEN $@
	$(Q)mkdir -p $(@D) && $(PYTHON) $^ > $@.new && mv $@.new $@

$(O)/gen/findings_pages.inc: tools/report/explain/generate_pages.py docs/findings.md
$(O)/gen/report_page.inc: tools/report/generate_html.py $(addprefix tools/report/html/page.,html css js)
$(pages):
	$(say) GEN $@
	$(Q)mkdir -p $(@D) && $(PYTHON) $^ > $@.new && mv $@.new $@

# The one file that knows where the shim is installed; `make install PREFIX=` makes it alone anew.
$(O)/obj/command/tools/observe/preload.o: base_flags += -DWHICHCUDNN_LIBDIR='"$(LIBDIR)"'
$(O)/obj/command/tools/observe/preload.o: $(O)/libdir
$(O)/libdir: FORCE
	@mkdir -p $(@D); echo '$(LIBDIR)' | cmp -s - $@ || echo '$(LIBDIR)' > $@

# Which sources these are, for --version.
COMMIT ?= $(shell git -C $(CURDIR) describe --always --abbrev=12 --exclude='*' --dirty 2>/dev/null)
$(O)/obj/command/tools/main.o: base_flags += -DWHICHCUDNN_COMMIT='"$(COMMIT)"'
$(O)/obj/command/tools/main.o: $(O)/commit
$(O)/commit: FORCE
	@mkdir -p $(@D); echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@

# Objects are made anew when the compiler or its flags change: SAN=, COVERAGE=, OPT=, CC=.
flags_now := $(CC) $(subst ',,$(subst ",,$(base_flags) $(CFLAGS) $(shim_flags) $(command_flags) $(LDFLAGS) $(shim_includes)))
$(O)/flags: FORCE
	@mkdir -p $(@D); echo '$(flags_now)' | cmp -s - $@ || echo '$(flags_now)' > $@

# ---- tests ------------------------------------------------------------------------------------

# Test programs link archives, so each takes only the objects that it uses. The shim's C files are
# compiled once more, as ordinary code that sanitizers can instrument; -lc stands before that archive
# on the command line, so mem* and dl* are libc's.
check_objects := $(call objects,check,$(shim_sources))
unit_programs := $(patsubst tests/unit/%.c,$(O)/unit/%,$(unit_sources))
archives := $(O)/libcommand.a $(O)/libcheck.a

$(O)/obj/check/%.o: %.c | nvidia-headers
	$(say) CC $<
	$(Q)mkdir -p $(@D) && $(CC) $(base_flags) $(CFLAGS) $(command_flags) $(shim_includes) -MMD -MP -c $< -o $@
$(O)/obj/check/%.o: %.S
	$(Q)mkdir -p $(@D) && $(CC) $(base_flags) $(CFLAGS) $(command_flags) $(shim_includes) -MMD -MP -c $< -o $@
$(O)/libcommand.a: $(command_objects)
$(O)/libcheck.a: $(check_objects)
$(archives):
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcsP $@ $^
$(O)/unit/%: $(O)/obj/command/tests/unit/%.o $(archives)
	$(say) LINK $@
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) $(command_link) -Wl,--export-dynamic-symbol=whichcudnn_walk \
	    -o $@ $< $(O)/libcommand.a -lcmocka \
	    $(command_libraries) -ldl -lc $(O)/libcheck.a $(O)/libcommand.a
.PRECIOUS: $(O)/obj/command/tests/unit/%.o

every_object := $(shim_objects) $(command_objects) $(check_objects) \
                $(call objects,command,$(unit_sources))
$(every_object): $(O)/flags | $(generated)
$(O)/obj/command/tools/report/explain/explain.o $(O)/obj/command/tools/report/render_html.o: | $(pages)
-include $(every_object:.o=.d)

# What every test finds in its environment. RELEASE= adds a release of cuDNN to the real ones; the
# build's own settings are there for tests that call make, which is none of this one's jobs.
test_env = WC_ROOT='$(CURDIR)' WC_BUILD='$(abspath $(O))' WC_CACHE='$(abspath $(CACHE))' \
           WC_PYTHON='$(abspath $(O)/venv/bin/python)' WC_RELEASE='$(RELEASE)' CC='$(CC)' \
           SAN='$(SAN)' COVERAGE='$(COVERAGE)' OPT='$(OPT)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' \
           WC_DRAW='$(if $(filter small,$(PART)),$(DRAW))' \
           CUDNN_INCLUDE='$(CUDNN_INCLUDE)' CUDA_INCLUDE='$(CUDA_INCLUDE)' \
           MAKEFLAGS= MFLAGS= MAKELEVEL=
tap = $(O)/tap

# These targets, unlike plain `make`, install packages and use the network where something is missing.
prepare = +$(Q)tests/setup/install build $(1) && \
          $(MAKE) -s $(O)/venv/.ready $(if $(have_headers),,headers)

# Each suite writes TAP files; `summary` adds them up and fails if anything failed or nothing ran. JOBS
# of them run side by side, each as whole output; long ones begin first.
JOBS ?= $(shell nproc)
# What is too long for `make test` is drawn by the commit: some tests, and one slice of one long suite.
DRAW ?= $(shell tests/setup/drawn)
test:
	$(Q)rm -rf $(tap)
	$(call prepare,test neutral faults fuzz dist)
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) all
	$(Q)draw=$(DRAW); $(MAKE) --no-print-directory -k -j$(JOBS) -Otarget PART=small DRAW=$$draw \
	    run-slice run-cases run-agreement run-neutral run-faults run-fuzz run-real run-e2e run-unit; \
	    echo "drawn by this commit, and again by: make test DRAW=$$draw"; tests/setup/summary $(tap)/*.tap

suite = +$(Q)rm -f $(tap)/$(1)*.tap; $(MAKE) --no-print-directory -k -j$(JOBS) -Otarget run-$(1); \
        tests/setup/summary $(tap)/$(1)*.tap
test-unit:     ; $(call suite,unit)
test-e2e:      ; $(call suite,e2e)
test-real:     ; $(call suite,real)

# A whole run of a long suite writes its line into tests/results.md; with other settings it is a slice.
settings = $(PART) $(FUZZ_SECONDS) $(MUTANTS) $(LOGS) $(DIST_ARCHES) $(CC) $(OPT) $(MEASURED)$(SEED)$(SAN)$(COVERAGE)
begin    = begun=$$(tests/setup/result begin)
result   = $(if $(subst all 600 240 10000 x86_64 aarch64 gcc -O2 ,,$(settings)),true,tests/setup/result $(1) "$$begun" $(tap)/$(1)*.tap)
test-measured: ; +$(Q)$(begin); rm -f $(tap)/measured*.tap; $(MAKE) --no-print-directory run-measured; \
	$(call result,measured); tests/setup/summary $(tap)/measured*.tap

# The field, re-created: case, first finding, verdict. SEED= draws what that seed draws. confusion puts
# what was expected and what was told into tests/cases/confusion.md.
SEED ?=
test-cases:
	+$(Q)rm -f $(tap)/cases*.tap $(tap)/agreement*.tap; \
	    $(MAKE) --no-print-directory -k run-cases run-agreement; \
	    tests/setup/summary $(tap)/cases*.tap $(tap)/agreement*.tap
# Of each of them: do its log, the process itself and a scan of its files say the same?
test-agreement: ; $(call suite,agreement)
confusion:
	+$(Q)$(MAKE) --no-print-directory run-cases SEED=$(or $(SEED),1) CASES='--write tests/cases/confusion.md'

# Faults drawn, not listed: WORLDS=300 for each seed, in kinds that the findings' rules know and in kinds that
# they do not. test-repairs plays each fix that is printed, too. WORLDS_KEEP=DIRECTORY keeps each failure.
WORLDS       ?= 300
WORLDS_SEEDS ?= 1 2 3 4 5
worlds = +$(Q)$(MAKE) --no-print-directory all $(O)/venv/.ready && failed=0; for seed in $(WORLDS_SEEDS); do \
    $(test_env) nice $(O)/venv/bin/python tests/worlds/run --seed $$seed --worlds $(WORLDS) --jobs $(JOBS) \
        $(if $(WORLDS_KEEP),--keep '$(WORLDS_KEEP)') $(1) || failed=1; done; [ $$failed -eq 0 ]
test-worlds:  ; $(call worlds,--kinds all)
test-repairs: ; $(call worlds,--kinds all --fixes)

# Heavy proofs. `make test` runs a representative part of the first three (PART=small), and these alone
# the whole; neutral and faults end with a table case x variant.
PART         ?= all
FUZZ_SECONDS ?= $(if $(filter small,$(PART)),5,600)
MUTANTS      ?= 240
test-neutral test-faults test-sanitizers fuzz mutants coverage:
	$(call prepare,test $(patsubst test-%,%,$@))
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(begin); rm -f $(tap)/$(patsubst test-%,%,$@)*.tap; \
	    $(MAKE) --no-print-directory run-$(patsubst test-%,%,$@); \
	    $(if $(filter test-%,$@),tests/setup/table $(tap)/$(patsubst test-%,%,$@)-*.tap;) \
	    $(call result,$(patsubst test-%,%,$@)); \
	    tests/setup/summary $(tap)/$(patsubst test-%,%,$@)*.tap
# What examples/ say, where they say it: containers, Slurm, Ray, ... Needs root.
test-places:
	$(call prepare,test dist places)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(begin); rm -f $(tap)/places*.tap; $(MAKE) --no-print-directory run-places; \
	    $(call result,places); tests/setup/summary $(tap)/places*.tap
# Real frameworks on a GPU of NVIDIA's: GPU_PYTHON has PyTorch and JAX for it, and a copy of cuDNN is in the system, too.
GPU_PYTHON ?= python3
test-gpu: all
	$(Q)mkdir -p $(O)/gpu $(tap)
	$(Q)$(GPU_PYTHON) tests/gpu/run $(O)/whichcudnn $(O)/gpu | tee $(tap)/gpu.tap; tests/setup/summary $(tap)/gpu.tap
# examples/fleet over LOGS drawn ones, by DuckDB and by Spark with two workers: the same rows, their times into
# docs/fleet.md. Fetches PySpark, 450 MB.
LOGS ?= 10000
fleet:
	$(call prepare,test fleet)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(begin); rm -f $(tap)/fleet*.tap; $(MAKE) --no-print-directory run-fleet && tests/fleet/times '$(O)/fleet' docs/fleet.md; \
	    $(call result,fleet); tests/setup/summary $(tap)/fleet*.tap
test-all: test
	$(Q)failed=0; for t in test-measured test-places fleet test-cases test-neutral test-faults test-sanitizers fuzz mutants coverage; do \
	    $(MAKE) --no-print-directory $$t || failed=1; done; \
	    tests/setup/summary $(tap)/*.tap && [ $$failed -eq 0 ]

.PHONY: unit-programs run-unit run-e2e run-real run-measured run-cases run-agreement run-neutral \
        run-faults \
        run-slice run-sanitizers run-fuzz run-mutants run-coverage run-places run-fleet fleet
run-cases: all $(O)/venv/.ready
	$(Q)$(test_env) $(O)/venv/bin/python tests/cases/run $(tap)/cases --part $(PART) \
	    $(if $(SEED),--seed $(SEED)) $(CASES); \
	    status=$$?; $(if $(filter small,$(PART))$(CASES),exit $$status; )$(test_env) WC_SETUPS=500 \
	    tests/setup/run-bats $(tap)/cases tests/e2e/search_oracle.bats && exit $$status
run-agreement: all $(O)/venv/.ready
	$(Q)$(test_env) $(O)/venv/bin/python tests/cases/run $(tap)/agreement --agreement \
	    --part $(PART) $(if $(SEED),--seed $(SEED)) $(CASES)
run-fleet: all $(O)/venv/.ready
	$(Q)tests/setup/venv $(O)/venv-fleet requirements.fleet.txt && \
	    $(test_env) WC_SPARK='$(abspath $(O)/venv-fleet/bin/python)' WC_LOGS='$(LOGS)' tests/setup/run-bats $(tap)/fleet tests/fleet/whole.bats
run-neutral: all $(O)/venv/.ready
	$(Q)$(test_env) $(O)/venv/bin/python tests/neutrality/run $(tap)/neutral --part $(PART); \
	    status=$$?; $(if $(filter small,$(PART)),exit $$status; )$(test_env) WC_STRESS=1800 \
	    tests/setup/run-bats $(tap)/neutral $(wildcard tests/neutrality/*.bats) && exit $$status
run-faults: all $(O)/venv/.ready
	$(Q)$(test_env) tests/faults/run $(tap)/faults $(PART)
run-sanitizers: | nvidia-headers
	$(Q)$(test_env) tests/sanitizers/run $(tap)/sanitizers
run-fuzz: all
	$(Q)$(test_env) tests/fuzz/run $(tap)/fuzz $(FUZZ_SECONDS)
run-mutants: all $(O)/venv/.ready
	$(Q)$(test_env) $(O)/venv/bin/python tests/mutants/run $(tap)/mutants --count $(MUTANTS)
run-coverage: all $(O)/venv/.ready
	$(Q)$(test_env) tests/coverage/run $(tap)/coverage
run-places: all $(O)/venv/.ready
	$(Q)tests/setup/venv $(O)/venv-places requirements.places.txt && \
	    $(test_env) WC_PLACES='$(abspath $(O)/venv-places/bin)' tests/setup/run-bats $(tap)/places $(wildcard tests/places/*.bats)
unit-programs: $(unit_programs)
run-unit: $(O)/venv/.ready
	$(Q)$(MAKE) --no-print-directory -k unit-programs; \
	    $(test_env) tests/setup/run-unit $(tap) $$? $(unit_programs)
# One target a file of bats, so that they can run side by side: run-e2e/report.
e2e_files := $(filter-out tests/real/% tests/measured/% tests/faults/% tests/places/% \
               tests/neutrality/userlands.bats tests/neutrality/forks.bats tests/neutrality/aarch64.bats \
               tests/neutrality/real_programs.bats tests/release/% tests/fleet/whole.bats,$(wildcard tests/*/*.bats))
e2e_names := $(sort $(basename $(notdir $(e2e_files))))
# What takes longest begins first: nothing waits for it alone at the end.
e2e_first := worlds loader search_oracle page
e2e_runs  := $(addprefix run-e2e/,$(e2e_first) $(filter-out $(e2e_first),$(e2e_names)))
.PHONY: $(e2e_runs)
# A slice of one long suite, drawn by the commit.
run-slice: all $(O)/venv/.ready
	$(Q)$(test_env) tests/setup/slice $(tap)/slice
run-e2e: $(e2e_runs)
$(e2e_runs): run-e2e/%: all $(O)/venv/.ready
	$(Q)$(test_env) tests/setup/run-bats $(tap)/e2e $(filter %/$*.bats,$(e2e_files))
# One behind the other: they share what make demo leaves.
run-real: all $(O)/venv/.ready
	$(Q)$(test_env) tests/setup/run-bats $(tap)/real $(wildcard tests/real/*.bats)
# MEASURED=small leaves out the whole frameworks; what is left is in run-real, too.
run-measured: all $(O)/venv/.ready
	$(Q)$(test_env) tests/setup/run-bats $(tap)/measured tests/real/measured.bats \
	    $(if $(filter small,$(MEASURED)),,$(wildcard tests/measured/*.bats))

$(O)/venv/.ready: tests/setup/venv tests/setup/requirements.txt
	$(Q)tests/setup/venv $(O)/venv

# ---- lint -------------------------------------------------------------------------------------

c_files   := $(sort $(shell find core shim tools include tests examples -name '*.[ch]'))
tidied    := $(patsubst %,$(O)/tidy/%.ok,$(core_sources) $(tools_sources) $(filter %.c,$(shim_sources)))

# How many states of a function clang's analyzer follows: by default 225,000, for eight times as long.
TIDY_STATES ?= 20000
tidy_options := $(addprefix --extra-arg=,-Xclang -analyzer-config -Xclang max-nodes=$(TIDY_STATES))
lint:
	$(call prepare,lint)
	$(Q)rm -f $(tap)/lint.tap; $(MAKE) --no-print-directory -k -j$(JOBS) run-tidy; tidy=$$?; \
	    $(MAKE) --no-print-directory circles; circles=$$?; \
    $(test_env) tests/setup/lint $(tap)/lint.tap $$tidy $$circles $(c_files); tests/setup/summary $(tap)/lint.tap

# Files that need one another in a circle, in either product.
.PHONY: circles run-tidy
circles: $(shim_objects) $(command_objects)
	$(Q)tests/setup/circles $(shim_objects); shim=$$?; \
	    tests/setup/circles $(command_objects) && [ $$shim -eq 0 ]
# gcc accepts initializers in unit programs that clang refuses; only the sanitizers build these with clang.
run-tidy: $(tidied)
	$(Q)clang -fsyntax-only $(base_flags) $(unit_sources)
$(O)/tidy/%.c.ok: %.c .clang-tidy $(wildcard include/whichcudnn/* core/*/*.h tools/*/*.h tools/*/*/*.h) | $(generated) $(pages) nvidia-headers
	$(say) TIDY $<
	$(Q)mkdir -p $(@D) && clang-tidy --quiet $(tidy_options) $< -- $(base_flags) \
	    $(if $(filter tools/%,$<),$(command_flags),$(shim_includes)) 2>$@.log || \
	    { cat $@.log >&2; exit 1; }; touch $@

# ---- demo, bench, install, clean ----------------------------------------------------------------

# The two-line demonstration on a real framework: make demo CUDNN=9.1.0 FRAMEWORK=jax
CUDNN     ?= 9.1.0
FRAMEWORK ?= jax
demo:
	$(call prepare,demo)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(test_env) CUDNN='$(CUDNN)' FRAMEWORK='$(FRAMEWORK)' examples/demo.sh

# Three real environments, each from its first error to repaired.
tour:
	+$(Q)$(MAKE) --no-print-directory all
	$(Q)$(test_env) tests/setup/tour write
readme:
	$(call prepare,demo readme)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(test_env) tests/setup/readme write

# The table in README.md: what it says beside other tools, of JAX broken in four ways.
compare:
	$(call prepare,demo compare)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(test_env) WHICHCUDNN='$(abspath $(O))/whichcudnn' $(O)/venv/bin/python tests/compare/compare.py write

# tests/measured/frameworks.md: real frameworks, healthy and broken in five ways. ROW='torch 2.5.1' plays that one alone.
frameworks:
	$(call prepare,demo)
	$(Q)$(MAKE) --no-print-directory all $(O)/venv/.ready
	$(Q)$(test_env) $(O)/venv/bin/python tests/measured/matrix.py write $(if $(ROW),'$(ROW)')

# docs/matrix.md: which cuDNN fits which release of a framework, computed from their wheels. PLAY=torch==2.13.0 shows
# its cells, WHEEL=nvidia-cudnn-cu13==9.20.0.48 besides what a scan says of them.
matrix:
	$(call prepare,)
	$(Q)$(MAKE) --no-print-directory all $(O)/venv/.ready
	$(Q)$(test_env) $(O)/venv/bin/python tests/matrix/matrix.py --cache '$(abspath $(CACHE))' --jobs '$(JOBS)' \
	    $(if $(PLAY),play '$(PLAY)' $(if $(WHEEL),'$(WHEEL)'),write)

bench:
	$(call prepare,demo bench)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(test_env) tests/bench/run

# The tables of core/, brought up to what the package index has: read by range, shown, written.
SINCE ?=
LIMIT ?= 8
refresh:
	$(call prepare,)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(test_env) $(O)/venv/bin/python tests/refresh/refresh.py --cache '$(abspath $(CACHE))' --limit '$(LIMIT)' \
	    $(if $(SINCE),--since '$(SINCE)') $(if $(filter 0,$(WRITE)),--dry-run)

# docs/log.md, the JSON Schemas and examples/fleet hold what record.def says; a test fails where they do not.
schema:
	$(Q)$(PYTHON) tests/schema/generate.py write
	$(Q)$(PYTHON) tests/fleet/columns.py write

# The man pages say what --help and docs/ say, by way of pandoc. PANDOC= : without them.
PANDOC ?= $(shell command -v pandoc 2>/dev/null)
man: $(O)/man/.made
$(O)/man/.made: $(O)/whichcudnn tools/man/generate_man.py tools/man/man.lua README.md $(wildcard docs/*.md)
	$(if $(PANDOC),,$(error pandoc is not there: it makes the man pages))
	$(say) MAN $(@D)
	$(Q)rm -rf $(@D) && $(PYTHON) tools/man/generate_man.py $(@D) $< && touch $@

include packaging/dist.mk

# By rename: a process that has the old library mapped keeps the old file, whole.
put = install -d '$(DESTDIR)$(3)' && install -m $(1) $(2) '$(DESTDIR)$(3)/.$(notdir $(2)).new' && \
      mv -f '$(DESTDIR)$(3)/.$(notdir $(2)).new' '$(DESTDIR)$(3)/$(or $(4),$(notdir $(2)))'
install: all $(if $(PANDOC),man)
	$(say) INSTALL '$(DESTDIR)$(PREFIX)'
	$(Q)$(call put,0644,$(O)/libwhichcudnn.so,$(LIBDIR))
	$(Q)$(call put,0755,$(O)/whichcudnn,$(BINDIR))
	$(Q)$(call put,0644,completions/whichcudnn.bash,$(DATADIR)/bash-completion/completions,whichcudnn)
	$(Q)$(if $(PANDOC),$(foreach m,$(shell ls $(O)/man/*.[1-8]),\
	    $(call put,0644,$(m),$(DATADIR)/man/man$(subst .,,$(suffix $(m)))) &&) true,\
	    echo 'man pages are left out: pandoc is not there' >&2)

clean:
	rm -rf $(O)/obj $(O)/gen $(O)/unit $(O)/tap $(O)/tidy $(O)/man $(O)/flags $(O)/libraries $(O)/libdir $(O)/commit $(O)/*.a \
	    $(O)/libwhichcudnn.so $(O)/whichcudnn
distclean:
	rm -rf $(O)

help:
	@echo 'make             build $(O)/libwhichcudnn.so and $(O)/whichcudnn'
	@echo 'make test        unit, e2e and real tests; installs what they need; last line: N passed, N failed'
	@echo '                 RELEASE=9.x.y.z adds a release of cuDNN to the real ones; DRAW=N has the parts that N draws'
	@echo 'make unit-programs  builds $(O)/unit/test_*; run the one that you need'
	@echo 'make run-e2e/report  one file of tests/e2e alone, here report.bats'
	@echo 'make test-unit   test programs of tests/unit alone; likewise test-e2e, test-real,'
	@echo '                 and test-measured (whole frameworks, 30 GB; MEASURED=small without them)'
	@echo 'make test-cases  failures of the field re-created, told, repaired; SEED=N draws them the same again'
	@echo 'make test-agreement  of each of those: do log, inspect and scan say the same?'
	@echo 'make test-worlds  faults drawn: WORLDS=300 worlds with one planted each, for each of WORLDS_SEEDS="1 2 3 4 5"'
	@echo 'make test-repairs  the same, and each fix that is printed is played'
	@echo 'make test-neutral  bare beside shimmed: cases x variants, in all; `make test` has a part of it'
	@echo 'make test-faults   full disks, closed descriptors, forks, storms, seccomp, 64 threads for a minute'
	@echo 'make test-sanitizers  core/ and the inner shim under ASan, UBSan, TSan and MSan'
	@echo 'make fleet       examples/fleet over LOGS=10000 drawn logs by DuckDB and Spark; times into docs/fleet.md'
	@echo 'make test-gpu  real frameworks on a GPU, healthy and broken, and each repair typed (GPU_PYTHON=python3)'
	@echo 'make test-places  examples/ where they belong: containers, Slurm, Ray, Dask, Jupyter, ... (as root)'
	@echo 'make fuzz        libFuzzer over readers of hostile input, FUZZ_SECONDS=600 each; damaged libraries'
	@echo 'make mutants     does the suite notice MUTANTS=240 changes of shim/ and core/?'
	@echo 'make coverage    lines and branches of shim/ and core/ that the tests reach'
	@echo 'make test-all    all of these'
	@echo 'make lint        clang-format, clang-tidy, no circle of files, shellcheck, python syntax'
	@echo 'make demo        watch a real framework get the wrong cuDNN (CUDNN=9.1.0 FRAMEWORK=jax|torch)'
	@echo 'make bench       what it costs, beside LD_DEBUG and LD_AUDIT: $(O)/bench/results.txt'
	@echo 'make tour        docs/tour.md, out of repairs of PyTorch and JAX (fetches up to 6 GB)'
	@echo 'make readme      the first lines and the picture in README.md, out of a run of make demo'
	@echo 'make compare     the comparison with other tools in README.md, measured'
	@echo 'make frameworks  tests/measured/frameworks.md, out of real frameworks, healthy and broken in five ways (20 GB)'
	@echo 'make matrix      docs/matrix.md: each wheel of cuDNN with each release of a framework, computed (PLAY=torch==2.13.0)'
	@echo 'make confusion   what cases expect against what is reported, into tests/cases/confusion.md'
	@echo 'make refresh     what the package index has that the tables lack: shown and written (WRITE=0: shown);'
	@echo '                 SINCE=9.20 reads all from that release on anew, LIMIT=8 MB is the largest library read'
	@echo 'make schema      docs/log.md and docs/*.schema.json, made anew from record.def'
	@echo 'make headers     fetch NVIDIA headers into $(O)/headers where no CUDA toolkit is installed'
	@echo 'make man         man pages into $(O)/man, if pandoc is there; install puts them, too (PANDOC=: not)'
	@echo 'make install     PREFIX=$(PREFIX) DESTDIR= LIBDIR= BINDIR='
	@echo 'make dist        wheel, deb, rpm and tarball for DIST_ARCHES="x86_64 aarch64", into DIST=$(O)/dist'
	@echo 'make release-check  builds them twice, compares, installs each in clean userlands'
	@echo 'make clean       what was built; distclean: the fetched files too'
	@echo
	@echo 'Settings: V=1  O=dir  CC=gcc|clang  OPT=-O2  SAN=address|undefined|thread  COVERAGE=1'
	@echo '          CUDA_INCLUDE=dir  CUDNN_INCLUDE=dir  CACHE=dir (fetched cuDNN files)  JOBS=2 (suites at once)'

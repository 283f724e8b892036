# SPDX-License-Identifier: Apache-2.0
# What is given to people: packaging/dist makes it of portable builds, one for each architecture.

DIST        ?= $(O)/dist
DIST_ARCHES ?= x86_64 aarch64
# Files carry the date of the commit, not of the build.
SOURCE_DATE_EPOCH ?= $(or $(shell git -C $(CURDIR) log -1 --format=%ct 2>/dev/null),0)

# This machine's architecture has its libraries here; the other one's are unpacked into a folder.
dist_cc   = $(1)-linux-gnu-gcc
dist_root = $(if $(filter $(1),$(ARCH)),,$$(WC_CACHE='$(abspath $(CACHE))' tests/setup/userland-$(1) \
              libjansson-dev zlib1g-dev))

.PHONY: dist release-check tables-are-young $(addprefix dist-,x86_64 aarch64)
dist:
	$(call prepare,dist $(if $(filter-out $(ARCH),$(DIST_ARCHES)),dist-cross))
	$(Q)mkdir -p '$(DIST)' && cd '$(DIST)' && rm -f whichcudnn[-_]* SHA256SUMS
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) $(addprefix dist-,$(DIST_ARCHES))
	$(Q)cd '$(DIST)' && sha256sum whichcudnn[-_]* > SHA256SUMS && ls -l

$(addprefix dist-,x86_64 aarch64): dist-%: $(O)/venv/.ready man
	+$(Q)root=$(call dist_root,$*) && $(MAKE) --no-print-directory PORTABLE=1 PORTABLE_ROOT="$$root" \
	    O='$(O)/portable-$*' CC='$(call dist_cc,$*)' COMMIT='$(COMMIT)' \
	    OPT=-O2 CFLAGS= LDFLAGS= SAN= COVERAGE= CUDNN_INCLUDE='$(abspath $(CUDNN_INCLUDE))' CUDA_INCLUDE='$(abspath $(CUDA_INCLUDE))' all && \
	CC='$(call dist_cc,$*)' VERSION='$(VERSION)' SOURCE_DATE_EPOCH='$(SOURCE_DATE_EPOCH)' MAN='$(abspath $(O)/man)' \
	    HEADERS="$${root:+-isystem $$root/usr/include -isystem $$root/usr/include/$*-linux-gnu}" \
	    PACK='$(abspath $(O)/venv/bin)' packaging/dist $* '$(O)/portable-$*' '$(DIST)'

tables-are-young: ; $(Q)$(PYTHON) tests/release/age

# In clean userlands of other releases, which it fetches; built a second time, elsewhere.
release-check: tables-are-young dist
	$(call prepare,test neutral release)
	$(Q)$(begin); rm -f $(tap)/release*.tap; $(test_env) DIST='$(abspath $(DIST))' WC_COMMIT='$(COMMIT)' \
	    WC_DATE='$(SOURCE_DATE_EPOCH)' tests/setup/run-bats $(tap)/release $(wildcard tests/release/*.bats); \
	    $(call result,release); tests/setup/summary $(tap)/release*.tap

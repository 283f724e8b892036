# SPDX-License-Identifier: Apache-2.0
# PORTABLE=1: the command of a release. It needs glibc 2.17 and nothing else, whatever this machine has
# (packaging/floor), and holds no path of the machine that built it.
# PORTABLE_ROOT: where the headers and static libraries of another architecture lie, unpacked.

PORTABLE_ROOT ?=
portable_libc    := $(shell $(CC) -print-file-name=libc.so.6)
portable_sources := packaging/floor/old_libc.c packaging/floor/sums.c
portable_needs   := $(O)/floor/libc.so
loader_of := $(wildcard $(dir $(portable_libc))ld-linux-aarch64.so.1)

# The last that fits wins.
base_flags += -ffile-prefix-map=$(CURDIR)=. $(if $(PORTABLE_ROOT),-ffile-prefix-map=$(PORTABLE_ROOT)=root) \
              $(if $(CUDNN_INCLUDE),-ffile-prefix-map=$(abspath $(CUDNN_INCLUDE))=headers) \
              $(if $(CUDA_INCLUDE),-ffile-prefix-map=$(abspath $(CUDA_INCLUDE))=headers) \
              -ffile-prefix-map=$(abspath $(O))=build -ffile-prefix-map=$(O)=build
command_flags := -fPIE -ffunction-sections -fdata-sections
command_link  := -pie -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -L$(O)/floor
command_libraries := -Wl,-Bstatic $(command_libraries) -Wl,-Bdynamic $(if $(loader_of),-Wl$(comma)--as-needed $(loader_of))
ifneq ($(PORTABLE_ROOT),)
command_flags += -isystem $(PORTABLE_ROOT)/usr/include -isystem $(PORTABLE_ROOT)/usr/include/$(ARCH)-linux-gnu
command_link  += -L$(PORTABLE_ROOT)/usr/lib/$(ARCH)-linux-gnu
endif

$(O)/floor/libc.so: packaging/floor/make_stubs.py $(portable_libc)
	$(say) FLOOR $(@D)
	$(Q)$(PYTHON) $< '$(CC)' $(portable_libc) $(@D)

# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets: make -f tests/fuzz/build.mk OUT=build/fuzz GEN=build/gen. libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer come with clang, and so does the coverage of lines.
OUT   ?= build/fuzz
GEN   ?= build/gen
FUZZ_CC ?= clang

targets := $(shell sed -n 's/^\([a-z_]*\)  .*/\1/p' tests/fuzz/targets)
programs := $(addprefix $(OUT)/,$(targets))
ARCH := $(firstword $(subst -, ,$(shell $(FUZZ_CC) -dumpmachine)))
sources := $(sort $(shell find core tools -name '*.c' -not -path 'core/data/*')) shim/slots.c shim/rewrite.c
objects := $(patsubst %.c,$(OUT)/obj/%.o,$(sources))

flags := -std=gnu11 -g -O1 -Wall -Wextra -Werror -D_GNU_SOURCE= -Iinclude -I. -I$(GEN) -Ishim/arch/$(ARCH) \
         -DWHICHCUDNN_VERSION='"fuzz"' -DWHICHCUDNN_LIBDIR='"/"' -fno-omit-frame-pointer \
         -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
         -fprofile-instr-generate -fcoverage-mapping
link := -fsanitize=fuzzer,address,undefined -fprofile-instr-generate

all: $(programs)
$(OUT)/obj/%.o: %.c tests/fuzz/build.mk
	@mkdir -p $(@D) && $(FUZZ_CC) $(flags) -MMD -MP -c $< -o $@
$(OUT)/libfuzz.a: $(objects)
	@rm -f $@ && $(AR) rcsP $@ $(filter-out %/tools/main.o,$^)
$(OUT)/%: $(OUT)/obj/tests/fuzz/%.o $(OUT)/libfuzz.a
	@$(FUZZ_CC) $(link) -o $@ $^ -ljansson -lz
# A target with one source that was edited: PLANTED=core/x.c, whose edited copy is OUT/planted/TARGET.c.
$(OUT)/planted/%: $(OUT)/planted/%.c $(OUT)/obj/tests/fuzz/%.o $(OUT)/libfuzz.a
	@$(FUZZ_CC) $(flags) -I$(dir $(PLANTED)) -c $< -o $@.o
	@$(FUZZ_CC) $(link) -o $@ $(OUT)/obj/tests/fuzz/$*.o $@.o $(OUT)/libfuzz.a -ljansson -lz
.SECONDARY:
-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)

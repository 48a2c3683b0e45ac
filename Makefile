# SPDX-License-Identifier: MIT
# ringup: one Makefile, out of tree, lists generated from file names.
#   SAN=1     ASan + UBSan, in its own folder     CC=clang   another compiler
#   V=1       show the commands                   O=DIR      another build folder

MAKEFLAGS += --no-builtin-rules
# As many compilers at once as there are processors; a -j of the caller's counts instead.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
.DEFAULT_GOAL := all
CC := gcc
MPICC ?= mpicc
SHELL := /bin/bash
PREFIX ?= /usr/local
O ?= build$(if $(SAN),-san)
Q := $(if $(V),,@)

MODULES := lib builder registry-client deployer upstream cli
SRCS := $(sort $(shell find $(MODULES) -name '*.c'))
OBJS := $(SRCS:%.c=$(O)/%.o)
LIB_OBJS := $(filter-out $(O)/cli/%,$(OBJS))
MPI_PLUGIN := images/worker/backend/mpi/plugin.c
WORKER_SRCS := $(filter-out $(MPI_PLUGIN) images/worker/job/%,$(sort $(shell find images/worker -name '*.c')))
WORKER_OBJS := $(WORKER_SRCS:%.c=$(O)/%.o)
SIMULATED := $(patsubst images/simulated/%.c,$(O)/simulated-%.so,$(wildcard images/simulated/*.c))
JOB_OBJS := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard images/worker/job/*.c)))
# X(cpu)X(mpi)...: each file backend_NAME.c of the worker is a backend; build.sh makes the same list.
WORKER_BACKENDS := -DWORKER_BACKENDS=$(shell find images/worker -name 'backend_*.c' | sed 's,.*/backend_\(.*\)\.c$$,X(\1),' | sort | tr -d '\n')
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/%,$(sort $(wildcard tests/unit/*/test_*.c)))
LISTS := $(O)/gen/cmd.list $(O)/gen/engine.list $(O)/gen/launcher.list $(O)/gen/backend.list $(O)/gen/export.list

# libcurl and libarchive are not linked: lib/core/late.h loads each at its first use
PKGS := libcjson libssh2 openssl yaml-0.1 libisal libzstd expat
WARN := -Wall -Wextra -Werror -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith \
	-Wwrite-strings -Wvla
SANFLAGS := $(if $(SAN),-fsanitize=address -fsanitize=undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARN) $(CFLAGS) $(SANFLAGS) -pthread -I. -Ilib -I$(O)/gen \
	$(if $(SAN),,-D_FORTIFY_SOURCE=2) -fstack-protector-strong
WORKER_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARN) -O3 -g $(SANFLAGS) -pthread -Iimages/worker
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS) libcurl libarchive 2>/dev/null)
PKG_LIBS = $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lresolv
LDFLAGS_ALL = $(SANFLAGS) -pthread -Wl,-z,relro,-z,now

.PHONY: all deps demo test test-all test-frameworks test-kubernetes lint format san tsan bench fuzz install uninstall dist clean help FORCE

all: $(O)/.deps ## build ringup and the worker into build/
	$(Q)$(MAKE) --no-print-directory programs

.PHONY: programs
programs: $(O)/ringup $(O)/allreduce $(O)/ringup-job $(O)/ringup-ssh $(SIMULATED) $(if $(shell command -v $(MPICC)),$(O)/allreduce-mpi.so)

# What a fresh Debian 12 machine lacks is installed once; the stamp is redone when the list changes.
deps: $(O)/.deps ## install the missing Debian packages
$(O)/.deps: .ci/deps.sh .ci/tools.sh .ci/tools.txt
	$(Q)mkdir -p $(O)
	$(Q).ci/deps.sh
	$(Q).ci/tools.sh $(O)/tools
	$(Q)touch $@

$(O)/ringup: $(OBJS)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(PKG_LIBS) -lm

$(O)/allreduce: $(WORKER_OBJS)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ -ldl -lm

# Without a loader, so that it runs in images with an older C library.
$(O)/ringup-job: $(JOB_OBJS)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) $(if $(SAN),,-static) -o $@ $^

# A folder: OpenSSH for images that have none, and what the worker needs where the image's C library is older.
$(O)/ringup-ssh: images/ssh/collect.sh $(wildcard /usr/sbin/sshd /usr/bin/ssh) | $(O)/allreduce
	@echo "  SSH   $@"
	$(Q)sh $< $@ $(O)/allreduce

# What lab hosts with simulated GPUs have for libcuda, libnccl and libnvidia-ml. Never instrumented: any program may load them.
$(O)/simulated-%.so: images/simulated/%.c $(wildcard images/simulated/*.h) $(wildcard images/worker/collective/dtype.[ch] images/worker/health/burn_kernel.[ch] images/worker/backend/nccl/verify_kernel.h images/worker/collective/pattern.h) $(O)/flags
	@echo "  CC    $@"
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -Iimages/worker -DSIMULATED -shared -fPIC -o $@ $< -lm

$(O)/allreduce-mpi.so: $(MPI_PLUGIN) $(MPI_PLUGIN:.c=.h) $(O)/flags
	@echo "  MPICC $@"
	$(Q)OMPI_CC="$(CC)" $(MPICC) $(WORKER_CFLAGS) -fPIC -shared -o $@ $<

$(O)/images/worker/%.o: images/worker/%.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(WORKER_CFLAGS) "$(WORKER_BACKENDS)" -MMD -MP -c -o $@ $<

$(O)/%.o: %.c $(O)/flags | $(LISTS)
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

# Objects depend on the flags they were made with.
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) $(WORKER_CFLAGS) $(WORKER_BACKENDS)' >$@.$$$$; \
	cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@

.PRECIOUS: $(O)/gen/%.list
# File names -> X(name) lists: a new cmd_x.c, engine_x.c, launcher_x.c, backend_x.c or export_x.c needs no other edit.
$(O)/gen/%.list: FORCE
	@mkdir -p $(@D)
	@find $(MODULES) -name '$*_*.c' | sed 's,.*/$*_\(.*\)\.c$$,X(\1),' | sort >$@.$$$$; \
	cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@

# All but cli/ in one archive, which tests and fuzz targets take what they need from.
$(O)/libringup.a: $(LIB_OBJS)
	@echo "  AR    $@"
	$(Q)rm -f $@ && ar rcs $@ $^

# A test of the worker takes in the worker's sources, which name each other from images/worker.
$(O)/tests/worker/%: TEST_CFLAGS := -Iimages/worker "$(WORKER_BACKENDS)"
# Tests make archives by more of libarchive than the program has, so they are linked to it.
$(O)/tests/%: tests/unit/%.c $(O)/libringup.a $(O)/flags
	@mkdir -p $(@D)
	@echo "  TEST  $<"
	$(Q)$(CC) $(ALL_CFLAGS) $(TEST_CFLAGS) $(PKG_CFLAGS) $(LDFLAGS_ALL) -MMD -MP -o $@ $< $(O)/libringup.a $(PKG_LIBS) -larchive -lcmocka -lm

# What lab tests run beside ringup: a program per source.
LAB_PROGRAMS := $(patsubst tests/lab/%.c,$(O)/tests/lab/%,$(wildcard tests/lab/*.c))
$(O)/tests/lab/%: tests/lab/%.c $(O)/libringup.a $(O)/flags
	@mkdir -p $(@D)
	@echo "  TEST  $<"
	$(Q)$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) $(LDFLAGS_ALL) -MMD -MP -o $@ $< $(O)/libringup.a $(PKG_LIBS) -lm

# Fuzz targets are compiled with the tests, so that they stay true to the headers; 'make fuzz' links and runs them.
FUZZ_OBJS := $(patsubst tests/fuzz/%.c,$(O)/tests/fuzz/%.o,$(wildcard tests/fuzz/*.c))
$(O)/tests/fuzz/%.o: tests/fuzz/%.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CFLAGS) -Iimages/worker $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

.PHONY: unit-tests
unit-tests: $(UNIT_TESTS) $(LAB_PROGRAMS) $(FUZZ_OBJS)

demo: all ## the main job: lab up, up, bench (six verified ranks on three hosts), a small training
	@BUILD="$(O)" .ci/demo.sh

SUITES ?= unit cli lab
test: $(O)/.deps ## the tests of every day: unit, cli and lab (SUITES="unit cli" for some)
	$(Q)$(MAKE) --no-print-directory programs unit-tests
	$(Q)BUILD="$(O)" .ci/test.sh $(SUITES)

test-all: $(O)/.deps ## all tests that need no GPU: those of 'make test', the long ones, and a bad network
	$(Q)$(MAKE) --no-print-directory test SUITES="unit cli lab long fault"

# FRAMEWORKS_CACHE (~/.cache/ringup/frameworks) keeps what was downloaded and built.
test-frameworks: all ## real training with TensorFlow, Horovod and PyTorch on three hosts, with and without containers
	$(Q)BUILD="$(O)" TEST_JOBS=2 TEST_TIMEOUT=3600 .ci/test.sh frameworks

# KUBERNETES_CACHE (~/.cache/ringup/kubernetes) keeps the API server, which is built once from Debian's source.
test-kubernetes: all ## jobs on a real Kubernetes API server, which has stand-ins for its nodes
	$(Q)tests/kubernetes/apiserver.sh >/dev/null
	$(Q)BUILD="$(O)" .ci/test.sh kubernetes

lint: $(O)/.deps ## format, layers, lengths, headers alone, shellcheck, banned calls, catalog, both compilers
	$(Q)$(MAKE) --no-print-directory $(LISTS) $(O)/ringup
	$(Q)BUILD="$(O)" .ci/lint.sh

format: ## rewrite the sources in the house format
	$(Q)git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

.PHONY: print-flags
print-flags:
	@echo '$(ALL_CFLAGS) $(PKG_CFLAGS) $(WORKER_BACKENDS)'

san: $(O)/.deps ## unit and cli tests under ASan and UBSan
	$(Q)$(MAKE) --no-print-directory SAN=1 test SUITES="unit cli"

# The worker alone: threads are its control plane's and the ring's.
tsan: $(O)/.deps ## the worker's tests under TSan
	$(Q)$(MAKE) --no-print-directory SAN=1 SANFLAGS=-fsanitize=thread O=build-tsan build-tsan/allreduce build-tsan/allreduce-mpi.so
	$(Q)TSAN_OPTIONS="halt_on_error=1 exitcode=66 suppressions=$(CURDIR)/tests/tsan.supp" PATH="$(CURDIR)/build-tsan:$$PATH" \
	  BUILD="$(CURDIR)/build-tsan" bats tests/cli/worker.bats tests/cli/worker_collective.bats tests/cli/worker_sgd.bats

# Objects of their own: clang, with coverage for the fuzzer. FUZZ_SECONDS is per target.
FUZZ_SECONDS ?= 20
FUZZ_SAN := -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined
fuzz: $(O)/.deps ## run every fuzz target for FUZZ_SECONDS (20)
	$(Q)$(MAKE) --no-print-directory O=build-fuzz SAN=1 CC=clang \
	  SANFLAGS="-fsanitize=fuzzer-no-link $(FUZZ_SAN)" fuzz-programs
	$(Q)for n in $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c)); do \
	  mkdir -p build-fuzz/corpus/$$n; echo "  FUZZ  $$n"; build-fuzz/fuzz/fuzz_$$n -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -verbosity=0 \
	  build-fuzz/corpus/$$n tests/fuzz/seeds/$$n || exit 1; done

.PHONY: fuzz-programs
fuzz-programs: $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
$(O)/fuzz/%: tests/fuzz/%.c $(O)/libringup.a $(O)/flags
	@mkdir -p $(@D)
	@echo "  FUZZ  $<"
	$(Q)$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) -fsanitize=fuzzer -pthread -MMD -MP -o $@ $< $(O)/libringup.a $(PKG_LIBS) -lm

# Targets of the worker link the worker, not ringup.
$(O)/fuzz/fuzz_worker_%: tests/fuzz/fuzz_worker_%.c $(WORKER_OBJS) $(O)/flags
	@mkdir -p $(@D)
	@echo "  FUZZ  $<"
	$(Q)$(CC) $(ALL_CFLAGS) -Iimages/worker -fsanitize=fuzzer -MMD -MP -o $@ $< $(filter-out %/main.o,$(WORKER_OBJS)) -ldl -lm

bench: all ## measure against the tools a user would pick instead
	$(Q)BUILD="$(O)" bench/run.sh

install: all ## install into PREFIX (default /usr/local); DESTDIR goes before it
	$(Q).ci/install.sh install "$(O)" "$(DESTDIR)$(PREFIX)"

uninstall: ## remove what install put into PREFIX
	$(Q).ci/install.sh uninstall "$(DESTDIR)$(PREFIX)"

DIST ?= .
dist: ## write the sources as ringup-VERSION.tar.gz into DIST (default: here)
	$(Q).ci/dist.sh "$(DIST)"

clean: ## remove what was built (a running lab keeps running: see 'ringup lab down')
	rm -rf build build-san build-fuzz build-tsan

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 16

-include $(OBJS:.o=.d) $(WORKER_OBJS:.o=.d) $(JOB_OBJS:.o=.d) $(UNIT_TESTS:%=%.d) $(LAB_PROGRAMS:%=%.d) $(FUZZ_OBJS:.o=.d)

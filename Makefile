# RDMA Wire Lab. `make help` lists the targets; V=1 shows the commands.
# Variables: WERROR=1 (warnings are errors, as in CI), SANITIZE=1 (ASan + UBSan, under build/asan) or thread (build/tsan), CXX, OPT, TEST_OPT, STEPS,
# PREFIX and DESTDIR, BENCH_PACKETS, BENCH_RUN_PACKETS, SETUP_CONNECTIONS, TRANSFER_REPEATS, FUZZ_SECONDS, HOST, LOSS, DELAY,
# REORDER, and the lab's settings (lab/lab help).

SANITIZE ?= 0
FUZZ     ?= 0
WERROR   ?= 0
# With sanitizers, -O1 takes two and a half times as long to compile as -O0.
OPT      ?= $(if $(filter 1,$(SANITIZE)),-O0 -g1,-O1 -g1)
HOT_OPT  ?= $(if $(filter 1,$(SANITIZE)),-O1 -g1,-O2 -g1)
TEST_OPT ?= -O0 -g1
STEPS    ?= 01 06 07
PREFIX   ?= /usr/local

ifeq ($(FUZZ),1)
BUILD    ?= build/fuzz
CXX      := clang++
SANFLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
            -fsanitize-coverage-ignorelist=tests/fuzz/not_instrumented
else ifeq ($(SANITIZE),1)
BUILD    ?= build/asan
# clang compiles code with sanitizers in half of g++'s time. All other code is compiled as without sanitizers.
PLAIN_CXX := $(CXX)
CXX      := clang++
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CPPFLAGS += -include tests/support/json_layout.hpp
else ifeq ($(SANITIZE),thread)
BUILD    ?= build/tsan
override CXX += -fsanitize=thread  # also for the tests: they share memory with the project's threads
else
BUILD    ?= build
endif
PLAIN_CXX ?= $(CXX)

# g++ 12 wrongly reports members of std::optional (at -O1) and of std::regex (instrumented) as uninitialized. clang does not have
# that warning option, and its -Wshadow compares names across the sources of a unit.
MISTAKEN := $(if $(findstring clang,$(CXX)),-Wno-shadow,-Wno-maybe-uninitialized)
CXXFLAGS += -std=c++20 $(OPT) -Wall -Wextra -Wconversion -Wshadow $(MISTAKEN) $(if $(filter 1,$(WERROR)),-Werror) $(SANFLAGS)
CPPFLAGS += -Isrc -I. -MMD -MP
LDLIBS   += -libverbs -lrdmacm -lssl -lcrypto -lpcap -lseccomp -lfmt -ldeflate -lz -lzstd -llz4 -lpthread
LDFLAGS  += $(SANFLAGS) -Wl,--as-needed

# Each folder below src/ is compiled as one translation unit, build/gen/src/NAME.cpp, which includes the folder's sources. So headers
# are read and templates instantiated once per folder, in a third of the time that one unit per source takes (CONTRIBUTING.md).
# The units that take longest to compile come first, so that no CPU waits for them at the end.
LAYERS   := trace/timeline render trace/explain emulator filter render/page runlog trace/conformance capture rdma rocetrace/tracelog \
            util net wire trace/flow wire/text trace/predict upper trace/service trace/logged
# The code that processes each packet: -O2 makes it 15 % faster. Other code would only take longer to compile.
HOT      := util wire upper capture trace/flow trace/service filter rocetrace/tracelog
LIB      := $(BUILD)/libwirelab.a
LIB_OBJ  := $(BUILD)/obj/examples/common.o $(LAYERS:%=$(BUILD)/obj/src/%.o) $(BUILD)/obj/assets.o $(BUILD)/obj/lesson_events.o
TOOL     := $(BUILD)/rocecap
EMULATOR := $(BUILD)/rocewire
# CLI11 makes these the slowest to compile: they come before the library.
MAINS    := $(BUILD)/obj/src/tools/rocecap.o $(BUILD)/obj/src/tools/rocewire.o
# The launcher, and the libraries that it loads into a program. These are position-independent, need only the C library, and export
# only the functions that they interpose.
TRACER   := $(BUILD)/rocetrace
TRACED   := $(BUILD)/librocetrace.so $(BUILD)/librocetrace-audit.so
PIC      := -O2 -g1 -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti
STEP_BIN := $(patsubst %.cpp,$(BUILD)/%,$(wildcard examples/[0-9]*/*.cpp))
# Lessons are linked with the interposing library, which logs their calls. These two send nothing.
UNTRACED_STEPS := 00 05
SELF_TRACED  := $(BUILD)/obj/examples/common/tracer.o $(BUILD)/pic/rocetrace/interpose.o $(BUILD)/pic/rocetrace/interpose/exported.o

# The sanitizers check the project, not its tests. The tests are linked without instrumentation, after the whole library, so that the
# linker takes the instrumented version of a function that both contain.
TEST_BUILD = $(if $(filter 1,$(SANITIZE)),build,$(BUILD))
link_lib   = $(if $(filter 1,$(SANITIZE)),-Wl$(comma)--whole-archive $(LIB) -Wl$(comma)--no-whole-archive)
comma     := ,
hash      := \#

# Each folder tests/<suite>/ listed here is a separate binary; all other folders form build/tests/unit. A test folder is also one
# translation unit.
SUITES   := differential browser lab
TEST_DIRS := $(sort $(patsubst tests/%/,%,$(dir $(wildcard tests/*/*_test.cpp tests/*/*/*_test.cpp tests/*/*/*/*_test.cpp))))
# Counts allocations; in sanitized builds, with the sanitizer's hooks.
COUNTER  := tests/support/allocation_count.cpp
objects  = $(patsubst %.cpp,$(TEST_BUILD)/obj/%.o,$(filter-out $(COUNTER),$(1))) $(patsubst %.cpp,$(BUILD)/obj/%.o,$(filter $(COUNTER),$(1)))
test_obj = $(1:%=$(TEST_BUILD)/obj/tests/%.o)
UNIT_OBJ := $(call test_obj,$(filter-out $(SUITES),$(TEST_DIRS)))
SUPPORT  := $(call test_obj,support) $(call objects,$(COUNTER) bench/traffic.cpp bench/synthetic_run.cpp \
              bench/statistics.cpp bench/setup/cmtime.cpp bench/transfer/table.cpp)
TEST_BIN := $(BUILD)/tests/unit $(SUITES:%=$(BUILD)/tests/%)

# tests/fuzz/<target>.cpp is a libFuzzer target. The unit tests contain all targets, each under its own name.
FUZZ_HELP := tests/fuzz/check.cpp
FUZZ_SRC  := $(filter-out %_test.cpp $(FUZZ_HELP),$(wildcard tests/fuzz/*.cpp))
FUZZ_BIN  := $(FUZZ_SRC:%.cpp=$(BUILD)/%)

# The packet counts of the synthetic captures for `make bench`.
BENCH_PACKETS ?= 1000000 10000000
BENCH    := decode whole make_capture make_run trace
BENCH_PCAPS = $(BENCH_PACKETS:%=$(BUILD)/bench/%.pcap)
# The packet counts of the synthetic run directories.
BENCH_RUN_PACKETS ?= 100000 1000000
BENCH_RUNS = $(BENCH_RUN_PACKETS:%=$(BUILD)/bench/%.run)

# The two programs of `make bench-setup`, and their shared sources.
SETUP_MAIN := bench/setup/client.cpp bench/setup/server.cpp
SETUP_OBJ  := $(call objects,$(filter-out $(SETUP_MAIN),$(wildcard bench/setup/*.cpp)) bench/statistics.cpp)
SETUP_BIN  := $(SETUP_MAIN:%.cpp=$(BUILD)/%)

# The two programs that `make bench` compares with perftest and iperf3 in the lab, and the program that reads their results.
TRANSFER_MAIN := bench/transfer/client.cpp bench/transfer/server.cpp bench/transfer/report.cpp
TRANSFER_OBJ  := $(call objects,$(filter-out $(TRANSFER_MAIN),$(wildcard bench/transfer/*.cpp)) bench/statistics.cpp)
TRANSFER_BIN  := $(TRANSFER_MAIN:%.cpp=$(BUILD)/%)

# The program of the fault corpus (tests/faults).
FAULTY   := $(BUILD)/tests/faulty

Q := $(if $(V),,@)
# One job per CPU, unless the caller sets -j.
jobs             = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(1))
parallel         = $(call jobs,$(shell nproc))
parallel_and_one = $(call jobs,$(shell echo $$(($$(nproc) + 1))))

# $(call say,WHAT) begins each recipe that creates a file. $(call make,GOALS) counts these recipes first, so that each is printed with
# its number and the total, and prints the total seconds at the end.
progress := $(BUILD)/progress
say  = $(if $(V),,@echo >>$(progress); printf '[%2d/%s] %-4s %s\n' "$$(wc -l <$(progress))" "$${TO_MAKE:-?}" '$(1)' '$(patsubst $(BUILD)/%,%,$@)')
# With a second argument, one more job runs in parallel with the compilers.
make = mkdir -p $(BUILD) && : >$(progress) && started=$$(date +%s) && \
       TO_MAKE=$$($(MAKE) --no-print-directory -n $(1) | grep -c '^echo >>$(progress)' || true) && \
       TO_MAKE=$$TO_MAKE $(MAKE) --no-print-directory $(if $(2),$(parallel_and_one),$(parallel)) $(1) && \
       { [ "$$TO_MAKE" = 0 ] || echo "built in $$(($$(date +%s) - started)) s"; }

.DELETE_ON_ERROR:
.SUFFIXES:
# Keep objects that only a pattern rule names. Do not list others: if a source is added while make runs, make considers a library up to
# date that lacks a secondary object.
.SECONDARY: $(patsubst %.cpp,$(BUILD)/obj/%.o,$(wildcard examples/*/*.cpp bench/*.cpp bench/*/*.cpp tests/fuzz/*.cpp))
.DEFAULT_GOAL := help
.PHONY: help build install uninstall check test test-long build-tests fuzz fuzz-binaries fuzz-seeds bench bench-transfer bench-decode bench-setup bench-clients bench-trace lint lint-all format clean \
        packages certs wireshark-install wireshark-uninstall figures site \
        lab-up lab-down lab-status lab-shell lab-run lab-capture lab-capture-live lab-netem lab-netem-clear lab-loss-sweep samples

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\n  Variables: STEPS="01 06 07" (lab-capture-live, lab-run), HOST=server|client (lab-shell, lab-netem).\n'
	@printf '  lab/lab help lists the commands and settings of the lab.\n'

packages: # Install the missing packages of the build
	$(Q)lab/install-packages build

build: packages ## Build rocecap, rocetrace, rocewire, and all lessons or those in STEPS
	$(Q)+$(call make,$(if $(filter command% environment%,$(origin STEPS)),tools $(wanted_steps),binaries))

# The programs of STEPS.
wanted_steps = $(foreach s,$(STEPS),$(or $(filter $(BUILD)/examples/$s%,$(STEP_BIN)),$(error there is no step '$s' in examples/)))

.PHONY: tools binaries tests
tools: $(MAINS) $(TOOL) $(EMULATOR) $(TRACER) $(TRACED)
	@:
binaries: tools $(STEP_BIN)
	@:
tests: binaries $(TEST_BIN) $(FAULTY) $(SETUP_BIN) $(TRANSFER_BIN) $(BUILD)/bench/whole $(BUILD)/bench/make_run
	@:

check: ## Run the fast tests, without the lab: unit tests, plain and under ASan + UBSan
	$(Q)lab/install-packages build test
	$(Q)tests/run check

test: ## Run the tests: unit, tshark, browser, lab (18 minutes on two CPUs)
	$(Q)lab/install-packages build lab test
	$(Q)tests/run all

test-long: ## Run the long tests: sanitizers, fuzzing, fault corpus, 1,000 clients (100 minutes)
	$(Q)lab/install-packages build lab test long fuzz
	$(Q)tests/run long

# The test programs; with SANITIZE=1, only the unit tests.
build-tests:
	$(Q)+$(call make,$(if $(filter 1,$(SANITIZE)),$(BUILD)/tests/unit,tests))

fuzz: ## Fuzz the parsers: FUZZ_SECONDS=60 per target
	$(Q)lab/install-packages build fuzz
	$(Q)tests/fuzz/run

fuzz-binaries: $(FUZZ_BIN)
	@:

fuzz-seeds: $(BUILD)/tests/fuzz_seeds # Write the generated part of tests/fuzz/corpus again
	$(Q)$<

install: packages ## Install rocecap and rocetrace with manual pages in PREFIX (/usr/local)
	$(Q)+$(call make,$(TOOL) $(TRACER) $(TRACED))
	$(Q)install -D -m 755 $(TRACER) $(DESTDIR)$(PREFIX)/bin/rocetrace
	$(Q)install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/rocetrace $(TRACED)
	$(Q)install -D -m 644 docs/rocetrace.1 $(DESTDIR)$(PREFIX)/share/man/man1/rocetrace.1
	$(Q)install -D -m 644 src/tools/rocetrace/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rocetrace
	$(Q)install -D -m 755 $(TOOL) $(DESTDIR)$(PREFIX)/bin/rocecap
	$(Q)install -D -m 644 docs/rocecap.1 $(DESTDIR)$(PREFIX)/share/man/man1/rocecap.1
	$(Q)install -D -m 644 src/tools/rocecap/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rocecap

uninstall: ## Remove the files that install wrote
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/rocetrace $(TRACED:$(BUILD)/%=$(DESTDIR)$(PREFIX)/lib/rocetrace/%) \
	    $(DESTDIR)$(PREFIX)/share/man/man1/rocetrace.1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rocetrace
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/rocecap $(DESTDIR)$(PREFIX)/share/man/man1/rocecap.1 \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rocecap

bench: ## Run bench-transfer and bench-decode
	$(Q)$(MAKE) --no-print-directory bench-transfer bench-decode

bench-transfer: ## Measure RDMA and TCP in the lab, for docs/performance.md
	$(Q)lab/install-packages build lab bench
	$(Q)$(MAKE) --no-print-directory $(parallel) $(TRANSFER_BIN)
	$(Q)bench/transfer/run docs/performance.md

bench-decode: ## Measure decoding, also against tshark and tcpdump
	$(Q)lab/install-packages build test bench
	$(Q)$(MAKE) --no-print-directory $(parallel) $(TOOL) $(BENCH:%=$(BUILD)/bench/%) $(BENCH_PCAPS) $(BENCH_RUNS:%=%/run.json)
	$(Q)$(BUILD)/bench/decode
	$(Q)$(BUILD)/bench/trace
	$(Q)$(BUILD)/bench/whole $(TOOL) $(BENCH_PCAPS) $(BENCH_RUNS)

bench-setup: ## Measure connection set-up in the lab, phase by phase: rdma_cm, TCP, TLS
	$(Q)lab/install-packages build lab
	$(Q)$(MAKE) --no-print-directory $(parallel) $(SETUP_BIN)
	$(Q)bench/setup/run

bench-clients: build ## Measure step 08 in the lab with 10, 100 and 1,000 clients (minutes)
	$(Q)lab/install-packages lab
	$(Q)lab/lab up
	$(Q)bench/clients

bench-trace: build ## Measure the overhead of rocetrace in the lab (minutes)
	$(Q)lab/install-packages lab bench
	$(Q)lab/lab up
	$(Q)bench/tracing

lint: ## Check format, layers and scripts, and sources changed since LINT_BASE (main)
	$(Q)lab/install-packages build test bench lint
	$(Q)tests/lint/run

lint-all: ## Run lint on all sources (minutes)
	$(Q)lab/install-packages build test bench lint
	$(Q)tests/lint/run --all

format: ## Rewrite the sources in the project's format
	$(Q)lab/install-packages lint
	$(Q)git ls-files -co --exclude-standard '*.cpp' '*.hpp' | xargs clang-format -i

wireshark-install: ## Install the lab's Wireshark profile and dissector for your user
	$(Q)wireshark/install install

wireshark-uninstall: ## Remove the files that wireshark-install wrote
	$(Q)wireshark/install uninstall

figures: ## Make the diagrams and screenshots of the documents again
	$(Q)docs/figures/draw
	$(Q)lab/install-packages build lab test figures
	$(Q)$(MAKE) --no-print-directory $(parallel) $(TOOL) $(STEP_BIN) $(BUILD)/tests/shoot
	$(Q)wireshark/figures
	$(Q)src/render/page/figures

site: ## The documents, the lessons' sources and the reference runs as web pages, in build/site, to read without a checkout
	$(Q)lab/install-packages build site
	$(Q)+$(call make,$(TOOL))
	$(Q)docs/site/build

certs: ## Create the CA and the certificates of steps 07 and later in build/certs
	$(Q)lab/install-packages lab
	$(Q)lab/certs build/certs

lab-up: ## Start the lab
	$(Q)lab/install-packages lab
	$(Q)lab/lab up

lab-down: ## Stop the lab
	$(Q)lab/lab down

lab-status: ## Print which machines run and how to reach them
	$(Q)lab/lab status

lab-shell: ## Open a shell on a lab machine: HOST=server or HOST=client
	$(Q)lab/lab shell $(or $(HOST),server)

lab-netem: ## Impair packets: LOSS=1% DELAY=2ms REORDER=25%, HOST=server|client|both
	$(Q)lab/lab netem $(or $(HOST),both) $(if $(LOSS),loss $(LOSS)) $(if $(DELAY),delay $(DELAY)) $(if $(REORDER),reorder $(REORDER))

lab-netem-clear: ## Remove the settings of lab-netem
	$(Q)lab/lab netem $(or $(HOST),both) clear

lab-loss-sweep: build ## Measure RDMA and TCP at 0 to 5 % loss in the lab: table and plot (minutes)
	$(Q)lab/install-packages lab test
	$(Q)lab/lab up
	$(Q)examples/15_packet_loss/sweep

# The guests boot while the programs are compiled.
.PHONY: booted
booted:
	$(Q)lab/lab boot

lab-run: ## Run STEPS in the lab without a capture
	$(Q)lab/install-packages build lab
	$(Q)+$(call make,booted $(EMULATOR) $(wanted_steps),and one)
	$(Q)lab/lab run $(STEPS)

lab-capture-live: ## Run STEPS in the lab: print logs and packets live, then the PSNs
	$(Q)lab/install-packages build lab
	$(Q)+$(call make,booted $(MAINS) $(TOOL) $(EMULATOR) $(wanted_steps),and one)
	$(Q)lab/lab capture $(STEPS)

samples: build ## Record captures/samples again: one run of each step in the lab
	$(Q)lab/install-packages lab
	$(Q)lab/lab up
	$(Q)captures/make-samples

clean: ## Remove the files of the build (stop the lab first)
	$(Q)lab/lab down
	$(Q)rm -rf build

flags = $(CPPFLAGS) $(if $(findstring /tests/,$@),-Itests) $(CXXFLAGS) $(if $(findstring /tests/,$@),$(TEST_OPT)) $(if $(filter $(HOT:%=$(BUILD)/obj/src/%.o),$@),$(HOT_OPT))

define compile
$(call say,CXX)
$(Q)mkdir -p $(@D)
$(Q)$(CXX) $(flags) -c -o $@ $<
endef
define compile_plain
$(call say,CXX)
$(Q)mkdir -p $(@D)
$(Q)$(PLAIN_CXX) $(filter-out $(SANFLAGS),$(flags)) -c -o $@ $<
endef
# $(call link,OBJECTS AND FLAGS)
define link
$(call say,LD)
$(Q)mkdir -p $(@D)
$(Q)$(CXX) $(LDFLAGS) -o $@ $(1) $(LDLIBS)
endef

$(BUILD)/obj/%.o: %.cpp
	$(compile)

# make uses this rule and not the one above, because its stem is shorter.
$(BUILD)/obj/src/%.o: $(BUILD)/gen/src/%.cpp
	$(compile)

$(BUILD)/obj/examples/common.o: $(BUILD)/gen/examples/common.cpp
	$(compile)

$(TEST_BUILD)/obj/tests/%.o: $(TEST_BUILD)/gen/tests/%.cpp
	$(compile_plain)

ifeq ($(SANITIZE),1)
build/obj/%.o: %.cpp
	$(compile_plain)
endif

# The translation units of the folders. They are written while make reads the Makefile, so that the rules see the new units, and only if
# the list of sources in a folder has changed.
define newline


endef
included   = $(foreach f,$(1),$(hash)include "$f"$(newline))
as_named   = $(foreach f,$(1),$(hash)define LLVMFuzzerTestOneInput fuzz_$(basename $(notdir $f))$(newline)$(hash)include "$f"$(newline)$(hash)undef LLVMFuzzerTestOneInput$(newline))
same       = $(and $(findstring $(strip $(1)),$(strip $(2))),$(findstring $(strip $(2)),$(strip $(1))))
write_unit = $(if $(call same,$(file <$(1)),$(2)),,$(shell mkdir -p $(dir $(1)))$(file >$(1),$(2)))
ifneq ($(filter tools binaries tests fuzz-binaries $(BUILD)/%,$(MAKECMDGOALS)),)
$(foreach l,$(LAYERS) tools/rocecap tools/rocewire tools/rocetrace $(addprefix rocetrace/,interpose interpose/exported interpose/preload audit),$(call write_unit,$(BUILD)/gen/src/$l.cpp,$(call included,$(sort $(wildcard src/$l/*.cpp)))))
$(call write_unit,$(BUILD)/gen/examples/common.cpp,$(call included,$(sort $(filter-out %/tracer.cpp,$(wildcard examples/common/*.cpp)))))
$(foreach d,$(TEST_DIRS) support faults,$(call write_unit,$(TEST_BUILD)/gen/tests/$d.cpp,$(call included,$(sort \
    $(filter-out $(COUNTER) $(FUZZ_SRC) tests/browser/shoot.cpp,$(wildcard tests/$d/*.cpp))))$(if $(filter fuzz,$d),$(call as_named,$(FUZZ_SRC)))))
endif

# HTML, CSS and JavaScript as constants in a source.
$(BUILD)/gen/assets.cpp: src/render/page/embed src/render/page/page.html src/render/page/page.css $(wildcard src/render/page/script/*.js)
	$(call say,GEN)
	$(Q)mkdir -p $(@D)
	$(Q)$< > $@

# The texts for events of individual lessons.
$(BUILD)/gen/lesson_events.cpp: src/runlog/lesson_events $(wildcard examples/*/events)
	$(call say,GEN)
	$(Q)mkdir -p $(@D)
	$(Q)$< $(filter-out $<,$^) > $@

$(BUILD)/obj/assets.o $(BUILD)/obj/lesson_events.o: $(BUILD)/obj/%.o: $(BUILD)/gen/%.cpp
	$(compile)

$(LIB): $(LIB_OBJ)
	$(call say,AR)
	$(Q)rm -f $@.new && $(AR) rcs $@.new $^ && mv -f $@.new $@

$(TOOL): $(BUILD)/obj/src/tools/rocecap.o $(LIB)
	$(call link,$^)

# The sources in tools/rocewire forward no frames, so they need no optimization.
$(BUILD)/obj/src/tools/rocewire.o: OPT := -O0 -g1
$(EMULATOR): $(BUILD)/obj/src/tools/rocewire.o $(LIB)
	$(call link,$^)

$(TRACER): $(BUILD)/obj/src/tools/rocetrace.o $(LIB)
	$(call link,$^)

$(BUILD)/pic/%.o: $(BUILD)/gen/src/%.cpp
	$(call say,CXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(filter-out $(SANFLAGS) $(OPT),$(CPPFLAGS) $(CXXFLAGS)) $(PIC) -c -o $@ $<

EXPORTS := src/rocetrace/interpose/exported/exports.map
$(BUILD)/librocetrace.so: $(BUILD)/pic/rocetrace/interpose.o $(BUILD)/pic/rocetrace/interpose/exported.o $(BUILD)/pic/rocetrace/interpose/preload.o $(EXPORTS)
	$(call say,LD)
	$(Q)$(CXX) -shared -nodefaultlibs -Wl,-z,defs -Wl,--version-script=$(EXPORTS) -o $@ $(filter %.o,$^) -lc -lgcc

$(BUILD)/librocetrace-audit.so: $(BUILD)/pic/rocetrace/audit.o
	$(call say,LD)
	$(Q)$(CXX) -shared -nodefaultlibs -Wl,-z,defs -o $@ $^ -lc

$(filter-out $(UNTRACED_STEPS:%=$(BUILD)/examples/%_%),$(STEP_BIN)): $(SELF_TRACED)
$(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(LIB)
	$(call link,$(filter %.o,$^) $(LIB))

$(BUILD)/bench/trace: $(BUILD)/pic/rocetrace/interpose.o
$(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(call objects,bench/traffic.cpp bench/synthetic_run.cpp bench/process.cpp) $(LIB)
	$(call link,$^ $(if $(filter $(BUILD)/bench/decode $(BUILD)/bench/trace,$@),-lbenchmark))

# make uses this rule and not the one above, because its stem is shorter.
$(BUILD)/bench/setup/%: $(BUILD)/obj/bench/setup/%.o $(SETUP_OBJ) $(LIB)
	$(call link,$(filter %.o,$^) $(LIB))

$(BUILD)/bench/transfer/%: $(BUILD)/obj/bench/transfer/%.o $(TRANSFER_OBJ) $(LIB)
	$(call link,$(filter %.o,$^) $(LIB))

$(BUILD)/bench/%.pcap: $(BUILD)/bench/make_capture
	$(call say,MAKE)
	$(Q)$< $* $@

$(BUILD)/bench/%.run/run.json: $(BUILD)/bench/make_run
	$(call say,MAKE)
	$(Q)$< $* $(@D)

# The interposing library without the functions that it exports: a test calls their implementations directly.
$(BUILD)/tests/unit: $(UNIT_OBJ) $(BUILD)/obj/src/rocetrace/interpose.o | $(TOOL) $(EMULATOR) $(TRACER) $(TRACED)
# The folders whose tests have several threads: for SANITIZE=thread.
$(BUILD)/tests/threads: $(call test_obj,emulator net rocetrace/interpose steps rocetrace/tracelog) $(BUILD)/obj/src/rocetrace/interpose.o
$(FAULTY): $(call test_obj,faults) $(LIB)
	$(call link,$^)

$(BUILD)/tests/shoot: $(call objects,tests/browser/shoot.cpp)
.SECONDEXPANSION:
$(SUITES:%=$(BUILD)/tests/%): $(BUILD)/tests/%: $$(call test_obj,$$*)
$(BUILD)/tests/%: $(SUPPORT) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $(link_lib) $(filter %.o,$^) $(LIB) -lgtest_main -lgtest $(LDLIBS)

# make uses this rule and not the one above, because its stem is shorter.
$(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(call objects,$(FUZZ_HELP)) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/fuzz_seeds: $(call objects,tests/fuzz/seeds/main.cpp) $(LIB)
	$(call link,$^)

-include $(shell find $(sort $(BUILD)/obj $(BUILD)/pic $(TEST_BUILD)/obj) -name '*.d' 2>/dev/null)

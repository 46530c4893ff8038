# RDMA Wire Lab. `make help` lists the targets; V=1 shows the commands.
# Variables: SANITIZE=1 (ASan + UBSan, under build/asan), CXX, OPT, TEST_OPT, STEPS, PREFIX and DESTDIR, BENCH_PACKETS,
# BENCH_RUN_PACKETS, SETUP_CONNECTIONS, TRANSFER_REPEATS, FUZZ_SECONDS, HOST, LOSS, DELAY, REORDER, and the lab's own
# (lab/lab help).

SANITIZE ?= 0
FUZZ     ?= 0
OPT      ?= $(if $(filter 1,$(SANITIZE)),-O1 -g1,-O2 -g)
TEST_OPT ?= -O1 -g1
STEPS    ?= 01 06 07
PREFIX   ?= /usr/local

ifeq ($(FUZZ),1)
BUILD    ?= build/fuzz
CXX      := clang++
SANFLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else ifeq ($(SANITIZE),1)
BUILD    ?= build/asan
# g++ 12 takes std::regex for uninitialised once it is instrumented.
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-maybe-uninitialized
else
BUILD    ?= build
endif

CXXFLAGS += -std=c++20 $(OPT) -Wall -Wextra -Wconversion -Wshadow -Werror $(SANFLAGS)
CPPFLAGS += -Isrc -MMD -MP
LDLIBS   += -libverbs -lrdmacm -lssl -lcrypto -lpcap -lfmt -ldeflate -lpthread
LDFLAGS  += $(SANFLAGS) -Wl,--as-needed

LAYERS   := util wire capture flow conformance verbs cm exchange service runlog timeline predict report query page forge cable lesson
LIB      := $(BUILD)/libwirelab.a
LIB_OBJ  := $(patsubst %.cpp,$(BUILD)/obj/%.o,$(wildcard $(LAYERS:%=src/%/*.cpp))) $(BUILD)/obj/src/page/assets.o
TOOL     := $(BUILD)/rocecap
TOOL_OBJ := $(patsubst %.cpp,$(BUILD)/obj/%.o,$(wildcard src/rocecap/*.cpp))
CABLE    := $(BUILD)/rocewire
CABLE_OBJ := $(patsubst %.cpp,$(BUILD)/obj/%.o,$(wildcard src/rocewire/*.cpp))
STEP_BIN := $(patsubst %.cpp,$(BUILD)/%,$(wildcard examples/*/*.cpp))

# The sanitizers look at the project, not at its tests: those are linked as they are, behind a library that is wholly there,
# so that of a function in both the instrumented one is taken.
TEST_BUILD = $(if $(filter 1,$(SANITIZE)),build,$(BUILD))
link_lib   = $(if $(filter 1,$(SANITIZE)),-Wl$(comma)--whole-archive $(LIB) -Wl$(comma)--no-whole-archive)
comma     := ,

# Each tests/<suite>/ with a name here is a binary of its own; all the other folders together are build/tests/unit.
SUITES   := differential browser lab
# This one counts allocations, with the sanitizer's help where there is one.
COUNTER  := tests/support/allocation_count.cpp
objects  = $(patsubst %.cpp,$(TEST_BUILD)/obj/%.o,$(filter-out $(COUNTER),$(1))) $(patsubst %.cpp,$(BUILD)/obj/%.o,$(filter $(COUNTER),$(1)))
UNIT_OBJ := $(call objects,$(filter-out $(SUITES:%=tests/%/%),$(filter-out tests/support/%,$(wildcard tests/*/*_test.cpp)))) \
            $(call objects,$(filter-out %_test.cpp,$(wildcard tests/fuzz/*.cpp)))
SUPPORT  := $(call objects,$(wildcard tests/support/*.cpp) bench/traffic.cpp bench/made_run.cpp \
              bench/statistics.cpp bench/setup/cmtime.cpp bench/transfer/table.cpp)
TEST_BIN := $(BUILD)/tests/unit $(foreach s,$(SUITES),$(if $(wildcard tests/$s/*_test.cpp),$(BUILD)/tests/$s))

# tests/fuzz/<target>.cpp is a libFuzzer target; the unit tests have all of them, each under a name of its own.
FUZZ_HELP := tests/fuzz/check.cpp
FUZZ_BIN  := $(patsubst %.cpp,$(BUILD)/%,$(filter-out %_test.cpp $(FUZZ_HELP),$(wildcard tests/fuzz/*.cpp)))
entry_of   = $(if $(filter 1,$(FUZZ)),,$(if $(filter tests/fuzz/%,$<),-DLLVMFuzzerTestOneInput=fuzz_$(basename $(notdir $<))))

# Made traffic of so many packets, for `make bench`.
BENCH_PACKETS ?= 1000000 10000000
BENCH    := decode whole make_capture make_run
BENCH_PCAPS = $(BENCH_PACKETS:%=$(BUILD)/bench/%.pcap)
# Run directories with so many.
BENCH_RUN_PACKETS ?= 100000 1000000
BENCH_RUNS = $(BENCH_RUN_PACKETS:%=$(BUILD)/bench/%.run)

# The two programs of `make bench-setup`, and what they share.
SETUP_MAIN := bench/setup/client.cpp bench/setup/server.cpp
SETUP_OBJ  := $(call objects,$(filter-out $(SETUP_MAIN),$(wildcard bench/setup/*.cpp)) bench/statistics.cpp)
SETUP_BIN  := $(SETUP_MAIN:%.cpp=$(BUILD)/%)

# The two programs that `make bench` runs in the lab beside perftest and iperf3, and the one that reads their figures.
TRANSFER_MAIN := bench/transfer/client.cpp bench/transfer/server.cpp bench/transfer/report.cpp
TRANSFER_OBJ  := $(call objects,$(filter-out $(TRANSFER_MAIN),$(wildcard bench/transfer/*.cpp)) bench/statistics.cpp)
TRANSFER_BIN  := $(TRANSFER_MAIN:%.cpp=$(BUILD)/%)

Q := $(if $(V),,@)
# All processors, where the caller did not say otherwise.
parallel = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
say = $(if $(V),,@printf '  %-4s %s\n' '$(1)' '$(patsubst $(BUILD)/%,%,$@)')

.DELETE_ON_ERROR:
.SUFFIXES:
# Objects that only a pattern rule names are kept, too. All others are not to be here: make takes a library for up to date that
# lacks a secondary object, where a source was added while it ran.
.SECONDARY: $(patsubst %.cpp,$(BUILD)/obj/%.o,$(wildcard examples/*/*.cpp bench/*.cpp bench/*/*.cpp tests/fuzz/*.cpp))
.DEFAULT_GOAL := help
.PHONY: help build install uninstall check test fuzz fuzz-binaries fuzz-seeds bench bench-transfer bench-decode bench-setup bench-clients lint format clean \
        packages certs wireshark-install wireshark-uninstall figures \
        lab-up lab-down lab-status lab-shell lab-run lab-capture lab-capture-live lab-netem lab-netem-clear lab-loss-sweep samples

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\n  STEPS="01 06 07"  steps for lab-capture-live and lab-run      HOST=server|client  for lab-shell, lab-netem\n'
	@printf '  lab/lab help lists the lab'\''s own commands and variables.\n'

packages: # Install what the build needs, when something is missing
	$(Q)lab/install-packages build

build: packages ## Build the steps and rocecap
	$(Q)$(MAKE) --no-print-directory $(parallel) binaries

.PHONY: binaries tests
binaries: $(STEP_BIN) $(TOOL) $(CABLE)
	@:
tests: binaries $(TEST_BIN) $(SETUP_BIN) $(TRANSFER_BIN) $(BUILD)/bench/whole $(BUILD)/bench/make_run

check: ## The fast tests (no lab): unit tests, plain and under ASan + UBSan
	$(Q)lab/install-packages build test
	$(Q)tests/run check

test: ## Every test: unit, against tshark, in a browser, and end to end in the lab
	$(Q)lab/install-packages build lab test
	$(Q)tests/run all

fuzz: ## Look for inputs that break a reader: FUZZ_SECONDS=60 a target
	$(Q)lab/install-packages build fuzz
	$(Q)tests/fuzz/run

fuzz-binaries: $(FUZZ_BIN)
	@:

fuzz-seeds: $(BUILD)/tests/fuzz_seeds # Write tests/fuzz/corpus anew, where it is made by a program
	$(Q)$<

install: build ## Install rocecap, its manual page and its completion below PREFIX (/usr/local)
	$(Q)install -D -m 755 $(TOOL) $(DESTDIR)$(PREFIX)/bin/rocecap
	$(Q)install -D -m 644 docs/rocecap.1 $(DESTDIR)$(PREFIX)/share/man/man1/rocecap.1
	$(Q)install -D -m 644 src/rocecap/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rocecap

uninstall: ## Remove what install put there
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/rocecap $(DESTDIR)$(PREFIX)/share/man/man1/rocecap.1 \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rocecap

bench: ## All of it: RDMA and TCP against perftest and iperf3 in the lab, then what decoding costs
	$(Q)$(MAKE) --no-print-directory bench-transfer bench-decode

bench-transfer: ## Bandwidth, latency and processor time in the lab beside perftest's and iperf3's; writes docs/performance.md
	$(Q)lab/install-packages build lab bench
	$(Q)$(MAKE) --no-print-directory $(parallel) $(TRANSFER_BIN)
	$(Q)bench/transfer/run docs/performance.md

bench-decode: ## What a packet costs in each part, and whole programs against tshark and tcpdump
	$(Q)lab/install-packages build test bench
	$(Q)$(MAKE) --no-print-directory $(parallel) $(TOOL) $(BENCH:%=$(BUILD)/bench/%) $(BENCH_PCAPS) $(BENCH_RUNS:%=%/run.json)
	$(Q)$(BUILD)/bench/decode
	$(Q)$(BUILD)/bench/whole $(TOOL) $(BENCH_PCAPS) $(BENCH_RUNS)

bench-setup: ## What a connection's set-up takes in the lab, phase by phase: rdma_cm, TCP, TLS
	$(Q)lab/install-packages build lab
	$(Q)$(MAKE) --no-print-directory $(parallel) $(SETUP_BIN)
	$(Q)bench/setup/run

bench-clients: build ## Step 08 with 10, 100 and 1,000 clients in the lab: set-up times and memory (minutes)
	$(Q)lab/install-packages lab
	$(Q)lab/lab up
	$(Q)bench/clients

lint: ## Format, clang-tidy, shellcheck and the layer rules
	$(Q)lab/install-packages build test bench lint
	$(Q)tests/lint/run

format: ## Rewrite the sources in the project's format
	$(Q)lab/install-packages lint
	$(Q)git ls-files -co --exclude-standard '*.cpp' '*.hpp' | xargs clang-format -i

wireshark-install: ## Put the lab's profile and dissector into your own Wireshark folders (wireshark/README.md)
	$(Q)wireshark/install install

wireshark-uninstall: ## Remove what wireshark-install put there
	$(Q)wireshark/install uninstall

figures: ## Make the screenshots of docs/figures anew: real runs in the lab, opened in Wireshark and in a browser
	$(Q)lab/install-packages build lab test figures
	$(Q)$(MAKE) --no-print-directory $(parallel) $(TOOL) $(STEP_BIN) $(BUILD)/tests/shoot
	$(Q)wireshark/figures
	$(Q)src/page/figures

certs: ## Make the lab's own CA and the certificates of steps 07 and on, in build/certs
	$(Q)lab/install-packages lab
	$(Q)lab/certs build/certs

lab-up: ## Bring the two lab machines up
	$(Q)lab/install-packages lab
	$(Q)lab/lab up

lab-down: ## Bring the lab machines down
	$(Q)lab/lab down

lab-status: ## Say what is running, where, and how to reach it
	$(Q)lab/lab status

lab-shell: ## A shell on a lab machine: HOST=server or HOST=client
	$(Q)lab/lab shell $(or $(HOST),server)

lab-netem: ## Lose, delay or reorder what the machines send: LOSS=1% DELAY=2ms REORDER=25%, HOST=server|client|both
	$(Q)lab/lab netem $(or $(HOST),both) $(if $(LOSS),loss $(LOSS)) $(if $(DELAY),delay $(DELAY)) $(if $(REORDER),reorder $(REORDER))

lab-netem-clear: ## And no more
	$(Q)lab/lab netem $(or $(HOST),both) clear

lab-loss-sweep: build ## Step 15's transfer and step 14's TCP in the lab at losses of 0 to 5 %: table and plot (minutes)
	$(Q)lab/install-packages lab test
	$(Q)lab/lab up
	$(Q)examples/15_packet_loss/sweep

lab-run: build ## Run STEPS in the lab without a capture
	$(Q)lab/install-packages lab
	$(Q)lab/lab up
	$(Q)lab/lab run $(STEPS)

lab-capture-live: build ## Run STEPS in the lab: both logs and the packets between them, live, and the table of their PSNs
	$(Q)lab/install-packages lab
	$(Q)lab/lab up
	$(Q)lab/lab capture $(STEPS)

samples: build ## Make captures/samples anew: one run of every step, in the lab
	$(Q)lab/install-packages lab
	$(Q)lab/lab up
	$(Q)captures/make-samples

clean: ## Remove what the build made (the lab must be down)
	$(Q)lab/lab down
	$(Q)rm -rf build

$(BUILD)/obj/%.o: %.cpp
	$(call say,CXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(CPPFLAGS) $(if $(filter tests/% bench/%,$<),-I.) $(if $(filter tests/%,$<),-Itests $(entry_of)) $(CXXFLAGS) $(if $(filter tests/%,$<),$(TEST_OPT)) -c -o $@ $<

ifeq ($(SANITIZE),1)
build/obj/%.o: %.cpp
	$(call say,CXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(CPPFLAGS) -I. $(if $(filter tests/%,$<),-Itests $(entry_of)) $(filter-out $(SANFLAGS),$(CXXFLAGS)) $(TEST_OPT) -c -o $@ $<
endif

# HTML, CSS and JavaScript, as constants of the program.
$(BUILD)/gen/assets.cpp: src/page/embed src/page/page.html src/page/page.css $(wildcard src/page/script/*.js)
	$(call say,GEN)
	$(Q)mkdir -p $(@D)
	$(Q)$< > $@

$(BUILD)/obj/src/page/assets.o: $(BUILD)/gen/assets.cpp
	$(call say,CXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

$(LIB): $(LIB_OBJ)
	$(call say,AR)
	$(Q)rm -f $@.new && $(AR) rcs $@.new $^ && mv -f $@.new $@

$(TOOL): $(TOOL_OBJ) $(LIB)
	$(call say,LD)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(CABLE): $(CABLE_OBJ) $(LIB)
	$(call say,LD)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(call objects,bench/traffic.cpp bench/made_run.cpp bench/process.cpp) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ $(if $(filter $(BUILD)/bench/decode,$@),-lbenchmark) $(LDLIBS)

# A shorter stem than the rule above: make takes this one.
$(BUILD)/bench/setup/%: $(BUILD)/obj/bench/setup/%.o $(SETUP_OBJ) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(LDLIBS)

$(BUILD)/bench/transfer/%: $(BUILD)/obj/bench/transfer/%.o $(TRANSFER_OBJ) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(LDLIBS)

$(BUILD)/bench/%.pcap: $(BUILD)/bench/make_capture
	$(call say,MAKE)
	$(Q)$< $* $@

$(BUILD)/bench/%.run/run.json: $(BUILD)/bench/make_run
	$(call say,MAKE)
	$(Q)$< $* $(@D)

$(BUILD)/tests/unit: $(UNIT_OBJ) | $(TOOL) $(CABLE)
$(BUILD)/tests/shoot: $(call objects,tests/browser/shoot.cpp)
.SECONDEXPANSION:
$(SUITES:%=$(BUILD)/tests/%): $(BUILD)/tests/%: $$(call objects,$$(wildcard tests/$$*/*_test.cpp))
$(BUILD)/tests/%: $(SUPPORT) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $(link_lib) $(filter %.o,$^) $(LIB) -lgtest_main -lgtest $(LDLIBS) -lz

# A shorter stem than the rule above: make takes this one.
$(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(call objects,$(FUZZ_HELP)) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/fuzz_seeds: $(call objects,tests/fuzz/seeds/main.cpp) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ $(LDLIBS)

-include $(shell find $(sort $(BUILD)/obj $(TEST_BUILD)/obj) -name '*.d' 2>/dev/null)

# RDMA Wire Lab. `make help` lists the targets; V=1 shows the commands.
# Variables: WERROR=1 (warnings are errors, as in CI), SANITIZE=1 (ASan + UBSan, under build/asan) or thread (build/tsan), FUZZ=1 (for
# fuzz-binaries, under build/fuzz), PORTABLE=1 (for tools: programs that need no library, under build/portable), BUILD, CXX, OPT, HOT_OPT,
# TEST_OPT, STEPS, PREFIX and DESTDIR, BENCH_PACKETS, BENCH_RUN_PACKETS, SETUP_CONNECTIONS, TRANSFER_REPEATS, FUZZ_SECONDS, HOST, LOSS,
# DELAY, REORDER, and the lab's settings (lab/lab help).

# With sanitizers, -O1 takes two and a half times as long to compile as -O0.
OPT      ?= $(if $(filter 1,$(SANITIZE)),-O0 -g1,-O1 -g1)
HOT_OPT  ?= $(if $(filter 1,$(SANITIZE)),-O1 -g1,-O2 -g1)
TEST_OPT ?= -O0 -g1
STEPS    ?= 01 06 07
PREFIX   ?= /usr/local
# The packet counts of the synthetic captures and of the synthetic run directories of `make bench-decode`.
BENCH_PACKETS     ?= 1000000 10000000
BENCH_RUN_PACKETS ?= 100000 1000000

# The folder and the compiler of the units in tests/ and bench/.
PLAIN      = $(BUILD)
PLAIN_CXX  = $(CXX)
ifeq ($(FUZZ),1)
BUILD     ?= build/fuzz
CXX       := clang++
SANFLAGS  := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
             -fsanitize-coverage-ignorelist=tests/fuzz/not_instrumented
else ifeq ($(SANITIZE),1)
BUILD     ?= build/asan
# The sanitizers check the project, not its tests, whose objects are those of a build without sanitizers. clang compiles code with
# sanitizers in half of g++'s time. On some machines char is unsigned: these tests run so, too.
PLAIN     := build
PLAIN_CXX := $(CXX)
CXX       := clang++
SANFLAGS  := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -funsigned-char
CPPFLAGS  += -include tests/support/json_layout.hpp
else ifeq ($(SANITIZE),thread)
BUILD     ?= build/tsan
override CXX += -fsanitize=thread  # also for the tests: they share memory with the project's threads
else ifeq ($(PORTABLE),1)
# Debian has no archive of libfmt. The libraries of rocetrace cannot be static: the program that loads them has its own glibc.
BUILD     ?= build/portable
CPPFLAGS  += -DFMT_HEADER_ONLY
CXXFLAGS  += -ffunction-sections -fdata-sections
LDFLAGS   += -static-pie -Wl,--gc-sections
OLD_GLIBC := -include src/portable/glibc_versions.hpp
else ifeq ($(BROWSER),1)
BUILD     := build/browser
CXX       := em++
AR        := emar
OPT       := -Oz
HOT_OPT   := -O2
# The exceptions of WebAssembly itself: those that JavaScript emulates take twice the size.
SANFLAGS  := -fwasm-exceptions
CPPFLAGS  += -I$(BUILD)/include -DFMT_HEADER_ONLY
endif
BUILD     ?= build

# g++ 12 wrongly reports members of std::optional (at -O1) and of std::regex (instrumented) as uninitialized. clang does not have
# that warning option, its -Wshadow compares names across the sources of a unit, and it reports the enumerations that ibv_reg_mr combines
# if a macro of ours contains the call (CHECK_PTR).
MISTAKEN := $(if $(or $(findstring clang,$(CXX)),$(BROWSER)),-Wno-shadow -Wno-deprecated-enum-enum-conversion,-Wno-maybe-uninitialized)
# An attribute struct of verbs is initialized with the members that matter; g++ would ask for all of them.
CXXFLAGS += -std=c++20 -Wall -Wextra -Wno-missing-field-initializers -Wconversion -Wshadow $(MISTAKEN) \
    $(if $(filter 1,$(WERROR)),-Werror)
CPPFLAGS += -Isrc -I. -MMD -MP
LDLIBS   += -libverbs -lrdmacm -lssl -lcrypto -lpcap -lseccomp -lbpf -lfmt -ldeflate -lz -lzstd -llz4 -lpthread
ifeq ($(PORTABLE),1)
LDLIBS   := -Wl,--start-group $(filter-out -lbpf -lfmt,$(LDLIBS)) -lnl-route-3 -lnl-3 -Wl,--end-group
endif
LDFLAGS  += $(SANFLAGS) -Wl,--as-needed
ifeq ($(BROWSER),1)
LDLIBS   := -L$(BUILD)/lib -lpcap -ldeflate -lz -lzstd -llz4
LDFLAGS  := $(SANFLAGS) -Oz -sMODULARIZE -sEXPORT_NAME=rocecap -sENVIRONMENT=worker,node -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB \
            -sSTACK_SIZE=1MB -sINVOKE_RUN=0 -sEXPORTED_RUNTIME_METHODS=callMain,FS,WORKERFS -lworkerfs.js
endif

# Objects; objects of the units in tests/ and bench/; generated sources.
O   := $(BUILD)/obj
T   := $(PLAIN)/obj
GEN := $(PLAIN)/gen

# Each folder listed here is compiled as one translation unit, build/gen/FOLDER.cpp, which includes the folder's sources. So headers are
# read and templates instantiated once per folder, in a third of the time that one unit per source takes (CONTRIBUTING.md).
# The units that take longest to compile come first, so that no CPU waits for them at the end.
LAYERS := trace/timeline render trace/explain emulator filter render/page runlog trace/conformance capture rdma rocetrace/tracelog \
          util net wire trace/flow wire/text trace/predict trace/simulate upper trace/service trace/logged xray anonymize
# The code that processes each packet: -O2 makes it 15 % faster. Other code would only take longer to compile.
HOT    := util wire wire/text upper capture trace/flow trace/service filter rocetrace/tracelog
SRC_UNITS  := examples/common $(addprefix src/,$(LAYERS) tools/rocecap tools/rocewire tools/rocetrace tools/rocexray rocetrace/interpose)
# The libraries that rocetrace loads into a program. These are position-independent, need only the C library, and export only the
# functions that they interpose.
PIC_UNITS  := rocetrace/interpose rocetrace/interpose/exported rocetrace/interpose/preload rocetrace/audit
TEST_DIRS  := $(sort $(patsubst %/,%,$(dir $(wildcard $(addsuffix /*_test.cpp,tests/* tests/*/* tests/*/*/*)))))
TEST_UNITS := $(TEST_DIRS) tests/support tests/faults tests/stress bench bench/setup bench/transfer
# Counts allocations; in sanitized builds, with the sanitizer's hooks.
COUNTER    := tests/support/allocation_count.cpp

# A browser has no interfaces, signals, processes or threads.
ifeq ($(BROWSER),1)
LAYERS     := $(filter-out rdma rocetrace/tracelog xray,$(LAYERS)) tools/rocecap/browser
SRC_UNITS  := $(addprefix src/,$(LAYERS) tools/rocecap)
NO_BROWSER := $(addprefix src/capture/,devices rdma_devices live_source) src/render/device_list \
              $(addprefix src/util/,address cpu_usage limits number poller privileges sandbox signal_fd sysfs thread_usage) \
              $(addprefix src/emulator/,control load port switch unix_socket) \
              $(addprefix src/tools/rocecap/,annotate_follow follow input_lines line_makers live live_run parallel_printer predict) \
              $(filter-out src/net/endpoint src/net/message,$(patsubst %.cpp,%,$(wildcard src/net/*.cpp)))
endif

LIB      := $(BUILD)/libwirelab.a
LIB_OBJ  := $(if $(BROWSER),,$(O)/examples/common.o) $(LAYERS:%=$(O)/src/%.o) $(O)/assets.o $(O)/lesson_events.o
PIC_OBJ  := $(PIC_UNITS:%=$(BUILD)/pic/%.o)

TOOL     := $(BUILD)/rocecap$(if $(BROWSER),.js)
EMULATOR := $(BUILD)/rocewire
TRACER   := $(BUILD)/rocetrace
XRAY     := $(BUILD)/rocexray
TRACED   := $(BUILD)/librocetrace.so $(BUILD)/librocetrace-audit.so
STEP_BIN := $(patsubst %.cpp,$(BUILD)/%,$(wildcard examples/[0-9]*/*.cpp examples/[0-9]*/*/*.cpp))
# Lesson 26 needs a library that nothing else needs (group gloo of lab/packages). Without it, `make build` leaves the lesson out.
GLOO     := $(BUILD)/examples/26_%
lessons   = $(if $(wildcard /usr/include/gloo/transport/ibverbs/device.h),$(STEP_BIN),$(filter-out $(GLOO),$(STEP_BIN)))
BENCH    := $(addprefix $(BUILD)/bench/,decode whole make_capture make_run trace)
SETUP    := $(addprefix $(BUILD)/bench/setup/,client server)
TRANSFER := $(addprefix $(BUILD)/bench/transfer/,client server report)
FAULTY   := $(BUILD)/tests/faulty
STRESS   := $(BUILD)/tests/stress
SEEDS    := $(BUILD)/tests/fuzz_seeds
# Each folder tests/<suite>/ listed here is a separate binary; all other folders form build/tests/unit.
SUITES   := differential browser lab
TESTS    := $(addprefix $(BUILD)/tests/,unit $(SUITES))
# tests/fuzz/<target>.cpp is a libFuzzer target. The unit tests contain all targets, each under its own name.
FUZZ_BIN := $(patsubst %.cpp,$(BUILD)/%,$(filter-out %_test.cpp tests/fuzz/check.cpp,$(wildcard tests/fuzz/*.cpp)))
# CLI11 makes these the slowest to compile: they come before the library.
MAINS    := $(O)/src/tools/rocecap.o $(O)/src/tools/rocewire.o
# The programs of STEPS. A lesson's name without its number finds it if its number has changed.
no_lesson = $(or $(if $(filter 00_devices,$1),lesson '$1' is now '00_hello'),$(patsubst examples/%,lesson '$1' is now '%',$(wildcard examples/??_$(if $(findstring _,$1),$(patsubst $(firstword $(subst _, ,$1))_%,%,$1)))),there is no lesson '$1' in examples/)
wanted_steps = $(foreach s,$(STEPS),$(or $(filter $(BUILD)/examples/$s%,$(STEP_BIN)),$(error $(call no_lesson,$s))))
# The further groups of packages that STEPS need, each with a hyphen before it.
steps_packages := $(addprefix -,$(sort $(foreach f,$(wildcard $(foreach s,$(STEPS),examples/$s*/packages)),$(file <$f))))
# Sources that belong to no unit.
ALONE    := examples/common/tracer.cpp tests/browser/shoot.cpp $(COUNTER) $(patsubst $(BUILD)/%,%.cpp,$(BENCH) $(SETUP) $(TRANSFER)) $(NO_BROWSER:%=%.cpp)
BENCH_PCAPS := $(BENCH_PACKETS:%=$(BUILD)/bench/%.pcap)
BENCH_RUNS  := $(BENCH_RUN_PACKETS:%=$(BUILD)/bench/%.run)

Q := $(if $(V),,@)
# $(call begin,WHAT) begins each recipe that creates a file: it prints the file with its number and the number of all, and makes its folder.
define begin
$(if $(V),,$(eval made += x)@printf '[%2d/%s] %-4s %s\n' $(words $(made)) "$${TO_MAKE:-?}" '$(1)' '$(patsubst $(BUILD)/%,%,$@)')
$(Q)mkdir -p $(@D)
endef
# $(call make,GOALS) makes GOALS in another make, with one job per CPU unless the caller sets -j; $(call make,GOALS,1) with one job more.
# make itself does not know how many files it will create, so `make -n` lists the commands first, and their lines of `begin` are counted.
# The lock: two makes, or a lab command that builds (lab/lib/build.sh), must not write the same files. LAB_BUILDING: a lab command that this
# make runs builds nothing.
make = mkdir -p $(BUILD) && exec 9>>$(BUILD)/.lock && { flock -n 9 || { echo 'waiting for another build in $(BUILD) to finish'; flock 9; }; } && \
       export LAB_BUILDING=1 && started=$$(date +%s); export TO_MAKE=$$($(MAKE) --no-print-directory -n $(1) | grep -c "^printf '\[%2d/"); \
       $(MAKE) --no-print-directory $(if $(V),,-s) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$$(($$(nproc) + 0$(2)))) $(1) && \
       { [ "$$TO_MAKE" = 0 ] || echo "built in $$(($$(date +%s) - started)) s"; }

.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help
.PHONY: help packages build tools binaries tests check test accept test-long build-tests fuzz fuzz-binaries fuzz-seeds install uninstall deb \
        portable bench bench-transfer bench-decode bench-setup bench-clients bench-trace lint lint-all format wireshark-install \
        wireshark-uninstall figures site site-rocecap browser certs booted lab-up lab-down lab-status lab-shell lab-netem lab-netem-clear lab-loss-sweep lab-run \
        lab-capture-live samples clean FORCE

# The shell ignores the text after ##, which `make help` prints.
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\n  Variables: STEPS="01 06 07" (lab-capture-live, lab-run), HOST=server|client (lab-shell, lab-netem).\n'
	@printf '  lab/lab help lists the commands and settings of the lab.\n'

packages: packages-build
packages-%: # Install the missing packages of these groups of lab/packages: packages-build-test
	$(Q)lab/install-packages $(subst -, ,$*)

build: packages-build ## Build rocecap, rocetrace, rocewire, and all lessons or those in STEPS
	$(Q)+$(call make,$(if $(filter command% environment%,$(origin STEPS)),tools $(wanted_steps),binaries))
tools: $(MAINS) $(TOOL) $(EMULATOR) $(TRACER) $(TRACED); @:
binaries: tools $(XRAY) $(lessons); @:
tests: binaries $(TESTS) $(FAULTY) $(STRESS) $(SETUP) $(TRANSFER) $(addprefix $(BUILD)/bench/,whole make_run make_capture); @:

check: packages-build-test; $(Q)tests/run check ## Run the fast tests, without the lab: unit tests, plain and under ASan + UBSan
test: packages-build-lab-test; $(Q)tests/run all ## Run the tests: unit, tshark, browser, lab (25 minutes on two CPUs)
accept: packages-build-test ## Write the texts that unit tests got into their sources: FILTER='Refusal.*'
	$(Q)+$(call make,$(BUILD)/tests/unit)
	$(Q)tests/accept '$(or $(FILTER),*)'
test-long: packages-build-lab-test-long-fuzz; $(Q)tests/run long ## Run the long tests: sanitizers, fuzzing, fault corpus, 1,000 clients (100 minutes), arm64
build-tests: # The test programs; with SANITIZE=1, only the unit tests
	$(Q)+$(call make,$(if $(filter 1,$(SANITIZE)),$(BUILD)/tests/unit,tests))
fuzz: packages-build-fuzz; $(Q)tests/fuzz/run ## Fuzz the parsers: FUZZ_SECONDS=60 per target
fuzz-binaries: $(FUZZ_BIN); @:
fuzz-seeds: $(SEEDS); $(Q)$< # Write the generated part of tests/fuzz/corpus again

install: packages-build ## Install rocecap, rocetrace, rocewire, manual pages, documents and the Wireshark files in PREFIX (/usr/local)
	$(Q)+$(call make,tools)
	$(Q)docs/packaging/files install $(BUILD) '$(DESTDIR)$(PREFIX)'
uninstall: ; $(Q)docs/packaging/files uninstall '$(DESTDIR)$(PREFIX)' ## Remove the files that install wrote
deb: packages-build-deb; $(Q)docs/packaging/deb ## Build the Debian package of these files in build/deb, for the release that runs here
portable: packages-build ## Pack the same files in build/portable, with programs that need no library
	$(Q)+$(call make,PORTABLE=1 tools)
	$(Q)docs/packaging/portable

bench: ; $(Q)$(MAKE) --no-print-directory bench-transfer bench-decode ## Run bench-transfer and bench-decode
bench-transfer: packages-build-lab-bench ## Measure RDMA and TCP in the lab, for docs/dev/performance.md
	$(Q)+$(call make,$(TRANSFER))
	$(Q)bench/transfer/run docs/dev/performance.md
bench-decode: packages-build-test-bench ## Measure decoding, also against tshark and tcpdump
	$(Q)+$(call make,$(TOOL) $(BENCH) $(BENCH_PCAPS) $(BENCH_RUNS:%=%/run.json))
	$(Q)$(BUILD)/bench/decode
	$(Q)$(BUILD)/bench/trace
	$(Q)$(BUILD)/bench/whole $(TOOL) $(BENCH_PCAPS) $(BENCH_RUNS)
bench-setup: packages-build-lab ## Measure connection set-up in the lab, phase by phase: rdma_cm, TCP, TLS
	$(Q)+$(call make,$(SETUP))
	$(Q)bench/setup/run
# $(call in_lab,COMMAND,MORE PACKAGES)
in_lab = $(Q)lab/install-packages lab $(2) && lab/lab up && $(1)
bench-clients: build; $(call in_lab,bench/clients) ## Measure lesson 08's hardened server in the lab with 10, 100 and 1,000 clients (minutes)
bench-trace: build; $(call in_lab,bench/tracing,bench) ## Measure the overhead of rocetrace in the lab (minutes)

lint: packages-build-test-bench-lint; $(Q)tests/lint/run ## Check format, layers and scripts, and sources changed since LINT_BASE (main)
lint-all: packages-build-test-bench-lint; $(Q)tests/lint/run --all ## Run lint on all sources (minutes)
format: packages-lint; $(Q)git ls-files -co --exclude-standard '*.cpp' '*.hpp' | xargs clang-format -i ## Rewrite the sources in the project's format

wireshark-install: ; $(Q)wireshark/install install ## Install the lab's Wireshark profile, dissector and interfaces for your user
wireshark-uninstall: ; $(Q)wireshark/install uninstall ## Remove the files that wireshark-install wrote

figures: ## Make the diagrams and screenshots of the documents again
	$(Q)docs/figures/draw
	$(Q)lab/install-packages build lab test figures
	$(Q)+$(call make,$(TOOL) $(STEP_BIN) $(BUILD)/tests/shoot)
	$(Q)wireshark/figures
	$(Q)src/render/page/figures
site: packages-build-site ## The documents, the lessons' sources and the reference runs as web pages, in build/site, to read without a checkout
	$(Q)+$(call make,$(TOOL))
	$(Q)docs/site/capture/compile --if-cheap
	$(Q)docs/site/build
site-rocecap: ; $(Q)docs/site/capture/compile ## Compile rocecap to WebAssembly for the site's page that reads a visitor's capture (root, or em++)
browser: ; $(Q)+$(call make,$(TOOL)) # With BROWSER=1: docs/site/capture/compile

certs: packages-lab; $(Q)lab/certs build/certs ## Create the CA and the certificates of lessons 07 and later in build/certs
lab-up: packages-lab; $(Q)lab/lab up ## Start the lab
lab-down: ; $(Q)lab/lab down ## Stop the lab
lab-status: ; $(Q)lab/lab status ## Print which machines run and how to reach them
lab-shell: ; $(Q)lab/lab shell $(or $(HOST),server) ## Open a shell on a lab machine: HOST=server or HOST=client
lab-netem: ## Impair packets: LOSS=1% DELAY=2ms REORDER=25%, HOST=server|client|both
	$(Q)lab/lab netem $(or $(HOST),both) $(if $(LOSS),loss $(LOSS)) $(if $(DELAY),delay $(DELAY)) $(if $(REORDER),reorder $(REORDER))
lab-netem-clear: ; $(Q)lab/lab netem $(or $(HOST),both) clear ## Remove the settings of lab-netem
lab-loss-sweep: build; $(call in_lab,examples/19_packet_loss/sweep,test) ## Measure RDMA and TCP at 0 to 5 % loss in the lab: table and plot (minutes)
booted: ; $(Q)lab/lab boot # The guests boot while the programs are compiled
lab-run: packages-build-lab$(steps_packages) ## Run STEPS in the lab without a capture
	$(Q)+$(call make,booted tools $(wanted_steps),1)
	$(Q)lab/lab run $(STEPS)
lab-capture-live: packages-build-lab$(steps_packages) ## Run STEPS in the lab: print logs and packets live, then the PSNs
	$(Q)+$(call make,booted tools $(wanted_steps),1)
	$(Q)lab/lab capture $(STEPS)
samples: build; $(call in_lab,captures/make-samples) ## Record captures/samples again: one run of each lesson in the lab

clean: ; $(Q)lab/lab down && rm -rf build ## Remove the files of the build (stop the lab first)

# The file of a unit. It is written again if the list of sources in the folder has changed; otherwise this rule runs no command, and the
# file keeps its age. The + lets `make -n` find this out, too. In tests/fuzz, the function of each target gets a name of its own.
sources  = $(sort $(filter-out $(ALONE),$(wildcard $*/*.cpp)))
included = $(patsubst "%",%,$(filter "%",$(file <$@)))
renamed  = | sed -E 's|.*/(.*)\.cpp"|\#undef LLVMFuzzerTestOneInput\n\#define LLVMFuzzerTestOneInput fuzz_\1\n&|'
$(patsubst %,$(GEN)/%.cpp,$(sort $(SRC_UNITS) $(PIC_UNITS:%=src/%) $(TEST_UNITS))): $(GEN)/%.cpp: FORCE
	+$(if $(filter-out $(included),$(sources))$(filter-out $(sources),$(included)),@mkdir -p $(@D) && \
	    printf '#include "%s"\n' $(sources) $(if $(filter tests/fuzz,$*),$(renamed)) >$@)

# HTML, CSS and JavaScript as constants in a source, and the texts for events of individual lessons.
$(GEN)/assets.cpp: src/render/page/embed src/render/page/page.html src/render/page/page.css $(wildcard src/render/page/script/*.js)
$(GEN)/lesson_events.cpp: src/runlog/lesson_events $(wildcard examples/*/events)
$(GEN)/assets.cpp $(GEN)/lesson_events.cpp:
	$(call begin,GEN)
	$(Q)$< $(filter-out $<,$^) >$@

# rocecap for a browser is compiled with libraries of its own.
ifeq ($(BROWSER),1)
$(BUILD)/include/zstd_errors.h: src/tools/rocecap/browser/libraries
	$(call begin,LIBS)
	$(Q)$< $(BUILD)
$(LIB_OBJ) $(MAINS): | $(BUILD)/include/zstd_errors.h
endif

flags = $(OPT) $(if $(findstring /obj/tests/,$@),-Itests $(TEST_OPT)) $(if $(filter $(HOT:%=$(O)/src/%.o),$@),$(HOT_OPT))
# The sources in tools/rocewire forward no frames, so they need no optimization.
$(O)/src/tools/rocewire.o: OPT := -O0 -g1
# g++ 14 wrongly reports an access to address 0 in verbs_get_ctx().
$(PIC_OBJ): private flags = -O2 -g1 -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti -Wno-array-bounds $(OLD_GLIBC)
# $(call compile,COMPILER)
define compile
$(call begin,CXX)
$(Q)$(1) $(CPPFLAGS) $(CXXFLAGS) $(flags) -c -o $@ $<
endef

$(O)/%.o: %.cpp
	$(call compile,$(CXX) $(SANFLAGS))
$(SRC_UNITS:%=$(O)/%.o) $(O)/assets.o $(O)/lesson_events.o: $(O)/%.o: $(GEN)/%.cpp
	$(call compile,$(CXX) $(SANFLAGS))
$(TEST_UNITS:%=$(T)/%.o): $(T)/%.o: $(GEN)/%.cpp
	$(call compile,$(PLAIN_CXX))
$(PIC_OBJ): $(BUILD)/pic/%.o: $(GEN)/src/%.cpp
	$(call compile,$(CXX))

$(LIB): $(LIB_OBJ)
	$(call begin,AR)
	$(Q)rm -f $@.new && $(AR) rcs $@.new $^ && mv $@.new $@

# $(call link,OBJECTS AND LIBRARIES)
define link
$(call begin,LD)
$(Q)$(CXX) $(LDFLAGS) -o $@ $(1) $(LDLIBS)
endef

# The objects of each program. The library comes last, because the object of a tool takes longest to compile.
$(TOOL):     $(O)/src/tools/rocecap.o
$(EMULATOR): $(O)/src/tools/rocewire.o
$(TRACER):   $(O)/src/tools/rocetrace.o
$(XRAY):     $(O)/src/tools/rocexray.o
ifeq ($(PORTABLE),1)
$(TOOL) $(EMULATOR) $(TRACER): $(O)/src/portable/without_dbus.o
endif
$(STEP_BIN): $(BUILD)/%: $(O)/%.o
$(filter $(GLOO),$(STEP_BIN)): private LDLIBS := -lgloo $(LDLIBS)
# Lessons are linked with the interposing library, which logs their calls; not lesson 05, which sends nothing, and not those whose
# programs log nothing: the lab runs them with rocetrace.
$(filter-out $(BUILD)/examples/05_% $(patsubst %/traced,$(BUILD)/%/%,$(wildcard examples/*/traced)),$(STEP_BIN)): $(O)/examples/common/tracer.o \
    $(filter %/interpose.o %/exported.o,$(PIC_OBJ))
$(BENCH):    $(BUILD)/%: $(O)/%.o $(T)/bench.o
$(SETUP):    $(BUILD)/%: $(O)/%.o $(T)/bench.o $(T)/bench/setup.o
$(TRANSFER): $(BUILD)/%: $(O)/%.o $(T)/bench.o $(T)/bench/transfer.o
$(BUILD)/bench/trace: $(BUILD)/pic/rocetrace/interpose.o
$(BUILD)/bench/decode $(BUILD)/bench/trace: private LDLIBS := -lbenchmark $(LDLIBS)
$(FAULTY):   $(T)/tests/faults.o
$(STRESS):   $(T)/tests/stress.o
$(SEEDS):    $(O)/tests/fuzz/seeds/main.o
$(FUZZ_BIN): $(BUILD)/%: $(O)/%.o $(O)/tests/fuzz/check.o
$(FUZZ_BIN): private LDFLAGS += -fsanitize=fuzzer
PROGRAMS := $(TOOL) $(EMULATOR) $(TRACER) $(XRAY) $(STEP_BIN) $(BENCH) $(SETUP) $(TRANSFER) $(FAULTY) $(STRESS) $(SEEDS) $(FUZZ_BIN)
$(PROGRAMS): $(LIB)
$(PROGRAMS):
	$(call link,$(filter %.o,$^) $(LIB))

# The objects of each test program, besides those of the library and those that all share. The unit tests have the interposing library
# without the functions that it exports: they call its implementations directly. threads: the folders whose tests have several threads.
INTERPOSE := $(O)/src/rocetrace/interpose.o
SHARED    := $(T)/tests/support.o $(O)/$(COUNTER:.cpp=.o) $(T)/bench.o $(T)/bench/setup.o $(T)/bench/transfer.o
$(BUILD)/tests/unit:    $(filter-out $(SUITES:%=$(T)/tests/%.o),$(TEST_DIRS:%=$(T)/%.o)) $(INTERPOSE) | $(TOOL) $(EMULATOR) $(TRACER) $(XRAY) $(TRACED)
$(BUILD)/tests/threads: $(addprefix $(T)/tests/,emulator.o net.o rocetrace/interpose.o lessons.o rocetrace/tracelog.o tools/rocecap/parallel.o) $(INTERPOSE) | $(TOOL) $(BUILD)/bench/make_capture
$(BUILD)/tests/shoot:   $(O)/tests/browser/shoot.o
$(SUITES:%=$(BUILD)/tests/%): $(BUILD)/%: $(T)/%.o
# The library's objects come first: of an inline function that several objects contain, the linker takes the first, which in a test with
# sanitizers must be the instrumented one.
$(TESTS) $(BUILD)/tests/threads $(BUILD)/tests/shoot: $(LIB_OBJ) $(SHARED)
	$(call link,$(LIB_OBJ) $(filter-out $(LIB_OBJ),$(filter %.o,$^)) -lgtest_main -lgtest)

# A *.map lists the exported functions.
$(BUILD)/librocetrace.so: $(filter-out %/audit.o,$(PIC_OBJ)) src/rocetrace/interpose/exported/exports.map
$(BUILD)/librocetrace-audit.so: $(BUILD)/pic/rocetrace/audit.o
# Before glibc 2.34, not all of the functions are in libc.
$(BUILD)/librocetrace.so: private OLD_LIBS := $(if $(OLD_GLIBC),-Xlinker --no-as-needed -l:libpthread.so.0 -l:libdl.so.2)
$(TRACED):
	$(call begin,LD)
	$(Q)$(CXX) -shared -nodefaultlibs -Wl,-z,defs -o $@ $(^:%.map=-Xlinker --version-script=%.map) $(OLD_LIBS) -lc -lgcc

$(BUILD)/bench/%.pcap: $(BUILD)/bench/make_capture
	$(call begin,MAKE)
	$(Q)$< $* $@
$(BUILD)/bench/%.run/run.json: $(BUILD)/bench/make_run
	$(call begin,MAKE)
	$(Q)$< $* $(@D)

-include $(shell find $(sort $(O) $(BUILD)/pic $(T)) -name '*.d' 2>/dev/null)

# Builds the programs that a command needs, if they are missing or older than their sources. If the hosts run another root than this machine
# (SYSROOT, lab/vm/sysroot.sh), their programs are built in it: IN_SYSROOT is then set.
# shellcheck shell=bash

# The programs that each run needs, with the libraries of rocetrace.
BUILD_TOOLS=(rocecap rocewire rocetrace librocetrace.so librocetrace-audit.so)
IN_SYSROOT=

# for_hosts FUNCTION ARG...: calls the function for the programs that the hosts run.
for_hosts() {
    local IN_SYSROOT=${SYSROOT:-}
    "$@"
}

# host_file FILE: prints the path on this machine of a program that is FILE on the hosts, relative to the checkout.
host_file() {
    if [[ -n ${SYSROOT_BUILD:-} ]]; then
        printf '%s' "$SYSROOT_BUILD${1#build}"
    else
        printf '%s' "$1"
    fi
}

# build_for_run LESSON...: builds what a run needs on this machine and on the hosts.
build_for_run() {
    if [[ -n ${SYSROOT:-} ]]; then
        build tools
        for_hosts build tools "$@"
    else
        build tools "$@"
    fi
}

# lab_make ARG...: make for LAB_BUILD, without the options of a make that has called the lab.
lab_make() {
    local sanitize='' run=(exec make -C "$LAB_ROOT")
    [[ -z $IN_SYSROOT ]] || run=(make_for_sysroot)
    case $LAB_BUILD in
        build/asan) sanitize=1 ;;
        build/tsan) sanitize=thread ;;
    esac
    unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
    "${run[@]}" --no-print-directory "BUILD=$LAB_BUILD" "SANITIZE=$sanitize" V= "$@"
}

# is_built FILE...: whether these exist and are newer than their sources. 2: make does not know one of them.
is_built() { (lab_make -q "$@") >/dev/null 2>&1; }

# files_of PART: sets FILES to the files, and NAME to the name, of `tools`, of a lesson's folder or of a file.
files_of() {
    local source
    FILES=()
    case $1 in
        tools)
            FILES=("${BUILD_TOOLS[@]/#/$LAB_BUILD/}")
            NAME='rocecap, rocewire, rocetrace'
            if [[ -n $IN_SYSROOT ]]; then
                # rocewire runs on this machine.
                FILES=("$LAB_BUILD"/{rocecap,rocetrace,librocetrace.so,librocetrace-audit.so})
                NAME='rocecap, rocetrace'
            fi
            ;;
        [0-9][0-9]_*)
            for source in "$LAB_ROOT/examples/$1"/*.cpp; do
                source=${source##*/}
                FILES+=("$LAB_BUILD/examples/$1/${source%.cpp}")
            done
            NAME="lesson ${1%%_*}"
            ;;
        *)
            FILES=("$1")
            NAME=$1
            ;;
    esac
}

# build PART...: builds what is missing or older than its sources, and prints one line about it. If that fails, prints all messages of
# the compiler and exits with status 2.
build() {
    local part names='' lessons='' all=() stale=() groups=(build)
    [[ -z ${LAB_BUILDING:-} || -n $IN_SYSROOT ]] || return 0 # make, which has called the lab, builds
    for part in "$@"; do
        files_of "$part"
        all+=("${FILES[@]}")
    done
    if [[ -z $IN_SYSROOT ]] && ! command -v make >/dev/null; then
        for part in "${all[@]}"; do
            [[ -e $LAB_ROOT/$part ]] ||
                die "$part is not built, and make is missing: run lab/install-packages build, which installs what building needs."
        done
        return
    fi
    ! is_built "${all[@]}" || return 0
    for part in "$@"; do
        files_of "$part"
        ! is_built "${FILES[@]}" || continue
        stale+=("${FILES[@]}")
        if [[ $NAME == lesson\ * ]]; then
            lessons+="${lessons:+, }${NAME#lesson }"
            # The further packages that only this lesson needs.
            [[ ! -r $LAB_ROOT/examples/$part/packages ]] || groups+=("$(<"$LAB_ROOT/examples/$part/packages")")
        else
            names+="${names:+, }$NAME"
        fi
    done
    if [[ $lessons == *,* ]]; then
        lessons="lessons $lessons"
    elif [[ -n $lessons ]]; then
        lessons="lesson $lessons"
    fi
    names+=${names:+${lessons:+, }}$lessons
    ((${#stale[@]} == 0)) || build_files "$names${IN_SYSROOT:+ for $SYSROOT_NAME}" "${groups[*]}" "${stale[@]}"
}

build_files() { # NAMES GROUPS-OF-PACKAGES FILE...
    local names=$1 wanted=$2 folder=$LAB_ROOT/$LAB_BUILD log started missing='' status=0 fd
    shift 2
    if [[ -n $IN_SYSROOT ]]; then
        folder=$LAB_ROOT/$(host_file "$LAB_BUILD")
    else
        # shellcheck disable=SC2086 # the groups' names
        missing=$("$LAB_ROOT/lab/install-packages" --missing $wanted)
    fi
    log=$folder/.make.log
    [[ -z $missing ]] ||
        die "building $names needs packages that are missing here: run make packages-${wanted// /-}, which installs them ($missing)."
    mkdir -p "$folder" 2>/dev/null || true
    # The Makefile takes the same lock.
    exec {fd}>>"$folder/.lock" || die "cannot write $folder: use the lab as the user who owns the checkout."
    if ! flock -n "$fd"; then
        say "waiting for another build in ${folder#"$LAB_ROOT/"} to finish"
        until flock -n "$fd"; do
            pause 0.2
        done
    fi
    started=$(now_ms)
    printf 'lab: building %s' "$names" >&2
    TO_MAKE=$( (lab_make -n "$@") 2>/dev/null | grep -c "^printf '\[%2d/") || true
    export TO_MAKE
    : >"$log"
    (lab_make "-j$(nproc)" "$@") >"$log" 2>&1 &
    INTERRUPTIBLE=$!
    while kill -0 "$INTERRUPTIBLE" 2>/dev/null; do
        [[ ! -t 2 ]] || printf '\rlab: building %s: %s of %s files ' "$names" "$(grep -c '^\[' "$log")" "$TO_MAKE" >&2
        pause 0.1
    done
    wait "$INTERRUPTIBLE" || status=$?
    INTERRUPTIBLE=
    [[ ! -t 2 ]] || printf '\r\e[Klab: building %s' "$names" >&2
    exec {fd}>&-
    if ((status == 0)); then
        printf ' (%d s)\n' $((($(now_ms) - started + 500) / 1000)) >&2
    else
        printf '\n' >&2
    fi
    # Warnings and errors.
    grep -vE "^\[ *[0-9]+/|^make: '.*' is up to date" "$log" >&2 || true
    rm -f "$log"
    ((status == 0)) || usage_error "$names could not be built: the compiler's messages are above."
}

# build_words WORD...: builds the programs below LAB_BUILD that the words of a command contain. Sets PROGRAMS to them.
build_words() {
    local text="$* " file
    local -a files=() known=()
    PROGRAMS=()
    while [[ $text =~ (^|[^a-zA-Z0-9_./-])(\./|"$LAB_ROOT/")?("$LAB_BUILD"/[a-zA-Z0-9_./-]+)(.*) ]]; do
        file=${BASH_REMATCH[3]} text=${BASH_REMATCH[4]}
        [[ -d $LAB_ROOT/$(host_file "$file") ]] || files+=("$file")
        # rocetrace loads its libraries.
        [[ $file != "$LAB_BUILD/rocetrace" ]] || files+=("$LAB_BUILD"/librocetrace{,-audit}.so)
    done
    ((${#files[@]} > 0)) || return 0
    if ! is_built "${files[@]}"; then
        for file in "${files[@]}"; do
            # make has no rule for other files, such as those that a program writes.
            is_built "$file" || (($? == 2)) || known+=("$file")
        done
        ((${#known[@]} == 0)) || build "${known[@]}"
    fi
    for file in "${files[@]}"; do
        [[ ! -x $LAB_ROOT/$(host_file "$file") ]] || PROGRAMS+=("$file")
    done
}

// An auditing library (rtld-audit(7)) for what LD_PRELOAD does not reach: a program that looks up a
// function of libibverbs or librdmacm with dlsym or dlvsym in the library's own handle, or that
// loads a library with RTLD_DEEPBIND. The dynamic linker calls this library for each such symbol,
// and gets librocetrace.so's function of the same name and version.
//
// It has its own namespace and its own C library, and therefore calls no functions.
#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <link.h>

// The dynamic linker passes addresses as integers.
// NOLINTBEGIN(performance-no-int-to-ptr)

namespace {

bool ends_with(const char* text, const char* end) {
    std::size_t text_size = 0;
    std::size_t end_size = 0;
    while (text[text_size] != '\0')
        ++text_size;
    while (end[end_size] != '\0')
        ++end_size;
    if (text_size < end_size)
        return false;
    for (std::size_t i = 0; i < end_size; ++i)
        if (text[text_size - end_size + i] != end[i])
            return false;
    return true;
}

bool same(const char* one, const char* other) {
    for (; *one != '\0' && *one == *other; ++one)
        ++other;
    return *one == *other;
}

// The symbols of a loaded library, from its dynamic section.
class Symbols {
  public:
    explicit Symbols(const link_map& map) : base_(map.l_addr) {
        for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry)
            take(*entry);
    }

    // The address of the default version of a function; 0 if there is none.
    std::uintptr_t find(const char* name) const {
        if (hash_ == nullptr || table_ == nullptr || strings_ == nullptr)
            return 0;
        const std::uint32_t buckets = hash_[0];
        const std::uint32_t first = hash_[1];
        const std::uint32_t words = hash_[2];
        const std::uint32_t* bucket =
            hash_ + 4 + static_cast<std::size_t>(words) * (sizeof(ElfW(Addr)) / 4);
        const std::uint32_t* chain = bucket + buckets;
        const std::uint32_t hash = hash_of(name);
        std::uint32_t index = bucket[hash % buckets];
        if (index < first)
            return 0;
        for (;; ++index) {
            const std::uint32_t seen = chain[index - first];
            if ((seen | 1U) == (hash | 1U) && is_default(index, name))
                return base_ + table_[index].st_value;
            if ((seen & 1U) != 0)
                return 0;
        }
    }

  private:
    void take(const ElfW(Dyn) & entry) {
        switch (entry.d_tag) {
            case DT_SYMTAB:
                table_ = reinterpret_cast<const ElfW(Sym)*>(entry.d_un.d_ptr);
                break;
            case DT_STRTAB:
                strings_ = reinterpret_cast<const char*>(entry.d_un.d_ptr);
                break;
            case DT_GNU_HASH:
                hash_ = reinterpret_cast<const std::uint32_t*>(entry.d_un.d_ptr);
                break;
            case DT_VERSYM:
                versions_ = reinterpret_cast<const std::uint16_t*>(entry.d_un.d_ptr);
                break;
            default:
                break;
        }
    }

    // The GNU hash function of symbol names.
    static std::uint32_t hash_of(const char* name) {
        std::uint32_t hash = 5381;
        for (; *name != '\0'; ++name)
            hash = hash * 33 + static_cast<unsigned char>(*name);
        return hash;
    }

    bool is_default(std::uint32_t index, const char* name) const {
        constexpr std::uint16_t hidden = 0x8000;
        const ElfW(Sym)& symbol = table_[index];
        return symbol.st_shndx != SHN_UNDEF && same(strings_ + symbol.st_name, name) &&
               (versions_ == nullptr || (versions_[index] & hidden) == 0);
    }

    std::uintptr_t base_;
    const ElfW(Sym) * table_ = nullptr;
    const char* strings_ = nullptr;
    const std::uint32_t* hash_ = nullptr;
    const std::uint16_t* versions_ = nullptr;
};

const link_map* tracer = nullptr;

}  // namespace

#pragma GCC visibility push(default)

extern "C" {

unsigned la_version(unsigned version) {
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

// Only bindings to the two libraries matter. Bindings from within them or from the tracing library
// must not change.
unsigned la_objopen(link_map* map, Lmid_t space, std::uintptr_t* cookie) {
    *cookie = reinterpret_cast<std::uintptr_t>(map);
    if (space != LM_ID_BASE)
        return 0;
    if (ends_with(map->l_name, "/librocetrace.so")) {
        tracer = map;
        return 0;
    }
    if (ends_with(map->l_name, "/libibverbs.so.1") || ends_with(map->l_name, "/librdmacm.so.1"))
        return LA_FLG_BINDTO | LA_FLG_BINDFROM;
    return LA_FLG_BINDFROM;
}

std::uintptr_t la_symbind64(ElfW(Sym) * symbol, unsigned /*index*/, std::uintptr_t* from,
                            std::uintptr_t* to, unsigned* /*flags*/, const char* name) {
    // dlsym() calls this even if only one of the two ends matters.
    if (tracer == nullptr || *from == reinterpret_cast<std::uintptr_t>(tracer))
        return symbol->st_value;
    // Does not replace a function of an older version: its arguments differ.
    const Symbols defining(*reinterpret_cast<const link_map*>(*to));
    const std::uintptr_t own = Symbols(*tracer).find(name);
    if (own == 0 || defining.find(name) != symbol->st_value)
        return symbol->st_value;
    return own;
}

}  // extern "C"

#pragma GCC visibility pop

// NOLINTEND(performance-no-int-to-ptr)

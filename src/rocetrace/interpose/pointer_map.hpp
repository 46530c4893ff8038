// Maps a verbs object to what is known of it. Lookups take no lock; insertions and removals do.
//
// A lookup finds each key that is in the map, whatever else changes in the map meanwhile. A lookup
// of a key that is being removed finds its value or nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rocetrace/interpose/arena.hpp"
#include "rocetrace/interpose/lock.hpp"

namespace interpose {

template <typename Value>
class PointerMap {
  public:
    /// `key`: neither 0 nor 1. nullptr if it is not in the map.
    Value* find(std::uint64_t key) const {
        const Table* table = table_.load(std::memory_order_acquire);
        if (table == nullptr)
            return nullptr;
        for (std::size_t i = hash(key) & table->mask;; i = (i + 1) & table->mask) {
            const std::uint64_t seen = table->slots()[i].key.load(std::memory_order_acquire);
            if (seen == key)
                return checked(table->slots()[i], key);
            if (seen == empty)
                return nullptr;
        }
    }
    Value* find(const void* key) const { return find(reinterpret_cast<std::uintptr_t>(key)); }

    /// Replaces the key's value. Returns false if there is no memory.
    bool insert(std::uint64_t key, Value* value) {
        const Guard guard(lock_);
        if (!make_room())
            return false;
        put(*table_.load(std::memory_order_relaxed), key, value);
        return true;
    }
    bool insert(const void* key, Value* value) {
        return insert(reinterpret_cast<std::uintptr_t>(key), value);
    }

    /// Removes the key if it has this value.
    void erase(std::uint64_t key, const Value* value) {
        const Guard guard(lock_);
        Table* table = table_.load(std::memory_order_relaxed);
        if (table == nullptr)
            return;
        for (std::size_t i = hash(key) & table->mask;; i = (i + 1) & table->mask) {
            Slot& slot = table->slots()[i];
            const std::uint64_t seen = slot.key.load(std::memory_order_relaxed);
            if (seen == empty)
                return;
            if (seen == key && slot.value.load(std::memory_order_relaxed) == value) {
                slot.key.store(erased, std::memory_order_release);
                return;
            }
        }
    }
    void erase(const void* key, const Value* value) {
        erase(reinterpret_cast<std::uintptr_t>(key), value);
    }

    /// For the child of a fork.
    void reset_lock() { lock_.reset(); }

  private:
    static constexpr std::uint64_t empty = 0;
    static constexpr std::uint64_t erased = 1;

    struct Slot {
        std::atomic<std::uint64_t> key;
        std::atomic<Value*> value;
    };
    struct Table {
        std::size_t mask;
        std::size_t filled;  // slots that are not empty

        Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
        const Slot* slots() const { return reinterpret_cast<const Slot*>(this + 1); }
    };

    // The slot may have been given to another key since: its value is written before its key.
    static Value* checked(const Slot& slot, std::uint64_t key) {
        Value* const value = slot.value.load(std::memory_order_acquire);
        return slot.key.load(std::memory_order_relaxed) == key ? value : nullptr;
    }

    static std::size_t hash(std::uint64_t key) {
        return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> 32U);
    }

    static void put(Table& table, std::uint64_t key, Value* value) {
        Slot* place = nullptr;
        for (std::size_t i = hash(key) & table.mask;; i = (i + 1) & table.mask) {
            Slot& slot = table.slots()[i];
            const std::uint64_t seen = slot.key.load(std::memory_order_relaxed);
            if (seen == key) {
                slot.value.store(value, std::memory_order_release);
                return;
            }
            if (seen == erased && place == nullptr)
                place = &slot;
            if (seen != empty)
                continue;
            if (place == nullptr) {
                place = &slot;
                ++table.filled;
            }
            break;
        }
        place->value.store(value, std::memory_order_release);
        place->key.store(key, std::memory_order_release);
    }

    // A replaced table is not freed, because a lookup may use it. All of them together are smaller
    // than the current one.
    bool make_room() {
        Table* old = table_.load(std::memory_order_relaxed);
        if (old != nullptr && old->filled * 2 <= old->mask)
            return true;
        std::size_t live = 0;
        for (std::size_t i = 0; old != nullptr && i <= old->mask; ++i)
            live += old->slots()[i].key.load(std::memory_order_relaxed) > erased;
        std::size_t slots = 64;
        while (slots < live * 4)
            slots *= 2;
        if (old != nullptr && slots <= old->mask)
            slots = old->mask + 1;
        auto* table = static_cast<Table*>(take_memory(sizeof(Table) + slots * sizeof(Slot)));
        if (table == nullptr)
            return false;
        table->mask = slots - 1;
        for (std::size_t i = 0; old != nullptr && i <= old->mask; ++i) {
            const Slot& slot = old->slots()[i];
            const std::uint64_t key = slot.key.load(std::memory_order_relaxed);
            if (key > erased)
                put(*table, key, slot.value.load(std::memory_order_relaxed));
        }
        table_.store(table, std::memory_order_release);
        return true;
    }

    std::atomic<Table*> table_{nullptr};
    Lock lock_;
};

}  // namespace interpose

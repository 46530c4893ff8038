// A bounded number of equal objects, addressed by index. All memory is reserved at the start and
// nothing is allocated later. Memory that was never used is not resident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace flow {

/// Index of an object in a Pool.
using PoolIndex = std::uint32_t;
inline constexpr PoolIndex no_index = UINT32_MAX;

template <typename T>
class Pool {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    /// `capacity`: 1 .. no_index - 1.
    explicit Pool(std::size_t capacity)
        : capacity_(capacity), objects_(std::allocator<T>().allocate(capacity)) {
        free_.reserve(capacity);
    }
    ~Pool() { std::allocator<T>().deallocate(objects_, capacity_); }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    Pool(Pool&&) = delete;
    Pool& operator=(Pool&&) = delete;

    /// Returns a new T(), or no_index if all are in use.
    PoolIndex take() {
        PoolIndex index = no_index;
        if (!free_.empty()) {
            index = free_.back();
            free_.pop_back();
        } else if (used_ < capacity_) {
            index = static_cast<PoolIndex>(used_++);
        } else {
            return no_index;
        }
        std::construct_at(objects_ + index);
        return index;
    }
    void give_back(PoolIndex index) { free_.push_back(index); }

    T& operator[](PoolIndex index) { return objects_[index]; }
    const T& operator[](PoolIndex index) const { return objects_[index]; }

    std::size_t in_use() const { return used_ - free_.size(); }
    std::size_t capacity() const { return capacity_; }

  private:
    std::size_t capacity_;
    std::size_t used_ = 0;  // objects from here on were never used
    T* objects_;
    std::vector<PoolIndex> free_;
};

}  // namespace flow

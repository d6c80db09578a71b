// A callable that can be moved but not copied, and that stores up to kInline bytes of captures in itself: no allocation
// for small continuations, and captures may own objects. Calling an empty one is undefined.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace ratchet {

template <class Signature, std::size_t kInline = 48>
class UniqueFunction;

template <class R, class... Args, std::size_t kInline>
class UniqueFunction<R(Args...), kInline> {
 public:
  UniqueFunction() = default;
  UniqueFunction(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): as std::function
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, UniqueFunction> &&
                                              std::is_invocable_r_v<R, std::decay_t<F>&, Args...>>>
  UniqueFunction(F&& callable) {  // NOLINT(google-explicit-constructor): as std::function
    using Callable = std::decay_t<F>;
    if constexpr (FitsInline<Callable>()) {
      new (static_cast<void*>(storage_)) Callable(std::forward<F>(callable));
      operations_ = &kInlineOperations<Callable>;
    } else {
      new (static_cast<void*>(storage_)) Callable*(new Callable(std::forward<F>(callable)));
      operations_ = &kHeapOperations<Callable>;
    }
  }
  UniqueFunction(UniqueFunction&& other) noexcept { Take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      Reset();
      Take(other);
    }
    return *this;
  }
  UniqueFunction(const UniqueFunction&) = delete;
  UniqueFunction& operator=(const UniqueFunction&) = delete;
  ~UniqueFunction() { Reset(); }

  explicit operator bool() const { return operations_ != nullptr; }
  R operator()(Args... args) { return operations_->call(storage_, std::forward<Args>(args)...); }

 private:
  struct Operations {
    R (*call)(void* storage, Args&&... args);
    void (*move)(void* from, void* to);  // also destroys `from`
    void (*destroy)(void* storage);
  };
  template <class F>
  static constexpr bool FitsInline() {
    return sizeof(F) <= kInline && alignof(F) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<F>;
  }
  template <class F>
  static F& Inline(void* storage) {
    return *std::launder(static_cast<F*>(storage));
  }
  template <class F>
  static F*& Heap(void* storage) {
    return *std::launder(static_cast<F**>(storage));
  }

  template <class F>
  static constexpr Operations kInlineOperations{
      [](void* storage, Args&&... args) -> R { return Inline<F>(storage)(std::forward<Args>(args)...); },
      [](void* from, void* to) {
        new (to) F(std::move(Inline<F>(from)));
        Inline<F>(from).~F();
      },
      [](void* storage) { Inline<F>(storage).~F(); }};
  template <class F>
  static constexpr Operations kHeapOperations{
      [](void* storage, Args&&... args) -> R { return (*Heap<F>(storage))(std::forward<Args>(args)...); },
      [](void* from, void* to) { new (to) F*(Heap<F>(from)); }, [](void* storage) { delete Heap<F>(storage); }};

  void Take(UniqueFunction& other) {
    operations_ = other.operations_;
    if (operations_ != nullptr) operations_->move(other.storage_, storage_);
    other.operations_ = nullptr;
  }
  void Reset() {
    if (operations_ != nullptr) operations_->destroy(storage_);
    operations_ = nullptr;
  }

  const Operations* operations_ = nullptr;
  alignas(std::max_align_t) unsigned char storage_[kInline];
};

}  // namespace ratchet

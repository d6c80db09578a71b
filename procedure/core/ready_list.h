// The procedures that continue before the lock is released: first in, first out, through links inside its elements.
// Pure.
//
// An element that is destroyed, or that becomes something else first, leaves the list by itself.
#pragma once

namespace ratchet::procedure {

// Embedded in each element. In one list at most.
class ReadyLink {
 public:
  explicit ReadyLink(void* owner = nullptr) : owner_(owner) {}
  ~ReadyLink() { Leave(); }
  ReadyLink(const ReadyLink&) = delete;
  ReadyLink& operator=(const ReadyLink&) = delete;

  [[nodiscard]] bool linked() const { return next_ != this; }
  void Leave() {
    if (!linked()) return;
    prev_->next_ = next_;
    next_->prev_ = prev_;
    prev_ = next_ = this;
  }

 private:
  friend class ReadyList;
  void* const owner_;
  ReadyLink* prev_ = this;
  ReadyLink* next_ = this;
};

class ReadyList {
 public:
  [[nodiscard]] bool empty() const { return !ends_.linked(); }
  // An element that is in the list already keeps its place.
  void Add(ReadyLink& link) {
    if (link.linked()) return;
    link.prev_ = ends_.prev_;
    link.next_ = &ends_;
    ends_.prev_->next_ = &link;
    ends_.prev_ = &link;
  }
  // Removes the first element and returns its owner; null when there is none.
  void* Take() {
    if (empty()) return nullptr;
    ReadyLink& first = *ends_.next_;
    first.Leave();
    return first.owner_;
  }

 private:
  ReadyLink ends_;
};

}  // namespace ratchet::procedure

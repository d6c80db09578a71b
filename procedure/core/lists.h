// A doubly linked list through links inside its elements (`prev`, `next`): no allocation, constant time. Owns nothing.
#pragma once

namespace ratchet::procedure {

template <class T>
struct Links {
  T* head = nullptr;
  T* tail = nullptr;
  [[nodiscard]] bool empty() const { return head == nullptr; }
  void PushBack(T* item) {
    item->next = nullptr;
    item->prev = tail;
    (tail != nullptr ? tail->next : head) = item;
    tail = item;
  }
  void PushFront(T* item) {
    item->prev = nullptr;
    item->next = head;
    (head != nullptr ? head->prev : tail) = item;
    head = item;
  }
  // Inserts after `before`, which is in this list; null: at the front.
  void InsertAfter(T* before, T* item) {
    if (before == nullptr) return PushFront(item);
    if (before == tail) return PushBack(item);
    item->prev = before;
    item->next = before->next;
    before->next->prev = item;
    before->next = item;
  }
  void Remove(T* item) {
    (item->prev != nullptr ? item->prev->next : head) = item->next;
    (item->next != nullptr ? item->next->prev : tail) = item->prev;
    item->prev = item->next = nullptr;
  }
};

// A list for queues that are mostly pushed at the back and popped at the front: the front's `prev` is never written, so
// taking the front does not touch the memory of the next element.
template <class T>
struct FrontLinks {
  T* head = nullptr;
  T* tail = nullptr;
  [[nodiscard]] bool empty() const { return head == nullptr; }
  void PushBack(T* item) {
    item->next = nullptr;
    item->prev = tail;
    (head != nullptr ? tail->next : head) = item;
    tail = item;
  }
  void PushFront(T* item) {
    item->next = head;
    (head != nullptr ? head->prev : tail) = item;
    head = item;
  }
  T* PopFront() {
    T* const item = head;
    head = item->next;
    return item;
  }
  void Remove(T* item) {
    if (item == head) {
      PopFront();
      return;
    }
    item->prev->next = item->next;
    (item->next != nullptr ? item->next->prev : tail) = item->prev;
  }
};

// The procedures that continue before the lock is released: first in, first out, through links inside its elements.
// Pure.
//
// An element that is destroyed, or that becomes something else first, leaves the list by itself.
//
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

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

}  // namespace ratchet::procedure

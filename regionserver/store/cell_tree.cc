#include "regionserver/store/cell_tree.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace ratchet::regionserver {
namespace {

// Puts an element at `at` of the first `count` ones, which leave room for one more.
template <class Elements, class Element>
void Insert(Elements& elements, std::size_t count, std::size_t at, Element element) {
  std::copy_backward(elements.begin() + at, elements.begin() + count, elements.begin() + count + 1);
  elements[at] = element;
}

}  // namespace

template <class Node>
Node* CellTree::Make() {
  return new (arena_.allocate(sizeof(Node), alignof(Node))) Node;
}

const CellTree::Entry* CellTree::Keep(std::string_view bytes, std::size_t key_size) {
  auto* const entry = new (arena_.allocate(sizeof(Entry) + bytes.size(), alignof(Entry))) Entry;
  entry->key_size_ = static_cast<std::uint32_t>(key_size);
  entry->value_size_ = static_cast<std::uint32_t>(bytes.size() - key_size);
  std::memcpy(reinterpret_cast<char*>(entry + 1), bytes.data(), bytes.size());
  return entry;
}

std::size_t CellTree::ChildOf(const Inner& node, std::string_view key) const {
  const auto begin = node.first.begin() + 1;
  const auto found = std::upper_bound(begin, node.first.begin() + node.count, key,
                                      [this](std::string_view a, const Entry* b) { return order_(a, b->key()); });
  return static_cast<std::size_t>(found - begin);
}

std::size_t CellTree::IndexIn(const Leaf& leaf, std::string_view key) const {
  const auto found = std::lower_bound(leaf.entries.begin(), leaf.entries.begin() + leaf.count, key,
                                      [this](const Entry* a, std::string_view b) { return Less(a, b); });
  return static_cast<std::size_t>(found - leaf.entries.begin());
}

CellTree::Leaf* CellTree::Descend(std::string_view key, Way& way) {
  // Rows are often written in their order, so most searches end behind the last entry.
  const bool append = Less(last_->entries[last_->count - 1], key);
  void* node = root_;
  for (std::size_t level = 0; level < levels_; ++level) {
    auto* const inner = static_cast<Inner*>(node);
    const std::size_t child = append ? inner->count - 1 : ChildOf(*inner, key);
    way[level] = {inner, child};
    node = inner->children[child];
  }
  return static_cast<Leaf*>(node);
}

void CellTree::Put(std::string_view bytes, std::size_t key_size) {
  const Entry* const entry = Keep(bytes, key_size);
  if (root_ == nullptr) root_ = last_ = Make<Leaf>();
  if (last_->count == 0) {
    last_->entries[last_->count++] = entry;
    return;
  }
  Way way;
  Leaf* const leaf = Descend(entry->key(), way);
  const std::size_t at = IndexIn(*leaf, entry->key());
  if (at < leaf->count && leaf->entries[at]->key() == entry->key()) {
    leaf->entries[at] = entry;
  } else if (leaf->count < kWidth) {
    Insert(leaf->entries, leaf->count++, at, entry);
  } else {
    Split(leaf, at, entry, way);
  }
}

// A leaf that is filled in the order of keys stays full.
void CellTree::Split(Leaf* leaf, std::size_t at, const Entry* entry, const Way& way) {
  Leaf* const right = Make<Leaf>();
  const std::size_t kept = leaf == last_ && at == kWidth ? kWidth : kWidth / 2;
  std::copy(leaf->entries.begin() + kept, leaf->entries.end(), right->entries.begin());
  right->count = kWidth - kept;
  leaf->count = kept;
  right->previous = leaf;
  right->next = leaf->next;
  if (right->next != nullptr) right->next->previous = right;
  leaf->next = right;
  if (leaf == last_) last_ = right;
  Leaf* const into = at > kept || right->count == 0 ? right : leaf;
  Insert(into->entries, into->count++, into == right ? at - kept : at, entry);
  AddChild(levels_, right->entries[0], right, way);
}

void CellTree::AddChild(std::size_t level, const Entry* first, void* child, const Way& way) {
  if (level == 0) {  // the root was divided
    auto* const root = Make<Inner>();
    root->count = 2;
    root->first[0] = root->first[1] = first;  // the first one is not used
    root->children[0] = root_;
    root->children[1] = child;
    root_ = root;
    ++levels_;
    return;
  }
  const auto [node, taken] = way[level - 1];
  const std::size_t at = taken + 1;
  if (node->count < kWidth) {
    Insert(node->first, node->count, at, first);
    Insert(node->children, node->count++, at, child);
    return;
  }
  auto* const right = Make<Inner>();
  const std::size_t kept = at == kWidth ? kWidth : kWidth / 2;
  std::copy(node->first.begin() + kept, node->first.end(), right->first.begin());
  std::copy(node->children.begin() + kept, node->children.end(), right->children.begin());
  right->count = kWidth - kept;
  node->count = kept;
  Inner* const into = at > kept || right->count == 0 ? right : node;
  const std::size_t index = into == right ? at - kept : at;
  Insert(into->first, into->count, index, first);
  Insert(into->children, into->count++, index, child);
  AddChild(level - 1, right->first[0], right, way);
}

CellTree::Place CellTree::LowerBound(std::string_view key) const {
  Place place;
  if (root_ == nullptr) return place;
  const void* node = root_;
  for (std::size_t level = 0; level < levels_; ++level) {
    const auto* const inner = static_cast<const Inner*>(node);
    node = inner->children[ChildOf(*inner, key)];
  }
  place.leaf_ = static_cast<const Leaf*>(node);
  place.index_ = IndexIn(*place.leaf_, key);
  if (place.index_ == place.leaf_->count) {
    place.leaf_ = place.leaf_->next;
    place.index_ = 0;
  }
  return place;
}

CellTree::Place CellTree::Before(Place place) const {
  if (!place.AtEnd() && place.index_ > 0) {
    --place.index_;
    return place;
  }
  place.leaf_ = place.AtEnd() ? last_ : place.leaf_->previous;
  place.index_ = place.leaf_ == nullptr ? 0 : place.leaf_->count - 1;
  return place;
}

CellTree::Place CellTree::Find(Place place, const Entry* entry) const {
  if (place.index_ < place.leaf_->count && place.entry() == entry) return place;
  return LowerBound(entry->key());
}

}  // namespace ratchet::regionserver

#include "chaos/workloads/list_verifier.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "chaos/workloads/load.h"

namespace ratchet::chaos {
namespace {

constexpr std::size_t kSamples = 5;
constexpr const char* kPrevious = "p";
constexpr const char* kNumber = "n";
constexpr const char* kClient = "c";

std::optional<NodeKey> KeyOf(std::string_view bytes) {
  if (bytes.size() != kNodeKeyBytes) return std::nullopt;
  NodeKey key;
  std::copy(bytes.begin(), bytes.end(), key.begin());
  return key;
}

void Sample(ListCounts& counts, std::string text) {
  if (counts.samples.size() < kSamples) counts.samples.push_back(std::move(text));
}

}  // namespace

std::string KeyBytes(const NodeKey& key) { return {key.data(), key.size()}; }

std::string KeyText(const NodeKey& key) {
  std::string text;
  for (const char c : key) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

Result<ListNode> ParseNode(const client::Row& row) {
  const auto wrong = [](const char* what) { return Error(Code::kCorruption, what); };
  ListNode node;
  const auto key = KeyOf(row.key);
  if (!key) return wrong("the key does not have 16 bytes");
  node.key = *key;
  const auto previous = row.Value(kLoadFamily, kPrevious);
  if (!previous) return wrong("column p is missing");
  if (!previous->empty()) {
    const auto to = KeyOf(*previous);
    if (!to) return wrong("column p does not have 16 bytes");
    node.has_previous = true;
    node.previous = *to;
  }
  const auto number = row.Value(kLoadFamily, kNumber);
  if (!number) return wrong("column n is missing");
  const auto end = number->data() + number->size();
  if (std::from_chars(number->data(), end, node.number).ptr != end) return wrong("column n is not a number");
  const auto client = row.Value(kLoadFamily, kClient);
  if (!client) return wrong("column c is missing");
  node.client = std::string(*client);
  return node;
}

client::Mutation PutNode(const ListNode& node) {
  return client::Mutation::Put(KeyBytes(node.key))
      .Set(kLoadFamily, kPrevious, node.has_previous ? KeyBytes(node.previous) : "")
      .Set(kLoadFamily, kNumber, std::to_string(node.number))
      .Set(kLoadFamily, kClient, node.client);
}

bool IsWhole(const ListCounts& counts) {
  return counts.undefined == 0 && counts.unreferenced == 0 && counts.lost_tails == 0 && counts.corrupt == 0 &&
         counts.extra_references == 0;
}

bool AllAreThere(const ListAccount& account, const ListCounts& counts) {
  return account.acknowledged == counts.acknowledged_present;
}

void ListVerifier::Add(const client::Row& row) {
  const auto node = ParseNode(row);
  if (!node.ok()) {
    ++counts_.corrupt;
    NodeKey shown{};
    std::copy_n(row.key.begin(), std::min(row.key.size(), kNodeKeyBytes), shown.begin());
    Sample(counts_, fmt::format("corrupt: {}: {}", KeyText(shown), node.error().message()));
    return;
  }
  defined_.push_back(node->key);
  if (node->has_previous) references_.push_back({node->previous, node->key});
}

ListCounts ListVerifier::Finish() {
  std::sort(defined_.begin(), defined_.end());
  std::sort(references_.begin(), references_.end(), [](const auto& a, const auto& b) { return a.to < b.to; });
  auto at = references_.begin();
  const auto undefined_up_to = [&](auto end) {
    for (; at != end; ++at) {
      ++counts_.undefined;
      Sample(counts_,
             fmt::format("undefined: {} does not exist, but {} points to it", KeyText(at->to), KeyText(at->from)));
    }
  };
  for (const NodeKey& key : defined_) {
    undefined_up_to(std::find_if(at, references_.end(), [&](const auto& r) { return !(r.to < key); }));
    std::size_t acknowledged_references = 0;
    std::size_t all_references = 0;
    for (; at != references_.end() && at->to == key; ++at) {
      ++all_references;
      if (!account_.unknown.contains(at->from)) ++acknowledged_references;
    }
    const bool unknown = account_.unknown.contains(key);
    ++(unknown ? counts_.unknown_present : counts_.acknowledged_present);
    if (acknowledged_references > 1) ++counts_.extra_references;
    if (all_references > 0) ++counts_.referenced;
    if (acknowledged_references > 0 || unknown || account_.tails.contains(key) || account_.perhaps_tails.contains(key))
      continue;
    ++counts_.unreferenced;
    Sample(counts_, fmt::format("unreferenced: the node that points to {} is lost", KeyText(key)));
  }
  undefined_up_to(references_.end());
  for (const auto* tails : {&account_.tails, &account_.perhaps_tails}) {
    for (const NodeKey& tail : *tails) {
      if (std::binary_search(defined_.begin(), defined_.end(), tail)) continue;
      ++counts_.lost_tails;
      Sample(counts_, fmt::format("lost: {}, the end of a list, does not exist", KeyText(tail)));
    }
  }
  return std::move(counts_);
}

}  // namespace ratchet::chaos

// Are linked lists whole? A join of the rows that are there with the rows that others point to. Pure.
//
// Rows are nodes {random 16-byte key, previous key, number, client}. Only acknowledged nodes are ever pointed to, so a
// node that is pointed to and is not there is a lost write; a node that no node points to, without being the end of a
// list, means that the node behind it is lost.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/client/operations.h"

namespace ratchet::chaos {

inline constexpr std::size_t kNodeKeyBytes = 16;
using NodeKey = std::array<char, kNodeKeyBytes>;

[[nodiscard]] std::string KeyText(const NodeKey& key);  // hexadecimal
[[nodiscard]] std::string KeyBytes(const NodeKey& key);

struct ListNode {
  NodeKey key{};
  bool has_previous = false;
  NodeKey previous{};
  std::uint64_t number = 0;
  std::string client;
};
// kCorruption says which column is missing or malformed.
[[nodiscard]] Result<ListNode> ParseNode(const client::Row& row);
[[nodiscard]] client::Mutation PutNode(const ListNode& node);

// What the clients know when they have stopped.
struct ListAccount {
  std::uint64_t acknowledged = 0;
  std::set<NodeKey> unknown;        // may be there or not; no node points to them
  std::set<NodeKey> tails;          // acknowledged ends of unfinished lists: no node points to them
  std::set<NodeKey> perhaps_tails;  // ends of lists whose closing has an unknown outcome
};

struct ListCounts {
  std::uint64_t referenced = 0;        // there and pointed to
  std::uint64_t unreferenced = 0;      // there, no node points to it, and one should
  std::uint64_t undefined = 0;         // pointed to, but not there: lost
  std::uint64_t extra_references = 0;  // pointed to by two acknowledged nodes
  std::uint64_t corrupt = 0;           // rows that are no nodes
  std::uint64_t lost_tails = 0;        // acknowledged, not there
  std::uint64_t unknown_present = 0;   // of unknown outcome, there
  std::uint64_t acknowledged_present = 0;
  std::vector<std::string> samples;  // what is wrong, in words; the first few
};

// Nothing is wrong with the rows that are there.
[[nodiscard]] bool IsWhole(const ListCounts& counts);
// A list of which nothing is left leaves no trace in the others: the number tells.
[[nodiscard]] bool AllAreThere(const ListAccount& account, const ListCounts& counts);

// Feed it every row of the table, once; then ask.
class ListVerifier {
 public:
  explicit ListVerifier(const ListAccount& account) : account_(account) {}
  void Add(const client::Row& row);
  [[nodiscard]] ListCounts Finish();

 private:
  const ListAccount& account_;
  std::vector<NodeKey> defined_;
  struct Reference {
    NodeKey to;
    NodeKey from;
  };
  std::vector<Reference> references_;
  ListCounts counts_;
};

}  // namespace ratchet::chaos

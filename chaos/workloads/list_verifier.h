// Checks that linked lists are complete, by a join of the existing rows with the rows that others point to. Pure.
//
// Rows are nodes {random 16-byte key, previous key, number, client}. Nodes point only to acknowledged nodes, so a
// missing target is a lost write. If no node points to a node that is not the end of a list, the node that should point
// to it is lost.
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
// kCorruption names the column that is missing or malformed.
[[nodiscard]] Result<ListNode> ParseNode(const client::Row& row);
[[nodiscard]] client::Mutation PutNode(const ListNode& node);

// The clients' knowledge after they have stopped.
struct ListAccount {
  std::uint64_t acknowledged = 0;
  std::set<NodeKey> unknown;        // nodes of unknown outcome; no node points to them
  std::set<NodeKey> tails;          // acknowledged ends of unfinished lists: no node points to them
  std::set<NodeKey> perhaps_tails;  // ends of lists whose closing has an unknown outcome
};

struct ListCounts {
  std::uint64_t referenced = 0;        // existing nodes with a pointer to them
  std::uint64_t unreferenced = 0;      // existing nodes that should have a pointer to them but have none
  std::uint64_t undefined = 0;         // missing nodes with a pointer to them: lost
  std::uint64_t extra_references = 0;  // pointed to by two acknowledged nodes
  std::uint64_t corrupt = 0;           // rows that are not nodes
  std::uint64_t lost_tails = 0;        // acknowledged ends that are missing
  std::uint64_t unknown_present = 0;   // existing nodes of unknown outcome
  std::uint64_t acknowledged_present = 0;
  std::vector<std::string> samples;  // the first few errors, in words
};

// True when the existing rows have no error.
[[nodiscard]] bool IsWhole(const ListCounts& counts);
// A list that is lost as a whole leaves no trace in the others, so the number is compared.
[[nodiscard]] bool AllAreThere(const ListAccount& account, const ListCounts& counts);

// Pass it every row of the table once; then read the result.
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

// Rows at the edge of what the limits allow: what they must hold, version by version. Pure.
//
// Version v of a row is one atomic put with timestamp v; each byte of it follows from the row and v. So what a read
// shows tells which version it is, and whether it is whole. Versions rise; a put of unknown outcome may come into
// effect later, but never hides a higher one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "common/client/operations.h"

namespace ratchet::chaos {

enum class HugeShape : std::uint8_t {
  kCell,     // one cell just under the largest that a table takes
  kWide,     // thousands of small cells
  kLongKey,  // a key of 32,767 bytes
};

struct HugeRow {
  std::string key;
  HugeShape shape = HugeShape::kCell;
  std::uint64_t seed = 0;
  std::uint64_t cell_bytes = 0;  // kCell: the limit of a cell as the server counts it
  std::uint32_t columns = 1;     // kWide
  // What is known of it.
  std::uint64_t acknowledged = 0;   // the highest version known to be in effect; 0: none
  std::set<std::uint64_t> perhaps;  // higher ones of unknown outcome
  std::uint64_t newest = 0;         // the highest that was ever tried

  // The largest value that one cell of this row may have.
  [[nodiscard]] std::uint64_t LargestValue() const;
};

[[nodiscard]] HugeRow MakeHugeRow(HugeShape shape, std::string prefix, std::uint64_t seed, std::uint64_t cell_bytes);
// `extra` bytes more in its (first) value than the limit allows: refused. 0: within the limits.
[[nodiscard]] client::Mutation PutHugeRow(const HugeRow& row, std::uint64_t version, std::uint64_t extra = 0);
[[nodiscard]] std::uint64_t BytesOf(const client::Mutation& put);

// What is wrong with this answer, in words; nothing when it is a whole row of a version that may be there. `row` learns
// from it: what a read has shown stays.
[[nodiscard]] std::optional<std::string> Judge(const client::Row& answer, HugeRow& row);

}  // namespace ratchet::chaos

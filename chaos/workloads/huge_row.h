// Rows at the edge of the limits, and their contents version by version. Pure.
//
// Version v of a row is one atomic put with timestamp v; each byte of it follows from the row and v. So a read shows
// which version it is, and whether it is complete. Versions rise; a put of unknown outcome may be applied later, but
// never hides a higher one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "common/client/operations.h"

namespace ratchet::chaos {

enum class HugeShape : std::uint8_t {
  kCell,     // one cell just under the table's limit
  kWide,     // thousands of small cells
  kLongKey,  // a key of 32,767 bytes
};

struct HugeRow {
  std::string key;
  HugeShape shape = HugeShape::kCell;
  std::uint64_t seed = 0;
  std::uint64_t cell_bytes = 0;  // kCell: the limit of a cell as the server computes it
  std::uint32_t columns = 1;     // kWide
  // The known state of the row.
  std::uint64_t acknowledged = 0;   // the highest version known to be applied; 0: none
  std::set<std::uint64_t> perhaps;  // higher versions of unknown outcome
  std::uint64_t newest = 0;         // the highest version that was tried

  // Returns the largest value that one cell of this row may have.
  [[nodiscard]] std::uint64_t LargestValue() const;
};

[[nodiscard]] HugeRow MakeHugeRow(HugeShape shape, std::string prefix, std::uint64_t seed, std::uint64_t cell_bytes);
// `extra` is the number of bytes by which the (first) value exceeds the limit, so the put must be refused. 0: within
// the limits.
[[nodiscard]] client::Mutation PutHugeRow(const HugeRow& row, std::uint64_t version, std::uint64_t extra = 0);
[[nodiscard]] std::uint64_t BytesOf(const client::Mutation& put);

// Returns the error in this answer; nullopt when it is a complete row of a possible version. `row` records the version
// seen, because later reads must not see less.
[[nodiscard]] std::optional<std::string> Judge(const client::Row& answer, HugeRow& row);

}  // namespace ratchet::chaos

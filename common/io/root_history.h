// Reads the past of a root directory from its names, and decides whether a master may begin there, S114 (no start
// without the past). Changes nothing; thread-safe.
//
// A procedure store that is missing, empty or older looks like that of a new cluster. A master that believed it would
// assign epochs and pids a second time. So other traces below the root decide, and only existing names count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/root_numbers.h"

namespace ratchet::io {

// True when a master has ever worked below `root`. A master makes its first claim, and everything else that counts
// here, only after the cluster's place in ZooKeeper carries its id, S72 (root and ZooKeeper node belong together): call
// this first, then read ZooKeeper.
[[nodiscard]] Result<bool> HasHistory(Directory& root);

struct RootPast {
  bool store_exists = false;      // the directory procedures/
  bool store_has_names = false;   // and it is not empty
  std::uint64_t store_claim = 0;  // the highest in procedures/; 0: none
  std::uint64_t root_claim = 0;   // the highest in the root
  RootNumbers numbers;
  std::uint64_t newest_epoch = 0;  // the highest epoch in any other name below the root
  std::string newest_name;         // the name that carries it
  // Names that exist only because a master has worked here, as "data/default/t.5"; at most one from each folder.
  std::vector<std::string> traces;
};
[[nodiscard]] Result<RootPast> ReadRootPast(Directory& root);

// One check of a root, for `ratchet-master --check-root`.
struct RootCheck {
  std::string what;
  std::string found;
  std::optional<std::string> refused;  // the cause, and what to do
};
// Pure. All checks that need names only, in a fixed order.
[[nodiscard]] std::vector<RootCheck> JudgeRootPast(const RootPast& past);

// WentBack with every cause, when a master must not begin at this root.
[[nodiscard]] Status CheckRootPast(Directory& root);

}  // namespace ratchet::io

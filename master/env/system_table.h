// Access to one family of a system table: q of hbase:quota, info of hbase:namespace. Callbacks run on any thread,
// possibly before the call returns.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace ratchet::master {

struct SystemCell {
  std::string row;
  std::string qualifier;
  std::string value;
};

class SystemTable {
 public:
  virtual ~SystemTable() = default;
  using Value = std::optional<std::string>;  // nullopt: the cell does not exist
  virtual void Read(const SystemCell& cell, std::function<void(Result<Value>)> done) = 0;
  // Compare-and-set: sets the cell to `after` if it has the value `before`; `done` gets false if it has another value.
  // After an error the outcome is unknown.
  virtual void Swap(const SystemCell& cell, Value before, Value after, std::function<void(Result<bool>)> done) = 0;
  // Reads up to `most` cells.
  virtual void ReadAll(std::size_t most, std::function<void(Result<std::vector<SystemCell>>)> done) = 0;
};

}  // namespace ratchet::master

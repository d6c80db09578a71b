// One family of a system table as the master uses it: q of hbase:quota, info of hbase:namespace. Answers come on any
// thread, also before the call returns.
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
  using Value = std::optional<std::string>;  // nothing: there is no such cell
  virtual void Read(const SystemCell& cell, std::function<void(Result<Value>)> done) = 0;
  // Gives the cell the value `after` if it has `before`; false: it has another one. After an error it may have
  // happened.
  virtual void Swap(const SystemCell& cell, Value before, Value after, std::function<void(Result<bool>)> done) = 0;
  // At most `most` cells.
  virtual void ReadAll(std::size_t most, std::function<void(Result<std::vector<SystemCell>>)> done) = 0;
};

}  // namespace ratchet::master

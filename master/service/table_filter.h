// Which tables a client's listing means: HBase's rules for regex and namespace (docs/wire-compatibility.md).
#pragma once

#include <optional>
#include <regex>
#include <string>

#include "common/base/result.h"
#include "common/model/table_name.h"

namespace ratchet::master {

class TableFilter {
 public:
  // `regex`: none matches all, an empty one nothing; matched in full against "q" and, in the default namespace, also
  // "default:q". `ns` empty: all. kInvalidArgument (DoNotRetryIOException) for a regex that cannot be read.
  static Result<TableFilter> Make(const std::optional<std::string>& regex, std::string ns, bool include_system);
  [[nodiscard]] bool Matches(const TableName& table) const;

 private:
  std::optional<std::regex> regex_;
  bool nothing_ = false;
  std::string ns_;
  bool include_system_ = false;
};

}  // namespace ratchet::master

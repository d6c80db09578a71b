// Selects the tables of a client's list request: HBase's rules for regex and namespace (docs/wire-compatibility.md).
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/model/table_name.h"
#include "master/rpc/pattern.h"

namespace ratchet::master {

class TableFilter {
 public:
  // `regex`: nullopt matches all tables, an empty text none. The whole name must match: "q" or, in the default
  // namespace, also "default:q". `ns`: empty for all namespaces. kInvalidArgument (DoNotRetryIOException): invalid
  // regex.
  static Result<TableFilter> Make(const std::optional<std::string>& regex, std::string ns, bool include_system);
  [[nodiscard]] bool Matches(const TableName& table) const;

 private:
  std::optional<Pattern> regex_;
  bool nothing_ = false;
  std::string ns_;
  bool include_system_ = false;
};

}  // namespace ratchet::master

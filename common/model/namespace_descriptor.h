// What a namespace is: its name and its properties, kept verbatim, known or not.
//
// Two properties limit what may be made in it: `hbase.namespace.quota.maxtables` and `hbase.namespace.quota.maxregions`
// (HBase's names). Values come from users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/table_descriptor.h"

namespace hbase::pb {
class NamespaceDescriptor;
}  // namespace hbase::pb

namespace ratchet {

inline constexpr std::string_view kMaxTablesProperty = "hbase.namespace.quota.maxtables";
inline constexpr std::string_view kMaxRegionsProperty = "hbase.namespace.quota.maxregions";

struct NamespaceDescriptor {
  std::string name;
  Attributes properties;

  // Name legal (as the first part of a table's name), limits whole numbers above 0, not more than kMaxNamespaceBytes in
  // all. kInvalidArgument says what is wrong.
  [[nodiscard]] Status Check() const;
  // No limit: nothing. A stored value that is no number limits nothing.
  [[nodiscard]] std::optional<std::uint64_t> max_tables() const;
  [[nodiscard]] std::optional<std::uint64_t> max_regions() const;
  [[nodiscard]] bool operator==(const NamespaceDescriptor&) const = default;
};

// Each is a record that the master keeps in memory and writes again now and then.
inline constexpr std::size_t kMaxNamespaceBytes = 16u << 10;

// Letters, digits and '_' only.
[[nodiscard]] Status CheckNamespaceName(std::string_view name);
// They exist in every cluster and cannot be removed.
[[nodiscard]] bool IsReservedNamespace(std::string_view name);

void ToProto(const NamespaceDescriptor& descriptor, hbase::pb::NamespaceDescriptor& out);
// Does not check.
[[nodiscard]] NamespaceDescriptor FromProto(const hbase::pb::NamespaceDescriptor& message);
// As stored. kCorruption: no such message.
[[nodiscard]] std::string EncodeNamespace(const NamespaceDescriptor& descriptor);
[[nodiscard]] Result<NamespaceDescriptor> DecodeNamespace(const std::string& bytes);

}  // namespace ratchet

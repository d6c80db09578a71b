// The possible descriptors of a table, given the requests and answers of its only client. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "common/model/table_descriptor.h"

namespace ratchet::chaos {

// The parts of a descriptor that a client changes; the rest is ignored.
struct LoadSchema {
  std::map<std::string, std::map<std::string, std::string>> families;  // with the attributes of kTracked
  std::string max_file_size;                                           // of the table
  auto operator<=>(const LoadSchema&) const = default;
  [[nodiscard]] std::string ToText() const;
};

struct SchemaStep {
  enum class Kind : std::uint8_t { kAddFamily, kDropFamily, kSetFamily, kSetTable };
  Kind kind = Kind::kAddFamily;
  std::string family{};                           // empty for kSetTable
  std::map<std::string, std::string> attributes;  // kAddFamily, kSetFamily: all of kTracked; kSetTable: empty
  std::string max_file_size{};                    // kSetTable
  [[nodiscard]] std::string ToText() const;       // "add family g1"
};

[[nodiscard]] LoadSchema SchemaOf(const TableDescriptor& descriptor);
// The other attributes have HBase's defaults.
[[nodiscard]] TableDescriptor DescriptorOf(const TableName& table, const LoadSchema& schema);
[[nodiscard]] FamilyDescriptor FamilyOf(const std::string& name, const std::map<std::string, std::string>& attributes);
[[nodiscard]] bool IsLegal(const LoadSchema& schema, const SchemaStep& step);
[[nodiscard]] LoadSchema After(const LoadSchema& schema, const SchemaStep& step);

// Has more than one schema only after a step of unknown outcome.
class PossibleSchemas {
 public:
  explicit PossibleSchemas(LoadSchema only) : schemas_{std::move(only)} {}
  [[nodiscard]] std::size_t size() const { return schemas_.size(); }
  [[nodiscard]] const LoadSchema& First() const { return *schemas_.begin(); }
  [[nodiscard]] bool Has(const LoadSchema& schema) const { return schemas_.contains(schema); }
  [[nodiscard]] std::string ToText() const;

  // Return false when the result is impossible, and change nothing. Refused: the step had no effect.
  [[nodiscard]] bool Succeeded(const SchemaStep& step);
  [[nodiscard]] bool Refused(const SchemaStep& step);
  void Unknown(const SchemaStep& step);

 private:
  std::set<LoadSchema> schemas_;  // never empty
};

}  // namespace ratchet::chaos

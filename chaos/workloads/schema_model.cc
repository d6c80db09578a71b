#include "chaos/workloads/schema_model.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ratchet::chaos {
namespace {

constexpr std::array kTracked = {"BLOOMFILTER", "VERSIONS"};
constexpr const char* kMaxFileSize = "MAX_FILESIZE";

std::string FamilyText(const std::string& name, const std::map<std::string, std::string>& attributes) {
  std::string text = name;
  for (const auto& [key, value] : attributes) text += fmt::format(" {}={}", key, value);
  return text;
}

}  // namespace

std::string LoadSchema::ToText() const {
  std::string text = max_file_size.empty() ? "" : fmt::format("{}={}; ", kMaxFileSize, max_file_size);
  const char* between = "";
  for (const auto& [name, attributes] : families) {
    text += between + FamilyText(name, attributes);
    between = ", ";
  }
  return text;
}

std::string SchemaStep::ToText() const {
  switch (kind) {
    case Kind::kAddFamily: return "add family " + FamilyText(family, attributes);
    case Kind::kDropFamily: return "drop family " + family;
    case Kind::kSetFamily: return "set family " + FamilyText(family, attributes);
    case Kind::kSetTable: break;
  }
  return fmt::format("set {}={}", kMaxFileSize, max_file_size);
}

LoadSchema SchemaOf(const TableDescriptor& descriptor) {
  LoadSchema schema;
  const auto size = descriptor.attributes.find(kMaxFileSize);
  if (size != descriptor.attributes.end()) schema.max_file_size = size->second;
  for (const FamilyDescriptor& family : descriptor.families) {
    auto& attributes = schema.families[family.name];
    for (const char* key : kTracked) {
      const auto found = family.attributes.find(key);
      if (found != family.attributes.end()) attributes[key] = found->second;
    }
  }
  return schema;
}

FamilyDescriptor FamilyOf(const std::string& name, const std::map<std::string, std::string>& attributes) {
  FamilyDescriptor family = DefaultFamily(name);
  for (const auto& [key, value] : attributes) family.attributes[key] = value;
  return family;
}

TableDescriptor DescriptorOf(const TableName& table, const LoadSchema& schema) {
  TableDescriptor descriptor;
  descriptor.name = table;
  if (!schema.max_file_size.empty()) descriptor.attributes[kMaxFileSize] = schema.max_file_size;
  for (const auto& [name, attributes] : schema.families) descriptor.families.push_back(FamilyOf(name, attributes));
  return descriptor;
}

bool IsLegal(const LoadSchema& schema, const SchemaStep& step) {
  const bool there = schema.families.contains(step.family);
  switch (step.kind) {
    case SchemaStep::Kind::kAddFamily: return !there;
    case SchemaStep::Kind::kDropFamily: return there && schema.families.size() > 1;
    case SchemaStep::Kind::kSetFamily: return there;
    case SchemaStep::Kind::kSetTable: break;
  }
  return true;
}

LoadSchema After(const LoadSchema& schema, const SchemaStep& step) {
  LoadSchema after = schema;
  switch (step.kind) {
    case SchemaStep::Kind::kAddFamily:
    case SchemaStep::Kind::kSetFamily: after.families[step.family] = step.attributes; break;
    case SchemaStep::Kind::kDropFamily: after.families.erase(step.family); break;
    case SchemaStep::Kind::kSetTable: after.max_file_size = step.max_file_size; break;
  }
  return after;
}

std::string PossibleSchemas::ToText() const {
  std::vector<std::string> texts;
  for (const LoadSchema& schema : schemas_) texts.push_back(fmt::format("[{}]", schema.ToText()));
  return fmt::format("{}", fmt::join(texts, " or "));
}

bool PossibleSchemas::Succeeded(const SchemaStep& step) {
  std::set<LoadSchema> after;
  for (const LoadSchema& schema : schemas_) {
    if (IsLegal(schema, step)) after.insert(After(schema, step));
  }
  if (after.empty()) return false;
  schemas_ = std::move(after);
  return true;
}

bool PossibleSchemas::Refused(const SchemaStep& step) {
  std::set<LoadSchema> after;
  std::copy_if(schemas_.begin(), schemas_.end(), std::inserter(after, after.end()),
               [&](const LoadSchema& schema) { return !IsLegal(schema, step); });
  if (after.empty()) return false;
  schemas_ = std::move(after);
  return true;
}

void PossibleSchemas::Unknown(const SchemaStep& step) {
  std::set<LoadSchema> after = schemas_;
  for (const LoadSchema& schema : schemas_) {
    if (IsLegal(schema, step)) after.insert(After(schema, step));
  }
  schemas_ = std::move(after);
}

}  // namespace ratchet::chaos

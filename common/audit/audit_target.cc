#include "common/audit/audit_target.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/audit/audit_line.h"

namespace ratchet::audit {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kMostDepth = 4;
constexpr std::size_t kMostTargetBytes = kMostTextBytes;

// Fields that name something. A field "name" counts only inside the messages of kNamed.
constexpr std::array<std::string_view, 15> kNames{
    "namespace_name", "namespaceName", "peer_id", "encoded_name", "snapshot_name", "proc_id", "user_name", "user",
    "column_name",    "host_name",     "port",    "group",        "family",        "address", "sequence"};
constexpr std::array<std::string_view, 4> kNamed{"NamespaceDescriptor", "SnapshotDescription", "ColumnFamilySchema",
                                                 "ProcedureDescription"};

template <std::size_t kCount>
bool IsOneOf(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void Add(std::string& target, std::string_view text) {
  if (target.size() > kMostTargetBytes) return;
  if (!target.empty()) target += ' ';
  target += text;
}

std::string FieldText(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: return reflection.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_UINT64: return std::to_string(reflection.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_INT64: return std::to_string(reflection.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT32: return std::to_string(reflection.GetUInt32(message, &field));
    default: return {};
  }
}

// READ, WRITE, EXEC, CREATE and ADMIN, as the command line writes them.
std::string Letters(const Message& message, const FieldDescriptor& field) {
  std::string letters;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
    const std::string& name = message.GetReflection()->GetRepeatedEnum(message, &field, i)->name();
    letters += name == "EXEC" ? 'X' : name.front();
  }
  return letters;
}

void Visit(const Message& message, int depth, std::string& target) {
  const auto& type = *message.GetDescriptor();
  const auto& reflection = *message.GetReflection();
  const auto text_of = [&](const char* name) {
    const FieldDescriptor* const field = type.FindFieldByName(name);
    return field == nullptr ? std::string() : FieldText(message, *field);
  };
  if (type.name() == "TableName") {
    const std::string ns = text_of("namespace");
    return Add(target, (ns.empty() || ns == "default" ? "" : ns + ":") + text_of("qualifier"));
  }
  if (type.name() == "RegionSpecifier") return Add(target, "region=" + text_of("value"));
  if (IsOneOf(kNamed, type.name())) Add(target, "name=" + text_of("name"));
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (target.size() > kMostTargetBytes) return;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (depth == kMostDepth) continue;
      if (!field->is_repeated()) {
        Visit(reflection.GetMessage(message, field), depth + 1, target);
        continue;
      }
      const int count = reflection.FieldSize(message, field);
      for (int i = 0; i < count && target.size() <= kMostTargetBytes; ++i)
        Visit(reflection.GetRepeatedMessage(message, field, i), depth + 1, target);
    } else if (field->is_repeated()) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM && field->name() == "action")
        Add(target, "actions=" + Letters(message, *field));
    } else if (IsOneOf(kNames, field->name()) || (type.name() == "TablePermission" && field->name() == "qualifier")) {
      Add(target, field->name() + "=" + FieldText(message, *field));
    }
  }
}

}  // namespace

std::string TargetOf(const google::protobuf::MessageLite& request) {
  std::string target;
  if (const auto* const whole = dynamic_cast<const Message*>(&request); whole != nullptr) Visit(*whole, 0, target);
  return target;
}

std::vector<std::uint64_t> PidsOf(const google::protobuf::MessageLite& answer) {
  std::vector<std::uint64_t> pids;
  const auto* const whole = dynamic_cast<const Message*>(&answer);
  if (whole == nullptr) return pids;
  const auto& reflection = *whole->GetReflection();
  for (const char* name : {"pid", "proc_id"}) {
    const FieldDescriptor* const field = whole->GetDescriptor()->FindFieldByName(name);
    if (field == nullptr) continue;
    const bool is_unsigned = field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64;
    if (!is_unsigned && field->cpp_type() != FieldDescriptor::CPPTYPE_INT64) continue;
    const auto add = [&pids](auto pid) {
      if (pid > 0) pids.push_back(static_cast<std::uint64_t>(pid));
    };
    if (!field->is_repeated()) {
      if (is_unsigned) add(reflection.GetUInt64(*whole, field));
      if (!is_unsigned) add(reflection.GetInt64(*whole, field));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(*whole, field); ++i) {
      if (is_unsigned) add(reflection.GetRepeatedUInt64(*whole, field, i));
      if (!is_unsigned) add(reflection.GetRepeatedInt64(*whole, field, i));
    }
  }
  return pids;
}

}  // namespace ratchet::audit

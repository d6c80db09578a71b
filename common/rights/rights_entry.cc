#include "common/rights/rights_entry.h"

#include <fmt/format.h>

#include "common/base/utf8.h"
#include "common/model/namespace_descriptor.h"

namespace ratchet::rights {
namespace {

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

Status CheckGrantee(std::string_view name) {
  const auto refuse = [](std::string_view why) {
    return Error(Code::kInvalidArgument, fmt::format("the name of the user or group {}", why));
  };
  const std::string_view bare = name.substr(!name.empty() && name.front() == kGroupMark ? 1 : 0);
  if (bare.empty()) return refuse("is empty");
  if (name.size() > kMaxUserBytes) return refuse(fmt::format("has {} bytes: at most {}", name.size(), kMaxUserBytes));
  if (bare.front() == kGroupMark) return refuse("begins with '@' twice");
  for (const char c : name) {
    if (c == ',') return refuse("has a ',': hbase:acl separates the parts of a right by it");
    if (IsControl(c)) return refuse("has a control character");
  }
  if (ToUtf8(name) != name) return refuse("is not UTF-8");
  return {};
}

pb::RightsEntry ToProto(const Scope& scope) {
  pb::RightsEntry entry;
  if (scope.level == Scope::Level::kNamespace) entry.set_namespace_name(scope.table.ns);
  if (scope.level >= Scope::Level::kTable) entry.set_table(scope.table.ToString());
  if (scope.level >= Scope::Level::kFamily) entry.set_family(scope.family);
  if (scope.level >= Scope::Level::kColumn) entry.set_qualifier(scope.qualifier);
  return entry;
}

pb::RightsEntry ToProto(const RightsEntry& entry) {
  pb::RightsEntry proto = ToProto(entry.scope);
  proto.set_user(entry.user);
  proto.set_actions(entry.actions.bits());
  return proto;
}

Result<Scope> ScopeFromProto(const pb::RightsEntry& entry) {
  const auto refuse = [](std::string_view why) {
    return Error(Code::kInvalidArgument, fmt::format("the scope of a right {}", why));
  };
  if (entry.has_namespace_name()) {
    if (entry.has_table() || entry.has_family() || entry.has_qualifier()) {
      return refuse("names a namespace and a table, a family or a column");
    }
    RATCHET_TRY(CheckNamespaceName(entry.namespace_name()));
    return Scope::Namespace(entry.namespace_name());
  }
  if (!entry.has_table()) {
    if (entry.has_family() || entry.has_qualifier()) return refuse("names a family or a column without a table");
    return Scope::Global();
  }
  RATCHET_ASSIGN(TableName table, TableName::Parse(entry.table()));
  if (!entry.has_family()) {
    if (entry.has_qualifier()) return refuse("names a column without a family");
    return Scope::Table(std::move(table));
  }
  if (entry.family().empty()) return refuse("names a family with an empty name");
  if (!entry.has_qualifier()) return Scope::Family(std::move(table), entry.family());
  return Scope::Column(std::move(table), entry.family(), entry.qualifier());
}

Result<RightsEntry> EntryFromProto(const pb::RightsEntry& entry) {
  RATCHET_TRY(CheckGrantee(entry.user()));
  if (!Actions::IsValid(entry.actions()) || entry.actions() == 0) {
    return Error(Code::kInvalidArgument, fmt::format("the actions of a right are {:#x}: some of the lowest five bits, "
                                                     "at least one, are expected",
                                                     entry.actions()));
  }
  RATCHET_ASSIGN(Scope scope, ScopeFromProto(entry));
  return RightsEntry{entry.user(), std::move(scope), Actions::FromBits(entry.actions())};
}

}  // namespace ratchet::rights

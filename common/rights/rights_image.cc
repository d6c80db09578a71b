#include "common/rights/rights_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace ratchet::rights {

using Level = Scope::Level;

RightsImage::RightsImage(ImageNumber number, const std::vector<RightsEntry>& entries, std::vector<Scope> damaged,
                         TokenKeys token_keys, RevokedTokens revoked_tokens)
    : number_(number),
      damaged_(std::move(damaged)),
      token_keys_(std::make_shared<const TokenKeys>(std::move(token_keys))),
      revoked_tokens_(std::make_shared<const RevokedTokens>(std::move(revoked_tokens))) {
  // A right around a part of a table would otherwise reach into the part.
  for (Scope& scope : damaged_) {
    if (scope.level > Level::kTable) scope = Scope::Table(scope.table);
  }
  for (const RightsEntry& entry : entries) Add(entry);
}

void RightsImage::Add(const RightsEntry& entry) {
  OfUser& user = users_[entry.user];
  const Scope& scope = entry.scope;
  switch (scope.level) {
    case Level::kGlobal: user.global |= entry.actions; return;
    case Level::kNamespace: user.namespaces[scope.table.ns] |= entry.actions; return;
    case Level::kTable: user.tables[scope.table].whole |= entry.actions; return;
    case Level::kFamily:
    case Level::kColumn: user.tables[scope.table].parts[scope] |= entry.actions; return;
  }
}

Result<RightsImage> RightsImage::FromProto(const pb::RightsImage& image) {
  const auto total = static_cast<std::size_t>(image.entries_size()) + static_cast<std::size_t>(image.damaged_size());
  if (total > kMostEntries) {
    return Error(Code::kInvalidArgument, fmt::format("the image has {} rights: at most {}", total, kMostEntries));
  }
  std::vector<RightsEntry> entries;
  entries.reserve(static_cast<std::size_t>(image.entries_size()));
  for (const pb::RightsEntry& proto : image.entries()) {
    RATCHET_ASSIGN(RightsEntry entry, EntryFromProto(proto));
    entries.push_back(std::move(entry));
  }
  std::vector<Scope> damaged;
  for (const pb::RightsEntry& proto : image.damaged()) {
    RATCHET_ASSIGN(Scope scope, ScopeFromProto(proto));
    damaged.push_back(std::move(scope));
  }
  if (static_cast<std::size_t>(image.token_keys_size()) > kMostTokenKeys)
    return Error(Code::kInvalidArgument,
                 fmt::format("the image has {} keys of tokens: at most {}", image.token_keys_size(), kMostTokenKeys));
  TokenKeys token_keys;
  for (const pb::TokenKey& proto : image.token_keys()) {
    RATCHET_ASSIGN(TokenKey key, TokenKeyFromProto(proto));
    token_keys.push_back(std::move(key));
  }
  if (static_cast<std::size_t>(image.revoked_tokens_size()) > kMostRevokedTokens)
    return Error(Code::kInvalidArgument, fmt::format("the image has {} revoked tokens: at most {}",
                                                     image.revoked_tokens_size(), kMostRevokedTokens));
  RevokedTokens revoked;
  for (const pb::RevokedToken& proto : image.revoked_tokens()) revoked[proto.sequence()] = proto.user();
  return RightsImage({image.epoch(), image.number()}, entries, std::move(damaged), std::move(token_keys),
                     std::move(revoked));
}

pb::RightsImage RightsImage::ToProto() const {
  pb::RightsImage image;
  image.set_epoch(number_.epoch);
  image.set_number(number_.number);
  for (const RightsEntry& entry : Entries()) *image.add_entries() = rights::ToProto(entry);
  for (const Scope& scope : damaged_) *image.add_damaged() = rights::ToProto(scope);
  return image;
}

pb::RightsImage RightsImage::ToProtoForMembers() const {
  pb::RightsImage image = ToProto();
  for (const TokenKey& key : *token_keys_) *image.add_token_keys() = rights::ToProto(key);
  for (const auto& [sequence, user] : *revoked_tokens_) {
    pb::RevokedToken& revoked = *image.add_revoked_tokens();
    revoked.set_sequence(sequence);
    revoked.set_user(user);
  }
  return image;
}

bool RightsImage::IsDamaged(const Scope& scope) const {
  return std::any_of(damaged_.begin(), damaged_.end(), [&](const Scope& bad) { return bad.Covers(scope); });
}

Actions RightsImage::HeldBy(const OfUser& user, const Scope& scope) {
  Actions held = user.global;
  if (scope.level == Level::kGlobal) return held;
  if (const auto found = user.namespaces.find(scope.table.ns); found != user.namespaces.end()) held |= found->second;
  if (scope.level == Level::kNamespace) return held;
  const auto table = user.tables.find(scope.table);
  if (table == user.tables.end()) return held;
  held |= table->second.whole;
  if (scope.level == Level::kTable) return held;
  const auto add = [&](const Scope& part) {
    const auto found = table->second.parts.find(part);
    if (found != table->second.parts.end()) held |= found->second;
  };
  if (scope.level == Level::kColumn) add(Scope::Family(scope.table, scope.family));
  add(scope);
  return held;
}

Actions RightsImage::HeldInside(const OfUser& user, const Scope& scope) const {
  Actions held;
  if (scope.level == Level::kGlobal) {
    for (const auto& [ns, actions] : user.namespaces) {
      if (!IsDamaged(Scope::Namespace(ns))) held |= actions;
    }
  }
  const auto add_parts = [&](const OfTable& table) {
    for (const auto& [part, actions] : table.parts) {
      if (scope.Covers(part) && !IsDamaged(part)) held |= actions;
    }
  };
  if (scope.level <= Level::kNamespace) {
    for (const auto& [name, table] : user.tables) {
      if (!scope.Covers(Scope::Table(name))) continue;
      if (!IsDamaged(Scope::Table(name))) held |= table.whole;
      add_parts(table);
    }
  } else if (const auto table = user.tables.find(scope.table); table != user.tables.end()) {
    add_parts(table->second);
  }
  return held;
}

template <class Visit>
void RightsImage::VisitOf(const Subject& subject, Visit visit) const {
  const auto one = [&](const std::string& name) {
    if (const auto found = users_.find(name); found != users_.end()) visit(found->second);
  };
  // No right belongs to a user whose name begins with '@', because it is the name of a group.
  if (subject.user.empty() || subject.user.front() == kGroupMark) return;
  one(subject.user);
  for (const std::string& group : subject.groups) one(kGroupMark + group);
}

Actions RightsImage::Held(const Subject& subject, const Scope& scope) const {
  Actions held;
  if (IsDamaged(scope)) return held;
  VisitOf(subject, [&](const OfUser& user) { held |= HeldBy(user, scope); });
  return held;
}

bool RightsImage::HoldsWithin(const Subject& subject, Actions any_of, const Scope& scope) const {
  if (IsDamaged(scope)) return false;
  Actions held;
  VisitOf(subject, [&](const OfUser& user) { held |= HeldBy(user, scope) | HeldInside(user, scope); });
  return held.HasAny(any_of);
}

std::set<std::string> RightsImage::ColumnsWith(const Subject& subject, Action action, const TableName& table,
                                               const std::string& family) const {
  std::set<std::string> columns;
  const Scope whole = Scope::Family(table, family);
  if (IsDamaged(whole)) return columns;
  VisitOf(subject, [&](const OfUser& user) {
    const auto found = user.tables.find(table);
    if (found == user.tables.end()) return;
    for (const auto& [part, actions] : found->second.parts) {
      if (part.level == Level::kColumn && actions.HasAny(action) && whole.Covers(part) && !IsDamaged(part))
        columns.insert(part.qualifier);
    }
  });
  return columns;
}

std::vector<RightsEntry> RightsImage::Entries() const {
  std::vector<RightsEntry> entries;
  for (const auto& [name, user] : users_) {
    if (!user.global.empty()) entries.push_back({name, Scope::Global(), user.global});
    for (const auto& [ns, actions] : user.namespaces) entries.push_back({name, Scope::Namespace(ns), actions});
    for (const auto& [table, rights] : user.tables) {
      if (!rights.whole.empty()) entries.push_back({name, Scope::Table(table), rights.whole});
      for (const auto& [part, actions] : rights.parts) entries.push_back({name, part, actions});
    }
  }
  std::sort(entries.begin(), entries.end(), [](const RightsEntry& a, const RightsEntry& b) {
    return std::tie(a.user, a.scope) < std::tie(b.user, b.scope);
  });
  return entries;
}

}  // namespace ratchet::rights

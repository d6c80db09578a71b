#include "master/cluster/rights_book.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/base/hex.h"
#include "common/base/log.h"
#include "common/base/mutant.h"

namespace ratchet::master {
namespace {

using Level = rights::Scope::Level;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '@' || c == '_' ||
         c == '.' || c == ':' || c == '-';
}

void AddEscaped(std::string_view bytes, std::string& to) {
  for (const char c : bytes) {
    if (IsPlain(c)) {
      to += c;
    } else {
      to += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

std::optional<std::string> Unescape(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      if (!IsPlain(text[at])) return std::nullopt;
      bytes += text[at];
      continue;
    }
    if (at + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[at + 1]);
    const int low = HexDigit(text[at + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return bytes;
}

// The parts between the separators, unescaped.
std::optional<std::vector<std::string>> Parts(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(',');
    auto part = Unescape(text.substr(0, end));
    if (!part) return std::nullopt;
    parts.push_back(*std::move(part));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<RightsKey> Read(std::string_view key) {
  if (!key.starts_with(kRightsRecordPrefix)) return std::nullopt;
  key.remove_prefix(kRightsRecordPrefix.size());
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto place = Unescape(key.substr(0, slash));
  auto parts = Parts(key.substr(slash + 1));
  if (!place || !parts || parts->size() > 3) return std::nullopt;
  if (place->empty() || place->front() == '@') {
    if (parts->size() != 1) return std::nullopt;
    return RightsKey{parts->front(),
                     place->empty() ? rights::Scope::Global() : rights::Scope::Namespace(place->substr(1))};
  }
  auto table = TableName::Parse(*place);
  if (!table.ok()) return std::nullopt;
  rights::Scope scope = rights::Scope::Table(*std::move(table));
  if (parts->size() > 1) scope = rights::Scope::Family(scope.table, (*parts)[1]);
  if (parts->size() > 2) scope = rights::Scope::Column(scope.table, scope.family, (*parts)[2]);
  return RightsKey{parts->front(), std::move(scope)};
}

Result<rights::RightsEntry> ReadRecord(const std::string& key, const std::string& record) {
  ratchet::pb::RightsEntry proto;
  if (!proto.ParseFromString(record)) return Error(Code::kCorruption, "the bytes are not a right");
  RATCHET_ASSIGN(rights::RightsEntry entry, rights::EntryFromProto(proto));
  if (RightsRecordKey(entry.user, entry.scope) != key) return Error(Code::kCorruption, "it belongs to another key");
  return entry;
}

}  // namespace

std::string PlaceOf(const rights::Scope& scope) {
  switch (scope.level) {
    case Level::kGlobal: return {};
    case Level::kNamespace: return "@" + scope.table.ns;
    case Level::kTable:
    case Level::kFamily:
    case Level::kColumn: break;
  }
  return scope.table.ToString();
}

std::string RightsRecordKey(std::string_view user, const rights::Scope& scope) {
  std::string key(kRightsRecordPrefix);
  AddEscaped(PlaceOf(scope), key);
  key += '/';
  AddEscaped(user, key);
  if (scope.level >= Level::kFamily) AddEscaped(scope.family, key += ',');
  if (scope.level >= Level::kColumn) AddEscaped(scope.qualifier, key += ',');
  return key;
}

RightsKey ReadRightsKey(std::string_view key) {
  auto read = Read(key);
  return read ? *std::move(read) : RightsKey{};
}

std::string RightsRecord(const rights::RightsEntry& entry) { return rights::ToProto(entry).SerializeAsString(); }

void RightsBook::Count(const std::string& key, std::size_t bytes, bool added) {
  const auto read = Read(key);
  if (!read || read->scope.level == Level::kGlobal) return;
  const auto change = [&](UsedBy& all, const std::string& name) {
    Used& used = all[name];
    used.records += added ? 1 : std::size_t{0} - 1;
    used.bytes += added ? bytes : std::size_t{0} - bytes;
    if (used.records == 0) all.erase(name);
  };
  change(of_namespaces_, read->scope.table.ns);
  if (read->scope.level >= Level::kTable) change(of_tables_, PlaceOf(read->scope));
}

Status RightsBook::RoomInShares(const rights::Scope& scope) const {
  if (scope.level == Level::kGlobal || RATCHET_MUTANT("master.no_shares_of_rights")) return Ok();
  const auto room = [](const UsedBy& all, const std::string& name, std::size_t parts, const char* what) -> Status {
    const auto found = all.find(name);
    if (found == all.end() ||
        (found->second.records < rights::kMostEntries / parts && found->second.bytes < rights::kMostImageBytes / parts))
      return Ok();
    return Error(Code::kFailedPrecondition,
                 fmt::format("{} {} has {} rights with {} bytes, its share; revoke some first", what, name,
                             found->second.records, found->second.bytes));
  };
  if (scope.level >= Level::kTable) RATCHET_TRY(room(of_tables_, PlaceOf(scope), kShareOfTable, "table"));
  return room(of_namespaces_, scope.table.ns, kShareOfNamespace, "namespace");
}

void RightsBook::Show(const std::string& key, const std::optional<std::string>& record) {
  Record shown;
  if (record.has_value()) {
    shown.bytes = record->size();
    auto entry = ReadRecord(key, *record);
    if (entry.ok()) {
      shown.entry = *std::move(entry);
    } else {
      RATCHET_LOG(kError, "system record {} cannot be read, so its scope is denied to all users: {}", key,
                  entry.error().message());
    }
  }
  const MutexLock lock(mutex_);
  ++number_;
  image_ = nullptr;
  encoded_ = nullptr;
  if (const auto old = records_.find(key); old != records_.end()) {
    bytes_ -= old->second.bytes;
    Count(key, old->second.bytes, /*added=*/false);
    records_.erase(old);
  }
  if (!record.has_value()) return;
  bytes_ += shown.bytes;
  Count(key, shown.bytes, /*added=*/true);
  records_.emplace(key, std::move(shown));
}

std::string TokenKeyRecordKey(std::uint32_t id) { return fmt::format("{}{:010}", kTokenKeyRecordPrefix, id); }

std::string TokenKeyRecord(const rights::TokenKey& key) { return rights::ToProto(key).SerializeAsString(); }

void RightsBook::ShowTokenKey(const std::string& key, const std::optional<std::string>& record) {
  std::uint32_t id = 0;
  const char* const end = key.data() + key.size();
  const auto [last, wrong] = std::from_chars(key.data() + kTokenKeyRecordPrefix.size(), end, id);
  if (wrong != std::errc() || last != end) {
    RATCHET_LOG(kError, "system record {} is skipped: its name is not a number", key);
    return;
  }
  std::optional<rights::TokenKey> shown;
  ratchet::pb::TokenKey proto;
  if (record.has_value() && proto.ParseFromString(*record)) {
    auto read = rights::TokenKeyFromProto(proto);
    if (read.ok() && read->id == id) shown = *std::move(read);
  }
  if (record.has_value() && !shown.has_value())
    RATCHET_LOG(kError, "system record {} cannot be read, so no token of this key is accepted", key);
  const MutexLock lock(mutex_);
  ++number_;
  image_ = nullptr;
  encoded_ = nullptr;
  if (record.has_value()) {
    token_keys_[id] = std::move(shown);
  } else {
    token_keys_.erase(id);
  }
}

void RightsBook::ShowToken(const std::string& key, const std::optional<std::string>& record) {
  const MutexLock lock(mutex_);
  if (!tokens_.Show(key, record)) return;
  ++number_;
  image_ = nullptr;
  encoded_ = nullptr;
  revoked_tokens_ = nullptr;
}

Status RightsBook::RoomForToken(const std::string& user) const {
  const MutexLock lock(mutex_);
  return tokens_.RoomFor(user);
}

std::vector<std::int64_t> RightsBook::ExpiredTokens(std::int64_t now_ms) const {
  const MutexLock lock(mutex_);
  return tokens_.Expired(now_ms);
}

std::vector<IssuedToken> RightsBook::Tokens() const {
  const MutexLock lock(mutex_);
  return tokens_.List();
}

std::shared_ptr<const rights::RevokedTokens> RightsBook::RevokedTokens() const {
  const MutexLock lock(mutex_);
  if (revoked_tokens_ == nullptr) revoked_tokens_ = std::make_shared<const rights::RevokedTokens>(tokens_.Revoked());
  return revoked_tokens_;
}

std::shared_ptr<const rights::TokenKeys> RightsBook::TokenKeys() const {
  auto keys = std::make_shared<rights::TokenKeys>();
  const MutexLock lock(mutex_);
  for (const auto& [id, key] : token_keys_) {
    if (key.has_value()) keys->push_back(*key);
  }
  return keys;
}

std::uint32_t RightsBook::LastTokenKeyId() const {
  const MutexLock lock(mutex_);
  return token_keys_.empty() ? 0 : token_keys_.rbegin()->first;
}

rights::Actions RightsBook::Get(std::string_view user, const rights::Scope& scope) const {
  const MutexLock lock(mutex_);
  const auto found = records_.find(RightsRecordKey(user, scope));
  return found != records_.end() && found->second.entry ? found->second.entry->actions : rights::Actions();
}

std::vector<std::string> RightsBook::KeysWithin(const rights::Scope& scope) const {
  std::string from(kRightsRecordPrefix);
  if (scope.level >= Level::kTable) {
    AddEscaped(PlaceOf(scope), from);
    from += '/';
  }
  std::vector<std::string> keys;
  const MutexLock lock(mutex_);
  for (auto at = records_.lower_bound(from); at != records_.end() && at->first.starts_with(from); ++at) {
    const auto read = Read(at->first);
    if (read && scope.Covers(read->scope)) keys.push_back(at->first);
  }
  return keys;
}

std::vector<rights::RightsEntry> RightsBook::List() const {
  std::vector<rights::RightsEntry> all;
  const MutexLock lock(mutex_);
  for (const auto& [key, record] : records_) {
    if (record.entry) all.push_back(*record.entry);
  }
  return all;
}

std::vector<std::string> RightsBook::DamagedKeys() const {
  std::vector<std::string> keys;
  const MutexLock lock(mutex_);
  for (const auto& [key, record] : records_) {
    if (!record.entry) keys.push_back(key);
  }
  return keys;
}

std::size_t RightsBook::size() const {
  const MutexLock lock(mutex_);
  return records_.size();
}

Status RightsBook::RoomFor(const rights::RightsEntry& entry, bool owner) const {
  const std::size_t most_entries = rights::kMostEntries - (owner ? kEntriesForOwners / 2 : kEntriesForOwners);
  const std::size_t most_bytes = rights::kMostImageBytes - (owner ? kBytesForOwners / 2 : kBytesForOwners);
  const MutexLock lock(mutex_);
  if (!owner && !records_.contains(RightsRecordKey(entry.user, entry.scope))) RATCHET_TRY(RoomInShares(entry.scope));
  if (records_.size() < most_entries && bytes_ + RightsRecord(entry).size() <= most_bytes) return Ok();
  return Error(Code::kFailedPrecondition,
               fmt::format("there are {} rights with {} bytes: at most {} with {} bytes; revoke some first",
                           records_.size(), bytes_, most_entries, most_bytes));
}

Status RightsBook::RoomForTable(std::size_t entries, std::size_t bytes) const {
  if (entries > rights::kMostEntries / kShareOfTable || bytes > rights::kMostImageBytes / kShareOfTable)
    return Error(Code::kFailedPrecondition,
                 fmt::format("{} rights with {} bytes are more than the share of one table", entries, bytes));
  const MutexLock lock(mutex_);
  if (records_.size() + entries <= rights::kMostEntries - kEntriesForOwners &&
      bytes_ + bytes <= rights::kMostImageBytes - kBytesForOwners)
    return Ok();
  return Error(Code::kFailedPrecondition,
               fmt::format("there are {} rights with {} bytes, and no room for {} with {} more; revoke some first",
                           records_.size(), bytes_, entries, bytes));
}

std::uint64_t RightsBook::number() const {
  const MutexLock lock(mutex_);
  return number_;
}

void RightsBook::Make(Epoch epoch) const {
  if (image_ != nullptr && image_->number().epoch == epoch.value()) return;
  std::vector<rights::RightsEntry> entries;
  std::vector<rights::Scope> damaged;
  for (const auto& [key, record] : records_) {
    if (record.entry) {
      entries.push_back(*record.entry);
    } else if (rights::Scope scope = ReadRightsKey(key).scope;
               !RATCHET_MUTANT("master.ignore_damaged_rights") &&
               std::find(damaged.begin(), damaged.end(), scope) == damaged.end()) {
      damaged.push_back(std::move(scope));
    }
  }
  rights::TokenKeys token_keys;
  for (const auto& [id, key] : token_keys_) {
    if (key.has_value()) token_keys.push_back(*key);
  }
  image_ = std::make_shared<const rights::RightsImage>(rights::ImageNumber{epoch.value(), number_}, entries,
                                                       std::move(damaged), std::move(token_keys), tokens_.Revoked());
  encoded_ = nullptr;
}

std::shared_ptr<const rights::RightsImage> RightsBook::Image(Epoch epoch) const {
  const MutexLock lock(mutex_);
  Make(epoch);
  return image_;
}

std::shared_ptr<const std::string> RightsBook::EncodedImage(Epoch epoch) const {
  const MutexLock lock(mutex_);
  Make(epoch);
  if (encoded_ == nullptr)
    encoded_ = std::make_shared<const std::string>(image_->ToProtoForMembers().SerializeAsString());
  return encoded_;
}

}  // namespace ratchet::master

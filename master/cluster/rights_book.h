// RightsBook: the rights of all users, as the records of the procedure store have them.
//
// The records are the truth: they become durable together with the step that changes them, and are known before
// hbase:meta is loaded. Memory mirrors them. Every process judges by an image that is made here; its number is (epoch
// of the master, number of the change), so a server that missed messages gets the image with its next heartbeat. A
// record that cannot be read denies its scope to all users (S134: damaged record denies its scope).
//
// Owned by MasterLogic. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/rights/rights_image.h"
#include "master/cluster/token_book.h"

namespace ratchet::master {

// "rights/<scope>/<user>[,<family>[,<qualifier>]]": a ratchet::pb::RightsEntry. <scope> is empty for everything,
// "@<namespace>", or a table's name. Bytes other than letters, digits and @_.:- are "%XX".
inline constexpr std::string_view kRightsRecordPrefix = "rights/";

// "" for everything, "@<namespace>", or the table's name, also of a family or a column.
[[nodiscard]] std::string PlaceOf(const rights::Scope& scope);
// The record's key, with the prefix.
[[nodiscard]] std::string RightsRecordKey(std::string_view user, const rights::Scope& scope);
// `scope` is the global one, and `user` empty, if the key is none that RightsRecordKey makes.
struct RightsKey {
  std::string user;
  rights::Scope scope;
};
[[nodiscard]] RightsKey ReadRightsKey(std::string_view key);
[[nodiscard]] std::string RightsRecord(const rights::RightsEntry& entry);

// "token-keys/<id>": a ratchet::pb::TokenKey.
inline constexpr std::string_view kTokenKeyRecordPrefix = "token-keys/";
[[nodiscard]] std::string TokenKeyRecordKey(std::uint32_t id);
[[nodiscard]] std::string TokenKeyRecord(const rights::TokenKey& key);

// A request for another key of tokens.
struct TokenKeyOrder {
  std::string secret;
  bool withdraw = false;  // the earlier keys
  std::int64_t made_ms = 0;
  std::int64_t expires_ms = 0;
  // A key that was made at this time or later makes the request void, unless earlier ones are withdrawn.
  std::int64_t unless_made_since_ms = 0;
};

class RightsBook {
 public:
  // Grants leave this much of the bounds of an image to the owners of new tables.
  static constexpr std::size_t kEntriesForOwners = 10'000;
  static constexpr std::size_t kBytesForOwners = 1UL << 20U;
  // So that who administers one table or namespace does not use up the room of all.
  static constexpr std::size_t kShareOfTable = 20;     // one part of this number, of the entries and of the bytes
  static constexpr std::size_t kShareOfNamespace = 2;  // likewise, with its tables

  // Applies the record with this key; nullopt: it was deleted.
  void Show(const std::string& key, const std::optional<std::string>& record);

  // Applies the record of a key of tokens. No token of a record that cannot be read is accepted.
  void ShowTokenKey(const std::string& key, const std::optional<std::string>& record);
  // In the order of their ids.
  [[nodiscard]] std::shared_ptr<const rights::TokenKeys> TokenKeys() const;
  // The highest id of a record, also of one that cannot be read; 0: none.
  [[nodiscard]] std::uint32_t LastTokenKeyId() const;

  // Applies the record of an issued token.
  void ShowToken(const std::string& key, const std::optional<std::string>& record);
  // As in TokenBook.
  [[nodiscard]] Status RoomForToken(const std::string& user) const;
  [[nodiscard]] std::vector<std::int64_t> ExpiredTokens(std::int64_t now_ms) const;
  [[nodiscard]] std::vector<IssuedToken> Tokens() const;
  [[nodiscard]] std::shared_ptr<const rights::RevokedTokens> RevokedTokens() const;

  // Empty if there is no record, or none that can be read.
  [[nodiscard]] rights::Actions Get(std::string_view user, const rights::Scope& scope) const;
  // The keys of all records for this scope and what lies in it, also of damaged ones.
  [[nodiscard]] std::vector<std::string> KeysWithin(const rights::Scope& scope) const;
  // In the order of the records' keys.
  [[nodiscard]] std::vector<rights::RightsEntry> List() const;
  [[nodiscard]] std::vector<std::string> DamagedKeys() const;
  [[nodiscard]] std::size_t size() const;
  // An error if another record would pass the bounds, or the share of its table or namespace. `owner`: of a new table.
  [[nodiscard]] Status RoomFor(const rights::RightsEntry& entry, bool owner) const;

  // An error if the rights of a restored table would pass the share of one table, or the bounds.
  [[nodiscard]] Status RoomForTable(std::size_t entries, std::size_t bytes) const;

  [[nodiscard]] std::uint64_t number() const;
  [[nodiscard]] std::shared_ptr<const rights::RightsImage> Image(Epoch epoch) const;
  // Returns the image as the bytes of a ratchet::pb::RightsImage.
  [[nodiscard]] std::shared_ptr<const std::string> EncodedImage(Epoch epoch) const;

 private:
  struct Record {
    std::size_t bytes = 0;
    std::optional<rights::RightsEntry> entry;  // nullopt: damaged
  };
  void Make(Epoch epoch) const REQUIRES(mutex_);
  struct Used {
    std::size_t records = 0;
    std::size_t bytes = 0;
  };
  using UsedBy = std::map<std::string, Used, std::less<>>;
  // Counts a record with this key in what its table and namespace use, or no longer.
  void Count(const std::string& key, std::size_t bytes, bool added) REQUIRES(mutex_);
  [[nodiscard]] Status RoomInShares(const rights::Scope& scope) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, Record> records_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  UsedBy of_tables_ GUARDED_BY(mutex_);
  UsedBy of_namespaces_ GUARDED_BY(mutex_);  // with their tables
  // By id; nullopt: damaged.
  std::map<std::uint32_t, std::optional<rights::TokenKey>> token_keys_ GUARDED_BY(mutex_);
  TokenBook tokens_ GUARDED_BY(mutex_);
  std::uint64_t number_ GUARDED_BY(mutex_) = 1;
  // Made when they are asked for, and kept until the next change.
  mutable std::shared_ptr<const rights::RightsImage> image_ GUARDED_BY(mutex_);
  mutable std::shared_ptr<const std::string> encoded_ GUARDED_BY(mutex_);
  mutable std::shared_ptr<const rights::RevokedTokens> revoked_tokens_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master

// RightsImage: all rights of a cluster at one moment, arranged for questions.
//
// Masters make images from their records; region servers get them by message and judge with them. An image never
// changes after it was made, so any thread may read it. Who may be a superuser is a setting and not a part of it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/rights.pb.h"
#include "common/model/table_name.h"
#include "common/rights/action.h"
#include "common/rights/rights_entry.h"
#include "common/rights/scope.h"
#include "common/rights/token_keys.h"

namespace ratchet::rights {

// Orders images: a later master has a higher epoch, and counts its own changes.
struct ImageNumber {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
  auto operator<=>(const ImageNumber&) const = default;
};

// Who asks: a user and the groups that the user belongs to, without '@'.
struct Subject {
  std::string user;
  std::vector<std::string> groups;
};

class RightsImage {
 public:
  RightsImage() = default;  // no user may do anything
  // Entries of the same user and scope add up. In a damaged scope no entry counts; of a family or a column, the whole
  // table is damaged.
  RightsImage(ImageNumber number, const std::vector<RightsEntry>& entries, std::vector<Scope> damaged,
              TokenKeys token_keys = {}, RevokedTokens revoked_tokens = {});
  // kInvalidArgument when an entry is wrong or a bound is passed: then nothing may be taken from it.
  [[nodiscard]] static Result<RightsImage> FromProto(const pb::RightsImage& image);
  // Without what is about tokens.
  [[nodiscard]] pb::RightsImage ToProto() const;
  // With them.
  [[nodiscard]] pb::RightsImage ToProtoForMembers() const;

  [[nodiscard]] ImageNumber number() const { return number_; }
  [[nodiscard]] const std::vector<Scope>& damaged() const { return damaged_; }
  // Never null.
  [[nodiscard]] const std::shared_ptr<const TokenKeys>& token_keys() const { return token_keys_; }
  // Never null.
  [[nodiscard]] const std::shared_ptr<const RevokedTokens>& revoked_tokens() const { return revoked_tokens_; }

  // Returns what the subject may do in the whole scope: the rights in it and in the scopes around it, of the user and
  // of its groups. Rights inside it, such as on one column of a family, do not count.
  [[nodiscard]] Actions Held(const Subject& subject, const Scope& scope) const;
  // True if the subject holds one of the actions in the scope, around it, or anywhere inside it.
  [[nodiscard]] bool HoldsWithin(const Subject& subject, Actions any_of, const Scope& scope) const;
  // The columns of the family on which the subject holds the action, in order, each once.
  [[nodiscard]] std::set<std::string> ColumnsWith(const Subject& subject, Action action, const TableName& table,
                                                  const std::string& family) const;
  // In the order of users and scopes.
  [[nodiscard]] std::vector<RightsEntry> Entries() const;

 private:
  // The rights of one user or group, by scope. Scopes of one table are neighbours: Scope's order is level first, so
  // tables have maps of their own.
  struct OfTable {
    Actions whole;
    std::map<Scope, Actions> parts;  // families and columns
  };
  struct OfUser {
    Actions global;
    std::unordered_map<std::string, Actions> namespaces;
    std::unordered_map<TableName, OfTable> tables;
  };

  void Add(const RightsEntry& entry);
  [[nodiscard]] bool IsDamaged(const Scope& scope) const;
  static Actions HeldBy(const OfUser& user, const Scope& scope);
  [[nodiscard]] Actions HeldInside(const OfUser& user, const Scope& scope) const;
  // Calls `visit` with the rights of the user and of each of its groups.
  template <class Visit>
  void VisitOf(const Subject& subject, Visit visit) const;

  ImageNumber number_;
  std::unordered_map<std::string, OfUser> users_;  // the key of a group is "@name"
  std::vector<Scope> damaged_;
  std::shared_ptr<const TokenKeys> token_keys_ = std::make_shared<const TokenKeys>();
  std::shared_ptr<const RevokedTokens> revoked_tokens_ = std::make_shared<const RevokedTokens>();
};

}  // namespace ratchet::rights

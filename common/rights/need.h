// Need: what an RPC method asks of its caller. It is a part of the method's declaration (scripts/cmake/rpc_methods.py
// reads it behind "need:" in the service blocks), so a method without a need does not compile. Target and Demand:
// what one request of a method with a scope asks. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/rights/action.h"
#include "common/rights/scope.h"

namespace ratchet::rights {

class Need {
 public:
  enum class Kind : std::uint8_t {
    kAny,      // every user
    kMember,   // the cluster's own processes only, S77 (members only)
    kGlobal,   // one of the actions everywhere
    kScoped,   // one of the actions in each scope that the request names
    kSome,     // some action in each scope that the request names, or inside it
    kOwner,    // to be the owner of what the request names, or one of the actions everywhere
    kRequest,  // the request decides, by a function that is registered with the handler
    kFilter,   // every user; the handler leaves out what the user may not see
    kHandler,  // the handler judges, action by action
  };

  [[nodiscard]] static constexpr Need Any() { return {Kind::kAny, {}}; }
  [[nodiscard]] static constexpr Need Member() { return {Kind::kMember, {}}; }
  [[nodiscard]] static constexpr Need Global(Actions any_of) { return {Kind::kGlobal, any_of}; }
  [[nodiscard]] static constexpr Need Scoped(Actions any_of) { return {Kind::kScoped, any_of}; }
  [[nodiscard]] static constexpr Need Some() { return {Kind::kSome, Actions::All()}; }
  [[nodiscard]] static constexpr Need OwnerOr(Actions any_of) { return {Kind::kOwner, any_of}; }
  [[nodiscard]] static constexpr Need ByRequest() { return {Kind::kRequest, {}}; }
  [[nodiscard]] static constexpr Need Filter() { return {Kind::kFilter, {}}; }
  [[nodiscard]] static constexpr Need ByHandler() { return {Kind::kHandler, {}}; }

  [[nodiscard]] constexpr Kind kind() const { return kind_; }
  [[nodiscard]] constexpr Actions any_of() const { return any_of_; }
  [[nodiscard]] constexpr bool members_only() const { return kind_ == Kind::kMember; }
  // True if a function must be registered that finds in a request what the need applies to.
  [[nodiscard]] constexpr bool has_target() const { return kind_ >= Kind::kScoped && kind_ <= Kind::kRequest; }
  constexpr bool operator==(const Need&) const = default;

 private:
  constexpr Need(Kind kind, Actions any_of) : kind_(kind), any_of_(any_of) {}

  Kind kind_;
  Actions any_of_;
};

// The owner of what the master does by itself, and of what clients without a name ask for. No user owns these.
inline constexpr std::string_view kMasterOwner = "master";
inline constexpr std::string_view kUnnamedOwner = "unnamed";

// The subject of a request: a scope, or something that belongs to a user, such as a procedure or a lock.
struct Target {
  Scope scope;
  std::string owner{};  // empty: no owner
};

// One condition that a caller must meet.
struct Demand {
  Scope scope;
  Actions any_of;
  bool within = false;  // rights inside the scope, such as on one column of a table, count too
  std::string owner{};  // this user meets the demand without a right; empty: no owner

  [[nodiscard]] static Demand Of(Scope scope, Actions any_of) { return {std::move(scope), any_of}; }
  // No right is enough.
  [[nodiscard]] static Demand Superuser() { return {Scope::Global(), Actions()}; }
  [[nodiscard]] static Demand Some(Scope scope) { return {std::move(scope), Actions::All(), true}; }
  bool operator==(const Demand&) const = default;
};
using Demands = std::vector<Demand>;

}  // namespace ratchet::rights

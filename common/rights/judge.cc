#include "common/rights/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/exception_names.h"
#include "common/base/log.h"
#include "common/base/mutant.h"

namespace ratchet::rights {
namespace {

using Level = Scope::Level;

constexpr std::uint32_t kLinesPerSecond = 10;

// HBase names one action: the last that it tried.
std::string_view NameOf(Actions any_of) {
  for (const Action action : {Action::kRead, Action::kWrite, Action::kExec, Action::kCreate}) {
    if (any_of.HasAny(action)) return ActionName(action);
  }
  return ActionName(Action::kAdmin);
}

bool IsReserved(std::string_view user) { return user == kMasterOwner || user == kUnnamedOwner; }

std::string FullName(const TableName& table) {
  return fmt::format("{}:{}", table.ns.empty() ? "default" : table.ns, table.qualifier);
}

std::string ContextOf(const Scope& scope) {
  const std::string table = scope.level >= Level::kTable ? FullName(scope.table) : std::string();
  switch (scope.level) {
    case Level::kGlobal: return "scope=GLOBAL, ";
    case Level::kNamespace: return fmt::format("scope={0}, params=[namespace={0},],", scope.table.ns);
    case Level::kTable: return fmt::format("scope={0}, params=[table={0},],", table);
    case Level::kFamily:
      return fmt::format("scope={0}, family={1}, params=[table={0},family={1}],", table, scope.family);
    case Level::kColumn:
      return fmt::format("scope={0}, family={1}:{2}, params=[table={0},family={1}:{2}],", table, scope.family,
                         scope.qualifier);
  }
  return {};
}

}  // namespace

Error AccessDenied(std::string_view user, const Demand& demand) {
  const std::string_view action = NameOf(demand.any_of);
  std::string text;
  if (demand.scope.level == Level::kGlobal) {
    text = fmt::format("Insufficient permissions for user '{}' (global, action={})", user, action);
  } else if (demand.any_of == Actions(Action::kRead)) {
    text = fmt::format("Insufficient permissions for user '{}' (table={}, action=READ)", user,
                       demand.scope.table.ToString());
  } else {
    text = fmt::format("Insufficient permissions (user={}, {}action={})", user, ContextOf(demand.scope), action);
  }
  return {Code::kFailedPrecondition, std::move(text), std::string(exception::kAccessDenied)};
}

Subject Judge::SubjectOf(std::string_view user) const {
  Subject subject{std::string(user), {}};
  const auto table = users_->table();
  if (const auto found = table->groups.find(subject.user); found != table->groups.end()) subject.groups = found->second;
  return subject;
}

bool Judge::IsAbove(const Caller& caller) const {
  if (caller.member) return true;
  if (caller.user.empty()) return false;
  const auto table = users_->table();
  if (table->superusers.contains(caller.user)) return true;
  if (table->supergroups.empty()) return false;
  const auto found = table->groups.find(std::string(caller.user));
  return found != table->groups.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const std::string& group) { return table->supergroups.contains(group); });
}

bool Judge::IsSuperuser(std::string_view grantee) const {
  if (!grantee.starts_with(kGroupMark)) return IsAbove({grantee});
  return users_->table()->supergroups.contains(grantee.substr(1));
}

std::vector<std::string> Judge::Superusers() const {
  const auto table = users_->table();
  std::vector<std::string> names(table->superusers.begin(), table->superusers.end());
  for (const std::string& group : table->supergroups) names.push_back(kGroupMark + group);
  return names;
}

Status Judge::Verdict(const Caller& caller, const Demand& demand) const {
  if (IsAbove(caller)) return Ok();
  if (caller.user.empty()) return AccessDenied(caller.user, demand);
  if (!demand.owner.empty() && demand.owner == caller.user && !IsReserved(caller.user)) return Ok();
  const auto image = images_.image();
  if (image == nullptr) return RATCHET_MUTANT("rights.serve_without_image") ? Ok() : Status(images_.WhyNone());
  const Subject subject = SubjectOf(caller.user);
  const bool holds = demand.within ? image->HoldsWithin(subject, demand.any_of, demand.scope)
                                   : image->Held(subject, demand.scope).HasAny(demand.any_of);
  return holds ? Ok() : Status(AccessDenied(caller.user, demand));
}

Status Judge::Apply(Status verdict, std::string_view what) const {
  if (verdict.ok()) return verdict;
  const bool enforced = enforces();
  if (!enforced && images_.image() == nullptr) return Ok();  // nothing is known that could be refused
  Note(verdict.error(), what, enforced);
  return enforced ? verdict : Ok();
}

Status Judge::Check(const Caller& caller, const Demand& demand, std::string_view what) const {
  if (!judges()) return Ok();
  return Apply(Verdict(caller, demand), what);
}

Status Judge::Check(const Caller& caller, const Demands& demands, std::string_view what) const {
  for (const Demand& demand : demands) RATCHET_TRY(Check(caller, demand, what));
  return Ok();
}

bool Judge::Sees(const Caller& caller, const Demand& demand) const {
  return !enforces() || Verdict(caller, demand).ok();
}

// At most kLinesPerSecond lines, so that a client that repeats a refused call does not fill the log.
void Judge::Note(const Error& refusal, std::string_view what, bool enforced) const {
  if (what.empty()) return;
  (enforced ? refused_ : would_be_refused_).fetch_add(1, std::memory_order_relaxed);
  const std::int64_t second = SystemClock().WallMillis() / 1000;
  if (logged_second_.exchange(second) != second) logged_ = 0;
  if (logged_.fetch_add(1) >= kLinesPerSecond) return;
  if (enforced) {
    RATCHET_LOG(kDebug, "Rights: {} refused: {}", what, refusal.message());
  } else {
    RATCHET_LOG(kWarn, "Rights: {} would be denied: {}", what, refusal.message());
  }
}

}  // namespace ratchet::rights

#include "common/zk/place_access.h"

#include <fmt/core.h>

#include "common/base/log.h"

namespace ratchet::zk {
namespace {

// Errors of the connection and of the session, after which a later call may succeed or the process ends.
bool IsOfSession(const Error& error) {
  return error.code() == Code::kUnavailable || error.code() == Code::kFenced || error.code() == Code::kAborted;
}

}  // namespace

Status PlaceAccess::Take(const std::vector<std::string>& keys) {
  if (keys == keys_) return Ok();
  RATCHET_TRY(session_.Authenticate(keys));
  keys_ = keys;
  kept_.reset();
  return Ok();
}

Error PlaceAccess::WrongRights(const std::string& path, const NodeRights& found) const {
  return Error(
      Code::kFailedPrecondition,
      fmt::format("ZooKeeper's node {} has the rights {}; this cluster needs {} (--zk-acl open) or {} (--zk-acl set). "
                  "If it belongs to another cluster, correct --zk-parent or --root; otherwise give it one of these "
                  "rights with setAcl of ZooKeeper's zkCli",
                  path, ToText(found), ToText(OpenRights()), ToText(RightsOfKeys(keys_))));
}

Status PlaceAccess::Begin(const std::vector<std::string>& keys) {
  RATCHET_TRY(Take(keys));
  auto rights = session_.Rights(paths_.parent);
  if (!rights.ok() && rights.error().code() == Code::kNotFound) rights = OpenRights();
  if (!rights.ok()) return rights.error();
  const bool ours = BelongsTo(*rights, keys_);
  if (!ours && !IsOpen(*rights)) return WrongRights(paths_.parent, *rights);
  session_.CreateWith(ours ? RightsOfKeys(keys_) : OpenRights());
  return Ok();
}

Status PlaceAccess::KeepNode(const std::string& path, bool only_members) {
  const auto rights = session_.Rights(path);
  if (!rights.ok() && rights.error().code() == Code::kNotFound) return Ok();
  if (!rights.ok()) return rights.error();
  const NodeRights wanted = only_members ? RightsOfKeys(keys_) : OpenRights();
  if (*rights == wanted || (!only_members && IsOpen(*rights))) return Ok();
  if (!only_members && !BelongsTo(*rights, keys_)) return WrongRights(path, *rights);  // set by another program
  const Status set = session_.SetRights(path, wanted);
  if (set.ok()) {
    RATCHET_LOG(kInfo, "ZooKeeper's node {} has the rights {} now (--zk-acl)", path, ToText(wanted));
    return set;
  }
  if (set.error().code() == Code::kNotFound) return Ok();  // it has gone meanwhile
  return IsOfSession(set.error()) ? set : Status(WrongRights(path, *rights));
}

Status PlaceAccess::KeepChildren(const std::string& folder, bool only_members) {
  const auto names = session_.Children(folder);
  if (!names.ok() && names.error().code() == Code::kNotFound) return Ok();
  if (!names.ok()) return names.error();
  for (const std::string& name : *names) RATCHET_TRY(KeepNode(folder + "/" + name, only_members));
  return Ok();
}

Status PlaceAccess::Keep(bool only_members) {
  session_.CreateWith(only_members ? RightsOfKeys(keys_) : OpenRights());
  RATCHET_TRY(KeepNode(paths_.parent, only_members));
  return KeepChildren(paths_.parent, only_members);
}

Status PlaceAccess::KeepSometimes(bool only_members, TimePoint now) {
  if (kept_.has_value() && now - *kept_ < kLookAgain) return Ok();
  RATCHET_TRY(Keep(only_members));
  if (!kept_.has_value()) {
    RATCHET_TRY(KeepChildren(paths_.RegionServers(), only_members));
    RATCHET_TRY(KeepChildren(paths_.BackupMasters(), only_members));
  }
  kept_ = now;
  return Ok();
}

}  // namespace ratchet::zk

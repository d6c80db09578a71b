#include "common/zk/cluster_place.h"

#include <fmt/core.h>

#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/model/server_name.h"
#include "common/zk/znode_codec.h"

namespace ratchet::zk {
namespace {

std::string IdOf(const PlaceIdentity& place) {
  if (!place.there) return "none";
  return place.cluster_id.empty() ? "unreadable" : place.cluster_id;
}

std::string IdOf(const RootIdentity& root) { return root.cluster_id.empty() ? "none" : root.cluster_id; }

// Counts all nodes of processes at this place. Missing folders (kNotFound) count as empty.
Result<std::size_t> CountRegistered(ZkSession& session, const ZkPaths& paths) {
  std::size_t count = 0;
  const auto master = session.Get(paths.Master());
  if (!master.ok() && master.error().code() != Code::kNotFound) return master.error();
  if (master.ok()) ++count;
  for (const std::string& folder : {paths.BackupMasters(), paths.RegionServers()}) {
    const auto names = session.Children(folder);
    if (!names.ok() && names.error().code() != Code::kNotFound) return names.error();
    if (names.ok()) count += names->size();
  }
  return count;
}

// kAlreadyExists, kNotFound, kFailedPrecondition (another client was faster): the caller looks again.
Status Write(ZkSession& session, const ZkPaths& paths, const PlaceIdentity& place, const std::string& cluster_id) {
  const std::string bytes = EncodeClusterIdNode(cluster_id);
  if (place.there && !place.ephemeral) return session.Set(paths.ClusterId(), bytes, place.version);
  if (place.there) RATCHET_TRY(session.Delete(paths.ClusterId(), place.version));
  RATCHET_TRY(session.EnsurePath(paths.parent));
  return session.Create(paths.ClusterId(), bytes, NodeKind::kPersistent);
}

bool LookAgain(const Status& written) {
  if (written.ok()) return false;
  const Code code = written.error().code();
  return code == Code::kAlreadyExists || code == Code::kNotFound || code == Code::kFailedPrecondition;
}

}  // namespace

Result<PlaceIdentity> ReadPlace(ZkSession& session, const ZkPaths& paths) {
  RATCHET_TRY(session.Sync(paths.ClusterId()));
  const auto node = session.Get(paths.ClusterId());
  PlaceIdentity place;
  if (!node.ok() && node.error().code() == Code::kNotFound) return place;
  if (!node.ok()) return node.error();
  place.there = true;
  place.version = node->version;
  place.ephemeral = node->owner_session != 0;
  const auto id = DecodeClusterIdNode(node->data);
  if (id.ok()) place.cluster_id = *id;
  return place;
}

Status ComparePlace(const RootIdentity& root, const PlaceIdentity& place, const std::string& where) {
  const bool never_run = !place.there && !root.history;
  if (never_run || RATCHET_MUTANT("place.no_check")) return Ok();
  if (place.there && !place.cluster_id.empty() && place.cluster_id == root.cluster_id) return Ok();
  return Error(
      Code::kFailedPrecondition,
      fmt::format(
          "--root and ZooKeeper do not belong together: the cluster id of --root is {}{}, that of {} is {}. Check "
          "--root, --zookeeper and --zk-parent. Nothing was claimed, fenced or registered. If this ZooKeeper "
          "replaces one that was lost, start one master with --adopt-zookeeper, once",
          IdOf(root), root.history ? " (it has been in use)" : "", where, IdOf(place)));
}

int ExitCodeWithoutPlace(const Error& error) {
  switch (error.code()) {
    case Code::kFailedPrecondition: return exit_code::kWrongPlace;
    case Code::kFenced: return exit_code::kSessionExpired;
    default: return exit_code::kZooKeeperUnreachable;
  }
}

Status MayAdopt(const RootIdentity& root, const PlaceIdentity& place, std::size_t registered,
                const std::string& where) {
  if (registered == 0) return Ok();
  return Error(
      Code::kFailedPrecondition,
      fmt::format(
          "--adopt-zookeeper is refused: {} processes of a cluster are registered at {}, whose cluster id is {}; that "
          "of --root is {}. Stop them first, if this is the right place",
          registered, where, IdOf(place), IdOf(root)));
}

Result<bool> ClaimPlace(ZkSession& session, const ZkPaths& paths, const RootIdentity& root, bool adopt) {
  while (true) {
    RATCHET_ASSIGN(const PlaceIdentity place, ReadPlace(session, paths));
    const Status belongs = ComparePlace(root, place, paths.ClusterId());
    if (belongs.ok() && place.there && !place.ephemeral) return false;
    if (!belongs.ok()) {
      if (!adopt) return belongs.error();
      RATCHET_ASSIGN(const std::size_t registered, CountRegistered(session, paths));
      RATCHET_TRY(MayAdopt(root, place, registered, paths.ClusterId()));
    }
    const Status written = Write(session, paths, place, root.cluster_id);
    if (LookAgain(written)) continue;
    RATCHET_TRY(written);
    return !belongs.ok();
  }
}

Result<bool> IdMayReturn(ZkSession& session, const ZkPaths& paths) {
  RATCHET_ASSIGN(const PlaceIdentity place, ReadPlace(session, paths));
  if (place.there) return false;
  RATCHET_ASSIGN(const std::size_t registered, CountRegistered(session, paths));
  return registered > 0;
}

Result<bool> IsKnownPlace(ZkSession& session, const ZkPaths& paths, const HasLogDirectory& has) {
  RATCHET_ASSIGN(const PlaceIdentity place, ReadPlace(session, paths));
  if (!place.cluster_id.empty()) return false;  // it belongs to another cluster, or already to this one
  const auto names = session.Children(paths.RegionServers());
  if (!names.ok() && names.error().code() == Code::kNotFound) return false;
  if (!names.ok()) return names.error();
  for (const std::string& name : *names) {
    const auto node = session.Get(paths.RegionServer(name));
    if (!node.ok() && node.error().code() == Code::kNotFound) continue;  // it has gone meanwhile
    if (!node.ok()) return node.error();
    if (node->owner_session == 0 || !ServerName::Parse(name).ok()) continue;
    RATCHET_ASSIGN(const bool there, has(name));
    if (there || RATCHET_MUTANT("place.any_server")) return true;
  }
  return false;
}

Status KeepPlace(ZkSession& session, const ZkPaths& paths, const std::string& cluster_id, bool active) {
  while (true) {
    RATCHET_ASSIGN(const PlaceIdentity place, ReadPlace(session, paths));
    if (place.there && !place.ephemeral && place.cluster_id == cluster_id) return Ok();
    if (!active && !place.cluster_id.empty()) RATCHET_TRY(ComparePlace({cluster_id, true}, place, paths.ClusterId()));
    RATCHET_LOG(kWarn, "{} {}; writing it again", paths.ClusterId(),
                place.there ? "was changed by another client" : "was removed by another client");
    if (const Status written = Write(session, paths, place, cluster_id); !LookAgain(written)) return written;
  }
}

}  // namespace ratchet::zk

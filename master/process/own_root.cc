#include "master/process/own_root.h"

#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/io/root_access.h"
#include "common/io/root_history.h"
#include "common/zk/cluster_place.h"

namespace ratchet::master {
namespace {

zk::HasLogDirectory LogDirectoriesOf(io::Directory& root) {
  return [&root](const std::string& server) -> Result<bool> {
    const auto wals = root.OpenDir("wals");
    if (wals.ok()) return (*wals)->Exists(server);
    if (wals.error().code() == Code::kNotFound) return false;
    return wals.error();
  };
}

Result<bool> KeepKnownPlace(zk::ZkSession& session, const zk::ZkPaths& paths, const std::string& cluster_id) {
  RATCHET_TRY(zk::KeepPlace(session, paths, cluster_id, /*active=*/false));
  return false;
}

}  // namespace

Result<OwnRoot> LookAtRoot(const std::string& path) {
  OwnRoot root;
  RATCHET_ASSIGN(root.directory, OpenRoot(io::PosixDisk(), path));
  RATCHET_TRY(io::CheckRootAccess(*root.directory));
  // S114 (no start without the past): a standby also detects at its start that it cannot lead
  RATCHET_TRY(io::CheckRootPast(*root.directory));
  RATCHET_TRY(ProbeWritable(*root.directory, RandomSeed(), SystemClock()));
  RATCHET_ASSIGN(root.state, ReadRootState(*root.directory));
  return root;
}

std::optional<PlaceFailure> ClaimPlaceFor(OwnRoot& root, zk::ZkSession& session, const zk::ZkPaths& paths,
                                          bool adopt_zookeeper) {
  if (root.state.cluster_id.empty()) {  // a new root gets its id only if the place is new too
    const auto place = zk::ReadPlace(session, paths);
    if (!place.ok()) return PlaceFailure{place.error(), false};
    if (place->there) {  // another master of this root may have written the root's id, then the place's
      auto state = ReadRootState(*root.directory);
      if (!state.ok()) return PlaceFailure{state.error(), true};
      root.state = std::move(*state);
    }
    if (!adopt_zookeeper) {
      const Status same = zk::ComparePlace({root.state.cluster_id, root.state.history}, *place, paths.ClusterId());
      if (!same.ok()) return PlaceFailure{same.error(), false};
    }
    if (!root.state.history) io::CloseNewRoot(*root.directory);
    auto id = EnsureClusterId(*root.directory, NewClusterId(RandomSeed()));
    if (!id.ok()) return PlaceFailure{id.error(), true};
    root.state.cluster_id = std::move(*id);
  }
  const zk::RootIdentity identity{root.state.cluster_id, root.state.history};
  auto adopted = zk::ClaimPlace(session, paths, identity, adopt_zookeeper);
  if (!adopted.ok() && adopted.error().code() == Code::kFailedPrecondition) {
    const auto known = zk::IsKnownPlace(session, paths, LogDirectoriesOf(*root.directory));
    if (!known.ok()) return PlaceFailure{known.error(), false};
    if (*known) adopted = KeepKnownPlace(session, paths, identity.cluster_id);
  }
  if (!adopted.ok()) return PlaceFailure{adopted.error(), false};
  if (*adopted) {
    RATCHET_LOG(kWarn, "{} now belongs to cluster {} (--adopt-zookeeper)", paths.ClusterId(), identity.cluster_id);
  } else if (adopt_zookeeper) {
    RATCHET_LOG(kWarn, "--adopt-zookeeper has no effect: {} already names cluster {}; omit it", paths.ClusterId(),
                identity.cluster_id);
  }
  return std::nullopt;
}

}  // namespace ratchet::master

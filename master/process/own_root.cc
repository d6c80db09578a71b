#include "master/process/own_root.h"

#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/zk/cluster_place.h"

namespace ratchet::master {

Result<OwnRoot> LookAtRoot(const std::string& path) {
  OwnRoot root;
  RATCHET_ASSIGN(root.directory, OpenRoot(io::PosixDisk(), path));
  RATCHET_TRY(ProbeWritable(*root.directory, RandomSeed(), SystemClock()));
  RATCHET_ASSIGN(root.state, ReadRootState(*root.directory));
  return root;
}

std::optional<PlaceFailure> TakePlaceFor(OwnRoot& root, zk::ZkSession& session, const zk::ZkPaths& paths,
                                         bool adopt_zookeeper) {
  if (root.state.cluster_id.empty()) {  // a new root: it gets its id where nothing else is at the place already
    const auto place = zk::ReadPlace(session, paths);
    if (!place.ok()) return PlaceFailure{place.error(), false};
    if (place->there) {  // another master of this root may have been faster: it wrote the root's id before the place's
      auto state = ReadRootState(*root.directory);
      if (!state.ok()) return PlaceFailure{state.error(), true};
      root.state = std::move(*state);
    }
    if (!adopt_zookeeper) {
      const Status same = zk::ComparePlace({root.state.cluster_id, root.state.history}, *place, paths.ClusterId());
      if (!same.ok()) return PlaceFailure{same.error(), false};
    }
    auto id = EnsureClusterId(*root.directory, NewClusterId(RandomSeed()));
    if (!id.ok()) return PlaceFailure{id.error(), true};
    root.state.cluster_id = std::move(*id);
  }
  const zk::RootIdentity identity{root.state.cluster_id, root.state.history};
  const auto adopted = zk::TakePlace(session, paths, identity, adopt_zookeeper);
  if (!adopted.ok()) return PlaceFailure{adopted.error(), false};
  if (*adopted) {
    RATCHET_LOG(kWarn, "{} belongs to cluster {} from now on (--adopt-zookeeper)", paths.ClusterId(),
                identity.cluster_id);
  } else if (adopt_zookeeper) {
    RATCHET_LOG(kWarn, "--adopt-zookeeper has nothing to do: {} names cluster {} already; leave it out",
                paths.ClusterId(), identity.cluster_id);
  }
  return std::nullopt;
}

}  // namespace ratchet::master

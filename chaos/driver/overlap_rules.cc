#include "chaos/driver/overlap_rules.h"

#include <algorithm>
#include <array>

namespace ratchet::chaos {
namespace {

using enum FaultTool;

struct KindToll {
  std::string_view kind;
  Toll toll;
};

constexpr Toll kWhole{0, 0, 0, kAlone};
constexpr Toll kMaster{1, 0, 0, kNone};
constexpr Toll kServer{0, 1, 0, kNone};
constexpr Toll kEither{1, 1, 0, kNone};  // any process: the victim may be one or the other
constexpr Toll kMember{0, 0, 1, kNone};
constexpr Toll kShimmed{1, 1, 0, kShim};

constexpr std::array kTolls{
    KindToll{"expired-certificate", kWhole},
    KindToll{"half-written-file", kWhole},
    KindToll{"image-lost", kWhole},
    KindToll{"rotate-certificate", kWhole},
    KindToll{"rotate-authority", kWhole},
    KindToll{"kill-active-master", kMaster},
    KindToll{"kill-standby", kMaster},
    KindToll{"kill-meta-holder", kServer},
    KindToll{"kill-server", kServer},
    KindToll{"kill-some", Toll{0, 2, 0, kNone}},
    KindToll{"kill-all-servers", kWhole},
    KindToll{"kill-master-and-meta-holder", kEither},
    KindToll{"pause-server", kServer},
    KindToll{"pause-server-briefly", kServer},
    KindToll{"pause-active-master", kMaster},
    KindToll{"stall", kEither},
    KindToll{"swizzle", kWhole},
    KindToll{"kill-zookeeper", kMember},
    KindToll{"kill-zookeeper-leader", kMember},
    KindToll{"kill-zookeeper-majority", kWhole},
    KindToll{"zookeeper-outage", kWhole},
    KindToll{"zookeeper-outage-brief", kWhole},
    KindToll{"pause-zookeeper", kMember},
    KindToll{"pause-zookeeper-leader", kMember},
    KindToll{"partition-server-from-zookeeper", Toll{0, 1, 0, kLinks}},
    KindToll{"partition-master-from-zookeeper", Toll{1, 0, 0, kLinks}},
    KindToll{"partition-from-zookeeper-member", Toll{0, 0, 1, kLinks}},
    KindToll{"partition-master-from-server", Toll{1, 1, 0, kLinks}},
    KindToll{"partition-master-from-server-one-way", Toll{1, 1, 0, kLinks}},
    KindToll{"partition-client-from-server", Toll{0, 1, 0, kLinks}},
    KindToll{"isolate-server", Toll{0, 1, 0, kLinks}},
    KindToll{"slow-link", Toll{0, 0, 0, kLinks}},
    KindToll{"slow-network", Toll{0, 0, 0, kLinks}},
    KindToll{"lossy-links", Toll{0, 0, 0, kLinks}},
    KindToll{"half-open-link", Toll{1, 1, 0, kLinks}},
    KindToll{"reset-links", Toll{0, 0, 0, kLinks}},
    KindToll{"swizzle-links", kWhole},
    KindToll{"reset-and-refuse", Toll{1, 1, 0, kLinks}},
    // Its signals would continue a process that another fault has stopped.
    KindToll{"starved-process", kWhole},
    KindToll{"slow-sync", kShimmed},
    KindToll{"stalled-sync", kShimmed},
    KindToll{"failing-sync", kShimmed},
    KindToll{"read-error", kShimmed},
    KindToll{"list-error", kShimmed},
    KindToll{"read-only-root", kShimmed},
    KindToll{"no-inodes", kShimmed},
    KindToll{"nth-call", kShimmed},
    // These expect that one process or several end in a certain way while the active master stays active.
    KindToll{"clock-jump", kWhole},
    KindToll{"clock-drift", kWhole},
    KindToll{"hung-sync-server", kWhole},
    KindToll{"hung-sync-meta-holder", kWhole},
    KindToll{"hung-sync-master", kWhole},
    KindToll{"hung-sync-everywhere", kWhole},
    KindToll{"wrong-setting", kWhole},
    // These faults pause a type of procedures, or wait for their occasion while the active master stays active.
    KindToll{"kill-splitter", kWhole},
    KindToll{"kill-open-target", kWhole},
    KindToll{"kill-builder", kWhole},
    KindToll{"fault-point", kWhole},
    KindToll{"kill-at-step", kWhole},
    // The machine's own: every process is a victim.
    KindToll{"full-disk", kWhole},
    KindToll{"power-failure", kWhole},
    KindToll{"disk-nearly-full", kWhole},
    KindToll{"no-descriptors-system", kWhole},
    KindToll{"pause-everything", kWhole},
    KindToll{"expire-session", kEither},
    KindToll{"few-descriptors", kEither},
    KindToll{"little-memory", kEither},
    KindToll{"connection-flood", kEither},
    KindToll{"hostile-client", kEither},
    KindToll{"disconnect-server", kServer},
    KindToll{"disconnect-active-master", kMaster},
    KindToll{"kill-mds", kWhole},
    KindToll{"pause-mds", kWhole},
    KindToll{"kill-mon", kWhole},
    KindToll{"pause-mon", kWhole},
    KindToll{"kill-osd", kWhole},
    KindToll{"pause-osd", kWhole},
    KindToll{"kill-storage-client", kEither},
    KindToll{"pause-storage-client", kEither},
    KindToll{"evict-storage-client", kEither},
    KindToll{"cut-storage-client", kEither},
    KindToll{"kill-host", kEither},
    KindToll{"call-storm", kEither},
    KindToll{"no-dns", kShimmed},
    KindToll{"zookeeper-back", kWhole},
    KindToll{"lose-piece", kWhole},
    KindToll{"flip-bytes", kWhole},
    KindToll{"operator", kWhole},
    KindToll{"mixed-versions", kEither},
    KindToll{"in-phase", Toll{1, 2, 0, kNone}},
};

const KindToll* Find(std::string_view kind) {
  const auto* const found =
      std::find_if(kTolls.begin(), kTolls.end(), [&](const KindToll& listed) { return listed.kind == kind; });
  return found == kTolls.end() ? nullptr : found;
}

}  // namespace

Toll TollOf(std::string_view kind) {
  const KindToll* const listed = Find(kind);
  return listed == nullptr ? kWhole : listed->toll;
}

bool IsTollListed(std::string_view kind) { return Find(kind) != nullptr; }

bool MayOverlap(const ClusterSize& size, const std::vector<std::string>& others,
                const std::vector<std::string>& unsettled, std::string_view kind) {
  if (unsettled.empty()) return true;
  Toll sum = TollOf(kind);
  if (sum.tool == kAlone) return false;
  for (const std::string& other : unsettled) {
    if (TollOf(other).tool == kAlone) return false;
  }
  if (others.empty()) return true;
  for (const std::string& other : others) {
    const Toll toll = TollOf(other);
    if (toll.tool != kNone && toll.tool == sum.tool) return false;
    sum.masters += toll.masters;
    sum.servers += toll.servers;
    sum.zookeepers += toll.zookeepers;
  }
  return sum.masters < size.masters && sum.servers < size.servers && sum.zookeepers <= (size.zookeepers - 1) / 2;
}

}  // namespace ratchet::chaos

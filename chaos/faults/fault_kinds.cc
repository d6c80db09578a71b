#include <algorithm>

#include "chaos/faults/call_storm.h"
#include "chaos/faults/clock_faults.h"
#include "chaos/faults/fault.h"
#include "chaos/faults/flip_bytes.h"
#include "chaos/faults/hostile_fault.h"
#include "chaos/faults/hung_sync.h"
#include "chaos/faults/in_phase.h"
#include "chaos/faults/lose_piece.h"
#include "chaos/faults/machine_faults.h"
#include "chaos/faults/mixed_versions.h"
#include "chaos/faults/network_faults.h"
#include "chaos/faults/no_dns.h"
#include "chaos/faults/operator_fault.h"
#include "chaos/faults/pause_everything.h"
#include "chaos/faults/point_faults.h"
#include "chaos/faults/procedure_faults.h"
#include "chaos/faults/process_faults.h"
#include "chaos/faults/refusing_port.h"
#include "chaos/faults/resource_faults.h"
#include "chaos/faults/secure_faults.h"
#include "chaos/faults/session_fault.h"
#include "chaos/faults/starved_process.h"
#include "chaos/faults/storage_faults.h"
#include "chaos/faults/system_descriptors.h"
#include "chaos/faults/wrong_setting_fault.h"
#include "chaos/faults/zookeeper_back.h"

namespace ratchet::chaos {
namespace {

struct Single {
  std::string_view kind;
  std::unique_ptr<Fault> (*make)();
};

constexpr Single kSingles[] = {
    {"clock-jump", MakeClockJump},
    {"clock-drift", MakeClockDrift},
    {"kill-splitter", MakeKillSplitter},
    {"kill-open-target", MakeKillOpenTarget},
    {"kill-builder", MakeKillBuilder},
    {"expire-session", MakeExpireSession},
    {"full-disk", MakeFullDisk},
    {"power-failure", MakePowerFailure},
    {"disk-nearly-full", MakeNearlyFullDisk},
    {"few-descriptors", MakeFewDescriptors},
    {"no-descriptors-system", MakeNoDescriptorsSystem},
    {"little-memory", MakeLittleMemory},
    {"connection-flood", MakeConnectionFlood},
    {"hostile-client", MakeHostileClient},
    {"disconnect-server", MakeDisconnectServer},
    {"disconnect-active-master", MakeDisconnectActiveMaster},
    {"pause-everything", MakePauseEverything},
    {"hung-sync-server", MakeHungSyncServer},
    {"hung-sync-meta-holder", MakeHungSyncMetaHolder},
    {"hung-sync-master", MakeHungSyncMaster},
    {"hung-sync-everywhere", MakeHungSyncEverywhere},
    {"fault-point", MakeRandomPoint},
    {"kill-at-step", MakeRandomStep},
    {"wrong-setting", MakeWrongSetting},
    {"in-phase", MakeInPhase},
    {"call-storm", MakeCallStorm},
    {"no-dns", MakeNoDns},
    {"zookeeper-back", MakeZooKeeperBack},
    {"lose-piece", MakeLosePiece},
    {"flip-bytes", MakeFlipBytes},
    {"operator", MakeOperator},
    {"mixed-versions", MakeMixedVersions},
    {"reset-and-refuse", MakeResetAndRefuse},
    {"starved-process", MakeStarvedProcess},
};

}  // namespace

std::vector<std::string_view> FaultKinds() {
  std::vector<std::string_view> kinds = ProcessFaultKinds();
  for (const auto kind : NetworkFaultKinds()) kinds.push_back(kind);
  for (const auto kind : ShimFaultKinds()) kinds.push_back(kind);
  for (const auto kind : StorageFaultKinds()) kinds.push_back(kind);
  for (const auto kind : SecureFaultKinds()) kinds.push_back(kind);
  for (const auto& single : kSingles) kinds.push_back(single.kind);
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

Result<std::unique_ptr<Fault>> MakeFault(std::string_view kind) {
  if (auto fault = MakeProcessFault(kind)) return fault;
  if (auto fault = MakeNetworkFault(kind)) return fault;
  if (auto fault = MakeShimFault(kind)) return fault;
  if (auto fault = MakeStorageFault(kind)) return fault;
  if (auto fault = MakeSecureFault(kind)) return fault;
  if (kind.substr(0, 3) == "at:" || kind.substr(0, 5) == "step:") return MakePoint(kind);
  if (kind.starts_with("lose-piece:")) return MakeLostPiece(kind);
  for (const auto& single : kSingles) {
    if (single.kind == kind) return single.make();
  }
  std::string known;
  for (const auto name : FaultKinds()) known += (known.empty() ? "" : ", ") + std::string(name);
  return Error(Code::kInvalidArgument, fmt::format("no fault '{}'; there are: {}", kind, known));
}

}  // namespace ratchet::chaos

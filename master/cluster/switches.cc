#include "master/cluster/switches.h"

namespace ratchet::master {

std::string_view SwitchName(Switch which) {
  switch (which) {
    case Switch::kBalancer: return "balancer";
    case Switch::kSplit: return "split";
    case Switch::kMerge: return "merge";
    case Switch::kNormalizer: return "normalizer";
    case Switch::kCatalogJanitor: return "catalog-janitor";
    case Switch::kCleaner: return "cleaner";
    case Switch::kSnapshotCleanup: return "snapshot-cleanup";
    case Switch::kPeerModification: return "peer-modification";
    case Switch::kRpcThrottle: return "rpc-throttle";
  }
  return "?";
}

std::optional<Switch> SwitchNamed(std::string_view name) {
  for (const Switch each : kSwitches) {
    if (SwitchName(each) == name) return each;
  }
  return std::nullopt;
}

Switches::Switches() {
  for (const Switch each : kSwitches) Show(each, {});
}

void Switches::Show(Switch which, std::string_view record) {
  on_[Index(which)] = record == "on" || (record != "off" && DefaultOf(which));
}

}  // namespace ratchet::master

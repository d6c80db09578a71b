// Decides which faults may be in effect at the same time. Pure.
//
// At any time, faults leave a majority of ZooKeeper's members, one master and one region server running and reachable.
// The exception is a fault that takes the whole cluster; no other fault is then in effect. Two faults never share a
// tool, because a proxy or a preloaded library executes one order at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::chaos {

enum class FaultTool : std::uint8_t {
  kNone,   // signals and clients
  kLinks,  // the proxies between processes
  kShim,   // the preloaded library of a process
  kAlone,  // the whole cluster: nothing else is in effect or settles meanwhile
};

// The most processes that a fault takes out of service, by role, and the tool that it uses.
struct Toll {
  int masters = 0;
  int servers = 0;
  int zookeepers = 0;
  FaultTool tool = FaultTool::kNone;
  bool operator==(const Toll&) const = default;
};

struct ClusterSize {
  int masters = 0;
  int servers = 0;
  int zookeepers = 0;
};

// A kind that is not listed here, one with a parameter ("at:io.sync") for example, is alone.
[[nodiscard]] Toll TollOf(std::string_view kind);
[[nodiscard]] bool IsTollListed(std::string_view kind);

// `others`: kinds in effect. `unsettled`: kinds whose recovery is not over, `others` included.
[[nodiscard]] bool MayOverlap(const ClusterSize& size, const std::vector<std::string>& others,
                              const std::vector<std::string>& unsettled, std::string_view kind);

}  // namespace ratchet::chaos

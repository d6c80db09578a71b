// All links of a cluster of processes, each through a proxy of this program.
//
// Every process advertises a port on which this program listens, itself listens on another port, and reaches ZooKeeper
// through a separate port of this program. The client of a connection is found by source_finder.h, so a link has the
// names of both ends. While no process listens, the advertised port refuses connections as the process's own would, so
// that the early detection of deaths (S121: early findings are positive) works in a proxied cluster. Thread-safe: each
// call runs on the thread "links", which the object owns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chaos/network/link_mode.h"
#include "common/base/result.h"

namespace ratchet::chaos {

// Loopback ports. Connections to `advertised` are forwarded to `listens`.
struct ProxiedPort {
  std::string to;    // target of the connections: "rs-2", "zookeeper"
  std::string from;  // its client; empty: found for each connection
  std::uint16_t advertised = 0;
  std::uint16_t listens = 0;
};

// Returns the process that connected from `their_port` to `our_port`. Called on a separate thread, because it may have
// to read the descriptors of all processes; meanwhile existing connections continue.
using NameSource = std::function<std::string(std::uint16_t their_port, std::uint16_t our_port)>;

class Links {
 public:
  // kIo when this program cannot listen on one of the ports. `seed` is for jitter and loss. An empty `name_source`
  // means SourceFinder.
  [[nodiscard]] static Result<std::unique_ptr<Links>> Start(std::vector<ProxiedPort> ports, std::uint64_t seed,
                                                            NameSource name_source = {});
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  // Sets the mode of present and future connections.
  void Set(const LinkName& link, const LinkMode& mode);
  void Clear(const LinkName& link) { Set(link, {}); }
  void ClearAll();
  // Resets all connections of the link; returns their number.
  std::size_t Reset(const LinkName& link);
  // Resets all connections of this process, in both directions, and lets its port refuse until AcceptAgain, as if the
  // process were gone. Returns the number of connections.
  std::size_t ResetAndRefuse(const std::string& process);
  // The port accepts again as soon as the process listens. No effect on a port that does not refuse.
  void AcceptAgain(const std::string& process);
  [[nodiscard]] LinkCounters Counters(const LinkName& link) const;
  // Returns links with at least one connection now.
  [[nodiscard]] std::vector<LinkName> Connected() const;

 private:
  struct Impl;
  explicit Links(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::chaos

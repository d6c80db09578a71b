// All links of a cluster of processes, each through a proxy of this program.
//
// Every process advertises a port at which this program listens, listens itself at another one, and reaches ZooKeeper
// at a port of its own here. The client is found out per connection (source_finder.h), so a link is named by both
// ends. Thread-safe: each call is carried out on the one thread "links", which the object owns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chaos/network/link_mode.h"
#include "common/base/result.h"

namespace ratchet::chaos {

// Ports of the loopback. Connections to `advertised` go on to `listens`.
struct ProxiedPort {
  std::string to;    // what it leads to: "rs-2", "zookeeper"
  std::string from;  // its client; empty: found out per connection
  std::uint16_t advertised = 0;
  std::uint16_t listens = 0;
};

// Which process has connected from `their_port` to `our_port`. Called on one thread of its own, because it may take as
// long as the descriptors of all processes together need; meanwhile what is connected goes on.
using NameSource = std::function<std::string(std::uint16_t their_port, std::uint16_t our_port)>;

class Links {
 public:
  // kIo when one of the ports cannot be listened on. `seed`: of jitter and loss. `name_source`: SourceFinder if empty.
  [[nodiscard]] static Result<std::unique_ptr<Links>> Start(std::vector<ProxiedPort> ports, std::uint64_t seed,
                                                            NameSource name_source = {});
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  // Of present and future connections.
  void Set(const LinkName& link, const LinkMode& mode);
  void Clear(const LinkName& link) { Set(link, {}); }
  void ClearAll();
  // Resets all connections of the link; returns how many.
  std::size_t Reset(const LinkName& link);
  [[nodiscard]] LinkCounters Counters(const LinkName& link) const;
  // Links with at least one connection now.
  [[nodiscard]] std::vector<LinkName> Connected() const;

 private:
  struct Impl;
  explicit Links(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::chaos

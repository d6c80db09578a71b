// A ZooKeeper server of Debian's package (libzookeeper-java and a JRE), started by hand on a loopback port: alone, or a
// member of an ensemble.
#pragma once

#include <cstdint>
#include <string>

#include "chaos/cluster/child_process.h"
#include "chaos/cluster/zookeeper_config.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

// Not thread-safe.
class ZooKeeperProcess {
 public:
  // Writes the configuration without starting the server.
  [[nodiscard]] static Result<ZooKeeperProcess> Prepare(ZooKeeperSpec spec);

  // Starts the server and waits until it answers. A member of an ensemble answers before it serves, which needs a
  // majority.
  [[nodiscard]] Status Start(Millis timeout);
  // Start in two parts, to start several servers at the same time.
  [[nodiscard]] Status Launch();
  [[nodiscard]] Status AwaitAnswer(Millis timeout);
  [[nodiscard]] Status Kill9();
  [[nodiscard]] Status Stop(Millis timeout);

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(spec_.port); }
  [[nodiscard]] std::uint16_t port() const { return spec_.port; }
  [[nodiscard]] const ProcessId& id() const { return id_; }
  void Adopt(const ProcessId& id) { id_ = id; }  // takes over a server that an earlier run started

 private:
  explicit ZooKeeperProcess(ZooKeeperSpec spec) : spec_(std::move(spec)) {}
  ZooKeeperSpec spec_;
  ProcessId id_;
};

// Returns the answer to a four-letter command ("ruok", "srvr", "dump"); empty when there is none within `timeout`.
[[nodiscard]] std::string AskZooKeeper(std::uint16_t port, const std::string& word, Millis timeout);

}  // namespace ratchet::chaos

// A ZooKeeper server of Debian's package (libzookeeper-java and a JRE), started by hand on a loopback port.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "chaos/cluster/child_process.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

struct ZooKeeperSpec {
  std::filesystem::path dir;  // configuration and data; made when missing
  std::filesystem::path log;
  std::uint16_t port = 0;  // 0: a free one is picked
  Millis tick{200};        // sessions expire in steps of it
  bool dies_with_us = true;
};

// Not thread-safe.
class ZooKeeperProcess {
 public:
  // Writes the configuration; starts nothing.
  [[nodiscard]] static Result<ZooKeeperProcess> Prepare(ZooKeeperSpec spec);

  // Starts it and waits until it answers.
  [[nodiscard]] Status Start(Millis timeout);
  [[nodiscard]] Status Kill9();
  [[nodiscard]] Status Stop(Millis timeout);

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(spec_.port); }
  [[nodiscard]] std::uint16_t port() const { return spec_.port; }
  [[nodiscard]] const ProcessId& id() const { return id_; }
  void Adopt(const ProcessId& id) { id_ = id; }  // one that an earlier run has started

 private:
  explicit ZooKeeperProcess(ZooKeeperSpec spec) : spec_(std::move(spec)) {}
  ZooKeeperSpec spec_;
  ProcessId id_;
};

// The answer to a four-letter word ("ruok", "srvr", "dump"); empty when there is none within `timeout`.
[[nodiscard]] std::string AskZooKeeper(std::uint16_t port, const std::string& word, Millis timeout);

}  // namespace ratchet::chaos

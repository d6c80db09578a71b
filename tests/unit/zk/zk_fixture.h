// A real ZooKeeper for the tests of one program, and helpers to wait for what its sessions report.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "chaos/cluster/zookeeper_process.h"
#include "common/base/mutex.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::zk {

inline constexpr Millis kPatience{60'000};

// Started once per program; each test uses its own parent node.
class ZkFixture : public testing::Test {
 public:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

 protected:
  static chaos::ZooKeeperProcess& Server();
  // The log of the server so far.
  static std::string ServerLog();
  // Connected.
  static std::unique_ptr<ZkSession> Connect(Millis session_timeout = Millis(2000));
  // Ends `session` on the server, as if its owner had been silent for too long.
  static void Expire(const ZkSession& session);
  [[nodiscard]] ZkPaths Paths() const;
};

// A value that callbacks set and tests wait for.
template <class T>
class Observed {
 public:
  void Set(T value) {
    MutexLock lock(mutex_);
    value_ = std::move(value);
    ++changes_;
    changed_.NotifyAll();
  }
  [[nodiscard]] T Get() const {
    MutexLock lock(mutex_);
    return value_;
  }
  [[nodiscard]] int changes() const {
    MutexLock lock(mutex_);
    return changes_;
  }
  // Returns true once the value is `wanted`.
  [[nodiscard]] bool WaitFor(const T& wanted) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    MutexLock lock(mutex_);
    while (!(value_ == wanted)) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= until) return false;
      changed_.WaitFor(mutex_, until - now);
    }
    return true;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  T value_ GUARDED_BY(mutex_){};
  int changes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ratchet::zk

// A cluster whose root is on a disk of its own, which a test fills.
#pragma once

#include <memory>
#include <utility>

#include "chaos/disk/loop_disk.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {

// `Base`: a fixture derived from ClusterTest. Skipped without a loop device, or without the permission to use one.
template <class Base>
class OnLoopDisk : public Base {
 protected:
  void BeforeServers() override {
    auto disk = LoopDisk::Create(this->cluster().spec().dir / "disk.image", 1U << 30, this->cluster().root());
    if (!disk.ok()) GTEST_SKIP() << disk.error().ToString();
    disk_ = std::move(*disk);
  }
  void TearDown() override {
    this->cluster().KillAll();  // these processes use the disk
    disk_.reset();
    Base::TearDown();
  }
  std::unique_ptr<LoopDisk> disk_;
};

}  // namespace ratchet::chaos

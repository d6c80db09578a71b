// A double of a storage whose clients cache names (CephFS), for tests: a process's client in front of a disk.
//
// While the storage accepts the client, every look-up of a name is up to date. Evict() evicts the client without its
// knowledge. Names that it has looked at before are then answered from its cache, whatever others do to them. Every
// operation that needs the storage fails: reads, changes, syncs, round trips, look-ups of unknown names.
//
// Threads: all calls from any thread; Directories of one client share its state and may outlive it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/io/disk.h"

namespace ratchet::io {

class SimClient final : public Disk {
 public:
  // `storage` outlives the client and the files that it opens.
  explicit SimClient(Disk& storage);
  ~SimClient() override;

  Result<std::unique_ptr<Directory>> Open(const std::string& path) override;
  Result<std::unique_ptr<Directory>> OpenOrMake(const std::string& path) override;

  void Evict();
  // Number of round trips so far.
  [[nodiscard]] std::uint64_t round_trips() const;
  // Sets a hook that every round trip calls after it has reached the storage and before its answer arrives.
  void OnRoundTrip(std::function<void()> hook);

  struct State;

 private:
  Disk& storage_;
  const std::shared_ptr<State> state_;
};

}  // namespace ratchet::io

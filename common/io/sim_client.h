// A double of a storage whose clients cache names (CephFS), for tests: a process's client in front of a disk.
//
// As long as the client belongs to the storage, every look shows what is there. Evict() gives the client up without its
// knowing: names that it has looked at before are answered as they were then, whatever others do to them, and
// everything that needs the storage itself fails: reads, changes, syncs, round trips, looks at names that it does not
// know.
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
  // `storage` outlives the client and what it opens.
  explicit SimClient(Disk& storage);
  ~SimClient() override;

  Result<std::unique_ptr<Directory>> Open(const std::string& path) override;
  Result<std::unique_ptr<Directory>> OpenOrMake(const std::string& path) override;

  void Evict();
  // Round trips that were asked for so far.
  [[nodiscard]] std::uint64_t round_trips() const;
  // Called in a round trip after the storage has let it pass, before its answer arrives.
  void OnRoundTrip(std::function<void()> hook);

  struct State;

 private:
  Disk& storage_;
  const std::shared_ptr<State> state_;
};

}  // namespace ratchet::io

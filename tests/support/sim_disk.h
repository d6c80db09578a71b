// A disk in memory for tests and simulation. At PowerFailure it loses every byte and every name that was not synced.
//
// One SimDisk is the shared storage; each simulated process has its own view of it (NewProcess). A hook of the process
// sees every operation before it happens and may let it fail, pretend that it happened (a left-out sync), or kill the
// process before, in the middle of, or after it. A dead process's handles answer every call with an error.
//
// Crash() of a process loses nothing: the page cache survives. PowerFailure kills all processes and loses unsynced
// data.
//
// Threads: all calls may come from any thread; hooks run on the calling thread without a lock and may block.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/io/disk.h"
#include "tests/support/sim_event.h"

namespace ratchet::io {

namespace sim {
struct State;
struct Process;
}  // namespace sim

class SimDisk {
 public:
  SimDisk();
  ~SimDisk();
  SimDisk(const SimDisk&) = delete;
  SimDisk& operator=(const SimDisk&) = delete;

  // A process's view. It may outlive the SimDisk.
  class Process final : public Disk {
   public:
    explicit Process(std::shared_ptr<sim::Process> impl);
    ~Process() override;
    Result<std::unique_ptr<Directory>> Open(const std::string& path) override;
    Result<std::unique_ptr<Directory>> OpenOrMake(const std::string& path) override;

    void SetHook(SimHook hook);
    // All operations that changed or synced something, in order, while tracing is on.
    void Trace(bool on);
    [[nodiscard]] std::vector<SimEvent> trace() const;
    [[nodiscard]] std::uint64_t operations() const;  // number of operations that changed or synced something
    void Crash();
    [[nodiscard]] bool crashed() const;

   private:
    std::shared_ptr<sim::Process> impl_;
  };
  [[nodiscard]] std::unique_ptr<Process> NewProcess(std::string name = "process");

  using Loss = SimLoss;
  // Kills all processes.
  void PowerFailure(Loss loss = Loss::kEverything, std::uint64_t seed = 0);

  // Bytes that the files may use together; UINT64_MAX: unlimited. Names use no space.
  void SetCapacity(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t used_bytes() const;

  // Changes bytes without any process's knowledge, for damage; also made durable. The path is from the root:
  // "/store/segment.1.1".
  Status Overwrite(const std::string& path, std::uint64_t offset, std::string_view bytes);
  Status Truncate(const std::string& path, std::uint64_t size);
  Result<std::string> Content(const std::string& path) const;

 private:
  std::shared_ptr<sim::State> state_;
};

}  // namespace ratchet::io

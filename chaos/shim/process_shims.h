// The driver's side of the preloaded library: a control file for each process of a cluster. One thread, except
// ClockReadsChanged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "chaos/shim/control.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace ratchet::chaos {

class ProcessShims {
 public:
  // `library` is libratchet_shim.so; kNotFound when it does not exist. Control files are made in `folder`.
  [[nodiscard]] static Result<std::unique_ptr<ProcessShims>> Create(std::filesystem::path library,
                                                                    std::filesystem::path folder);
  ~ProcessShims();
  ProcessShims(const ProcessShims&) = delete;
  ProcessShims& operator=(const ProcessShims&) = delete;

  // Makes the control file at the first call. The block does not move.
  [[nodiscard]] Result<ShimControl*> Of(const std::string& process);
  // Returns the environment with which a process must be started.
  [[nodiscard]] Result<std::map<std::string, std::string>> EnvironmentOf(const std::string& process);
  // How often all processes together have read a wrong time. From any thread.
  [[nodiscard]] std::uint64_t ClockReadsChanged() const;

 private:
  ProcessShims(std::filesystem::path library, std::filesystem::path folder)
      : library_(std::move(library)), folder_(std::move(folder)) {}

  const std::filesystem::path library_;
  const std::filesystem::path folder_;
  mutable Mutex mutex_;
  std::map<std::string, ShimControl*> blocks_ GUARDED_BY(mutex_);  // mapped
};

// Cancels all orders.
void Behave(ShimControl& control);

}  // namespace ratchet::chaos

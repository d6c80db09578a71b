// The driver's side of the preloaded library: a control file for each process of a cluster. One thread.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "chaos/shim/control.h"
#include "common/base/result.h"

namespace ratchet::chaos {

class ProcessShims {
 public:
  // `library`: libratchet_shim.so; kNotFound when it is not there. Control files go into `folder`.
  [[nodiscard]] static Result<std::unique_ptr<ProcessShims>> Create(std::filesystem::path library,
                                                                    std::filesystem::path folder);
  ~ProcessShims();
  ProcessShims(const ProcessShims&) = delete;
  ProcessShims& operator=(const ProcessShims&) = delete;

  // Makes the control file when it is the first time. The block stays where it is.
  [[nodiscard]] Result<ShimControl*> Of(const std::string& process);
  // What a process must be started with.
  [[nodiscard]] Result<std::map<std::string, std::string>> EnvironmentOf(const std::string& process);

 private:
  ProcessShims(std::filesystem::path library, std::filesystem::path folder)
      : library_(std::move(library)), folder_(std::move(folder)) {}

  const std::filesystem::path library_;
  const std::filesystem::path folder_;
  std::map<std::string, ShimControl*> blocks_;  // mapped
};

// Everything behaves again.
void Behave(ShimControl& control);

}  // namespace ratchet::chaos

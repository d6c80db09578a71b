// FileActions: where actions on files run for steps (S122: actions on files end with their step).
//
// Owner: the master's shell has threads for it; simulations run the actions one by one. A step uses it through
// procedures/core/act_on_files.h. Thread-safe.
#pragma once

#include <functional>

namespace ratchet::master {

class FileActions {
 public:
  virtual ~FileActions() = default;
  // Runs `action` later, on a thread that no worker waits for. `urgent`: hbase:meta or a crash procedure waits for it,
  // and a share of the threads is kept for it. Returns false if too many actions wait, or the master is stopping.
  [[nodiscard]] virtual bool Run(std::function<void()> action, bool urgent) = 0;
};

}  // namespace ratchet::master

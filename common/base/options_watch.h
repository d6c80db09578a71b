// OptionsWatch: a thread that looks at options, and at the files that they name: after a reload of the settings, when
// it is asked to, and regularly, because a file may have changed. It may hang at the files without an effect on others.
//
// The last member of its owner, because the thread uses the others. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/thread_name.h"

namespace ratchet {

template <class Options>
class OptionsWatch {
 public:
  // `asked`: false if only the time has passed.
  using Look = std::function<void(const Options&, bool asked)>;
  OptionsWatch(Options options, Millis look_every) : look_every_(look_every), wanted_(std::move(options)) {}
  // Waits for a running look.
  ~OptionsWatch() {
    {
      const MutexLock lock(mutex_);
      ends_ = true;
      changed_.NotifyAll();
    }
    if (thread_.joinable()) thread_.join();
  }
  OptionsWatch(const OptionsWatch&) = delete;
  OptionsWatch& operator=(const OptionsWatch&) = delete;

  // At most once. Before it, Want and LookSoon only note the request.
  void Start(std::string name, Look look) {
    thread_ = std::thread([this, name = std::move(name), look = std::move(look)] {
      SetThreadName(name);
      while (const auto turn = Await()) look(turn->options, turn->asked);
    });
  }
  // After a reload of the settings.
  void Want(Options options) {
    const MutexLock lock(mutex_);
    wanted_ = std::move(options);
    asked_ = true;
    changed_.NotifyAll();
  }
  void LookSoon() {
    const MutexLock lock(mutex_);
    asked_ = true;
    changed_.NotifyAll();
  }

 private:
  struct Turn {
    Options options;
    bool asked = false;
  };
  // Waits for the next turn. nullopt at the end.
  [[nodiscard]] std::optional<Turn> Await() {
    const SystemClock clock;
    const TimePoint until = clock.Now() + look_every_;
    const MutexLock lock(mutex_);
    for (TimePoint now = clock.Now(); !ends_ && !asked_ && now < until; now = clock.Now())
      changed_.WaitFor(mutex_, until - now);
    if (ends_) return std::nullopt;
    return Turn{wanted_, std::exchange(asked_, false)};
  }

  const Millis look_every_;
  Mutex mutex_;
  CondVar changed_;
  Options wanted_ GUARDED_BY(mutex_);
  bool asked_ GUARDED_BY(mutex_) = false;
  bool ends_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, because it uses the others
};

// A text that changes whenever one of the files is replaced or written. An empty path is not a file. Blocks at the
// files.
[[nodiscard]] std::string StateOfFiles(const std::vector<std::string>& paths);

}  // namespace ratchet

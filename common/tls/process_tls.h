// The TLS of a process: its modes, its certificate and the authorities that it trusts. One object for the process's RPC
// server and its client connections.
//
// The files are read at the start, after a reload of the settings, and when a check once a minute finds them changed. A
// file that cannot be used changes nothing and is a problem that `ratchet status` shows.
//
// Thread-safe. One thread of its own, which may hang at the files without an effect on others.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/tls/tls_context.h"

namespace ratchet::tls {

struct TlsOptions {
  std::string accept = "off";
  bool connect = false;
  std::string client_certificates = "need";
  TlsFiles files;

  // `options` must outlive the parsing; in a program with reloads, the program.
  static void Bind(Settings& settings, TlsOptions& options);
};

enum class TlsMode : std::uint8_t {
  kOff,      // plain text only
  kAccept,   // both
  kRequire,  // TLS only
};

class ProcessTls {
 public:
  static constexpr Millis kLookEvery{60'000};

  // An error (kInvalidArgument) names the setting or the file, and the remedy.
  [[nodiscard]] static Result<std::shared_ptr<ProcessTls>> Open(const TlsOptions& options, TlsMaterial::Use use,
                                                                Millis look_every = kLookEvery);
  // At the start of a program: opens the object, makes it the one of the process, and lets it follow the settings.
  [[nodiscard]] static Status OpenForProcess(Settings& settings, const TlsOptions& options, TlsMaterial::Use use);
  // Null: plain text.
  [[nodiscard]] static std::shared_ptr<const ProcessTls> OfProcess();
  static void SetOfProcess(std::shared_ptr<ProcessTls> tls);
  // The files of the process are looked at soon, even if no setting has changed.
  static void LookAtFilesOfProcess();
  ~ProcessTls();
  ProcessTls(const ProcessTls&) = delete;
  ProcessTls& operator=(const ProcessTls&) = delete;

  [[nodiscard]] TlsMode accepts() const { return accepts_.load(std::memory_order_acquire); }
  [[nodiscard]] bool connects() const { return connects_.load(std::memory_order_acquire); }
  // Null only if this process neither accepts nor makes TLS connections.
  [[nodiscard]] std::shared_ptr<const TlsContext> context() const;

  // After a reload of the settings: the thread reads the files, then applies the options as a whole, or not at all.
  void Want(const TlsOptions& options);
  [[nodiscard]] std::vector<std::string> Problems() const;

 private:
  struct Made {
    TlsMode accepts = TlsMode::kOff;
    bool connects = false;
    std::shared_ptr<const TlsContext> context;
  };
  ProcessTls(TlsMaterial::Use use, Millis look_every) : use_(use), look_every_(look_every) {}
  [[nodiscard]] static Result<Made> Make(const TlsOptions& options, TlsMaterial::Use use);
  void Apply(Made made);
  void Run();
  // False when the object is being destroyed; otherwise the wanted options, and whether they are new.
  [[nodiscard]] bool Await(TlsOptions& options, bool& asked);
  void Look(const TlsOptions& options, bool asked);

  const TlsMaterial::Use use_;
  const Millis look_every_;
  std::atomic<TlsMode> accepts_{TlsMode::kOff};
  std::atomic<bool> connects_{false};
  mutable Mutex mutex_;
  CondVar changed_;
  TlsOptions wanted_ GUARDED_BY(mutex_);
  bool asked_ GUARDED_BY(mutex_) = false;
  bool ends_ GUARDED_BY(mutex_) = false;
  std::shared_ptr<const TlsContext> context_ GUARDED_BY(mutex_);
  std::string problem_ GUARDED_BY(mutex_);
  std::string seen_;    // state of the files at the last check; used by the thread only
  std::thread thread_;  // last, because it uses the others
};

}  // namespace ratchet::tls

// The TLS of a process: its modes, its certificate and the authorities that it trusts. One object for the process's RPC
// server and its client connections.
//
// The files are read at the start, after a reload of the settings, and when a check twice a minute finds them changed.
// A file that cannot be used changes nothing and is a problem that `ratchet status` shows. Clients follow their
// files likewise.
//
// Thread-safe. One thread of its own, which may hang at the files without an effect on others.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/base/options_watch.h"
#include "common/base/result.h"
#include "common/tls/exposure.h"
#include "common/tls/tls_context.h"

namespace ratchet::tls {

struct TlsOptions {
  std::string accept = "off";
  bool connect = false;
  std::string client_certificates = "need";
  TlsFiles files;
  Live<Millis> connection_age{Millis(86'400'000)};

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
  static constexpr Millis kLookEvery{30'000};
  // How lines of the log begin after a look at changed files.
  static constexpr std::string_view kTaken = "TLS: new connections use the certificate";
  static constexpr std::string_view kKept =
      "TLS: a reload was refused, the previous certificate and modes remain in use";

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
  ProcessTls(const ProcessTls&) = delete;
  ProcessTls& operator=(const ProcessTls&) = delete;

  [[nodiscard]] TlsMode accepts() const { return accepts_.load(std::memory_order_acquire); }
  [[nodiscard]] bool connects() const { return connects_.load(std::memory_order_acquire); }
  // This process's port takes no connection without TLS and a client's certificate.
  [[nodiscard]] bool only_certificates() const { return only_certificates_.load(std::memory_order_acquire); }
  // Null only if this process neither accepts nor makes TLS connections.
  [[nodiscard]] std::shared_ptr<const TlsContext> context() const;
  // For the page: the same files, and a client may show a certificate, because it may log in by a password as well.
  [[nodiscard]] std::shared_ptr<const TlsContext> page_context() const;

  // The requirements for clients of this process. A reload that would let strangers in, although the process must
  // refuse them, is refused as a whole: S154 (no silent exposure).
  [[nodiscard]] const std::shared_ptr<Exposure>& exposure() const { return exposure_; }

  // Rises whenever the context was replaced, so that open connections are judged by the new one.
  [[nodiscard]] std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  // Maximum age of a client's connection; zero: unlimited.
  [[nodiscard]] Millis connection_age() const { return connection_age_.Get(); }

  // After a reload of the settings: the thread reads the files, then applies the options as a whole, or not at all.
  void Want(const TlsOptions& options) { watch_.Want(options); }
  [[nodiscard]] std::vector<std::string> Problems() const;

 private:
  struct Made {
    TlsMode accepts = TlsMode::kOff;
    bool connects = false;
    bool only_certificates = false;
    std::shared_ptr<const TlsContext> context;
    std::shared_ptr<const TlsContext> page_context;
  };
  ProcessTls(const TlsOptions& options, TlsMaterial::Use use, Millis look_every)
      : use_(use), watch_(options, look_every) {}
  [[nodiscard]] static Result<Made> Make(const TlsOptions& options, TlsMaterial::Use use);
  [[nodiscard]] Status Apply(Made made);
  void Look(const TlsOptions& options, bool asked);

  const TlsMaterial::Use use_;
  const std::shared_ptr<Exposure> exposure_ = std::make_shared<Exposure>();
  std::atomic<TlsMode> accepts_{TlsMode::kOff};
  std::atomic<bool> connects_{false};
  std::atomic<bool> only_certificates_{false};
  std::atomic<std::uint64_t> changes_{0};
  Live<Millis> connection_age_{Millis(0)};
  mutable Mutex mutex_;
  std::shared_ptr<const TlsContext> context_ GUARDED_BY(mutex_);
  std::shared_ptr<const TlsContext> page_context_ GUARDED_BY(mutex_);
  std::string problem_ GUARDED_BY(mutex_);
  std::string seen_;         // state of the files at the last check; used by the thread only, like the next one
  bool asks_again_ = false;  // the other settings did not permit the wanted modes yet
  OptionsWatch<TlsOptions> watch_;
};

}  // namespace ratchet::tls

#include "common/rpc/capture.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <vector>

#include <fmt/ranges.h>

#include "common/base/config.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/tls/process_tls.h"

namespace ratchet::rpc {
namespace {

// A setting that protects what a capture would show, and its value without effect.
struct Protecting {
  std::string_view setting;
  std::string_view off;
  bool live;
};
constexpr std::array<Protecting, 5> kProtections{{{"tls", "off", true},
                                                  {"tls-connect", "false", true},
                                                  {"tls-user-from", "off", true},
                                                  {"rights", "off", true},
                                                  {"kerberos-keytab", "", false}}};

std::atomic<bool> captures_ended{false};  // by a reload of the settings

// Null: none is asked for.
const char* CaptureDirectory() {
  const char* const directory = std::getenv("RATCHET_DUMP_FRAMES");
  return directory == nullptr || *directory == '\0' ? nullptr : directory;
}

void EndCaptures() {
  if (!captures_ended.exchange(true))
    RATCHET_LOG(kWarn, "RATCHET_DUMP_FRAMES: captures end here, because the settings now protect what they would hold");
}

// A client's TLS, too: its connections carry what others must not see.
bool HasTls() {
  const auto tls = tls::ProcessTls::OfProcess();
  return tls != nullptr && (tls->connects() || tls->accepts() != tls::TlsMode::kOff);
}

}  // namespace

Status Capture::BeginProcess(Settings& settings) {
  if (CaptureDirectory() == nullptr) return Ok();
  std::vector<std::string> names;
  for (const SettingRow& row : settings.List()) {
    for (const Protecting& protecting : kProtections) {
      if (row.name == protecting.setting && row.value != protecting.off) names.push_back("--" + row.name);
    }
  }
  if (!names.empty() && !RATCHET_MUTANT("rpc.captures_of_secrets")) {
    return Error(Code::kInvalidArgument,
                 fmt::format("RATCHET_DUMP_FRAMES is set, and writes decrypted requests, names and tokens into files, "
                             "which {} must protect: unset RATCHET_DUMP_FRAMES, or capture on a cluster without "
                             "these settings",
                             fmt::join(names, ", ")));
  }
  for (const Protecting& protecting : kProtections) {
    if (protecting.live) settings.OnReload(std::string(protecting.setting), EndCaptures);
  }
  return Ok();
}

Capture::Capture(const std::string& label) {
  const char* const directory = CaptureDirectory();
  if (directory == nullptr || captures_ended.load(std::memory_order_relaxed)) return;
  if (HasTls()) {
    EndCaptures();
    return;
  }
  const std::string stem = fmt::format("{}/{}-{}", directory, ::getpid(), label);
  to_server_.reset(std::fopen((stem + ".c2s").c_str(), "ab"));
  to_client_.reset(std::fopen((stem + ".s2c").c_str(), "ab"));
  if (to_server_ == nullptr || to_client_ == nullptr) RATCHET_LOG(kWarn, "cannot capture frames in {}", stem);
}

void Capture::Append(std::FILE* file, std::string_view bytes) {
  if (file == nullptr || captures_ended.load(std::memory_order_relaxed)) return;
  // A capture that cannot be written must not disturb the connection.
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size()) std::fflush(file);
}

}  // namespace ratchet::rpc

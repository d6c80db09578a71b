// ratchet-mttr: mean time to recovery by phase, for numbers of regions per server and sizes of the log; failover of the
// master.
#include <charconv>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "chaos/mttr/master_failover.h"
#include "chaos/mttr/server_recovery.h"
#include "common/base/config.h"
#include "common/base/descriptors.h"
#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/base/private_files.h"
#include "common/base/resource_failure.h"
#include "common/base/version.h"

namespace ratchet::chaos {
namespace {

struct Flags {
  std::string dir = (std::filesystem::temp_directory_path() / "ratchet-mttr").string();
  std::vector<std::string> regions;
  std::vector<std::string> log_mib;
  std::vector<std::string> procedures;
  std::int64_t repeat = 1;
  Millis session{2000};
  std::string storage = "local";
};

Result<std::vector<std::uint64_t>> Numbers(const char* flag, const std::vector<std::string>& texts) {
  std::vector<std::uint64_t> numbers;
  for (const auto& text : texts) {
    for (std::size_t from = 0; from < text.size();) {
      const auto comma = std::min(text.find(',', from), text.size());
      std::uint64_t number = 0;
      const auto [end, failed] = std::from_chars(text.data() + from, text.data() + comma, number);
      if (failed != std::errc() || end != text.data() + comma)
        return Error(Code::kInvalidArgument, fmt::format("--{} {}: expected numbers, e.g. 1,100,1000", flag, text));
      numbers.push_back(number);
      from = comma + 1;
    }
  }
  return numbers;
}

// Returns milliseconds after detection; "-" if not seen.
std::string Since(const std::optional<std::int64_t>& at, const std::optional<std::int64_t>& detected) {
  return at && detected ? fmt::format("{}", *at - *detected) : "-";
}

class Mttr {
 public:
  explicit Mttr(const Flags& flags) : flags_(flags) {}

  Status Servers(const std::vector<std::uint64_t>& regions, const std::vector<std::uint64_t>& sizes) {
    std::cout << fmt::format("{:>8} {:>8} {:>6} {:>9} | {:>7} {:>7} {:>7} {:>9}   (ms after detection)\n", "regions",
                             "log MiB", "files", "detect ms", "fence", "split", "assign", "last read");
    for (const std::uint64_t count : regions) {
      for (const std::uint64_t mib : sizes) {
        for (std::int64_t i = 0; i < flags_.repeat; ++i) RATCHET_TRY(Server(static_cast<int>(count), mib));
      }
    }
    return Ok();
  }

  Status Masters(const std::vector<std::uint64_t>& procedures) {
    std::cout << fmt::format("{:>10} {:>10} {:>9} | {:>7} {:>7} {:>10}   (ms after detection)\n", "submitted",
                             "in store", "detect ms", "claim", "ready", "first step");
    for (const std::uint64_t count : procedures) {
      for (std::int64_t i = 0; i < flags_.repeat; ++i) RATCHET_TRY(Master(count));
    }
    return Ok();
  }

 private:
  [[nodiscard]] std::filesystem::path FreshDir() {
    return std::filesystem::path(flags_.dir) / fmt::format("cluster-{}", ++clusters_);
  }

  Status Server(int regions, std::uint64_t mib) {
    ServerRecoverySpec spec;
    spec.dir = FreshDir();
    spec.regions = regions;
    spec.log_mib = mib;
    spec.session = flags_.session;
    spec.storage = flags_.storage;
    RATCHET_ASSIGN(const ServerRecovery done, MeasureServerRecovery(spec));
    const Phases& phases = done.phases;
    std::cout << fmt::format("{:>8} {:>8} {:>6} {:>9} | {:>7} {:>7} {:>7} {:>9}", done.regions, done.log_bytes >> 20U,
                             done.log_files, phases.detect.value_or(-1), Since(phases.fence, phases.detect),
                             Since(phases.split, phases.detect), Since(phases.assign, phases.detect),
                             Since(phases.first_success, phases.detect))
              << std::endl;
    Remove(spec.dir);
    return Ok();
  }

  Status Master(std::uint64_t procedures) {
    MasterFailoverSpec spec;
    spec.dir = FreshDir();
    spec.procedures = procedures;
    spec.session = flags_.session;
    RATCHET_ASSIGN(const MasterFailover done, MeasureMasterFailover(spec));
    const Phases& phases = done.phases;
    std::cout << fmt::format("{:>10} {:>10} {:>9} | {:>7} {:>7} {:>10}", procedures, done.procedures,
                             phases.detect.value_or(-1), Since(phases.fence, phases.detect),
                             Since(phases.assign, phases.detect), Since(phases.first_success, phases.detect))
              << std::endl;
    Remove(spec.dir);
    return Ok();
  }

  // Removes the files of a measurement; its processes have ended.
  static void Remove(const std::filesystem::path& dir) {
    std::error_code ignored;
    std::filesystem::remove_all(dir, ignored);
  }

  const Flags& flags_;
  int clusters_ = 0;
};

Status Run(const Flags& flags) {
  RATCHET_ASSIGN(const auto regions, Numbers("regions", flags.regions));
  RATCHET_ASSIGN(auto sizes, Numbers("log-mib", flags.log_mib));
  RATCHET_ASSIGN(const auto procedures, Numbers("procedures", flags.procedures));
  if (regions.empty() && procedures.empty())
    return Error(Code::kInvalidArgument, "nothing to measure: give --regions 1,100,1000 or --procedures 0,1000");
  if (sizes.empty()) sizes = {1};
  std::cout << fmt::format("ZooKeeper session time-out {} ms, which is part of `detect`\n", flags.session.count());
  Mttr mttr(flags);
  if (!regions.empty()) RATCHET_TRY(mttr.Servers(regions, sizes));
  if (!procedures.empty()) RATCHET_TRY(mttr.Masters(procedures));
  return Ok();
}

int Main(int argc, char** argv) {
  Flags flags;
  Settings settings(
      "ratchet-mttr",
      "Measures the duration of recoveries, by phase. Example: ratchet-mttr --regions 1,100,1000 --log-mib 1,64");
  settings.AddText({"dir", "directory for the clusters; each measurement has a new one", {}}, &flags.dir);
  settings.AddList({"regions", "regions per server, and so of the server that dies (list)", {}}, &flags.regions);
  settings.AddList({"log-mib", "unflushed log of the server that dies, in MiB (list; default 1)", {}}, &flags.log_mib);
  settings.AddList({"procedures", "unfinished procedures when the master dies (list)", {}}, &flags.procedures);
  settings.AddInt({"repeat", "number of measurements of each combination", {}}, &flags.repeat, {1, 1000});
  settings.AddMillis({"session-ms", "ZooKeeper session timeout of the processes", {}}, &flags.session, Millis(400),
                     Millis(60'000));
  settings.AddText(
      {"storage", "storage of the root, with --regions: local, or ceph (a mini Ceph of its own, scripts/ceph)", {}},
      &flags.storage, Presence::kOptional, {"local", "ceph"});
  if (const int code = settings.ParseOrExitCode(argc, argv); code >= 0) return code;
  ConfigureLog({LogLevel::kError, ""});
  const Status done = Run(flags);
  if (done.ok()) return exit_code::kOk;
  std::cerr << "ratchet-mttr: " << done.error().message() << "\n";
  return done.error().code() == Code::kInvalidArgument ? exit_code::kUsage : exit_code::kFailed;
}

}  // namespace
}  // namespace ratchet::chaos

int main(int argc, char** argv) {
  ratchet::KeepFilesPrivate();
  if (ratchet::PrintedVersion("ratchet-mttr", argc, argv)) return 0;
  ratchet::HandleResourceFailure("ratchet-mttr", ratchet::exit_code::kFailed);
  ratchet::RaiseDescriptorLimit();
  return ratchet::chaos::Main(argc, argv);
}

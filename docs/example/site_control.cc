// The procedures of site.h in a program that does one thing and ends.
//
//   site_control DIR publish NAME REPLICAS   asks for a site and waits for its end
//   site_control DIR go-on                   takes up what an earlier run has left, and waits for its end
#include <iostream>

#include "procedure/api/executor.h"
#include "procedure/api/wal_store.h"
#include "site.h"

namespace site {
namespace {

int Run(const fs::path& dir, const std::string& verb, const Site& site) {
  fs::create_directories(dir);
  const auto open = [&dir](const char* name) { return io::PosixDisk().OpenOrMake((dir / name).string()).value(); };
  World world(dir);
  SystemClock clock;
  const auto timers = MakeThreadTimers();
  const auto store = MakeWalStore(open("procedures"), open("quarantine"), clock, {});
  const auto workers = MakeThreadWorkers({.workers = 4});
  ProcedureRegistry registry;
  RegisterTypes(registry);
  Executor executor({*store, registry, *workers, clock, *timers, EnvRef::Of(world)}, {});
  if (const auto epoch = executor.Recover(); !epoch.ok()) return std::cerr << epoch.error().ToString() << "\n", 2;
  std::vector<ProcId> pids = executor.FindUnfinished("PublishSite");  // before Start(): a fast one would finish unseen
  executor.Start();
  if (verb == "publish") {
    const auto pid =
        executor.Submit(std::make_unique<PublishSite>(site), {.owner = "example", .nonce = {}, .pre_check = {}});
    if (!pid.ok()) return std::cerr << pid.error().ToString() << "\n", 2;
    pids.push_back(*pid);
  }
  for (const ProcId pid : pids) {
    const auto result = executor.Await(pid);
    if (!result.ok()) return std::cerr << result.error().ToString() << "\n", 2;
    std::cout << (result->error ? "failed, all undone: " + result->error->ToString() : result->result) << "\n";
  }
  executor.Stop();
  store->Stop();
  return 0;
}

}  // namespace
}  // namespace site

int main(int argc, char** argv) {
  if (argc < 3) return std::cerr << "usage: site_control DIR publish NAME REPLICAS | site_control DIR go-on\n", 2;
  return site::Run(argv[1], argv[2], {argc > 3 ? argv[3] : "", argc > 4 ? std::atoi(argv[4]) : 0});
}

// Runs the procedures of site.h in a long-running program, with an endpoint for operators: the verbs of `ratchet`, the
// page and the metrics.
//
//   site_server DIR PORT INFO_PORT   port 0: any free port; the first line of the output has the addresses
//
// The program reads requests from its input, one in each line ("publish NAME REPLICAS"), and ends at the end of the
// input. Meanwhile:
//
//   ratchet --master 127.0.0.1:PORT procedures      and status, why, pause, abort, ... ; the page is at INFO_PORT
#include <iostream>

#include "procedure/api/executor.h"
#include "procedure/api/wal_store.h"
#include "procedure/ops/endpoint.h"
#include "site.h"

namespace site {
namespace {

void Serve(Executor& executor) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb;
    Site asked;
    if (!(words >> verb >> asked.name >> asked.number) || verb != "publish") {
      std::cout << "refused: publish NAME REPLICAS" << std::endl;
      continue;
    }
    const auto pid =
        executor.Submit(std::make_unique<PublishSite>(asked), {.owner = "example", .nonce = {}, .pre_check = {}});
    std::cout << (pid.ok() ? "pid " + std::to_string(pid->value()) : "refused: " + pid.error().ToString()) << std::endl;
  }
}

int Run(const fs::path& dir, std::uint16_t port, std::int64_t info_port) {
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
  host::Endpoint endpoint({executor, *store, registry, clock},
                          {.name = "site_server", .version = "1", .port = port, .info_port = info_port});
  if (const Status listens = endpoint.Start(); !listens.ok()) return std::cerr << listens.error().ToString() << "\n", 2;
  executor.Start();
  std::cout << "verbs at 127.0.0.1:" << endpoint.port() << ", page at port " << endpoint.info_port() << std::endl;
  Serve(executor);
  endpoint.Stop();
  executor.Stop();
  store->Stop();
  return 0;
}

}  // namespace
}  // namespace site

int main(int argc, char** argv) {
  if (argc != 4) return std::cerr << "usage: site_server DIR PORT INFO_PORT\n", 2;
  return site::Run(argv[1], static_cast<std::uint16_t>(std::atoi(argv[2])), std::atoi(argv[3]));
}

// Runs `ratchet why` against a real cluster in a stuck situation. Every answer is printed unchanged: docs/stuck.md
// shows them.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/model/proto/operator.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/exit_status.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {

class WhyClusterTest : public ClusterTest {
 protected:
  struct Told {
    int code = -1;
    std::string text;
  };

  // Runs `ratchet <arguments>` to its end.
  Told Run(std::vector<std::string> arguments) {
    LaunchSpec launch = SpecOf(std::move(arguments));
    const auto id = Launch(launch);
    EXPECT_TRUE(id.ok());
    std::optional<Ended> ended;
    if (!id.ok() || !ProcessCluster::WaitUntil("the command to end", kPatience, [&] {
                       ended = CheckEnded(*id);
                       return ended.has_value();
                     }).ok()) {
      return {};
    }
    std::ifstream file(launch.output);
    return {ended->code.value_or(-1), {std::istreambuf_iterator<char>(file), {}}};
  }
  // Runs the command with ZooKeeper's address.
  Told RunHere(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--zookeeper", cluster().zookeeper()});
    return Run(std::move(arguments));
  }
  // Repeats the command until the answer names `cause` with each of `texts`, and its exit code is 6.
  void ExpectWhy(int situation, std::vector<std::string> subject, const std::string& cause,
                 const std::vector<std::string>& texts = {}, const std::vector<std::string>& place = {}) {
    SCOPED_TRACE(fmt::format("situation {}", situation));
    std::vector<std::string> arguments =
        place.empty() ? std::vector<std::string>{"--zookeeper", cluster().zookeeper()} : place;
    arguments.emplace_back("why");
    arguments.insert(arguments.end(), subject.begin(), subject.end());
    Told told;
    const Status answered = ProcessCluster::WaitUntil("the cause " + cause, kPatience, [&] {
      told = Run(arguments);
      bool all = told.code == cli::kExitWaits && told.text.find("CAUSE " + cause + ":") != std::string::npos;
      for (const std::string& text : texts) all = all && told.text.find(text) != std::string::npos;
      return all;
    });
    EXPECT_TRUE(answered.ok()) << answered.error().ToString() << "\nlast: exit " << told.code << "\n" << told.text;
    fmt::print("==== situation {}: ratchet why {}\n{}", situation, fmt::join(subject, " "), told.text);
    std::fflush(stdout);
  }
  // Flips one bit of each file below the tables' directories whose name begins with `prefix`. Returns the number of
  // files.
  [[nodiscard]] int DamageFiles(const std::string& prefix) {
    int damaged = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cluster().root() / "data" / "default")) {
      if (!entry.path().filename().string().starts_with(prefix)) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(20);
      const int byte = file.get();
      file.seekp(20);
      file.put(static_cast<char>(byte ^ 0x40));
      ++damaged;
    }
    return damaged;
  }
  void ExpectNothingWaits() {
    Told told;
    const Status answered = ProcessCluster::WaitUntil("nothing to wait", kPatience, [&] {
      told = RunHere({"why"});
      return told.code == cli::kExitOk && told.text.find("nothing waits") != std::string::npos;
    });
    EXPECT_TRUE(answered.ok()) << told.code << "\n" << told.text;
  }
  // Starts a command that keeps running, such as `ratchet lock`.
  Result<ProcessId> Begin(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--zookeeper", cluster().zookeeper()});
    return Launch(SpecOf(std::move(arguments)));
  }
  void Verb(std::vector<std::string> arguments) {
    const Told told = RunHere(arguments);
    ASSERT_EQ(told.code, cli::kExitOk) << fmt::format("{}", fmt::join(arguments, " ")) << "\n" << told.text;
  }
  static std::vector<std::string> Pid(const Result<std::uint64_t>& pid) {
    return {pid.ok() ? std::to_string(*pid) : "no pid"};
  }

 private:
  LaunchSpec SpecOf(std::vector<std::string> arguments) {
    LaunchSpec launch;
    launch.arguments = std::move(arguments);
    launch.arguments.insert(launch.arguments.begin(), (cluster().spec().bin / "ratchet").string());
    launch.output = cluster().spec().dir / fmt::format("why-{}.log", ++runs_);
    return launch;
  }
  int runs_ = 0;
};

}  // namespace ratchet::chaos

#include "chaos/driver/scenario.h"

#include <charconv>

#include <fmt/core.h>

namespace ratchet::chaos {

const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> scenarios = {
      {"serverKilling",
       "one, several or all region servers die; now and then a master",
       {{"kill-server", 3},
        {"kill-meta-holder", 2},
        {"kill-some", 2},
        {"kill-all-servers", 1},
        {"kill-splitter", 1},
        {"kill-open-target", 1},
        {"kill-active-master", 1},
        {"pause-server", 1}},
       Millis(6000),
       1},
      {"masterKilling",
       "the active master dies, alone or together with the server that has meta",
       {{"kill-active-master", 5},
        {"kill-at-step", 2},
        {"kill-standby", 1},
        {"kill-master-and-meta-holder", 1},
        {"pause-active-master", 1}},
       Millis(5000),
       1},
      {"stressAM",
       "several faults at a time, aimed at regions in transition: targets of openings, splitters of logs, builders of "
       "daughters, the server with meta",
       {{"kill-open-target", 3},
        {"kill-splitter", 3},
        {"kill-builder", 2},
        {"kill-meta-holder", 2},
        {"kill-server", 2},
        {"kill-active-master", 2},
        {"kill-master-and-meta-holder", 1},
        {"kill-at-step", 2},
        {"fault-point", 2},
        {"stall", 2}},
       Millis(3000),
       2},
      {"zombies",
       "processes stop, starve or refuse and come back after others have taken over from them; sessions end under "
       "living processes",
       {{"pause-server", 3},
        {"pause-active-master", 3},
        {"pause-server-briefly", 1},
        {"swizzle", 3},
        {"stall", 1},
        {"starved-process", 2},
        {"reset-and-refuse", 2},
        {"expire-session", 2}},
       Millis(6000),
       2},
      {"suspend",
       "every process, ZooKeeper included, pauses for longer than all sessions; now and then one server or master "
       "alone",
       {{"pause-everything", 4}, {"pause-server", 1}, {"pause-active-master", 1}},
       Millis(8000),
       1},
      {"secure",
       "with --secure: files of identity cannot be used, servers have no image of rights, certificates and authorities "
       "are replaced, clocks jump, processes die and stop",
       {{"expired-certificate", 3},
        {"half-written-file", 3},
        {"image-lost", 3},
        {"rotate-certificate", 2},
        {"rotate-authority", 2},
        {"clock-jump", 2},
        {"kill-active-master", 2},
        {"kill-meta-holder", 2},
        {"kill-server", 2},
        {"pause-server", 2},
        {"pause-active-master", 1},
        {"stall", 1}},
       Millis(3000),
       1},
      {"partitions",
       "links between processes are cut, also in one direction, slowed down, reset, or lose bytes; ZooKeeper is out of "
       "reach",
       {{"partition-server-from-zookeeper", 2},
        {"partition-master-from-zookeeper", 2},
        {"partition-from-zookeeper-member", 1},
        {"partition-master-from-server", 2},
        {"partition-master-from-server-one-way", 2},
        {"partition-client-from-server", 1},
        {"isolate-server", 2},
        {"slow-link", 1},
        {"slow-network", 1},
        {"lossy-links", 1},
        {"half-open-link", 1},
        {"reset-links", 1},
        {"reset-and-refuse", 2},
        {"swizzle-links", 2},
        {"zookeeper-outage", 1}},
       Millis(5000),
       1},
      {"zookeeper",
       "one, most or all ZooKeeper members die, stop or cannot be reached; now and then a server or master dies",
       {{"kill-zookeeper", 2},
        {"kill-zookeeper-leader", 3},
        {"kill-zookeeper-majority", 2},
        {"pause-zookeeper", 2},
        {"pause-zookeeper-leader", 3},
        {"zookeeper-outage", 1},
        {"zookeeper-outage-brief", 1},
        {"partition-from-zookeeper-member", 3},
        {"partition-server-from-zookeeper", 1},
        {"partition-master-from-zookeeper", 1},
        {"expire-session", 1},
        {"kill-active-master", 1},
        {"kill-server", 1}},
       Millis(4000),
       1},
      {"disk",
       "the disk is full, its syncs are slow, stalled or fail, the power fails; now and then a process dies",
       {{"full-disk", 2},
        {"slow-sync", 2},
        {"stalled-sync", 2},
        {"hung-sync-server", 1},
        {"hung-sync-meta-holder", 1},
        {"hung-sync-master", 1},
        {"hung-sync-everywhere", 1},
        {"failing-sync", 3},
        {"power-failure", 2},
        {"kill-server", 1},
        {"kill-active-master", 1}},
       Millis(5000),
       1},
      {"storage",
       "daemons of the shared storage die and stop; so do the clients through which single processes see it, alone or "
       "with their processes; needs --storage ceph",
       {{"kill-mds", 2},
        {"pause-mds", 1},
        {"kill-mon", 1},
        {"pause-mon", 1},
        {"kill-osd", 2},
        {"pause-osd", 1},
        {"kill-storage-client", 2},
        {"pause-storage-client", 2},
        {"evict-storage-client", 3},
        {"cut-storage-client", 3},
        {"kill-host", 3},
        {"kill-server", 1},
        {"kill-active-master", 1}},
       Millis(8000),
       1},
      {"exhaustion",
       "descriptors, memory, connections or disk space run out, files cannot be read or listed; now and then a process "
       "dies",
       {{"few-descriptors", 3},
        {"no-descriptors-system", 2},
        {"connection-flood", 2},
        {"hostile-client", 2},
        {"little-memory", 2},
        {"list-error", 3},
        {"read-error", 3},
        {"disk-nearly-full", 2},
        {"full-disk", 1},
        {"kill-server", 1},
        {"kill-active-master", 1}},
       Millis(5000),
       1},
      {"overlap",
       "second faults in each phase of a recovery, of an activation, and of splits, merges, changes, snapshots and "
       "drains; masters hold each phase for a moment",
       {{"in-phase", 12},
        {"kill-server", 1},
        {"pause-server-briefly", 1},
        {"kill-zookeeper", 1},
        {"pause-zookeeper-leader", 1},
        {"slow-link", 1},
        {"reset-links", 1},
        {"slow-sync", 1}},
       Millis(3000),
       3},
      {"everything", "every kind of fault that can be done here", {}, Millis(4000), 2},
  };
  return scenarios;
}

Result<Scenario> FindScenario(std::string_view name) {
  std::string known;
  for (const auto& scenario : Scenarios()) {
    if (scenario.name == name) return scenario;
    known += (known.empty() ? "" : ", ") + std::string(scenario.name);
  }
  return Error(Code::kInvalidArgument, fmt::format("no scenario '{}'; there are: {}", name, known));
}

Result<std::string> KillStepKind(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) {
    return Error(
        Code::kInvalidArgument,
        fmt::format("--kill-step {}: expected TYPE:N or TYPE:STEP, e.g. ServerCrash:3 or ServerCrash:SPLIT_LOG "
                    "(ratchet-master --list-steps shows them)",
                    text));
  }
  const std::string_view type = text.substr(0, colon);
  const std::string_view step = text.substr(colon + 1);
  std::uint32_t number = 0;
  const auto [end, failed] = std::from_chars(step.data(), step.data() + step.size(), number);
  if (failed != std::errc() || end != step.data() + step.size()) return fmt::format("step:{}", text);
  if (number == 0) return Error(Code::kInvalidArgument, fmt::format("--kill-step {}: steps count from 1", text));
  return fmt::format("at:executor.after_commit~{}:=crash@{}", type, number - 1);
}

}  // namespace ratchet::chaos

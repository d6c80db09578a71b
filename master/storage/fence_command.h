// Runs --fence-command, the program that makes the storage give up a dead process's client, so that fencing takes a
// second instead of the storage's own time-out (S102: evict before fencing). For CephFS it is scripts/ceph/evict.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/storage_client.h"

namespace ratchet::master {

struct FenceCommandOptions {
  std::string command;  // empty: none
  std::string environment = "CEPH_EVICT_AS";
  Millis timeout{30'000};

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddText({"fence-command",
                      "Program that evicts a dead process's storage client: its absolute path and arguments, without "
                      "a shell. It is called with the client's name and session; for CephFS: scripts/ceph/evict. "
                      "Empty: the storage's own time-out applies.",
                      {}},
                     &command);
    settings.AddText({"fence-environment",
                      "Names of the variables that the fence command gets from the master's environment, separated by "
                      "commas; it gets no others, except for PATH and LANG.",
                      {}},
                     &environment);
    settings.AddMillis({"fence-command-timeout-ms",
                        "Time limit of the fence command; after it the command is killed and retried.",
                        {}},
                       &timeout, Millis(100), Millis(600'000));
  }
};

// The command of an operator, S164 (fence commands start clean): a program by its absolute path, its arguments, and
// the names of the variables that it gets from the master's environment.
struct FenceCommand {
  std::vector<std::string> words;  // the first is the program
  std::vector<std::string> variables;
};

// `command`: words, separated by spaces; no shell. `variables`: names, separated by commas. kInvalidArgument names
// the mistake and the remedy.
[[nodiscard]] Result<FenceCommand> ParseFenceCommand(std::string_view command, std::string_view variables);

// One run that has ended, for the audit log: `outcome` is "confirmed" or "not confirmed", `told` has the program, its
// exit code, the time, and the last part of the output.
using FenceRecord = std::function<void(std::string_view outcome, const std::string& told)>;

// Runs `command` with the client's name and its id, if known, and waits for its end. OK: exit code 0, which means that
// the storage no longer accepts requests of this client. kTimeout: any other end, with the last part of the output;
// the program is killed after `limit`. `record`: called once, unless the client's name is not valid (kInvalidArgument).
[[nodiscard]] Status RunFenceCommand(const Clock& clock, const FenceCommand& command, const io::StorageClient& client,
                                     Millis limit, const FenceRecord& record);

}  // namespace ratchet::master

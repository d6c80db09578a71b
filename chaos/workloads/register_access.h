// The two sides of a load on registers: clients that use them, and a reader that checks them afterwards.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "chaos/history/operation.h"
#include "chaos/workloads/register_client.h"
#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

// Execute is thread-safe; the other calls are made by the driver's thread.
class RegisterClients {
 public:
  RegisterClients() = default;
  virtual ~RegisterClients() = default;
  RegisterClients(const RegisterClients&) = delete;
  RegisterClients& operator=(const RegisterClients&) = delete;

  // Called after the table was made, before the first operation.
  [[nodiscard]] virtual Status Begin() { return Ok(); }
  // Executes `operation` as client `operation.client` and fills in its times, outcome and answer. Returns the further
  // effects that it may have: a client that repeats a request without a nonce may execute it several times.
  [[nodiscard]] virtual History Execute(const RegisterName& name, Operation& operation) = 0;
  // Called when no operation is in progress.
  virtual void End() {}
  // Returns a finding about the clients themselves; nullopt if there is none.
  [[nodiscard]] virtual std::optional<Finding> Check() { return std::nullopt; }
  [[nodiscard]] virtual Status WriteEvidence(const std::filesystem::path& /*folder*/) { return Ok(); }
};

// Read is called by one thread at a time.
class RegisterReader {
 public:
  RegisterReader() = default;
  virtual ~RegisterReader() = default;
  RegisterReader(const RegisterReader&) = delete;
  RegisterReader& operator=(const RegisterReader&) = delete;

  [[nodiscard]] virtual Status MakeTable() = 0;
  // Reads one register while the load runs: fills in times, outcome and value.
  virtual void Read(const RegisterName& name, Operation& operation) = 0;
  // Reads all registers that have a value, after the load.
  [[nodiscard]] virtual Result<std::map<RegisterName, Value>> ReadAll() = 0;
};

// A load whose histories are checked. `label` is its name in findings, threads and files.
[[nodiscard]] std::unique_ptr<Workload> MakeRegisterLoad(std::string label, WorkloadContext context,
                                                         std::unique_ptr<RegisterClients> clients,
                                                         std::unique_ptr<RegisterReader> reader);
// Reads with this project's client.
[[nodiscard]] std::unique_ptr<RegisterReader> MakeRegisterReader(const WorkloadContext& context, TableName table);

}  // namespace ratchet::chaos

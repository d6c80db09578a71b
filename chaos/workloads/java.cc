#include "chaos/workloads/java.h"

#include <utility>

#include <fmt/ranges.h>

#include "chaos/cluster/child_process.h"
#include "chaos/workloads/foreign_client.h"
#include "chaos/workloads/load.h"
#include "chaos/workloads/register_access.h"

namespace ratchet::chaos {
namespace {

constexpr const char* kProgramFile = "java.arguments";  // in the directory of clients; for java's @FILE
constexpr Millis kAttempt{3'000};
// Between two attempts of one request: an answer within it is that of the only attempt, so that it can be checked
// exactly.
constexpr Millis kPauseOfClient{1'000};

}  // namespace

std::unique_ptr<Workload> MakeJava(WorkloadContext context) {
  const TableName table("default", context.table_prefix + "_java");
  ForeignProgram program;
  program.name = "java";
  program.arguments = {"java",
                       "@" + (context.clients / kProgramFile).string(),
                       context.zookeeper,
                       fmt::format("{}", fmt::join(context.masters, ",")),
                       table.ToString(),
                       kLoadFamily,
                       std::to_string(kPauseOfClient.count()),
                       std::to_string(kAttempt.count()),
                       std::to_string(kLoadTimeout.count())};
  auto reader = MakeRegisterReader(context, table);
  auto clients = std::make_unique<ForeignClient>(std::move(program));
  return MakeRegisterLoad("java", std::move(context), std::move(clients), std::move(reader));
}

std::optional<std::string> WhyNoJava(const std::filesystem::path& clients) {
  if (clients.empty()) return "the client programs are missing: scripts/client-loads makes them, --clients names them";
  std::error_code ignored;
  const auto file = clients / kProgramFile;
  if (!std::filesystem::exists(file, ignored)) {
    return fmt::format("there is no {}: scripts/client-loads makes it if this machine has a JDK and Maven",
                       file.string());
  }
  if (FindProgram("java").empty())
    return "there is no program java in PATH: scripts/install-deps --with-clients installs it";
  return std::nullopt;
}

}  // namespace ratchet::chaos

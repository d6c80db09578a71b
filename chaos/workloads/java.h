// The load "java": HBase's Java client on registers, whose histories are checked.
//
// Its clients are threads of a Java program (chaos/clients), which scripts/client-loads compiles. Clients with an even
// number use the blocking Table and find the cluster through ZooKeeper, the others the asynchronous one and the
// masters.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeJava(WorkloadContext context);
// Returns why the program cannot run here; nullopt if it can.
[[nodiscard]] std::optional<std::string> WhyNoJava(const std::filesystem::path& clients);

}  // namespace ratchet::chaos

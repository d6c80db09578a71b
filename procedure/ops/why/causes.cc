// The ends of chains: one function for each kind of cause. Each states what happens next, and which verb helps.
#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "procedure/ops/why/chain.h"
#include "procedure/ops/why/chain_builder.h"

namespace ratchet::host {
namespace {

using procedure::ProcedureInfo;

// A write or sync that had lasted this long when the server reported it counts as hanging.
constexpr std::int64_t kStorageHangs = 1'000;
// Steps take milliseconds; a procedure waits outside of steps.
constexpr std::int64_t kLongStep = 10'000;

// "7d94..." of "table=t, region=7d94..., ASSIGN".
std::string RegionIn(const ProcedureInfo& info) {
  constexpr std::string_view kKey = "region=";
  const auto at = info.description.find(kKey);
  if (at == std::string::npos) return "REGION";
  const std::string rest = info.description.substr(at + kKey.size());
  return rest.substr(0, std::min(rest.find_first_of(", ;"), rest.size()));
}

}  // namespace

void ChainBuilder::End(const char* cause, std::string text, std::string next, std::string verb) {
  chain_.set_cause(cause);
  chain_.set_cause_text(std::move(text));
  if (!next.empty()) chain_.set_next(std::move(next));
  if (!verb.empty()) chain_.set_verb(std::move(verb));
}

void ChainBuilder::EndParked(const ProcedureInfo& info) {
  const std::string error = info.last_error ? "; its last error: " + info.last_error->ToString() : std::string();
  End("PARKED", fmt::format("pid {} is parked at step {}: {}{}", info.pid, info.step_name, info.parked, error),
      "nothing, until an operator acts",
      fmt::format("ratchet unpark {} (rerun and bypass: ratchet procedure {} shows its steps)", info.pid, info.pid));
}

void ChainBuilder::EndPaused(const ProcedureInfo& info, const std::string& pause) {
  std::string resume = fmt::format("ratchet pauses (it covers pid {})", info.pid);
  for (const WhyPause& each : facts_.pauses) {
    if (each.text == pause) resume = "ratchet resume " + each.resume;
  }
  End("PAUSED", pause, "nothing, until an operator resumes it", resume);
}

void ChainBuilder::EndRetry(const ProcedureInfo& info) {
  const auto refused = facts_.refusals.find(info.pid);
  const std::string error = refused != facts_.refusals.end() ? refused->second
                            : info.last_error                ? info.last_error->ToString()
                                                             : std::string("no error is recorded");
  const bool opening = info.type == "TransitRegionState" && refused != facts_.refusals.end();
  const std::string verb =
      fmt::format("ratchet park {} (stops the tries), ratchet rerun {} (tries from a step)", info.pid, info.pid);
  if (info.failing) {
    End("UNDO_FAILS", fmt::format("the undo of pid {} fails (attempt {}): {}", info.pid, info.attempt, error),
        "the master tries the undo again", verb);
  } else if (opening) {
    End("FAILED_OPEN", error, "the master tries to open it again, at another server where there is one",
        fmt::format("repair what the error names; ratchet give-up {} --yes loses its rows", RegionIn(info)));
  } else {
    End("BACKOFF", fmt::format("pid {} has failed (attempt {}): {}", info.pid, info.attempt, error),
        "the master tries again", verb);
  }
  if (info.waiting.next_try_in)
    chain_.set_next_in_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(0, info.waiting.next_try_in->count())));
}

void ChainBuilder::EndLock(const ProcedureInfo& info) {
  End("HELD_LOCK", fmt::format("{} holds it: {}", info.owner, info.description),
      "the lock is released when its holder ends, or sends no heartbeat within the time-out",
      fmt::format("ratchet unlock {}", info.pid));
  if (info.waiting.next_try_in)
    chain_.set_next_in_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(0, info.waiting.next_try_in->count())));
}

void ChainBuilder::EndNoServer() {
  End("NO_SERVER", "no region server is alive", "nothing, until one registers",
      "start a region server: ratchet-regionserver");
}

// A step runs, or the procedure waits for a worker.
void ChainBuilder::EndRunning(const ProcedureInfo& info) {
  const std::string again = "it continues by itself; repeat the command to see whether it progresses";
  if (info.running && facts_.workers.held > 0) {
    const std::int64_t age = std::max<std::int64_t>(0, facts_.now_ms - info.updated_ms);
    if (age >= kLongStep) {
      return End(
          "RUNNING",
          fmt::format("step {} has run for {} and blocks its worker: an external call does not return", info.step_name,
                      WhyAge(static_cast<std::uint64_t>(age))),
          "it continues when that call returns; while half of the workers are blocked, the master adds workers for "
          "the others",
          "look at the storage of this process, and at its log (\"worker stuck\")");
    }
  }
  if (info.running) return End("RUNNING", "a step is running", again, "ratchet why");
  if (const auto held = HeldWorkersText(facts_.workers)) {
    return End("RUNNING", "it is in the queue of the workers: " + *held,
               "it runs when a worker ends its step, or on an added worker",
               fmt::format("ratchet why {}", facts_.workers.longest));
  }
  End("RUNNING", "it is in the queue of the workers", again, "ratchet why");
}

void ChainBuilder::EndStore() {
  if (facts_.store_full) return End("SPACE", *facts_.store_full, "it continues when there is room", kMakeRoom);
  if (!facts_.own_storage_hangs_ms) {
    return End("STORE", "the procedure store writes and syncs its state", "it continues when the storage answers",
               "ratchet why");
  }
  End("STORE",
      fmt::format("the storage of the procedure store has not answered for {}",
                  WhyAge(static_cast<std::uint64_t>(*facts_.own_storage_hangs_ms))),
      "it continues when the storage answers", "look at the disk below the root; ratchet status");
}

void ChainBuilder::EndServer(const std::string& name, const WhyServer& server) {
  const std::string told = server.last_error.empty() ? std::string() : "; last send: " + server.last_error;
  // A server's report about its storage is as old as its last heartbeat; without a newer one only that report counts.
  const std::int64_t silent = server.silent_ms.value_or(0);
  if (server.storage_hangs_ms && *server.storage_hangs_ms - silent >= kStorageHangs) {
    return End("DISK",
               fmt::format("the storage of server {} has not answered for {}", name,
                           WhyAge(static_cast<std::uint64_t>(*server.storage_hangs_ms))),
               "it withdraws when another server's storage answers, and its regions open elsewhere",
               "look at its disk; ratchet servers");
  }
  if (silent >= kSilent) {
    return End("SILENT_SERVER",
               fmt::format("server {} has sent no heartbeat for {}: its process hangs, is stopped or is cut off{}",
                           name, WhyAge(static_cast<std::uint64_t>(silent)), told),
               "when its ZooKeeper session ends, or it has accepted no order for too long, the master fences it and "
               "opens its regions elsewhere",
               "resume its process, or end it (kill -9), which ends its session sooner");
  }
  if (server.lacks_room) {
    return End("SPACE", fmt::format("server {}: {}", name, *server.lacks_room), "it continues when there is room",
               "make room on its disk");
  }
  if (server.failures > 0) {
    return End(
        "CONNECTION",
        fmt::format("server {} cannot be reached ({} times in a row): {}", name, server.failures, server.last_error),
        "the master sends again; after a bounded number of tries it fences the server",
        "look at the server's process and the network");
  }
  End("UNANSWERED", fmt::format("server {} lives and has not answered the order", name),
      fmt::format("the order is sent again every {}", WhyAge(static_cast<std::uint64_t>(facts_.order_resend_ms))),
      "look at the server's log; to end its process (kill -9) lets the master fence it and open its regions elsewhere");
}

}  // namespace ratchet::host

// MasterService: procedures that clients name by a signature (ExecProcedure, IsProcedureDone). Two signatures are
// supported: clients before 2.6 flush a table by one, and old clients take a snapshot by the other. In HBase, loaded
// code can add more; this is not supported here, so every other signature is refused by name.
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/mutex.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/rpc/methods/master_service.h"
#include "master/cluster/errors.h"
#include "master/rpc/master_services.h"
#include "master/rpc/own_snapshot.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

constexpr std::string_view kFlush = "flush-table-proc";
constexpr std::string_view kSnapshotOnline = "online-snapshot";
// How long clients poll for the end.
constexpr std::int64_t kNamedProcedureMillis = 300'000;

Error NotRegistered(const std::string& signature) {
  return IllegalRequest(fmt::format("The procedure is not registered: {}", signature));
}

std::optional<std::string> ValueOf(const pb::ProcedureDescription& asked, std::string_view name) {
  for (const pb::NameStringPair& pair : asked.configuration()) {
    if (pair.name() == name) return pair.value();
  }
  return std::nullopt;
}

std::vector<std::string> FamiliesOf(const pb::ProcedureDescription& asked) {
  std::vector<std::string> families;
  std::istringstream names(ValueOf(asked, "family").value_or(""));
  for (std::string name; std::getline(names, name, ',');) {
    if (!name.empty()) families.push_back(name);
  }
  return families;
}

Result<TableName> FlushedTable(const pb::ProcedureDescription& asked) {
  const auto table = TableName::Parse(asked.instance());
  if (!table.ok()) return IllegalRequest(table.error().message());
  return *table;
}

Result<pb::SnapshotDescription> SnapshotAsked(const pb::ProcedureDescription& asked) {
  if (asked.instance().empty()) return IllegalRequest("Snapshot name is not defined");
  const auto table = ValueOf(asked, "table");
  if (!table) return IllegalRequest("Snapshot table is not defined");
  pb::SnapshotDescription snapshot;
  snapshot.set_name(asked.instance());
  snapshot.set_table(*table);
  return snapshot;
}

// The last flush of each table that was requested by signature, so that a client that polls gets its failure. Another
// master knows only the unfinished flushes. Thread-safe.
class LastFlushes {
 public:
  void Note(const TableName& table, ProcId pid) {
    const MutexLock lock(mutex_);
    last_[table] = pid;
    if (last_.size() <= kMost) return;
    auto oldest = last_.begin();
    for (auto each = last_.begin(); each != last_.end(); ++each) {
      if (each->second < oldest->second) oldest = each;
    }
    last_.erase(oldest);
  }
  [[nodiscard]] std::optional<ProcId> Of(const TableName& table) const {
    const MutexLock lock(mutex_);
    const auto found = last_.find(table);
    return found == last_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static constexpr std::size_t kMost = 1'000;  // the oldest is forgotten
  mutable Mutex mutex_;
  std::map<TableName, ProcId> last_ GUARDED_BY(mutex_);
};

// Returns the error of the last requested flush; otherwise true if no flush of the table is unfinished.
Result<bool> IsFlushed(const ActiveParts& parts, const LastFlushes& flushes, const TableName& table) {
  if (const auto pid = flushes.Of(table)) {
    const procedure::ProcedureResult result = parts.executor->GetResult(*pid);
    if (result.finished() && result.error) return *result.error;
  }
  return !parts.logic->admin.IsFlushing(table);
}

auto AnswerBegun(const ActiveParts& parts, const rpc::Responder<pb::ExecProcedureResponse>& responder) {
  return [parts, responder](const Result<ProcId>& pid) {
    if (!pid.ok()) return FailChecked(parts, responder, pid.error());
    pb::ExecProcedureResponse response;
    response.set_expected_timeout(kNamedProcedureMillis);
    responder.Reply(response);
  };
}

void Exec(const std::shared_ptr<LastFlushes>& flushes, const ActiveParts& parts, const rpc::CallContext& call,
          const pb::ProcedureDescription& asked, const rpc::Responder<pb::ExecProcedureResponse>& responder) {
  if (asked.signature() == kFlush) {
    const auto table = FlushedTable(asked);
    if (!table.ok()) {
      responder.Fail(table.error());
      return;
    }
    parts.logic->admin.FlushTable(
        *table, FamiliesOf(asked), ContextOf(call),
        [flushes, table = *table, answer = AnswerBegun(parts, responder)](const Result<ProcId>& pid) {
          if (pid.ok()) flushes->Note(table, *pid);
          answer(pid);
        });
    return;
  }
  if (asked.signature() == kSnapshotOnline) {
    const auto snapshot = SnapshotAsked(asked);
    if (!snapshot.ok()) {
      responder.Fail(snapshot.error());
      return;
    }
    parts.logic->snapshot_admin.TakeSnapshot(*snapshot, ContextOf(call), AnswerBegun(parts, responder));
    return;
  }
  responder.Fail(NotRegistered(asked.signature()));
}

void IsDone(const ServiceEnv& env, const LastFlushes& flushes, const ActiveParts& parts,
            const pb::ProcedureDescription& asked, const rpc::Responder<pb::IsProcedureDoneResponse>& responder) {
  const auto answer = [parts, responder, asked](const Result<bool>& done) {
    if (!done.ok()) return FailChecked(parts, responder, done.error());
    pb::IsProcedureDoneResponse response;
    response.set_done(*done);
    *response.mutable_snapshot() = asked;
    ReplyChecked(parts, responder, response);
  };
  if (asked.signature() == kFlush) {
    const auto table = FlushedTable(asked);
    return answer(table.ok() ? IsFlushed(parts, flushes, *table) : Result<bool>(table.error()));
  }
  if (asked.signature() == kSnapshotOnline) {
    const auto snapshot = SnapshotAsked(asked);
    if (!snapshot.ok()) return answer(snapshot.error());
    // The need of the method is about the table that the request names, not about the snapshot.
    WithOwnSnapshot(env, parts, responder, snapshot->name(), [parts, answer, name = snapshot->name()](const auto&) {
      parts.logic->snapshot_admin.IsDone(name, answer);
    });
    return;
  }
  answer(NotRegistered(asked.signature()));
}

}  // namespace

void AddNamedProcedureMethods(rpc::Service& service, ServiceEnv& env) {
  const auto flushes = std::make_shared<LastFlushes>();
  AnswerLater(service, env.gate, Need::kReady, methods::kExecProcedure,
              [flushes](const ActiveParts& parts, const rpc::CallContext& call, const pb::ExecProcedureRequest& request,
                        const rpc::Responder<pb::ExecProcedureResponse>& responder) {
                Exec(flushes, parts, call, request.procedure(), responder);
              });
  AnswerLater(
      service, env.gate, Need::kReady, methods::kExecProcedureWithRet,
      [](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/, const pb::ExecProcedureRequest& request,
         const rpc::Responder<pb::ExecProcedureResponse>& responder) {
        const std::string& signature = request.procedure().signature();
        const bool known = signature == kFlush || signature == kSnapshotOnline;
        responder.Fail(known ? IllegalRequest(fmt::format("{} returns no data: start it with ExecProcedure", signature))
                             : NotRegistered(signature));
      });
  AnswerLater(service, env.gate, Need::kReady, methods::kIsProcedureDone,
              [&env, flushes](const ActiveParts& parts, const rpc::CallContext& /*call*/,
                              const pb::IsProcedureDoneRequest& request,
                              const rpc::Responder<pb::IsProcedureDoneResponse>& responder) {
                IsDone(env, *flushes, parts, request.procedure(), responder);
              });
}

}  // namespace ratchet::master

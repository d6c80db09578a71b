// Hands each procedure that ends to the history and to the trace file.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "common/base/strong_id.h"
#include "master/history/history_book.h"
#include "master/process/trace_file.h"
#include "procedure/session/procedure_listener.h"

namespace ratchet::procedure {
class Executor;
}

namespace ratchet::master {

class EndedListener final : public procedure::ProcedureListener {
 public:
  // `trace`: null without a trace file; outlives the listener.
  EndedListener(std::string master, TraceFile* trace) : master_(std::move(master)), trace_(trace) {}
  // Before the workers start. `book` outlives the executor.
  void Begin(Epoch epoch, HistoryBook* book);

  void OnFinished(const procedure::ProcedureInfo& info) override;

 private:
  const std::string master_;
  TraceFile* const trace_;
  std::atomic<HistoryBook*> book_{nullptr};
  std::atomic<std::uint64_t> epoch_{0};
};

// What earlier masters may not have had the time to write into the history: of roots whose results are kept.
[[nodiscard]] std::vector<ratchet::pb::EndedProcedure> EndedBefore(const procedure::Executor& executor, Epoch epoch);

}  // namespace ratchet::master

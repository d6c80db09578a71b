// Passes each procedure that ends to the history and to the trace file.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "common/base/strong_id.h"
#include "master/history/history_book.h"
#include "master/process/trace_file.h"
#include "procedure/api/procedure_listener.h"

namespace ratchet::procedure {
class Executor;
}

namespace ratchet::master {

class EndedListener final : public procedure::ProcedureListener {
 public:
  // `trace`: null without a trace file; must outlive the listener.
  EndedListener(std::string master, TraceFile* trace) : master_(std::move(master)), trace_(trace) {}
  // Call before the workers start. `book` must outlive the executor.
  void Begin(Epoch epoch, HistoryBook* book);

  void OnFinished(const procedure::ProcedureInfo& info) override;

 private:
  const std::string master_;
  TraceFile* const trace_;
  std::atomic<HistoryBook*> book_{nullptr};
  std::atomic<std::uint64_t> epoch_{0};
};

// Returns ended procedures that earlier masters may not have written to the history: the roots whose results are kept.
[[nodiscard]] std::vector<ratchet::pb::EndedProcedure> EndedBefore(const procedure::Executor& executor, Epoch epoch);

}  // namespace ratchet::master

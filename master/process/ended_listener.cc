#include "master/process/ended_listener.h"

#include <utility>

#include "common/base/log.h"
#include "master/rpc/ratchet_views.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

void EndedListener::Begin(Epoch epoch, HistoryBook* book) {
  epoch_ = epoch.value();
  book_ = book;
}

void EndedListener::OnFinished(const procedure::ProcedureInfo& info) {
  HistoryBook* const book = book_;
  if (book == nullptr && trace_ == nullptr) return;
  ratchet::pb::EndedProcedure ended = MakeEnded(info, Epoch(epoch_.load()), master_);
  if (trace_ != nullptr) trace_->Add(ended);
  if (book != nullptr) book->Add(std::move(ended));
}

std::vector<ratchet::pb::EndedProcedure> EndedBefore(const procedure::Executor& executor, Epoch epoch) {
  constexpr std::size_t kMost = 20'000;  // a longer list would delay the executor
  std::vector<ratchet::pb::EndedProcedure> ended;
  if (const std::size_t all = executor.Count().all; all > kMost) {
    RATCHET_LOG(kInfo, "history: skipping the search for missing entries, because {} procedures are in memory", all);
    return ended;
  }
  for (procedure::ProcedureInfo& info : executor.List()) {
    if (!procedure::IsTerminal(info.state) || info.parent.valid()) continue;
    info.history = executor.History(info.pid);
    ended.push_back(MakeEnded(info, epoch, ""));
  }
  return ended;
}

}  // namespace ratchet::master

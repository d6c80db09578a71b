#include "master/process/ended_listener.h"

#include <utility>

#include "master/service/ratchet_views.h"

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

}  // namespace ratchet::master

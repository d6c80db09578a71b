#include "procedure/ops/held_up.h"

#include <utility>

#include "procedure/ops/why/chain.h"

namespace ratchet::host {

std::vector<std::string> HeldUp(const procedure::Executor& executor, procedure::ProcedureStore& store) {
  std::vector<std::string> lines;
  if (const Status room = store.Admit(); !room.ok()) lines.push_back(room.error().message());
  if (auto held = HeldWorkersText(executor.Workers())) lines.push_back(*std::move(held));
  if (auto staying = StayingStepsText(executor.Workers())) lines.push_back(*std::move(staying));
  return lines;
}

}  // namespace ratchet::host

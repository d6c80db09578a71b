// ClientService.Multi: actions for several regions in one call; each region and (unless atomic) each action fails by
// itself.
#include <atomic>
#include <deque>
#include <utility>

#include "common/base/fault_point.h"
#include "common/model/cell_codec.h"
#include "common/rpc/exceptions.h"
#include "regionserver/rpc/data_service.h"

namespace ratchet::regionserver {
namespace {

// Result of one action. The cells wait here until the reply is built, because a cell block has the order of the reply.
struct ActionOutcome {
  std::optional<Error> error;
  std::vector<Cell> cells;
  std::optional<bool> exists;
};

struct RegionOutcome {
  std::optional<Error> error;  // error of the whole region: then no action has an outcome
  std::optional<bool> processed;
  bool one_unit = false;  // an atomic group: the reply names positions, and its first entry holds all cells
  std::vector<ActionOutcome> actions;
};

// The mutations of one region action, parsed before any region is looked up, because the cells of later ones follow in
// the same block.
struct ParsedAction {
  bool is_get = false;
  std::optional<Error> error;
  Mutation mutation;
};

Error Unsupported(const char* what) {
  return Error(Code::kUnsupported, what, std::string(rpc::exception::kDoNotRetryIo));
}

bool FormsOneUnit(const pb::MultiRequest& request, const pb::RegionAction& action) {
  return action.atomic() || action.has_condition() || request.has_condition();
}

class MultiCall : public std::enable_shared_from_this<MultiCall> {
 public:
  MultiCall(const DataCalls& calls, const pb::MultiRequest& request, rpc::Responder<pb::MultiResponse> responder)
      : calls_(calls),
        request_(request),
        responder_(std::move(responder)),
        allowance_(std::make_shared<ResultAllowance>(calls.parts().options.max_multi_bytes)) {}

  void Run(std::string_view cells) {
    if (Status parsed = Parse(cells); !parsed.ok()) {
      responder_.Fail(parsed.error());
      return;
    }
    outcomes_.resize(static_cast<std::size_t>(request_.regionaction_size()));
    pending_ = outcomes_.size() + 1;  // one extra for this function, so that no reply is sent before all work has begun
    for (std::size_t i = 0; i < outcomes_.size(); ++i) RunRegion(i);
    PartDone();
  }

 private:
  Status Parse(std::string_view cells) {
    CellBlockReader block(cells);
    const std::int64_t now_ms = calls_.parts().clock.WallMillis();
    const std::uint64_t nonce_group = calls_.rights().NonceGroup(responder_.context(), request_.noncegroup());
    for (const auto& region_action : request_.regionaction()) {
      auto& actions = parsed_.emplace_back();
      for (const auto& action : region_action.action()) {
        ParsedAction& parsed = actions.emplace_back();
        parsed.is_get = action.has_get();
        if (action.has_service_call()) parsed.error = Unsupported("coprocessor calls are not supported");
        if (!action.has_mutation()) continue;
        auto mutation = MakeMutation(action.mutation(), nonce_group, now_ms, block);
        if (mutation.ok()) {
          parsed.mutation = std::move(*mutation);
        } else if (mutation.error().code() == Code::kCorruption) {
          return std::move(mutation).error();  // the cells after it cannot be separated
        } else {
          parsed.error = std::move(mutation).error();
        }
      }
    }
    return Ok();
  }

  void RunRegion(std::size_t index) {
    const pb::RegionAction& action = request_.regionaction(static_cast<int>(index));
    auto region = calls_.FindRegion(action.region());
    if (!region.ok()) {
      outcomes_[index].error = std::move(region).error();
    } else if (auto limited =
                   calls_.ThrottleBy(responder_.context(), **region, [this, index] { return WorkOf(index); });
               !limited.ok()) {
      outcomes_[index].error = std::move(limited).error();
    } else if (FormsOneUnit(request_, action)) {
      return RunUnit(index, *region);
    } else {
      return RunEach(index, *region, *limited);
    }
    PartDone();
  }

  [[nodiscard]] ThrottleWork WorkOf(std::size_t index) const {
    ThrottleWork work;
    for (const ParsedAction& parsed : parsed_[index]) {
      ++(parsed.is_get ? work.reads : work.writes);
      work.write_bytes += BytesOf(parsed.mutation.cells);
    }
    if (request_.regionaction(static_cast<int>(index)).has_condition() || request_.has_condition()) ++work.reads;
    work.read_bytes = work.reads * kBytesOfGet;
    return work;
  }

  [[nodiscard]] std::uint64_t BytesRead(std::size_t index) const {
    std::uint64_t bytes = 0;
    for (const ActionOutcome& outcome : outcomes_[index].actions) bytes += BytesOf(outcome.cells);
    return bytes;
  }

  // Runs all mutations of the action as one unit, perhaps under a condition.
  void RunUnit(std::size_t index, const std::shared_ptr<Region>& region) {
    auto ticket = std::make_shared<std::vector<std::shared_ptr<EpochGuard::Ticket>>>();
    auto unit = MakeUnit(index, *region, *ticket);
    if (!unit.ok()) {
      outcomes_[index].error = std::move(unit).error();
      return PartDone();
    }
    region->Mutate(std::move(*unit), [self = shared_from_this(), index, region, ticket](Result<MutationResult> result) {
      ticket->clear();
      RegionOutcome& outcome = self->outcomes_[index];
      if (!result.ok()) {
        outcome.error = std::move(result).error();
      } else {
        outcome.processed = result->processed;
        outcome.one_unit = true;
        outcome.actions.resize(self->parsed_[index].size());
        // HBase merges the results of the group's increments and appends into the first entry, and clients look only
        // there.
        std::vector<Cell>& merged = outcome.actions.front().cells;
        for (std::vector<Cell>& cells : result->results) {
          merged.insert(merged.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
        }
      }
      self->PartDone();
    });
  }

  Result<AtomicMutation> MakeUnit(std::size_t index, const Region& region,
                                  std::vector<std::shared_ptr<EpochGuard::Ticket>>& tickets) {
    const pb::RegionAction& action = request_.regionaction(static_cast<int>(index));
    AtomicMutation unit;
    for (ParsedAction& parsed : parsed_[index]) {
      if (parsed.error.has_value()) return *parsed.error;
      if (parsed.is_get) return Unsupported("a Get inside an atomic group of mutations is not supported");
      unit.mutations.push_back(parsed.mutation);  // a copy: the original shapes the reply
    }
    if (unit.mutations.empty())
      return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "an atomic group without mutations");
    if (action.has_condition() || request_.has_condition()) {
      RATCHET_ASSIGN(unit.condition, MakeCondition(action.has_condition() ? action.condition() : request_.condition()));
    }
    RATCHET_TRY(calls_.GuardWrite(responder_.context(), region, action.action(0).mutation().attribute(), unit,
                                  tickets.emplace_back()));
    return unit;
  }

  // Runs each action by itself: reads on this thread, then all mutations together.
  void RunEach(std::size_t index, const std::shared_ptr<Region>& region, const Throttles::Use& limited) {
    const pb::RegionAction& action = request_.regionaction(static_cast<int>(index));
    outcomes_[index].actions.resize(parsed_[index].size());
    bool has_read = false;
    auto tickets = std::make_shared<std::vector<std::shared_ptr<EpochGuard::Ticket>>>();
    std::vector<AtomicMutation> units;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < parsed_[index].size(); ++i) {
      ParsedAction& parsed = parsed_[index][i];
      ActionOutcome& outcome = outcomes_[index].actions[i];
      const pb::Action& wire = action.action(static_cast<int>(i));
      if (parsed.error.has_value()) {
        outcome.error = parsed.error;
      } else if (parsed.is_get) {
        has_read = true;
        RunGet(*region, wire.get(), outcome);
      } else if (!wire.has_mutation()) {
        outcome.error = rpc::RemoteError(rpc::exception::kDoNotRetryIo, "an action without content");
      } else {
        AtomicMutation unit;
        unit.mutations.push_back(parsed.mutation);
        Status guarded = calls_.GuardWrite(responder_.context(), *region, wire.mutation().attribute(), unit,
                                           tickets->emplace_back());
        if (!guarded.ok()) {
          outcome.error = std::move(guarded).error();
          continue;
        }
        units.push_back(std::move(unit));
        places.push_back(i);
      }
    }
    if (has_read && limited.counts()) limited.HasRead(BytesRead(index));
    if (has_read) CheckReads(index, *region);
    if (units.empty()) return PartDone();
    Region::BatchDone done = [self = shared_from_this(), index, region, tickets,
                              places = std::move(places)](std::vector<Result<MutationResult>> results) {
      tickets->clear();
      for (std::size_t i = 0; i < results.size(); ++i) {
        ActionOutcome& outcome = self->outcomes_[index].actions[places[i]];
        if (!results[i].ok()) {
          outcome.error = results[i].error();
        } else if (!results[i]->results.empty()) {
          outcome.cells = std::move(results[i]->results.front());
        }
      }
      self->PartDone();
    };
    region->MutateBatch(std::move(units), std::move(done), allowance_);
  }

  void RunGet(Region& region, const pb::Get& get, ActionOutcome& outcome) {
    if (allowance_->UsedUp()) {
      outcome.error =
          rpc::RemoteError(rpc::exception::kMultiActionResultTooLarge, "the reply is full; repeat this action");
      return;
    }
    auto cells = calls_.ReadRow(region, get, responder_.context());
    if (!cells.ok()) {
      outcome.error = std::move(cells).error();
    } else if (get.existence_only()) {
      outcome.exists = !cells->empty();
    } else {
      for (const Cell& cell : *cells) allowance_->Use(EncodedCellSize(cell));
      outcome.cells = std::move(*cells);
    }
  }

  // S24 (visible after sync): reads count only if this server still owned the region afterwards.
  void CheckReads(std::size_t index, Region& region) {
    const Status serving = calls_.CheckRead(region);
    if (serving.ok()) return;
    for (std::size_t i = 0; i < parsed_[index].size(); ++i) {
      if (parsed_[index][i].is_get) outcomes_[index].actions[i] = ActionOutcome{serving.error(), {}, {}};
    }
  }

  void PartDone() {
    if (pending_.fetch_sub(1) == 1) Reply();
  }

  void Reply() {
    if (Status fault = HitFault("regionserver.before_write_reply", "multi"); !fault.ok()) {
      responder_.Fail(fault.error());
      return;
    }
    pb::MultiResponse response;
    std::string block;
    const CellTarget target = TargetOf(responder_.context(), block);
    for (std::size_t i = 0; i < outcomes_.size(); ++i) FillRegion(i, target, *response.add_regionactionresult());
    if (request_.has_condition() && !outcomes_.empty() && outcomes_.front().processed.has_value()) {
      response.set_processed(*outcomes_.front().processed);
    }
    AuditRefusals();
    responder_.Reply(response, std::move(block));
  }

  // The call as a whole has an answer, so the refusals inside are audited here: one for each region of the request.
  void AuditRefusals() const {
    for (const RegionOutcome& outcome : outcomes_) {
      if (outcome.error.has_value()) responder_.NoteDenied(*outcome.error);
      for (const ActionOutcome& action : outcome.actions) {
        if (!action.error.has_value() || !rpc::IsClass(*action.error, rpc::exception::kAccessDenied)) continue;
        responder_.NoteDenied(*action.error);
        break;
      }
    }
  }

  void FillRegion(std::size_t index, CellTarget target, pb::RegionActionResult& out) {
    RegionOutcome& outcome = outcomes_[index];
    if (outcome.error.has_value()) {
      rpc::FillPair(*outcome.error, *out.mutable_exception());
      return;
    }
    if (outcome.processed.has_value()) out.set_processed(*outcome.processed);
    for (std::size_t i = 0; i < outcome.actions.size(); ++i) {
      ActionOutcome& action = outcome.actions[i];
      pb::ResultOrException& entry = *out.add_resultorexception();
      entry.set_index(IndexOf(index, i));
      if (action.error.has_value()) {
        rpc::FillPair(*action.error, *entry.mutable_exception());
      } else if (action.exists.has_value()) {
        entry.mutable_result()->set_exists(*action.exists);
      } else if (parsed_[index][i].is_get || outcome.one_unit) {
        FillResult(action.cells, target, *entry.mutable_result());
      } else {
        FillMutationResult(parsed_[index][i].mutation, action.cells, target, *entry.mutable_result());
      }
    }
  }

  // Returns the index by which the client finds the action: the number that the client gave it. In an atomic group
  // HBase answers with the position, because clients give no numbers there.
  [[nodiscard]] std::uint32_t IndexOf(std::size_t region, std::size_t position) const {
    const pb::Action& action = request_.regionaction(static_cast<int>(region)).action(static_cast<int>(position));
    const bool numbered = action.has_index() && !outcomes_[region].one_unit;
    return numbered ? action.index() : static_cast<std::uint32_t>(position);
  }

  const DataCalls& calls_;
  const pb::MultiRequest& request_;  // lives as long as the responder
  const rpc::Responder<pb::MultiResponse> responder_;
  const std::shared_ptr<ResultAllowance> allowance_;  // limit of all results together
  std::vector<std::deque<ParsedAction>> parsed_;
  std::vector<RegionOutcome> outcomes_;
  std::atomic<std::size_t> pending_{0};
};

}  // namespace

void DataCalls::Multi(const pb::MultiRequest& request, std::string_view cells,
                      const rpc::Responder<pb::MultiResponse>& responder) const {
  std::make_shared<MultiCall>(*this, request, responder)->Run(cells);
}

}  // namespace ratchet::regionserver

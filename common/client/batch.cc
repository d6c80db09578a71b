// Table::MutateMany: one Multi per server at a time, all servers in parallel; mutations that failed for transient
// reasons are sent again in the next round.
#include <algorithm>
#include <map>
#include <optional>

#include "common/base/mutex.h"
#include "common/client/region_retry.h"
#include "common/client/table.h"
#include "common/client/wire_requests.h"
#include "common/model/attributes.h"
#include "common/model/codec.h"
#include "common/model/proto/client.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::client {
namespace {

using Index = std::size_t;  // into the caller's mutations

// A round has at most this number, so that requests stay far below the servers' frame limit.
constexpr std::size_t kMaxRoundMutations = 5'000;
constexpr std::size_t kMaxRoundBytes = 16U << 20U;

std::size_t SizeOf(const Mutation& mutation) {
  std::size_t bytes = mutation.row.size();
  for (const Cell& cell : mutation.cells) bytes += cell.family.size() + cell.qualifier.size() + cell.value.size() + 16;
  return bytes;
}

// The result of one mutation so far. Each mutation has its own: the failure of another row proves nothing about this
// one.
struct Fate {
  std::optional<Error> last_error;  // nullopt: not sent yet
  bool outcome_unknown = false;     // an attempt may have been executed
};

// The mutations for one server in one round.
struct ServerShare {
  struct RegionShare {
    RegionLocation location;
    std::vector<Index> members;
  };
  std::vector<RegionShare> regions;
  hbase::pb::MultiRequest request;
  std::optional<Result<rpc::Reply<hbase::pb::MultiResponse>>> reply;
};

class Round {
 public:
  Round(Connection& connection, const std::vector<Mutation>& mutations, const std::vector<std::uint64_t>& nonces,
        Millis age)
      : connection_(connection), mutations_(mutations), nonces_(nonces), age_(age) {}

  void Add(Index index, const RegionLocation& location) {
    auto& share = shares_[location.endpoint()];
    auto region = std::find_if(share.regions.begin(), share.regions.end(),
                               [&](const auto& r) { return r.location.region == location.region; });
    if (region == share.regions.end()) {
      share.regions.push_back({location, {}});
      region = std::prev(share.regions.end());
    }
    region->members.push_back(index);
  }

  // Sends all shares and waits for all answers.
  void Run(RetryLoop& loop) {
    {
      MutexLock lock(mutex_);
      outstanding_ = shares_.size();
    }
    for (auto& [endpoint, share] : shares_) {
      Fill(share);
      rpc::CallOptions options;
      options.timeout = loop.AttemptTimeout(connection_.options().rpc_timeout);
      connection_.pool().Call(methods::kMulti, endpoint, share.request, std::move(options),
                              [this, &share = share](Result<rpc::Reply<hbase::pb::MultiResponse>> reply) {
                                MutexLock lock(mutex_);
                                share.reply.emplace(std::move(reply));
                                if (--outstanding_ == 0) all_answered_.NotifyAll();
                              });
    }
    MutexLock lock(mutex_);
    while (outstanding_ > 0) all_answered_.Wait(mutex_);
  }

  // Sets the `statuses` that are decided; returns the mutations to retry, with the reasons in `fates`.
  std::vector<Index> Collect(std::vector<Status>& statuses, std::vector<Fate>& fates) {
    std::vector<Index> again;
    for (auto& [endpoint, share] : shares_) {
      for (std::size_t r = 0; r < share.regions.size(); ++r) {
        for (std::size_t m = 0; m < share.regions[r].members.size(); ++m) {
          const Index index = share.regions[r].members[m];
          auto error = ErrorOf(share, static_cast<int>(r), static_cast<int>(m));
          if (!error) {
            statuses[index] = Ok();
          } else if (PrepareRetry(connection_.locator(), share.regions[r].location, *error)) {
            fates[index].last_error = error->Annotate(endpoint.ToString());
            fates[index].outcome_unknown = fates[index].outcome_unknown || rpc::OutcomeUnknown(*error);
            again.push_back(index);
          } else {
            statuses[index] = Refused(*error, fates[index].outcome_unknown);
          }
        }
      }
    }
    std::sort(again.begin(), again.end());
    return again;
  }

 private:
  void Fill(ServerShare& share) {
    share.request.set_noncegroup(connection_.nonce_group());
    for (const auto& region : share.regions) {
      auto* action = share.request.add_regionaction();
      SpecifyRegion(region.location.region, *action->mutable_region());
      std::uint32_t number = 0;
      for (const Index index : region.members) {
        auto* one = action->add_action();
        one->set_index(++number);
        ToProto(mutations_[index], nonces_[index], *one->mutable_mutation());
        SetNonceAge(age_.count(), *one->mutable_mutation());
      }
    }
  }

  static std::optional<Error> ErrorOf(const ServerShare& share, int region, int member) {
    if (!share.reply->ok()) return share.reply->error();
    const auto& response = (*share.reply)->message;
    if (region >= response.regionactionresult_size()) {
      return Error(Code::kInternal, "the server left a region out of its answer");
    }
    const auto& result = response.regionactionresult(region);
    if (result.has_exception()) return rpc::ErrorFrom(result.exception());
    for (const auto& one : result.resultorexception()) {
      if (one.index() != static_cast<std::uint32_t>(member + 1)) continue;
      if (one.has_exception()) return rpc::ErrorFrom(one.exception());
      return std::nullopt;
    }
    return Error(Code::kInternal, "the server left an action out of its answer");
  }

  Connection& connection_;
  const std::vector<Mutation>& mutations_;
  const std::vector<std::uint64_t>& nonces_;
  const Millis age_;
  std::map<rpc::Endpoint, ServerShare> shares_;
  Mutex mutex_;
  CondVar all_answered_;
  std::size_t outstanding_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::vector<Status> Table::MutateMany(const std::vector<Mutation>& mutations) {
  std::vector<Status> statuses(mutations.size(), Error(Code::kAborted, "not sent"));
  std::vector<Fate> fates(mutations.size());
  std::vector<std::uint64_t> nonces;
  std::vector<Index> left;
  for (Index i = 0; i < mutations.size(); ++i) {
    nonces.push_back(connection_.NewNonce());
    left.push_back(i);
  }
  const std::string what = fmt::format("batch on table {}", name_.ToString());
  RetryLoop loop = connection_.NewLoop(timeout_);
  while (!left.empty()) {
    Round round(connection_, mutations, nonces, timeout_ - loop.Remaining());
    std::size_t taken = 0;
    for (std::size_t bytes = 0; taken < left.size() && taken < kMaxRoundMutations && bytes < kMaxRoundBytes; ++taken) {
      const Index index = left[taken];
      bytes += SizeOf(mutations[index]);
      auto location = connection_.locator().Locate(loop, name_, mutations[index].row);
      if (location.ok())
        round.Add(index, *location);
      else
        statuses[index] = Refused(location.error(), fates[index].outcome_unknown);
    }
    round.Run(loop);
    std::vector<Index> again = round.Collect(statuses, fates);
    const std::optional<Error> reason = again.empty() ? std::nullopt : fates[again.front()].last_error;
    again.insert(again.end(), left.begin() + static_cast<std::ptrdiff_t>(taken), left.end());
    left = std::move(again);
    if (!reason) continue;
    Status pause = CheckNotDisabled(connection_.locator(), loop, name_, *reason);
    if (pause.ok()) pause = loop.Pause(*reason, what);
    if (pause.ok()) continue;
    for (const Index index : left) {
      const Fate& fate = fates[index];
      if (pause.error().code() != Code::kTimeout) {
        statuses[index] = Refused(pause.error(), fate.outcome_unknown);
      } else {
        const Error last = fate.last_error.value_or(Error(Code::kAborted, "not sent before the time-out"));
        statuses[index] = loop.GaveUp(last, what, fate.outcome_unknown);
      }
    }
    break;
  }
  return statuses;
}

}  // namespace ratchet::client

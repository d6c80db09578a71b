#include "master/dispatch/remote_dispatcher.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"

namespace ratchet::master {
namespace {

constexpr std::uint32_t kTransitionPriority = 300;

SendOutcome OutcomeOf(const Error& error) {
  // The order names the addressee's start code; a newer run at that address answers that it is not the addressee.
  if (rpc::IsClass(error, rpc::exception::kOtherRun)) return SendOutcome::kGone;
  if (rpc::IsClass(error, rpc::exception::kServerNotRunningYet)) return SendOutcome::kNotRunningYet;
  return SendOutcome::kFailed;
}

}  // namespace

OrderRank RankOf(const Order& order) {
  struct Visitor {
    OrderRank operator()(const OpenOrder& open) const { return OfTransition(open.region); }
    OrderRank operator()(const OpenBatchOrder&) const { return OrderRank::kNormal; }  // never of hbase:meta
    OrderRank operator()(const CloseOrder& close) const { return OfTransition(close.region); }
    OrderRank operator()(const SplitLogOrder&) const { return OrderRank::kUrgent; }
    OrderRank operator()(const FlushOrder&) const { return OfBulk(); }
    OrderRank operator()(const CompactOrder&) const { return OfBulk(); }
    OrderRank operator()(const BuildOrder&) const { return OfBulk(); }
    OrderRank operator()(const CopyOrder&) const { return OfBulk(); }
    OrderRank operator()(const RefreshPeersOrder&) const { return OrderRank::kNormal; }
    OrderRank operator()(const TakeRightsOrder&) const { return OrderRank::kNormal; }
    static OrderRank OfTransition(const RegionInfo& region) {
      return region.IsMeta() ? OrderRank::kUrgent : OrderRank::kNormal;
    }
    static OrderRank OfBulk() {
      return RATCHET_MUTANT("dispatch.bulk_is_urgent") ? OrderRank::kUrgent : OrderRank::kBulk;
    }
  };
  return std::visit(Visitor{}, order);
}

struct RemoteDispatcher::State : std::enable_shared_from_this<State> {
  State(rpc::ChannelPool& channel_pool, Clock& the_clock, Timers& the_timers, DispatchOptions the_options,
        std::uint64_t seed)
      : channels(channel_pool), clock(the_clock), timers(the_timers), options(the_options), core(the_options, seed) {}

  rpc::ChannelPool& channels;
  Clock& clock;
  Timers& timers;
  const DispatchOptions options;
  Mutex mutex;
  CondVar idle;
  DispatchCore core GUARDED_BY(mutex);
  OrderSender sender GUARDED_BY(mutex);
  std::shared_ptr<const Hooks> hooks GUARDED_BY(mutex);  // null before Begin and after Stop
  int in_hooks GUARDED_BY(mutex) = 0;                    // threads that use `hooks` outside the lock
  Timers::Handle timer GUARDED_BY(mutex) = 0;
  std::optional<TimePoint> timer_due GUARDED_BY(mutex);

  // Executes due actions until none is left.
  void Pump() {
    while (true) {
      DispatchActions actions;
      std::shared_ptr<const Hooks> use;
      OrderSender from;
      {
        MutexLock lock(mutex);
        if (hooks == nullptr) return;
        actions = core.Take(clock.Now());
        ArmTimer();
        if (actions.sends.empty() && actions.expiries.empty()) return;
        use = hooks;
        from = sender;
        ++in_hooks;
      }
      for (const ExpireNow& expiry : actions.expiries) {
        RATCHET_LOG(kWarn, "Server {} accepts no orders: {}", expiry.server.ToString(), expiry.why);
        use->expire(expiry.server, expiry.why);
      }
      for (const SendNow& send : actions.sends) Send(send, *use, from);
      MutexLock lock(mutex);
      if (--in_hooks == 0) idle.NotifyAll();
    }
  }

  void ArmTimer() REQUIRES(mutex) {
    const std::optional<TimePoint> due = core.NextWake();
    if (due == timer_due) return;
    if (timer != 0) timers.Cancel(timer);
    timer = 0;
    timer_due = due;
    if (!due.has_value()) return;
    const auto delay = std::chrono::ceil<Millis>(*due - clock.Now());
    timer = timers.After(std::max(Millis{0}, delay), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      {
        MutexLock lock(self->mutex);
        self->timer = 0;
        self->timer_due.reset();
      }
      self->Pump();
    });
  }

  void Send(const SendNow& send, const Hooks& use, const OrderSender& from) {
    if (!use.is_online(send.server)) {
      MutexLock lock(mutex);
      core.Forget(send.server);
      return;
    }
    const auto request = EncodeOrders(send.server, send.batch, from, use.lowest_live_pid(), clock.WallMillis());
    for (const OrderPtr& order : send.batch) {
      RATCHET_LOG(kInfo, "Dispatch {} to {}{}", DescribeOrder(*order), send.server.ToString(),
                  send.attempt > 1 ? fmt::format(", attempt {}", send.attempt) : "");
    }
    if (send.left > 0) {
      RATCHET_LOG(kInfo, "{} orders to {} fill one request; {} wait for the next", send.batch.size(),
                  send.server.ToString(), send.left);
    }
    IgnoreResult(HitFault("master.before_send", send.server.ToString()), "only for pausing and dying here");
    // S18 (check before each send): CHECK runs between the commit of an order and each send. No blocking call may come
    // between CHECK and the send.
    const bool unchecked = send.attempt > 1 && RATCHET_MUTANT("master.check_once");
    if (const Status owner = unchecked ? Ok() : use.check(); !owner.ok()) {
      use.on_deposed(owner.error());
      return;  // the ticket stays open, because this master no longer sends orders
    }
    rpc::CallOptions call;
    call.timeout = options.rpc_timeout;
    call.priority = kTransitionPriority;
    channels.Call(methods::kExecuteProcedures, {send.server.host, send.server.port}, request, std::move(call),
                  [self = shared_from_this(), server = send.server, ticket = send.ticket](auto reply) {
                    self->OnReply(server, ticket, reply.ok() ? std::nullopt : std::optional<Error>(reply.error()));
                  });
  }

  void OnReply(const ServerName& server, std::uint64_t ticket, const std::optional<Error>& error) {
    SendOutcome outcome = SendOutcome::kAccepted;
    if (error.has_value()) {
      outcome = OutcomeOf(*error);
      RATCHET_LOG(kWarn, "Orders to {} were not accepted: {}", server.ToString(), error->ToString());
    }
    {
      MutexLock lock(mutex);
      core.OnReply(ticket, outcome, error.has_value() ? error->ToString() : "", clock.Now());
    }
    Pump();
  }
};

RemoteDispatcher::RemoteDispatcher(rpc::ChannelPool& channels, Clock& clock, Timers& timers, DispatchOptions options,
                                   std::uint64_t seed)
    : state_(std::make_shared<State>(channels, clock, timers, options, seed)) {}

RemoteDispatcher::~RemoteDispatcher() { Stop(); }

void RemoteDispatcher::Begin(OrderSender sender, Hooks hooks) {
  MutexLock lock(state_->mutex);
  state_->sender = sender;
  state_->hooks = std::make_shared<const Hooks>(std::move(hooks));
}

void RemoteDispatcher::Dispatch(const ServerName& server, Order order) {
  {
    MutexLock lock(state_->mutex);
    const OrderRank rank = RankOf(order);
    state_->core.Add(server, std::make_shared<const Order>(std::move(order)), rank, state_->clock.Now());
  }
  state_->Pump();
}

void RemoteDispatcher::Forget(const ServerName& server) {
  {
    MutexLock lock(state_->mutex);
    state_->core.Forget(server);
  }
  state_->channels.Forget({server.host, server.port});
}

void RemoteDispatcher::Stop() {
  MutexLock lock(state_->mutex);
  state_->hooks.reset();
  if (state_->timer != 0) state_->timers.Cancel(state_->timer);
  state_->timer = 0;
  while (state_->in_hooks > 0) state_->idle.Wait(state_->mutex);
}

std::vector<ServerQueueView> RemoteDispatcher::View() const {
  MutexLock lock(state_->mutex);
  return state_->core.View();
}

}  // namespace ratchet::master

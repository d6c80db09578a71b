#include "chaos/faults/network_faults.h"

#include <algorithm>
#include <map>
#include <thread>

#include "chaos/faults/process_faults.h"
#include "chaos/faults/victims.h"
#include "chaos/network/links.h"

namespace ratchet::chaos {
namespace {

// Heartbeats and ZooKeeper's pings come at least about once a second, each with an answer. So at least forty pieces
// pass in this time. A link that loses one piece in five disturbs this traffic, except about once in ten thousand
// times.
constexpr Millis kTrafficWithin{20'000};
constexpr Millis kLeavesWithin{3'000};

struct LinkChange {
  LinkName link;
  LinkMode mode;
};

struct Plan {
  std::vector<LinkChange> changes;
  Victims may_leave;  // processes whose session may end, and which then end by themselves
};

using MakePlan = Result<Plan> (*)(Target&, Prng&);

LinkMode OneWay(bool forward) { return {.hold_forward = forward, .hold_back = !forward}; }

void CutFromZooKeeper(Target& target, const std::string& name, Plan& plan) {
  for (const auto& member : target.Names(Role::kZooKeeper))
    plan.changes.push_back({{name, member}, LinkMode::Blackhole()});
}

Result<Plan> FromZooKeeper(Target& target, Result<Victims> who) {
  if (!who.ok()) return who.error();
  Plan plan;
  for (const auto& name : *who) CutFromZooKeeper(target, name, plan);
  plan.may_leave = *who;
  return plan;
}

Result<Plan> ServerFromZooKeeper(Target& target, Prng& prng) { return FromZooKeeper(target, PickServer(target, prng)); }
Result<Plan> MasterFromZooKeeper(Target& target, Prng& prng) {
  return FromZooKeeper(target, PickActiveMaster(target, prng));
}

// Cuts the process from the member with its connection, so that it must find another member before its session ends.
Result<Plan> FromOneMember(Target& target, Prng& prng) {
  RATCHET_ASSIGN(const auto who, PickAnyProcess(target, prng));
  const auto members = target.Names(Role::kZooKeeper);
  for (const auto& link : target.links()->Connected()) {
    const bool to_member = std::find(members.begin(), members.end(), link.to) != members.end();
    if (link.from == who.front() && to_member) return Plan{{{link, LinkMode::Blackhole()}}, {}};
  }
  return Error(Code::kUnavailable, who.front() + " has no connection to ZooKeeper now");
}

Result<Plan> MasterFromServer(Target& target, Prng& prng) {
  RATCHET_ASSIGN(const auto master, target.ActiveMaster());
  RATCHET_ASSIGN(const auto server, PickServer(target, prng));
  Plan plan;
  plan.changes = {{{master, server.front()}, LinkMode::Blackhole()}, {{server.front(), master}, LinkMode::Blackhole()}};
  return plan;
}

// Data from one of the two does not arrive, whichever of them opened the connection.
Result<Plan> MasterFromServerOneWay(Target& target, Prng& prng) {
  RATCHET_ASSIGN(auto plan, MasterFromServer(target, prng));
  const bool masters_words = prng.Chance(1, 2);
  plan.changes[0].mode = OneWay(masters_words);
  plan.changes[1].mode = OneWay(!masters_words);
  return plan;
}

// Returns links with traffic during an interval that is long enough to see each heartbeat.
std::vector<LinkName> BusyLinks(const Links& links) {
  constexpr Millis kLooks{1'200};
  std::map<LinkName, std::uint64_t> before;
  for (const auto& link : links.Connected()) before[link] = links.Counters(link).passed;
  std::this_thread::sleep_for(kLooks);
  std::vector<LinkName> busy;
  for (const auto& link : links.Connected()) {
    const auto seen = before.find(link);
    if (links.Counters(link).passed != (seen == before.end() ? 0 : seen->second)) busy.push_back(link);
  }
  return busy;
}

Result<Plan> ClientFromServer(Target& target, Prng& prng) {
  auto links = BusyLinks(*target.links());
  const auto servers = target.Names(Role::kRegionServer);
  std::erase_if(links, [&](const LinkName& link) {
    return link.from != "client" || std::find(servers.begin(), servers.end(), link.to) == servers.end();
  });
  if (links.empty()) return Error(Code::kUnavailable, "no client talks to a region server");
  return Plan{{{links[prng.Below(links.size())], LinkMode::Blackhole()}}, {}};
}

Result<Plan> IsolateServer(Target& target, Prng& prng) {
  RATCHET_ASSIGN(const auto victim, PickServer(target, prng));
  const std::string& server = victim.front();
  Plan plan;
  plan.may_leave = victim;
  CutFromZooKeeper(target, server, plan);
  plan.changes.push_back({{"client", server}, LinkMode::Blackhole()});
  for (const Role role : {Role::kMaster, Role::kRegionServer}) {
    for (const auto& other : target.Names(role)) {
      if (other == server) continue;
      plan.changes.push_back({{server, other}, LinkMode::Blackhole()});
      plan.changes.push_back({{other, server}, LinkMode::Blackhole()});
    }
  }
  return plan;
}

Result<std::vector<LinkName>> SomeLinks(Target& target, Prng& prng, std::size_t most) {
  auto links = BusyLinks(*target.links());
  if (links.empty()) return Error(Code::kUnavailable, "nothing passes on any link");
  for (std::size_t i = 0; i + 1 < links.size(); ++i) std::swap(links[i], links[i + prng.Below(links.size() - i)]);
  const auto count = static_cast<std::size_t>(prng.Between(1, static_cast<std::int64_t>(std::min(most, links.size()))));
  links.resize(count);
  return links;
}

template <class MakeMode>
Result<Plan> OnSomeLinks(Target& target, Prng& prng, std::size_t most, MakeMode make_mode) {
  RATCHET_ASSIGN(const auto links, SomeLinks(target, prng, most));
  Plan plan;
  for (const auto& link : links) plan.changes.push_back({link, make_mode()});
  return plan;
}

Result<Plan> SlowLink(Target& target, Prng& prng) {
  return OnSomeLinks(target, prng, 3, [&] {
    LinkMode mode;
    if (prng.Chance(1, 2)) {
      mode.delay = Millis(prng.Between(20, 300));
      mode.jitter = Millis(prng.Between(0, 200));
    } else {
      mode.bytes_per_second = static_cast<std::uint64_t>(prng.Between(2'000, 50'000));
    }
    return mode;
  });
}

Result<Plan> SlowNetwork(Target& target, Prng& prng) {
  Plan plan;
  const Millis delay{prng.Between(2, 30)};
  const LinkMode slow{.delay = delay, .jitter = delay};
  for (const auto& link : target.links()->Connected()) plan.changes.push_back({link, slow});
  if (plan.changes.empty()) return Error(Code::kUnavailable, "no link has a connection now");
  return plan;
}

Result<Plan> LossyLinks(Target& target, Prng& prng) {
  return OnSomeLinks(target, prng, 6,
                     [&] { return LinkMode{.lose_one_in = static_cast<std::uint32_t>(prng.Between(2, 5))}; });
}

Result<Plan> HalfOpenLink(Target& target, Prng& prng) {
  return OnSomeLinks(target, prng, 1, [] { return LinkMode{.half_open = true}; });
}

Result<Plan> ResetLinks(Target& target, Prng& prng) {
  return OnSomeLinks(target, prng, 100, [] { return LinkMode{}; });
}

Result<Plan> SwizzleLinks(Target& target, Prng& prng) {
  return OnSomeLinks(target, prng, 100, [] { return LinkMode::Blackhole(); });
}

struct NetworkFaultKind {
  std::string_view kind;
  MakePlan plan;
  Lasting lasting;
  Millis largest_gap{0};  // between one link and the next
};

constexpr Lasting kWhile{500, 5'000, false};
constexpr NetworkFaultKind kNetworkKinds[] = {
    {"partition-server-from-zookeeper", ServerFromZooKeeper, {150, 300, true}},
    {"partition-master-from-zookeeper", MasterFromZooKeeper, {150, 300, true}},
    {"partition-from-zookeeper-member", FromOneMember, {50, 300, true}},
    {"partition-master-from-server", MasterFromServer, kWhile},
    {"partition-master-from-server-one-way", MasterFromServerOneWay, kWhile},
    {"partition-client-from-server", ClientFromServer, kWhile},
    {"isolate-server", IsolateServer, {150, 300, true}},
    {"slow-link", SlowLink, kWhile},
    {"slow-network", SlowNetwork, kWhile},
    {"lossy-links", LossyLinks, kWhile},
    {"half-open-link", HalfOpenLink, kWhile},
    {"reset-links", ResetLinks, {0, 0, false}},
    {"swizzle-links", SwizzleLinks, {200, 3'000, false}, Millis(200)},
};

class NetworkFault final : public Fault {
 public:
  explicit NetworkFault(const NetworkFaultKind& what) : what_(what) {}

  [[nodiscard]] std::string_view kind() const override { return what_.kind; }

  [[nodiscard]] std::string_view Needs() const override {
    return what_.plan == FromOneMember ? kNeedsEnsemble : kNeedsLinks;
  }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    auto why = WhyNoLinks(target);
    return !why && what_.plan == FromOneMember ? WhyNoEnsemble(target) : why;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_CHECK(plan_.changes.empty(), "a fault is healed before it is injected again");
    Links& links = *target.links();
    session_ = target.session_timeout();
    RATCHET_ASSIGN(plan_, what_.plan(target, prng));
    order_ = prng.Fork().Next();
    FaultRecord record;
    record.kind = what_.kind;
    record.injected = SystemClock().Now();
    std::vector<LinkCounters> before;
    for (const auto& change : plan_.changes) {
      before.push_back(links.Counters(change.link));
      record.victims.push_back(change.link.ToString());
    }
    for (const auto& change : plan_.changes) {
      if (&change != &plan_.changes.front()) Gap(prng);
      if (what_.plan == ResetLinks) {
        links.Reset(change.link);
      } else {
        links.Set(change.link, change.mode);
      }
    }
    const Status felt = WaitUntil("traffic on the links concerned", kTrafficWithin, [&] {
      target.Meanwhile();  // there may be no traffic because of other faults
      record.evidence = Evidence(links, before);
      return !record.evidence.empty();
    });
    if (felt.ok() && what_.plan == FromOneMember) record.evidence += WhereItWent(target, plan_.changes.front().link);
    if (felt.ok()) return record;
    IgnoreResult(Heal(target), "the first error is returned");
    return felt.error().Annotate(what_.kind);
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    if (what_.lasting.most == 0) return std::nullopt;
    const std::int64_t drawn = prng.Between(what_.lasting.least, what_.lasting.most);
    return Millis(what_.lasting.of_session ? drawn * session_.count() / 100 : drawn);
  }

  [[nodiscard]] Status Heal(Target& target) override {
    Prng order(order_);
    Plan plan = std::exchange(plan_, {});
    for (std::size_t left = plan.changes.size(); left > 0; --left) {
      std::swap(plan.changes[left - 1], plan.changes[order.Below(left)]);
      if (left < plan.changes.size()) Gap(order);
      target.links()->Clear(plan.changes[left - 1].link);
    }
    for (const auto& name : plan.may_leave) {
      const auto left = WaitUntil(name + " leaves", kLeavesWithin, [&] { return !target.Running(name); });
      if (left.ok()) RATCHET_TRY(target.Start(name));
    }
    return Ok();
  }

 private:
  // Records whether another member took the session over, or the session was lost.
  [[nodiscard]] std::string WhereItWent(Target& target, const LinkName& cut) const {
    const auto members = target.Names(Role::kZooKeeper);
    const auto begun = SystemClock().Now();
    std::string went;
    const Status found = WaitUntil("another member", session_ + session_, [&] {
      for (const auto& link : target.links()->Connected()) {
        const bool another = link.to != cut.to && std::find(members.begin(), members.end(), link.to) != members.end();
        if (link.from == cut.from && another) went = link.to;
      }
      target.Meanwhile();
      return !went.empty() || !target.Running(cut.from);
    });
    if (!found.ok() || went.empty()) return "; " + cut.from + " found no other member";
    const auto after = std::chrono::duration_cast<Millis>(SystemClock().Now() - begun);
    return fmt::format("; {} continued at {} after {} ms", cut.from, went, after.count());
  }

  void Gap(Prng& prng) const {
    if (what_.largest_gap > Millis(0)) std::this_thread::sleep_for(Millis(prng.Between(0, what_.largest_gap.count())));
  }

  // Returns the links on which traffic was disturbed since then; an empty string: none.
  [[nodiscard]] std::string Evidence(const Links& links, const std::vector<LinkCounters>& before) const {
    std::string text;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const LinkCounters now = links.Counters(plan_.changes[i].link);
      if (now.Disturbed() == before[i].Disturbed()) continue;
      if (!text.empty()) text += "; ";
      text += plan_.changes[i].link.ToString() + ":";
      const auto add = [&text](std::uint64_t count, const char* what) {
        if (count != 0) text += fmt::format(" {} {}", count, what);
      };
      add(now.held - before[i].held, "bytes held");
      add(now.delayed - before[i].delayed, "bytes delayed");
      add(now.vanished - before[i].vanished, "bytes lost");
      add(now.cut - before[i].cut, "connections cut");
    }
    return text;
  }

  const NetworkFaultKind& what_;
  Millis session_{2'000};
  Plan plan_;
  std::uint64_t order_ = 0;
};

}  // namespace

std::optional<std::string> WhyNoLinks(Target& target) {
  if (target.links() == nullptr) return "this target has no proxies between its processes";
  return std::nullopt;
}

std::unique_ptr<Fault> MakeNetworkFault(std::string_view kind) {
  for (const auto& candidate : kNetworkKinds) {
    if (candidate.kind == kind) return std::make_unique<NetworkFault>(candidate);
  }
  return nullptr;
}

std::vector<std::string_view> NetworkFaultKinds() {
  std::vector<std::string_view> kinds;
  for (const auto& candidate : kNetworkKinds) kinds.push_back(candidate.kind);
  return kinds;
}

}  // namespace ratchet::chaos

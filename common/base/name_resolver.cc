#include "common/base/name_resolver.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "common/base/fault_point.h"
#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/thread_name.h"

namespace ratchet {

struct NameResolver::State : std::enable_shared_from_this<NameResolver::State> {
  struct Name {
    Addresses known;       // from the last look-up that was answered
    bool trouble = false;  // the last look-up failed or was slow, so no caller waits for the next one
    bool asked = false;    // a look-up runs or is queued
    std::vector<Done> waiting;
  };

  explicit State(Lookup the_lookup) : lookup(std::move(the_lookup)) {}

  const Lookup lookup;
  const SystemClock clock;
  Mutex mutex;
  CondVar changed;
  bool ending GUARDED_BY(mutex) = false;
  std::map<std::string, Name> names GUARDED_BY(mutex);
  std::deque<std::string> queue GUARDED_BY(mutex);
  std::size_t threads GUARDED_BY(mutex) = 0;
  std::size_t idle GUARDED_BY(mutex) = 0;

  void Ask(const std::string& host, Name& name) REQUIRES(mutex) {
    if (std::exchange(name.asked, true)) return;
    queue.push_back(host);
    if (idle >= queue.size() || threads == kMostThreads) return changed.NotifyAll();
    std::thread([self = shared_from_this()] { self->Run(); }).detach();
    ++threads;
  }

  void Run() {
    SetThreadName("resolver");
    mutex.Lock();
    while (!ending) {
      if (queue.empty()) {
        ++idle;
        changed.Wait(mutex);
        --idle;
        continue;
      }
      const std::string host = std::move(queue.front());
      queue.pop_front();
      mutex.Unlock();
      LookUp(host);
      mutex.Lock();
    }
    --threads;
    mutex.Unlock();
  }

  void LookUp(const std::string& host) EXCLUDES(mutex) {
    const TimePoint began = clock.Now();
    const Status fault = HitFault("names.lookup", host);
    const Result<Addresses> found = fault.ok() ? lookup(host) : Result<Addresses>(fault.error());
    const bool slow = clock.Now() - began > kSlow;
    mutex.Lock();
    const auto [answer, waiting] = Settle(host, found, slow);
    mutex.Unlock();
    for (const Done& done : waiting) done(answer);
  }

  std::pair<Result<Addresses>, std::vector<Done>> Settle(const std::string& host, const Result<Addresses>& found,
                                                         bool slow) REQUIRES(mutex) {
    Name& name = names[host];
    if (!found.ok() && !name.trouble && !name.known.empty()) {
      RATCHET_LOG(kWarn, "{}; its last known addresses are used", found.error().message());
    }
    name.asked = false;
    name.trouble = slow || !found.ok();
    if (found.ok()) name.known = *found;
    std::pair<Result<Addresses>, std::vector<Done>> settled{
        found.ok() || name.known.empty() ? found : Result<Addresses>(name.known), std::move(name.waiting)};
    name.waiting.clear();
    if (name.known.empty()) names.erase(host);
    return settled;
  }

  // Forgets one name when there are too many; those that are being looked up stay.
  void KeepBounded() REQUIRES(mutex) {
    if (names.size() <= kMostNames) return;
    const auto unused = std::find_if(names.begin(), names.end(), [](const auto& each) { return !each.second.asked; });
    if (unused != names.end()) names.erase(unused);
  }
};

NameResolver::NameResolver(Lookup lookup)
    : state_(std::make_shared<State>(lookup ? std::move(lookup) : Lookup(LookUpName))) {}

NameResolver::~NameResolver() {
  const MutexLock lock(state_->mutex);
  state_->ending = true;
  state_->changed.NotifyAll();
}

NameResolver& NameResolver::OfProcess() {
  static auto* const kResolver = new NameResolver;
  return *kResolver;
}

void NameResolver::Resolve(const std::string& host, Done done) {
  if (IsNumericHost(host)) return done(Addresses{host});
  Addresses known;
  {
    State& state = *state_;
    const MutexLock lock(state.mutex);
    state.KeepBounded();
    State::Name& name = state.names[host];
    state.Ask(host, name);
    if (!name.trouble || name.known.empty()) {
      name.waiting.push_back(std::move(done));
      return;
    }
    known = name.known;
  }
  done(known);
}

Result<NameResolver::Addresses> NameResolver::ResolveWithin(const std::string& host, Millis patience) {
  struct Answer {
    Mutex mutex;
    CondVar changed;
    std::optional<Result<Addresses>> result GUARDED_BY(mutex);
  };
  const auto answer = std::make_shared<Answer>();
  Resolve(host, [answer](const Result<Addresses>& found) {
    const MutexLock lock(answer->mutex);
    answer->result = found;
    answer->changed.NotifyAll();
  });
  const SystemClock clock;
  const TimePoint until = clock.Now() + patience;
  const MutexLock lock(answer->mutex);
  while (!answer->result.has_value()) {
    const TimePoint now = clock.Now();
    if (now >= until) {
      return Error(Code::kTimeout, fmt::format("the look-up of '{}' takes longer than {} ms", host, patience.count()));
    }
    static_cast<void>(answer->changed.WaitFor(answer->mutex, until - now));
  }
  return *answer->result;
}

Result<NameResolver::Addresses> LookUpName(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (failed != 0) {
    return Error(Code::kUnavailable, fmt::format("the name '{}' has no address now: {}", host, ::gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  NameResolver::Addresses addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
      continue;
    if (std::find(addresses.begin(), addresses.end(), text.data()) == addresses.end())
      addresses.emplace_back(text.data());
  }
  if (addresses.empty()) return Error(Code::kUnavailable, fmt::format("the name '{}' has no address now", host));
  return addresses;
}

}  // namespace ratchet

// Look-ups of names never block the thread that asks, and a DNS failure does not remove known addresses.
#include "common/base/name_resolver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "common/base/fault_point.h"
#include "common/base/mutex.h"

namespace ratchet {
namespace {

constexpr Millis kPatience{60'000};

// Returns the answers that a test has set, and can be held.
class FakeDns {
 public:
  [[nodiscard]] NameResolver::Lookup AsLookup() {
    return [this](const std::string& host) -> Result<NameResolver::Addresses> {
      const MutexLock lock(mutex_);
      ++asked_;
      changed_.NotifyAll();
      while (held_) changed_.Wait(mutex_);
      if (failing_) return Error(Code::kUnavailable, "SERVFAIL");
      return NameResolver::Addresses{addresses_[host]};
    };
  }
  void Set(const std::string& host, const std::string& address) {
    const MutexLock lock(mutex_);
    addresses_[host] = address;
  }
  void Fail(bool failing) {
    const MutexLock lock(mutex_);
    failing_ = failing;
  }
  void Hold(bool held) {
    const MutexLock lock(mutex_);
    held_ = held;
    changed_.NotifyAll();
  }
  void AwaitAsked(int count) {
    const MutexLock lock(mutex_);
    while (asked_ < count) changed_.Wait(mutex_);
  }
  [[nodiscard]] int asked() {
    const MutexLock lock(mutex_);
    return asked_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, std::string> addresses_ GUARDED_BY(mutex_);
  bool failing_ GUARDED_BY(mutex_) = false;
  bool held_ GUARDED_BY(mutex_) = false;
  int asked_ GUARDED_BY(mutex_) = 0;
};

TEST(NameResolverTest, AnAddressNeedsNoLookUp) {
  FakeDns dns;
  NameResolver resolver(dns.AsLookup());
  for (const char* address : {"10.0.0.1", "::1"}) {
    int called = 0;
    resolver.Resolve(address, [&](const Result<NameResolver::Addresses>& found) {
      ++called;
      EXPECT_EQ(*found, NameResolver::Addresses{address});
    });
    EXPECT_EQ(called, 1) << "at once, on this thread";
  }
  EXPECT_EQ(dns.asked(), 0);
}

TEST(NameResolverTest, ASlowLookUpHoldsUpNoOtherName) {
  FakeDns slow;
  slow.Set("slow", "10.0.0.1");
  slow.Hold(true);
  NameResolver resolver([&slow](const std::string& host) -> Result<NameResolver::Addresses> {
    if (host == "quick") return NameResolver::Addresses{"10.0.0.2"};
    return slow.AsLookup()(host);
  });
  std::atomic<int> answered{0};
  resolver.Resolve("slow", [&](const auto&) { ++answered; });
  resolver.Resolve("slow", [&](const auto&) { ++answered; });
  slow.AwaitAsked(1);
  EXPECT_EQ(*resolver.ResolveWithin("quick", kPatience), NameResolver::Addresses{"10.0.0.2"});
  EXPECT_EQ(resolver.ResolveWithin("slow", Millis(1)).error().code(), Code::kTimeout);
  EXPECT_EQ(answered.load(), 0);
  slow.Hold(false);
  EXPECT_EQ(*resolver.ResolveWithin("slow", kPatience), NameResolver::Addresses{"10.0.0.1"});
  EXPECT_EQ(answered.load(), 2);
  EXPECT_LE(slow.asked(), 2) << "one look-up answers all that wait for it";
}

TEST(NameResolverTest, WhileDnsFailsTheLastKnownAddressesAreUsed) {
  FakeDns dns;
  dns.Set("h", "10.0.0.1");
  dns.Fail(true);
  NameResolver resolver(dns.AsLookup());
  EXPECT_EQ(resolver.ResolveWithin("h", kPatience).error().code(), Code::kUnavailable) << "none is known";
  dns.Fail(false);
  EXPECT_EQ(*resolver.ResolveWithin("h", kPatience), NameResolver::Addresses{"10.0.0.1"});
  dns.Fail(true);
  EXPECT_EQ(*resolver.ResolveWithin("h", kPatience), NameResolver::Addresses{"10.0.0.1"});
  dns.Hold(true);
  EXPECT_EQ(*resolver.ResolveWithin("h", Millis(0)), NameResolver::Addresses{"10.0.0.1"}) << "without waiting";
  dns.Set("h", "10.0.0.9");
  dns.Fail(false);
  dns.Hold(false);
  for (const auto until = SystemClock().Now() + kPatience;;) {
    const auto found = resolver.ResolveWithin("h", kPatience);
    if (found.ok() && *found == NameResolver::Addresses{"10.0.0.9"}) break;
    ASSERT_LT(SystemClock().Now(), until) << "the new address is never used";
  }
}

TEST(NameResolverTest, TheSystemKnowsTheLoopback) {
  const auto found = LookUpName("localhost");
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_FALSE(found->empty());
}

TEST(NameResolverTest, AFaultPointStandsForDnsThatFails) {
  NameResolver resolver;
  FaultSpec fault;
  fault.action = FaultAction::kFail;
  fault.match = "localhost";
  FaultPoints::Instance().Arm("names.lookup", fault);
  EXPECT_FALSE(resolver.ResolveWithin("localhost", kPatience).ok());
  EXPECT_TRUE(resolver.ResolveWithin("localhost", kPatience).ok()) << "it acts once";
  FaultPoints::Instance().DisarmAll();
}

}  // namespace
}  // namespace ratchet

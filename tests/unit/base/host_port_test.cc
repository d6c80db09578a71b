// An address is joined and split by one pair of functions, with brackets around an IPv6 address.
#include "common/base/host_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <gtest/gtest.h>

namespace ratchet {
namespace {

TEST(HostPortTest, IsReadBack) {
  for (const HostPort& address : {HostPort{"h1", 2181}, HostPort{"10.0.0.1", 1}, HostPort{"::1", 65'535},
                                  HostPort{"fd77::2", 16'020}, HostPort{"a-b.c_d", 80}}) {
    const std::string text = JoinHostPort(address.host, address.port);
    EXPECT_EQ(SplitHostPort(text), address) << text;
  }
  EXPECT_EQ(JoinHostPort("::1", 24'022), "[::1]:24022");
  EXPECT_EQ(JoinHostPort("h", 1), "h:1");
}

TEST(HostPortTest, AnAddressWithoutBracketsIsReadAsEarlierVersionsWroteIt) {
  EXPECT_EQ(SplitHostPort("::1:24022"), (HostPort{"::1", 24'022}));
  EXPECT_EQ(SplitHostPort("fd77::2:24022"), (HostPort{"fd77::2", 24'022}));
}

TEST(HostPortTest, WhatIsNoAddressIsRefused) {
  for (const char* bad : {"",     "h",     "h:",     ":1",    "h:0",   "h:65536", "h:1x",   "h:-1",
                          "h:+1", "[::1]", "[::1]:", "[h]:1", "[]:1",  "[::1:1",  "::1]:1", "::1",
                          "::",   "1:2:3", "h:1:2",  "a b:1", "a/b:1", "a,b:1"}) {
    EXPECT_FALSE(SplitHostPort(bad).has_value()) << bad;
  }
}

TEST(HostPortTest, Lists) {
  const auto list = SplitHostPorts("h1:1,[::1]:2,10.0.0.1:3");
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(*list, (std::vector<HostPort>{{"h1", 1}, {"::1", 2}, {"10.0.0.1", 3}}));
  for (const char* bad : {"", ",", "h:1,", ",h:1", "h:1,h", "h:1 ,h:2"}) EXPECT_FALSE(SplitHostPorts(bad)) << bad;
}

TEST(HostPortTest, KnowsAddressesFromNames) {
  for (const char* numeric : {"127.0.0.1", "10.77.0.1", "::1", "fd77::2"})
    EXPECT_TRUE(IsNumericHost(numeric)) << numeric;
  for (const char* name : {"", "h1", "localhost", "127.1", "1.2.3.4.5", ":", "[::1]"})
    EXPECT_FALSE(IsNumericHost(name)) << name;
  for (const char* loopback : {"127.0.0.1", "127.0.1.1", "::1"}) EXPECT_TRUE(IsLoopbackAddress(loopback)) << loopback;
  for (const char* other : {"10.77.0.1", "fd77::1", "localhost", "::"}) EXPECT_FALSE(IsLoopbackAddress(other)) << other;
}

TEST(HostPortTest, APeerHasOneAddressWhateverItsSocket) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  ASSERT_EQ(::inet_pton(AF_INET, "127.0.0.1", &four.sin_addr), 1);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  const auto of_six = [&six](const char* text) {
    EXPECT_EQ(::inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return NumericAddress(reinterpret_cast<const sockaddr*>(&six), sizeof six);
  };
  EXPECT_EQ(NumericAddress(reinterpret_cast<const sockaddr*>(&four), sizeof four), "127.0.0.1");
  EXPECT_EQ(of_six("::ffff:127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(of_six("::1"), "::1");
  EXPECT_EQ(of_six("fd77::2"), "fd77::2");
  sockaddr other{};
  other.sa_family = AF_UNIX;
  EXPECT_EQ(NumericAddress(&other, sizeof other), "");
}

}  // namespace
}  // namespace ratchet

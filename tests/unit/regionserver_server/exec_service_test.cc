// ClientService.ExecService through the wire: MultiRowMutationService.MutateRows, and refused requests.
#include "tests/unit/regionserver_server/service_fixture.h"

#include <bit>

#include "common/model/meta_row.h"
#include "common/model/proto/aggregate.pb.h"
#include "common/model/proto/filter.pb.h"
#include "common/model/proto/multi_row_mutation.pb.h"
#include "common/rpc/exceptions.h"

namespace ratchet::regionserver {
namespace {

class ExecServiceTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
    ASSERT_EQ(OpenRegion(MetaRegionInfo()).outcome, OrderOutcome::kOpened);
  }
  Result<rpc::Reply<pb::CoprocessorServiceResponse>> Exec(const std::string& service, const std::string& method,
                                                          const RegionInfo& region, const std::string& bytes,
                                                          bool member) {
    pb::CoprocessorServiceRequest request;
    *request.mutable_region() = Specify(region);
    request.mutable_call()->set_row("a");
    request.mutable_call()->set_service_name(service);
    request.mutable_call()->set_method_name(method);
    request.mutable_call()->set_request(bytes);
    return Call(methods::kExecService, request, {}, member);
  }
  // "yes", "no" (a condition did not hold), or the class of the exception.
  std::string MutateRows(const pb::MutateRowsRequest& rows, const RegionInfo& region, bool member = false) {
    const auto reply = Exec("MultiRowMutationService", "MutateRows", region, rows.SerializeAsString(), member);
    if (!reply.ok()) return reply.error().remote_class();
    pb::MutateRowsResponse response;
    EXPECT_TRUE(response.ParseFromString(reply->message.value().value()));
    EXPECT_TRUE(reply->message.has_region());
    return response.processed() ? "yes" : "no";
  }
  static void Expect(pb::MutateRowsRequest& rows, const std::string& row, const std::string& value) {
    pb::Condition& condition = *rows.add_condition();
    condition.set_row(row);
    condition.set_family("f");
    condition.set_qualifier("q");
    condition.set_compare_type(pb::EQUAL);
    pb::BinaryComparator binary;
    binary.mutable_comparable()->set_value(value);
    condition.mutable_comparator()->set_name("org.apache.hadoop.hbase.filter.BinaryComparator");
    condition.mutable_comparator()->set_serialized_comparator(binary.SerializeAsString());
  }
  std::string Value(const std::string& row) {
    auto get = Get(region_, row);
    return Text(get->message.result(), get->cells);
  }
  static pb::MutateRowsRequest MetaRows(std::int64_t epoch) {
    pb::MutateRowsRequest rows;
    for (const char* row : {"t,,1.a.", "t,m,1.b."})
      *rows.add_mutation_request() = PutProto(row, "server", "h:1", "info");
    auto* attribute = rows.mutable_mutation_request(0)->add_attribute();
    attribute->set_name(std::string(meta::kEpochAttribute));
    attribute->set_value(EncodeInt64(epoch));
    return rows;
  }
  const RegionInfo region_ = TableRegion("", "m");
};

TEST_F(ExecServiceTest, MutateRowsChangesSeveralRowsUnderConditions) {
  ASSERT_TRUE(Put(region_, "a", "q", "1").ok());
  pb::MutateRowsRequest rows;
  *rows.add_mutation_request() = PutProto("a", "q", "2");
  *rows.add_mutation_request() = PutProto("b", "q", "2");
  Expect(rows, "a", "1");
  EXPECT_EQ(MutateRows(rows, region_), "yes");
  EXPECT_EQ(Value("a") + " " + Value("b"), "q=2 q=2");
  *rows.mutable_mutation_request(1) = PutProto("b", "q", "3");
  EXPECT_EQ(MutateRows(rows, region_), "no");
  EXPECT_EQ(Value("b"), "q=2");
  EXPECT_EQ(MutateRows(pb::MutateRowsRequest(), region_), "yes") << "nothing to do, as HBase answers";
}

TEST_F(ExecServiceTest, WhatItCannotDoIsRefusedByHBasesClasses) {
  pb::MutateRowsRequest rows;
  *rows.add_mutation_request() = PutProto("a", "q", "1");
  *rows.add_mutation_request() = PutProto("x", "q", "1");
  EXPECT_EQ(MutateRows(rows, region_), rpc::exception::kDoNotRetryIo) << "rows of two regions";
  EXPECT_EQ(MutateRows(rows, TableRegion("m", "")), rpc::exception::kNotServingRegion);
  rows.mutable_mutation_request(1)->set_row("b");
  rows.mutable_mutation_request(1)->set_associated_cell_count(1);
  EXPECT_EQ(MutateRows(rows, region_), rpc::exception::kDoNotRetryIo) << "cells that are not there";
  pb::MutateRowsRequest conditions;
  Expect(conditions, "a", "1");
  EXPECT_EQ(MutateRows(conditions, region_), rpc::exception::kDoNotRetryIo);
  EXPECT_EQ(Value("a"), "");
  const auto refused = [this](const char* service, const char* method, const char* bytes) {
    return Exec(service, method, region_, bytes, false).error().remote_class();
  };
  EXPECT_EQ(refused("RowCountService", "GetRowCount", ""), rpc::exception::kUnknownProtocol);
  EXPECT_EQ(refused("MultiRowMutationService", "Other", ""), rpc::exception::kUnknownProtocol);
  EXPECT_EQ(refused("hbase.pb.MultiRowMutationService", "MutateRows", "\x0a\xff"), rpc::exception::kDoNotRetryIo);
}

// S28 (conditional meta writes), S77 (members only)
TEST_F(ExecServiceTest, RowsOfMetaChangeForMastersOfTheHighestEpochOnly) {
  EXPECT_EQ(MutateRows(MetaRows(5), MetaRegionInfo(), false), rpc::exception::kAccessDenied);
  EXPECT_EQ(MutateRows(MetaRows(5), MetaRegionInfo(), true), "yes");
  EXPECT_EQ(MutateRows(MetaRows(6), MetaRegionInfo(), true), "yes");
  const std::string deposed = MutateRows(MetaRows(5), MetaRegionInfo(), true);
  EXPECT_NE(deposed, "yes");
  EXPECT_NE(deposed, "no");
  pb::MutateRowsRequest without = MetaRows(6);
  without.mutable_mutation_request(0)->clear_attribute();
  EXPECT_EQ(MutateRows(without, MetaRegionInfo(), true), rpc::exception::kDoNotRetryIo);
}

class AggregateTest : public ExecServiceTest {
 protected:
  static constexpr const char* kLong = "org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter";
  static constexpr const char* kDouble = "org.apache.hadoop.hbase.client.coprocessor.DoubleColumnInterpreter";

  void Give(const std::string& row, const std::string& qualifier, std::int64_t value) {
    ASSERT_TRUE(Put(region_, row, qualifier, EncodeInt64(value)).ok());
  }
  Result<pb::AggregateResponse> Ask(const std::string& method, const std::string& interpreter = kLong,
                                    const std::string& start = "", const std::string& qualifier = "q") {
    pb::AggregateRequest request;
    request.set_interpreter_class_name(interpreter);
    request.mutable_scan()->set_start_row(start);
    pb::Column& column = *request.mutable_scan()->add_column();
    column.set_family("f");
    if (!qualifier.empty()) column.add_qualifier(qualifier);
    const auto reply = Exec("AggregateService", method, region_, request.SerializeAsString(), false);
    if (!reply.ok()) return reply.error();
    pb::AggregateResponse answer;
    EXPECT_TRUE(answer.ParseFromString(reply->message.value().value()));
    return answer;
  }
  static std::int64_t Long(const std::string& bytes) {
    pb::LongMsg message;
    EXPECT_TRUE(message.ParseFromString(bytes));
    return message.long_msg();
  }
  static std::int64_t Count(const std::string& bytes) {
    std::int64_t count = -1;
    EXPECT_TRUE(DecodeInt64(bytes, count));
    return count;
  }
};

TEST_F(AggregateTest, LongsOfARegion) {
  for (int i = 0; i < 10; ++i) Give("a" + std::to_string(i), "q", i * i - 20);
  Give("a3", "other", 1'000'000);
  ASSERT_TRUE(Put(region_, "a5", "q", "no number").ok());
  EXPECT_EQ(Long(Ask("GetMax")->first_part(0)), 61);
  EXPECT_EQ(Long(Ask("GetMin")->first_part(0)), -20);
  EXPECT_EQ(Long(Ask("GetSum")->first_part(0)), 80) << "285 - 200, without the 5 of a5";
  EXPECT_EQ(Count(Ask("GetRowNum")->first_part(0)), 10);
  EXPECT_EQ(Count(Ask("GetRowNum", kLong, "a7", "")->first_part(0)), 3);
  const auto average = Ask("GetAvg");
  EXPECT_EQ(Long(average->first_part(0)), 80);
  EXPECT_EQ(Count(average->second_part()), 10);
  const auto deviation = Ask("GetStd", kLong, "a7");
  EXPECT_EQ(Long(deviation->first_part(0)), 29 + 44 + 61);
  EXPECT_EQ(Long(deviation->first_part(1)), 29 * 29 + 44 * 44 + 61 * 61);
  EXPECT_EQ(Count(deviation->second_part()), 3);
  const auto median = Ask("GetMedian", kLong, "a7");
  EXPECT_EQ(Long(median->first_part(0)), 29 + 44 + 61);
  EXPECT_EQ(Long(median->first_part(1)), INT64_MIN) << "no weights";
  EXPECT_EQ(Ask("GetMax", kLong, "b")->first_part_size(), 0) << "no row";
}

TEST_F(AggregateTest, Doubles) {
  for (const double value : {1.5, -2.25}) Give("a" + std::to_string(value), "q", std::bit_cast<std::int64_t>(value));
  pb::DoubleMsg sum;
  ASSERT_TRUE(sum.ParseFromString(Ask("GetSum", kDouble)->first_part(0)));
  EXPECT_EQ(sum.double_msg(), -0.75);
  ASSERT_TRUE(sum.ParseFromString(Ask("GetMin", kDouble)->first_part(0)));
  EXPECT_EQ(sum.double_msg(), -2.25);
}

TEST_F(AggregateTest, DecimalsOfAnyLength) {
  constexpr const char* kDecimal = "org.apache.hadoop.hbase.client.coprocessor.BigDecimalColumnInterpreter";
  using std::string_literals::operator""s;
  const auto give = [this](const std::string& row, const std::string& scale_and_integer) {
    ASSERT_TRUE(Put(region_, row, "q", "\0\0\0"s + scale_and_integer).ok());
  };
  const auto part = [&](const std::string& method, int index) {
    const auto answer = Ask(method, kDecimal);
    if (!answer.ok()) return answer.error().message();
    pb::BigDecimalMsg message;
    EXPECT_TRUE(message.ParseFromString(answer->first_part(index)));
    return message.bigdecimal_msg();
  };
  give("a", "\x02\x32"s);  // 0.50
  give("b", "\0\xfe"s);    // -2
  give("c", "\x01\x0f"s);  // 1.5
  ASSERT_TRUE(Put(region_, "d", "q", "none").ok());
  EXPECT_EQ(part("GetMax", 0), "\0\0\0\x02\0\x96"s);
  EXPECT_EQ(part("GetMin", 0), "\0\0\0\x02\xff\x38"s);
  EXPECT_EQ(part("GetSum", 0), "\0\0\0\x02\0"s);
  EXPECT_EQ(part("GetAvg", 0), "\0\0\0\x02\0"s);
  EXPECT_EQ(Count(Ask("GetAvg", kDecimal)->second_part()), 4);
  EXPECT_EQ(part("GetStd", 1), "\0\0\0\x02\x02\x8a"s) << "0.25 + 4 + 2.25";
  EXPECT_EQ(Count(Ask("GetRowNum", kDecimal)->first_part(0)), 4);
  EXPECT_EQ(part("GetMedian", 0), "\0\0\0\x02\0"s);
  EXPECT_EQ(part("GetMedian", 1), "\0\0\x01\x45\x31"s) << "no weights: 4.9E-324";
  give("e", "\x02" + std::string(300, 'x'));
  EXPECT_NE(part("GetSum", 0).find("BigDecimalColumnInterpreter: a value has 304 bytes"), std::string::npos);
}

TEST_F(AggregateTest, UnsupportedFunctionIsRefusedByName) {
  const auto interpreter = Ask("GetMax", "com.example.RomanColumnInterpreter");
  ASSERT_FALSE(interpreter.ok());
  EXPECT_EQ(rpc::ClassOf(interpreter.error()), rpc::exception::kDoNotRetryIo);
  EXPECT_NE(interpreter.error().message().find("RomanColumnInterpreter"), std::string::npos);
  const auto method = Ask("GetMode");
  ASSERT_FALSE(method.ok());
  EXPECT_EQ(rpc::ClassOf(method.error()), rpc::exception::kUnknownProtocol);
  const auto unreadable = Exec("AggregateService", "GetMax", region_, "nonsense", false);
  ASSERT_FALSE(unreadable.ok());
  EXPECT_EQ(rpc::ClassOf(unreadable.error()), rpc::exception::kDoNotRetryIo);
}

}  // namespace
}  // namespace ratchet::regionserver

// One SELECT over tables in memory: accepted and refused statements, and the bounds.
#include "common/ops/sql/sql_database.h"

#include <cmath>

#include <gtest/gtest.h>

#include "common/ops/sql/sql_text.h"

namespace ratchet::sql {
namespace {

std::vector<SqlTable> Tables() {
  return {{"numbers", "", {{"n", SqlType::kInteger, "a number"}, {"name", SqlType::kText, ""}}},
          {"words", "", {{"word", SqlType::kText, ""}, {"weight", SqlType::kReal, ""}}}};
}

class SqlDatabaseTest : public ::testing::Test {
 protected:
  void SetUp() override { Open({}); }
  void Open(const SqlLimits& limits) {
    auto opened = SqlDatabase::Open(Tables(), limits);
    ASSERT_TRUE(opened.ok()) << opened.error().ToString();
    database_ = std::move(*opened);
    const Status filled = database_->Fill("numbers", [](const SqlSink& sink) {
      for (std::int64_t n = 1; n <= 100; ++n) sink({n, n % 2 == 0 ? SqlValue(std::string("even")) : SqlValue()});
      return Ok();
    });
    ASSERT_TRUE(filled.ok()) << filled.error().ToString();
  }
  // The rows as lines of CSV, the names of the columns first; or the error.
  std::vector<std::string> Ask(const std::string& statement) {
    std::vector<std::string> lines;
    const Status done = database_->Query(
        statement,
        [&](std::vector<std::string> names) { lines.push_back(CsvLine(SqlRow(names.begin(), names.end()))); },
        [&](SqlRow row) {
          lines.push_back(CsvLine(row));
          return true;
        });
    if (!done.ok()) return {done.error().ToString()};
    return lines;
  }
  using Lines = std::vector<std::string>;

  std::unique_ptr<SqlDatabase> database_;
};

TEST_F(SqlDatabaseTest, AnswersASelect) {
  EXPECT_EQ(Ask("select name, count(*) as c, sum(n) from numbers group by name order by name"),
            (Lines{"name,c,sum(n)", ",50,2500", "even,50,2550"}));
  EXPECT_EQ(Ask("select * from numbers where n < 0;  "), (Lines{"n,name"}));
}

TEST_F(SqlDatabaseTest, QuotesWhatCsvNeedsQuoted) {
  EXPECT_EQ(CsvLine({std::string("a\"b"), std::string("c,d"), std::string(), SqlValue(), std::int64_t{-7}, 0.25}),
            "\"a\"\"b\",\"c,d\",\"\",,-7,0.25");
  EXPECT_EQ(CsvLine({std::string("two\nlines"), HUGE_VAL}), "\"two\nlines\",inf");
}

TEST_F(SqlDatabaseTest, TellsWhichTablesAreRead) {
  const auto both = database_->TablesOf("select 1 from numbers join words on word = name");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(*both, (std::set<std::string>{"numbers", "words"}));
  const auto counted = database_->TablesOf("select count(*) from words");  // reads no column
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(*counted, std::set<std::string>{"words"});
  const auto none = database_->TablesOf("select 1");
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
}

TEST_F(SqlDatabaseTest, ChangesNothing) {
  for (const char* statement : {"insert into numbers values (1, 'x')", "delete from numbers", "drop table numbers",
                                "attach 'f' as f", "pragma journal_mode", "create table t (a)", "begin", "vacuum",
                                "select load_extension('x')", "reindex", "with w as (select 1) delete from numbers"}) {
    const auto lines = Ask(statement);
    ASSERT_EQ(lines.size(), 1U) << statement;
    EXPECT_NE(lines[0].find("INVALID_ARGUMENT"), std::string::npos) << statement << ": " << lines[0];
  }
  EXPECT_EQ(Ask("select count(*) from numbers")[1], "100");
}

TEST_F(SqlDatabaseTest, RefusesWhatIsNoSingleStatement) {
  EXPECT_NE(Ask("select 1; select 2")[0].find("one statement"), std::string::npos);
  EXPECT_NE(Ask("   ")[0].find("no statement"), std::string::npos);
  EXPECT_NE(Ask("select * from nosuch")[0].find("no such table: nosuch"), std::string::npos);
  EXPECT_NE(Ask(std::string("select 1\0", 9))[0].find("NUL"), std::string::npos);
  EXPECT_NE(Ask("select '" + std::string(70'000, 'x') + "'")[0].find("64000 bytes"), std::string::npos);
}

TEST_F(SqlDatabaseTest, EndsAQueryWithoutEnd) {
  Open({Millis(50), 2LL << 30, 64'000});
  const auto lines =
      Ask("with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c where x < 0");
  EXPECT_NE(lines[0].find("RESOURCE_EXHAUSTED"), std::string::npos) << lines[0];
}

TEST_F(SqlDatabaseTest, StopsWhenTheReaderHasEnough) {
  int rows = 0;
  ASSERT_TRUE(database_
                  ->Query(
                      "select * from numbers", [](const auto&) {}, [&](const SqlRow&) { return ++rows < 3; })
                  .ok());
  EXPECT_EQ(rows, 3);
}

TEST_F(SqlDatabaseTest, AFailedSourceFailsTheTable) {
  const Status failed = database_->Fill("words", [](const SqlSink& sink) -> Status {
    sink({std::string("one"), 1.0});
    return Error(Code::kUnavailable, "the master has gone");
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), Code::kUnavailable);
  EXPECT_EQ(database_->Fill("nosuch", [](const SqlSink&) { return Ok(); }).error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace ratchet::sql

# HBase's shell within JRuby with hbase-shell in the class path, with the port of ZooKeeper as the argument: commands as a user
# types them, each with what it has to give.
include Java
require 'hbase_constants'
require 'hbase_shell'
require 'hbase/quotas'
include HBaseConstants
include HBaseQuotasConstants

config = org.apache.hadoop.hbase.HBaseConfiguration.create
config.set('hbase.zookeeper.quorum', '127.0.0.1')
config.set('hbase.zookeeper.property.clientPort', ARGV[0])
config.setInt('hbase.client.retries.number', 10)
@shell = Shell::Shell.new(Hbase::Hbase.new(config), false)
@shell.export_commands(self)

require 'stringio'
@passed = 0
@failed = 0

# What the commands of the block print has to match the pattern.
def shows(name, pattern)
  printed = StringIO.new
  begin
    $stdout = printed
    yield
  rescue StandardError, Java::JavaLang::Throwable => e
    printed.puts("#{e.class}: #{e.message}")
  ensure
    $stdout = STDOUT
  end
  good = printed.string =~ pattern
  good ? @passed += 1 : @failed += 1
  puts "#{good ? 'PASS' : 'FAIL'} #{name}"
  puts printed.string.gsub(/^/, '     '), "     expected: #{pattern.inspect}" unless good
end

# The end of a program: its last line counts, and its exit code tells whether all were good.
def ends
  puts "#{@passed} passed, #{@failed} failed"
  exit(@failed.zero? && @passed > 0 ? 0 : 1)
end

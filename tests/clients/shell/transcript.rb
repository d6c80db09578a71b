# Commands of HBase's shell by a user without Kerberos. Run as shows.rb says.
require_relative 'shows'

def admin_regions(table)
  @shell.hbase.admin.instance_variable_get(:@admin).getRegions(org.apache.hadoop.hbase.TableName.valueOf(table)).size
end

shows('version', /2\.4\.17/) { version }
shows('status', /1 active master, 1 backup masters, 3 servers/) { status }
shows('create', /Created table people/) { create 'people', { NAME => 'f', VERSIONS => 3 }, 'g', SPLITS => ['m'] }
shows('exists', /Table people does exist/) { exists 'people' }
shows('list', /people.*1 row/m) { list }
shows('describe', /Table people is ENABLED.*NAME => 'f'.*VERSIONS => '3'.*NAME => 'g'/m) { describe 'people' }
shows('put and get', /f:name.*value=Ada/m) do
  put 'people', 'ada', 'f:name', 'Ada'
  put 'people', 'zoe', 'f:name', 'Zoe'
  get 'people', 'ada'
end
shows('scan', /ada.*value=Ada.*zoe.*value=Zoe.*2 row/m) { scan 'people' }
shows('scan with a filter', /zoe.*value=Zoe.*1 row/m) { scan 'people', FILTER => "PrefixFilter('z')" }
shows('count', /2 row/) { count 'people' }
shows('incr', /COUNTER VALUE = 5/) { incr 'people', 'ada', 'f:visits', 5 }
shows('get_counter', /COUNTER VALUE = 5/) { get_counter 'people', 'ada', 'f:visits' }
shows('append', /CURRENT VALUE = Ada L\./) { append 'people', 'ada', 'f:name', ' L.' }
shows('delete', /\A(?!.*visits).*1 row/m) do
  delete 'people', 'ada', 'f:visits'
  get 'people', 'ada'
end
shows('deleteall', /0 row/) do
  deleteall 'people', 'zoe'
  get 'people', 'zoe'
end
shows('alter', /Updating all regions.*2\/2 regions updated/m) { alter 'people', NAME => 'h' }
shows('flush and compact', /\A(?!.*ERROR)/m) do
  flush 'people'
  major_compact 'people'
end
shows('list_regions', /people,,.*people,m,.*2 rows/m) { list_regions 'people' }
shows('split', /3 rows/) do
  split 'people', 'f'
  deadline = Time.now + 30
  sleep 0.1 until admin_regions('people') == 3 || Time.now > deadline
  list_regions 'people'
end
shows('balance_switch', /Previous balancer state : true/) { balance_switch true }
shows('splitormerge_switch', /true.*false/m) do
  splitormerge_switch 'SPLIT', false
  splitormerge_switch 'SPLIT', true
end
shows('list_namespace', /default.*hbase/m) { list_namespace }
shows('create_namespace and describe_namespace', /shop.*hbase.namespace.quota.maxtables/m) do
  create_namespace 'shop', { 'hbase.namespace.quota.maxtables' => '2' }
  describe_namespace 'shop'
end
shows('alter_namespace', /owner/) do
  alter_namespace 'shop', { METHOD => 'set', 'owner' => 'me' }
  describe_namespace 'shop'
end
shows('a table in a namespace', /orders/) do
  create 'shop:orders', 'f'
  list_namespace_tables 'shop'
end
shows('drop_namespace', /\A(?!.*shop)/m) do
  disable 'shop:orders'
  drop 'shop:orders'
  drop_namespace 'shop'
  list_namespace
end
shows('set_quota and list_quotas', /TABLE => people.*WRITE_SIZE.*1\.00M\/sec.*USER => ada.*REQUEST_NUMBER.*5req\/min/m) do
  set_quota TYPE => THROTTLE, USER => 'ada', LIMIT => '5req/min'
  set_quota TYPE => THROTTLE, TABLE => 'people', THROTTLE_TYPE => WRITE, LIMIT => '1M/sec'
  list_quotas
end
shows('removing quotas', /\A(?!.*(ada|people|Error)).*0 row/m) do
  set_quota TYPE => THROTTLE, USER => 'ada', LIMIT => NONE
  set_quota TYPE => THROTTLE, TABLE => 'people', LIMIT => NONE
  list_quotas
end
shows('a quota of space', /space quotas are not supported/) { set_quota TYPE => SPACE, TABLE => 'people', LIMIT => '1G', POLICY => NO_WRITES }
shows('enable_rpc_throttle', /true.*false/m) do
  disable_rpc_throttle
  enable_rpc_throttle
end
shows('list_procedures', /PID.*SplitTableRegion SUCCESS/m) { list_procedures }
shows('an unknown table', /TableNotFoundException|Unknown table/) { scan 'never_created' }
shows('snapshot', /kept.*people/m) do
  snapshot 'people', 'kept'
  snapshot 'people', 'quick', { SKIP_FLUSH => true }
  list_snapshots
end
shows('a snapshot of the same name', /SnapshotExistsException|already/) { snapshot 'people', 'kept' }
shows('truncate', /Truncating/) { truncate 'people' }
shows('clone_snapshot', /Ada L/) do
  clone_snapshot 'kept', 'people_again'
  scan 'people_again'
end
shows('restore_snapshot', /Ada L/) do
  disable 'people'
  restore_snapshot 'kept'
  enable 'people'
  scan 'people'
end
shows('delete_snapshot', /\A(?!.*(kept|quick).*people)/m) do
  delete_snapshot 'quick'
  delete_snapshot 'kept'
  list_snapshots
end
shows('grant', /ada.*people.*READ,WRITE.*zoe.*people.*f.*READ/m) do
  grant 'ada', 'RW', 'people'
  grant 'zoe', 'R', 'people', 'f'
  user_permission 'people'
end
shows('grant to a group', /@ops.*ADMIN/m) do
  grant '@ops', 'A'
  user_permission
end
shows('revoke', /\A(?!.*(ada|zoe))/m) do
  revoke 'ada', 'people'
  revoke 'zoe', 'people', 'f'
  revoke '@ops'
  user_permission 'people'
end
# A peer at which there is no cluster: nothing waits for it.
shows("status 'replication'", /SOURCE: PeerID=nowhere.*Normal Queue: nowhere.*Replication Lag=0.*SINK: TimeStampStarted=\d+, Waiting for OPs/m) do
  add_peer 'nowhere', CLUSTER_KEY => "127.0.0.1:#{ARGV[0]}:/nowhere"
  deadline = Time.now + 60
  until $stdout.string =~ /PeerID=nowhere/ || Time.now > deadline # servers tell it with their heartbeats
    status 'replication'
    sleep 0.2
  end
  remove_peer 'nowhere'
end
shows('an unknown snapshot', /Unknown snapshot kept/) { delete_snapshot 'kept' }
disable 'people_again'
drop 'people_again'
shows('drop', /\A(?!.*people)/m) do
  disable 'people'
  drop 'people'
  list
end

ends

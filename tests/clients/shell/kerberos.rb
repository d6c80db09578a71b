# HBase's shell of a user who has logged in with kinit. Run as shows.rb says.
require_relative 'shows'

shows('whoami', /alice@TEST/) { whoami }
shows('put and get', /f:q.*value=v/m) do
  put 'async', 'shell', 'f:q', 'v'
  get 'async', 'shell'
end
shows('scan', /shell.*value=v/m) { scan 'async' }
shows('a grant needs A', /AccessDenied/) { grant 'bob', 'R', 'async' }
ends

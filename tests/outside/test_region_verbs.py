"""MoveRegion, UnassignRegion, AssignRegion: the answer comes when the procedure has ended, as HBase's clients expect."""

from cluster_wire import META, Connection, Table, WireTest, locate, master_address, meta_address, region

NAME = b"outside_verbs"


class RegionVerbsTest(WireTest):
    @classmethod
    def setUpClass(cls):
        cls.table = Table(NAME)
        cls.enterClassContext(cls.table)

    def ask(self, method):
        with Connection(*master_address(), "MasterService") as master:
            master.call(method, [(1, region(self.table.region().name))])

    def state(self):
        """The region's row of hbase:meta as it is now: state, address."""
        with Connection(*meta_address(), "ClientService") as meta:
            get = [(1, self.table.region().name), (2, [(1, b"info")])]
            _, cells = meta.call("Get", [(1, region(META)), (2, get)])
        found = {cell.qualifier: cell.value for cell in cells}
        return found[b"state"], found.get(b"server")

    def test_a_move_is_answered_when_the_region_is_elsewhere(self):
        for _ in range(10):
            _, before = self.state()
            self.ask("MoveRegion")
            state, after = self.state()
            self.assertEqual(state, b"OPEN")
            self.assertNotEqual(after, before)
            found = locate(NAME, b"")
            with Connection(found.host, found.port, "ClientService") as server:
                server.call("Get", [(1, region(found.name)), (2, [(1, b"row")])])

    def test_unassign_and_assign_are_answered_when_they_have_ended(self):
        for _ in range(5):
            self.ask("UnassignRegion")
            self.assertEqual(self.state()[0], b"CLOSED")
            self.ask("AssignRegion")
            self.assertEqual(self.state()[0], b"OPEN")

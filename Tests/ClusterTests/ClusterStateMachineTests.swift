import Cluster
import Testing
import Wire

/// One node's decisions about the homes of rooms, with simulated time and a scripted broker. `make simulate-cluster` runs several nodes.
struct ClusterStateMachineTests {
    private let other = NodeIdentity(name: "b", incarnation: 1)
    private let requester = RequesterID(1)

    private typealias Node = ScriptedNode

    private func record(_ home: NodeIdentity?, number: UInt64 = 3, snapshot: [UInt8] = [1]) -> RoomRecord {
        RoomRecord(epoch: RoomEpoch(number: number, claim: 5), home: home, snapshot: snapshot)
    }

    private func stored(_ record: RoomRecord, revision: UInt64 = 40) -> Result<StoredRecord?, BrokerError> {
        .success(StoredRecord(value: record.bytes, revision: revision))
    }

    @Test func loadIsAnnouncedWithTheNextBeat() {
        let node = Node()
        node.pass(.seconds(1))
        node.handle(.measured(NodeLoad(busiest: 0.7, rooms: 2, participants: 4)))
        var effects: [ClusterStateMachine.Effect] = []
        node.machine.handle(.deadlinePassed, at: node.now + ClusterLimits.beatInterval, into: &effects)
        let loads = effects.compactMap { if case .publish(let beat) = $0 { beat.load } else { nil } }
        #expect(loads == [NodeLoad(busiest: 0.7, rooms: 2, participants: 4)])
    }

    // MARK: Claims

    @Test func newRoomIsClaimedByWhoIsAsked() throws {
        let node = Node()
        #expect(node.handle(.wanted(room: "r", by: requester)) == [.read(room: "r")])
        guard case .write("r", let record, after: 0) = node.handle(.read(room: "r", .success(nil))).first else {
            Issue.record("no claim")
            return
        }
        #expect(record.home == node.local && record.epoch.number == 1)
        #expect(
            node.handle(.written(room: "r", .success(1))) == [
                .began(room: "r", record.epoch, snapshot: [], former: nil), .answer(requester, .local(record.epoch)),
            ])
        #expect(node.handle(.wanted(room: "r", by: RequesterID(2))) == [.answer(RequesterID(2), .local(record.epoch))])
    }

    @Test func roomOfARunningNodeIsElsewhere() {
        let node = Node()
        node.handle(.received(NodeBeat(node: other, number: 1, build: "1")))
        node.handle(.wanted(room: "r", by: requester))
        #expect(node.handle(.read(room: "r", stored(record(other)))) == [.answer(requester, .elsewhere(other))])
        #expect(node.machine.homeRooms.isEmpty)
    }

    @Test func roomOfAnEndedNodeIsTakenOverWithItsSnapshot() throws {
        let node = Node()
        node.handle(.received(NodeBeat(node: other, number: 1, build: "1")))
        node.pass(.milliseconds(1_500))
        node.handle(.wanted(room: "r", by: requester))
        let effects = node.handle(.read(room: "r", stored(record(other))))
        guard case .write("r", let claim, after: 40)? = effects.first else { throw UnexpectedEffects(effects) }
        #expect(claim.epoch.number == 4 && claim.snapshot == [1])
        let began = node.handle(.written(room: "r", .success(41)))
        #expect(began.first == .began(room: "r", claim.epoch, snapshot: [1], former: other))
    }

    @Test func handedOverRoomIsTakenAtOnce() {
        let node = Node()
        node.handle(.wanted(room: "r", by: requester))
        guard case .write("r", let claim, after: 40)? = node.handle(.read(room: "r", stored(record(nil)))).first else {
            Issue.record("no claim")
            return
        }
        #expect(claim.snapshot == [1])
    }

    @Test func nodeThatLosesTheRaceForARoomLooksAgain() {
        let node = Node()
        node.handle(.received(NodeBeat(node: other, number: 1, build: "1")))
        node.handle(.wanted(room: "r", by: requester))
        node.handle(.read(room: "r", .success(nil)))
        #expect(node.handle(.written(room: "r", .failure(.conflict))) == [.read(room: "r")])
        #expect(node.handle(.read(room: "r", stored(record(other)))) == [.answer(requester, .elsewhere(other))])
    }

    @Test func nodeThatWasSuspendedDuringItsClaimLooksAgain() {
        let node = Node()
        node.handle(.wanted(room: "r", by: requester))
        node.handle(.read(room: "r", .success(nil)))
        node.now = node.now + .seconds(10)
        #expect(node.handle(.written(room: "r", .success(1))) == [.read(room: "r")])
        node.handle(.received(NodeBeat(node: other, number: 1, build: "1")))
        #expect(node.handle(.read(room: "r", stored(record(other)))) == [.answer(requester, .elsewhere(other))])
    }

    @Test func withoutBrokerNoRoomBegins() {
        let node = Node(isConnected: false)
        #expect(node.handle(.wanted(room: "r", by: requester)) == [.answer(requester, .unavailable)])
        node.handle(.connected)
        node.handle(.wanted(room: "r", by: requester))
        node.handle(.read(room: "r", .success(nil)))
        #expect(node.handle(.written(room: "r", .failure(.unavailable))) == [.answer(requester, .unavailable)])
        #expect(node.machine.homeRooms.isEmpty, "whether the claim was written is unknown")
    }

    @Test func recordThatCannotBeReadIsLeftAlone() {
        let node = Node()
        node.handle(.wanted(room: "r", by: requester))
        let garbage = StoredRecord(value: Array("garbage".utf8), revision: 1)
        #expect(node.handle(.read(room: "r", .success(garbage))) == [.answer(requester, .unavailable)])
    }

    @Test func drainingNodeTakesNoRooms() {
        let node = Node()
        node.handle(.drain)
        node.handle(.wanted(room: "r", by: requester))
        #expect(node.handle(.read(room: "r", .success(nil))) == [.answer(requester, .draining)])
    }

    // MARK: Requests about rooms

    @Test func requestAboutARoomThatNobodyHasBeginsNone() {
        let ended = RoomRecord(epoch: RoomEpoch(number: 3, claim: 5), home: nil, snapshot: [])
        for found in [.success(nil), stored(ended)] as [Result<StoredRecord?, BrokerError>] {
            let node = Node()
            #expect(node.handle(.sought(room: "r", by: requester)) == [.read(room: "r")])
            #expect(node.handle(.read(room: "r", found)) == [.answer(requester, .notOpen)])
            #expect(node.machine.homeRooms.isEmpty)
        }
    }

    @Test func requestAboutARoomOfAnEndedNodeTakesItOver() throws {
        let node = Node()
        node.handle(.received(NodeBeat(node: other, number: 1, build: "1")))
        node.handle(.sought(room: "r", by: requester))
        #expect(node.handle(.read(room: "r", stored(record(other)))) == [.answer(requester, .elsewhere(other))])
        node.pass(.milliseconds(1_500))
        node.handle(.sought(room: "unwritten", by: requester))
        let unwritten = stored(record(other, snapshot: []))
        #expect(node.handle(.read(room: "unwritten", unwritten)) == [.answer(requester, .notOpen)])
        node.handle(.sought(room: "r", by: requester))
        let effects = node.handle(.read(room: "r", stored(record(other))))
        guard case .write("r", let claim, after: 40)? = effects.first else { throw UnexpectedEffects(effects) }
        #expect(
            node.handle(.written(room: "r", .success(41))) == [
                .began(room: "r", claim.epoch, snapshot: [1], former: other), .answer(requester, .local(claim.epoch)),
            ])
    }

    @Test func requestAboutARoomThatEndsWaitsForItsEnd() throws {
        let node = Node()
        let epoch = try node.begin("r")
        node.pass(.milliseconds(250))
        node.handle(.closed(room: "r"))
        #expect(node.handle(.sought(room: "r", by: requester)).isEmpty)
        #expect(node.handle(.written(room: "r", .success(2))) == [.ended(room: "r", .closed), .read(room: "r")])
        let ended = stored(RoomRecord(epoch: epoch, home: nil, snapshot: []), revision: 2)
        #expect(node.handle(.read(room: "r", ended)) == [.answer(requester, .notOpen)])
    }

    @Test func joinBeginsARoomForWhichARequestWaits() throws {
        let node = Node()
        node.handle(.sought(room: "r", by: requester))
        #expect(node.handle(.wanted(room: "r", by: RequesterID(2))).isEmpty)
        let effects = node.handle(.read(room: "r", .success(nil)))
        guard case .write("r", let claim, after: 0)? = effects.first else { throw UnexpectedEffects(effects) }
        let answers = node.handle(.written(room: "r", .success(1))).dropFirst()
        #expect(answers == [.answer(requester, .local(claim.epoch)), .answer(RequesterID(2), .local(claim.epoch))])
        // The join is over.
        node.pass(.milliseconds(250))
        node.handle(.closed(room: "r"))
        node.handle(.sought(room: "r", by: RequesterID(3)))
        node.handle(.written(room: "r", .success(2)))
        #expect(node.handle(.read(room: "r", .success(nil))) == [.answer(RequesterID(3), .notOpen)])
    }

    @Test func drainingNodeSaysSoOnlyOfRoomsThatGoOn() {
        let node = Node()
        node.handle(.drain)
        node.handle(.sought(room: "r", by: requester))
        #expect(node.handle(.read(room: "r", .success(nil))) == [.answer(requester, .notOpen)])
        node.handle(.sought(room: "r", by: requester))
        #expect(node.handle(.read(room: "r", stored(record(nil)))) == [.answer(requester, .draining)])
    }

    // MARK: Writes

    /// The replies of a join do not wait for the interval between writes.
    @Test func firstChangesAreWrittenAtOnce() throws {
        let node = Node()
        _ = try node.begin("r")
        try node.spendBurst(of: "r")
        #expect(node.handle(.changed(room: "r")).isEmpty, "the fifth write of a second waits")
    }

    @Test func changesAreWrittenTogetherFourTimesASecond() throws {
        let node = Node()
        let epoch = try node.begin("r")
        try node.spendBurst(of: "r")
        for _ in 0..<10 { #expect(node.handle(.changed(room: "r")).isEmpty) }
        #expect(node.pass(.milliseconds(249)).isEmpty)
        #expect(node.pass(.milliseconds(21)) == [.collect(room: "r", isLast: false)])
        let effects = node.handle(.collected(room: "r", snapshot: [9]))
        #expect(effects == [.write(room: "r", RoomRecord(epoch: epoch, home: node.local, snapshot: [9]), after: 4)])
        #expect(node.handle(.written(room: "r", .success(5))).isEmpty)
        #expect(node.pass(.seconds(1)).isEmpty, "nothing has changed")
    }

    @Test func promiseIsKeptByASnapshotThatWasCollectedAfterIt() throws {
        let node = Node()
        _ = try node.begin("r")
        #expect(node.handle(.promised(room: "r", PromiseID(1))) == [.collect(room: "r", isLast: false)])
        // Too late for the snapshot under way.
        node.handle(.promised(room: "r", PromiseID(2)))
        node.handle(.collected(room: "r", snapshot: [1]))
        #expect(node.handle(.written(room: "r", .success(2))) == [.kept(PromiseID(1)), .collect(room: "r", isLast: false)])
        node.handle(.collected(room: "r", snapshot: [2]))
        #expect(node.handle(.written(room: "r", .success(3))) == [.kept(PromiseID(2))])
    }

    @Test func promiseOutlivesAWriteWithoutAnswer() throws {
        let node = Node()
        let epoch = try node.begin("r")
        node.handle(.promised(room: "r", PromiseID(1)))
        node.pass(.milliseconds(270))
        node.handle(.collected(room: "r", snapshot: [1]))
        #expect(node.handle(.written(room: "r", .failure(.unavailable))).isEmpty)
        #expect(node.pass(.milliseconds(520)) == [.read(room: "r")])
        // It had been written.
        let written = RoomRecord(epoch: epoch, home: node.local, snapshot: [1])
        node.handle(.read(room: "r", stored(written, revision: 2)))
        node.pass(.milliseconds(20))
        node.handle(.collected(room: "r", snapshot: [1]))
        #expect(node.handle(.written(room: "r", .success(3))) == [.kept(PromiseID(1))])
    }

    @Test func roomsGoOnWithoutBrokerAndAreConfirmedAfterwards() throws {
        let node = Node()
        let epoch = try node.begin("r")
        node.handle(.disconnected)
        node.handle(.changed(room: "r"))
        #expect(node.pass(.seconds(30)).isEmpty)
        #expect(node.handle(.wanted(room: "r", by: requester)) == [.answer(requester, .local(epoch))])
        #expect(node.handle(.connected) == [.read(room: "r")])
    }

    // MARK: The end of a term

    @Test func refusedHomeStepsDown() throws {
        let node = Node()
        let epoch = try node.begin("r")
        node.handle(.promised(room: "r", PromiseID(1)))
        node.pass(.milliseconds(270))
        node.handle(.collected(room: "r", snapshot: [1]))
        #expect(node.handle(.written(room: "r", .failure(.conflict))) == [.read(room: "r")])
        let later = record(other, number: epoch.number + 1)
        #expect(
            node.handle(.read(room: "r", stored(later))) == [.broken(PromiseID(1)), .ended(room: "r", .lost(to: other))])
        #expect(node.machine.epoch(of: "r") == nil)
    }

    @Test func refusedHomeThatCannotLookStepsDownToo() throws {
        let node = Node()
        _ = try node.begin("r")
        node.handle(.changed(room: "r"))
        node.pass(.milliseconds(270))
        node.handle(.collected(room: "r", snapshot: [1]))
        node.handle(.written(room: "r", .failure(.conflict)))
        #expect(node.handle(.read(room: "r", .failure(.unavailable))) == [.ended(room: "r", .lost(to: nil))])
    }

    @Test func homeThatHasNothingToWriteNoticesATakeover() throws {
        let node = Node()
        let epoch = try node.begin("r")
        #expect(node.pass(.seconds(5)) == [.read(room: "r")])
        let effects = node.handle(.read(room: "r", stored(record(other, number: epoch.number + 1))))
        #expect(effects == [.ended(room: "r", .lost(to: other))])
    }

    @Test func recordOfAQuietRoomIsRefreshedBeforeItExpires() throws {
        let node = Node()
        let epoch = try node.begin("r")
        let record = RoomRecord(epoch: epoch, home: node.local, snapshot: [])
        node.now = node.now + ClusterLimits.refreshInterval
        #expect(node.handle(.deadlinePassed) == [.read(room: "r")])
        #expect(node.handle(.read(room: "r", stored(record, revision: 1))) == [.collect(room: "r", isLast: false)])
    }

    @Test func suspendedHomeConfirmsItsRoomsFirst() throws {
        let node = Node()
        _ = try node.begin("r")
        node.now = node.now + .seconds(10)
        #expect(node.handle(.changed(room: "r")).first == .read(room: "r"))
    }

    @Test func recordsThatTheBrokerHasLostAreWrittenAgain() throws {
        let node = Node()
        let epoch = try node.begin("r")
        node.handle(.disconnected)
        node.handle(.connected)
        #expect(node.handle(.read(room: "r", .success(nil))) == [.collect(room: "r", isLast: false)])
        let effects = node.handle(.collected(room: "r", snapshot: [7]))
        #expect(effects == [.write(room: "r", RoomRecord(epoch: epoch, home: node.local, snapshot: [7]), after: 0)])
    }

    /// The home with the higher epoch may write its record later, because its request was under way when the broker lost its data.
    @Test func homeWhoseRecordWasLostSoonNoticesAnotherHome() throws {
        let node = Node()
        let epoch = try node.begin("r")
        node.handle(.disconnected)
        node.handle(.connected)
        node.handle(.read(room: "r", .success(nil)))
        node.handle(.collected(room: "r", snapshot: []))
        node.handle(.written(room: "r", .success(1)))
        #expect(node.pass(.seconds(1)) == [.read(room: "r")])
        let later = RoomRecord(epoch: RoomEpoch(number: epoch.number + 1, claim: 1), home: other, snapshot: [])
        #expect(node.handle(.read(room: "r", stored(later))) == [.ended(room: "r", .lost(to: other))])
    }

    @Test func homeWhoseEffectsTheStoreRefusesRaisesItsEpoch() throws {
        let node = Node()
        _ = try node.begin("r")
        node.handle(.superseded(room: "r", byNumber: 7))
        // The broker has lost the record of the higher epoch.
        node.handle(.read(room: "r", .success(nil)))
        let effects = node.handle(.collected(room: "r", snapshot: []))
        guard case .write("r", let record, after: 0)? = effects.first else { throw UnexpectedEffects(effects) }
        #expect(record.epoch.number == 8)
        #expect(node.handle(.written(room: "r", .success(2))) == [.raised(room: "r", record.epoch)])
    }

    @Test func movedRoomIsVacantWithItsLastSnapshot() throws {
        let node = Node()
        let epoch = try node.begin("r")
        #expect(node.handle(.moved(room: "r")) == [.collect(room: "r", isLast: true)])
        let effects = node.handle(.collected(room: "r", snapshot: [5]))
        #expect(effects == [.write(room: "r", RoomRecord(epoch: epoch, home: nil, snapshot: [5]), after: 1)])
        #expect(node.handle(.written(room: "r", .success(2))) == [.ended(room: "r", .moved)])
    }

    @Test func roomThatCouldNotMoveGoesOn() throws {
        let node = Node()
        _ = try node.begin("r")
        node.handle(.moved(room: "r"))
        node.pass(.milliseconds(270))
        node.handle(.collected(room: "r", snapshot: [5]))
        #expect(node.handle(.written(room: "r", .failure(.unavailable))) == [.resumed(room: "r")])
    }

    @Test func closedRoomLeavesItsEpochBehind() throws {
        let node = Node()
        let epoch = try node.begin("r")
        node.pass(.milliseconds(250))
        let effects = node.handle(.closed(room: "r"))
        #expect(effects == [.write(room: "r", RoomRecord(epoch: epoch, home: nil, snapshot: []), after: 1)])
        #expect(node.handle(.promised(room: "r", PromiseID(1))) == [.broken(PromiseID(1))])
        #expect(node.handle(.written(room: "r", .success(2))) == [.ended(room: "r", .closed)])
    }

    @Test(arguments: [false, true]) func roomThatClosesDuringAWriteIsWrittenAgainWithoutItsSnapshot(isCollected: Bool) throws {
        let node = Node()
        let epoch = try node.begin("r")
        #expect(node.handle(.changed(room: "r")) == [.collect(room: "r", isLast: false)])
        var effects: [ClusterStateMachine.Effect] = []
        if isCollected {
            node.handle(.collected(room: "r", snapshot: [5]))
            #expect(node.handle(.closed(room: "r")).isEmpty)
            effects = node.handle(.written(room: "r", .success(2))) + node.pass(.seconds(1))
        } else {
            #expect(node.handle(.closed(room: "r")).isEmpty)
            effects = node.handle(.collected(room: "r", snapshot: [5]))
        }
        #expect(effects == [.write(room: "r", RoomRecord(epoch: epoch, home: nil, snapshot: []), after: isCollected ? 2 : 1)])
        #expect(node.handle(.written(room: "r", .success(3))) == [.ended(room: "r", .closed)])
    }

    @Test(arguments: [false, true]) func roomThatIsToMoveDuringAWriteMovesWithItsLastSnapshot(isCollected: Bool) throws {
        let node = Node()
        let epoch = try node.begin("r")
        let home = RoomRecord(epoch: epoch, home: node.local, snapshot: [5])
        node.handle(.changed(room: "r"))
        if isCollected {
            #expect(node.handle(.collected(room: "r", snapshot: [5])) == [.write(room: "r", home, after: 1)])
            #expect(node.handle(.moved(room: "r")).isEmpty)
        } else {
            #expect(node.handle(.moved(room: "r")).isEmpty)
            #expect(node.handle(.collected(room: "r", snapshot: [5])) == [.write(room: "r", home, after: 1)], "not halted")
        }
        let effects = node.handle(.written(room: "r", .success(2))) + node.pass(.seconds(1))
        #expect(effects == [.collect(room: "r", isLast: true)])
        let last = RoomRecord(epoch: epoch, home: nil, snapshot: [6])
        #expect(node.handle(.collected(room: "r", snapshot: [6])) == [.write(room: "r", last, after: 2)])
        #expect(node.handle(.written(room: "r", .success(3))) == [.ended(room: "r", .moved)])
    }

    /// The record of a write that was under way has the epoch that the store refuses.
    @Test func epochIsRaisedOnlyByAWriteThatCarriesIt() throws {
        let node = Node()
        let epoch = try node.begin("r")
        node.handle(.changed(room: "r"))
        node.handle(.collected(room: "r", snapshot: [5]))
        node.handle(.superseded(room: "r", byNumber: epoch.number + 1))
        let effects = node.handle(.written(room: "r", .success(2))) + node.pass(.seconds(1))
        #expect(effects == [.read(room: "r")])
        #expect(node.machine.epoch(of: "r") == epoch)
        let taken = stored(record(other, number: epoch.number + 1))
        #expect(node.handle(.read(room: "r", taken)).contains(.ended(room: "r", .lost(to: other))))
    }

    @Test func whoeverWantsARoomThatEndsGetsANewOne() throws {
        let node = Node()
        let epoch = try node.begin("r")
        node.pass(.milliseconds(250))
        node.handle(.closed(room: "r"))
        #expect(node.handle(.wanted(room: "r", by: requester)).isEmpty)
        #expect(node.handle(.written(room: "r", .success(2))) == [.ended(room: "r", .closed), .read(room: "r")])
        node.handle(.read(room: "r", stored(RoomRecord(epoch: epoch, home: nil, snapshot: []), revision: 2)))
        node.handle(.written(room: "r", .success(3)))
        #expect(node.machine.epoch(of: "r")?.number == epoch.number + 1)
    }
}

struct RoomRecordTests {
    private let record = RoomRecord(
        epoch: RoomEpoch(number: 3, claim: .max), home: NodeIdentity(name: "b", incarnation: 1), snapshot: [0, 10, 255])

    @Test func recordsSurviveCoding() {
        #expect(RoomRecord(record.bytes) == record)
        let vacant = RoomRecord(epoch: record.epoch, home: nil, snapshot: [])
        #expect(RoomRecord(vacant.bytes) == vacant)
    }

    @Test func fieldsOfLaterVersionsAreWrittenBack() throws {
        let later = Array(#"{"zone":{"name":"x"},"#.utf8) + record.bytes.dropFirst()
        var read = try #require(RoomRecord(later))
        #expect(read != record)
        read.snapshot = [1]
        let text = String(decoding: read.bytes, as: UTF8.self)
        #expect(text.contains(#""zone":{"name":"x"}"#))
    }

    @Test func everythingElseIsNoRecord() {
        for text in [
            "", "\n", "{}\n", #"{"epoch":"1"}"#, #"{"epoch":1,"claim":"1"}"# + "\n", #"{"epoch":"1","claim":"1","home":"b"}"# + "\n",
        ] {
            #expect(RoomRecord(Array(text.utf8)) == nil, "\(text)")
        }
    }
}

package import Wire

/// One node's view of the cluster: which nodes run, and of which rooms this node is the home.
///
/// Driven like a room: `handle(_:at:into:)` takes an input and appends effects in order; `deadline` is when it must be called again.
/// Deterministic: no I/O, no clock; random numbers come from the seed.
///
/// A room's home is the node of the highest epoch that the broker's bucket has or has had for it. A node becomes the home by replacing the
/// record that it has read (compare-and-set), which it does only for a room without a home, or whose home has ended. From then on each
/// write names the revision before it. A refused write, or a record with a higher epoch, ends the term.
///
/// Invariants:
/// - No two terms have the same epoch.
/// - Every `wanted` and every `sought` gets exactly one `answer`, and every promise is kept or broken exactly once.
/// - A promise is kept only after the record holds a snapshot that was collected after the promise was given, or while the broker refuses
///   the room's snapshots.
/// - `began` and `ended` of a room alternate.
/// - Without a connection to the broker, no term begins, and terms continue until another node considers this one ended.
package struct ClusterStateMachine: Sendable {
    private enum Phase {
        /// Reads the record in order to answer.
        case reading(attempt: Int)
        case claiming(RoomRecord, former: NodeIdentity?, attempt: Int, since: Instant)
        case home(RoomTerm)
        /// The term is over, but an operation of it is under way, whose answer must not be taken for that of a later one.
        case left
    }

    private struct Entry {
        var phase: Phase
        var waiting: [RequesterID] = []
        /// One of those who wait begins the room if nobody has it.
        var mayBegin = false
    }

    private var nodes: Membership
    private var beat: NodeBeat
    private var beatAt: Instant
    private var passedAt: Instant
    /// Time for the next `deadlinePassed`. Changes only in `handle`.
    package private(set) var deadline: Instant
    private var rooms: [String: Entry] = [:]
    private var random: SplitMix64

    /// - Parameters:
    ///   - beat: the first beat of this node.
    ///   - seed: must differ between runs of the process.
    package init(_ beat: NodeBeat, seed: UInt64, at now: Instant) {
        self.beat = beat
        nodes = Membership(local: beat.node, at: now)
        (beatAt, passedAt, deadline) = (now, now, now)
        random = SplitMix64(seed: seed)
    }

    package var local: NodeIdentity { beat.node }

    /// The epoch of a room whose home is this node.
    package func epoch(of room: String) -> RoomEpoch? {
        guard case .home(let term)? = rooms[room]?.phase else { return nil }
        return term.epoch
    }

    /// The rooms whose home is this node.
    package var homeRooms: [String] { rooms.keys.filter { epoch(of: $0) != nil } }

    /// Whether the broker returns this node's beats. If not, the silence of others says nothing about them.
    package func hearsItself(at now: Instant) -> Bool { nodes.hearsItself(at: now) }

    /// The other nodes that are running.
    package func others(at now: Instant) -> [NodeBeat] { nodes.running(at: now) }

    package mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
        // Beats were missed, and rooms may have been taken over.
        if nodes.noteTime(now) { doubtAll(at: now, into: &effects) }
        switch input {
        case .connected:
            nodes.connected()
            doubtAll(at: now, into: &effects)
        case .disconnected: nodes.disconnected()
        case .received(let beat): received(beat, at: now, into: &effects)
        case .wanted(let room, let requester): want(room, by: requester, mayBegin: true, at: now, into: &effects)
        case .sought(let room, let requester): want(room, by: requester, mayBegin: false, at: now, into: &effects)
        case .changed(let room): withTerm(of: room, at: now, into: &effects) { $0.changed() }
        case .promised(let room, let promise):
            var promised = RoomTerm.Promised.broken
            withTerm(of: room, at: now, into: &effects) { promised = $0.promise(promise) }
            if promised != .waits { effects.append(promised == .kept ? .kept(promise) : .broken(promise)) }
        case .collected(let room, let snapshot): collected(snapshot, of: room, at: now, into: &effects)
        case .closed(let room): withTerm(of: room, at: now, into: &effects) { $0.end(.closed, at: now) }
        case .moved(let room): withTerm(of: room, at: now, into: &effects) { $0.end(.moved, at: now) }
        case .superseded(let room, let number):
            let claim = random.next()
            withTerm(of: room, at: now, into: &effects) { $0.superseded(by: number, claim: claim, at: now) }
        case .read(let room, let result): read(result, of: room, at: now, into: &effects)
        case .written(let room, let result): written(result, of: room, at: now, into: &effects)
        case .takenForEnded: stepDown(at: now, into: &effects)
        case .drain: beat.isDraining = true
        case .measured(let load): beat.load = load
        case .deadlinePassed: pass(at: now, into: &effects)
        }
    }

    // MARK: Nodes

    private mutating func received(_ beat: NodeBeat, at now: Instant, into effects: inout [Effect]) {
        nodes.received(beat, at: now)
        if nodes.mustYieldName(to: beat.node) { effects.append(.nameTaken) }
    }

    private mutating func pass(at now: Instant, into effects: inout [Effect]) {
        if now >= beatAt {
            beatAt = now + ClusterLimits.beatInterval
            beat.number += 1
            effects.append(.publish(beat))
            nodes.removeEnded(at: now)
        }
        (passedAt, deadline) = (now, beatAt)
        for room in homeRooms.sorted() { advance(room, at: now, into: &effects) }
    }

    // MARK: Rooms without this node as their home

    private mutating func want(
        _ room: String, by requester: RequesterID, mayBegin: Bool, at now: Instant, into effects: inout [Effect]
    ) {
        switch rooms[room]?.phase {
        case .home(let term) where term.ending == nil: effects.append(.answer(requester, .local(term.epoch)))
        case .some:
            rooms[room]?.waiting.append(requester)
            if mayBegin { rooms[room]?.mayBegin = true }
        case nil where !nodes.isConnected: effects.append(.answer(requester, .unavailable))
        case nil:
            rooms[room] = Entry(phase: .reading(attempt: 1), waiting: [requester], mayBegin: mayBegin)
            effects.append(.read(room: room))
        }
    }

    private mutating func answerAll(of room: String, _ answer: Answer, into effects: inout [Effect]) {
        for requester in rooms[room]?.waiting ?? [] { effects.append(.answer(requester, answer)) }
        rooms[room]?.waiting = []
        rooms[room]?.mayBegin = false
    }

    /// Ends the attempt to learn a room's home.
    private mutating func conclude(_ room: String, _ answer: Answer, into effects: inout [Effect]) {
        answerAll(of: room, answer, into: &effects)
        rooms[room] = nil
    }

    /// Whether those who wait for a room need its home: it has one, or is to go on or to begin here.
    private func isNeeded(_ room: String, _ record: RoomRecord?, at now: Instant) -> Bool {
        if rooms[room]?.mayBegin == true { return true }
        guard let record else { return false }
        return !record.snapshot.isEmpty || record.home.map { $0 != local && !nodes.hasEnded($0, at: now) } ?? false
    }

    /// The record that was read for a claim.
    private mutating func consider(
        _ found: (RoomRecord, revision: UInt64)?, _ room: String, attempt: Int, at now: Instant, into effects: inout [Effect]
    ) {
        let former = found?.0.home
        // A record of this node itself is left by a claim whose answer was lost.
        if let former, former != local, !nodes.hasEnded(former, at: now) { return conclude(room, .elsewhere(former), into: &effects) }
        // Others would go on to send clients here.
        guard !beat.isDraining || former == local else { return conclude(room, .draining, into: &effects) }
        var record = found?.0 ?? RoomRecord(epoch: RoomEpoch(number: 0, claim: 0), home: nil, snapshot: [])
        record.epoch = RoomEpoch(number: record.epoch.number + 1, claim: random.next())
        record.home = local
        rooms[room]?.phase = .claiming(record, former: former, attempt: attempt, since: now)
        effects.append(.write(room: room, record, after: found?.revision ?? 0))
    }

    private mutating func claimed(
        _ room: String, _ record: RoomRecord, former: NodeIdentity?, attempt: Int, _ result: Result<UInt64, BrokerError>,
        at now: Instant, into effects: inout [Effect]
    ) {
        switch result {
        case .success(let revision):
            rooms[room]?.phase = .home(RoomTerm(record, revision: revision, at: now))
            effects.append(.began(room: room, record.epoch, snapshot: record.snapshot, former: former))
            answerAll(of: room, beat.isDraining ? .draining : .local(record.epoch), into: &effects)
            if beat.isDraining { withTerm(of: room, at: now, into: &effects) { $0.end(.moved, at: now) } }
        case .failure(.conflict) where attempt < ClusterLimits.claimAttemptsMax:
            rooms[room]?.phase = .reading(attempt: attempt + 1)
            effects.append(.read(room: room))
        case .failure: conclude(room, .unavailable, into: &effects)
        }
    }

    // MARK: Rooms with this node as their home

    private mutating func withTerm(
        of room: String, at now: Instant, into effects: inout [Effect], _ change: (inout RoomTerm) -> Void
    ) {
        guard case .home(var term)? = rooms[room]?.phase else { return }
        change(&term)
        rooms[room]?.phase = .home(term)
        advance(room, at: now, into: &effects)
    }

    private mutating func doubtAll(at now: Instant, into effects: inout [Effect]) {
        for room in homeRooms.sorted() { withTerm(of: room, at: now, into: &effects) { $0.doubtRevision(at: now) } }
    }

    /// Ends all terms if this node is cut off from the broker: what it would acknowledge from now on could be lost.
    private mutating func stepDown(at now: Instant, into effects: inout [Effect]) {
        guard !nodes.hearsItself(at: now) else { return }
        for room in homeRooms.sorted() {
            guard case .home(let term)? = rooms[room]?.phase else { continue }
            guard term.operation != nil else {
                end(term, of: room, .lost(to: nil), into: &effects)
                continue
            }
            effects += term.open.map(Effect.broken) + [.ended(room: room, .lost(to: nil))]
            rooms[room]?.phase = .left
        }
    }

    private mutating func advance(_ room: String, at now: Instant, into effects: inout [Effect]) {
        guard nodes.isConnected, case .home(var term)? = rooms[room]?.phase else { return }
        if let step = term.next(at: now) {
            rooms[room]?.phase = .home(term)
            append(step, of: room, into: &effects)
        } else if let wanted = term.deadline {
            // All terms are visited then, so not too often.
            deadline = min(deadline, max(wanted, passedAt + ClusterLimits.passInterval))
        }
    }

    private func append(_ step: RoomTerm.Step, of room: String, into effects: inout [Effect]) {
        switch step {
        case .read: effects.append(.read(room: room))
        case .collect(let isLast): effects.append(.collect(room: room, isLast: isLast))
        case .write(let record, let revision): effects.append(.write(room: room, record, after: revision))
        }
    }

    private mutating func collected(_ snapshot: [UInt8], of room: String, at now: Instant, into effects: inout [Effect]) {
        if case .left? = rooms[room]?.phase { return askAnew(room, into: &effects) }
        guard case .home(var term)? = rooms[room]?.phase else { return }
        let step = term.collected(snapshot, home: local)
        rooms[room]?.phase = .home(term)
        guard let step else {
            if term.ending == .moved { effects.append(.resumed(room: room)) }
            return advance(room, at: now, into: &effects)
        }
        append(step, of: room, into: &effects)
    }

    private mutating func read(
        _ result: Result<StoredRecord?, BrokerError>, of room: String, at now: Instant, into effects: inout [Effect]
    ) {
        let found = result.flatMap { stored -> Result<(RoomRecord, revision: UInt64)?, BrokerError> in
            guard let stored else { return .success(nil) }
            guard let record = RoomRecord(stored.value) else { return .failure(.refused("not a room's record")) }
            return .success((record, revision: stored.revision))
        }
        switch rooms[room]?.phase {
        case .reading(let attempt):
            switch found {
            case .success(let found) where !isNeeded(room, found?.0, at: now): conclude(room, .notOpen, into: &effects)
            case .success(let found): consider(found, room, attempt: attempt, at: now, into: &effects)
            case .failure: conclude(room, .unavailable, into: &effects)
            }
        case .home(var term):
            let outcome = term.read(found, at: now)
            conclude(term, of: room, outcome, at: now, into: &effects)
        case .left: askAnew(room, into: &effects)
        default: break
        }
    }

    private mutating func written(
        _ result: Result<UInt64, BrokerError>, of room: String, at now: Instant, into effects: inout [Effect]
    ) {
        switch rooms[room]?.phase {
        case .claiming(let record, let former, let attempt, let since):
            // Meanwhile this node may have been taken for ended, and the room taken over.
            let isLate = now - since >= ClusterLimits.nodeSilence
            claimed(
                room, record, former: former, attempt: attempt, isLate ? .failure(.conflict) : result, at: now, into: &effects)
        case .home(var term):
            let outcome = term.written(result, at: now)
            if case .failure = result, term.ending == .moved { effects.append(.resumed(room: room)) }
            conclude(term, of: room, outcome, at: now, into: &effects)
        case .left: askAnew(room, into: &effects)
        default: break
        }
    }

    private mutating func conclude(
        _ term: RoomTerm, of room: String, _ outcome: RoomTerm.Outcome, at now: Instant, into effects: inout [Effect]
    ) {
        rooms[room]?.phase = .home(term)
        switch outcome {
        case .continues(let kept): effects += kept.map(Effect.kept)
        case .raised(let kept): effects += [.raised(room: room, term.epoch)] + kept.map(Effect.kept)
        case .refused(let reason, let kept): effects += [.refused(room: room, reason)] + kept.map(Effect.kept)
        case .ended(let ending, let kept):
            effects += kept.map(Effect.kept)
            return end(term, of: room, ending == .closed ? .closed : .moved, into: &effects)
        case .lost(let home): return end(term, of: room, .lost(to: home), into: &effects)
        }
        advance(room, at: now, into: &effects)
    }

    private mutating func end(_ term: RoomTerm, of room: String, _ reason: EndReason, into effects: inout [Effect]) {
        effects += term.open.map(Effect.broken) + [.ended(room: room, reason)]
        askAnew(room, into: &effects)
    }

    /// Reads the record again for the requesters that are waiting for the room.
    private mutating func askAnew(_ room: String, into effects: inout [Effect]) {
        let mayBegin = rooms[room]?.mayBegin ?? false
        let waiting = rooms[room]?.waiting ?? []
        rooms[room] = nil
        guard !waiting.isEmpty else { return }
        rooms[room] = Entry(phase: .reading(attempt: 1), waiting: waiting, mayBegin: mayBegin)
        effects.append(.read(room: room))
    }
}

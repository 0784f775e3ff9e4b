internal import Synchronization
package import Wire

/// Runs one node's decisions on a broker: passes on what others ask, and performs what `ClusterStateMachine` decides.
///
/// The state machine belongs to the task that calls `run()`; others reach it through an inbox, from any thread.
package final class ClusterNode: Sendable {
    /// The rooms of this node, as their shards have them. Called in order by `run()`.
    package protocol Rooms: Sendable {
        /// This node is the home of a room. The snapshot is empty for a new one.
        func began(_ room: String, _ epoch: RoomEpoch, snapshot: [UInt8], former: NodeIdentity?)
        /// Durable effects of the room carry this epoch from now on.
        func raised(_ room: String, _ epoch: RoomEpoch)
        /// This node is not the room's home any more.
        func ended(_ room: String, _ reason: ClusterStateMachine.EndReason)
        /// Calls back with the room's present state, from any thread.
        ///
        /// - Parameter isLast: the room stands still until `ended` or `resumed`.
        func collect(_ room: String, isLast: Bool, completion: @escaping @Sendable ([UInt8]) -> Void)
        /// A room that stood still goes on here.
        func resumed(_ room: String)
        /// The broker refuses the room's snapshots, so that changes do not outlive this node. Called once, and again only after it has accepted one.
        func refused(_ room: String, reason: String)
        /// Another node of this name was first, and this one has to end.
        func nameTaken()
        /// The set of other running nodes or the state of one of them has changed; a load changes about once a second.
        func nodesChanged(_ running: [NodeBeat])
    }

    /// The subject on which nodes announce themselves.
    package static let beatSubject = "patchbay.beats"

    private struct Inbox {
        var inputs: [ClusterStateMachine.Input] = []
        /// Rooms that have changed, so that any number of changes is one input.
        var changed: Set<String> = []
        var answers: [RequesterID: @Sendable (ClusterStateMachine.Answer) -> Void] = [:]
        var promises: [PromiseID: @Sendable (Bool) -> Void] = [:]
        /// In their order, also of promises that have been kept.
        var deadlines: [(promise: PromiseID, at: Instant)] = []
        var lastNumber: UInt64 = 0
        var isOver = false
    }

    private let broker: any Broker
    private let rooms: any Rooms
    private let beat: NodeBeat
    private let seal: BeatSeal
    private let promiseMax: Duration
    private let inbox = Mutex(Inbox())
    /// When this node last received a beat of its own, on the monotonic clock, in nanoseconds.
    private let echoedAt = Atomic<UInt64>(0)
    /// When the latest turn of the loop began.
    private let ranAt = Atomic<UInt64>(Instant.now.nanoseconds)
    /// When its beats began to come back after a silence.
    private let heardSince = Atomic<UInt64>(0)
    private let wakeUps: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - beat: the first beat of this node.
    ///   - seal: of beats on the broker.
    ///   - promiseMax: the time for which a promise waits for the broker.
    package init(
        _ beat: NodeBeat, broker: any Broker, rooms: any Rooms, seal: BeatSeal = BeatSeal(), promiseMax: Duration = ClusterLimits.promiseMax
    ) {
        (self.beat, self.broker, self.rooms, self.seal, self.promiseMax) = (beat, broker, rooms, seal, promiseMax)
        // Several are as good as one.
        (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: Requests

    /// The home of a room, which becomes this node if nobody has the room. Unavailable if `ClusterLimits.waitingMax` others wait.
    ///
    /// - Parameters:
    ///   - ifOpen: only if the room is open, or can go on from its snapshot; otherwise it is `notOpen`.
    ///   - completion: called on the task of `run()`, after `Rooms.began`.
    package func findHome(
        of room: String, ifOpen: Bool = false, completion: @escaping @Sendable (ClusterStateMachine.Answer) -> Void
    ) {
        let isPosted = inbox.withLock { inbox in
            guard !inbox.isOver, inbox.answers.count < ClusterLimits.waitingMax else { return false }
            inbox.lastNumber += 1
            inbox.answers[RequesterID(inbox.lastNumber)] = completion
            let requester = RequesterID(inbox.lastNumber)
            inbox.inputs.append(ifOpen ? .sought(room: room, by: requester) : .wanted(room: room, by: requester))
            return true
        }
        if isPosted { wakeUp.yield() } else { completion(.unavailable) }
    }

    package func home(of room: String, ifOpen: Bool = false) async -> ClusterStateMachine.Answer {
        await withCheckedContinuation { continuation in findHome(of: room, ifOpen: ifOpen) { continuation.resume(returning: $0) } }
    }

    /// Notes a change of a room's state; it is written soon.
    package func changed(_ room: String) {
        let isFirst = inbox.withLock { $0.changed.insert(room).inserted }
        if isFirst { wakeUp.yield() }
    }

    /// Calls back once the broker has the room's present state, from any thread, or after `promiseMax`.
    ///
    /// - Parameter completion: gets false if the room has another home now or has ended, or `ClusterLimits.waitingMax` promises wait.
    package func promise(_ room: String, completion: @escaping @Sendable (Bool) -> Void) {
        let isPosted = inbox.withLock { inbox in
            guard !inbox.isOver, inbox.promises.count < ClusterLimits.waitingMax else { return false }
            inbox.lastNumber += 1
            inbox.promises[PromiseID(inbox.lastNumber)] = completion
            inbox.deadlines.append((PromiseID(inbox.lastNumber), .now + promiseMax))
            inbox.inputs.append(.promised(room: room, PromiseID(inbox.lastNumber)))
            return true
        }
        if isPosted { wakeUp.yield() } else { completion(false) }
    }

    /// Passes on the end or the move of a room, a refused effect, the node's load, or a drain.
    package func post(_ input: ClusterStateMachine.Input) {
        inbox.withLock { $0.inputs.append(input) }
        wakeUp.yield()
    }

    /// Passes on an event of the broker. Messages that are no beats are ignored.
    package func handle(_ event: BrokerEvent) {
        switch event {
        case .connected: post(.connected)
        case .disconnected: post(.disconnected)
        case .received(let bytes, _):
            guard let received = seal.open(bytes).flatMap(NodeBeat.init) else { return }
            if received.node == beat.node { noteEcho(at: .now) }
            post(.received(received))
        }
    }

    private func noteEcho(at now: Instant) {
        if !hearsItself { heardSince.store(now.nanoseconds, ordering: .relaxed) }
        echoedAt.store(now.nanoseconds, ordering: .releasing)
    }

    /// For how long the broker has returned this node's beats, if it does.
    package var hearingSpan: Duration { Instant.now - Instant(nanoseconds: heardSince.load(ordering: .relaxed)) }

    /// Whether the broker returns this node's beats. If not, the silence of others says nothing about them.
    package var hearsItself: Bool { echoAge < ClusterLimits.echoSilence }

    /// The time from the latest beat of this node that the broker returned to the latest turn of the loop. It excludes time in which the process
    /// was suspended: otherwise, the first caller after a suspension would conclude that the broker is away.
    package var echoAge: Duration {
        Instant(nanoseconds: ranAt.load(ordering: .acquiring)) - Instant(nanoseconds: echoedAt.load(ordering: .acquiring))
    }

    /// Excludes time in which the process was suspended from the broker's silence and from the waits of promises.
    private func noteRun(at now: Instant) {
        let gap = now - Instant(nanoseconds: ranAt.exchange(now.nanoseconds, ordering: .acquiringAndReleasing))
        guard gap >= ClusterLimits.suspensionMin else { return }
        let echoed = Instant(nanoseconds: echoedAt.load(ordering: .relaxed)) + gap
        echoedAt.store(min(echoed, now).nanoseconds, ordering: .releasing)
        inbox.withLock { inbox in
            for index in inbox.deadlines.indices {
                inbox.deadlines[index].at = min(inbox.deadlines[index].at + gap, now + promiseMax)
            }
        }
    }

    // MARK: The loop

    /// Runs until the task is cancelled. Requests that wait then are answered with `unavailable`, and promises with false.
    package func run() async {
        var machine = ClusterStateMachine(beat, seed: .random(in: 0 ... .max), at: .now)
        var others: [NodeBeat] = []
        var pace = Pace(at: .now)
        let timer = Task { [wakeUp] in
            while !Task.isCancelled {
                try? await Task.sleep(for: ClusterLimits.passInterval)
                wakeUp.yield()
            }
        }
        for await _ in wakeUps {
            noteRun(at: .now)
            let (inputs, changed) = inbox.withLock { inbox in
                defer { (inbox.inputs, inbox.changed) = ([], []) }
                return (inbox.inputs, inbox.changed)
            }
            var effects: [ClusterStateMachine.Effect] = []
            // One write is enough for a change and for the promise of its reply.
            let promised = Set(inputs.compactMap { if case .promised(let room, _) = $0 { room } else { nil } })
            for room in changed.subtracting(promised) { machine.handle(.changed(room: room), at: .now, into: &effects) }
            for input in inputs { machine.handle(input, at: .now, into: &effects) }
            if machine.deadline <= .now { machine.handle(.deadlinePassed, at: .now, into: &effects) }
            let running = machine.others(at: .now)
            // The number differs in every beat.
            let states = running.map { beat in
                var state = beat
                state.number = 0
                return state
            }
            if states != others {
                others = states
                rooms.nodesChanged(running)
            }
            for effect in effects { execute(effect) }
            endOldPromises(at: .now)
            if pace.isHigh(after: inputs.count + changed.count, at: .now) { try? await Task.sleep(for: Pace.interval) }
        }
        timer.cancel()
        let (answers, promises) = inbox.withLock { inbox in
            defer { (inbox.answers, inbox.promises, inbox.deadlines, inbox.inputs, inbox.isOver) = ([:], [:], [], [], true) }
            return (inbox.answers, inbox.promises)
        }
        for answer in answers.values { answer(.unavailable) }
        for promise in promises.values { promise(false) }
    }

    /// Lets replies go that have waited for `promiseMax`, so that calls do not stall while the broker is away.
    private func endOldPromises(at now: Instant) {
        let completions = inbox.withLock { inbox in
            let old = inbox.deadlines.prefix { $0.at <= now }
            inbox.deadlines.removeFirst(old.count)
            return old.compactMap { inbox.promises.removeValue(forKey: $0.promise) }
        }
        for completion in completions { completion(true) }
    }

    private func execute(_ effect: ClusterStateMachine.Effect) {
        switch effect {
        case .publish(let beat): broker.publish(seal.close(beat.bytes), to: Self.beatSubject)
        case .read(let room): broker.read(Self.key(of: room)) { [weak self] in self?.post(.read(room: room, $0)) }
        case .write(let room, let record, let revision):
            broker.write(record.bytes, of: Self.key(of: room), after: revision) { [weak self] in self?.post(.written(room: room, $0)) }
        case .collect(let room, let isLast):
            rooms.collect(room, isLast: isLast) { [weak self] in self?.post(.collected(room: room, snapshot: $0)) }
        case .resumed(let room): rooms.resumed(room)
        case .answer(let id, let answer): inbox.withLock { $0.answers.removeValue(forKey: id) }?(answer)
        case .kept(let id): inbox.withLock { $0.promises.removeValue(forKey: id) }?(true)
        case .broken(let id): inbox.withLock { $0.promises.removeValue(forKey: id) }?(false)
        case .began(let room, let epoch, let snapshot, let former): rooms.began(room, epoch, snapshot: snapshot, former: former)
        case .raised(let room, let epoch): rooms.raised(room, epoch)
        case .ended(let room, let reason): rooms.ended(room, reason)
        case .refused(let room, let reason): rooms.refused(room, reason: reason)
        case .nameTaken: rooms.nameTaken()
        }
    }

    /// A key of the bucket, in which names of rooms may not occur as they are. The room without a name is the coordinator's.
    package static func key(of room: String) -> String {
        room.isEmpty ? "coordinator" : "room." + Base64.urlSafe.encode(Array(room.utf8))
    }
}

/// Protects beats on the broker, so that only nodes of the cluster can announce one. By default, they are sent as they are.
package struct BeatSeal: Sendable {
    var close: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    /// Returns nil for bytes that are not a sealed beat.
    var open: @Sendable ([UInt8]) -> [UInt8]? = { $0 }

    package init() {}

    package init(close: @escaping @Sendable ([UInt8]) -> [UInt8], open: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
        (self.close, self.open) = (close, open)
    }
}

/// Whether inputs come so fast that it is cheaper to gather them than to wake for each.
private struct Pace {
    /// The time for which inputs are gathered.
    static let interval = Duration.milliseconds(10)
    private static let span = Duration.milliseconds(100)
    private static let inputsMin = 20

    private var since: Instant
    private var count = 0
    private var isHigh = false

    init(at now: Instant) { since = now }

    mutating func isHigh(after inputs: Int, at now: Instant) -> Bool {
        count += inputs
        if now - since >= Self.span {
            isHigh = count >= Self.inputsMin
            (since, count) = (now, 0)
        }
        return isHigh
    }
}

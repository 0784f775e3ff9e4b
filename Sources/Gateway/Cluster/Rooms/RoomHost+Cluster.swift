internal import Backend
internal import Cluster
internal import Engine
internal import Logging
internal import Wire

/// Rooms that move between nodes: images for the cluster's record, rooms of other nodes, and the end of this node's term.
extension RoomHost {
    func execute(_ order: ClusterOrder) {
        switch order {
        case .restore(let restored, let done):
            restore(restored)
            done()
        case .takeImage(let name, let isLast, let reply): reply(takeImage(of: name, isLast: isLast))
        case .goOn(let name): goOn(with: name)
        case .endTerm(let name): endTerm(of: name)
        case .announceRooms: for hosted in table.open where !hosted.term.hasEnded { announce(hosted) }
        case .nodeEnded, .nodeDrains, .located, .checked, .closeChannels: break
        }
    }

    // MARK: Images

    /// The room's state differs from the latest image. Reported once until the next image is taken.
    func noteChange(of hosted: HostedRoom) {
        guard !hosted.term.isDirty, let cluster = context.gateway.cluster else { return }
        hosted.term.isDirty = true
        cluster.changed(hosted.name)
    }

    /// Sends a reply once the cluster's record has what it promises.
    func promise(_ reply: Room.Effect, to handle: ParticipantHandle, of hosted: HostedRoom) {
        guard let cluster = context.gateway.cluster, !AbsentParticipants.isAbsent(handle) else { return }
        // The promise causes a write of the record.
        hosted.term.isDirty = true
        cluster.promise(hosted.name) { [mailbox = context.gateway.mailboxes[Int(handle.shard)]] isKept in
            if isKept { mailbox.send(.effect(reply)) }
        }
    }

    private func takeImage(of name: String, isLast: Bool) -> RoomImage? {
        guard let index = table.index(named: name), let hosted = table[index] else { return nil }
        hosted.term.isDirty = false
        hosted.term.isHalted = isLast
        var image = hosted.room.image(at: context.now)
        image.takenAt = WallClock.milliseconds
        return image
    }

    /// Ends a halt, and applies the inputs that were held meanwhile.
    private func goOn(with name: String) {
        guard let index = table.index(named: name), let hosted = table[index], hosted.term.isHalted else { return }
        hosted.term.isHalted = false
        let held = hosted.term.heldInputs
        hosted.term.heldInputs = []
        for input in held { apply(input, to: index) }
    }

    // MARK: Terms

    /// The epoch in which this node is the room's home, or was last, because it may have lost the room a moment ago; nil without a cluster.
    func epoch(of hosted: HostedRoom) -> RoomEpoch? {
        guard let cluster = context.gateway.cluster else { return nil }
        if let epoch = cluster.epoch(of: hosted.name) { hosted.term.epoch = epoch }
        return hosted.term.epoch
    }

    private func restore(_ restored: RestoredRoom) {
        guard table.index(named: restored.name) == nil else { return }
        let handles = absent.makeHandles(restored.image.members.count)
        let reporting = reporting(of: restored.name)
        var settings = context.gateway.settings.room
        settings.reporting = reporting.settings
        let room = Room(
            restoring: restored.image, over: settings, seed: .random(in: 0 ... .max), resumeTokens: { $0.token($1) }, handles: handles,
            reason: restored.reason, after: restored.unseen, at: context.now)
        let index = insert(room, named: restored.name, isReported: reporting.isReported)
        absent.add(handles, epoch: restored.epoch)
        if let hosted = table[index] { announce(hosted) }
        context.log.notice(
            "restored a room of another node",
            metadata: ["room": "\(restored.name)", "participants": "\(handles.count)", "reason": "\(restored.reason)"])
        apply(.restored, to: index)
        context.wake(within: Housekeeping.busyInterval)
    }

    /// Tells the coordinator of an open room, in case it does not know it.
    private func announce(_ hosted: HostedRoom) {
        let (gateway, participants, epoch) = (context.gateway, hosted.room.participants, epoch(of: hosted))
        // Agents whose connection is lost resume; they are not asked for again.
        let present = participants.map(\.identity).filter { CallParty($0).isAssistant }
        gateway.dispatch?.post(.roomIsOpen(hosted.name, missing: hosted.room.agentsExpected, present: present, epoch: epoch))
        gateway.dispatch?.post(.attended(hosted.name, hosted.room.participantCount > 0, epoch: epoch))
        guard let call = CallRooms.call(of: hosted.name) else { return }
        for identity in participants.map(\.identity) {
            let change = CallRoomChange.joined(identity, media: hosted.room.callMedia(of: identity))
            gateway.calls?.post(.room(call, change, isLoss: false, epoch: epoch))
        }
    }

    /// Another node is the room's home, or will be: participants resume there. The room records nothing more.
    private func endTerm(of name: String) {
        guard let index = table.index(named: name), let hosted = table[index] else { return }
        let held = hosted.term.heldInputs
        hosted.term = HomeTerm(hasEnded: true)
        if let recording = hosted.room.recording { context.gateway.recordingLog?.finish(recording, .failed, at: WallClock.milliseconds) }
        apply(.abandoned, to: index)
        for case .joined(let handle, _) in held { route(.close(handle, .moved), to: handle) }
    }
}

extension Room.Input {
    /// Whether a reply promises a state that must survive this node.
    var promisesState: Bool {
        guard case .request(let request, _, _) = self else { return false }
        return switch request {
        case .publish, .unpublish, .mute, .updateParticipant, .hold, .segment, .agentState: true
        // Frames follow the reply to `subscribe`, and interruptions must not wait.
        default: false
        }
    }

    /// Whether the room's image may be another one after it.
    func changesImage(hasEffects: Bool) -> Bool {
        switch self {
        case .measured, .connectionMeasured, .talkStarted, .talkStopped, .connectionLost, .draining, .abandoned: false
        // Positions of playout.
        case .request(.playoutProgress, _, _), .playout(_, .received): true
        default: hasEffects
        }
    }
}

/// The part of a hosted room that concerns its home in the cluster.
struct HomeTerm {
    /// Inputs that wait while a room is halted; further ones are dropped.
    static let heldInputsMax = 1_000

    /// The state differs from the latest image.
    var isDirty = false
    /// Nothing may change, because the last image has been taken.
    var isHalted = false
    var heldInputs: [Room.Input] = []
    /// Another node is the home: nothing is recorded any more.
    var hasEnded = false
    /// As of the latest report (`RoomHost.epoch(of:)`).
    var epoch: RoomEpoch?

    mutating func hold(_ input: Room.Input) {
        // The deadline is checked again.
        if case .deadlinePassed = input { return }
        if heldInputs.count < Self.heldInputsMax { heldInputs.append(input) }
    }
}

/// The participants of restored rooms that have not resumed on this node. Their events are numbered and kept as for any lost connection.
///
/// Their handles name no shard. Numbers begin at the epoch's, so that they are higher than all that earlier homes have used.
struct AbsentParticipants {
    private let shard: UInt16
    private var logs: [ParticipantHandle: EventLog] = [:]
    private var lastSlot: UInt32 = 0

    /// A home numbers fewer events than this.
    private static let numbersPerEpoch: UInt64 = 1 << 32
    /// Numbers stay below 2⁵³, the limit of JSON numbers in JavaScript.
    private static let epochsMax: UInt64 = 1 << 20

    /// - Parameter index: of the shard whose rooms these are.
    init(shard index: Int) { shard = .max - UInt16(index) }

    var isEmpty: Bool { logs.isEmpty }

    /// Whether a handle names a connection that no shard of this node has.
    static func isAbsent(_ handle: ParticipantHandle) -> Bool { handle.shard > .max / 2 }

    mutating func makeHandles(_ count: Int) -> [ParticipantHandle] {
        (0..<count).map { _ in
            lastSlot &+= 1
            return ParticipantHandle(shard: shard, slot: lastSlot, generation: 0)
        }
    }

    mutating func add(_ handles: [ParticipantHandle], epoch: RoomEpoch) {
        let start = min(epoch.number, Self.epochsMax) * Self.numbersPerEpoch
        for handle in handles { logs[handle] = EventLog(after: start) }
    }

    mutating func log(_ event: EncodedEvent, for handle: ParticipantHandle, at now: Instant) {
        _ = logs[handle]?.append(event, at: now)
    }

    /// Its log, when it resumes.
    mutating func take(_ handle: ParticipantHandle) -> EventLog? { logs.removeValue(forKey: handle) }

    mutating func remove(_ handle: ParticipantHandle) { logs[handle] = nil }
}

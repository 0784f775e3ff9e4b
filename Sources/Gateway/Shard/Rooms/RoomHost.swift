internal import Backend
internal import Engine
internal import Logging
internal import Wire

/// Hosts the rooms whose home is this shard: passes inputs to them and performs their effects, here or on the shards of the participants.
///
/// A room is homed on one shard; its participants' sockets may be on any. Joins, requests and measurements go to the home, effects
/// return, and frames go directly from the publisher's shard to the subscribers'.
final class RoomHost {
    let context: ShardContext
    let slots: SlotTable<ParticipantConnection>
    let control: ControlWriter
    // Unowned: both own the host. Set once by `connect`, before the shard serves; not used on a frame's way.
    unowned private(set) var media: MediaRelay!
    unowned private(set) var sessions: ParticipantSessions!
    private(set) var table = RoomTable()
    /// Participants of these rooms whose sockets are on other shards.
    private var remoteParticipants: [ParticipantHandle: RemoteParticipant] = [:]
    var execution = EffectExecution()
    private var playoutReports = PlayoutReportQueue()

    struct RemoteParticipant {
        let room: Int
        var cost = CostBudget()
    }

    /// The state of performing effects, which may nest: performing an effect can bring about another input.
    struct EffectExecution {
        var depth = 0
        /// Bytes of the events sent by the current input, times their recipients.
        var sentBytes = 0
        /// An empty buffer that is reused, so that an input allocates none.
        var spareBuffer: [Room.Effect] = []
    }

    init(_ context: ShardContext, _ slots: SlotTable<ParticipantConnection>, _ control: ControlWriter) {
        self.context = context
        self.slots = slots
        self.control = control
    }

    func connect(media: MediaRelay, sessions: ParticipantSessions) {
        self.media = media
        self.sessions = sessions
    }

    var hasRemoteParticipants: Bool { !remoteParticipants.isEmpty }

    func room(named name: String) -> Room? {
        table.index(named: name).flatMap { table[$0]?.room }
    }

    // MARK: Joining and leaving

    /// A participant on this shard joins a room that is homed here.
    func join(_ participant: ParticipantConnection, _ request: JoinRequest) {
        let index = openRoom(named: request.room, settings: request.settings)
        participant.session.room = .local(index)
        table[index]?.slots.append(Int(participant.handle.slot))
        perform(.joined(participant.handle, request.admission), in: index)
    }

    /// A participant on another shard joins.
    func join(_ handle: ParticipantHandle, _ request: JoinRequest) {
        context.gateway.directory.arrived(in: request.room)
        let index = openRoom(named: request.room, settings: request.settings)
        remoteParticipants[handle] = RemoteParticipant(room: index)
        perform(.joined(handle, request.admission), in: index)
    }

    /// A participant on another shard has left; its slot may be reused after the acknowledgement.
    func leave(_ handle: ParticipantHandle, _ reason: DisconnectReason) {
        if let remote = remoteParticipants.removeValue(forKey: handle) { perform(.left(handle, reason), in: remote.room) }
        context.post(.slotReleased(handle), to: Int(handle.shard))
    }

    /// The room no longer names this handle.
    func forgetRemote(_ handle: ParticipantHandle) {
        remoteParticipants[handle] = nil
    }

    /// The room has nothing to do with this connection any more.
    func detach(_ participant: ParticipantConnection) {
        if case .local(let room) = participant.session.room { table[room]?.slots.removeAll { $0 == Int(participant.handle.slot) } }
        participant.session.room = .none
    }

    // MARK: Inputs

    /// Passes an input to a participant's room, wherever its home is.
    func report(_ input: Room.Input, of participant: ParticipantConnection) {
        switch participant.session.room {
        case .local(let room): handle(input, in: room)
        case .remote(let home): context.post(.input(input, from: participant.handle), to: home)
        case .none: break
        }
    }

    func handle(_ input: Room.Input, fromRemote handle: ParticipantHandle) {
        if let remote = remoteParticipants[handle] { self.handle(input, in: remote.room) }
    }

    /// Performs an input. The cost of a request is charged to the participant that made it.
    private func handle(_ input: Room.Input, in index: Int) {
        guard case .request(let request, let id, let handle) = input, !request.isReport else {
            perform(input, in: index)
            return
        }
        guard hasBudget(handle) else { return perform(.reject(RequestLimits.exceeded, re: id, to: handle), whereIs: handle) }
        let cost = perform(input, in: index)
        if cost > 0 { charge(cost, to: handle) }
    }

    private func hasBudget(_ handle: ParticipantHandle) -> Bool {
        let budget = context.isLocal(handle) ? slots.occupant(of: handle)?.requests.cost : remoteParticipants[handle]?.cost
        return budget?.hasAny(at: context.now) ?? true
    }

    private func charge(_ cost: Int, to handle: ParticipantHandle) {
        if context.isLocal(handle) {
            slots.occupant(of: handle)?.requests.cost.spend(cost, at: context.now)
        } else {
            remoteParticipants[handle]?.cost.spend(cost, at: context.now)
        }
    }

    /// Passes an input to a room and performs its effects in order.
    ///
    /// - Returns: bytes of the events that were sent, times their recipients.
    @discardableResult
    func perform(_ input: Room.Input, in index: Int) -> Int {
        guard index >= 0, let hosted = table[index] else { return 0 }
        var effects: [Room.Effect] = []
        swap(&effects, &execution.spareBuffer)
        hosted.handle(input, at: context.now, into: &effects)
        table.updateDeadline(of: index)
        let outerBytes = execution.sentBytes
        execution.sentBytes = 0
        execution.depth += 1
        for effect in effects { perform(effect, of: index) }
        execution.depth -= 1
        let sentBytes = execution.sentBytes
        execution.sentBytes = outerBytes
        publishCapacity(of: hosted)
        // Releases the memory that a room of thousands needed.
        effects.removeAll(keepingCapacity: effects.capacity <= Self.effectCapacityKept)
        execution.spareBuffer = effects
        flushPlayoutReports()
        return sentBytes
    }

    private static var effectCapacityKept: Int { 4_096 }

    func performDeadlines(at now: Instant) {
        for index in table.indices where table.isDue(index, at: now) { perform(.deadlinePassed, in: index) }
    }

    func startDraining(deadline: Int64) {
        for index in table.indices { perform(.draining(deadline: deadline), in: index) }
    }

    /// Measurements of all publishers of a room on this shard together, so that changes of speakers are sent as one event.
    func measure(_ index: Int) {
        guard let hosted = table[index] else { return }
        let measurements = media.takeMeasurements(ofSlots: hosted.slots)
        if !measurements.isEmpty { perform(.measured(measurements), in: index) }
    }

    // MARK: Opening and closing rooms

    private func openRoom(named name: String, settings: RoomSettings) -> Int {
        if let index = table.index(named: name) { return index }
        context.gateway.dispatch?.post(.roomOpened(name, settings.agents))
        let seed = UInt64.random(in: 0 ... .max)
        var identifiers = IdentifierGenerator(seed: ~seed)
        let reporting = reporting(of: name)
        var settings = settings
        settings.reporting = reporting.settings
        let room = Room(
            name: name, sid: identifiers.room(), settings: settings, createdAt: WallClock.seconds, seed: seed, at: context.now)
        return table.insert(HostedRoom(room: room, name: name, isReported: reporting.isReported))
    }

    func closeRoom(_ index: Int) {
        guard let hosted = table[index] else { return }
        // Before another shard may open a room of that name.
        context.gateway.dispatch?.post(.roomEnded(hosted.name))
        context.gateway.directory.release(hosted.name)
        table.remove(index)
    }

    /// Publishes to the directory whether a limited room is full, when its number of participants has changed.
    private func publishCapacity(of hosted: HostedRoom) {
        guard let count = hosted.status.limitedParticipantCount, hosted.publishedCount != count else { return }
        hosted.publishedCount = count
        context.gateway.directory.setOccupants(hosted.room.identitiesWhenFull, filling: hosted.name)
    }

    // MARK: Playout reports

    func noteReport(_ report: Room.PlayoutQueueReport, of track: TrackSID, by publisher: ParticipantHandle) {
        playoutReports.append(report, of: track, by: publisher)
    }

    /// Passes queued playout reports to their rooms, unless effects are being performed: what follows from a report comes after them.
    func flushPlayoutReports() {
        guard execution.depth == 0, !playoutReports.isFlushing, !playoutReports.isEmpty else { return }
        playoutReports.isFlushing = true
        while let (publisher, track, report) = playoutReports.popFirst() {
            if let participant = slots.occupant(of: publisher) { self.report(.playout(track, report), of: participant) }
        }
        playoutReports.isFlushing = false
    }
}

/// Reports of `ahead` queues published on this shard, on their way to the rooms.
struct PlayoutReportQueue {
    typealias Item = (publisher: ParticipantHandle, track: TrackSID, report: Room.PlayoutQueueReport)

    private var items: [Item] = []
    var isFlushing = false

    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ report: Room.PlayoutQueueReport, of track: TrackSID, by publisher: ParticipantHandle) {
        items.append((publisher, track, report))
    }

    mutating func popFirst() -> Item? {
        items.isEmpty ? nil : items.removeFirst()
    }
}

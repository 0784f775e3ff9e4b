internal import Backend
internal import Engine
internal import HTTPServer
internal import Logging
internal import Wire

/// Hosts the rooms whose home is this shard: applies inputs to them and executes their effects, here or on the shards of the participants.
///
/// A room is homed on one shard; its participants' sockets may be on any. Joins, requests and measurements go to the home, effects
/// return, and frames go directly from the publisher's shard to the subscribers'.
final class RoomHost {
    let context: ShardContext
    let slots: SlotTable<ParticipantConnection>
    // Unowned: both own the host. Set once by `connect`, before the shard serves; not used on a frame's way.
    unowned private(set) var media: MediaRelay!
    unowned private(set) var sessions: ParticipantSessions!
    private(set) var table = RoomTable()
    /// Participants of these rooms whose sockets are on other shards.
    var remoteParticipants: [ParticipantHandle: RemoteParticipant] = [:]
    var execution = EffectExecution()
    var administrativeCalls = AdministrativeCalls()
    var absent: AbsentParticipants
    /// Of `ahead` queues published on this shard, on their way to the rooms.
    private var playoutReports: [(publisher: ParticipantHandle, track: TrackSID, report: Room.PlayoutQueueReport)] = []

    struct RemoteParticipant {
        let room: Int
        var cost = CostBudget()
    }

    /// The state of executing effects, which may nest: an effect can bring about another input.
    struct EffectExecution {
        var depth = 0
        /// Bytes of the events sent by the current input, times their recipients.
        var sentBytes = 0
        /// An empty buffer that is reused, so that an input allocates none.
        var spareBuffer: [Room.Effect] = []
    }

    init(_ context: ShardContext, _ slots: SlotTable<ParticipantConnection>) {
        self.context = context
        self.slots = slots
        absent = AbsentParticipants(shard: context.index)
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
        let index: Int
        do throws(JoinFailure) { index = try room(for: request) } catch { return sessions.expelled(participant.handle, error.reason) }
        participant.session.room = .local(index)
        table[index]?.slots.append(Int(participant.handle.slot))
        apply(.joined(participant.handle, request.admission), to: index)
    }

    /// A participant on another shard joins.
    func join(_ handle: ParticipantHandle, _ request: JoinRequest) {
        context.gateway.directory.arrived(in: request.room)
        let index: Int
        do throws(JoinFailure) { index = try room(for: request) } catch { return route(.close(handle, error.reason), to: handle) }
        remoteParticipants[handle] = RemoteParticipant(room: index)
        apply(.joined(handle, request.admission), to: index)
    }

    /// A participant on another shard has left; its slot may be reused after the acknowledgement.
    func leave(_ handle: ParticipantHandle, _ reason: DisconnectReason) {
        if let remote = remoteParticipants.removeValue(forKey: handle) { apply(.left(handle, reason), to: remote.room) }
        context.post(.slotReleased(handle), to: Int(handle.shard))
    }

    /// The room has nothing to do with this connection any more.
    func detach(_ participant: ParticipantConnection) {
        if case .local(let room) = participant.session.room { table[room]?.slots.removeAll { $0 == Int(participant.handle.slot) } }
        participant.session.room = .none
    }

    // MARK: Inputs

    /// Passes an input of a participant on this shard to its room, wherever that is homed.
    func submit(_ input: Room.Input, from participant: ParticipantConnection) {
        switch participant.session.room {
        case .local(let room): applyWithinBudget(input, to: room)
        case .remote(let home): context.post(.input(input, from: participant.handle), to: home)
        case .none: break
        }
    }

    /// Applies an input of a participant on another shard.
    func apply(_ input: Room.Input, fromRemote handle: ParticipantHandle) {
        if let remote = remoteParticipants[handle] { applyWithinBudget(input, to: remote.room) }
    }

    /// Applies an input, and charges the cost of a request to the participant that made it.
    private func applyWithinBudget(_ input: Room.Input, to index: Int) {
        guard case .request(let request, let id, let handle) = input, !request.isReport else {
            apply(input, to: index)
            return
        }
        guard hasBudget(handle) else { return route(.reject(RequestLimits.exceeded, re: id, to: handle), to: handle) }
        let cost = apply(input, to: index)
        guard cost > 0 else { return }
        if context.isLocal(handle) {
            slots.occupant(of: handle)?.requests.cost.spend(cost, at: context.now)
        } else {
            remoteParticipants[handle]?.cost.spend(cost, at: context.now)
        }
    }

    private func hasBudget(_ handle: ParticipantHandle) -> Bool {
        let budget = context.isLocal(handle) ? slots.occupant(of: handle)?.requests.cost : remoteParticipants[handle]?.cost
        return budget?.hasAny(at: context.now) ?? true
    }

    /// Applies an input to a room, records its audit events, and executes its other effects in order.
    ///
    /// - Returns: bytes of the events that were sent, times their recipients.
    @discardableResult
    func apply(_ input: Room.Input, to index: Int) -> Int {
        guard index >= 0, let hosted = table[index] else { return 0 }
        guard !hosted.term.isHalted else {
            hosted.term.hold(input)
            return 0
        }
        var effects: [Room.Effect] = []
        swap(&effects, &execution.spareBuffer)
        hosted.handle(input, at: context.now, into: &effects)
        table.updateDeadline(of: index)
        let outerBytes = execution.sentBytes
        execution.sentBytes = 0
        execution.depth += 1
        // First: a participant who is told of an event may cause the next one by another way, which is then recorded later.
        for case .record(let event, let snapshot) in effects { record(event, in: snapshot, of: hosted) }
        let isPromise = context.gateway.cluster != nil && input.promisesState
        for effect in effects {
            if isPromise, case .reply(_, _, let handle) = effect {
                promise(effect, to: handle, of: hosted)
            } else {
                execute(effect, of: index)
            }
        }
        execution.depth -= 1
        let sentBytes = execution.sentBytes
        execution.sentBytes = outerBytes
        publishCapacity(of: hosted)
        if context.gateway.cluster != nil, input.changesImage(hasEffects: !effects.isEmpty) { noteChange(of: hosted) }
        // Releases the memory that a room of thousands needed.
        effects.removeAll(keepingCapacity: effects.capacity <= Self.effectCapacityKept)
        execution.spareBuffer = effects
        flushPlayoutReports()
        return sentBytes
    }

    private static var effectCapacityKept: Int { 4_096 }

    func applyDeadlines() {
        for index in table.indices where table.isDue(index, at: context.now) { apply(.deadlinePassed, to: index) }
    }

    /// Applies an input to all rooms.
    func applyToAll(_ input: Room.Input) {
        for index in table.indices { apply(input, to: index) }
    }

    /// Measurements of all publishers of a room on this shard together, so that changes of speakers are sent as one event.
    func measure(_ index: Int) {
        guard let hosted = table[index] else { return }
        let measurements = media.takeMeasurements(ofSlots: hosted.slots)
        if !measurements.isEmpty { apply(.measured(measurements), to: index) }
    }

    // MARK: Opening and closing rooms

    private struct JoinFailure: Error {
        let reason: CloseReason
    }

    /// The room of a join, which is opened if necessary, unless its session or call has ended since the connection was admitted.
    private func room(for request: JoinRequest) throws(JoinFailure) -> Int {
        if let index = table.index(named: request.room) {
            // The client tries again, until the coordinator is known.
            if request.resumesOnly, table[index]?.room.isResumable(by: request.admission) != true { throw JoinFailure(reason: .moved) }
            return index
        }
        guard !request.resumesOnly, context.gateway.auditEvents?.joinError(request.room, request.admission.identity) == nil else {
            context.gateway.directory.release(request.room)
            throw JoinFailure(reason: request.resumesOnly ? .moved : .roomClosed)
        }
        return openRoom(named: request.room, settings: request.settings)
    }

    /// Opens a room without participants, unless it is open.
    ///
    /// - Returns: its home, which is this shard if the room was not open anywhere.
    /// - Throws: `draining`, or the error of a join to a session or call that has ended.
    func open(_ name: String, _ opening: RoomOpening) throws(HTTPError) -> Int {
        let directory = context.gateway.directory
        let home = directory.claimVacant(name, for: context.index)
        guard home == context.index, table.index(named: name) == nil else { return home }
        // The claim comes first: whoever ends the session or the call after this check finds the room, and closes it.
        let isDraining = context.gateway.state.phase >= .draining
        let refusal: HTTPError? = isDraining ? .draining : context.gateway.auditEvents?.joinError(name, Identity(text: ""))
        if let refusal {
            directory.release(name)
            throw refusal
        }
        apply(.opened, to: openRoom(named: name, settings: RoomSettings(opening, over: context.gateway.settings.room)))
        return home
    }

    private func openRoom(named name: String, settings: RoomSettings) -> Int {
        context.gateway.dispatch?.post(.roomOpened(name, settings.agents, epoch: context.gateway.cluster?.epoch(of: name)))
        let seed = UInt64.random(in: 0 ... .max)
        var identifiers = IdentifierGenerator(seed: ~seed)
        let reporting = reporting(of: name)
        var settings = settings
        settings.reporting = reporting.settings
        let room = Room(
            name: name, sid: identifiers.room(), settings: settings, createdAt: WallClock.seconds, seed: seed,
            resumeTokens: { $0.token($1) }, at: context.now)
        context.gateway.cluster?.confirm(name)
        return insert(room, named: name, isReported: reporting.isReported)
    }

    func insert(_ room: Room, named name: String, isReported: Bool) -> Int {
        table.insert(HostedRoom(room: room, name: name, isReported: isReported))
    }

    func closeRoom(_ index: Int) {
        guard let hosted = table[index] else { return }
        // A room whose term has ended goes on at another node, with its agents.
        let isOver = !hosted.term.hasEnded
        // Before another shard may open a room of that name.
        if isOver { context.gateway.dispatch?.post(.roomEnded(hosted.name, epoch: epoch(of: hosted))) }
        context.gateway.directory.release(hosted.name)
        table.remove(index)
        if isOver { context.gateway.cluster?.closed(hosted.name) }
    }

    /// Publishes to the directory whether a limited room is full, when its number of participants has changed.
    private func publishCapacity(of hosted: HostedRoom) {
        guard let count = hosted.status.limitedParticipantCount, hosted.publishedCount != count else { return }
        hosted.publishedCount = count
        context.gateway.directory.setOccupants(hosted.room.identitiesWhenFull, filling: hosted.name)
    }

    // MARK: Playout reports

    func noteReport(_ report: Room.PlayoutQueueReport, of track: TrackSID, by publisher: ParticipantHandle) {
        playoutReports.append((publisher, track, report))
    }

    /// Passes queued playout reports to their rooms, unless effects are being executed: what follows from a report comes after them.
    func flushPlayoutReports() {
        guard execution.depth == 0, !playoutReports.isEmpty else { return }
        execution.depth += 1
        // Inputs may append further reports.
        var index = 0
        while index < playoutReports.count {
            let (publisher, track, report) = playoutReports[index]
            if let participant = slots.occupant(of: publisher) { submit(.playout(track, report), from: participant) }
            index += 1
        }
        playoutReports.removeAll(keepingCapacity: true)
        execution.depth -= 1
    }
}

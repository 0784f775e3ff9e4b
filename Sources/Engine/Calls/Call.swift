internal import Wire

/// One call: its members, its state, and the events of the current step.
///
/// A step starts with `begin(at:)`; each change in it produces one event. The state machine sends the events and derives further
/// effects by comparing the call before and after.
struct Call: Sendable {
    struct Change: Sendable {
        var event: CallEvent
        /// Recipients.
        var audience: [CallParty]
        /// Recipients that are called by it.
        var called: [CallParty]
    }

    let id: CallID
    let caller: CallParty
    let start: CallStart
    /// The call that the only callee started to the caller at the same time; it counts as the answer.
    private(set) var crossing: CallStart?
    private(set) var members: [Member]
    private(set) var seq: UInt64 = 0
    private(set) var status = CallStatus.started
    /// Times in milliseconds since 1970: the start, the first answer, the end, and the beginning of the current step.
    let startedAt: Int64
    private(set) var answeredAt: Int64?
    private(set) var endedAt: Int64?
    private var stepAt: Int64
    /// Recipients of this step's events: members invited or joined when it began, and those it invites.
    private(set) var audience: [CallParty] = []
    private(set) var changes: [Change] = []
    private var lastStamp: UInt64 = 0

    init(id: CallID, caller: Identity, device: DeviceID?, start: CallStart, at time: Int64) {
        self.id = id
        startedAt = time
        stepAt = time
        self.caller = .user(caller)
        self.start = start
        members = [Member(info: CallMember(party: .user(caller), status: .answered, device: device))]
    }

    /// Continues a call of another state machine.
    ///
    /// The inviters are not stored: all invitations count as the caller's. Joined members have not been seen in the room yet.
    ///
    /// - Parameter info: as it was after a change of its status or of a member's state; later changes may be lost.
    init(restoring info: CallInfo) {
        id = info.id
        caller = info.caller
        start = CallStart(
            to: info.members.map(\.party).filter { $0 != info.caller }, conversation: info.conversation, callerName: info.callerName,
            metadata: info.metadata)
        lastStamp = UInt64(info.members.count)
        members = info.members.enumerated().map { Member(restoring: $1, of: info.caller, stamp: UInt64($0)) }
        seq = info.seq + Self.eventsLostMax
        status = info.status
        startedAt = info.startedAt ?? 0
        (answeredAt, endedAt) = (info.answeredAt, info.endedAt)
        stepAt = startedAt
        begin(at: startedAt)
    }

    /// The numbers of a restored call's events leave out those of events that are not stored: holding and muting.
    private static let eventsLostMax: UInt64 = 10_000

    var info: CallInfo {
        CallInfo(
            id: id, room: CallInfo.room(of: id), seq: seq, status: status, caller: caller, callerName: start.callerName,
            metadata: start.metadata, conversation: start.conversation, members: members.map(\.info), startedAt: startedAt,
            answeredAt: answeredAt, endedAt: endedAt)
    }

    var isOver: Bool { status.isOver }

    func index(of party: CallParty) -> Int? { members.firstIndex { $0.info.party == party } }

    /// Whether the call is active and this party is invited or joined.
    func concerns(_ party: CallParty) -> Bool {
        !isOver && members.contains { $0.info.party == party && $0.state != .left }
    }

    /// Whether it is a call to this party alone, which has not answered.
    func isOffered(onlyTo party: CallParty, by caller: CallParty) -> Bool {
        !isOver && self.caller == caller && members.count == 2 && members[1].info.party == party && members[1].state == .invited
    }

    /// The request with which this party started the call.
    func start(by party: CallParty) -> CallStart? {
        if party == caller { return start }
        return members.count > 1 && members[1].info.party == party ? crossing : nil
    }

    /// Whether this party received the last event and so may see the call.
    func isKnown(to party: CallParty) -> Bool { audience.contains(party) }

    /// - Parameter time: milliseconds since 1970.
    mutating func begin(at time: Int64) {
        stepAt = time
        audience = members.filter { $0.state != .left }.map(\.info.party)
    }

    mutating func removeChanges() {
        changes = []
    }

    // MARK: Changes of members

    /// Invites a party, or a former member again. A `busy` party is not informed.
    mutating func invite(_ party: CallParty, as status: CallStatus, by inviter: CallParty) {
        lastStamp += 1
        let isDispatched = party.isAssistant && status == .started
        let member = Member(info: CallMember(party: party, status: status), inviter: inviter, isDispatched: isDispatched, stamp: lastStamp)
        if let index = index(of: party) { members[index] = member } else { members.append(member) }
        if status != .busy && !audience.contains(party) { audience.append(party) }
        ringIfOneDoes()
    }

    /// The assistant's processes do not take calls any more.
    mutating func dispatch(at index: Int) {
        members[index].isDispatched = true
    }

    mutating func recordInvitations(_ kind: CallEvent.Kind, of parties: [CallParty], by inviter: CallParty, device: DeviceID?) {
        record(kind, by: inviter, device: device, called: parties.filter(concerns))
        for party in parties where !concerns(party) { record(.busy, by: party) }
        settle()
    }

    mutating func ring(at index: Int) {
        members[index].info.status = .ringing
        ringIfOneDoes()
        record(.ringing, by: members[index].info.party)
    }

    /// - Parameter crossing: the call that the party started; nil if it accepted this one.
    mutating func answer(at index: Int, on device: DeviceID?, with crossing: CallStart? = nil) {
        if let crossing { self.crossing = crossing }
        lastStamp += 1
        members[index].stamp = lastStamp
        members[index].info.status = .answered
        members[index].info.device = device
        status = .answered
        answeredAt = answeredAt ?? stepAt
        record(.answered, by: members[index].info.party, device: device)
    }

    /// Moves a member to another device. The old device may leave the room before the new one joins.
    mutating func move(memberAt index: Int, to device: DeviceID?) {
        members[index].info.device = device
        members[index].isMoving = members[index].isInRoom
        record(.moved, by: members[index].info.party, device: device)
    }

    /// The old device has left the room, and the new one has not joined yet.
    mutating func awaitMove(at index: Int) {
        lastStamp += 1
        members[index].stamp = lastStamp
        members[index].isInRoom = false
        members[index].isMoving = false
    }

    /// The member requests to be on hold, or not to be. Only a change is an event.
    mutating func hold(_ held: Bool, at index: Int, by device: DeviceID?) {
        members[index].holds += 1
        setHeld(held, at: index, by: device)
    }

    /// The member requests to be muted, or not to be. Only a change is an event.
    mutating func mute(_ muted: Bool, at index: Int, by device: DeviceID?) {
        members[index].mutes += 1
        setMuted(muted, at: index, by: device)
    }

    /// Takes over how the call's room has a member, except what the member has requested here.
    mutating func adopt(_ media: CallMediaState, at index: Int) {
        if members[index].holds == 0 { setHeld(media.held, at: index) }
        if members[index].mutes == 0 { setMuted(media.muted, at: index) }
    }

    private mutating func setHeld(_ held: Bool, at index: Int, by device: DeviceID? = nil) {
        guard members[index].info.held != held else { return }
        members[index].info.held = held
        record(held ? .held : .resumed, by: members[index].info.party, device: device)
    }

    private mutating func setMuted(_ muted: Bool, at index: Int, by device: DeviceID? = nil) {
        guard members[index].info.muted != muted else { return }
        members[index].info.muted = muted
        record(muted ? .muted : .unmuted, by: members[index].info.party, device: device)
    }

    mutating func setInRoom(at index: Int) {
        members[index].isInRoom = true
        members[index].isMoving = false
    }

    /// Removes a member: its invitations are withdrawn, and the call ends if too few members are left.
    mutating func leave(
        at index: Int, as outcome: CallStatus, _ kind: CallEvent.Kind, device: DeviceID? = nil, reason: String? = nil
    ) {
        let leaver = members[index].info.party
        if leaver == caller && status != .answered {
            // Without an answer, the call ends with its caller.
            let outcome = outcome == .completed ? CallStatus.cancelled : outcome
            members[index].retire(as: outcome)
            members.withdrawInvitations(by: leaver)
            record(kind == .left ? .cancelled : kind, by: leaver, device: device, reason: reason)
            end(as: outcome)
            return
        }
        if members.withdrawInvitations(by: leaver) { record(.cancelled, by: leaver, device: device) }
        members[index].retire(as: outcome)
        record(kind, by: leaver, device: device, reason: reason)
        settle()
    }

    /// The room has ended, and with it the call.
    mutating func end() {
        if !isOver { end(as: status == .answered ? .completed : .failed) }
    }

    // MARK: Consequences

    private mutating func ringIfOneDoes() {
        if status == .started && members.contains(where: { $0.info.status == .ringing }) { status = .ringing }
    }

    /// Ends the call if nobody can answer it any more, or only one member is left.
    private mutating func settle() {
        if let outcome = members.outcome(isAnswered: status == .answered) { end(as: outcome) }
    }

    private mutating func end(as outcome: CallStatus) {
        members.retireAll(as: outcome)
        status = outcome
        endedAt = stepAt
        record(.ended)
    }

    private mutating func record(
        _ kind: CallEvent.Kind, by party: CallParty? = nil, device: DeviceID? = nil, reason: String? = nil, called: [CallParty] = []
    ) {
        seq += 1
        let event = CallEvent(kind, info, by: party, device: device, reason: reason)
        changes.append(Change(event: event, audience: audience, called: called))
    }
}

package import Wire

/// Who may do and hear what in one room: every decision, and nothing else.
///
/// A room is driven by its shell. `handle(_:at:into:)` takes what happened and appends what is to be done, in order;
/// `deadline` tells when the shell should come back even if nothing happens. Frames never visit it: it only changes
/// the patch panels that carry them.
///
/// Promises:
/// - the same seed and the same inputs give the same effects;
/// - every request with an `id` gets exactly one answer, `leave` excepted, unless its socket is lost before;
/// - every mark on a track is answered exactly once, and what was told as heard is not taken back within an epoch;
/// - whoever has left or was closed is never named again, and what still comes from it is passed over; nor is the old handle of whoever
///   has come back, but by the patches that end it;
/// - nobody in it is told of a hidden participant;
/// - nobody but an agent is told what the room's session is about;
/// - whoever is not to be shown text is sent none, now or later;
/// - `listen` comes after the event or the list that names the track.
///
/// It is not for what needs more than one room, or another node: that is the shell's.
package struct Room: Sendable {
    package let name: String
    package let sid: RoomSID
    /// Seconds since 1970.
    package let createdAt: Int64
    /// The gateway is about to stop: a lost socket does not come back.
    var isDraining = false
    /// True after `closed`: all that still comes is passed over.
    package internal(set) var isOver = false

    var settings: RoomSettings
    /// In the order in which they joined.
    var members = Roster<ParticipantHandle, Member>()
    var handles: [Identity: ParticipantHandle] = [:]
    /// Those who count: for the limit, and to keep the room alive.
    var independentCount = 0
    /// In the order in which they were published.
    var tracks = Roster<TrackSID, Track>()
    var aliases = TrackAliasAllocator()
    var identifiers: IdentifierGenerator
    var procedures = PendingProcedureCalls()
    var transcript = Transcript()
    /// How often somebody has begun to listen to a track. Wraps.
    var subscriptionCount: UInt32 = 0
    /// One for each `ahead` track.
    var playouts = Roster<TrackSID, Playout>()
    var speakers = ActiveSpeakers()
    var emptyRoomTimeout: EmptyRoomTimeout
    var wakeUp = EarliestDeadline()
    /// It has been told outside that the room has begun.
    var hasStarted = false
    /// The recording that is under way.
    package internal(set) var recording: RecordingID?

    /// - Parameters:
    ///   - createdAt: seconds since 1970, for people.
    ///   - seed: chooses the names that the room gives out; different for each room.
    ///   - now: when its `emptyTimeout` begins to run.
    package init(name: String, sid: RoomSID, settings: RoomSettings, createdAt: Int64, seed: UInt64, at now: Instant) {
        self.name = name
        self.sid = sid
        self.settings = settings
        self.createdAt = createdAt
        identifiers = IdentifierGenerator(seed: seed)
        emptyRoomTimeout = EmptyRoomTimeout(createdAt: now, emptyTimeout: settings.emptyTimeout, departureTimeout: settings.departureTimeout)
        wakeUp.include(emptyRoomTimeout.deadline)
    }

    /// When the room wants `deadlinePassed`, at the latest. Coming early does no harm; it moves only in `handle`.
    package var deadline: Instant? { isOver ? nil : wakeUp.instant }

    /// Takes in what happened at `now`, which never goes back, and appends what is to be done about it.
    package mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
        guard !isOver else {
            // Somebody on the way in when the room ended must not wait for an answer.
            if case .joined(let handle, _) = input { effects.append(.close(handle, .roomClosed)) }
            return
        }
        reportStart(into: &effects)
        switch input {
        case .joined(let handle, let admission): join(handle, admission, at: now, into: &effects)
        case .request(let request, let id, let handle):
            answer(request, of: Requester(handle: handle, id: id), at: now, into: &effects)
        case .left(let handle, let reason): depart(handle, reason, at: now, into: &effects)
        case .connectionLost(let handle, let reason): loseConnection(of: handle, reason, at: now, into: &effects)
        case .resumeConfirmed(let handle): members.index(of: handle).map { members[at: $0].formerToken = nil }
        case .administered(let command): administer(command, at: now, into: &effects)
        case .talkStarted(let track, let time): beginTalk(on: track, at: time, now: now, into: &effects)
        case .talkStopped(let track, let time, let end): endTalk(on: track, at: time, end, into: &effects)
        case .measured(let measurements): measure(measurements, at: now, into: &effects)
        case .playout(let track, let fact): note(fact, of: track, at: now, into: &effects)
        case .connectionMeasured(let handle, let measurement): judge(handle, by: measurement, into: &effects)
        case .draining(let deadline): drain(deadline: deadline, at: now, into: &effects)
        case .deadlinePassed: processDeadlines(at: now, into: &effects)
        }
    }
}

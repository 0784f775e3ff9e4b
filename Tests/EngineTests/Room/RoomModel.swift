import Testing
import Wire

@testable import Engine

/// The expected state of a room, derived from its inputs and effects only.
struct RoomModel {
    private struct Member {
        var identity: Identity
        var canSubscribe: Bool
        var autoSubscribe: Bool
        var isRoomAdmin: Bool
        var isHeld = false
        var subscriptionOverrides: [TrackSID: Bool] = [:]
        /// Tracks with a start but no stop so far.
        var talking: Set<TrackSID> = []
        /// It has not resumed since its room's node was lost.
        var isRestored = false
    }

    private struct Published {
        var sid: TrackSID
        var publisher: ParticipantHandle
        var isMuted = false
    }

    private struct PendingRequest: Hashable {
        var requester: ParticipantHandle
        var id: UInt64
    }

    private(set) var problems: [String] = []
    /// In join order.
    private(set) var present: [ParticipantHandle] = []
    private var members: [ParticipantHandle: Member] = [:]
    private var tracks: [TrackAlias: Published] = [:]
    /// Number of answers of each request.
    private var answers: [PendingRequest: Int] = [:]
    private var waiting: Set<PendingRequest> = []
    /// Calls of administrators without an outcome.
    private var administrativeCalls: Set<UInt64> = []
    /// The participant that this input removes: only its patches may still be named.
    private var leaver: ParticipantHandle?
    /// Whether the request of this step succeeded.
    private var wasDone = false

    mutating func begin(_ input: Room.Input, isOver: Bool) {
        wasDone = false
        switch input {
        case .joined(let handle, let admission) where !isOver:
            present.append(handle)
            members[handle] = Member(
                identity: admission.identity, canSubscribe: admission.permission.canSubscribe, autoSubscribe: admission.autoSubscribe,
                isRoomAdmin: admission.isRoomAdmin)
        case .left(let handle, _): leaver = handle
        case .connectionLost(let handle, _): removeRequests(of: handle)
        case .administered(.updatePermission(let identity, let permission)),
            .administered(.updateParticipant(let identity, _, let permission?)):
            for handle in present where members[handle]?.identity == identity {
                members[handle]?.canSubscribe = permission.canSubscribe
            }
        case .administered(.subscribe(let identity, let sids, let subscribed)):
            for handle in present where members[handle]?.identity == identity { subscribe(handle, to: sids, subscribed) }
        case .administered(.callProcedure(_, let number)): administrativeCalls.insert(number)
        case .administered(.mute(let sid, let muted)): setMuted(sid, muted)
        default: break
        }
    }

    /// Everybody has a new handle and no connection, and nothing is pending or published any more.
    mutating func loseNode(_ renewed: [Identity: ParticipantHandle]) {
        waiting = []
        administrativeCalls = []
        for handle in present {
            guard var member = members.removeValue(forKey: handle), let new = renewed[member.identity] else {
                problems.append("a participant was not restored")
                continue
            }
            member.isRestored = true
            members[new] = member
            for (alias, track) in tracks where track.publisher == handle { tracks[alias]?.publisher = new }
        }
        present = renewed.values.sorted { $0.slot < $1.slot }
    }

    /// Whether a participant has not resumed since its room's node was lost.
    func isRestored(_ handle: ParticipantHandle) -> Bool { members[handle]?.isRestored == true }

    mutating func follow(_ effect: Room.Effect) {
        for handle in effect.named { checkIsPresent(handle, in: effect) }
        switch effect {
        case .send(let event, let audience): for handle in audience { receive(event, handle) }
        case .replay(let event, let handle): receive(event, handle)
        case .reply(_, let id, let handle):
            wasDone = true
            countAnswer(id, to: handle)
        case .reject(_, let id?, let handle): countAnswer(id, to: handle)
        case .mintToken(let handle, _, let id?): countAnswer(id, to: handle)
        case .patch(.publish(let track, let publisher)):
            if let known = tracks[track.alias] {
                if known.sid != track.sid { problems.append("alias \(track.alias.value) is used twice") }
            } else {
                tracks[track.alias] = Published(sid: track.sid, publisher: publisher)
            }
        case .patch(.unpublish(let alias, _)):
            if let track = tracks.removeValue(forKey: alias) {
                for handle in present { members[handle]?.subscriptionOverrides[track.sid] = nil }
            }
        case .procedureEnded(let number, _):
            if administrativeCalls.remove(number) == nil { problems.append("call \(number) of an administrator ended twice") }
        case .handOver(let old, let new): rename(old, to: new)
        case .close(let handle, _): forget(handle)
        default: break
        }
    }

    mutating func end(_ input: Room.Input, isOver: Bool) {
        switch input {
        case .left(let handle, _): forget(handle)
        case .request(let request, let id, let requester): finish(request, id, of: requester)
        default: break
        }
        leaver = nil
    }

    /// Checks that the patch panels agree with subscriptions, grants, mutes and holds, and that no track with a closed
    /// gate is reported as talking.
    mutating func compare(with world: RoomWorld) {
        var options: Set<RoomWorld.SubscriptionOptions> = []
        var gates: [TrackAlias: Room.Gate] = [:]
        for (alias, track) in tracks {
            guard let publisher = members[track.publisher] else {
                problems.append("the publisher of \(track.sid) is gone")
                continue
            }
            if publisher.isRestored { continue }
            gates[alias] = publisher.isHeld ? .held : track.isMuted ? .muted : .open
            if gates[alias] != .open, members.values.contains(where: { $0.talking.contains(track.sid) }) {
                problems.append("\(track.sid) talks while its gate is closed")
            }
            for (handle, person) in members where handle != track.publisher && !person.isRestored {
                guard person.canSubscribe, !person.isHeld, person.subscriptionOverrides[track.sid] ?? person.autoSubscribe else { continue }
                options.insert(RoomWorld.SubscriptionOptions(subscriber: handle, alias: alias))
            }
        }
        if options != world.options { problems.append("the subscribers are wrong") }
        if gates != world.gates { problems.append("gates \(world.gates) should be \(gates)") }
        if Set(members.values.map(\.talking)).count > 1 { problems.append("participants disagree about who talks") }
        if members.count != world.room.participants.count || tracks.count != world.room.trackCount {
            problems.append("the room's participant count differs")
        }
    }

    mutating func checkAllAnswered() {
        for request in waiting where answers[request] == nil { problems.append("call \(request.id) was not answered") }
    }

    mutating func checkAdministrativeCallsEnded() {
        if !administrativeCalls.isEmpty { problems.append("calls \(administrativeCalls) of administrators have no outcome") }
    }

    private mutating func checkIsPresent(_ handle: ParticipantHandle, in effect: Room.Effect) {
        if members[handle] == nil {
            // A participant that joins after the end is only closed.
            if case .close(_, .roomClosed) = effect { return }
            problems.append("a departed participant is named: \(effect)")
        } else if handle == leaver {
            if case .patch = effect { return }
            problems.append("a departing participant is named: \(effect)")
        }
    }

    private mutating func receive(_ event: Event, _ handle: ParticipantHandle) {
        switch event {
        case .hello(let hello) where hello.snapshot == true: members[handle]?.talking = []
        case .talkStarted(_, let track, _):
            if members[handle]?.talking.insert(track).inserted == false { problems.append("\(track) started twice") }
        case .talkStopped(_, let track, _, _):
            if members[handle]?.talking.remove(track) == nil { problems.append("\(track) stopped without a start") }
        case .trackUnpublished(let track, _):
            if members[handle]?.talking.contains(track) == true { problems.append("\(track) never stopped") }
            // There was no patch if its publisher has not resumed.
            tracks = tracks.filter { $0.value.sid != track || !isRestored($0.value.publisher) }
        case .bye(.roomDeleted, _), .bye(.roomClosed, _):
            if members[handle]?.talking.isEmpty == false { problems.append("the room ended in the middle of a talkspurt") }
        default: break
        }
    }

    private mutating func countAnswer(_ id: UInt64, to handle: ParticipantHandle) {
        let request = PendingRequest(requester: handle, id: id)
        answers[request, default: 0] += 1
        if answers[request] != 1 { problems.append("request \(id) was answered twice") }
        waiting.remove(request)
    }

    private mutating func finish(_ request: Request, _ id: UInt64?, of requester: ParticipantHandle) {
        guard members[requester] != nil else {
            if let id, answers[PendingRequest(requester: requester, id: id)] != nil {
                problems.append("a departed participant was answered")
            }
            return
        }
        guard let id else {
            finishUnanswered(request, of: requester)
            return
        }
        let pending = PendingRequest(requester: requester, id: id)
        if answers[pending] == nil {
            switch request {
            case .callProcedure, .playoutClear: waiting.insert(pending)
            default: problems.append("no answer to \(request)")
            }
        }
        if wasDone { adopt(request, of: requester) }
    }

    /// Without an answer, the outcome follows from the conditions of the request.
    private mutating func finishUnanswered(_ request: Request, of requester: ParticipantHandle) {
        if wasDone, !request.answersAnotherRequest { problems.append("a request without an id was answered") }
        switch request {
        case .hold: adopt(request, of: requester)
        case .subscribe(let sid, let subscribed):
            let isAllowed = members[requester]?.canSubscribe == true || !subscribed
            if let track = tracks.values.first(where: { $0.sid == sid }), track.publisher != requester, isAllowed {
                adopt(request, of: requester)
            }
        case .mute(let sid, let muted):
            let isOwn = tracks.values.contains { $0.sid == sid && $0.publisher == requester }
            if isOwn || (muted && members[requester]?.isRoomAdmin == true) { setMuted(sid, muted) }
        default: break
        }
    }

    private mutating func adopt(_ request: Request, of requester: ParticipantHandle) {
        switch request {
        case .hold(let held): members[requester]?.isHeld = held
        case .subscribe(let sid, let subscribed): members[requester]?.subscriptionOverrides[sid] = subscribed
        case .mute(let sid, let muted): setMuted(sid, muted)
        default: break
        }
    }

    /// For all of these tracks or none.
    private mutating func subscribe(_ handle: ParticipantHandle, to sids: [TrackSID], _ subscribed: Bool) {
        let publishers = sids.map { sid in tracks.values.first { $0.sid == sid }?.publisher }
        guard !publishers.contains(nil), !publishers.contains(handle), members[handle]?.canSubscribe == true || !subscribed else { return }
        for sid in sids { members[handle]?.subscriptionOverrides[sid] = subscribed }
    }

    private mutating func setMuted(_ sid: TrackSID, _ muted: Bool) {
        for (alias, track) in tracks where track.sid == sid { tracks[alias]?.isMuted = muted }
    }

    private mutating func forget(_ handle: ParticipantHandle) {
        if isRestored(handle) { tracks = tracks.filter { $0.value.publisher != handle } }
        present.removeAll { $0 == handle }
        members[handle] = nil
        removeRequests(of: handle)
    }

    /// Requests of a lost socket need no answer.
    private mutating func removeRequests(of handle: ParticipantHandle) {
        waiting = waiting.filter { $0.requester != handle }
    }

    private mutating func rename(_ old: ParticipantHandle, to new: ParticipantHandle) {
        guard var person = members.removeValue(forKey: old), let position = present.firstIndex(of: old) else {
            problems.append("a handover from an unknown participant")
            return
        }
        removeRequests(of: old)
        person.isRestored = false
        members[new] = person
        present.removeAll { $0 == new }
        present[position] = new
        for (alias, track) in tracks where track.publisher == old { tracks[alias]?.publisher = new }
    }
}

extension Request {
    /// Its reply goes to the caller.
    fileprivate var answersAnotherRequest: Bool {
        if case .answerProcedure = self { true } else { false }
    }
}

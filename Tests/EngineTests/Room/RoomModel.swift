import Engine
import Testing
import Wire

/// What must be true of a room, found from what was put in and what came out, never from the room itself.
struct RoomModel {
    private struct Person {
        var identity: Identity
        var canSubscribe: Bool
        var autoSubscribe: Bool
        var isRoomAdmin: Bool
        var isHeld = false
        var subscriptionOverrides: [TrackSID: Bool] = [:]
        /// Tracks of which it heard a start and no stop.
        var talking: Set<TrackSID> = []
    }

    private struct Published {
        var sid: TrackSID
        var publisher: ParticipantHandle
        var isMuted = false
    }

    private struct Question: Hashable {
        var requester: ParticipantHandle
        var id: UInt64
    }

    private(set) var problems: [String] = []
    /// In the order in which they joined.
    private(set) var present: [ParticipantHandle] = []
    private var people: [ParticipantHandle: Person] = [:]
    private var tracks: [TrackAlias: Published] = [:]
    /// How often each was answered.
    private var answers: [Question: Int] = [:]
    private var waiting: Set<Question> = []
    /// Whoever is on its way out with this very input: only its patches may still be named.
    private var leaver: ParticipantHandle?
    /// What the request of this step had for an answer.
    private var wasDone = false

    mutating func begin(_ input: Room.Input, isOver: Bool) {
        wasDone = false
        switch input {
        case .joined(let handle, let admission) where !isOver:
            present.append(handle)
            people[handle] = Person(
                identity: admission.identity, canSubscribe: admission.permission.canSubscribe, autoSubscribe: admission.autoSubscribe,
                isRoomAdmin: admission.isRoomAdmin)
        case .left(let handle, _): leaver = handle
        case .connectionLost(let handle, _): forgetQuestions(of: handle)
        case .administered(.updatePermission(let identity, let permission)):
            for handle in present where people[handle]?.identity == identity {
                people[handle]?.canSubscribe = permission.canSubscribe
            }
        case .administered(.mute(let sid, let muted)): setMuted(sid, muted)
        default: break
        }
    }

    mutating func follow(_ effect: Room.Effect) {
        for handle in effect.named { checkMayBeNamed(handle, in: effect) }
        switch effect {
        case .send(let event, let audience): for handle in audience { hear(event, handle) }
        case .replay(let event, let handle): hear(event, handle)
        case .reply(_, let id, let handle):
            wasDone = true
            countAnswer(id, to: handle)
        case .reject(_, let id?, let handle): countAnswer(id, to: handle)
        case .mintToken(let handle, _, let id?): countAnswer(id, to: handle)
        case .patch(.publish(let track, let publisher)):
            if tracks[track.alias] != nil { problems.append("alias \(track.alias.value) is used twice") }
            tracks[track.alias] = Published(sid: track.sid, publisher: publisher)
        case .patch(.unpublish(let alias, _)):
            if let track = tracks.removeValue(forKey: alias) {
                for handle in present { people[handle]?.subscriptionOverrides[track.sid] = nil }
            }
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

    /// The patch panels as the effects have made them are as the subscriptionOverrides, grants, mutes and holds want them, and nobody
    /// is told that somebody talks who is not let through.
    mutating func compare(with world: RoomWorld) {
        var options: Set<RoomWorld.SubscriptionOptions> = []
        var gates: [TrackAlias: Room.Gate] = [:]
        for (alias, track) in tracks {
            guard let publisher = people[track.publisher] else {
                problems.append("the publisher of \(track.sid) is gone")
                continue
            }
            gates[alias] = publisher.isHeld ? .held : track.isMuted ? .muted : .open
            if gates[alias] != .open, people.values.contains(where: { $0.talking.contains(track.sid) }) {
                problems.append("\(track.sid) talks and cannot be heard")
            }
            for (handle, person) in people where handle != track.publisher {
                guard person.canSubscribe, !person.isHeld, person.subscriptionOverrides[track.sid] ?? person.autoSubscribe else { continue }
                options.insert(RoomWorld.SubscriptionOptions(subscriber: handle, alias: alias))
            }
        }
        if options != world.options { problems.append("others listen than should") }
        if gates != world.gates { problems.append("gates \(world.gates) should be \(gates)") }
        if Set(people.values.map(\.talking)).count > 1 { problems.append("not all know the same about who talks") }
        if people.count != world.room.participants.count || tracks.count != world.room.trackCount {
            problems.append("the room counts otherwise")
        }
    }

    mutating func checkThatNobodyWaits() {
        for question in waiting where answers[question] == nil { problems.append("call \(question.id) was never answered") }
    }

    private mutating func checkMayBeNamed(_ handle: ParticipantHandle, in effect: Room.Effect) {
        if people[handle] == nil {
            // Somebody who came after the end is only sent away.
            if case .close(_, .roomClosed) = effect { return }
            problems.append("somebody gone is named: \(effect)")
        } else if handle == leaver {
            if case .patch = effect { return }
            problems.append("somebody on its way out is named: \(effect)")
        }
    }

    private mutating func hear(_ event: Event, _ handle: ParticipantHandle) {
        switch event {
        case .talkStarted(_, let track, _):
            if people[handle]?.talking.insert(track).inserted == false { problems.append("\(track) started twice") }
        case .talkStopped(_, let track, _, _):
            if people[handle]?.talking.remove(track) == nil { problems.append("\(track) stopped without a start") }
        case .trackUnpublished(let track, _):
            if people[handle]?.talking.contains(track) == true { problems.append("\(track) never stopped") }
        case .bye(.roomDeleted, _), .bye(.roomClosed, _):
            if people[handle]?.talking.isEmpty == false { problems.append("the room ended in the middle of a talkspurt") }
        default: break
        }
    }

    private mutating func countAnswer(_ id: UInt64, to handle: ParticipantHandle) {
        let question = Question(requester: handle, id: id)
        answers[question, default: 0] += 1
        if answers[question] != 1 { problems.append("request \(id) was answered twice") }
        waiting.remove(question)
    }

    private mutating func finish(_ request: Request, _ id: UInt64?, of requester: ParticipantHandle) {
        guard people[requester] != nil else {
            if let id, answers[Question(requester: requester, id: id)] != nil { problems.append("somebody gone was answered") }
            return
        }
        guard let id else {
            finishUnanswered(request, of: requester)
            return
        }
        let question = Question(requester: requester, id: id)
        if answers[question] == nil {
            switch request {
            case .callProcedure, .playoutClear: waiting.insert(question)
            default: problems.append("no answer to \(request)")
            }
        }
        if wasDone { adopt(request, of: requester) }
    }

    /// No answer tells whether it was done, so it is known from what a request needs.
    private mutating func finishUnanswered(_ request: Request, of requester: ParticipantHandle) {
        if wasDone, !request.mayAnswerAnother { problems.append("a request without an id was answered") }
        switch request {
        case .hold: adopt(request, of: requester)
        case .subscribe(let sid, let subscribed):
            let isAllowed = people[requester]?.canSubscribe == true || !subscribed
            if let track = tracks.values.first(where: { $0.sid == sid }), track.publisher != requester, isAllowed {
                adopt(request, of: requester)
            }
        case .mute(let sid, let muted):
            let isOwn = tracks.values.contains { $0.sid == sid && $0.publisher == requester }
            if isOwn || (muted && people[requester]?.isRoomAdmin == true) { setMuted(sid, muted) }
        default: break
        }
    }

    private mutating func adopt(_ request: Request, of requester: ParticipantHandle) {
        switch request {
        case .hold(let held): people[requester]?.isHeld = held
        case .subscribe(let sid, let subscribed): people[requester]?.subscriptionOverrides[sid] = subscribed
        case .mute(let sid, let muted): setMuted(sid, muted)
        default: break
        }
    }

    private mutating func setMuted(_ sid: TrackSID, _ muted: Bool) {
        for (alias, track) in tracks where track.sid == sid { tracks[alias]?.isMuted = muted }
    }

    private mutating func forget(_ handle: ParticipantHandle) {
        present.removeAll { $0 == handle }
        people[handle] = nil
        forgetQuestions(of: handle)
    }

    /// What was asked on a socket that is lost need not be answered.
    private mutating func forgetQuestions(of handle: ParticipantHandle) {
        waiting = waiting.filter { $0.requester != handle }
    }

    private mutating func rename(_ old: ParticipantHandle, to new: ParticipantHandle) {
        guard let person = people.removeValue(forKey: old), let place = present.firstIndex(of: old) else {
            problems.append("a place is given away that was nobody's")
            return
        }
        forgetQuestions(of: old)
        people[new] = person
        present.removeAll { $0 == new }
        present[place] = new
        for (alias, track) in tracks where track.publisher == old { tracks[alias]?.publisher = new }
    }
}

extension Request {
    /// Its reply goes to the one who had called.
    fileprivate var mayAnswerAnother: Bool {
        if case .answerProcedure = self { true } else { false }
    }
}

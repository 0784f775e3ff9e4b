import Testing
import Wire

@testable import Engine

/// Random inputs in any order keep the invariants of a room.
struct RandomRoomTests {
    @Test(arguments: 0..<200)
    func randomRoomsKeepTheInvariants(seed: Int) {
        var visit = RandomRoom(seed: UInt64(seed))
        visit.run(steps: 200)
        #expect(visit.problems.isEmpty, "seed \(seed): \(visit.problems.prefix(5))")
    }

    /// Its node is lost now and then, and another one continues the room.
    @Test(arguments: 0..<200)
    func restoredRandomRoomsKeepTheInvariants(seed: Int) {
        var visit = RandomRoom(seed: UInt64(seed), losesNodes: true)
        visit.run(steps: 200)
        #expect(visit.problems.isEmpty, "seed \(seed): \(visit.problems.prefix(5))")
    }

    @Test func randomRestoresAreFollowedByResumes() {
        var resumed = 0
        for seed in 0..<200 {
            var visit = RandomRoom(seed: UInt64(seed), losesNodes: true)
            visit.run(steps: 200)
            for effect in visit.world.history {
                if case .send(.hello(let hello), _) = effect, hello.snapshot == true { resumed += 1 }
            }
        }
        #expect(resumed > 100)
    }

    @Test(arguments: 0..<200)
    func sameSeedGivesTheSameEffects(seed: Int) {
        var first = RandomRoom(seed: UInt64(seed))
        var second = RandomRoom(seed: UInt64(seed))
        first.run(steps: 200)
        second.run(steps: 200)
        #expect(first.world.history == second.world.history)
    }

    @Test(arguments: 0..<200)
    func auditEventsAddUp(seed: Int) {
        var visit = RandomRoom(seed: UInt64(seed), reporting: RoomReporting(reportsText: true, records: true))
        visit.run(steps: 200)
        visit.end()
        var account = AuditEventChecker()
        for effect in visit.world.history { account.take(effect) }
        account.close()
        #expect(account.problems.isEmpty, "seed \(seed): \(account.problems.prefix(5))")
        #expect(account.count > 5)
    }

    /// The random inputs must cover the cases that the invariants are about.
    @Test func randomInputsCoverEveryCase() {
        var covered: Set<String> = []
        var done: Set<String> = []
        var resumed = 0
        for seed in 0..<200 {
            var visit = RandomRoom(seed: UInt64(seed))
            visit.run(steps: 200)
            for effect in visit.world.history {
                if case .handOver = effect { resumed += 1 }
                if case .send(let event, _) = effect { covered.insert(RoomWorld.word(event)) }
                if case .replay(let event, _) = effect { covered.insert(RoomWorld.word(event)) }
                if case .reject(let error, _, _) = effect, let code = error.code.rpc { done.insert("\(code)") }
            }
            done.formUnion(visit.world.closed.values.map { "\($0)" })
        }
        // Never by a room: `callEnded`, `tokenRefreshed` and `stats`.
        #expect(covered.count == 31, "\(covered.sorted())")
        #expect(
            done == ["1401", "1500", "1502", "1503", "left", "roomClosed", "removed", "duplicateIdentity", "limit", "resumeWindowOver"])
        #expect(resumed > 100)
    }
}

/// One room, and participants that act at random.
private struct RandomRoom {
    var world: RoomWorld
    var problems: [String] { model.problems }

    private var random: SplitMix64
    private var model = RoomModel()
    /// The time that the gateway did not run, in total.
    private var pauses = Duration.zero
    private var handles: [ParticipantHandle] = []
    private var tracks: [TrackSID] = [TrackSID(text: "TR_none")]
    private var calls: [(callee: ParticipantHandle, id: String)] = []
    /// Clears that the publisher's shard has not completed.
    private var clears: [(track: TrackSID, epoch: UInt8)] = []
    private var aliases: [TrackAlias: TrackSID] = [:]
    private var lastID: UInt64 = 0
    private var lastTokens: [String: String] = [:]
    private let losesNodes: Bool
    /// Number of history entries processed.
    private var seen = 0

    private static let names = ["ann", "bob", "cid", "dan", "eve", "helper", "spy"]

    init(seed: UInt64, reporting: RoomReporting = .nothing, losesNodes: Bool = false) {
        self.losesNodes = losesNodes
        random = SplitMix64(seed: seed)
        world = RoomWorld(RoomSettings(maxParticipants: 4, silenceLimit: .seconds(3), reporting: reporting), seed: seed)
    }

    mutating func end() {
        if !world.room.isOver { input(.administered(.delete)) }
    }

    mutating func run(steps: Int) {
        for _ in 0..<3 { join() }
        for _ in 0..<steps {
            if losesNodes, below(40) == 0, !world.room.isOver { loseNode() } else { step() }
            model.compare(with: world)
        }
        // All pending requests are answered then: no procedure call takes over a minute, and the pauses of the gateway.
        answerClears()
        let isOpen = !world.room.isOver
        pass(.seconds(61) + pauses)
        if isOpen, !world.room.isOver { model.checkAllAnswered() }
        model.checkAdministrativeCallsEnded()
    }

    private mutating func step() {
        switch below(46) {
        case 0..<4: join()
        case 4: input(.left(anybody(), oneOf([.signalClose, .connectionTimeout, .clientInitiated])))
        case 18..<20: input(.connectionLost(anybody(), oneOf([.signalClose, .connectionTimeout])))
        case 5: input(.administered(command()))
        case 6..<9: input(.talkStarted(oneOf(tracks), at: MediaTime(ticks: UInt32(below(100_000)))))
        case 9: input(.talkStopped(oneOf(tracks), at: MediaTime(ticks: UInt32(below(100_000))), oneOf([.end, .silence])))
        case 10..<12: input(.measured(windows()))
        case 12: input(.connectionMeasured(anybody(), oneOf([.awful, .perfect, Self.silent])))
        case 13: input(.draining(deadline: 1_700_000_600))
        case 14: pass(.seconds(below(8)))
        case 15: if below(4) > 0 { input(.deadlinePassed) } else { pause(.seconds(2 + below(30))) }
        case 40..<44: input(.playout(oneOf(tracks), playoutReport()))
        case 44, 45: answerClears()
        case 16..<18: pass(.milliseconds(below(1_000)))
        default: send()
        }
    }

    /// Everybody has a new handle, and nothing is pending any more.
    private mutating func loseNode() {
        do {
            let image = try world.image()
            clears = []
            calls = []
            let settings = RoomSettings(maxParticipants: 4, silenceLimit: .seconds(3))
            let renewed = try world.loseNode(
                oneOf([.nodeLost, .moved]), over: settings, image: image, after: .milliseconds(below(5_000)), isReported: false)
            model.loseNode(renewed)
            handles += model.present
            input(.restored)
        } catch {
            Issue.record("the image cannot be read: \(error)")
        }
    }

    private mutating func join() {
        let name = oneOf(Self.names)
        let handle = world.newHandle(name)
        handles.append(handle)
        let permission = Permission(
            canPublish: below(6) > 0, canSubscribe: below(6) > 0, canPublishData: below(6) > 0, canUpdateMetadata: below(2) == 0,
            hidden: name == "spy")
        let admission = Admission(
            identity: Identity(text: name), kind: name == "helper" ? .agent : .standard, permission: permission,
            isRoomAdmin: below(4) == 0, autoSubscribe: below(4) > 0, resumeToken: "token \(handle.slot)",
            resumeSecret: ResumeSecret("\(handle.slot)"), resuming: [nil, lastTokens[name], "token 1"][below(3)])
        input(.joined(handle, admission))
    }

    private mutating func send() {
        let request = request()
        lastID += 1
        let id = below(10) == 0 ? nil : lastID
        let sender = anybody()
        // It has no connection yet.
        if !model.isRestored(sender) { input(.request(request, id: id, from: sender)) }
    }

    private mutating func request() -> Request {
        switch below(21) {
        case 0..<3:
            return .publish(
                PublishTrack(source: oneOf(TrackSource.allCases), mode: oneOf(TrackMode.allCases), channels: 1 + below(5) / 2))
        case 3: return .unpublish(oneOf(tracks))
        case 4, 5: return .mute(oneOf(tracks), muted: below(2) == 0)
        case 6, 7: return .subscribe(oneOf(tracks), subscribed: below(2) == 0)
        case 8: return .updateParticipant(ParticipantUpdate(name: "\(below(3))", attributes: ["k": ["", "v"][below(2)]]))
        case 9: return .sendData(DataMessage(topic: "t", payload: .text("x"), to: below(2) == 0 ? nil : [anyIdentity()]))
        case 10: return .sendText(TextMessage(text: "x", to: below(2) == 0 ? nil : [anyIdentity()]))
        case 11: return .sendDigits(["1", "x"][below(2)])
        case 12, 13: return .callProcedure(ProcedureCall(to: anyIdentity(), method: "m", timeoutMs: 1 + below(60_000)))
        case 14:
            guard !calls.isEmpty else { return .refreshToken }
            let call = oneOf(calls)
            let answer =
                below(2) == 0
                ? ProcedureAnswer(requestId: call.id, payload: "x") : ProcedureAnswer(requestId: call.id, error: .applicationError)
            // Usually the callee answers.
            if below(4) > 0 {
                lastID += 1
                input(.request(.answerProcedure(answer), id: lastID, from: call.callee))
            }
            return .answerProcedure(answer)
        case 15: return .segment(segment())
        case 18: return .playoutMark(PlayoutMark(track: oneOf(tracks), ts: UInt32(below(100_000)), name: "m"))
        case 19: return .playoutClear(oneOf(tracks), reason: nil)
        case 20:
            let played = below(3) == 0 ? nil : UInt32(below(100_000))
            return .playoutProgress(
                PlayoutProgress(track: oneOf(tracks), epoch: UInt8(below(3)), playedTs: played, bufferedMs: Double(below(300))))
        case 16: return below(2) == 0 ? .agentState(oneOf(AgentState.allCases)) : .hold(below(2) == 0)
        default:
            let rest: [Request] = [.hold(true), .hold(false), .ping(7), .refreshToken, .leave(reason: "bored")]
            return oneOf(rest)
        }
    }

    private mutating func playoutReport() -> Room.PlayoutQueueReport {
        let (epoch, time) = (UInt8(below(3)), MediaTime(ticks: UInt32(below(100_000))))
        return switch below(5) {
        case 0: .started(epoch: epoch, at: time, playsAt: world.now)
        case 1: .drained(epoch: epoch, end: time)
        case 2: .refilled(epoch: epoch)
        case 3: .received(epoch: epoch, end: time)
        default: .backlog(oneOf(BacklogState.allCases), queuedMilliseconds: below(60_000), dropped: below(2))
        }
    }

    /// Reports the completion of pending clears.
    private mutating func answerClears() {
        let done = clears
        clears = []
        for (track, epoch) in done { input(.playout(track, .cleared(epoch: epoch, end: MediaTime(ticks: UInt32(below(100_000)))))) }
    }

    private mutating func segment() -> TranscriptSegment {
        let speaker = below(2) == 0 ? nil : anyIdentity()
        return TranscriptSegment(id: "s\(below(20))", rev: below(5), role: .user, participant: speaker, text: "x")
    }

    private mutating func command() -> Room.AdminCommand {
        switch below(30) {
        case 20..<23:
            let permission = below(2) == 0 ? nil : Permission(canPublish: below(3) > 0, canSubscribe: below(2) == 0)
            return .updateParticipant(
                anyIdentity(), ParticipantUpdate(name: "\(below(3))", attributes: ["k": ["", "v"][below(2)]]), permission)
        case 23..<26: return .subscribe(anyIdentity(), [oneOf(Array(tracks.suffix(4))), oneOf(Array(tracks.suffix(2)))], below(2) == 0)
        case 26..<30:
            lastID += 1
            return .callProcedure(ProcedureCall(to: anyIdentity(), method: "m", timeoutMs: below(60_000)), number: lastID)
        case 0: return .delete
        case 1..<4: return .remove(anyIdentity())
        case 4..<10: return .mute(oneOf(tracks), muted: below(2) == 0)
        case 10..<13: return .updateMetadata("\(below(3))")
        case 13..<16: return .agentExpected(anyIdentity(), below(4) > 0)
        default:
            let permission = Permission(canPublish: below(3) > 0, canSubscribe: below(2) == 0)
            return .updatePermission(anyIdentity(), permission)
        }
    }

    private mutating func windows() -> [TrackMeasurement] {
        var windows: [TrackMeasurement] = []
        for track in tracks.suffix(5) {
            windows.append(
                TrackMeasurement(track: track, windowMilliseconds: 400, activeMilliseconds: below(401), loudestLevel: below(128)))
        }
        return windows
    }

    private static let silent = ConnectionMeasurement(roundTrip: .zero, jitter: .zero, lossPercent: 0, isSilent: true)

    /// Mostly one of the last, because earlier ones have often left.
    private mutating func anybody() -> ParticipantHandle {
        below(12) == 0 ? oneOf(handles) : oneOf(model.present.isEmpty ? handles : model.present)
    }

    private mutating func anyIdentity() -> Identity { Identity(text: oneOf(Self.names)) }

    private mutating func below(_ bound: Int) -> Int { random.below(bound) }

    private mutating func oneOf<Choice>(_ choices: [Choice]) -> Choice { choices[random.below(choices.count)] }

    private mutating func input(_ input: Room.Input) {
        let wasOver = world.room.isOver
        model.begin(input, isOver: wasOver)
        world.receive(input)
        processHistory()
        model.end(input, isOver: wasOver)
    }

    /// The gateway did not run for a while; timeouts are extended by it.
    private mutating func pause(_ span: Duration) {
        pauses += span
        input(.paused(span))
    }

    private mutating func pass(_ span: Duration) {
        world.pass(span)
        processHistory()
    }

    private mutating func processHistory() {
        for effect in world.history[seen...] {
            model.follow(effect)
            switch effect {
            case .send(.hello(let hello), _): lastTokens[hello.participant.identity.text] = hello.resumeToken
            case .patch(.publish(let track, _)):
                tracks.append(track.sid)
                aliases[track.alias] = track.sid
            case .patch(.clear(let alias, _, let epoch)): if let track = aliases[alias] { clears.append((track, epoch)) }
            case .send(.procedureCalled(let id, _, _, _, _), let callees): calls += callees.map { ($0, id) }
            default: break
            }
        }
        seen = world.history.count
    }
}

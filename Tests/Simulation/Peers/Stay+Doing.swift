internal import Engine
internal import Wire

/// What a peer does of its own accord, sensible or not.
extension Stay {
    func act(_ doing: Doing) {
        guard hello != nil, !isOver else { return }
        switch doing {
        case .publish:
            ask(
                .publish(PublishTrack(source: world.chance.pick(TrackSource.allCases) ?? .microphone, frameMs: drawFrameLength())), .publish
            )
        case .unpublish: withOwnTrack { ask(.unpublish(published[$0].sid), .unpublish(published[$0].sid)) }
        case .mute: withOwnTrack { mute($0, world.chance.chance(0.5)) }
        case .muteSomebody:
            withTrack {
                guard tracks[$0]?.participant != peer.identity else { return }
                ask(.mute($0, muted: world.chance.chance(0.7)))
            }
        case .subscribe: withTrack { subscribe($0, world.chance.chance(0.5)) }
        case .hold: hold(world.chance.chance(0.5))
        case .data, .text: sendData(asText: doing == .text)
        case .call: call()
        case .segment: transcribe()
        case .digits: ask(.sendDigits("12#"))
        case .agentState: ask(.agentState(world.chance.pick(AgentState.allCases) ?? .idle))
        case .update: ask(.updateParticipant(ParticipantUpdate(name: "\(world.chance.below(100))", attributes: ["mood": drawWord()])))
        case .ping: ask(.ping(Int64(world.chance.below(1_000))))
        case .refresh: ask(.refreshToken)
        case .leave: leave()
        case .bundle: withOwnTrack { sendBundle(of: $0) }
        case .flood: withOwnTrack { track in for _ in 0..<150 { line.send(.binary(nextFrame(of: track))) } }
        case .speakAhead: speakAhead()
        case .bargeIn: withTrack { bargeIn($0) }
        case .strangeText: sendStrangeText()
        case .strangeFrame: sendStrangeFrame()
        case .foreignAlias: sendForeignAlias()
        case .wrongEpoch:
            withOwnTrack {
                guard published[$0].mode == .live else { return }
                line.send(.binary(nextFrame(of: $0, epoch: published[$0].epoch &+ UInt8(world.chance.between(1, 255)))))
            }
        }
    }

    func leave() {
        isLeaving = true
        line.send(.text(OutgoingRequest(.leave(reason: world.chance.pick([nil, "USER_REJECTED", "whatever"]) ?? nil)).bytes))
    }

    private func withOwnTrack(_ body: (Int) -> Void) {
        if let track = world.chance.pick(published.indices.filter({ !published[$0].isUnpublished })) { body(track) }
    }

    private func withTrack(_ body: (TrackSID) -> Void) {
        if let track = world.chance.pick(trackOrder) { body(track) }
    }

    private func drawFrameLength() -> Double {
        world.chance.chance(0.8) ? world.swarm.frameMilliseconds : world.chance.pick([2.5, 5, 10, 20, 40, 60, 80, 100, 120, 7]) ?? 20
    }

    private func drawWord() -> String {
        String(repeating: "x", count: world.chance.chance(0.1) ? 3_000 : world.chance.below(20))
    }

    private func mute(_ track: Int, _ muted: Bool) {
        if !muted { published[track].isMuted = false }
        let sid = published[track].sid
        published[track].lastMute = ask(.mute(sid, muted: muted), .mute(sid, muted))
    }

    private func subscribe(_ sid: TrackSID, _ subscribed: Bool) {
        if subscribed { unsubscribedSince[sid] = nil }
        lastSubscribe[sid] = ask(.subscribe(sid, subscribed: subscribed), .subscribe(sid, subscribed))
    }

    private func hold(_ held: Bool) {
        if !held {
            isHeld = false
            deafSince = nil
        }
        lastHold = ask(.hold(held), .hold(held))
    }

    private func sendData(asText: Bool) {
        var recipients: [Identity]?
        if world.chance.chance(0.5) {
            recipients = world.peers.filter { $0.room == peer.room && world.chance.chance(0.3) }.map(\.identity)
        }
        let number = world.ledger.enterMessage(by: peer, to: recipients)
        if asText {
            ask(.sendText(TextMessage(text: "\(number)", to: recipients)))
        } else {
            ask(.sendData(DataMessage(topic: "", payload: .text("\(number)"), to: recipients)))
        }
    }

    private func call() {
        guard let callee = world.chance.pick(world.peers.filter { $0.room == peer.room }) else { return }
        ask(
            .callProcedure(
                ProcedureCall(to: callee.identity, method: "ask", payload: drawWord(), timeoutMs: world.chance.between(1, 1_000))))
    }

    private func transcribe() {
        let id = "\(peer.identity)-\(world.chance.below(3))"
        ask(.segment(TranscriptSegment(id: id, rev: world.chance.below(10), role: .user, text: drawWord())))
    }

    private func sendBundle(of track: Int) {
        let frames = (0..<world.chance.between(1, 20)).map { _ in nextFrame(of: track) }
        line.send(.binary(Bundle.joining(frames)))
    }

    // MARK: What no honest client sends

    private func sendStrangeText() {
        switch world.chance.below(4) {
        case 0:
            unreadableSent += 1
            line.send(.text(Array("{\"type\":".utf8)))
        case 1:
            unreadableSent += 1
            line.send(.text(Array(#"{"type":"ping","id":-1}"#.utf8)))
        case 2:
            lastID += 1
            asked[lastID] = .other
            line.send(.text(Array(#"{"type":"no.such","id":\#(lastID),"data":{}}"#.utf8)))
        default:
            lastID += 1
            asked[lastID] = .other
            line.send(.text(Array(#"{"type":"track.mute","id":\#(lastID),"data":{"track":7}}"#.utf8)))
        }
    }

    /// Malformed in any case: a frame that is well-formed has to be in the ledger.
    private func sendStrangeFrame() {
        var bytes = (0..<world.chance.below(40)).map { _ in UInt8(truncatingIfNeeded: world.chance.next()) }
        switch world.chance.below(3) {
        case 0: bytes = [FrameKind.bundle.rawValue, 3] + bytes.prefix(6)
        case 1: bytes = [FrameKind.audio.rawValue, 0x08] + bytes
        default: if !bytes.isEmpty { bytes[0] &= 0x3F }
        }
        line.send(.binary(bytes))
    }

    /// As if it were somebody else's track, or one that nobody has.
    private func sendForeignAlias() {
        let alias =
            world.chance.pick(trackOrder.compactMap { tracks[$0] }.filter { $0.participant != peer.identity })?.alias ?? TrackAlias(60_000)
        let header = FrameHeader(
            alias: alias, sequence: SequenceNumber(1), level: AudioLevelByte(voice: true, level: 30), timestamp: MediaTime(ticks: 1))
        line.send(.binary(world.ledger.enter(header, of: TrackSID(text: "foreign"), by: self, mayBeHeard: false, in: world)))
    }
}

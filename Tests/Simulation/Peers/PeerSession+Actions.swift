internal import Engine
internal import Wire

/// Random actions, valid or not.
extension PeerSession {
    func act(_ action: PeerAction) {
        guard hello != nil, !isOver else { return }
        switch action {
        case .publish:
            sendRequest(
                .publish(PublishTrack(source: world.random.pick(TrackSource.allCases) ?? .microphone, frameMs: drawFrameLength())), .publish
            )
        case .unpublish: withOwnTrack { sendRequest(.unpublish(published[$0].sid), .unpublish(published[$0].sid)) }
        case .mute: withOwnTrack { mute($0, world.random.chance(0.5)) }
        case .muteParticipant:
            withTrack {
                guard tracks[$0]?.participant != peer.identity else { return }
                sendRequest(.mute($0, muted: world.random.chance(0.7)))
            }
        case .subscribe: withTrack { subscribe($0, world.random.chance(0.5)) }
        case .hold: hold(world.random.chance(0.5))
        case .data, .text: sendData(asText: action == .text)
        case .call: call()
        case .segment: transcribe()
        case .digits: sendRequest(.sendDigits("12#"))
        case .agentState: sendRequest(.agentState(world.random.pick(AgentState.allCases) ?? .idle))
        case .update:
            sendRequest(.updateParticipant(ParticipantUpdate(name: "\(world.random.below(100))", attributes: ["mood": drawWord()])))
        case .ping: sendRequest(.ping(Int64(world.random.below(1_000))))
        case .refresh: sendRequest(.refreshToken)
        case .leave: leave()
        case .bundle: withOwnTrack { sendBundle(of: $0) }
        case .flood: withOwnTrack { track in for _ in 0..<150 { connection.send(.binary(nextFrame(of: track))) } }
        case .speakAhead: speakAhead()
        case .bargeIn: withTrack { bargeIn($0) }
        case .strangeText: sendStrangeText()
        case .strangeFrame: sendStrangeFrame()
        case .foreignAlias: sendForeignAlias()
        case .wrongEpoch:
            withOwnTrack {
                guard published[$0].mode == .live else { return }
                connection.send(.binary(nextFrame(of: $0, epoch: published[$0].epoch &+ UInt8(world.random.between(1, 255)))))
            }
        }
    }

    func leave() {
        isLeaving = true
        connection.send(.text(OutgoingRequest(.leave(reason: world.random.pick([nil, "USER_REJECTED", "whatever"]) ?? nil)).bytes))
    }

    private func withOwnTrack(_ body: (Int) -> Void) {
        if let track = world.random.pick(published.indices.filter({ !published[$0].isUnpublished })) { body(track) }
    }

    private func withTrack(_ body: (TrackSID) -> Void) {
        if let track = world.random.pick(trackOrder) { body(track) }
    }

    private func drawFrameLength() -> Double {
        world.random.chance(0.8) ? world.swarm.frameMilliseconds : world.random.pick([2.5, 5, 10, 20, 40, 60, 80, 100, 120, 7]) ?? 20
    }

    private func drawWord() -> String {
        String(repeating: "x", count: world.random.chance(0.1) ? 3_000 : world.random.below(20))
    }

    private func mute(_ track: Int, _ muted: Bool) {
        if !muted { published[track].isMuted = false }
        let sid = published[track].sid
        published[track].lastMute = sendRequest(.mute(sid, muted: muted), .mute(sid, muted))
    }

    private func subscribe(_ sid: TrackSID, _ subscribed: Bool) {
        if subscribed { unsubscribedSince[sid] = nil }
        lastSubscribe[sid] = sendRequest(.subscribe(sid, subscribed: subscribed), .subscribe(sid, subscribed))
    }

    private func hold(_ held: Bool) {
        if !held {
            isHeld = false
            holdSince = nil
        }
        lastHold = sendRequest(.hold(held), .hold(held))
    }

    private func sendData(asText: Bool) {
        var recipients: [Identity]?
        if world.random.chance(0.5) {
            recipients = world.peers.filter { $0.room == peer.room && world.random.chance(0.3) }.map(\.identity)
        }
        let number = world.ledger.enterMessage(by: peer, to: recipients)
        if asText {
            sendRequest(.sendText(TextMessage(text: "\(number)", to: recipients)))
        } else {
            sendRequest(.sendData(DataMessage(topic: "", payload: .text("\(number)"), to: recipients)))
        }
    }

    private func call() {
        guard let callee = world.random.pick(world.peers.filter { $0.room == peer.room }) else { return }
        sendRequest(
            .callProcedure(
                ProcedureCall(to: callee.identity, method: "sendRequest", payload: drawWord(), timeoutMs: world.random.between(1, 1_000))))
    }

    private func transcribe() {
        let id = "\(peer.identity)-\(world.random.below(3))"
        sendRequest(.segment(TranscriptSegment(id: id, rev: world.random.below(10), role: .user, text: drawWord())))
    }

    private func sendBundle(of track: Int) {
        let frames = (0..<world.random.between(1, 20)).map { _ in nextFrame(of: track) }
        connection.send(.binary(Bundle.joining(frames)))
    }

    // MARK: Protocol violations

    private func sendStrangeText() {
        switch world.random.below(4) {
        case 0:
            unreadableSent += 1
            connection.send(.text(Array("{\"type\":".utf8)))
        case 1:
            unreadableSent += 1
            connection.send(.text(Array(#"{"type":"ping","id":-1}"#.utf8)))
        case 2:
            lastID += 1
            pendingRequests[lastID] = .other
            connection.send(.text(Array(#"{"type":"no.such","id":\#(lastID),"data":{}}"#.utf8)))
        default:
            lastID += 1
            pendingRequests[lastID] = .other
            connection.send(.text(Array(#"{"type":"track.mute","id":\#(lastID),"data":{"track":7}}"#.utf8)))
        }
    }

    /// Always malformed, because a well-formed frame must be in the ledger.
    private func sendStrangeFrame() {
        var bytes = (0..<world.random.below(40)).map { _ in UInt8(truncatingIfNeeded: world.random.next()) }
        switch world.random.below(3) {
        case 0: bytes = [FrameKind.bundle.rawValue, 3] + bytes.prefix(6)
        case 1: bytes = [FrameKind.audio.rawValue, 0x08] + bytes
        default: if !bytes.isEmpty { bytes[0] &= 0x3F }
        }
        connection.send(.binary(bytes))
    }

    /// Uses the alias of another participant's track, or an unused one.
    private func sendForeignAlias() {
        let alias =
            world.random.pick(trackOrder.compactMap { tracks[$0] }.filter { $0.participant != peer.identity })?.alias ?? TrackAlias(60_000)
        let header = FrameHeader(
            alias: alias, sequence: SequenceNumber(1), level: AudioLevelByte(voice: true, level: 30), timestamp: MediaTime(ticks: 1))
        connection.send(.binary(world.ledger.enter(header, of: TrackSID(text: "foreign"), by: self, isDeliverable: false, in: world)))
    }
}

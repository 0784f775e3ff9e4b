import Foundation
import Identity
import Wire

/// A participant that follows the protocol, unless a test makes it do otherwise.
final class Caller {
    let socket: RawWebSocket
    let hello: Hello
    /// Received events in order, without `hello`; consumers remove them.
    var events: [Event] = []
    /// Received frames in order, with their times.
    var frames: [(bytes: [UInt8], at: ContinuousClock.Instant)] = []
    private var answers: [UInt64?: Result<ReplyFields, RequestError>] = [:]
    private(set) var ending: Incoming?
    private var lastID: UInt64 = 1_000
    private(set) var lastSeq: UInt64 = 0

    init(
        _ gateway: TestGateway, room: String, identity: String, path: String = "/v1/rtc", receiveBuffer: Int32? = nil,
        segmentBytes: Int32? = nil, shard: Int? = nil, _ change: (inout AccessToken) -> Void = { _ in }
    ) throws {
        let ask = HTTPAsk.upgrade(token: TestToken.joining(room, as: identity, change), path: path)
        socket = try gateway.webSocket(ask, receiveBuffer: receiveBuffer, segmentBytes: segmentBytes, shard: shard)
        guard case .text(let text) = try socket.next(), case .event(.hello(let hello), seq: 1) = try ServerMessage(parsing: text) else {
            throw DidNotHappen(what: "hello first")
        }
        self.hello = hello
        lastSeq = 1
    }

    /// Resumes another client's session.
    ///
    /// - Parameters:
    ///   - lastSeq: the last event that it claims to have received.
    ///   - token: the resume token that it presents.
    ///   - identity: its identity, if not that of the session.
    /// - Throws: if the messages before `hello` are not the events after `lastSeq`, each once.
    convenience init(
        resuming lost: Caller, on gateway: TestGateway, shard: Int? = nil, lastSeq: UInt64? = nil, token: String? = nil,
        identity: String? = nil, receiveBuffer: Int32? = nil
    ) throws {
        let socket = try lost.beginToResume(
            on: gateway, shard: shard, lastSeq: lastSeq, token: token, identity: identity, receiveBuffer: receiveBuffer)
        try self.init(on: socket, goingOnAfter: lastSeq ?? lost.lastSeq)
    }

    /// Upgrades with the request to resume, and reads nothing.
    func beginToResume(
        on gateway: TestGateway, shard: Int? = nil, lastSeq: UInt64? = nil, token: String? = nil, identity: String? = nil,
        receiveBuffer: Int32? = nil
    ) throws -> RawWebSocket {
        let path = "/v1/rtc?resume=\(token ?? hello.resumeToken)&last_seq=\(lastSeq ?? self.lastSeq)"
        let pass = TestToken.joining(hello.room.name, as: identity ?? hello.participant.identity.text) { [kind = hello.participant.kind] in
            $0.kind = kind
        }
        return try gateway.webSocket(.upgrade(token: pass, path: path), receiveBuffer: receiveBuffer, shard: shard)
    }

    /// Reads the replayed events and `hello`.
    init(on socket: RawWebSocket, goingOnAfter seq: UInt64) throws {
        self.socket = socket
        var replayed: [Event] = []
        while true {
            let incoming = try socket.next()
            guard case .text(let text) = incoming, case .event(let event, let number) = try ServerMessage(parsing: text) else {
                throw NotGreeted(incoming: incoming)
            }
            if case .hello(let hello) = event {
                let expected = hello.resumed == true ? seq + UInt64(replayed.count) + 1 : 1
                guard number == expected else { throw DidNotHappen(what: "hello under \(expected), not \(number)") }
                self.hello = hello
                lastSeq = number
                events = replayed
                return
            }
            replayed.append(event)
            guard number == seq + UInt64(replayed.count) else { throw DidNotHappen(what: "seq \(seq) + \(replayed.count), not \(number)") }
        }
    }

    /// Goes on after a `hello` that was read already.
    init(on socket: RawWebSocket, greetedBy hello: Hello, seq: UInt64) {
        (self.socket, self.hello, lastSeq) = (socket, hello, seq)
    }

    // MARK: Receiving

    /// Receives one message.
    ///
    /// - Returns: false if none arrives in time or the connection has ended.
    @discardableResult
    func take(within span: Duration = Patience.usual) throws -> Bool {
        let incoming: Incoming
        do {
            incoming = try socket.next(within: span)
        } catch is DidNotHappen {
            return false
        }
        switch incoming {
        case .text(let text): try note(ServerMessage(parsing: text))
        case .binary(let message): try note(message)
        case .pong: break
        case .close, .end: ending = ending ?? incoming
        }
        return incoming != .end
    }

    /// Waits for a message, and receives all that have arrived by then.
    func takeAll(within span: Duration) throws {
        guard try take(within: span) else { return }
        while try take(within: .zero) {}
    }

    private func note(_ message: ServerMessage) throws {
        switch message {
        case .event(let event, let seq):
            guard seq == lastSeq + 1 else { throw DidNotHappen(what: "seq \(lastSeq + 1), but \(seq) came") }
            lastSeq = seq
            events.append(event)
        case .unknownEvent(let type, _): throw DidNotHappen(what: "a known event instead of \(type)")
        case .reply(let id, let fields): answers[id] = .success(fields)
        case .error(let id, let error): answers[id] = .failure(error)
        }
    }

    private func note(_ message: [UInt8]) throws {
        let now = ContinuousClock.now
        guard message.first == FrameKind.bundle.rawValue else {
            frames.append((message, now))
            return
        }
        try message.withUnsafeBytes { bytes throws in
            try Bundle.forEachFrame(in: bytes) { frames.append((Array($0), now)) }
        }
    }

    /// Receives messages until `condition` holds.
    func take(until what: String, within span: Duration = Patience.usual, _ condition: (Caller) -> Bool) throws {
        let deadline = ContinuousClock.now + span
        while !condition(self) {
            let isUp = try take(within: max(.zero, deadline - .now))
            guard isUp || condition(self) else { throw DidNotHappen(what: ending.map { "\(what) before \($0)" } ?? what) }
        }
    }

    /// Removes and returns the next event that `choose` accepts; earlier ones stay.
    func event<T>(_ what: String, within span: Duration = Patience.usual, _ choose: (Event) -> T?) throws -> T {
        try take(until: what, within: span) { $0.events.contains { choose($0) != nil } }
        let index = events.firstIndex { choose($0) != nil }!
        return choose(events.remove(at: index))!
    }

    /// Waits for this event.
    func await(_ event: Event) throws {
        _ = try self.event("\(event)") { $0 == event ? true : nil }
    }

    /// The next frame.
    func frame(within span: Duration = Patience.usual) throws -> [UInt8] {
        try take(until: "a frame", within: span) { !$0.frames.isEmpty }
        return frames.removeFirst().bytes
    }

    /// The close code with which the gateway ends the connection; nil for an end without one.
    func closeCode(within span: Duration = Patience.usual) throws -> UInt16? {
        try take(until: "the end", within: span) { $0.ending != nil }
        if case .close(let code, _) = ending { return code }
        return nil
    }

    // MARK: Requests

    @discardableResult
    func ask(_ request: Request) throws -> ReplyFields {
        try answer(to: send(request)).get()
    }

    /// Sends a request without waiting for its reply.
    ///
    /// - Returns: its id.
    func send(_ request: Request) throws -> UInt64 {
        lastID += 1
        try socket.send(text: String(decoding: OutgoingRequest(request, id: lastID).bytes, as: UTF8.self))
        return lastID
    }

    /// The reply to a request; nil for an error without an id.
    func answer(to id: UInt64?) throws -> Result<ReplyFields, RequestError> {
        try take(until: "an answer to \(id.map(String.init) ?? "null")") { $0.answers[id] != nil }
        return answers.removeValue(forKey: id)!
    }

    /// Whether a reply has been received that `answer(to:)` has not returned.
    func hasAnswer(to id: UInt64?) -> Bool { answers[id] != nil }

    /// Waits until everything sent before has been handled.
    func settle() throws { try ask(.ping(0)) }

    func publish(_ track: PublishTrack = PublishTrack()) throws -> TrackInfo {
        guard let track = try ask(.publish(track)).track else { throw DidNotHappen(what: "a track in the reply") }
        return track
    }

    func say(_ frame: [UInt8]) throws { try socket.send(binary: frame) }
}

/// Frames whose packets identify them.
enum TestFrame {
    static func header(
        _ alias: TrackAlias, _ number: Int, flags: FrameFlags = [], level: Int = 30, epoch: UInt8 = 0
    ) -> FrameHeader {
        FrameHeader(
            flags: flags, alias: alias, sequence: SequenceNumber(UInt16(truncatingIfNeeded: number)),
            level: AudioLevelByte(voice: true, level: level), epoch: epoch,
            timestamp: MediaTime(ticks: UInt32(truncatingIfNeeded: number * 960)))
    }

    static func bytes(_ alias: TrackAlias, _ number: Int, flags: FrameFlags = [], epoch: UInt8 = 0, packetBytes: Int = 80) -> [UInt8] {
        let packet = (0..<packetBytes).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) }
        return header(alias, number, flags: flags, epoch: epoch).bytes + packet
    }

    static func sequence(of frame: [UInt8]) -> Int { Int(frame[4]) << 8 | Int(frame[5]) }
    static func isAfterDrop(_ frame: [UInt8]) -> Bool { frame[1] & 0x08 != 0 }
}

/// A message arrived where an event or `hello` was expected.
struct NotGreeted: Error, CustomStringConvertible {
    let incoming: Incoming
    var description: String { "not greeted, but \(incoming)" }
}

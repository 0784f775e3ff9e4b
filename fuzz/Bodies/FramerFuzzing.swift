private import Sockets
private import Wire

/// Compares `WebSocketFramer` with itself on the same stream in other pieces, and with an independent parser.
enum FramerFuzzing {
    /// The first byte selects the role (bit 0: server) and the length of pieces, the rest is the stream.
    static func read(_ bytes: [UInt8]) {
        guard let choice = bytes.first else { return }
        let stream = Array(bytes.dropFirst())
        let isServer = choice & 1 == 1
        let whole = Reading(stream, isServer: isServer, pieceLength: .max)
        precondition(whole.events == PlainFrame.events(in: stream, isServer: isServer), "what is read is not what RFC 6455 says")
        for pieceLength in [1, Int(choice >> 1) + 1] {
            let inPieces = Reading(stream, isServer: isServer, pieceLength: pieceLength)
            precondition(inPieces == whole, "what is read depends on how the stream is cut")
        }
    }

    /// The other end reads what is written. The first byte selects the opcode and whether to mask, the next four are the mask.
    static func write(_ bytes: [UInt8]) {
        guard bytes.count >= 5 else { return }
        let opcode: WebSocketOpcode = [.text, .binary, .ping, .pong][Int(bytes[0] >> 1) % 4]
        let payload = Array(bytes[5...].prefix(opcode == .ping || opcode == .pong ? 125 : .max))
        let isMasked = bytes[0] & 1 == 1
        let headroom = [UInt8](repeating: bytes[1], count: 14)
        var memory = headroom + payload
        let start = memory.withUnsafeMutableBytes { memory in
            let body = memory.baseAddress! + headroom.count
            let mask = memory.loadUnaligned(as: UInt32.self)
            return if isMasked {
                WebSocketFramer.writeMaskedHeader(opcode, payloadCount: payload.count, before: body, mask: mask) - memory.baseAddress!
            } else {
                WebSocketFramer.writeHeader(opcode, payloadCount: payload.count, before: body) - memory.baseAddress!
            }
        }
        precondition(start >= 0 && Array(memory.prefix(start)) == Array(headroom.prefix(start)), "written before the header")
        let reading = Reading(Array(memory[start...]), isServer: isMasked, pieceLength: .max)
        let isRead = opcode != .text || String(validating: payload, as: UTF8.self) != nil
        precondition(reading.events == [isRead ? .payload(opcode.rawValue, payload) : .violation(.invalidText)], "not what was written")
        precondition(reading.isBetweenMessages == isRead, "more was written than a frame")
    }

    fileprivate enum Found: Equatable {
        case payload(_ opcode: UInt8, [UInt8])
        case close(UInt16, [UInt8])
        case violation(CloseReason)
    }

    /// What a framer reads from a stream in pieces.
    private struct Reading: Equatable {
        var events: [Found] = []
        var isBetweenMessages = true

        init(_ stream: [UInt8], isServer: Bool, pieceLength: Int) {
            var framer = WebSocketFramer(role: isServer ? .server : .client)
            var rest = stream[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(pieceLength))
                rest = rest.dropFirst(piece.count)
                receive(piece, &framer)
            }
            isBetweenMessages = framer.isBetweenMessages
        }

        /// Bytes around the piece in memory are not written.
        private mutating func receive(_ piece: [UInt8], _ framer: inout WebSocketFramer) {
            let margin = [UInt8](repeating: 0x82, count: 16)
            var memory = margin + piece + margin
            memory.withUnsafeMutableBytes { memory in
                var bytes = UnsafeMutableRawBufferPointer(rebasing: memory[margin.count..<(margin.count + piece.count)])
                while let event = framer.next(in: &bytes) {
                    switch event {
                    case .text(let payload): events.append(.payload(1, Array(payload)))
                    case .binary(let payload): events.append(.payload(2, Array(payload)))
                    case .ping(let payload): events.append(.payload(9, Array(payload)))
                    case .pong(let payload): events.append(.payload(10, Array(payload)))
                    case .close(let code): events.append(.close(code, framer.receivedClosePayload))
                    case .violation(let reason): events.append(.violation(reason))
                    }
                }
                precondition(bytes.isEmpty, "bytes are left")
            }
            precondition(memory.starts(with: margin) && memory.suffix(margin.count) == margin[...], "written beside the piece")
        }
    }
}

/// A literal implementation of RFC 6455 section 5, which needs the whole stream.
private struct PlainFrame {
    let isFinal: Bool
    let opcode: UInt8
    /// As far as it is there.
    let payload: [UInt8]
    let isComplete: Bool

    static func events(in stream: [UInt8], isServer: Bool) -> [FramerFuzzing.Found] {
        var events: [FramerFuzzing.Found] = []
        var rest = stream[...]
        var message: (opcode: UInt8, bytes: [UInt8])?
        while !rest.isEmpty {
            let frame: PlainFrame
            do throws(Refusal) {
                guard let next = try PlainFrame(&rest, isServer: isServer, within: message.map { ($0.opcode, $0.bytes.count) }) else {
                    break
                }
                frame = next
            } catch {
                return events + [.violation(error.reason)]
            }
            if frame.opcode < 8 {
                let (opcode, bytes) = (message?.opcode ?? frame.opcode, (message?.bytes ?? []) + frame.payload)
                if opcode == 1, !isText(bytes, isWhole: frame.isComplete && frame.isFinal) { return events + [.violation(.invalidText)] }
                guard frame.isComplete else { break }
                message = frame.isFinal ? nil : (opcode, bytes)
                if frame.isFinal { events.append(.payload(opcode, bytes)) }
            } else {
                guard frame.isComplete else { break }
                guard frame.opcode == 8 else {
                    events.append(.payload(frame.opcode, frame.payload))
                    continue
                }
                return events + [close(frame.payload)]
            }
        }
        return events
    }

    private struct Refusal: Error {
        var reason = CloseReason.webSocketProtocol
    }

    /// Takes a frame from the front.
    ///
    /// - Returns: nil if its header is not complete.
    private init?(_ rest: inout ArraySlice<UInt8>, isServer: Bool, within message: (opcode: UInt8, count: Int)?) throws(Refusal) {
        func number(_ count: Int) -> UInt64? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reduce(0) { $0 * 256 + UInt64($1) }
        }
        guard let first = number(1) else { return nil }
        (isFinal, opcode) = (first / 128 == 1, UInt8(first % 16))
        guard first / 16 % 8 == 0, [0, 1, 2, 8, 9, 10].contains(opcode) else { throw Refusal() }
        if opcode >= 8 && !isFinal || opcode == 0 && message == nil || (1...2).contains(opcode) && message != nil { throw Refusal() }
        guard let second = number(1) else { return nil }
        guard (second >= 128) == isServer else { throw Refusal() }
        var length = second % 128
        if opcode >= 8 && length > 125 || opcode == 8 && length == 1 { throw Refusal() }
        for (form, count, shortest) in [(126, 2, 126), (127, 8, 65_536)] as [(UInt64, Int, UInt64)] where second % 128 == form {
            if count == 8, let top = rest.first, top >= 128 { throw Refusal() }
            guard let long = number(count) else { return nil }
            guard long >= shortest else { throw Refusal() }
            length = long
        }
        if opcode < 8 {
            let limit = (message?.opcode ?? opcode) == 2 ? ProtocolLimits.messageBytesMax : ProtocolLimits.controlBytesMax
            guard length + UInt64(message?.count ?? 0) <= UInt64(limit) else { throw Refusal(reason: .messageTooBig) }
        }
        var mask: [UInt8] = [0, 0, 0, 0]
        if isServer {
            guard rest.count >= 4 else { return nil }
            mask = Array(rest.prefix(4))
            rest = rest.dropFirst(4)
        }
        let masked = rest.prefix(Int(length))
        rest = rest.dropFirst(masked.count)
        payload = masked.enumerated().map { $1 ^ mask[$0 % 4] }
        isComplete = payload.count == Int(length)
    }

    /// Whether text is valid, or, if it is not whole, can be continued.
    private static func isText(_ bytes: [UInt8], isWhole: Bool) -> Bool {
        let ends: [[UInt8]] = isWhole ? [[]] : [[], [0x80], [0xBF], [0x80, 0x80], [0xBF, 0xBF], [0x80, 0x80, 0x80], [0xBF, 0xBF, 0xBF]]
        return ends.contains { String(validating: bytes + $0, as: UTF8.self) != nil }
    }

    private static func close(_ payload: [UInt8]) -> FramerFuzzing.Found {
        guard payload.count >= 2 else { return .close(1005, payload) }
        let code = UInt16(payload[0]) * 256 + UInt16(payload[1])
        let unsendable = [1004, 1005, 1006].contains(code) || !(1000...1014).contains(code) && !(3000...4999).contains(code)
        if unsendable { return .violation(.webSocketProtocol) }
        return isText(Array(payload.dropFirst(2)), isWhole: true) ? .close(code, payload) : .violation(.invalidText)
    }
}

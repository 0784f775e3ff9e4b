private import Sockets
private import TLSFastPath

/// Compares `WebSocketRecord` with an independent parser that goes byte by byte.
enum RecordFuzzing {
    /// The first byte selects whether frames should be masked, the rest is the record.
    static func read(_ bytes: [UInt8]) {
        guard let choice = bytes.first else { return }
        let record = Array(bytes.dropFirst())
        let areMasked = choice & 1 == 1
        let finding = record.withUnsafeBytes { WebSocketRecord.classify($0, areMasked: areMasked) }
        precondition(finding == expected(record, areMasked: areMasked), "\(finding) is not what is in this record")
        for surrounding: UInt8 in [0x00, 0x82, 0xFF] { readAmong(surrounding, record, finding, areMasked: areMasked) }
    }

    /// Bytes around a record in the buffer are neither read nor written.
    private static func readAmong(_ surrounding: UInt8, _ record: [UInt8], _ finding: WebSocketRecord.Content, areMasked: Bool) {
        let margin = [UInt8](repeating: surrounding, count: 16)
        var buffer = margin + record + margin
        let place = margin.count..<(margin.count + record.count)
        var found: [Message] = []
        buffer.withUnsafeMutableBytes { all in
            let inside = UnsafeMutableRawBufferPointer(rebasing: all[place])
            let again = WebSocketRecord.classify(UnsafeRawBufferPointer(inside), areMasked: areMasked)
            precondition(again == finding, "what a record is depends on what stands around it")
            guard finding == .messages else { return }
            WebSocketRecord.forEachMessage(in: inside) { message, kind in
                found.append(Message(opcode: kind.rawValue % 16, payload: Array(message)))
            }
        }
        precondition(Array(buffer.prefix(margin.count)) == margin && Array(buffer.suffix(margin.count)) == margin, "written outside")
        guard finding == .messages else { return precondition(Array(buffer[place]) == record, "a record for lws was changed") }
        let sent = PlainFrame.all(in: record) ?? []
        precondition(found == sent.map { Message(opcode: $0.opcode, payload: $0.payload) }, "a message is not what was sent")
        let count = sent.reduce(0) { $0 + $1.headerCount + $1.payload.count }
        precondition(count == record.count, "bytes belong to no message")
    }

    private struct Message: Equatable {
        var opcode: UInt8
        var payload: [UInt8]
    }

    private static func expected(_ record: [UInt8], areMasked: Bool) -> WebSocketRecord.Content {
        guard let frames = PlainFrame.all(in: record), frames.allSatisfy({ $0.isFinal && $0.opcode != 0 }) else { return .fragments }
        let areMessages = frames.allSatisfy {
            let isForUs = $0.opcode == 1 || $0.opcode == 2 || $0.opcode == 10 && $0.payload.count <= 125
            return isForUs && $0.reserved == 0 && $0.isMasked == areMasked
        }
        return areMessages ? .messages : .others
    }
}

/// A literal implementation of RFC 6455 section 5.2.
private struct PlainFrame {
    var isFinal = false
    var reserved: UInt8 = 0
    var opcode: UInt8 = 0
    var isMasked = false
    var headerCount = 0
    var payload: [UInt8] = []

    /// - Returns: nil if the last one does not end, or one has an eight-byte length, which exceeds a record.
    static func all(in record: [UInt8]) -> [PlainFrame]? {
        var frames: [PlainFrame] = []
        var rest = record
        while !rest.isEmpty {
            guard let frame = PlainFrame(&rest) else { return nil }
            frames.append(frame)
        }
        return frames
    }

    /// Takes a frame from the beginning.
    private init?(_ rest: inout [UInt8]) {
        let before = rest.count
        func take(_ count: Int, _ rest: inout [UInt8]) -> [UInt8]? {
            guard rest.count >= count else { return nil }
            defer { rest.removeFirst(count) }
            return Array(rest.prefix(count))
        }
        guard let start = take(2, &rest) else { return nil }
        isFinal = start[0] / 128 == 1
        reserved = start[0] / 16 % 8
        opcode = start[0] % 16
        isMasked = start[1] / 128 == 1
        var length = Int(start[1] % 128)
        if length == 127 { return nil }
        if length == 126 {
            guard let more = take(2, &rest) else { return nil }
            length = Int(more[0]) * 256 + Int(more[1])
        }
        var mask: [UInt8] = [0, 0, 0, 0]
        if isMasked {
            guard let key = take(4, &rest) else { return nil }
            mask = key
        }
        headerCount = before - rest.count
        guard let masked = take(length, &rest) else { return nil }
        for (index, byte) in masked.enumerated() { payload.append(byte ^ mask[index % 4]) }
    }
}

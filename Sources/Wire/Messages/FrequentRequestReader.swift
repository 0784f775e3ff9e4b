/// Decodes `playout.progress` and `ping` in their common form without `Codable`.
///
/// Subscribers report progress five times a second, and `Codable` takes twenty times as long. Everything else falls back to `Codable`: other
/// requests, escapes, non-ASCII text, unknown or repeated names. This reader rejects nothing itself.
package struct FrequentRequestReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    /// Member names of a message and of its `data`.
    private enum Name: Int {
        case type, id, data, track, epoch, playedTs, bufferedMs, t
    }

    /// One bit for each name that was read.
    private var seen = 0
    private var type: Range<Int>?
    private var id: UInt64?
    private var track: Range<Int>?
    private var epoch: UInt8?
    private var playedTs: UInt32?
    private var bufferedMs: Double?
    private var t: Int64?

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// - Returns: nil if `Codable` has to decode the message.
    package static func request(in text: [UInt8]) -> IncomingRequest? {
        text.withUnsafeBufferPointer { bytes in
            var reader = FrequentRequestReader(bytes)
            guard reader.readObject({ $0.readMember($1) }) else { return nil }
            reader.skipSpace()
            return reader.position == bytes.count ? reader.request : nil
        }
    }

    private var request: IncomingRequest? {
        guard let type else { return nil }
        if isWord("playout.progress", at: type) {
            guard let track, let epoch, let bufferedMs, !hasSeen(.t) else { return nil }
            let sid = TrackSID(text: String(decoding: bytes[track], as: UTF8.self))
            let progress = PlayoutProgress(track: sid, epoch: epoch, playedTs: playedTs, bufferedMs: bufferedMs)
            return IncomingRequest(id: id, content: .success(.playoutProgress(progress)))
        }
        let others: [Name] = [.track, .epoch, .playedTs, .bufferedMs]
        guard isWord("ping", at: type), !others.contains(where: hasSeen) else { return nil }
        return IncomingRequest(id: id, content: .success(.ping(t ?? 0)))
    }

    private func hasSeen(_ name: Name) -> Bool { seen & 1 << name.rawValue != 0 }

    // MARK: Members

    private mutating func readObject(_ readMember: (inout Self, Name) -> Bool) -> Bool {
        guard take("{") else { return false }
        if take("}") { return true }
        repeat {
            guard let text = readText(), let name = name(at: text), !hasSeen(name) else { return false }
            seen |= 1 << name.rawValue
            guard take(":"), readMember(&self, name) else { return false }
        } while take(",")
        return take("}")
    }

    private func name(at text: Range<Int>) -> Name? {
        if isWord("type", at: text) { return .type }
        if isWord("id", at: text) { return .id }
        if isWord("data", at: text) { return .data }
        if isWord("track", at: text) { return .track }
        if isWord("epoch", at: text) { return .epoch }
        if isWord("played_ts", at: text) { return .playedTs }
        if isWord("buffered_ms", at: text) { return .bufferedMs }
        return isWord("t", at: text) ? .t : nil
    }

    private mutating func readMember(_ name: Name) -> Bool {
        switch name {
        case .type: Self.keep(readText(), in: &type)
        case .id: Self.keep(readWhole(), in: &id)
        case .data: readObject { $0.readDataMember($1) }
        default: false
        }
    }

    private mutating func readDataMember(_ name: Name) -> Bool {
        switch name {
        case .track: Self.keep(readText(), in: &track)
        case .epoch: Self.keep(readWhole().flatMap(UInt8.init(exactly:)), in: &epoch)
        case .playedTs: takeNull() || Self.keep(readWhole().flatMap(UInt32.init(exactly:)), in: &playedTs)
        case .bufferedMs: Self.keep(readDecimal(), in: &bufferedMs)
        case .t: Self.keep(readWhole().map(Int64.init), in: &t)
        default: false
        }
    }

    /// - Returns: whether there was a value.
    private static func keep<Value>(_ value: Value?, in member: inout Value?) -> Bool {
        member = value
        return value != nil
    }

    // MARK: Values

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func takeNull() -> Bool {
        skipSpace()
        guard position + 4 <= bytes.count, isWord("null", at: position..<position + 4) else { return false }
        position += 4
        return true
    }

    /// - Returns: the range of a string without escapes, or nil.
    private mutating func readText() -> Range<Int>? {
        guard take("\"") else { return nil }
        let start = position
        while position < bytes.count, bytes[position] >= 0x20, bytes[position] < 0x7F, bytes[position] != UInt8(ascii: "\\") {
            if bytes[position] == UInt8(ascii: "\"") {
                position += 1
                return start..<position - 1
            }
            position += 1
        }
        return nil
    }

    /// Reads an integer of at most 18 digits, which always fits 64 bits, without leading zeros, fraction or exponent.
    private mutating func readWhole() -> UInt64? {
        skipSpace()
        guard let (value, count) = readDigits(atMost: 18), count > 0 else { return nil }
        return next == UInt8(ascii: ".") || isExponent ? nil : value
    }

    /// Reads a number without exponent of at most 15 digits, so that dividing by a power of ten yields the nearest `Double`.
    private mutating func readDecimal() -> Double? {
        skipSpace()
        guard let (whole, count) = readDigits(atMost: 15), count > 0 else { return nil }
        var (value, divisor) = (whole, 1.0)
        if next == UInt8(ascii: ".") {
            position += 1
            let places = position
            while position < bytes.count, let digit = digit(at: position) {
                guard position - places + count < 15 else { return nil }
                value = value * 10 + UInt64(digit)
                divisor *= 10
                position += 1
            }
            guard position > places else { return nil }
        }
        return isExponent ? nil : Double(value) / divisor
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }
    private var isExponent: Bool { next == UInt8(ascii: "e") || next == UInt8(ascii: "E") }

    /// - Returns: nil for more than `max` digits, or a leading zero.
    private mutating func readDigits(atMost max: Int) -> (value: UInt64, count: Int)? {
        let start = position
        var value: UInt64 = 0
        while position < bytes.count, let digit = digit(at: position) {
            guard position - start < max, value > 0 || position == start else { return nil }
            value = value * 10 + UInt64(digit)
            position += 1
        }
        return (value, position - start)
    }

    private func digit(at index: Int) -> UInt8? {
        let digit = bytes[index] &- UInt8(ascii: "0")
        return digit < 10 ? digit : nil
    }

    private func isWord(_ word: StaticString, at range: Range<Int>) -> Bool {
        range.count == word.utf8CodeUnitCount
            && bytes[range].elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }
}

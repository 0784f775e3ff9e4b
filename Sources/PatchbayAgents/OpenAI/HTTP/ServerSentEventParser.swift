/// One event of a server-sent event stream.
package struct ServerSentEvent: Sendable, Hashable {
    /// The `event` field; empty if there is none.
    package var name: String
    /// The `data` lines, joined by line feeds. Not checked to be UTF-8.
    package var data: [UInt8]

    package init(name: String = "", data: [UInt8]) {
        self.name = name
        self.data = data
    }
}

/// Splits a `text/event-stream` into events (WHATWG HTML, "Server-sent events"), independently of how the bytes arrive.
///
/// Comments and the fields `id` and `retry` are ignored. Unlike in the specification, an event at the end of the stream needs no blank line
/// after it: some servers omit it.
package struct ServerSentEventParser: Sendable {
    /// Bytes of one event, with its field names, comments and line ends.
    package static let eventBytesMax = 64 << 10
    package static let streamBytesMax = 1 << 20

    private var line: [UInt8] = []
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var eventBytes = 0
    private var streamBytes = 0
    private var isAfterCarriageReturn = false
    private var isFirstLine = true

    package init() {}

    /// - Parameter events: receives the events that `bytes` complete, also if this throws.
    /// - Throws: `ProviderError` of code `invalidResponse` if an event or the stream exceeds its limit. The parser must not be used any more.
    package mutating func append(_ bytes: some Sequence<UInt8>, to events: inout [ServerSentEvent]) throws(ProviderError) {
        for byte in bytes {
            streamBytes += 1
            eventBytes += 1
            guard streamBytes <= Self.streamBytesMax else {
                throw ProviderError(.invalidResponse, "the event stream is longer than \(Self.streamBytesMax) bytes")
            }
            guard eventBytes <= Self.eventBytesMax else {
                throw ProviderError(.invalidResponse, "an event is longer than \(Self.eventBytesMax) bytes")
            }
            let endsPair = isAfterCarriageReturn && byte == UInt8(ascii: "\n")
            isAfterCarriageReturn = byte == UInt8(ascii: "\r")
            if endsPair { continue }
            if byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") {
                endLine(&events)
            } else {
                line.append(byte)
            }
        }
    }

    /// The end of the stream.
    ///
    /// - Parameter events: receives the last event if no blank line followed it.
    package mutating func finish(into events: inout [ServerSentEvent]) {
        if !line.isEmpty { endLine(&events) }
        endEvent(&events)
    }

    private mutating func endLine(_ events: inout [ServerSentEvent]) {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
            if line.starts(with: byteOrderMark) { line.removeFirst(byteOrderMark.count) }
        }
        guard !line.isEmpty else { return endEvent(&events) }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        let field = line[..<colon]
        if field.elementsEqual("data".utf8) {
            if hasData { data.append(UInt8(ascii: "\n")) }
            hasData = true
            data.append(contentsOf: value)
        } else if field.elementsEqual("event".utf8) {
            name = String(decoding: value, as: UTF8.self)
        }
    }

    private mutating func endEvent(_ events: inout [ServerSentEvent]) {
        if hasData { events.append(ServerSentEvent(name: name, data: data)) }
        name = ""
        data.removeAll(keepingCapacity: true)
        hasData = false
        eventBytes = 0
    }
}

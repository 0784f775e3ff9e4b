/// The context of a distributed trace: `traceparent` of W3C Trace Context (level 1), which OpenTelemetry propagates.
package struct TraceContext: Sendable, Hashable {
    /// 32 hexadecimal digits in lower case.
    package let traceID: String
    /// The caller's span: 16 hexadecimal digits in lower case.
    package let spanID: String
    private let flags: String

    private init(traceID: String, spanID: String, flags: String) {
        (self.traceID, self.spanID, self.flags) = (traceID, spanID, flags)
    }

    /// Parses a field (section 3.2). Of later versions only the part that this one has is read.
    ///
    /// - Returns: nil for a field that is missing or malformed, which is to be ignored.
    package init?(traceparent: String?) {
        guard let traceparent, traceparent.utf8.count <= 256 else { return nil }
        let parts = traceparent.split(separator: "-", maxSplits: 4, omittingEmptySubsequences: false)
        func isHex(_ part: Substring, _ count: Int) -> Bool {
            part.utf8.count == count && part.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        }
        guard parts.count >= 4, isHex(parts[0], 2), parts[0] != "ff", parts[0] != "00" || parts.count == 4, isHex(parts[1], 32),
            isHex(parts[2], 16), isHex(parts[3], 2), parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        self.init(traceID: String(parts[1]), spanID: String(parts[2]), flags: String(parts[3]))
    }

    package var traceparent: String { "00-\(traceID)-\(spanID)-\(flags)" }

    /// The same trace with a span of the gateway's own, for a request that it makes.
    package var withNewSpan: TraceContext {
        // Zero is invalid.
        TraceContext(traceID: traceID, spanID: Hex.encode([1 + randomBytes(1)[0] % 255] + randomBytes(7)), flags: flags)
    }
}

extension TraceContext: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let trace = TraceContext(traceparent: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a `traceparent`")
        }
        self = trace
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(traceparent)
    }
}

/// The id and trace context of an HTTP request, passed on to the log and to the webhooks, tools and jobs that it causes.
package struct RequestContext: Sendable, Hashable {
    /// The client's `X-Request-ID` if it is valid, otherwise a new one.
    package let id: String
    package let trace: TraceContext?

    /// Longer identifiers are replaced.
    private static let idBytesMax = 128

    /// The HTTP request that the current task handles; nil outside of requests.
    @TaskLocal package static var current: RequestContext?

    /// - Parameters:
    ///   - id: the value of `X-Request-ID`.
    ///   - traceparent: the value of `traceparent`.
    package init(id: String? = nil, traceparent: String? = nil) {
        let isValid = id.map { 1...Self.idBytesMax ~= $0.utf8.count && $0.utf8.allSatisfy(Self.isHarmless) } ?? false
        self.id = isValid ? id ?? "" : Hex.encode(randomBytes(8))
        trace = TraceContext(traceparent: traceparent)
    }

    /// Whether the byte has no special meaning in a log or a field.
    private static func isHarmless(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}

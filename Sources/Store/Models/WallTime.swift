internal import Foundation
package import Wire

/// A point in time as people count it, for records only: milliseconds since 1970-01-01T00:00:00Z.
package struct WallTime: Hashable, Comparable, Sendable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

    package static func + (time: WallTime, span: Duration) -> WallTime {
        let (seconds, attoseconds) = span.components
        return WallTime(milliseconds: time.milliseconds + seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    package static func - (time: WallTime, span: Duration) -> WallTime { time + (.zero - span) }
}

/// As RFC 3339 has it, in UTC with milliseconds: `2026-11-21T13:16:56.000Z`. Years 1 to 9999.
extension WallTime: Codable, CustomStringConvertible {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let styleWithoutFraction = Date.ISO8601FormatStyle()
    private static let range = -62_135_596_800_000...253_402_300_799_999 as ClosedRange<Int64>

    /// - Returns: nil for what is no RFC 3339 time, or one outside the years 1 to 9999.
    package init?(text: String) {
        guard let date = (try? Self.style.parse(text)) ?? (try? Self.styleWithoutFraction.parse(text)) else { return nil }
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        guard let whole = Int64(exactly: milliseconds), Self.range ~= whole else { return nil }
        self.milliseconds = whole
    }

    package var description: String {
        guard let time = CivilTime(milliseconds: milliseconds) else {
            // The style cuts what is beyond a millisecond, and as a fraction of seconds most milliseconds are a little short of themselves.
            return Self.style.format(Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1_000))
        }
        return String(unsafeUninitializedCapacity: CivilTime.textCount) { bytes in
            time.write(to: bytes)
            return CivilTime.textCount
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = WallTime(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a time as RFC 3339 has it")
        }
        self = time
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension WallTime: JSONWritable {
    package func write(to json: inout JSONOutput) {
        guard let time = CivilTime(milliseconds: milliseconds) else { return json.write(description) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CivilTime.textCount) { text in
            time.write(to: text)
            json.write(plain: UnsafeBufferPointer(text))
        }
    }
}
